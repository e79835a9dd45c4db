// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of 64 lanes, and arithmetic on their numbers. This layer knows neither waves nor operands.

pub(crate) mod angle;
pub mod eighth;
pub(crate) mod extremum;
pub(crate) mod float;
pub(crate) mod format;
pub(crate) mod half;
pub(crate) mod lane_kind;
pub(crate) mod nan;
pub(crate) mod narrow;
pub(crate) mod rmw;
pub(crate) mod row;
pub(crate) mod soft;
pub(crate) mod wide;
