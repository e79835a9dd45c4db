// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins this process, with the threads and processes that it starts, to one CPU.

use clap::ValueEnum;

use crate::command::failure::{Failure, Outcome};

/// The CPUs of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Cpus {
    /// The first CPU that the process may use: no wake crosses CPUs, which is steadier in virtual machines
    One,
    /// All that the process may use
    All,
}

impl Cpus {
    /// Applies the choice.
    pub(super) fn apply(self) -> Outcome {
        match self {
            Self::All => Ok(()),
            Self::One => pin().map_err(|reason| Failure::failed(format!("--cpus one: {reason}"))),
        }
    }
}

#[cfg(target_os = "linux")]
fn pin() -> Result<(), String> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let allowed = sched_getaffinity(None).map_err(|error| format!("asking for the CPUs: {error}"))?;
    let first = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).ok_or("the process has no CPU")?;
    let mut set = CpuSet::new();
    set.set(first);
    sched_setaffinity(None, &set).map_err(|error| format!("pinning to CPU {first}: {error}"))
}

#[cfg(not(target_os = "linux"))]
fn pin() -> Result<(), String> {
    Err("this system has no call for it that Windlass knows; start the command under the system's own tool"
        .to_owned())
}
