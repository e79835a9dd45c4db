// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real inputs beyond the project's own.

use crate::args;
use crate::gpu::{Arg, Gpu, Random, fixtures};
use half::f16;

fn floats(count: usize, seed: u64) -> Vec<f32> {
    let mut random = Random(seed);
    (0..count).map(|_| random.unit() as f32).collect()
}

#[track_caller]
fn close(got: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(got.len(), expected.len());
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert!((got - expected).abs() <= tolerance, "element {index}: {got}, not {expected}");
    }
}

#[test]
fn clang() {
    let Some(folder) = fixtures() else { return };
    let gpu = Gpu::new();
    let load = |name: &str| gpu.load(&folder.join(format!("clang/{name}.gfx942.co")));
    let n = 1000u32;
    let (x, y) = (floats(1000, 1), floats(1000, 2));

    let inout = gpu.buffer(&y);
    let kernel = load("saxpy").kernel("saxpy").unwrap();
    gpu.run_grid(&kernel, [3, 1, 1], [256, 1, 1], 0, args![2.5f32, gpu.buffer(&x), inout, n]);
    // The grid strides by 64 workgroups: three of them serve 768 elements.
    let expected: Vec<f32> =
        (0..1000).map(|i| if i < 768 { 2.5f32.mul_add(x[i], y[i]) } else { y[i] }).collect();
    assert_eq!(gpu.contents::<f32>(inout), expected);

    let reduce = load("reduce");
    let total = gpu.buffer(&[0f32]);
    let kernel = reduce.kernel("reduce_sum").unwrap();
    gpu.run_grid(&kernel, [64, 1, 1], [128, 1, 1], 512, args![gpu.buffer(&x), total, n]);
    close(&gpu.contents::<f32>(total), &[x.iter().sum()], 1e-3);
    let bytes: Vec<u8> = (0..1000u32).map(|i| (i * i / 7) as u8).collect();
    let bins = gpu.buffer(&[0u32; 256]);
    let kernel = reduce.kernel("histogram").unwrap();
    gpu.run_grid(&kernel, [32, 1, 1], [256, 1, 1], 0, args![gpu.buffer(&bytes), bins, n]);
    let mut expected = vec![0u32; 256];
    bytes.iter().for_each(|&byte| expected[usize::from(byte)] += 1);
    assert_eq!(gpu.contents::<u32>(bins), expected);

    let (a, b) = (floats(30 * 40, 3), floats(40 * 50, 4));
    let c = gpu.buffer(&vec![0f32; 30 * 50]);
    let kernel = load("matmul").kernel("matmul_tile").unwrap();
    let args = args![gpu.buffer(&a), gpu.buffer(&b), c, 30i32, 50i32, 40i32];
    gpu.run_grid(&kernel, [4, 2, 1], [16, 16, 1], 0, args);
    let expected: Vec<f32> = (0..1500)
        .map(|i| (0..40).fold(0f32, |sum, k| a[i / 50 * 40 + k].mul_add(b[k * 50 + i % 50], sum)))
        .collect();
    close(&gpu.contents::<f32>(c), &expected, 1e-5);
}

#[test]
fn symbols() {
    let Some(folder) = fixtures() else { return };
    let gpu = Gpu::new();
    for name in ["symbols", "symbols.debug"] {
        let module = gpu.load(&folder.join(format!("clang/{name}.gfx942.co")));
        let (bss, size) = module.global("g_bss").unwrap();
        assert_eq!(size, 4096);
        gpu.memory.write(bss, &0.5f32.to_le_bytes()).unwrap();
        // A struct of int, double and five shorts.
        let mut fields = vec![0; 32];
        fields[8..16].copy_from_slice(&10f64.to_le_bytes());
        let y = gpu.buffer(&[2f32]);
        let args = [y.into(), Arg::bytes(fields), 10i32.into()];
        gpu.run(&module.kernel("uses_devfuncs").unwrap(), 1, 1, &args);
        assert_eq!(gpu.contents::<f32>(y), [2.0 * 3.0 + 1.0 + 20.0 + 55.0 + 0.5]);
        let mut counter = [0; 4];
        gpu.memory.read(module.global("g_counter").unwrap().0, &mut counter).unwrap();
        assert_eq!(i32::from_le_bytes(counter), 8);
        gpu.run(&module.kernel("no_args").unwrap(), 64, 64, &[]);
        let out = gpu.buffer(&[0i32; 3]);
        gpu.run(&module.kernel("_Z12templ_kernelILi4EEvPi").unwrap(), 3, 3, args![out]);
        assert_eq!(gpu.contents::<i32>(out), [4; 3]);
    }
}

#[test]
fn iree() {
    let Some(folder) = fixtures() else { return };
    let gpu = Gpu::new();
    let load = |name: &str| gpu.load(&folder.join(format!("iree/gfx942/module_{name}_rocm_hsaco_fb.hsaco")));
    let (a, b) = (floats(1024, 11), floats(1024, 12));
    let out = gpu.buffer(&vec![0f32; 1024]);
    let kernel = load("add_dispatch_0").kernel("add_dispatch_0_elementwise_1024_f32").unwrap();
    // A workgroup of 64 takes 256 elements; more than needed do no harm.
    gpu.run_grid(&kernel, [4, 1, 1], [64, 1, 1], 0, args![gpu.buffer(&a), gpu.buffer(&b), out]);
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(gpu.contents::<f32>(out), expected);

    let module = load("mm_linked");
    let kernel = module.kernel("matmul_dispatch_0_matmul_512x512x256_f16xf16xf32").unwrap();
    let [a, b] =
        [13, 14].map(|seed| floats(512 * 256, seed).into_iter().map(f16::from_f32).collect::<Vec<_>>());
    let c = gpu.buffer(&vec![f32::NAN; 512 * 512]);
    gpu.run_grid(&kernel, [32, 1, 1], [256, 1, 1], 0, args![gpu.buffer(&a), gpu.buffer(&b), c]);
    let product =
        |i: usize| (0..256).map(|k| a[i / 512 * 256 + k].to_f32() * b[k * 512 + i % 512].to_f32()).sum();
    close(&gpu.contents::<f32>(c), &(0..512 * 512).map(product).collect::<Vec<f32>>(), 1e-3);

    let kernel = module.kernel("softmax_add_dispatch_0_softmax_64x1024xf32_generic").unwrap();
    let (x, y) = (floats(64 * 1024, 15), floats(64 * 1024, 16));
    let out = gpu.buffer(&vec![f32::NAN; 64 * 1024]);
    gpu.run_grid(&kernel, [64, 1, 1], [256, 1, 1], 0, args![gpu.buffer(&x), gpu.buffer(&y), out]);
    let expected: Vec<f32> =
        x.chunks(1024).flat_map(softmax).zip(&y).map(|(softmax, y)| softmax + y).collect();
    close(&gpu.contents::<f32>(out), &expected, 1e-6);
}

fn softmax(row: &[f32]) -> Vec<f32> {
    let greatest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> = row.iter().map(|x| f64::from(x - greatest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| (power / sum) as f32).collect()
}

#[test]
fn triton() {
    let Some(folder) = fixtures() else { return };
    let gpu = Gpu::new();
    let load =
        |name: &str| gpu.load(&folder.join(format!("triton/{name}.gfx942.hsaco"))).kernel(name).unwrap();
    let (x, y) = (floats(3000, 21), floats(3000, 22));
    let out = gpu.buffer(&vec![0f32; 3000]);
    let args = args![gpu.buffer(&x), gpu.buffer(&y), out, 3000i32, 0u64, 0u64];
    gpu.run_grid(&load("vector_add"), [3, 1, 1], [256, 1, 1], 0, args);
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    assert_eq!(gpu.contents::<f32>(out), expected);

    let out = gpu.buffer(&vec![0f32; 3000]);
    let args = args![out, gpu.buffer(&x), 300i32, 300i32, 300i32, 0u64, 0u64];
    gpu.run_grid(&load("softmax"), [10, 1, 1], [256, 1, 1], 1024, args);
    close(&gpu.contents::<f32>(out), &x.chunks(300).flat_map(softmax).collect::<Vec<f32>>(), 1e-6);
}

#[test]
fn a_large_library_has_no_instruction_that_is_not_executed() {
    let Some(folder) = fixtures() else { return };
    let gpu = Gpu::new();
    let mut kernels = 0;
    for file in ["libbitsandbytes_rocm64.hip_fatbin", "libbitsandbytes_rocm71.hip_fatbin"] {
        for module in gpu.load_all(&folder.join("fatbin").join(file)) {
            for name in module.kernel_names() {
                kernels += 1;
                if let Err(fault) = module.kernel(name).unwrap().verify() {
                    panic!("{fault}");
                }
            }
        }
    }
    assert!(kernels > 300, "{kernels} kernels");
}
