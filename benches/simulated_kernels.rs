// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole kernels on the simulated GPU, beside plain loops that compute the same on one thread.
//!
//! `cargo bench --bench simulated_kernels`. Each kernel has two rows: `simulated` is the project's own code object on
//! `hip-sim://gfx942?threads=1`, `loop` a plain Rust loop. Both are measured in CPU time of the process, so that other
//! load matters little, and the results are compared first. No time here is a GPU's.

use std::{hint::black_box, time::Duration};

use cpu_time::ProcessTime;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use half::f16;
use windlass::{Argument, Buffer, Deadline, Device, DispatchConfig, Function, Queue, Semaphore};

/// A kernel with its arguments on a device.
struct Kernel {
    device: Device,
    queue: Queue,
    function: Function,
    config: DispatchConfig,
    buffers: Vec<Buffer>,
    timeline: Semaphore,
    value: u64,
}

impl Kernel {
    fn load(image: &[u8], name: &str, grid: [u32; 3], block: Option<[u32; 3]>, lds: u32) -> Self {
        Self::load_on("gfx942", image, name, grid, block, lds)
    }

    fn load_on(
        part: &str,
        image: &[u8],
        name: &str,
        grid: [u32; 3],
        block: Option<[u32; 3]>,
        lds: u32,
    ) -> Self {
        let device = windlass::open(&format!("hip-sim://{part}?threads=1")).expect("a simulated GPU");
        // SAFETY: the project's own kernels, which stay within the buffers that they are given.
        let executable = unsafe { device.load_executable(image) }.expect("loads");
        let config = DispatchConfig::new(grid).dynamic_local_memory(lds);
        Self {
            queue: device.queue(0).expect("a queue"),
            function: executable.function(name).expect("is there"),
            config: block.map_or(config, |block| config.workgroup_size(block)),
            buffers: Vec::new(),
            timeline: Semaphore::new(0),
            value: 0,
            device,
        }
    }

    /// Adds a buffer with these bytes.
    fn buffer(mut self, bytes: &[u8]) -> Self {
        let buffer = self.device.allocate_device(bytes.len() as u64).expect("memory");
        self.value += 1;
        let (waits, signals) = ([self.timeline.at(self.value - 1)], [self.timeline.at(self.value)]);
        self.queue.update(&waits, &signals, bytes, &buffer).expect("submits");
        self.buffers.push(buffer);
        self
    }

    fn run(&mut self, more: &[Argument<'_>]) {
        self.value += 1;
        let (waits, signals) = ([self.timeline.at(self.value - 1)], [self.timeline.at(self.value)]);
        let arguments: Vec<_> =
            self.buffers.iter().map(|buffer| buffer.arg()).chain(more.iter().copied()).collect();
        self.queue.dispatch(&waits, &signals, &self.function, self.config, &arguments).expect("submits");
        self.timeline.wait_blocking(self.value, Deadline::NEVER).expect("runs");
    }

    /// The contents of a buffer.
    fn read(&self, index: usize) -> Vec<u8> {
        let waits = [self.timeline.at(self.value)];
        pollster::block_on(self.queue.download(&waits, &self.buffers[index]).expect("submits")).expect("runs")
    }
}

fn bytes_of<T: Copy, const N: usize>(values: &[T], to_bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| to_bytes(*value)).collect()
}

fn floats_of(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

/// Numbers from -1 to 1, the same in every run.
fn numbers(count: usize) -> Vec<f32> {
    (0..count as u32)
        .map(|index| (index.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0)
        .collect()
}

fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance, "[{index}] is {found}, expected {expected}");
    }
}

/// Measures both; `work` is the amount of work of each round.
fn compare(
    criterion: &mut Criterion,
    name: &str,
    work: u64,
    mut simulated: impl FnMut(),
    mut plain: impl FnMut(),
) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(work));
    let mut measure = |row: &str, once: &mut dyn FnMut()| {
        group.bench_function(row, |bencher| {
            bencher.iter_custom(|rounds| {
                let start = ProcessTime::now();
                (0..rounds).for_each(|_| once());
                start.elapsed()
            });
        });
    };
    measure("simulated", &mut simulated);
    measure("loop", &mut plain);
    group.finish();
}

/// The same source in waves of 64 and of 32 lanes, on parts that have them.
const WAVES: [(&str, u32); 5] =
    [("gfx942", 64), ("gfx90a", 64), ("gfx1100", 32), ("gfx1030", 32), ("gfx1201", 32)];

/// Measures kernels of the suite in waves of both sizes.
fn waves(criterion: &mut Criterion) {
    const N: usize = 1 << 20;
    const SIDE: usize = 256;
    let (long, square) = (numbers(N), numbers(SIDE * SIDE));
    for (name, is_sum) in [("vector_add f32, 2^20, in waves", true), ("matmul f32, 256^3, in waves", false)] {
        let mut group = criterion.benchmark_group(name);
        let mut results: Vec<Vec<u8>> = Vec::new();
        for (part, lanes) in WAVES {
            let (mut kernel, more): (_, Vec<Argument<'_>>) = if is_sum {
                let image = include_bytes!("../cts/kernels/bundles/vector_add.ccob");
                let grid = [N as u32 / 256, 1, 1];
                let kernel = Kernel::load_on(part, image, "vector_add", grid, Some([256, 1, 1]), 0);
                let input = bytes_of(&long, f32::to_le_bytes);
                (kernel.buffer(&input).buffer(&input).buffer(&vec![0; 4 * N]), vec![(N as i32).into()])
            } else {
                let image = include_bytes!("../cts/kernels/bundles/matmul.ccob");
                let grid = [SIDE as u32 / 16, SIDE as u32 / 16, 1];
                let kernel = Kernel::load_on(part, image, "matmul", grid, Some([16, 16, 1]), 0);
                let input = bytes_of(&square, f32::to_le_bytes);
                let kernel = kernel.buffer(&input).buffer(&input).buffer(&vec![0; 4 * SIDE * SIDE]);
                (kernel, vec![(SIDE as i32).into(); 3])
            };
            kernel.run(&more);
            results.push(kernel.read(2));
            group.bench_function(format!("{part}, {lanes} lanes"), |bencher| {
                bencher.iter_custom(|rounds| {
                    let start = ProcessTime::now();
                    (0..rounds).for_each(|_| kernel.run(&more));
                    start.elapsed()
                });
            });
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{name}: the parts agree");
        group.finish();
    }
}

fn vector_add(criterion: &mut Criterion) {
    const N: usize = 1 << 20;
    let (a, b) = (numbers(N), numbers(N + 1)[1..].to_vec());
    let image = include_bytes!("../cts/kernels/bundles/vector_add.ccob");
    let mut kernel = Kernel::load(image, "vector_add", [N as u32 / 256, 1, 1], Some([256, 1, 1]), 0)
        .buffer(&bytes_of(&a, f32::to_le_bytes))
        .buffer(&bytes_of(&b, f32::to_le_bytes))
        .buffer(&vec![0; 4 * N]);
    let mut out = vec![0.0; N];
    let plain = |out: &mut [f32]| {
        for (index, out) in out.iter_mut().enumerate() {
            *out = a[index] + b[index];
        }
    };
    kernel.run(&[(N as i32).into()]);
    plain(&mut out);
    assert_eq!(floats_of(&kernel.read(2)), out);
    let simulated = || kernel.run(&[(N as i32).into()]);
    compare(criterion, "vector_add f32, 2^20", N as u64, simulated, || plain(black_box(&mut out)));
}

fn matmul(criterion: &mut Criterion) {
    const N: usize = 256;
    let (a, b) = (numbers(N * N), numbers(N * N + 7)[7..].to_vec());
    let image = include_bytes!("../cts/kernels/bundles/matmul.ccob");
    let mut kernel = Kernel::load(image, "matmul", [N as u32 / 16, N as u32 / 16, 1], Some([16, 16, 1]), 0)
        .buffer(&bytes_of(&a, f32::to_le_bytes))
        .buffer(&bytes_of(&b, f32::to_le_bytes))
        .buffer(&vec![0; 4 * N * N]);
    let sizes = [N as i32; 3].map(Argument::from);
    let mut out = vec![0.0; N * N];
    let plain = |out: &mut [f32]| product(&a, &b, out, [N; 3]);
    kernel.run(&sizes);
    plain(&mut out);
    assert_close(&floats_of(&kernel.read(2)), &out, 1e-3);
    let simulated = || kernel.run(&sizes);
    compare(criterion, "matmul f32, 256^3", 2 * (N * N * N) as u64, simulated, || plain(black_box(&mut out)));
}

/// `out[m,n] = a[m,k] * b[k,n]`, with the loops in the order that vectorises.
fn product(a: &[f32], b: &[f32], out: &mut [f32], [m, n, k]: [usize; 3]) {
    out.fill(0.0);
    for row in 0..m {
        let sums = &mut out[row * n..][..n];
        for at in 0..k {
            let factor = a[row * k + at];
            for (sum, value) in sums.iter_mut().zip(&b[at * n..][..n]) {
                *sum += factor * value;
            }
        }
    }
}

fn matmul_half(criterion: &mut Criterion) {
    const SIZES: [usize; 3] = [512, 512, 256];
    let [m, n, k] = SIZES;
    let halves = |count: usize| numbers(count).into_iter().map(f16::from_f32).collect::<Vec<_>>();
    let (a, b) = (halves(m * k), halves(k * n));
    let image = include_bytes!("../cts/kernels/triton/matmul.gfx942.hsaco");
    let mut kernel =
        Kernel::load(image, "matmul", [m as u32 / 32, n as u32 / 32, 1], Some([256, 1, 1]), 2048)
            .buffer(&bytes_of(&a, f16::to_le_bytes))
            .buffer(&bytes_of(&b, f16::to_le_bytes))
            .buffer(&vec![0; 4 * m * n]);
    let [rows, columns, depth] = SIZES.map(|size| Argument::from(size as i32));
    let more = [rows, columns, depth, Argument::Null, Argument::Null];
    let mut out = vec![0.0; m * n];
    let plain = |out: &mut [f32]| {
        let wide = |values: &[f16]| values.iter().map(|value| value.to_f32()).collect::<Vec<_>>();
        product(&wide(&a), &wide(&b), out, SIZES);
    };
    kernel.run(&more);
    plain(&mut out);
    assert_close(&floats_of(&kernel.read(2)), &out, 1e-2);
    let simulated = || kernel.run(&more);
    let work = 2 * (m * n * k) as u64;
    compare(criterion, "matmul f16, 512x512x256", work, simulated, || plain(black_box(&mut out)));
}

/// Measures one Triton kernel through the matrix instructions of each family: `v_mfma` and `v_wmma`.
fn matmul_half_in_matrices(criterion: &mut Criterion) {
    const SIZES: [usize; 3] = [512, 512, 256];
    const PARTS: [(&str, &[u8], [u32; 2]); 4] = [
        ("gfx942, v_mfma", include_bytes!("../cts/kernels/triton/matmul.gfx942.hsaco"), [256, 2048]),
        ("gfx90a, v_mfma", include_bytes!("kernels/matmul.gfx90a.hsaco"), [256, 2048]),
        ("gfx1100, v_wmma", include_bytes!("kernels/matmul.gfx1100.hsaco"), [128, 4096]),
        ("gfx1201, v_wmma", include_bytes!("kernels/matmul.gfx1201.hsaco"), [128, 4096]),
    ];
    let [m, n, k] = SIZES;
    let halves = |count: usize| numbers(count).into_iter().map(f16::from_f32).collect::<Vec<_>>();
    let (a, b) = (halves(m * k), halves(k * n));
    let [rows, columns, depth] = SIZES.map(|size| Argument::from(size as i32));
    let more = [rows, columns, depth, Argument::Null, Argument::Null];
    let wide = |values: &[f16]| values.iter().map(|value| value.to_f32()).collect::<Vec<_>>();
    let mut expected = vec![0.0; m * n];
    product(&wide(&a), &wide(&b), &mut expected, SIZES);
    let mut group = criterion.benchmark_group("matmul f16, 512x512x256, in matrices");
    for (row, image, [block, lds]) in PARTS {
        let (part, _) = row.split_once(',').expect("a part first");
        let grid = [m as u32 / 32, n as u32 / 32, 1];
        let mut kernel = Kernel::load_on(part, image, "matmul", grid, Some([block, 1, 1]), lds)
            .buffer(&bytes_of(&a, f16::to_le_bytes))
            .buffer(&bytes_of(&b, f16::to_le_bytes))
            .buffer(&vec![0; 4 * m * n]);
        kernel.run(&more);
        assert_close(&floats_of(&kernel.read(2)), &expected, 1e-2);
        group.bench_function(row, |bencher| {
            bencher.iter_custom(|rounds| {
                let start = ProcessTime::now();
                (0..rounds).for_each(|_| kernel.run(&more));
                start.elapsed()
            });
        });
    }
    group.finish();
}

fn row_sum(criterion: &mut Criterion) {
    const ROWS: usize = 256;
    const COLUMNS: usize = 4096;
    let x = numbers(ROWS * COLUMNS);
    let image = include_bytes!("../cts/kernels/iree/row_sum.gfx942.hsaco");
    let mut kernel =
        Kernel::load(image, "row_sum_dispatch_0_reduction_DxD_f32", [ROWS as u32, 1, 1], None, 0)
            .buffer(&bytes_of(&x, f32::to_le_bytes))
            .buffer(&[0; 4 * ROWS]);
    let more = [COLUMNS as i32, 0, ROWS as i32, 0].map(Argument::from);
    let mut out = vec![0.0; ROWS];
    let plain = |out: &mut [f32]| {
        for (sum, row) in out.iter_mut().zip(x.chunks_exact(COLUMNS)) {
            *sum = row.iter().sum();
        }
    };
    kernel.run(&more);
    plain(&mut out);
    assert_close(&floats_of(&kernel.read(1)), &out, 1e-2);
    let simulated = || kernel.run(&more);
    compare(criterion, "row_sum f32, 256x4096", (ROWS * COLUMNS) as u64, simulated, || {
        plain(black_box(&mut out))
    });
}

fn softmax(criterion: &mut Criterion) {
    const ROWS: usize = 1024;
    const COLUMNS: usize = 256;
    let x = numbers(ROWS * COLUMNS);
    let image = include_bytes!("../cts/kernels/triton/softmax.gfx942.hsaco");
    let mut kernel = Kernel::load(image, "softmax", [ROWS as u32, 1, 1], Some([256, 1, 1]), 16)
        .buffer(&bytes_of(&x, f32::to_le_bytes))
        .buffer(&vec![0; 4 * ROWS * COLUMNS]);
    let size = Argument::from(COLUMNS as i32);
    let more = [size, size, Argument::Null, Argument::Null];
    let mut out = vec![0.0; ROWS * COLUMNS];
    let plain = |out: &mut [f32]| {
        for (out, row) in out.chunks_exact_mut(COLUMNS).zip(x.chunks_exact(COLUMNS)) {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for (out, value) in out.iter_mut().zip(row) {
                *out = (value - most).exp();
            }
            let total: f32 = out.iter().sum();
            out.iter_mut().for_each(|out| *out /= total);
        }
    };
    kernel.run(&more);
    plain(&mut out);
    assert_close(&floats_of(&kernel.read(1)), &out, 1e-5);
    let simulated = || kernel.run(&more);
    let work = (ROWS * COLUMNS) as u64;
    compare(criterion, "softmax f32, 1024x256", work, simulated, || plain(black_box(&mut out)));
}

fn histogram(criterion: &mut Criterion) {
    const N: usize = 1 << 20;
    let values: Vec<u8> =
        (0..N as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let image = include_bytes!("../cts/kernels/bundles/histogram.ccob");
    let mut kernel =
        Kernel::load(image, "histogram", [64, 1, 1], Some([256, 1, 1]), 0).buffer(&values).buffer(&[0; 1024]);
    let mut out = vec![0_u32; 256];
    let plain = |out: &mut [u32]| values.iter().for_each(|value| out[usize::from(*value)] += 1);
    kernel.run(&[(N as i32).into()]);
    plain(&mut out);
    assert_eq!(kernel.read(1), bytes_of(&out, u32::to_le_bytes));
    let simulated = || kernel.run(&[(N as i32).into()]);
    compare(criterion, "histogram u8, 2^20", N as u64, simulated, || plain(black_box(&mut out)));
}

/// Kernels of `benches/kernels/waits.hip`, which leave their speed to the simulated GPU.
const WAITS: &[u8] = include_bytes!("kernels/waits.gfx942.co");

fn product_without_lds(criterion: &mut Criterion) {
    const SIZES: [usize; 3] = [256, 128, 128];
    let [m, n, k] = SIZES;
    let (a, b) = (numbers(m * k), numbers(k * n + 7)[7..].to_vec());
    let grid = [n as u32 / 16, m as u32 / 16, 1];
    let mut kernel = Kernel::load(WAITS, "product", grid, Some([16, 16, 1]), 0)
        .buffer(&bytes_of(&a, f32::to_le_bytes))
        .buffer(&bytes_of(&b, f32::to_le_bytes))
        .buffer(&vec![0; 4 * m * n]);
    let sizes = SIZES.map(|size| Argument::from(size as i32));
    let mut out = vec![0.0; m * n];
    let plain = |out: &mut [f32]| product(&a, &b, out, SIZES);
    kernel.run(&sizes);
    plain(&mut out);
    assert_close(&floats_of(&kernel.read(2)), &out, 1e-3);
    let simulated = || kernel.run(&sizes);
    let work = 2 * (m * n * k) as u64;
    compare(criterion, "product f32, 256x128x128", work, simulated, || plain(black_box(&mut out)));
}

fn convolution(criterion: &mut Criterion) {
    const SIZE: usize = 256;
    let (input, taps) = (numbers(SIZE * SIZE), numbers(25));
    let grid = [SIZE as u32 / 16, SIZE as u32 / 16, 1];
    let mut kernel = Kernel::load(WAITS, "convolution", grid, Some([16, 16, 1]), 0)
        .buffer(&bytes_of(&input, f32::to_le_bytes))
        .buffer(&bytes_of(&taps, f32::to_le_bytes))
        .buffer(&vec![0; 4 * SIZE * SIZE]);
    let sizes = [SIZE as i32; 2].map(Argument::from);
    let mut out = vec![0.0; SIZE * SIZE];
    let plain = |out: &mut [f32]| {
        out.fill(0.0);
        for down in 0..5 {
            for right in 0..5 {
                let tap = taps[down * 5 + right];
                for y in 2_usize.saturating_sub(down)..SIZE.min(SIZE + 2 - down) {
                    for x in 2_usize.saturating_sub(right)..SIZE.min(SIZE + 2 - right) {
                        out[y * SIZE + x] += tap * input[(y + down - 2) * SIZE + x + right - 2];
                    }
                }
            }
        }
    };
    kernel.run(&sizes);
    plain(&mut out);
    assert_close(&floats_of(&kernel.read(2)), &out, 1e-4);
    let simulated = || kernel.run(&sizes);
    let work = (SIZE * SIZE * 25) as u64;
    compare(criterion, "convolution f32, 256^2, 25 taps", work, simulated, || plain(black_box(&mut out)));
}

fn sum(criterion: &mut Criterion) {
    const N: usize = 1 << 22;
    let values: Vec<f32> = numbers(N);
    let image = include_bytes!("../cts/kernels/bundles/reduce.ccob");
    let mut kernel = Kernel::load(image, "reduce_sum", [64, 1, 1], Some([256, 1, 1]), 1024)
        .buffer(&bytes_of(&values, f32::to_le_bytes))
        .buffer(&[0; 4]);
    let mut out = 0.0;
    let plain = |out: &mut f32| *out = values.iter().sum();
    kernel.run(&[(N as i32).into()]);
    let expected: f64 = values.iter().map(|value| f64::from(*value)).sum();
    assert_close(&floats_of(&kernel.read(1)), &[expected as f32], 0.5);
    let simulated = || kernel.run(&[(N as i32).into()]);
    compare(criterion, "sum f32, 2^22", N as u64, simulated, || plain(black_box(&mut out)));
}

/// Waves of which one lane is live.
fn alone(criterion: &mut Criterion) {
    const ROUNDS: i32 = 1000;
    let mut kernel = Kernel::load(WAITS, "alone", [8, 1, 1], Some([1, 1, 1]), 0).buffer(&[0; 64]);
    let more = [1.5_f64.into(), ROUNDS.into()];
    let plain = |out: &mut [f64; 8]| {
        for (start, out) in out.iter_mut().enumerate() {
            let mut value = 1.5 + start as f64;
            for round in 1..=ROUNDS {
                value = black_box(value).powf(1.5).sqrt() + 1.0 / f64::from(round);
            }
            *out = value;
        }
    };
    let mut out = [0.0; 8];
    kernel.run(&more);
    plain(&mut out);
    for (found, expected) in kernel.read(0).as_chunks().0.iter().zip(out) {
        let found = f64::from_le_bytes(*found);
        assert!((found / expected - 1.0).abs() < 1e-3, "{found}, expected {expected}");
    }
    let simulated = || kernel.run(&more);
    compare(criterion, "alone f64, 8x1000", 8 * ROUNDS as u64, simulated, || plain(black_box(&mut out)));
}

fn configured() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
}

criterion_group! {
    name = simulated_kernels;
    config = configured();
    targets = vector_add, matmul, matmul_half, matmul_half_in_matrices, row_sum, softmax, histogram, product_without_lds, convolution, sum, alone, waves
}
criterion_main!(simulated_kernels);
