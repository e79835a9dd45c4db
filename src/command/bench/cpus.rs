// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pins this process, with the threads and processes that it starts, to one CPU.

#[cfg(feature = "hip")]
use std::time::Duration;

use clap::ValueEnum;

#[cfg(feature = "hip")]
use super::stop::{Stop, Work};
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

/// Two CPUs for two threads that wake each other: different ones if the process may use several. The way that the system
/// spreads two threads by itself changes from run to run, and a wake across CPUs costs ten times as much.
#[derive(Clone, Copy)]
pub(super) struct Pair(#[cfg(target_os = "linux")] [Option<usize>; 2]);

#[cfg(target_os = "linux")]
mod of_linux {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::Pair;

    fn allowed() -> Result<Vec<usize>, String> {
        let set = sched_getaffinity(None).map_err(|error| format!("asking for the CPUs: {error}"))?;
        Ok((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
    }

    fn pin_to(cpu: usize) -> Result<(), String> {
        let mut set = CpuSet::new();
        set.set(cpu);
        sched_setaffinity(None, &set).map_err(|error| format!("pinning to CPU {cpu}: {error}"))
    }

    pub(super) fn pin() -> Result<(), String> {
        pin_to(*allowed()?.first().ok_or("the process has no CPU")?)
    }

    impl Pair {
        pub(crate) fn new() -> Self {
            let allowed = allowed().unwrap_or_default();
            let first = allowed.first().copied();
            Self([first, allowed.get(1).copied().or(first)])
        }

        /// Whether the two CPUs differ.
        pub(crate) fn is_apart(self) -> bool {
            self.0[0] != self.0[1]
        }

        /// Pins the calling thread to the first or the second CPU, as far as the system allows it.
        pub(crate) fn pin(self, index: usize) {
            if let Some(cpu) = self.0.get(index).copied().flatten() {
                let _ = pin_to(cpu);
            }
        }
    }
}

#[cfg(target_os = "linux")]
use of_linux::pin;

/// The time for which the threads of this process have used a CPU.
#[cfg(all(feature = "hip", target_os = "linux"))]
pub(super) fn process_time() -> Work<Duration> {
    use rustix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time)
        .map_err(|error| Stop::Failed(format!("the clock of this process's CPU time: {error}")))
}

#[cfg(all(feature = "hip", not(target_os = "linux")))]
pub(super) fn process_time() -> Work<Duration> {
    Err(Stop::Lacks("CPU time is measured on Linux only".to_owned()))
}

#[cfg(not(target_os = "linux"))]
fn pin() -> Result<(), String> {
    Err("this system has no call for it that Windlass knows; start the command under the system's own tool"
        .to_owned())
}

#[cfg(not(target_os = "linux"))]
impl Pair {
    pub(super) fn new() -> Self {
        Self()
    }

    pub(super) fn is_apart(self) -> bool {
        std::thread::available_parallelism().is_ok_and(|count| count.get() > 1)
    }

    pub(super) fn pin(self, _index: usize) {}
}
