// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/hip-differences.md` matches the list of differences between the simulated HIP and AMD's.

#[path = "../examples/differences/known.rs"]
#[allow(dead_code, reason = "the example compares by it")]
mod known;

use std::path::Path;

#[test]
fn the_page_has_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let known = known::Known::read(&root.join(".ci/hip-differences.known")).expect("the list");
    let page = std::fs::read_to_string(root.join("docs/hip-differences.md")).expect("the page");
    let remedy = "cargo run -p windlass-hip-sys --example differences -- \
                  document .ci/hip-differences.known docs/hip-differences.md";
    assert!(known.in_page(&page).expect("a heading") == page, "the page has another list: {remedy}");
}

fn read(name: &str, text: &str) -> anyhow::Result<known::Known> {
    let path = std::env::temp_dir().join(format!("windlass-known-{name}-{}", std::process::id()));
    std::fs::write(&path, text)?;
    let known = known::Known::read(&path);
    std::fs::remove_file(&path)?;
    known
}

#[test]
fn a_line_fits_what_it_says_alone() {
    let known =
        read("fits", "= why\n6.4 | hipFree pointer={odd,end} | 0 last 0 | 1 last 1\n5.2? | x | * | 1\n")
            .expect("a list");
    assert_eq!(known.find("6.4", "hipFree pointer=odd", "0 last 0", "1 last 1"), [0]);
    assert_eq!(known.find("6.4", "hipFree pointer=end", "0 last 0", "1 last 1"), [1]);
    assert_eq!(known.find("6.4", "hipFree pointer=plain", "0 last 0", "1 last 1"), [0; 0]);
    assert_eq!(known.find("6.4", "hipFree", "0 last 0", "1 last 1"), [0; 0]);
    assert_eq!(known.find("6.4", "hipFree pointer=odd", "1 last 0", "1 last 1"), [0; 0]);
    assert_eq!(known.find("6.4", "hipFree pointer=odd", "0 last 0", "1 last 2"), [0; 0]);
    assert_eq!(known.find("5.2", "hipFree pointer=odd", "0 last 0", "1 last 1"), [0; 0]);
    assert_eq!(known.find("5.2", "x", "hung", "1"), [2]);
    let must = |version| known.entries.iter().map(|entry| entry.must_occur(version)).collect::<Vec<_>>();
    assert_eq!(must("5.2"), [false; 3]);
    assert_eq!(must("6.4"), [true, true, false]);
}

#[test]
fn a_line_says_what_it_covers() {
    for line in [
        "6.4 | hipFree pointer=* | 0 | 1",
        "6.4 | hipFree | * | 1",
        "6.4? 5.2 | hipFree | * | 1",
        "6.4? | hipFree | 0 last * | 1",
        "6.4? | hipFree | * | *",
        "6.3 | hipFree | 0 | 1",
        "6.4 | hipFree {a | 0 | 1",
        "6.4 | hipFree | 0",
    ] {
        assert!(read("wide", &format!("= why\n{line}\n")).is_err(), "{line}");
    }
    assert!(read("bare", "6.4 | hipFree | 0 | 1\n").is_err(), "a line without a reason");
}
