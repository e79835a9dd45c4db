// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels whose result shows the order in which they ran, and how often.

use std::sync::atomic::Ordering::Relaxed;

use crate::LibraryBuilder;

use super::items::{below, kernel};

pub(super) fn all(library: LibraryBuilder) -> LibraryBuilder {
    let multiply_add = kernel("multiply_add", |group| {
        let values = group.arguments.buffer::<u32>(0)?;
        let (factor, addend) = (group.arguments.value(2)?, group.arguments.value(3)?);
        for i in below(group, group.arguments.value(1)?) {
            // SAFETY: i < n, and the buffer holds n elements.
            unsafe { values.store(i, values.load(i).wrapping_mul(factor).wrapping_add(addend)) };
        }
        Ok(())
    });
    let increment = kernel("increment", |group| {
        let counter = group.arguments.buffer::<u32>(0)?;
        for _ in group.items() {
            // SAFETY: the buffer holds one word, which all that runs meanwhile treats as this atomic.
            unsafe { counter.atomic(0) }.fetch_add(1, Relaxed);
        }
        Ok(())
    });
    let append = kernel("append", |group| {
        let log = group.arguments.buffer::<u32>(0)?;
        let (capacity, value) = (group.arguments.value::<u32>(1)?, group.arguments.value(2)?);
        // SAFETY: the buffer holds capacity + 1 words, and all that runs meanwhile treats the first as this atomic.
        let slot = unsafe { log.atomic(0) }.fetch_add(1, Relaxed);
        if slot < capacity {
            // SAFETY: 1 + slot < capacity + 1.
            unsafe { log.store(1 + slot as usize, value) };
        }
        Ok(())
    });
    library
        .kernel(multiply_add.buffer("values").value::<i32>("n").value::<u32>("factor").value::<u32>("addend"))
        .kernel(increment.buffer("counter"))
        .kernel(append.buffer("log").value::<u32>("capacity").value::<u32>("value"))
}
