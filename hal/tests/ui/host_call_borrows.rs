// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host call may run after the end of its submitter.

fn submit(queue: &windlass_hal::Queue) {
    let mut count = 0;
    let _ = queue.host_call(&[], &[], windlass_hal::HostCallFlags::NONE, |_| {
        count += 1;
        Ok(())
    });
}

fn main() {}
