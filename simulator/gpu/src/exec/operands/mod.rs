// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads instructions' sources, writes their results, and accesses memory.
//!
//! The usual case is fast: [`element`] reads registers in place and writes whole rows, and [`operation`] applies the
//! function of one lane to all. Modifiers and unusual modes take the slow paths: [`modifiers`] for sources, [`result`]
//! for results, [`rounding`] for modes. The lanes of a load or store that lie in one allocation are accessed
//! [`together`], others one by one ([`space`]).

pub(crate) mod element;
pub(crate) mod global;
pub(crate) mod index;
pub(crate) mod modifiers;
pub(crate) mod nan;
pub(crate) mod operation;
pub(crate) mod result;
pub(crate) mod rounding;
pub(crate) mod source;
pub(crate) mod space;
pub(crate) mod together;
