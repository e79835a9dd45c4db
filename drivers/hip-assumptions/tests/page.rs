// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page of assumptions and the programs match.

use std::{fs, path::Path};

use windlass_hip_assumptions::PROGRAMS;

/// The names of the rows, with the file above them. A row must have a source.
fn rows(page: &str) -> Vec<String> {
    let mut rows = Vec::new();
    let mut file = "";
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", assumption, source, ""] = cells[..] else { continue };
        if let Some(name) = assumption.strip_prefix("**").and_then(|rest| rest.strip_suffix(".rs**")) {
            file = name;
        } else if let Some((name, _)) = assumption.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
            assert!(!source.is_empty(), "{name} has no source");
            rows.push(format!("{file}::{name}"));
        }
    }
    rows
}

#[test]
fn each_program_has_its_row_and_its_source() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hip-assumptions.md");
    let programs: Vec<_> = PROGRAMS.iter().map(|program| program.name()).collect();
    assert_eq!(rows(&fs::read_to_string(page).expect("the page")), programs);
}
