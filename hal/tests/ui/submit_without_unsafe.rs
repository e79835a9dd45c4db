// SPDX-License-Identifier: MIT OR Apache-2.0
//! A driver does not check its work again, so submitting work without the front is unsafe.

use windlass_hal::{CommandList, Operation, QueueAffinity, driver};

fn hand(driver: &dyn driver::RawDevice, list: CommandList, operation: windlass_hal::OperationRef<'_>) {
    let _ = driver.prepare(list);
    let _ = driver.submit(QueueAffinity::ANY, &[], &[], operation);
}

fn main() {}
