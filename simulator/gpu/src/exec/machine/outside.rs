// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runtime behind a dispatch, as far as a wave reaches it.

/// Answers the interrupts of waves, and has the time.
pub trait Outside: Send + Sync {
    /// A wave has sent an interrupt (`s_sendmsg`). Everything that it wrote before is in memory.
    fn interrupt(&self);

    /// The time in nanoseconds since the start of the machine, on the clock that events read.
    fn nanoseconds(&self) -> u64;
}
