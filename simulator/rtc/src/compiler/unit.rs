// SPDX-License-Identifier: MIT OR Apache-2.0
//! A compiler's input and output.

use crate::options::Options;
use crate::target::Target;

/// A unit of source with its headers.
pub(crate) struct Unit<'a> {
    /// A file name.
    pub(crate) name: &'a str,
    pub(crate) source: &'a str,
    /// Names and texts.
    pub(crate) headers: &'a [(String, String)],
    pub(crate) options: &'a Options,
    /// Whether names will be read from the code.
    pub(crate) has_names: bool,
    /// Whether the source defines `new` and `delete` for all types.
    pub(crate) brings_new: bool,
}

/// The output of a compilation.
#[derive(Default)]
pub(crate) struct Made {
    /// The code object. Of a unit that becomes bitcode, an object file with the names; empty if none are asked for.
    pub(crate) code: Vec<u8>,
    pub(crate) bitcode: Vec<u8>,
}

/// Bitcode and what becomes of it.
pub(crate) struct Link<'a> {
    pub(crate) target: &'a Target,
    pub(crate) bitcode: &'a [Vec<u8>],
    pub(crate) options: &'a [String],
}
