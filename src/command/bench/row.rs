// SPDX-License-Identifier: MIT OR Apache-2.0
//! A row: a name, the work that it measures, and the reasons why it measures nothing.

use std::time::{Duration, Instant};

use windlass::{Code, Error, Feature};

use super::{rows::load::Shape, target::Target};

/// The result of a part of a row.
pub(super) type Work<T = ()> = Result<T, Stop>;

/// Why a row has no numbers.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// The device or the machine lacks a thing that the row needs.
    Lacks(String),
    /// A call failed, or a result is wrong.
    Failed(String),
    /// The user interrupted the run.
    Interrupted,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error.code() {
            Code::Unimplemented => Self::Lacks(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

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

/// A row whose device is set up and whose results are checked.
pub(super) enum Prepared {
    /// Work to time, beside its lower bound where there is one.
    Timed(Subject, Option<Floor>),
    /// A number that is exact without a clock.
    Exact(f64),
}

/// A row of the suite.
pub(super) struct Row {
    pub(super) name: String,
    /// The name of an item, of which a round has `items`.
    pub(super) per: &'static str,
    pub(super) items: u64,
    /// The shape of the dispatches, for peers that do the same.
    pub(super) shape: Option<Shape>,
    /// The unit of an item's value: `ns`, or that of an exact number.
    pub(super) unit: &'static str,
    /// Whether callgrind can count a round: threads that sleep or spin have no steady count.
    pub(super) counted: bool,
    /// The optional features of a device that the row uses.
    pub(super) needs: &'static [Feature],
    /// The schemes that have this row; empty if all have.
    pub(super) schemes: &'static [&'static str],
    prepare: Box<dyn Fn(&Target) -> Work<Prepared>>,
}

impl Row {
    /// A row in nanoseconds for each of `items` items.
    pub(super) fn new(
        name: impl Into<String>,
        (items, per): (u64, &'static str),
        prepare: impl Fn(&Target) -> Work<Prepared> + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            per,
            items,
            shape: None,
            unit: "ns",
            counted: true,
            needs: &[],
            schemes: &[],
            prepare: Box::new(prepare),
        }
    }

    pub(super) fn needs(self, needs: &'static [Feature]) -> Self {
        Self { needs, ..self }
    }

    pub(super) fn shape(self, shape: Shape) -> Self {
        Self { shape: Some(shape), ..self }
    }

    /// A row that only the clock can measure.
    pub(super) fn uncounted(self) -> Self {
        Self { counted: false, ..self }
    }

    pub(super) fn schemes(self, schemes: &'static [&'static str]) -> Self {
        Self { schemes, ..self }
    }

    pub(super) fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// The unit in reports, such as `ns/dispatch`.
    pub(super) fn whole_unit(&self) -> String {
        format!("{}/{}", self.unit, self.per)
    }

    /// Whether devices of this URI have the row.
    pub(super) fn is_for(&self, uri: &str) -> bool {
        let scheme = uri.split_once("://").map_or(uri, |(scheme, _)| scheme);
        self.schemes.is_empty() || self.schemes.contains(&scheme)
    }

    /// Sets the row up on a device, and checks the results of its work.
    pub(super) fn prepare(&self, target: &Target) -> Work<Prepared> {
        for lack in &target.device.info().lacks {
            if self.needs.contains(&lack.feature) {
                return Err(Stop::Lacks(format!(
                    "the device lacks {}: {}",
                    lack.feature.name(),
                    lack.reason
                )));
            }
        }
        (self.prepare)(target)
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
