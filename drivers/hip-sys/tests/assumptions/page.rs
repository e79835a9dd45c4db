// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page of assumptions and the programs match.

use std::{collections::BTreeMap, fs, path::Path};

/// Every program by its file, in the order of the source.
fn programs(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let mut programs = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder of the programs") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let source = fs::read_to_string(&path).expect("a source file");
        let tests = syn::parse_file(&source).expect("Rust").items.into_iter().filter_map(|item| match item {
            syn::Item::Fn(function) if function.attrs.iter().any(|of| of.path().is_ident("test")) => {
                Some(function.sig.ident.to_string())
            }
            _ => None,
        });
        let tests: Vec<String> = tests.collect();
        if !tests.is_empty() && name != "page.rs" {
            programs.insert(name, tests);
        }
    }
    programs
}

/// The rows of the page, under the file above them. Rows without a source do not count.
fn rows(page: &str) -> BTreeMap<String, Vec<String>> {
    let mut rows = BTreeMap::new();
    let mut file = String::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let ["", belief, source, ""] = cells[..] {
            if let Some(name) = belief.strip_prefix("**").and_then(|rest| rest.strip_suffix("**")) {
                file = name.to_owned();
            } else if let Some((name, _)) = belief.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
                assert!(!source.is_empty(), "{name} has no source");
                rows.entry(file.clone()).or_insert_with(Vec::new).push(name.to_owned());
            }
        }
    }
    rows
}

#[test]
fn each_program_has_its_row_and_its_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("../../docs/hip-assumptions.md")).expect("the page");
    assert_eq!(rows(&page), programs(&root.join("tests/assumptions")));
}
