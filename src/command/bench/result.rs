// SPDX-License-Identifier: MIT OR Apache-2.0
//! The result of a row on a device, as reports and comparisons hold it.

use serde::{Deserialize, Serialize};

use super::sample::{Reference, Statistics};

/// The end of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    /// The numbers are there.
    Measured,
    /// The device or the machine lacks a thing that the row needs.
    Skipped,
    /// The device is not there.
    Absent,
    /// A call failed, or a result is wrong.
    Failed,
}

/// A row on a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RowResult {
    pub(super) row: String,
    pub(super) device: String,
    pub(super) simulated: bool,
    pub(super) status: Status,
    /// Why there are no numbers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) reason: Option<String>,
    /// Remarks without which the numbers would be misread.
    #[serde(default)]
    pub(super) marks: Vec<String>,
    pub(super) unit: String,
    /// The distribution in `unit`.
    #[serde(flatten)]
    pub(super) host: Option<Statistics>,
    /// The same by the clock of the device. No device has one yet.
    #[serde(default)]
    pub(super) device_clock: Option<Statistics>,
    /// The floor of the same run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) floor: Option<Reference>,
    /// The peer of the same run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) peer: Option<Reference>,
}

impl RowResult {
    /// The row and its device, for formats in which a row is one name.
    pub(super) fn full_name(&self) -> String {
        format!("{} @ {}", self.row, self.device)
    }

    /// The floor, or else the peer.
    pub(super) fn reference(&self) -> Option<&Reference> {
        self.floor.as_ref().or(self.peer.as_ref())
    }
}
