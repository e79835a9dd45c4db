// SPDX-License-Identifier: MIT OR Apache-2.0
//! `customSmallerIsBetter` of github-action-benchmark: a list of names, values and units.

use serde_json::{Value, json};

use super::table::number;
use crate::command::bench::{
    environment::{DeviceFacts, Machine},
    result::RowResult,
};

/// The measured rows.
pub(super) fn document(machine: &Machine, devices: &[DeviceFacts], rows: &[RowResult]) -> Value {
    let benchmarks = rows.iter().filter_map(|row| {
        let host = row.host.as_ref()?;
        let mut extra = vec![
            format!("n {}", host.n),
            format!("min {}", number(host.min)),
            format!("p99 {}", number(host.p99)),
        ];
        if let Some(other) = row.reference() {
            extra.push(format!("{:.2} times {}", other.ratio_median, other.name));
        }
        let device = devices.iter().find(|device| device.uri == row.device);
        extra.extend(device.map(DeviceFacts::line));
        extra.extend(machine.lines());
        Some(json!({
            "name": row.full_name(),
            "unit": row.unit,
            "value": host.median,
            "range": format!("± {}", number(host.mad)),
            "extra": extra.join("\n"),
        }))
    });
    benchmarks.collect()
}
