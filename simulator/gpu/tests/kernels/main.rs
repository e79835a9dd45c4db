// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real kernels on the engine, against plain Rust.

mod gpu;

mod arithmetic;
mod calls;
mod compare;
mod compilers;
mod control;
mod faults;
mod fixtures;
mod float_mode;
mod half;
mod integer;
mod launch;
mod matrix;
mod private;
mod sharing;
mod spin;
mod wave;
