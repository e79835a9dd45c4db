// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boundary: every exported function runs its body through [`call`], which tells failures and contains panics.

use std::fmt::Display;

use facade::{Error, Result, panics::caught};

use crate::failure;

/// Runs the body of an exported function. After a failure, the result is `otherwise`; `attempt` gives the function with
/// its arguments for the message.
pub(crate) fn call<T, D: Display>(
    otherwise: T,
    attempt: impl FnOnce() -> D,
    body: impl FnOnce() -> Result<T>,
) -> T {
    let result =
        caught(body).unwrap_or_else(|text| Err(Error::internal(format!("Windlass panicked: {text}"))));
    result.unwrap_or_else(|error| {
        let attempt = caught(|| attempt().to_string()).unwrap_or_else(|_| "a call".to_owned());
        failure::tell(&format!("{attempt} failed: {error}"), || true);
        otherwise
    })
}
