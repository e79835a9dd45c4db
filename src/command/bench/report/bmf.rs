// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bencher's metric format: an object of benchmarks, each an object of measures.

use serde_json::{Map, Value, json};

use crate::command::bench::result::RowResult;

/// The measured rows. The measure is called after the unit: `latency` for times, as Bencher names it.
pub(super) fn document(rows: &[RowResult]) -> Value {
    let benchmarks = rows.iter().filter_map(|row| {
        let host = row.host.as_ref()?;
        let unit = row.unit.split('/').next().unwrap_or_default();
        let measure = if unit == "ns" { "latency" } else { unit };
        let mut measures = Map::new();
        measures.insert(
            measure.to_owned(),
            json!({ "value": host.median, "lower_value": host.min, "upper_value": host.p99 }),
        );
        if let Some(other) = row.reference() {
            measures.insert("ratio".to_owned(), json!({ "value": other.ratio_median }));
        }
        Some((row.full_name(), Value::Object(measures)))
    });
    Value::Object(benchmarks.collect())
}
