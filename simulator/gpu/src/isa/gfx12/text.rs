// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of the cache bits: scope and temporal hint.

use std::fmt::{self, Formatter};

use super::super::inst::Inst;

/// The scopes of device and system.
const DEVICE: u8 = 2;
const SYSTEM: u8 = 3;

/// Temporal hint, then scope. `atomic`: whether the instruction is an atomic.
pub(in super::super) fn cache(inst: &Inst, atomic: bool, f: &mut Formatter<'_>) -> fmt::Result {
    let (hint, scope) = (inst.mem.hint, inst.mem.scope);
    if hint != 0 {
        f.write_str(" th:")?;
        if atomic { of_atomic(hint, scope, f)? } else { of_access(inst, hint, scope, f)? }
    }
    f.write_str(match scope {
        1 => " scope:SCOPE_SE",
        DEVICE => " scope:SCOPE_DEV",
        SYSTEM => " scope:SCOPE_SYS",
        _ => "",
    })
}

fn of_atomic(hint: u8, scope: u8, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str("TH_ATOMIC_")?;
    match hint {
        1 => f.write_str("RETURN"),
        2 => f.write_str("NT"),
        3 => f.write_str("NT_RETURN"),
        4 | 5 if scope >= DEVICE => f.write_str("CASCADE_RT"),
        6 | 7 if scope >= DEVICE => f.write_str("CASCADE_NT"),
        _ => write!(f, "{hint:#x}"),
    }
}

fn of_access(inst: &Inst, hint: u8, scope: u8, f: &mut Formatter<'_>) -> fmt::Result {
    let stores = inst.dst.is_none() && !inst.src[1].is_none();
    let name = match hint {
        1 => "NT",
        2 => "HT",
        3 if scope == SYSTEM => "BYPASS",
        3 => {
            if stores {
                "RT_WB"
            } else {
                "LU"
            }
        }
        4 => "NT_RT",
        5 => "RT_NT",
        6 => "NT_HT",
        _ if stores => "NT_WB",
        _ => return write!(f, "{hint:#x}"),
    };
    write!(f, "TH_{}_{name}", if stores { "STORE" } else { "LOAD" })
}
