// SPDX-License-Identifier: MIT OR Apache-2.0
//! An object on each line, with its kind.

use serde::Serialize;

use crate::command::failure::{Failure, Outcome};

/// A line of a kind.
pub(super) fn line<T: Serialize>(kind: &str, value: &T) -> Outcome<String> {
    #[derive(Serialize)]
    struct Line<'a, T> {
        kind: &'a str,
        #[serde(flatten)]
        value: &'a T,
    }
    serde_json::to_string(&Line { kind, value }).map_err(|error| Failure::failed(error.to_string()))
}
