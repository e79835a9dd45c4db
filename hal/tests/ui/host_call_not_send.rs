// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host call runs on a thread of the callback pool.

use std::{cell::Cell, rc::Rc};

fn submit(queue: &windlass_hal::Queue) {
    let count = Rc::new(Cell::new(0));
    let _ = queue.host_call(&[], &[], windlass_hal::HostCallFlags::NONE, move |_| {
        count.set(count.get() + 1);
        Ok(())
    });
}

fn main() {}
