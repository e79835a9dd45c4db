// SPDX-License-Identifier: MIT OR Apache-2.0
//! Columns for people. A line is written when its row is done, so widths are known beforehand.

use crate::command::{
    bench::result::{RowResult, Status},
    escape,
};

/// The headings.
pub(super) fn heading(width: usize) -> String {
    format!(
        "{:<width$}  {:>10}  {:>10}  {:>10}  {:>8}  {:>6}  {:<23}  {:<14}  {}",
        "row", "min", "median", "p99", "MAD", "n", "unit", "mark", "ratio of the minima, median ratio, to"
    )
}

/// A row.
pub(super) fn line(row: &RowResult, width: usize) -> String {
    let name = escape::line(&row.row);
    let Some(host) = &row.host else {
        let status = match row.status {
            Status::Absent => "absent",
            Status::Failed => "FAILED",
            Status::Skipped | Status::Measured => "left out",
        };
        let reason = row.reason.as_deref().unwrap_or_default().replace('\n', "\n    ");
        let name = if row.status == Status::Absent {
            format!("\n{}", escape::line(&row.device))
        } else {
            name.into_owned()
        };
        return format!("{name:<width$}  {status}: {reason}");
    };
    let ratio = row.reference().map_or_else(String::new, |other| {
        format!("{}  {}  {}", number(other.ratio_min), number(other.ratio_median), other.name)
    });
    let line = format!(
        "{name:<width$}  {:>10}  {:>10}  {:>10}  {:>8}  {:>6}  {:<23}  {:<14}  {ratio}",
        number(host.min),
        number(host.median),
        number(host.p99),
        number(host.mad),
        host.n,
        row.unit,
        row.marks.join(", ")
    );
    line.trim_end().to_owned()
}

/// Four digits of a small number, and all whole digits of a large one.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        value if value >= 1000.0 || value == 0.0 => format!("{value:.0}"),
        value if value >= 100.0 => format!("{value:.1}"),
        value if value >= 10.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_have_four_digits_or_more() {
        let shown = [0.0, 0.001_23, 9.876_54, 12.345_6, 123.456, 12_345.6].map(super::number);
        assert_eq!(shown, ["0", "0.001", "9.877", "12.35", "123.5", "12346"]);
    }
}
