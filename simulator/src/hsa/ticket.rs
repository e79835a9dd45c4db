// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handles that share memory and signals. They work within one process, because each process has a machine of
//! its own. Another process's handle is distinguished from a stale or invented one.

use super::abi::IpcHandle;
use super::explain::explain;
use super::status::{Outcome, Status};

/// The first word of a handle.
const MARK: u32 = 0x5749_4e44;

/// The kind of thing that a handle shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Shared {
    Memory = 1,
    Signal = 2,
}

/// The contents of a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) address: u64,
    /// Its number among all objects at the address.
    pub(crate) number: u64,
}

impl Ticket {
    pub(crate) fn handle(self, of: Shared) -> IpcHandle {
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let ([a, b], [c, d]) = (halves(self.address), halves(self.number));
        IpcHandle { handle: [MARK, of as u32, std::process::id(), 0, a, b, c, d] }
    }

    /// # Errors
    /// `INVALID_ARGUMENT` for bytes that are not such a handle, or another process's.
    pub(crate) fn read(caller: &str, handle: IpcHandle, of: Shared) -> Outcome<Self> {
        let [mark, kind, process, 0, a, b, c, d] = handle.handle else {
            return Err(Status::INVALID_ARGUMENT);
        };
        if mark != MARK || kind != of as u32 {
            return Err(Status::INVALID_ARGUMENT);
        }
        if process != std::process::id() {
            explain(&format!(
                "{caller}: the handle is of process {process}: each process has simulated GPUs of its own, so handles work in the \
                     process that made them"
            ));
            return Err(Status::INVALID_ARGUMENT);
        }
        let whole = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        Ok(Self { address: whole(a, b), number: whole(c, d) })
    }
}
