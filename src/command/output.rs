// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results: standard output, and the files that the user names.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use serde::Serialize;

use super::failure::{Failure, Outcome};

/// Writes text to standard output, with a newline at its end.
pub(crate) fn write(text: &str) -> Outcome {
    let mut stdout = io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    write!(stdout, "{text}{end}").and_then(|()| stdout.flush()).map_err(|error| Failure::output(&error))
}

/// Writes a value as JSON to standard output.
pub(crate) fn write_json(value: &impl Serialize) -> Outcome {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::failed(error.to_string()))?;
    write(&text)
}

/// Writes a file.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Outcome {
    fs::write(path, bytes)
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
}
