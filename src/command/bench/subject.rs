// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work that rows and floors repeat and time, and the check of its results.

use std::time::{Duration, Instant};

use super::stop::{Stop, Work};

/// Work that can be repeated: it does the given number of rounds, and returns the time of the measured part.
pub(super) type Subject = Box<dyn FnMut(u64) -> Work<Duration>>;

/// A subject whose rounds are measured from the first to the last.
pub(super) fn whole(mut round: impl FnMut() -> Work + 'static) -> Subject {
    Box::new(move |rounds| {
        let start = Instant::now();
        for _ in 0..rounds {
            round()?;
        }
        Ok(start.elapsed())
    })
}

/// A subject whose rounds measure a part of themselves.
pub(super) fn partly(mut round: impl FnMut() -> Work<Duration> + 'static) -> Subject {
    Box::new(move |rounds| (0..rounds).map(|_| round()).sum::<Work<Duration>>())
}

/// The lower bound of a row: the same work without the HAL.
pub(super) struct Floor {
    pub(super) name: &'static str,
    /// Items of a round.
    pub(super) items: u64,
    pub(super) subject: Subject,
}

impl Floor {
    pub(super) fn new(name: &'static str, items: u64, subject: Subject) -> Self {
        Self { name, items, subject }
    }
}

/// Fails a row whose buffer does not hold the expected numbers.
pub(super) fn check(what: &str, got: &[u8], expected: impl Fn(u32) -> u32) -> Work {
    for (index, bytes) in got.chunks_exact(4).enumerate() {
        let number = bytes.iter().rev().fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        let wanted = expected(index as u32);
        if number != wanted {
            return Err(Stop::Failed(format!(
                "{what} computes wrong numbers, so its time means nothing: [{index}] is {number}, and {wanted} is right"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_numbers_fail_a_row_and_say_which() {
        let right: Vec<_> = [7_u32, 8].into_iter().flat_map(u32::to_le_bytes).collect();
        assert!(check("kernel", &right, |index| index + 7).is_ok());
        let Err(Stop::Failed(reason)) = check("kernel", &right, |_| 7) else { panic!("it is wrong") };
        assert!(reason.contains("[1] is 8, and 7 is right"), "{reason}");
    }
}
