// SPDX-License-Identifier: MIT OR Apache-2.0
//! The folders of `src` are layers: a file imports its own layer and those before it.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// In order of dependence.
const LAYERS: [&str; 5] = ["words", "order", "driver", "kit", "front"];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The code without comments and spaces.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.split_whitespace()).collect()
}

/// The first segment of each path that begins with `crate::`, those of `crate::{a::.., b::..}` included.
fn roots(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            found.push(rest);
            continue;
        };
        let (mut depth, mut begin) = (0, 0);
        for (at, sign) in group.char_indices() {
            match sign {
                '{' => depth += 1,
                '}' if depth == 0 => {
                    found.push(&group[begin..at]);
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    found.push(&group[begin..at]);
                    begin = at + 1;
                }
                _ => {}
            }
        }
    }
    let is_sign = |sign: char| !sign.is_alphanumeric() && sign != '_';
    found.iter().filter_map(|path| path.split(is_sign).next()).filter(|name| !name.is_empty()).collect()
}

#[test]
fn no_layer_imports_a_later_one() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = 0;
    for (own, layer) in LAYERS.iter().enumerate() {
        for file in files(&source.join(layer)) {
            for root in roots(&code(&file)) {
                let known = LAYERS.iter().position(|layer| *layer == root);
                let imported = known.unwrap_or_else(|| {
                    panic!(
                        "{}: crate::{root} hides the layer; import the file that defines it",
                        file.display()
                    )
                });
                assert!(imported <= own, "{}: `{layer}` stands before `{root}`", file.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen} imports");
}
