// SPDX-License-Identifier: MIT OR Apache-2.0
//! Google Benchmark's JSON, for the tools that read it.

use serde_json::{Value, json};

use crate::command::bench::{
    environment::{DeviceFacts, Machine},
    result::RowResult,
};

/// The whole run. Times are medians, and the clock is that of the host for both times that the format has.
pub(super) fn document(machine: &Machine, devices: &[DeviceFacts], rows: &[RowResult]) -> Value {
    let benchmarks: Vec<_> = rows.iter().map(benchmark).collect();
    json!({
        "context": {
            "executable": "windlass bench",
            "num_cpus": machine.cpus,
            "load_avg": machine.load.into_iter().collect::<Vec<_>>(),
            "library_build_type": machine.profile,
            "caches": [],
            "machine": machine,
            "devices": devices,
        },
        "benchmarks": benchmarks,
    })
}

fn benchmark(row: &RowResult) -> Value {
    let name = row.full_name();
    let mut object = json!({
        "name": name,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": 1,
        "repetition_index": 0,
        "threads": 1,
        "iterations": 0,
        "real_time": 0.0,
        "cpu_time": 0.0,
        "time_unit": "ns",
        "label": row.marks.join(", "),
    });
    let Some(fields) = object.as_object_mut() else { return object };
    let Some(host) = &row.host else {
        fields.insert("error_occurred".to_owned(), true.into());
        fields.insert("error_message".to_owned(), row.reason.clone().unwrap_or_default().into());
        return object;
    };
    fields.insert("iterations".to_owned(), (host.n as u64).saturating_mul(host.batch).into());
    if row.unit.starts_with("ns/") {
        fields.insert("real_time".to_owned(), host.median.into());
        fields.insert("cpu_time".to_owned(), host.median.into());
    } else {
        fields.insert(row.unit.clone(), host.median.into());
    }
    fields.insert("min".to_owned(), host.min.into());
    fields.insert("p99".to_owned(), host.p99.into());
    fields.insert("mad".to_owned(), host.mad.into());
    if let Some(other) = row.reference() {
        fields.insert("ratio".to_owned(), other.ratio_median.into());
    }
    object
}
