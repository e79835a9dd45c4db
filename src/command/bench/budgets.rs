// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file of instruction budgets: the most instructions that each row may execute for an item.

use std::path::Path;

use super::row::Row;
use crate::command::{
    escape,
    failure::{Failure, Outcome},
    input,
};

/// How far a count may exceed its budget: compilers and the libraries of the system differ a little.
const TOLERANCE: f64 = 0.03;

/// The budget of a row on a device.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Budget {
    pub(super) row: String,
    pub(super) device: String,
    pub(super) instructions: f64,
    /// The file and the line.
    pub(super) at: String,
}

impl Budget {
    fn scheme(&self) -> &str {
        self.device.split_once("://").map_or(&self.device, |(scheme, _)| scheme)
    }

    /// Whether a count is more than the row may have.
    pub(super) fn is_exceeded_by(&self, count: f64) -> bool {
        count > self.instructions * (1.0 + TOLERANCE)
    }
}

/// Reads a file of budgets: a line for each, with the number, the device and the row.
pub(super) fn read(path: &Path, rows: &[Row]) -> Outcome<Vec<Budget>> {
    let bytes = input::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut budgets = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let budget = parse(line).and_then(|budget| match rows.iter().find(|row| row.name == budget.row) {
            Some(row) if row.counted => Ok(budget),
            Some(_) => Err(format!("instructions of `{}` are not counted", budget.row)),
            None => Err(format!("there is no row `{}`; windlass bench --list has them all", budget.row)),
        });
        let at = format!("{}, line {number}", escape::path(path));
        let budget = budget.and_then(|budget| match crate::registry().driver(budget.scheme()) {
            Ok(_) => Ok(Budget { at: at.clone(), ..budget }),
            Err(error) => Err(format!("{}: {error}", budget.device)),
        });
        budgets.push(budget.map_err(|reason| Failure::input(format!("{at}: {}", escape::line(&reason))))?);
    }
    if budgets.is_empty() {
        return Err(Failure::input(format!(
            "{} has no budget; write a number, a device and a row on a line",
            escape::path(path)
        )));
    }
    Ok(budgets)
}

fn parse(line: &str) -> Result<Budget, String> {
    let mut words = line.splitn(3, char::is_whitespace);
    let (number, device, row) = (words.next(), words.next(), words.next());
    let number = number.and_then(|number| number.parse().ok()).filter(|number: &f64| *number > 0.0);
    match (number, device, row) {
        (Some(instructions), Some(device), Some(row)) => Ok(Budget {
            row: row.trim().to_owned(),
            device: device.to_owned(),
            instructions,
            at: String::new(),
        }),
        _ => Err(format!("`{line}` is no budget; write a number, a device and a row, with a space between")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_number_a_device_and_a_row() {
        let budget = parse("99.5 hip-null:// dispatch/record bindings=2 n=1 form=direct").unwrap();
        assert_eq!(budget.row, "dispatch/record bindings=2 n=1 form=direct");
        assert_eq!((budget.device.as_str(), budget.instructions), ("hip-null://", 99.5));
        assert!(!budget.is_exceeded_by(102.0) && budget.is_exceeded_by(103.0));
        for wrong in ["", "99 hip-null://", "many hip-null:// row", "-1 hip-null:// row"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
