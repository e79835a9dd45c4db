// SPDX-License-Identifier: MIT OR Apache-2.0
//! The barrier of a workgroup whose waves signal and wait apart.

/// The barrier of one workgroup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkgroupBarrier {
    /// Waves of the workgroup that have not ended.
    members: u32,
    /// Those that have signalled since the barrier was last complete.
    arrived: u32,
    /// How often it was complete.
    phase: u64,
}

impl WorkgroupBarrier {
    /// The barrier of some waves.
    pub(crate) const fn of(members: u32) -> Self {
        Self { members, arrived: 0, phase: 0 }
    }

    /// How often it was complete.
    pub(crate) fn phase(&self) -> u64 {
        self.phase
    }

    /// A wave signals. Returns whether it is the first one.
    pub(crate) fn signal(&mut self) -> bool {
        self.arrived += 1;
        let first = self.arrived == 1;
        self.complete();
        first
    }

    /// A wave has ended.
    pub(crate) fn leave(&mut self) {
        self.members = self.members.saturating_sub(1);
        self.complete();
    }

    fn complete(&mut self) {
        if self.arrived > 0 && self.arrived >= self.members {
            (self.arrived, self.phase) = (0, self.phase + 1);
        }
    }

    /// The state that `s_get_barrier_state` reads: that it is valid, its members, and those that have signalled.
    pub(crate) fn state(&self) -> u32 {
        1 | (self.members & 0x7f) << 4 | (self.arrived & 0x7f) << 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_complete_when_all_members_have_signalled() {
        let mut barrier = WorkgroupBarrier::of(3);
        assert!(barrier.signal() && !barrier.signal());
        assert_eq!((barrier.phase(), barrier.state()), (0, 1 | 3 << 4 | 2 << 16));
        assert!(!barrier.signal());
        assert_eq!((barrier.phase(), barrier.state()), (1, 1 | 3 << 4));
        // A wave that ends is waited for no longer.
        assert!(barrier.signal());
        barrier.leave();
        assert!(!barrier.signal());
        assert_eq!(barrier.phase(), 2);
        barrier.leave();
        barrier.leave();
        assert_eq!(barrier.phase(), 2);
    }
}
