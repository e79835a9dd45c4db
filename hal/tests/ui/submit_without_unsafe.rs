// SPDX-License-Identifier: MIT OR Apache-2.0
//! A driver believes what it is handed: handing it work past the front is unsafe.

use windlass_hal::{CommandList, Operation, QueueAffinity, driver};

fn hand(driver: &dyn driver::RawDevice, list: CommandList, operation: Operation) {
    let _ = driver.prepare(list);
    let _ = driver.submit(QueueAffinity::ANY, &[], &[], operation);
}

fn main() {}
