// SPDX-License-Identifier: MIT OR Apache-2.0
//! How instructions read their sources, write their results, and access memory.
//!
//! The usual case is quick: [`element`] reads registers in place and writes whole rows. A step or a mode that asks for more
//! takes the slow paths: [`modifiers`] for sources, [`result`] for results, [`rounding`] for modes.

pub(crate) mod element;
pub(crate) mod global;
pub(crate) mod index;
pub(crate) mod modifiers;
pub(crate) mod nan;
pub(crate) mod result;
pub(crate) mod rounding;
pub(crate) mod source;
pub(crate) mod space;
