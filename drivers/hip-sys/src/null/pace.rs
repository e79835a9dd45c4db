// SPDX-License-Identifier: MIT OR Apache-2.0
//! The time that a kernel takes: positions of work are then times at which it is complete.

use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long each kernel of a null HIP takes, such as `1ms`: a whole number of `ns`, `us`, `ms` or `s`, an hour at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelTime(Duration);

impl KernelTime {
    /// The text of the rule for people who wrote something else.
    pub const SYNTAX: &str =
        "a whole number with its unit, ns, us, ms or s, and an hour at most, such as 1ms";

    /// A kernel that is complete when its launch returns.
    pub const NONE: Self = Self(Duration::ZERO);

    /// Whether kernels take time.
    pub fn is_some(self) -> bool {
        !self.0.is_zero()
    }
}

impl FromStr for KernelTime {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const HOUR: u64 = 3_600_000_000_000;
        let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at_checked(unit).ok_or(Self::SYNTAX)?;
        let factor = match unit {
            "ns" => 1,
            "us" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => return Err(Self::SYNTAX),
        };
        let number: u64 = number.parse().map_err(|_| Self::SYNTAX)?;
        let nanoseconds = number.checked_mul(factor).filter(|time| *time <= HOUR).ok_or(Self::SYNTAX)?;
        Ok(Self(Duration::from_nanos(nanoseconds)))
    }
}

/// The clock of a device whose kernels take time. A position is a time of this clock in nanoseconds.
#[derive(Debug)]
pub(super) struct Pace {
    start: Instant,
    kernel: u64,
}

impl Pace {
    pub(super) fn new(time: KernelTime) -> Self {
        Self { start: Instant::now(), kernel: nanoseconds(time.0) }
    }

    pub(super) fn now(&self) -> u64 {
        nanoseconds(self.start.elapsed())
    }

    /// The end of a kernel behind the work up to `before`, which it stores there.
    pub(super) fn launch(&self, before: &AtomicU64) -> u64 {
        let now = self.now();
        let end = |before: u64| before.max(now).saturating_add(self.kernel);
        let (Ok(before) | Err(before)) =
            before.fetch_update(Ordering::AcqRel, Ordering::Acquire, |before| Some(end(before)));
        end(before)
    }

    /// Sleeps until a position. The kernel's timer wakes the thread, as a GPU's interrupt does.
    pub(super) fn sleep(&self, position: u64) {
        let left = || position.saturating_sub(self.now());
        if left() == 0 {
            return;
        }
        let _slack = Slack::none();
        while left() > 0 {
            std::thread::sleep(Duration::from_nanos(left()));
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Linux lets timers of a thread end 50 us late, so that it can serve several at once. An interrupt of a GPU does not wait
/// for others, so this guard asks for exact timers, and restores the thread's own setting.
struct Slack {
    #[cfg(target_os = "linux")]
    before: libc::c_int,
}

#[cfg(target_os = "linux")]
impl Slack {
    fn none() -> Self {
        // SAFETY: reads and sets a number of the calling thread.
        unsafe {
            let before = libc::prctl(libc::PR_GET_TIMERSLACK);
            libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong);
            Self { before }
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Slack {
    fn drop(&mut self) {
        if let Ok(before) = libc::c_ulong::try_from(self.before) {
            // SAFETY: as above.
            unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, before) };
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Slack {
    fn none() -> Self {
        Self {}
    }
}
