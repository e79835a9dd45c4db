// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a driver's author copies is whole: `drivers/null` has each method that there is to write, with its contract.

const DRIVER: &str = include_str!("../../hal/src/driver.rs");
const SOURCE: &str = include_str!("../../hal/src/pool/source.rs");
const SKELETON: [&str; 7] = [
    include_str!("../../drivers/null/src/allocator.rs"),
    include_str!("../../drivers/null/src/buffer.rs"),
    include_str!("../../drivers/null/src/command_buffer.rs"),
    include_str!("../../drivers/null/src/device.rs"),
    include_str!("../../drivers/null/src/driver.rs"),
    include_str!("../../drivers/null/src/executable.rs"),
    include_str!("../../drivers/null/src/queue.rs"),
];
const TRAITS: [(&str, &str); 6] = [
    ("Driver", DRIVER),
    ("Device", DRIVER),
    ("Buffer", DRIVER),
    ("Executable", DRIVER),
    ("CommandBuffer", DRIVER),
    ("SlabSource", SOURCE),
];

/// The lines between the one that begins with `keyword`, names `name` and opens a block, and the end of the block.
fn block(text: &str, is_head: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
    let mut lines = text.lines().skip_while(|line| !(is_head(line) && line.ends_with('{')));
    lines.next()?;
    Some(lines.take_while(|line| *line != "}").collect())
}

fn declaration<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let heads = [format!("pub trait {name}:"), format!("pub unsafe trait {name}:")];
    block(text, |line| heads.iter().any(|head| line.starts_with(head))).unwrap_or_default()
}

fn implementation(text: &str, name: &str) -> Option<Vec<String>> {
    let is_impl = |line: &str| line.starts_with("impl ") || line.starts_with("unsafe impl ");
    let ends = [format!(" {name} for "), format!("::{name} for ")];
    let lines = block(text, |line| is_impl(line) && ends.iter().any(|end| line.contains(end)))?;
    Some(lines.into_iter().map(str::to_owned).collect())
}

/// The methods of a block, each with the text of the comment above it.
fn methods<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<(&'a str, String)> {
    let (mut methods, mut comment) = (Vec::new(), Vec::new());
    for line in lines {
        let line = line.strip_prefix("    ").unwrap_or(line);
        if let Some(text) = line.strip_prefix("///") {
            comment.push(text.trim());
        } else if let Some(rest) = line.strip_prefix("unsafe ").unwrap_or(line).strip_prefix("fn ") {
            let name = rest.split(['(', '<']).next().unwrap_or(rest);
            methods.push((name, comment.join(" ")));
        }
        if !line.starts_with("///") && !line.starts_with("#[") {
            comment.clear();
        }
    }
    methods
}

#[test]
fn the_skeleton_has_every_method_with_its_contract_in_a_sentence() {
    let mut seen = 0;
    for (name, text) in TRAITS {
        let declared = methods(declaration(text, name));
        assert!(declared.len() >= 3, "{name}: {declared:?}");
        let written: Vec<_> = SKELETON.iter().filter_map(|file| implementation(file, name)).collect();
        let [written] = &written[..] else {
            panic!("{} files of drivers/null implement {name}", written.len())
        };
        let written = methods(written.iter().map(String::as_str));
        for (method, _) in declared {
            let Some((_, contract)) = written.iter().find(|(own, _)| *own == method) else {
                panic!("drivers/null does not show {name}::{method}");
            };
            let ends = contract.matches(". ").count() + usize::from(contract.ends_with('.'));
            assert_eq!(ends, 1, "one sentence above {name}::{method} of drivers/null, not: {contract}");
            assert!(contract.len() > 60, "{name}::{method} of drivers/null says little: {contract}");
            seen += 1;
        }
    }
    assert!(seen >= 38, "{seen} methods");
}
