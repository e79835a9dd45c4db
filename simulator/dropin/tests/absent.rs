// SPDX-License-Identifier: MIT OR Apache-2.0
//! The documentation lists exactly the exported functions that the simulator lacks.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

#[path = "common/absent.rs"]
#[allow(dead_code, reason = "a part of it is for another test")]
mod absent;
mod common;

use std::collections::BTreeSet;
use std::ffi::{CString, c_char, c_int};

use object::{Object as _, ObjectSymbol as _};

#[test]
fn the_page_lists_every_function_that_is_not_there() {
    // These return values, although no program needs them.
    const HARMLESS: [&str; 2] = ["__hipGetPCH", "hiprtcGetErrorString"];
    let bytes = std::fs::read(common::library()).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    // SAFETY: the library is the one of this package.
    let library = unsafe { libloading::Library::new(common::library()) }.unwrap();
    // SAFETY: the symbol has this signature.
    let has =
        unsafe { library.get::<unsafe extern "C" fn(*const c_char) -> c_int>(b"windlass_simulator_has") };
    let has = has.unwrap();
    let (mut absent, mut there) = (BTreeSet::new(), BTreeSet::new());
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_definition()) {
        let name = symbol.name().unwrap();
        let is_function = symbol.kind() == object::SymbolKind::Text;
        if !is_function || name.starts_with("windlass_simulator_") || HARMLESS.contains(&name) {
            continue;
        }
        let text = CString::new(name).unwrap();
        // SAFETY: the string ends.
        let is_there = unsafe { has(text.as_ptr()) } != 0;
        if is_there {
            there.insert(name)
        } else {
            absent.insert(name)
        };
    }
    let entries = absent::entries();
    let is_documented = |name: &&&str| entries.iter().any(|entry| entry.covers(name));
    let undocumented: Vec<_> = absent.iter().filter(|name| !is_documented(name)).collect();
    let present: Vec<_> = there.iter().filter(is_documented).collect();
    let idle = entries.iter().filter(|entry| !absent.iter().any(|name| entry.covers(name)));
    let idle: Vec<_> = idle.map(|entry| entry.word).collect();
    assert!(
        undocumented.is_empty() && present.is_empty() && idle.is_empty(),
        "docs/hip-absent.md: add {undocumented:?}; these are there: {present:?}; entries without a function: {idle:?}"
    );
    assert!(absent.contains("hipBindTexture"), "{absent:?}");
}
