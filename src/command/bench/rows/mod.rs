// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of the suite, a file for each theme.

mod chain;
#[cfg(feature = "hip")]
mod completion;
mod dispatch;
mod executable;
mod file;
#[cfg(feature = "hip")]
mod floor;
mod host_call;
mod indirect;
mod load;
mod memory;
mod profile;
mod semaphore;
pub(super) mod start;
mod transfer;
mod wake;

use super::row::Row;

/// Every row, in the order of reports. Names are stable: files of different commits are compared by them.
pub(super) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    #[cfg(feature = "hip")]
    floor::add(&mut rows);
    dispatch::add(&mut rows);
    chain::add(&mut rows);
    host_call::add(&mut rows);
    semaphore::add(&mut rows);
    wake::add(&mut rows);
    #[cfg(feature = "hip")]
    completion::add(&mut rows);
    memory::add(&mut rows);
    transfer::add(&mut rows);
    executable::add(&mut rows);
    indirect::add(&mut rows);
    profile::add(&mut rows);
    file::add(&mut rows);
    start::add(&mut rows);
    rows
}
