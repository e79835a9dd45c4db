// SPDX-License-Identifier: MIT OR Apache-2.0
//! IREE's code objects: bindings first, then 32-bit constants; the workgroup size is in the metadata.

use crate::support::{
    Launch, Numbers, assert_close, bytes_of, fixture, half_bits, half_value, product, softmax,
};

/// f16 inputs with the f32 values that they represent.
fn halves(numbers: &mut Numbers, count: usize) -> (Vec<u8>, Vec<f32>) {
    let bits: Vec<u16> = (0..count).map(|_| half_bits(numbers.float())).collect();
    (bytes_of(&bits, u16::to_le_bytes), bits.iter().map(|bits| half_value(*bits)).collect())
}

#[test]
fn add() {
    let Some(file) = fixture("iree/gfx942/module_add_dispatch_0_rocm_hsaco_fb.hsaco") else { return };
    let mut numbers = Numbers::new(10);
    let (a, b) = (numbers.floats(1024), numbers.floats(1024));
    let got = Launch::new(file, "add_dispatch_0_elementwise_1024_f32", "4")
        .floats(&a)
        .floats(&b)
        .arg("1024xf32=0")
        .out()
        .run_floats();
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(got, expected);
}

const MM: &str = "iree/gfx942/module_mm_linked_rocm_hsaco_fb.hsaco";

#[test]
fn matmul_in_f16() {
    let Some(file) = fixture(MM) else { return };
    let mut numbers = Numbers::new(11);
    let (a, a_values) = halves(&mut numbers, 512 * 256);
    let (b, b_values) = halves(&mut numbers, 256 * 512);
    let got = Launch::new(file, "matmul_dispatch_0_matmul_512x512x256_f16xf16xf32", "32")
        .bytes("512x256xf16", &a)
        .bytes("256x512xf16", &b)
        .arg("512x512xf32=0")
        .out()
        .run_floats();
    assert_close(&got, &product(&a_values, &b_values, 512, 512, 256), 1e-4, 1e-4);
}

#[test]
fn softmax_and_add() {
    let Some(file) = fixture(MM) else { return };
    let mut numbers = Numbers::new(12);
    let (x, y) = (numbers.floats(64 * 1024), numbers.floats(64 * 1024));
    let got = Launch::new(file, "softmax_add_dispatch_0_softmax_64x1024xf32_generic", "64")
        .floats(&x)
        .floats(&y)
        .arg("64x1024xf32=0")
        .out()
        .run_floats();
    let expected: Vec<f64> =
        softmax(&x, 1024).iter().zip(&y).map(|(left, right)| left + f64::from(*right)).collect();
    assert_close(&got, &expected, 1e-5, 1e-6);
}

#[test]
fn reduction_of_sizes_known_at_run_time() {
    let Some(file) = fixture(MM) else { return };
    rows(file, "dyn_reduce_dispatch_0_reduction_DxD_f32", 7, 3001);
}

#[test]
fn committed_row_sum() {
    rows("cts/kernels/iree/row_sum.gfx942.hsaco".into(), "row_sum_dispatch_0_reduction_DxD_f32", 3, 1537);
}

fn rows(file: std::path::PathBuf, kernel: &str, rows: usize, columns: usize) {
    let x = Numbers::new(13).floats(rows * columns);
    let got = Launch::new(file, kernel, &rows.to_string())
        .floats(&x)
        .arg(&format!("{rows}xf32=0"))
        .out()
        .arg(&format!("i32={columns}"))
        .arg("i32=0")
        .arg(&format!("i32={rows}"))
        .arg("i32=0")
        .run_floats();
    let expected: Vec<f64> =
        x.chunks_exact(columns).map(|row| row.iter().map(|value| f64::from(*value)).sum()).collect();
    assert_close(&got, &expected, 1e-5, 1e-3);
}

#[test]
fn committed_add() {
    let mut numbers = Numbers::new(14);
    let (a, b) = (numbers.floats(777), numbers.floats(777));
    let got = Launch::new("cts/kernels/iree/add.gfx942.hsaco", "add_dispatch_0_elementwise_D_f32", "13")
        .floats(&a)
        .floats(&b)
        .arg("777xf32=0")
        .out()
        .arg("i32=777")
        .arg("i32=0")
        .arg("i32=777")
        .arg("i32=0")
        .run_floats();
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(got, expected);
}

#[test]
fn committed_matmuls() {
    let mut numbers = Numbers::new(15);
    let (a, b) = (numbers.floats(100 * 70), numbers.floats(70 * 60));
    let got = Launch::new(
        "cts/kernels/iree/matmul_f32.gfx942.hsaco",
        "matmul_f32_dispatch_0_matmul_100x60x70_f32",
        "2",
    )
    .floats(&a)
    .floats(&b)
    .arg("100x60xf32=0")
    .out()
    .run_floats();
    assert_close(&got, &product(&a, &b, 100, 60, 70), 1e-5, 1e-5);

    let (a, a_values) = halves(&mut numbers, 64 * 64);
    let (b, b_values) = halves(&mut numbers, 64 * 64);
    let got = Launch::new(
        "cts/kernels/iree/matmul_f16.gfx942.hsaco",
        "matmul_f16_dispatch_0_matmul_64x64x64_f16xf16xf32",
        "1",
    )
    .bytes("64x64xf16", &a)
    .bytes("64x64xf16", &b)
    .arg("64x64xf32=0")
    .out()
    .run_floats();
    assert_close(&got, &product(&a_values, &b_values, 64, 64, 64), 1e-4, 1e-4);
}

#[test]
fn committed_softmax() {
    let x = Numbers::new(16).floats(8 * 256);
    let got = Launch::new(
        "cts/kernels/iree/softmax.gfx942.hsaco",
        "softmax_dispatch_0_softmax_8x256xf32_dispatch_tensor_store",
        "8",
    )
    .floats(&x)
    .arg("8x256xf32=0")
    .out()
    .run_floats();
    assert_close(&got, &softmax(&x, 256), 1e-5, 1e-7);
}
