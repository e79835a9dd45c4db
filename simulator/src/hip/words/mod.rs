// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ground of HIP: status codes, why a call or a piece of work failed, and the answers that differ by version.

pub(crate) mod answers;
pub(crate) mod api_numbers;
pub(crate) mod code;
pub(crate) mod defects;
pub(crate) mod explanation;
pub(crate) mod failure;
pub(crate) mod functions;
