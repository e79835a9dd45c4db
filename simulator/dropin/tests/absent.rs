// SPDX-License-Identifier: MIT OR Apache-2.0
//! The documentation lists exactly the exported functions that the simulator lacks.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

mod common;

use std::collections::BTreeSet;
use std::ffi::{CString, c_char, c_int};

use object::{Object as _, ObjectSymbol as _};

const PAGE: &str = include_str!("../../../docs/hip-absent.md");

/// The names of the page: all words of its blocks.
fn documented() -> BTreeSet<&'static str> {
    let blocks = PAGE.split("```").skip(1).step_by(2);
    blocks
        .flat_map(|block| block.strip_prefix("text\n").expect("a block of text").split_whitespace())
        .collect()
}

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
    let mut absent = BTreeSet::new();
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_definition()) {
        let name = symbol.name().unwrap();
        let is_function = symbol.kind() == object::SymbolKind::Text;
        if !is_function || name.starts_with("windlass_simulator_") || HARMLESS.contains(&name) {
            continue;
        }
        let text = CString::new(name).unwrap();
        // SAFETY: the string ends.
        if unsafe { has(text.as_ptr()) } == 0 {
            absent.insert(name);
        }
    }
    let documented = documented();
    let undocumented: Vec<_> = absent.difference(&documented).collect();
    let present: Vec<_> = documented.difference(&absent).collect();
    assert!(
        undocumented.is_empty() && present.is_empty(),
        "docs/hip-absent.md: add {undocumented:?}, remove {present:?}"
    );
    assert!(absent.len() > 100, "{}", absent.len());
}
