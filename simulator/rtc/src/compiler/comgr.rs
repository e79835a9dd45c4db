// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compilation by AMD's `libamd_comgr`, as AMD's hipRTC does it.

use super::{Link, Made, Unit};
use crate::target::Target;

pub(crate) struct Comgr {}

/// The library, if it is installed and knows the target.
pub(crate) fn find(_target: &Target) -> Result<&'static Comgr, String> {
    Err("there is no libamd_comgr.so.3 or .so.2".to_owned())
}

impl Comgr {
    pub(super) fn compile(&self, _unit: &Unit<'_>, _messages: &mut String) -> Option<Made> {
        None
    }

    pub(super) fn link(&self, _link: &Link<'_>, _messages: &mut String) -> Option<Vec<u8>> {
        None
    }
}
