// SPDX-License-Identifier: MIT OR Apache-2.0
//! The header matches the output of cbindgen.

#[path = "../examples/pages/mod.rs"]
mod pages;

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn the_header_is_up_to_date() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let made = pages::pages(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    let remedy = "mend it by: cargo run -p windlass-capi --example write_header";
    for (path, text) in &made {
        let kept = fs::read_to_string(include.join(path)).unwrap_or_default();
        assert!(kept == *text, "{} is out of date; {remedy}", path.display());
    }
    let folder = fs::read_dir(include.join("windlass")).unwrap();
    let kept: BTreeSet<_> =
        folder.map(|entry| Path::new("windlass").join(entry.unwrap().file_name())).collect();
    let stale: Vec<_> = kept.iter().filter(|path| !made.contains_key(*path)).collect();
    assert!(stale.is_empty(), "{stale:?} are no pages any more; {remedy}");
}
