// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/hip-differences.md` against the list of what the simulated HIP answers otherwise than AMD's.

#[path = "../examples/differences/known.rs"]
#[allow(dead_code, reason = "the example compares by it")]
mod known;

use std::path::Path;

#[test]
fn the_page_has_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let known = known::Known::read(&root.join(".ci/hip-differences.known")).expect("the list");
    let page = std::fs::read_to_string(root.join("docs/hip-differences.md")).expect("the page");
    let remedy = "cargo run -p windlass-hip-sys --example differences -- document .ci/hip-differences.known";
    assert!(page.ends_with(&known.document()), "the page ends otherwise than the list has it: {remedy}");
}

#[test]
fn a_line_fits_what_it_says_alone() {
    let path = std::env::temp_dir().join(format!("windlass-known-{}", std::process::id()));
    std::fs::write(&path, "= why\n6.4 | hipFree pointer=* | 0 last 0 | 1 last *\n5.2? | x | * | 1\n")
        .expect("a file");
    let known = known::Known::read(&path).expect("a list");
    std::fs::remove_file(&path).expect("it goes");
    assert_eq!(known.find("6.4", "hipFree pointer=odd", "0 last 0", "1 last 1"), [0]);
    assert_eq!(known.find("6.4", "hipFree", "0 last 0", "1 last 1"), [0; 0]);
    assert_eq!(known.find("6.4", "hipFree pointer=odd", "1 last 0", "1 last 1"), [0; 0]);
    assert_eq!(known.find("5.2", "hipFree pointer=odd", "0 last 0", "1 last 1"), [0; 0]);
    assert_eq!(known.find("5.2", "x", "hung", "1"), [1]);
    assert_eq!(known.entries.iter().map(|entry| entry.must_occur("5.2")).collect::<Vec<_>>(), [false, false]);
    assert!(known.entries[0].must_occur("6.4"));
}
