// SPDX-License-Identifier: MIT OR Apache-2.0
//! clang's code objects from `WINDLASS_FIXTURES`, alone and in compressed bundles.

use crate::support::{Launch, Numbers, assert_close, bytes_of, fixture, product};

#[test]
fn vadd() {
    let Some(file) = fixture("clang/vadd.gfx942.co") else { return };
    let mut numbers = Numbers::new(1);
    // The last workgroup has work for only some of its lanes.
    let (a, b) = (numbers.floats(1000), numbers.floats(1000));
    let sum = Launch::new(file, "vector_add", "4")
        .block("256")
        .floats(&a)
        .floats(&b)
        .arg("1000xf32=0")
        .out()
        .arg("i32=1000")
        .run_floats();
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(sum, expected);
}

#[test]
fn saxpy() {
    let Some(file) = fixture("clang/saxpy.gfx942.co") else { return };
    let mut numbers = Numbers::new(2);
    let (x, y) = (numbers.floats(20_000), numbers.floats(20_000));
    let got = Launch::new(file, "saxpy", "64")
        .block("256")
        .arg("f32=0.75")
        .floats(&x)
        .floats(&y)
        .out()
        .arg("i32=20000")
        .run_floats();
    let expected: Vec<f64> = x.iter().zip(&y).map(|(x, y)| 0.75 * f64::from(*x) + f64::from(*y)).collect();
    assert_close(&got, &expected, 1e-6, 1e-7);
}

#[test]
fn saxpy_in_f64() {
    let Some(file) = fixture("clang/saxpy.gfx942.co") else { return };
    let mut numbers = Numbers::new(3);
    let (x, y) = (numbers.floats(300), numbers.floats(300));
    let wide = |values: &[f32]| bytes_of(values, |value| f64::from(value).to_le_bytes());
    let got = Launch::new(file, "saxpy_f64", "2")
        .block("256")
        .arg("f64=0.75")
        .bytes("300xf64", &wide(&x))
        .bytes("300xf64", &wide(&y))
        .out()
        .arg("i32=300")
        .run();
    // The operands have few enough bits for an exact sum with any rounding.
    let expected: Vec<f64> = x.iter().zip(&y).map(|(x, y)| 0.75 * f64::from(*x) + f64::from(*y)).collect();
    assert_eq!(got[0], bytes_of(&expected, f64::to_le_bytes));
}

fn matmul(file: &str) {
    let Some(file) = fixture(file) else { return };
    let mut numbers = Numbers::new(4);
    let (m, n, k) = (37, 50, 21);
    let (a, b) = (numbers.floats(m * k), numbers.floats(k * n));
    let got = Launch::new(file, "matmul_tile", "4,3")
        .block("16,16")
        .floats(&a)
        .floats(&b)
        .arg(&format!("{m}x{n}xf32=0"))
        .out()
        .arg(&format!("i32={m}"))
        .arg(&format!("i32={n}"))
        .arg(&format!("i32={k}"))
        .run_floats();
    assert_close(&got, &product(&a, &b, m, n, k), 1e-5, 1e-6);
}

#[test]
fn matmul_of_sizes_that_do_not_divide() {
    matmul("clang/matmul.gfx942.co");
}

#[test]
fn matmul_out_of_every_version_of_compressed_bundles() {
    matmul("fatbin/matmul.v1.zlib.ccob");
    matmul("fatbin/matmul.v2.zstd.ccob");
    matmul("fatbin/matmul.v3.zstd.ccob");
}

#[test]
fn reduce_with_dynamic_local_memory_and_atomics() {
    let Some(file) = fixture("clang/reduce.gfx942.co") else { return };
    let values = Numbers::new(5).floats(30_011);
    let got = Launch::new(file, "reduce_sum", "64")
        .block("128")
        .option("--lds", "512")
        .floats(&values)
        .arg("1xf32=0")
        .out()
        .arg("i32=30011")
        .run_floats();
    let sum: f64 = values.iter().map(|value| f64::from(*value)).sum();
    assert_close(&got, &[sum], 1e-5, 1e-3);
}

#[test]
fn histogram() {
    let Some(file) = fixture("clang/reduce.gfx942.co") else { return };
    let mut numbers = Numbers::new(6);
    let values: Vec<u8> = (0..10_007).map(|_| (numbers.bits() >> 24) as u8).collect();
    let bins = Launch::new(file, "histogram", "32")
        .block("256")
        .bytes("10007xui8", &values)
        .arg("256xi32=0")
        .out()
        .arg("i32=10007")
        .run();
    let mut expected = [0_u32; 256];
    values.iter().for_each(|value| expected[usize::from(*value)] += 1);
    assert_eq!(bins[0], bytes_of(&expected, u32::to_le_bytes));
}
