// SPDX-License-Identifier: MIT OR Apache-2.0
//! Triton's matrix products for gfx950, beside products of the values of their codes. `simulator/gpu/tests/data/gfx950/kernels.py`
//! compiles them.

use crate::support::{Launch, Numbers, assert_close, bytes_of, half_bits, half_value, product};

/// Rows of A and columns of B, and the inner dimension.
const SIDE: usize = 64;
const DEPTH: usize = 512;
/// Inner elements that share a scale.
const BLOCK: usize = 32;

/// A format, by the bits of its exponent and of its mantissa.
#[derive(Clone, Copy)]
struct Format {
    exponent: u32,
    mantissa: u32,
}

const E2M1: Format = Format { exponent: 2, mantissa: 1 };
const E4M3: Format = Format { exponent: 4, mantissa: 3 };
const E5M2: Format = Format { exponent: 5, mantissa: 2 };

impl Format {
    fn value(self, code: u8) -> f32 {
        let magnitude = u32::from(code) & ((1 << (self.exponent + self.mantissa)) - 1);
        let (field, fraction) = (magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1));
        let bias = (1 << (self.exponent - 1)) - 1;
        let whole = if field == 0 { fraction } else { fraction | 1 << self.mantissa };
        let value = whole as f32 * 2f32.powi(field.max(1) as i32 - bias - self.mantissa as i32);
        if u32::from(code) >> (self.exponent + self.mantissa) & 1 != 0 { -value } else { value }
    }

    /// Codes of numbers of moderate size.
    fn codes(self, numbers: &mut Numbers, count: usize) -> Vec<u8> {
        let mask = match self.exponent {
            2 => 0x0f,
            4 => 0xbf,
            _ => 0xb7,
        };
        (0..count).map(|_| numbers.bits() as u8 & mask).collect()
    }
}

fn launch(name: &str, kernel: &str, lds: &str) -> Launch {
    let file = format!("simulator/gpu/tests/data/gfx950/{name}.hsaco");
    Launch::new(file, kernel, "1").on("hip-sim://gfx950?threads=2").block("256").option("--lds", lds)
}

/// Adds C and the arguments behind it, and runs the kernel.
fn run(launch: Launch) -> Vec<f32> {
    let launch = launch.arg(&format!("{SIDE}x{SIDE}xf32=0")).out().arg(&format!("i32={DEPTH}"));
    launch.arg("null").arg("null").run_floats()
}

#[test]
fn halves() {
    let mut numbers = Numbers::new(30);
    let mut halves = || -> Vec<u16> { (0..SIDE * DEPTH).map(|_| half_bits(numbers.float())).collect() };
    let (a, b) = (halves(), halves());
    let shape = format!("{}xf16", SIDE * DEPTH);
    let launch = launch("halves", "product", "65536")
        .bytes(&shape, &bytes_of(&a, u16::to_le_bytes))
        .bytes(&shape, &bytes_of(&b, u16::to_le_bytes));
    let values = |bits: &[u16]| -> Vec<f32> { bits.iter().map(|bits| half_value(*bits)).collect() };
    assert_close(&run(launch), &product(&values(&a), &values(&b), SIDE, SIDE, DEPTH), 1e-4, 1e-4);
}

#[test]
fn eight_bits_of_two_formats() {
    let mut numbers = Numbers::new(31);
    let (a, b) = (E5M2.codes(&mut numbers, SIDE * DEPTH), E4M3.codes(&mut numbers, SIDE * DEPTH));
    let shape = format!("{}xi8", SIDE * DEPTH);
    let launch = launch("eighths", "product", "32768").bytes(&shape, &a).bytes(&shape, &b);
    let values =
        |format: Format, codes: &[u8]| -> Vec<f32> { codes.iter().map(|code| format.value(*code)).collect() };
    assert_close(&run(launch), &product(&values(E5M2, &a), &values(E4M3, &b), SIDE, SIDE, DEPTH), 1e-4, 1e-4);
}

/// A product of two formats with scales.
#[track_caller]
fn scaled(name: &str, lds: &str, of_a: Format, of_b: Format) {
    let mut numbers = Numbers::new(32);
    let (a, b) = (of_a.codes(&mut numbers, SIDE * DEPTH), of_b.codes(&mut numbers, SIDE * DEPTH));
    let mut scales =
        || -> Vec<u8> { (0..SIDE * DEPTH / BLOCK).map(|_| 122 + (numbers.bits() % 10) as u8).collect() };
    let (scales_a, scales_b) = (scales(), scales());
    // Two codes of four bits lie in a byte, next to each other in the inner dimension: of A in a row, of B in a column.
    let pairs_of_a = |codes: &[u8]| codes.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect::<Vec<u8>>();
    let pairs_of_b = |codes: &[u8]| {
        let rows: Vec<_> = codes.chunks(SIDE).collect();
        rows.chunks(2)
            .flat_map(|two| two[0].iter().zip(two[1]).map(|(low, high)| low | high << 4))
            .collect::<Vec<u8>>()
    };
    let a_bytes = if of_a.exponent == 2 { pairs_of_a(&a) } else { a.clone() };
    let b_bytes = if of_b.exponent == 2 { pairs_of_b(&b) } else { b.clone() };
    let mut launch = launch(name, "scaled", lds);
    for bytes in [&a_bytes, &b_bytes, &scales_a, &scales_b] {
        launch = launch.bytes(&format!("{}xi8", bytes.len()), bytes);
    }
    let factor = |scale: u8| 2f32.powi(i32::from(scale) - 127);
    let blocks = DEPTH / BLOCK;
    let a: Vec<f32> = (0..SIDE * DEPTH)
        .map(|at| of_a.value(a[at]) * factor(scales_a[at / DEPTH * blocks + at % DEPTH / BLOCK]))
        .collect();
    let b: Vec<f32> = (0..SIDE * DEPTH)
        .map(|at| of_b.value(b[at]) * factor(scales_b[at % SIDE * blocks + at / SIDE / BLOCK]))
        .collect();
    assert_close(&run(launch), &product(&a, &b, SIDE, SIDE, DEPTH), 1e-4, 1e-2);
}

/// It has more than 64 KiB of LDS.
#[test]
fn eight_bits_with_scales() {
    scaled("scaled_e5m2_e4m3", "67584", E5M2, E4M3);
}

#[test]
fn eight_bits_and_four_with_scales() {
    scaled("scaled_e4m3_e2m1", "51200", E4M3, E2M1);
}

#[test]
fn four_bits_with_scales() {
    scaled("scaled_e2m1_e2m1", "34816", E2M1, E2M1);
}
