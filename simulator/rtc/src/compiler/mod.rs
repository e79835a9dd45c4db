// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compilers that can be installed, and the choice among them.

mod clang;
mod clangs;
mod comgr;
mod comgr_library;
mod device_libraries;

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
}

/// What a compilation made.
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
