// SPDX-License-Identifier: MIT OR Apache-2.0
//! A row: a name, and the work that it measures.

use crate::Feature;

use super::{
    shape::Shape,
    stop::{Stop, Work},
    subject::{Floor, Subject},
    target::Target,
};

/// A row whose device is set up and whose results are checked.
pub(super) enum Prepared {
    /// Work to time, beside its lower bound where there is one.
    Timed(Subject, Option<Floor>),
    /// A number that is exact without a clock.
    #[cfg_attr(not(feature = "hip"), expect(dead_code, reason = "only the null HIP counts"))]
    Exact(f64),
}

/// Sets a row up on a device.
type Prepare = Box<dyn Fn(&Target) -> Work<Prepared>>;

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
    /// Whether a round is a sample, however little of it is measured.
    pub(super) long: bool,
    /// The optional features of a device that the row uses.
    pub(super) needs: &'static [Feature],
    /// The schemes that have this row; empty if all have.
    pub(super) schemes: &'static [&'static str],
    prepare: Prepare,
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
            long: false,
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

    /// A row whose round lasts long, and whose measured part may be short.
    #[cfg_attr(
        not(feature = "hip"),
        expect(dead_code, reason = "only kernels of the null HIP take a known time")
    )]
    pub(super) fn long(self) -> Self {
        Self { long: true, ..self.uncounted() }
    }

    pub(super) fn schemes(self, schemes: &'static [&'static str]) -> Self {
        Self { schemes, ..self }
    }

    #[cfg_attr(not(feature = "hip"), expect(dead_code, reason = "only the null HIP counts"))]
    pub(super) fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// The unit in reports, such as `ns/dispatch`.
    pub(super) fn whole_unit(&self) -> String {
        format!("{}/{}", self.unit, self.per)
    }

    /// The row as an object of `--list`.
    pub(super) fn listed(&self) -> serde_json::Value {
        serde_json::json!({
            "row": self.name,
            "unit": self.whole_unit(),
            "items": self.items,
            "counted": self.counted,
            "schemes": self.schemes,
        })
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
