// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of a dispatch for the host: recording, submission, completion.
//!
//! `cargo bench --bench dispatch_latency`. The rows of `hip-null` measure Windlass above a HIP that does nothing. The
//! row `floor` is a loop of bare `hipModuleLaunchKernel` calls into the same HIP; compare the other rows with it. The
//! rows of `hip-sim (functional)` run the kernel on the simulated GPU: they show that the path works, and their times
//! say nothing about a GPU. `WINDLASS_DEVICE` adds another device.

use std::{hint::black_box, ptr, sync::Arc, time::Duration};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use windlass::{
    Argument, BindingTable, Buffer, CommandBuffer, Deadline, Device, DispatchConfig, Function, Semaphore,
};
use windlass_hip_sys::null;

const BUNDLE: &[u8] = include_bytes!("../cts/kernels/bundles/vector_add.ccob");
const COUNTS: [usize; 4] = [1, 10, 100, 1000];

/// A device with a small kernel and its buffers.
struct Setup {
    device: Device,
    function: Function,
    buffers: Vec<Buffer>,
}

impl Setup {
    fn open(uri: &str) -> windlass::Result<Self> {
        let device = windlass::open(uri)?;
        // SAFETY: the project's own kernel stays within the buffers that it is given.
        let function = unsafe { device.load_executable(BUNDLE) }?.function("vector_add")?;
        let buffers = (0..3).map(|_| device.allocate_device(256)).collect::<windlass::Result<_>>()?;
        Ok(Self { device, function, buffers })
    }

    /// N dispatches of one workgroup, with a barrier after each.
    fn record(&self, n: usize, by_table: bool) -> windlass::Result<CommandBuffer> {
        let mut recorder = self.device.record_with_slots(if by_table { 3 } else { 0 })?;
        let slot = |slot| Argument::Slot { slot, offset: 0, length: 256 };
        let [a, b, out] = match (&self.buffers[..], by_table) {
            ([a, b, out], false) => [a.arg(), b.arg(), out.arg()],
            _ => [slot(0), slot(1), slot(2)],
        };
        let grid = DispatchConfig::new([1, 1, 1]).workgroup_size([64, 1, 1]);
        for _ in 0..n {
            recorder.dispatch(&self.function, grid, &[a, b, out, 64_i32.into()])?;
            recorder.barrier();
        }
        recorder.finish()
    }
}

/// Bare launches into the null HIP: the lower bound for any library above HIP.
fn floor(criterion: &mut Criterion) {
    let api = Arc::new(null::Instance::new(null::Options::default()).api());
    let (mut stream, mut module, mut function) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: pointers to locals; the null HIP accepts any image and any name.
    let statuses = unsafe {
        [
            api.hipStreamCreateWithFlags(&mut stream, 1),
            api.hipModuleLoadData(&mut module, BUNDLE.as_ptr().cast()),
            api.hipModuleGetFunction(&mut function, module, c"vector_add".as_ptr()),
        ]
    };
    assert!(statuses.iter().all(|status| status.ok().is_ok()), "the null HIP refuses: {statuses:?}");
    let mut group = criterion.benchmark_group("completed/hip-null/floor");
    for n in COUNTS {
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::from_parameter(n), |bencher| {
            let mut block = [0_u64; 4];
            let mut size = size_of_val(&block);
            let mut extra = [
                ptr::without_provenance_mut(1),
                block.as_mut_ptr().cast(),
                ptr::without_provenance_mut(2),
                (&raw mut size).cast(),
                ptr::without_provenance_mut(3),
            ];
            bencher.iter(|| {
                for _ in 0..n {
                    let extra = extra.as_mut_ptr();
                    // SAFETY: live handles of the null HIP, and a block that outlives the call.
                    let status = unsafe {
                        api.hipModuleLaunchKernel(
                            function,
                            1,
                            1,
                            1,
                            64,
                            1,
                            1,
                            0,
                            stream,
                            ptr::null_mut(),
                            extra,
                        )
                    };
                    black_box(status);
                }
            });
        });
    }
    group.finish();
}

fn record(criterion: &mut Criterion, name: &str, setup: &Setup) {
    for (form, by_table) in [("direct", false), ("table", true)] {
        let mut group = criterion.benchmark_group(format!("record/{name}/{form}"));
        for n in COUNTS {
            group.throughput(Throughput::Elements(n as u64));
            group.bench_function(BenchmarkId::from_parameter(n), |bencher| {
                bencher.iter(|| setup.record(n, by_table).expect("records"));
            });
        }
        group.finish();
    }
}

/// `returns` ends when the submission returns, `completed` when the semaphore is reached.
fn submit(criterion: &mut Criterion, name: &str, setup: &Setup, until: &str) {
    let queue = setup.device.queue(0).expect("a queue");
    for (form, by_table) in [("direct", false), ("table", true)] {
        let mut group = criterion.benchmark_group(format!("{until}/{name}/{form}"));
        for n in COUNTS {
            let commands = setup.record(n, by_table).expect("records");
            let table =
                if by_table { BindingTable::from(setup.buffers.clone()) } else { BindingTable::empty() };
            let timeline = Semaphore::new(0);
            let mut value = 0;
            let mut once = || {
                value += 1;
                let start = std::time::Instant::now();
                queue
                    .execute(&[timeline.at(value - 1)], &[timeline.at(value)], &commands, table.clone())
                    .expect("submits");
                let returned = start.elapsed();
                timeline.wait_blocking(value, Deadline::NEVER).expect("completes");
                if until == "completed" { start.elapsed() } else { returned }
            };
            group.throughput(Throughput::Elements(n as u64));
            group.bench_function(BenchmarkId::from_parameter(n), |bencher| {
                bencher.iter_custom(|rounds| (0..rounds).map(|_| once()).sum::<Duration>());
            });
        }
        group.finish();
    }
}

fn devices(criterion: &mut Criterion) {
    let mut rows = vec![
        ("hip-null".to_owned(), "hip-null://".to_owned()),
        ("hip-sim (functional)".to_owned(), "hip-sim://gfx942".to_owned()),
    ];
    if let Ok(uri) = std::env::var("WINDLASS_DEVICE") {
        rows.push((uri.clone(), uri));
    }
    for (mut name, uri) in rows {
        match Setup::open(&uri) {
            Ok(setup) => {
                if setup.device.info().simulated && !name.contains("functional") && !name.contains("null") {
                    name.push_str(" (simulated)");
                }
                record(criterion, &name, &setup);
                submit(criterion, &name, &setup, "returns");
                submit(criterion, &name, &setup, "completed");
            }
            #[allow(clippy::print_stderr)]
            Err(error) => eprintln!("{name} is skipped: {error}"),
        }
    }
}

fn configured() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group! { name = dispatch_latency; config = configured(); targets = floor, devices }
criterion_main!(dispatch_latency);
