// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words of memory that streams wait for and write: hipStreamWaitValue and hipStreamWriteValue.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use crate::hip::hardware::machine::Machine;
use crate::packet::{Condition, WorkError};

/// A word of 4 or 8 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryWord {
    /// As the device sees it.
    pub(crate) address: u64,
    pub(crate) size: u64,
}

/// The comparisons of hipStreamWaitValue, in HIP's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// `word & mask >= value`, unsigned.
    AtLeast,
    /// `word & mask == value`.
    Equal,
    /// `word & mask & value != 0`.
    And,
    /// `!((word & mask) | value)` has a bit within the mask.
    Nor,
}

/// A comparison with its numbers. A word of 4 bytes counts as one of 8 whose upper half is zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    pub(crate) comparison: Comparison,
    pub(crate) value: u64,
    pub(crate) mask: u64,
}

/// A word that the next packet of a stream waits for.
pub(crate) struct AwaitedWord {
    pub(crate) machine: Arc<Machine>,
    /// The index of the stream's device.
    pub(crate) device: usize,
    pub(crate) word: MemoryWord,
    pub(crate) until: Until,
}

impl Comparison {
    pub(crate) fn from_flags(flags: u32) -> Option<Self> {
        [Self::AtLeast, Self::Equal, Self::And, Self::Nor].get(flags as usize).copied()
    }
}

impl Until {
    fn holds(self, word: u64) -> bool {
        let Self { comparison, value, mask } = self;
        match comparison {
            Comparison::AtLeast => word & mask >= value,
            Comparison::Equal => word & mask == value,
            Comparison::And => word & mask & value != 0,
            Comparison::Nor => !(word | value) & mask != 0,
        }
    }
}

impl MemoryWord {
    /// Reads the word; `None` once its memory is freed.
    fn load(self, machine: &Machine) -> Option<u64> {
        let span = machine.memory.span(self.address, self.size).ok()?;
        Some(if self.size == 4 { span.load::<u32>(self.address).into() } else { span.load(self.address) })
    }

    /// Writes the word in one piece.
    ///
    /// # Errors
    /// [`WorkError::Memory`] if the memory was freed meanwhile.
    pub(crate) fn store(self, machine: &Machine, value: u64) -> Result<(), WorkError> {
        let span = machine.memory.span(self.address, self.size);
        let span = span.map_err(|error| WorkError::Memory("hipStreamWriteValue", error))?;
        // Earlier work of the stream is visible to those who see the word.
        fence(Ordering::Release);
        match self.size {
            4 => span.store(self.address, value as u32),
            _ => span.store(self.address, value),
        }
        machine.memory.note_write(self.address, self.size);
        Ok(())
    }
}

impl Condition for AwaitedWord {
    fn holds(&self) -> bool {
        // A device that has failed skips its work, and freed memory never changes: nobody could end such a wait.
        let failed = self.machine.device(self.device).is_ok_and(|device| device.failure().is_some());
        let holds = failed || self.word.load(&self.machine).is_none_or(|word| self.until.holds(word));
        if holds {
            fence(Ordering::Acquire);
        }
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_those_of_hip() {
        let holds = |comparison, word, value, mask| Until { comparison, value, mask }.holds(word);
        let all = u64::MAX;
        assert!(holds(Comparison::AtLeast, 7, 7, all) && !holds(Comparison::AtLeast, 6, 7, all));
        assert!(holds(Comparison::AtLeast, 1 << 63, 1, all), "unsigned");
        assert!(!holds(Comparison::AtLeast, 0xf7, 8, 0x0f), "only the masked bits count");
        assert!(holds(Comparison::Equal, 0xf7, 7, 0x0f) && !holds(Comparison::Equal, 0xf7, 0xf7, 0x0f));
        assert!(holds(Comparison::And, 6, 4, all) && !holds(Comparison::And, 6, 4, 2));
        assert!(holds(Comparison::Nor, 5, 2, 0xf) && !holds(Comparison::Nor, 5, 10, 0xf));
        assert_eq!(Comparison::from_flags(4), None);
    }
}
