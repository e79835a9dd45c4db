// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for a library: accepted and skipped libraries, and the text of errors.
//!
//! The libraries are tiny and compiled here; without a C compiler, those tests say so and pass.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use windlass_hip_sys::bindings::{c_int, hipError_t};
use windlass_hip_sys::{
    Api, EntryPoints, Feature, Found, LIBRARY_VARIABLE, LoadError, Reason, Search, Source, Version,
};

/// A folder of this test, deleted on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the target folder is writable");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Compiles a library that exports `symbols` as functions that return 0, and reports version 6.1.2.
fn compile(folder: &Folder, name: &str, symbols: &[&str]) -> Option<PathBuf> {
    compile_over(folder, name, symbols, &[])
}

/// A library that is linked with others.
fn compile_over(folder: &Folder, name: &str, symbols: &[&str], over: &[PathBuf]) -> Option<PathBuf> {
    let mut source =
        String::from("int hipRuntimeGetVersion(int* version) { *version = 60100002; return 0; }\n");
    for symbol in symbols.iter().filter(|symbol| **symbol != "hipRuntimeGetVersion") {
        writeln!(source, "int {symbol}() {{ return 0; }}").expect("a string takes all");
    }
    let (input, output) = (folder.0.join(format!("{name}.c")), folder.0.join(name));
    std::fs::write(&input, source).expect("the folder is writable");
    let mut compiler = Command::new("cc");
    compiler.args(["-w", "-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]).arg(&output).arg(&input);
    let Ok(status) = compiler.args(over).status() else {
        eprintln!("skipped: there is no C compiler `cc` to make a library with");
        return None;
    };
    assert!(status.success(), "cc failed");
    Some(output)
}

fn required() -> Vec<&'static str> {
    EntryPoints::none().missing_required()
}

fn search_in(folder: &Folder) -> Search {
    Search {
        variable: None,
        already_loaded: false,
        names: vec!["libwindlass-test-hip.so.7".into(), "libwindlass-test-hip.so".into()],
        folders: vec![folder.0.clone()],
    }
}

fn search(search: &Search) -> Result<Api, LoadError> {
    // SAFETY: these tests name libraries of their own, and call only their version function.
    unsafe { Api::search(search) }
}

fn load(path: &Path) -> Result<Api, LoadError> {
    // SAFETY: as above.
    unsafe { Api::load(&Source::Library(path.to_owned())) }
}

#[test]
fn nothing_found_lists_each_attempt_and_the_mend() {
    let folder = Folder::new("nothing");
    let error = search(&search_in(&folder)).expect_err("nothing is there");
    assert_eq!(error.attempts().len(), 4, "two names for the system, two in the folder: {error}");
    let text = error.to_string();
    for part in
        ["libwindlass-test-hip.so.7: cannot open shared object file", LIBRARY_VARIABLE, "ROCm", "hip-sim://"]
    {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    assert!(text.contains(&folder.0.join("libwindlass-test-hip.so").display().to_string()), "{text}");
}

#[test]
fn a_missing_path_is_an_error_that_names_it() {
    let error = load(Path::new("/nowhere/libamdhip64.so.7")).expect_err("nothing is there");
    assert!(matches!(error.attempts(), [attempt] if attempt.found == Found::Explicit), "{error:?}");
    assert!(
        error.to_string().contains("/nowhere/libamdhip64.so.7 (named by the caller): cannot open"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_no_library_is_an_error() {
    let folder = Folder::new("text");
    let path = folder.0.join("libamdhip64.so");
    std::fs::write(&path, "not an ELF file").expect("the folder is writable");
    let error = load(&path).expect_err("it is text");
    assert!(
        matches!(error.attempts(), [attempt] if matches!(attempt.reason, Reason::NotOpened(_))),
        "{error:?}"
    );
}

#[test]
fn the_search_takes_the_first_name_that_serves() {
    let folder = Folder::new("first");
    let Some(_) = compile(&folder, "libwindlass-test-hip.so", &required()) else { return };
    let api = search(&search_in(&folder)).expect("it has all that is required");
    assert_eq!(api.origin().name, "libwindlass-test-hip.so");
    assert_eq!(api.origin().path.as_deref(), Some(folder.0.join("libwindlass-test-hip.so").as_path()));
    assert_eq!(api.origin().version, Some(Version { major: 6, minor: 1, patch: 2 }));
    assert_eq!(api.origin().found, Found::Search);
    assert!(!api.origin().simulated);
    assert!(!api.has(Feature::HostCall), "not exported");
}

#[test]
fn one_missing_required_function_is_named_with_library_and_version() {
    let folder = Folder::new("missing");
    let symbols: Vec<_> = required().into_iter().filter(|name| *name != "hipEventQuery").collect();
    let Some(path) = compile(&folder, "libamdhip64.so.6", &symbols) else { return };
    let error = load(&path).expect_err("hipEventQuery is missing");
    let text = error.to_string();
    for part in ["libamdhip64.so.6", "HIP 6.1.2", "lacks hipEventQuery, without which"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
}

#[test]
fn a_library_of_something_else_lacks_nearly_everything() {
    let folder = Folder::new("other");
    let Some(path) = compile(&folder, "libother.so", &[]) else { return };
    let text = load(&path).expect_err("it is no HIP").to_string();
    assert!(text.contains("lacks hipInit") && text.contains("more functions"), "{text}");
}

#[test]
fn the_search_passes_over_a_marked_library_and_says_so() {
    let folder = Folder::new("marked");
    let symbols = [required(), vec!["windlass_simulator_marker"]].concat();
    let Some(_) = compile(&folder, "libwindlass-test-hip.so.7", &symbols) else { return };
    let error = search(&search_in(&folder)).expect_err("the only library is marked");
    assert!(error.attempts().iter().any(|attempt| attempt.reason == Reason::Simulated), "{error:?}");
    assert!(error.to_string().contains("is Windlass's software GPU"), "{error}");

    compile(&folder, "libwindlass-test-hip.so", &required()).expect("there was a compiler a moment ago");
    let api = search(&search_in(&folder)).expect("the next one is not marked");
    assert_eq!(api.origin().name, "libwindlass-test-hip.so");
}

#[test]
fn a_marked_library_is_accepted_where_it_is_named() {
    let folder = Folder::new("named");
    let symbols = [required(), vec!["windlass_simulator_marker"]].concat();
    let Some(path) = compile(&folder, "libamdhip64.so.7", &symbols) else { return };
    let by_path = load(&path).expect("a named library is accepted");
    assert!(by_path.origin().simulated);
    assert!(by_path.origin().to_string().contains("simulated"), "{}", by_path.origin());

    let by_folder = load(&folder.0).expect("a named folder is looked into");
    assert_eq!(by_folder.origin().path, by_path.origin().path);

    let variable = Search { variable: Some(path.into()), ..search_in(&folder) };
    let by_variable = search(&variable).expect("the variable names it");
    assert_eq!(by_variable.origin().found, Found::Environment);
    assert!(by_variable.origin().simulated);
}

#[test]
fn a_hip_over_the_simulated_hsa_says_so_and_counts_as_hip() {
    let folder = Folder::new("over-hsa");
    let Some(hsa) = compile(&folder, "libtest-hsa.so", &["windlass_simulator_marker"]) else { return };
    let symbols = required();
    compile_over(&folder, "libwindlass-test-hip.so", &symbols, &[hsa])
        .expect("there was a compiler a moment ago");
    let api = search(&search_in(&folder)).expect("it is not passed over");
    assert_eq!(api.origin().name, "libwindlass-test-hip.so over a simulated GPU");
    assert!(api.origin().simulated, "no GPU is behind it");
    assert!(!api.origin().simulated_hip, "it is to be treated as hardware's");
}

#[test]
fn the_variable_excludes_everything_else() {
    let folder = Folder::new("exclusive");
    let Some(_) = compile(&folder, "libwindlass-test-hip.so", &required()) else { return };
    let variable = Search { variable: Some("/nowhere/hip.so".into()), ..search_in(&folder) };
    let error = search(&variable).expect_err("the named library is missing");
    assert_eq!(error.attempts().len(), 1, "{error}");
    assert!(error.to_string().contains("named by WINDLASS_HIP_LIBRARY"), "{error}");
}

#[test]
fn a_loaded_copy_is_taken_first() {
    let folder = Folder::new("loaded");
    let Some(path) = compile(&folder, "libwindlass-test-loaded.so", &required()) else { return };
    // SAFETY: the library is this test's own.
    let loaded = unsafe { libloading::Library::new(&path) }.expect("it was just compiled");
    let search_again = Search { already_loaded: true, names: vec![path.into()], ..search_in(&folder) };
    for _ in 0..2 {
        let found = search(&search_again).expect("it is loaded");
        assert_eq!(found.origin().found, Found::AlreadyLoaded, "this test loaded it");
    }
    std::mem::forget(loaded);
}

/// The description of a device must not depend on the number of earlier searches.
#[test]
fn what_a_search_found_is_found_the_same_way_again() {
    let folder = Folder::new("again");
    let Some(path) = compile(&folder, "libwindlass-test-again.so", &required()) else { return };
    let by_path = Search { already_loaded: true, names: vec![path.into()], ..search_in(&folder) };
    let first = search(&by_path).expect("it is there");
    assert_eq!(first.origin().found, Found::Search, "nothing was loaded before");
    let second = search(&by_path).expect("it is there still");
    assert_eq!(second.origin(), first.origin());
    let opened_anew = Search { already_loaded: false, ..by_path };
    assert_eq!(search(&opened_anew).expect("it is there still").origin(), first.origin());
}

/// ROCm 5.2 as Debian 12 packages it: `apt install libamdhip64-5`.
#[test]
fn debians_rocm_5_loads_without_host_functions() {
    // SAFETY: a library of this name in the system is AMD's HIP.
    let loaded = unsafe { Api::load(&Source::Library("libamdhip64.so.5".into())) };
    let api = match loaded {
        Ok(api) => api,
        Err(error)
            if error.attempts().iter().all(|attempt| matches!(attempt.reason, Reason::NotOpened(_))) =>
        {
            eprintln!("skipped: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let version = api.origin().version.expect("it tells its version");
    assert_eq!(version.major, 5);
    assert!(api.origin().path.as_ref().is_some_and(|path| path.is_absolute()), "{:?}", api.origin());
    assert!(api.has(Feature::MemoryPools));
    assert!(!api.has(Feature::ModernProperties));
    if version.minor < 4 {
        assert!(!api.has(Feature::HostCall));
        assert!(api.missing().contains(&"hipLaunchHostFunc"), "{:?}", api.missing());
    }
    if !Path::new("/dev/kfd").exists() {
        let mut count: c_int = -1;
        // SAFETY: the pointer is ours.
        assert_eq!(unsafe { api.hipGetDeviceCount(&mut count) }, hipError_t::hipErrorNoDevice);
    }
}

/// AMD's packages for Python have such files.
#[test]
fn a_linker_script_stands_for_the_library_that_it_names() {
    let folder = Folder::new("linker-script");
    if compile(&folder, "libamdhip64.so.9", &required()).is_none() {
        return;
    }
    let script = folder.0.join("libamdhip64.so");
    std::fs::write(&script, "/* GNU ld script */\nINPUT ( libamdhip64.so.9 )\n")
        .expect("the folder is writable");
    for named in [&script, &folder.0] {
        let api = load(named).expect("the script's library");
        assert!(api.origin().path.as_ref().is_some_and(|path| path.ends_with("libamdhip64.so.9")));
    }
    for text in
        ["", "INPUT()", "INPUT(libamdhip64.so)", "INPUT(-lamdhip64)", "GROUP(/nowhere/libamdhip64.so.9)"]
    {
        std::fs::write(&script, text).expect("the folder is writable");
        assert!(load(&script).is_err(), "{text}");
    }
}

/// ROCm 10 has its libraries in `core`, a link to `core-X.Y`, and AMD's packages for Python in a folder of theirs.
#[test]
fn the_folders_of_each_way_to_install_are_searched() {
    let folder = Folder::new("ways-to-install");
    let (rocm, python) = (folder.0.join("rocm"), folder.0.join("venv"));
    for inner in ["rocm/core-7.14/lib", "rocm/core-10.1/lib", "rocm/core-amd/lib", "rocm/lib"] {
        std::fs::create_dir_all(folder.0.join(inner)).expect("the folder is writable");
    }
    let packages = "lib/python3.13/site-packages/_rocm_sdk_core/lib";
    std::fs::create_dir_all(python.join(packages)).expect("the folder is writable");
    let own = std::env::current_exe().expect("this test");
    let output = Command::new(own)
        .args(["--exact", "the_folders_of_the_environment", "--ignored", "--nocapture"])
        .env("ROCM_PATH", &rocm)
        .env("VIRTUAL_ENV", &python)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr);
    let listed: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("folder ")).collect();
    let wanted = ["rocm/lib", "rocm/core-10.1/lib", "rocm/core-7.14/lib"].map(|inner| folder.0.join(inner));
    let wanted: Vec<_> = wanted.into_iter().chain([python.join(packages)]).collect();
    assert_eq!(listed, wanted.iter().map(|path| path.to_str().expect("UTF-8")).collect::<Vec<_>>());
}

#[test]
#[ignore = "a program of the test above"]
fn the_folders_of_the_environment() {
    for folder in Search::from_environment().folders {
        eprintln!("folder {}", folder.display());
    }
}
