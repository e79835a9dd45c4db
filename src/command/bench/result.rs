// SPDX-License-Identifier: MIT OR Apache-2.0
//! The result of a row on a device, as reports and comparisons hold it.

use serde::{Deserialize, Serialize};

use super::{
    row::Row,
    sample::{Reference, Statistics},
    stop::Stop,
    target::Target,
};

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
    /// The result of a row with numbers.
    pub(super) fn of(row: &Row, target: &Target, host: Option<Statistics>, floor: Option<Reference>) -> Self {
        let marks = match row.needs.contains(&crate::Feature::Dispatch) || target.runs_kernels {
            true => target.marks().into_iter().map(str::to_owned).collect(),
            // The null HIP does everything but kernels.
            false => Vec::new(),
        };
        Self {
            row: row.name.clone(),
            device: target.uri.clone(),
            simulated: target.device.info().simulated,
            status: Status::Measured,
            reason: None,
            marks,
            unit: row.whole_unit(),
            host,
            device_clock: None,
            floor,
            peer: None,
        }
    }

    /// The result of a row that ended without numbers.
    pub(super) fn stopped(row: &Row, target: &Target, stop: Stop) -> Self {
        let (status, reason) = match stop {
            Stop::Lacks(reason) => (Status::Skipped, reason),
            Stop::Failed(reason) => (Status::Failed, reason),
            Stop::Interrupted => (Status::Skipped, "interrupted".to_owned()),
        };
        Self { status, reason: Some(reason), ..Self::of(row, target, None, None) }
    }

    /// The one row of a device that is not there.
    pub(super) fn absent(uri: &str, error: &crate::Error) -> Self {
        Self {
            row: "all rows".to_owned(),
            device: uri.to_owned(),
            simulated: false,
            status: Status::Absent,
            reason: Some(error.to_string()),
            marks: Vec::new(),
            unit: String::new(),
            host: None,
            device_clock: None,
            floor: None,
            peer: None,
        }
    }

    /// The row and its device, for formats in which a row is one name.
    pub(super) fn full_name(&self) -> String {
        format!("{} @ {}", self.row, self.device)
    }

    /// The floor, or else the peer.
    pub(super) fn reference(&self) -> Option<&Reference> {
        self.floor.as_ref().or(self.peer.as_ref())
    }
}
