// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads from LDS that transpose a matrix in each row of sixteen lanes.
//!
//! A lane reads 64 bits. The lanes hold the rows of the matrix one after another, each of 16 elements. Afterwards lane `l` of the
//! sixteen holds column `l`.

use crate::exec::families::lds::read_any;
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::step::Step;
use crate::exec::values::row::row;

/// Elements of a row of the matrix.
const COLUMNS: usize = 16;

/// Reads elements of `bits` bits. An inactive lane has zeros.
pub(crate) fn transposed(core: &mut Core<'_>, step: &Step, bits: usize) -> Flow {
    match read_any(core, step) {
        Flow::Next => {}
        stop => return stop,
    }
    let exec = core.wave.exec();
    let of_lane = 64 / bits;
    let [low, high] = [step.dst, step.dst + 1].map(|number| *core.wave.row(number));
    let read = |lane: usize| {
        let all = u64::from(low[lane]) | u64::from(high[lane]) << 32;
        if exec.has(lane) { all } else { 0 }
    };
    let column = |lane: usize| {
        let (first, column) = (lane & !15, lane & 15);
        (0..of_lane).fold(0, |all, row| {
            let from = first + row * (COLUMNS / of_lane) + column / of_lane;
            let element = read(from) >> (bits * (column % of_lane)) & (u64::MAX >> (64 - bits));
            all | element << (bits * row)
        })
    };
    core.wave.write_row(step.dst, &row!(|lane| column(lane) as u32), exec);
    core.wave.write_row(step.dst + 1, &row!(|lane| (column(lane) >> 32) as u32), exec);
    Flow::Next
}
