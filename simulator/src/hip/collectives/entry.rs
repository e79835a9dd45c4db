// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rank's side of an operation.

use std::sync::Arc;

use super::operation::{Factor, Operation};
use super::standing::Standing;

/// A rank that has come, with its side of the operation.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) operation: Operation,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// For a scaled sum.
    pub(crate) factor: Option<Factor>,
    pub(crate) member: Arc<Standing>,
    pub(crate) rank: usize,
    /// The function that was called.
    pub(crate) call: &'static str,
}
