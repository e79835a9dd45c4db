// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process that owns a simulator. The simulator's threads do not follow a `fork`, so a child that used it would wait
//! forever.
//!
//! Registrations of compiled programs before `main`, and questions for versions and names of errors, make no process the
//! owner: a program may fork first and use HIP in its children. The first other call makes its process the owner, and
//! children of the owner are refused. AMD's runtime cannot serve them either.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::hip::words::code::Code;
use crate::hip::words::explanation::{explain, remind};

/// Functions that touch only constants and the calling thread's state.
const HARMLESS: &[&str] = &[
    "hipDriverGetVersion",
    "hipRuntimeGetVersion",
    "hipDrvGetErrorName",
    "hipDrvGetErrorString",
    "hipGetLastError",
    "hipPeekAtLastError",
    "hipExtGetLastError",
    "hipGetProcAddress",
];

/// Functions that compiled programs call before `main` and after it.
const REGISTRATION: &[&str] = &[
    "__hipRegisterFatBinary",
    "__hipUnregisterFatBinary",
    "__hipRegisterFunction",
    "__hipRegisterVar",
    "__hipRegisterManagedVar",
];

/// The relation of a simulator to a process that calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The call is served.
    Own,
    /// The owner is an ancestor: the call is served without the simulator's threads and schedule.
    Apart,
    /// The owner is an ancestor, and the call needs the threads that the child lacks.
    Refused,
}

/// The owner of a simulator. At first there is none.
#[derive(Debug, Default)]
pub(crate) struct Owner {
    /// The process number; zero while there is no owner.
    process: AtomicU32,
    /// The child whose refusal is in the log already.
    told: AtomicU32,
}

impl Owner {
    /// Whether the calling process may call `function`. The first call that counts makes the process the owner.
    pub(crate) fn standing(&self, function: &str) -> Standing {
        let process = std::process::id();
        match self.process.load(Ordering::Relaxed) {
            0 if REGISTRATION.contains(&function) || HARMLESS.contains(&function) => Standing::Own,
            // Only threads of one process compete here, as children have copies.
            0 => {
                self.process.store(process, Ordering::Relaxed);
                Standing::Own
            }
            owner if owner == process => Standing::Own,
            _ if HARMLESS.contains(&function) => Standing::Apart,
            owner => {
                if !REGISTRATION.contains(&function) {
                    self.tell(owner, process, function);
                }
                Standing::Refused
            }
        }
    }

    /// Whether an ancestor of the calling process is the owner.
    pub(crate) fn is_elsewhere(&self) -> bool {
        let owner = self.process.load(Ordering::Relaxed);
        owner != 0 && owner != std::process::id()
    }

    /// Explains why a child is refused. The log has it once.
    fn tell(&self, owner: u32, process: u32, function: &str) {
        let why = format!(
            "{function} in process {process}: the simulated GPU belongs to process {owner}, which forked after it had \
             used HIP. Call HIP in the child alone, or start the child as a program of its own (Python: \
             multiprocessing's start method \"spawn\")"
        );
        match self.told.swap(process, Ordering::Relaxed) == process {
            true => remind(&why),
            false => explain(why),
        }
    }
}

impl Standing {
    /// The answer to a refused call.
    pub(crate) const REFUSAL: Code = Code::NOT_INITIALIZED;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_use_makes_the_owner() {
        let owner = Owner::default();
        for function in ["__hipRegisterFatBinary", "hipRuntimeGetVersion"] {
            assert_eq!(owner.standing(function), Standing::Own);
            assert_eq!(owner.process.load(Ordering::Relaxed), 0);
        }
        assert_eq!(owner.standing("hipGetDeviceCount"), Standing::Own);
        assert_eq!(owner.process.load(Ordering::Relaxed), std::process::id());
        assert!(!owner.is_elsewhere());
    }

    #[test]
    fn others_are_refused_what_was_left_behind() {
        let ancestor = AtomicU32::new(std::process::id() + 1);
        let owner = Owner { process: ancestor, ..Owner::default() };
        assert!(owner.is_elsewhere());
        for function in ["hipMalloc", "hipGetDeviceCount", "__hipUnregisterFatBinary"] {
            assert_eq!(owner.standing(function), Standing::Refused, "{function}");
        }
        assert_eq!(owner.standing("hipGetLastError"), Standing::Apart);
    }
}
