// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commands for CI in the documentation and the workflows are valid.

use std::path::Path;

use windlass_cts::{Expectations, Options, cases};

const FILES: [(&str, &str, usize); 4] = [
    ("docs/ci.md", include_str!("../../docs/ci.md"), 7),
    (".github/workflows/ci.yml", include_str!("../../.github/workflows/ci.yml"), 1),
    (".github/workflows/gpu.yml", include_str!("../../.github/workflows/gpu.yml"), 3),
    ("README.md", include_str!("../../README.md"), 1),
];

/// The words after `windlass cts`, also on continuation lines.
fn runs(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().filter(|line| !line.contains('|') && !line.trim_start().starts_with('`'));
    let mut runs = Vec::new();
    for line in lines {
        let line = line.split(" #").next().unwrap_or_default();
        let words: Vec<_> = line.split_whitespace().collect();
        let Some(start) = words.windows(2).position(|pair| pair[0].ends_with("windlass") && pair[1] == "cts")
        else {
            continue;
        };
        let words = words[start + 1..].iter().take_while(|word| **word != "..." && **word != "on");
        runs.push(words.map(|word| word.trim_matches(['\'', '"', '`']).to_owned()).collect());
    }
    runs
}

/// The text after GitHub's and the shell's expansion.
fn expanded(text: &str) -> String {
    text.replace("${{ matrix.shard }}", "1/2").replace("$LEVEL", "full")
}

#[test]
fn every_run_that_is_shown_is_one() {
    for (name, text, least) in FILES {
        let runs = runs(&expanded(text));
        assert!(runs.len() >= least, "{name}: {runs:?}");
        for words in runs {
            let options = Options::parse(&words).unwrap_or_else(|usage| panic!("{name}: {words:?}: {usage}"));
            for device in &options.devices {
                let scheme = device.split("://").next().unwrap();
                assert!(windlass::registry().driver(scheme).is_ok(), "{name}: {device}");
            }
        }
    }
}

#[test]
fn the_expectations_can_be_used() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cts/expectations.toml");
    Expectations::read(&path, &cases(), windlass::registry()).unwrap();
    let example =
        include_str!("../../docs/ci.md").split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    Expectations::parse(example, &cases(), windlass::registry()).unwrap();
}
