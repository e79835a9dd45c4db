// SPDX-License-Identifier: MIT OR Apache-2.0
//! Triton's code objects: block size and dynamic local memory from the JSON beside them, two trailing null pointers.

use crate::support::{
    Launch, Numbers, assert_close, bytes_of, fixture, half_bits, half_value, product, softmax,
};

fn vector_add(file: std::path::PathBuf) {
    let mut numbers = Numbers::new(20);
    let (a, b) = (numbers.floats(2500), numbers.floats(2500));
    let got = Launch::new(file, "vector_add", "3")
        .block("256")
        .floats(&a)
        .floats(&b)
        .arg("2500xf32=0")
        .out()
        .arg("i32=2500")
        .arg("null")
        .arg("null")
        .run_floats();
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(got, expected);
}

#[test]
fn vector_add_of_the_fixtures() {
    if let Some(file) = fixture("triton/vector_add.gfx942.hsaco") {
        vector_add(file);
    }
}

#[test]
fn committed_vector_add() {
    vector_add("cts/kernels/triton/vector_add.gfx942.hsaco".into());
}

#[test]
fn softmax_of_the_fixtures() {
    let Some(file) = fixture("triton/softmax.gfx942.hsaco") else { return };
    let x = Numbers::new(21).floats(5 * 781);
    let got = Launch::new(file, "softmax", "5")
        .block("256")
        .option("--lds", "16")
        .arg("5x781xf32=0")
        .out()
        .floats(&x)
        .arg("i32=781")
        .arg("i32=781")
        .arg("i32=781")
        .arg("null")
        .arg("null")
        .run_floats();
    assert_close(&got, &softmax(&x, 781), 1e-5, 1e-7);
}

#[test]
fn committed_softmax() {
    let x = Numbers::new(22).floats(4 * 200);
    let got = Launch::new("cts/kernels/triton/softmax.gfx942.hsaco", "softmax", "4")
        .block("256")
        .option("--lds", "16")
        .floats(&x)
        .arg("4x200xf32=0")
        .out()
        .arg("i32=200")
        .arg("i32=200")
        .arg("null")
        .arg("null")
        .run_floats();
    assert_close(&got, &softmax(&x, 200), 1e-5, 1e-7);
}

#[test]
fn committed_matmul() {
    let mut numbers = Numbers::new(23);
    let (m, n, k) = (45, 33, 50);
    let mut halves = |count: usize| -> Vec<u16> { (0..count).map(|_| half_bits(numbers.float())).collect() };
    let (a, b) = (halves(m * k), halves(k * n));
    let got = Launch::new("cts/kernels/triton/matmul.gfx942.hsaco", "matmul", "2,2")
        .block("256")
        .option("--lds", "2048")
        .bytes(&format!("{m}x{k}xf16"), &bytes_of(&a, u16::to_le_bytes))
        .bytes(&format!("{k}x{n}xf16"), &bytes_of(&b, u16::to_le_bytes))
        .arg(&format!("{m}x{n}xf32=0"))
        .out()
        .arg(&format!("i32={m}"))
        .arg(&format!("i32={n}"))
        .arg(&format!("i32={k}"))
        .arg("null")
        .arg("null")
        .run_floats();
    let values = |bits: &[u16]| -> Vec<f32> { bits.iter().map(|bits| half_value(*bits)).collect() };
    assert_close(&got, &product(&values(&a), &values(&b), m, n, k), 1e-4, 1e-4);
}
