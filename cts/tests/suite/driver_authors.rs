// SPDX-License-Identifier: MIT OR Apache-2.0
//! Driver authors get complete material: `drivers/null` has every method of the traits with its contract, and the
//! steps of the guide lead from a copy of it to a suite that passes.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use windlass_cts::Options;

const GUIDE: &str = include_str!("../../../docs/driver-authors.md");
const SKELETON: [&str; 9] = [
    include_str!("../../../drivers/null/src/allocator.rs"),
    include_str!("../../../drivers/null/src/buffer.rs"),
    include_str!("../../../drivers/null/src/command_buffer.rs"),
    include_str!("../../../drivers/null/src/device.rs"),
    include_str!("../../../drivers/null/src/driver.rs"),
    include_str!("../../../drivers/null/src/executable.rs"),
    include_str!("../../../drivers/null/src/queue.rs"),
    include_str!("../../../drivers/null/src/queues.rs"),
    include_str!("../../../drivers/null/src/submit.rs"),
];
const TRAITS: [(&str, &str); 6] = [
    ("Driver", include_str!("../../../hal/src/driver/driver.rs")),
    ("RawDevice", include_str!("../../../hal/src/driver/device.rs")),
    ("RawBuffer", include_str!("../../../hal/src/driver/buffer.rs")),
    ("RawExecutable", include_str!("../../../hal/src/driver/executable.rs")),
    ("RawCommandBuffer", include_str!("../../../hal/src/driver/command_buffer.rs")),
    ("SlabSource", include_str!("../../../hal/src/driver/allocator.rs")),
];

/// The lines of the first block whose head fits, without the head and the end.
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

/// The checkout.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn words_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The reason why the steps cannot run on this machine, if there is one.
fn obstacle() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return Some("the steps are for a shell with GNU's sed".to_owned());
    }
    let mut tree = Command::new("cargo");
    let tree =
        tree.args(["tree", "--offline", "--quiet", "--package", "windlass-cts"]).current_dir(root()).output();
    match tree {
        Err(error) => Some(format!("cargo cannot be started: {error}")),
        Ok(tree) if !tree.status.success() => Some(format!("cargo cannot run offline: {}", words_of(&tree))),
        Ok(_) => None,
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn the_steps_of_the_guide_lead_to_a_suite_that_passes() {
    if let Some(obstacle) = obstacle() {
        eprintln!("skipped: {obstacle}");
        return;
    }
    let steps: Vec<_> = GUIDE
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```"))
        .map(|(step, _)| step)
        .collect();
    assert!(steps.len() >= 6, "{steps:?}");
    let folder = tempfile::tempdir().unwrap();
    // The workspace's own, which has the packages of others.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-eu", "-c", &steps.concat()]).current_dir(folder.path());
    shell.env("WINDLASS", root()).env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true");
    // As the workspace's own builds of tests.
    let manifest = include_str!("../../../Cargo.toml");
    let sections = manifest.split("\n[").filter(|section| section.starts_with("profile.dev"));
    let profile: String = sections.map(|section| format!("[{section}\n")).collect();
    std::fs::create_dir(folder.path().join(".cargo")).unwrap();
    std::fs::write(folder.path().join(".cargo/config.toml"), profile).unwrap();
    shell.env_remove("WINDLASS_DEVICE");
    let output = shell.output().unwrap();
    let text = words_of(&output);
    assert!(output.status.success(), "{text}");
    let ends: Vec<_> = text.lines().filter(|line| line.starts_with("test result: ")).collect();
    let [passed, broken, mended] = ends[..] else { panic!("{ends:?} in\n{text}") };
    let cases =
        passed.strip_prefix("test result: ok. ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    assert!(
        cases.is_some_and(|cases: u32| cases >= 400) && passed.contains(" 0 failed;"),
        "{passed}\n{text}"
    );
    assert!(broken.starts_with("test result: FAILED. 0 passed; "), "{broken}\n{text}");
    assert!(mended.starts_with("test result: ok.") && mended.contains(" 0 ignored;"), "{mended}\n{text}");
    for shown in [
        "device        mine:// (New device, none, simulated)",
        "device        shuffle://?seed=11&over=mine://",
    ] {
        assert!(text.contains(shown), "no line {shown} in\n{text}");
    }
}

/// Every filter in the guide matches a case.
#[test]
fn every_filter_of_the_guide_selects_cases() {
    let cases = windlass_cts::cases();
    let text = GUIDE.replace('\n', " ");
    let lists = text.split(" Filter").filter(|rest| rest.starts_with(" `") || rest.starts_with("s `"));
    let lists = lists.filter_map(|rest| rest.split_once(". "));
    let filters: Vec<_> = lists.flat_map(|(list, _)| list.split('`').skip(1).step_by(2)).collect();
    assert!(filters.len() >= 15, "{filters:?}");
    for filter in filters {
        assert!(cases.iter().any(|case| case.name.contains(filter)), "no case for the filter `{filter}`");
    }
}

/// The runner accepts every command line of the suite in the guide.
#[test]
fn every_run_that_is_shown_is_one() {
    let template = include_str!("../../../examples/out-of-tree-driver/.github/workflows/conformance.yml");
    let workflow = include_str!("../../../.github/workflows/ci.yml");
    for (name, text, least) in
        [("the guide", GUIDE, 8), ("the template", template, 1), ("ci.yml", workflow, 1)]
    {
        let joined = text.replace("\\\n", " ");
        let lines = joined.lines().filter_map(|line| line.split_once("cargo test --test cts -- "));
        let lines: Vec<_> = lines.map(|(_, rest)| rest.split(['#', '`']).next().unwrap_or(rest)).collect();
        assert!(lines.len() >= least, "{name}: {lines:?}");
        for line in lines {
            let words = line.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
            if let Err(usage) = Options::parse(["cts"].into_iter().chain(words)) {
                panic!("{name}: {line}: {usage}");
            }
        }
    }
}
