// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compilers that can be installed, and the choice among them.

mod clang;
mod clangs;
mod comgr;
mod comgr_library;
mod device_libraries;
mod unit;

pub(crate) use unit::{Link, Made, Unit};

use crate::target::Target;

/// Compiles by the first compiler that knows the target. The text has the compiler's messages, with a failure as with success.
pub(crate) fn compile(unit: &Unit<'_>, messages: &mut String) -> Option<Made> {
    with_compiler(
        &unit.options.target,
        messages,
        |comgr, messages| comgr.compile(unit, messages),
        |clang, messages| clang.compile(unit, messages),
    )
}

/// Links by the first compiler that knows the target.
pub(crate) fn link(link: &Link<'_>, messages: &mut String) -> Option<Vec<u8>> {
    with_compiler(
        link.target,
        messages,
        |comgr, messages| comgr.link(link, messages),
        |clang, messages| clang.link(link, messages),
    )
}

fn with_compiler<R>(
    target: &Target,
    messages: &mut String,
    by_comgr: impl FnOnce(&comgr::Comgr, &mut String) -> Option<R>,
    by_clang: impl FnOnce(&clang::Clang, &mut String) -> Option<R>,
) -> Option<R> {
    let comgr = match comgr::find(target) {
        Ok(comgr) => return by_comgr(&comgr, messages),
        Err(reason) => reason,
    };
    match clangs::find(target) {
        Ok(clang) => by_clang(&clang, messages),
        Err(reason) => {
            messages.push_str(&format!(
                "error: no compiler for {} is installed. Install clang and lld of the same version (Debian and Ubuntu: \
                 `apt install clang-19 lld-19`; a version that knows {}), or AMD's libamd_comgr. {} names a clang elsewhere. \
                 Tried: {comgr}; {reason}\n",
                target.id(),
                target.processor(),
                clangs::VARIABLE,
            ));
            None
        }
    }
}
