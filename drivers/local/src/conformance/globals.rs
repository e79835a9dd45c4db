// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels that use variables of their library.

use std::sync::atomic::Ordering::Relaxed;

use crate::LibraryBuilder;

use super::items::{below, kernel};

pub(super) fn all(library: LibraryBuilder) -> LibraryBuilder {
    let use_globals = kernel("use_globals", |group| {
        let out = group.arguments.buffer::<f32>(0)?;
        let (table, biases) =
            (group.arguments.global::<f32>("table")?, group.arguments.global::<f32>("biases")?);
        let counter = group.arguments.global::<u32>("counter")?;
        for i in below(group, group.arguments.value(1)?) {
            // SAFETY: i < n, the buffer holds n elements; table has 16 elements, biases 64, and counter is one aligned word
            // that only these kernels touch, as this atomic.
            unsafe {
                out.store(i, table.load(i % 16) + biases.load(i % 64));
                counter.atomic(0).fetch_add(1, Relaxed);
            }
        }
        Ok(())
    });
    let read_counter = kernel("read_counter", |group| {
        let counter = group.arguments.global::<u32>("counter")?;
        // SAFETY: both are one aligned word; the counter is only touched as this atomic.
        unsafe { group.arguments.buffer::<u32>(0)?.store(0, counter.atomic(0).load(Relaxed)) };
        Ok(())
    });
    let table: Vec<u8> = (0..16).flat_map(|power| ((1 << power) as f32).to_ne_bytes()).collect();
    library
        .kernel(use_globals.buffer("out").value::<i32>("n"))
        .kernel(read_counter.buffer("out"))
        .global("counter", &7_i32.to_ne_bytes())
        .global("table", &table)
        .global("biases", &[0; 256])
}
