// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/hip.md has every function that the library exports: whether it works, and which tests call it. A function that works
//! has a test that calls it.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

#[path = "common/absent.rs"]
mod absent;
mod common;
#[path = "common/exports.rs"]
#[allow(dead_code, reason = "a part of it is for another test")]
mod exports;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, c_char, c_int};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The page, from this package's folder.
const PAGE: &str = "../../docs/hip.md";

/// The remedy for a page that is not current.
const WRITE: &str = "cargo test -p windlass-simulator-dropin --test functions -- --ignored write_the_page";

/// Folders with tests, from the root of the repository, and the name that the page has for each.
const FOLDERS: &[(&str, &str)] = &[
    ("simulator/tests", ""),
    ("simulator/dropin/tests", "dropin/"),
    ("simulator/rtc-dropin/tests", "rtc-dropin/"),
    ("simulator/interop/compiled", "interop/compiled/"),
    ("drivers/hip-assumptions/src", "hip-assumptions/"),
];

/// Files that name functions and call none.
const LISTS: &[&str] = &[
    "dropin/absent.rs",
    "dropin/common/absent.rs",
    "dropin/clients.rs",
    "dropin/functions.rs",
    "dropin/symbols.rs",
    "dropin/common/exports.rs",
];

/// At most so many files of tests are named for each function.
const NAMED: usize = 3;

/// Functions that work in part, with what is missing: see the list in docs/hip-absent.md, and docs/simulator.md.
const IN_PART: &[(&str, &str)] = &[
    (
        "no arrays",
        "hipMemcpy3D hipMemcpy3D_spt hipMemcpy3DAsync hipMemcpy3DAsync_spt hipDrvMemcpy3D hipDrvMemcpy3DAsync
        hipMemcpy3DPeer hipMemcpy3DPeerAsync hipMemcpy3DBatchAsync hipMemcpyParam2D hipMemcpyParam2DAsync
        hipDrvMemcpy2DUnaligned hipGraphAddMemcpyNode hipDrvGraphAddMemcpyNode hipGraphMemcpyNodeSetParams
        hipDrvGraphMemcpyNodeSetParams hipGraphExecMemcpyNodeSetParams hipDrvGraphExecMemcpyNodeSetParams",
    ),
    (
        "no unknown relocations, no SPIR-V",
        "hipModuleLoad hipModuleLoadData hipModuleLoadDataEx hipModuleLoadFatBinary",
    ),
    (
        "no kernel with an instruction that the simulator does not execute",
        "hipModuleLaunchKernel hipModuleLaunchCooperativeKernel hipModuleLaunchCooperativeKernelMultiDevice
        hipDrvLaunchKernelEx hipLaunchKernelExC hipLaunchKernel hipLaunchKernel_spt hipLaunchCooperativeKernel
        hipLaunchCooperativeKernel_spt hipLaunchCooperativeKernelMultiDevice hipExtLaunchKernel
        hipExtModuleLaunchKernel hipHccModuleLaunchKernel hipExtLaunchMultiKernelMultiDevice hipLaunchByPtr
        hipGraphAddKernelNode
        _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j
        _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_",
    ),
    (
        "file descriptors alone",
        "hipMemCreate hipMemExportToShareableHandle hipMemImportFromShareableHandle
        hipMemPoolExportToShareableHandle hipMemPoolImportFromShareableHandle",
    ),
    ("tells the wish; every device may use the memory", "hipMemPoolSetAccess hipMemPoolGetAccess"),
    ("no semaphores of other APIs", "hipGraphAddNode hipGraphNodeSetParams hipGraphExecNodeSetParams"),
    ("no SPIR-V: it cannot be compiled", "hipLinkComplete"),
    ("reports no call; the log does", "hipRegisterTracerCallback"),
    ("there are no textures and no surfaces to use then", "__hipRegisterTexture __hipRegisterSurface"),
    ("there is nothing to give", "__hipGetPCH"),
];

/// Functions that AMD's HIP has and refuses.
const REFUSED_BY_AMD: &str = "hipCtxGetApiVersion hipCtxGetCacheConfig hipCtxGetFlags hipCtxSetCacheConfig
    hipCtxSetSharedMemConfig hipCtxSynchronize hipProfilerStart hipProfilerStop hipSetValidDevices";

/// The option for a version of HIP that is later than the default, as a section of docs/hip-absent.md names it.
const LATER: &str = "hip=7.2";

/// Names of the compiler's functions, which HIP's programs call too.
const COMPILERS: &str = "__gnu_";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of the tests, by their names on the page.
fn test_sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (folder, short) in FOLDERS {
        let folder = root().join(folder);
        let mut open = vec![folder.clone()];
        while let Some(next) = open.pop() {
            for entry in
                std::fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display()))
            {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                    continue;
                }
                let ending = path.extension().and_then(|ending| ending.to_str());
                if !matches!(ending, Some("rs" | "c" | "hip")) {
                    continue;
                }
                let name = format!("{short}{}", path.strip_prefix(&folder).unwrap().to_str().unwrap());
                let text = std::fs::read_to_string(&path).unwrap();
                let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                found.insert(name, lines.collect::<Vec<_>>().join("\n"));
            }
        }
    }
    found.retain(|name, _| !LISTS.contains(&name.as_str()));
    found
}

/// The functions that a test calls: names before an opening bracket, and names that are looked up, in quotation marks.
fn called(text: &str) -> BTreeSet<&str> {
    let is_of_a_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut names = BTreeSet::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_of_a_name) {
        let before = rest[..start].chars().next_back();
        let word = &rest[start..];
        let (word, behind) = word.split_at(word.find(|c| !is_of_a_name(c)).unwrap_or(word.len()));
        // `c"hipMalloc"` and `b"hipMalloc"` are looked up too: their first letter is no name before a bracket.
        let is_looked_up = before == Some('"') && behind.starts_with('"');
        if behind.starts_with('(') || is_looked_up {
            names.insert(word);
        }
        rest = behind;
    }
    names
}

/// The place of a section, as web pages of Markdown have it.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// One exported function.
struct Function {
    name: String,
    since: String,
    state: State,
    tests: Vec<String>,
}

enum State {
    Works,
    InPart(&'static str),
    RefusedByAmd,
    /// With the later version of HIP that has it.
    Later,
    /// With the section of docs/hip-absent.md.
    Refused(&'static str),
}

impl State {
    /// Whether programs get answers of it.
    fn is_there(&self) -> bool {
        !matches!(self, Self::Refused(_))
    }
}

/// All functions; `None` if the linker gave them no versions.
fn functions() -> Option<Vec<Function>> {
    let exports = exports::versioned_exports()?;
    // SAFETY: the library is the one of this package.
    let library = unsafe { libloading::Library::new(common::library()) }.unwrap();
    // SAFETY: the symbol has this signature.
    let has =
        unsafe { library.get::<unsafe extern "C" fn(*const c_char) -> c_int>(b"windlass_simulator_has") };
    let has = has.unwrap();
    let sources = test_sources();
    let callers: Vec<_> = sources.iter().map(|(file, text)| (file, called(text))).collect();
    let refused = absent::entries();
    let is_word_of = |list: &str, name: &str| list.split_whitespace().any(|word| word == name);
    let mut functions = Vec::new();
    for (name, version) in &exports.symbols {
        let own = name.starts_with("windlass_simulator_") || name.starts_with(COMPILERS);
        if own || exports.nodes.contains(name) {
            continue;
        }
        let text = CString::new(name.as_str()).unwrap();
        // SAFETY: the string ends.
        let is_there = unsafe { has(text.as_ptr()) } == 1;
        let part = IN_PART.iter().find(|(_, names)| is_word_of(names, name));
        let section = refused.iter().find(|entry| entry.covers(name)).map(|entry| entry.section);
        let state = match (section, part) {
            (Some(section), None) if !is_there && section.contains(LATER) => State::Later,
            (Some(section), None) if !is_there => State::Refused(section),
            (None, Some((lack, _))) => State::InPart(lack),
            (None, None) if is_word_of(REFUSED_BY_AMD, name) => State::RefusedByAmd,
            (None, None) => State::Works,
            _ => panic!("{name}: the lists of this test and docs/hip-absent.md disagree with the library"),
        };
        let tests = callers.iter().filter(|(_, names)| names.contains(name.as_str()));
        functions.push(Function {
            name: name.clone(),
            since: version.clone().expect("symbols.rs checks that each has a version"),
            state,
            tests: tests.map(|(file, _)| (*file).clone()).collect(),
        });
    }
    Some(functions)
}

/// The text of the page.
fn page(functions: &[Function]) -> String {
    let count = |is: fn(&State) -> bool| functions.iter().filter(|function| is(&function.state)).count();
    let mut page = format!(
        "# Functions of HIP

The simulated `libamdhip64.so` exports the functions below: those of HIP 7.1, those that HIP had before, and some that came later.
Of {} functions, {} work, {} work in part, {} are refused by AMD's HIP too, {} work with `hip=7.2`, and {} are refused.
[Another page](hip-absent.md) has the reasons, and lists what supported functions refuse.

*Since* is the version of the symbol, as AMD's linker map has it. Older versions of HIP may lack functions, as `hip=5.2` does.
*Tests* are files whose programs call the function, at most {NAMED}. `hip/` is in `simulator/tests/`; `dropin/`, `rtc-dropin/` and
`interop/` are in `simulator/`, `hip-assumptions/` is in `drivers/`. Functions with `..._spt` are for the thread's own stream.

`simulator/dropin/tests/functions.rs` writes this page, and fails where it is not current, or where no test calls a function that works:

    {WRITE}

| function | since | state | tests |
|---|---|---|---|
",
        functions.len(),
        count(|state| matches!(state, State::Works)),
        count(|state| matches!(state, State::InPart(_))),
        count(|state| matches!(state, State::RefusedByAmd)),
        count(|state| matches!(state, State::Later)),
        count(|state| matches!(state, State::Refused(_))),
    );
    for Function { name, since, state, tests } in functions {
        let since = since.trim_start_matches("hip_");
        let state = match state {
            State::Works => "works".to_owned(),
            State::InPart(lack) => format!("in part: {lack}"),
            State::RefusedByAmd => "refused, as by AMD's".to_owned(),
            State::Later => format!("works with `{LATER}`"),
            State::Refused(section) => format!("refused: [why](hip-absent.md#{})", anchor(section)),
        };
        let named: Vec<_> = tests.iter().take(NAMED).map(|file| format!("`{file}`")).collect();
        let more = if tests.len() > NAMED { ", …" } else { "" };
        let _ = writeln!(page, "| `{name}` | {since} | {state} | {}{more} |", named.join(", "));
    }
    page
}

#[test]
fn each_function_that_works_is_called_by_a_test() {
    let Some(functions) = functions() else { return };
    let untested: Vec<_> = functions
        .iter()
        .filter(|function| function.state.is_there() && function.tests.is_empty())
        .map(|function| &function.name)
        .collect();
    assert!(
        untested.is_empty(),
        "no test calls {untested:?}: write one with right, wrong and boundary parameters in simulator/tests/hip, or in \
         simulator/dropin/tests for functions that the library has alone"
    );
    let known = |name: &str| functions.iter().any(|function| function.name == name);
    let lists = IN_PART.iter().map(|(_, names)| *names).chain([REFUSED_BY_AMD]);
    let stale: Vec<_> = lists.flat_map(str::split_whitespace).filter(|name| !known(name)).collect();
    assert!(stale.is_empty(), "the library exports no {stale:?}: take them off the lists of this test");
}

#[test]
fn the_page_is_current() {
    let Some(functions) = functions() else { return };
    let written = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE)).unwrap();
    let right = page(&functions);
    let difference = written.lines().zip(right.lines()).find(|(written, right)| written != right);
    assert!(
        written == right,
        "docs/hip.md is not current. Write it: {WRITE}\nThe first difference: {difference:?}"
    );
}

#[test]
#[ignore = "writes docs/hip.md"]
fn write_the_page() {
    let functions = functions().expect("a linker that gives symbols their versions, as LLD");
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE), page(&functions)).unwrap();
}

#[test]
fn calls_are_told_from_names() {
    let text =
        "ok!(machine, hipMalloc(a)); get(\"hipFree_spt\"); (b\"hipInit\"); hipSuccess; \"of hipSetDevice\"";
    let names = called(text);
    assert!(["hipMalloc", "hipFree_spt", "hipInit"].iter().all(|name| names.contains(name)), "{names:?}");
    assert!(!["hipSuccess", "hipSetDevice"].iter().any(|name| names.contains(name)), "{names:?}");
    assert_eq!(anchor("Graphs: semaphores of other APIs"), "graphs-semaphores-of-other-apis");
}
