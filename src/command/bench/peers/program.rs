// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a peer's program and takes its output.

use std::process::Command;

use crate::command::bench::stop::{Stop, Work};

/// Standard output of a program that must succeed.
pub(super) fn output(command: &mut Command) -> Work<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| Stop::Failed(format!("{name}: {error}")))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    // The last lines hold the reason, and a compiler's first ones its input.
    let last: Vec<_> = complaint.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = last.get(last.len().saturating_sub(3)..).unwrap_or_default();
    Err(Stop::Failed(format!("{name} ended with {}: {}", output.status, last.join("\n"))))
}
