// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for RCCL: accepted and refused libraries, and the text of errors.
//!
//! The libraries are tiny and compiled here; without a C compiler, those tests say so and pass.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skipped test says why")]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use windlass_hip_sys::rccl::{
    Found, Functions, LIBRARY_VARIABLE, LoadError, Rccl, Reason, Search, ncclResult_t,
};
use windlass_hip_sys::{Api, EntryPoints, Source, null};

/// A folder of this test, deleted on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rccl-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the target folder is writable");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Compiles a library that exports `symbols` as functions which return `answer`, and reports `version` where it has the
/// function.
fn compile(path: &Path, symbols: &[&str], version: u32, answer: u32) -> Option<PathBuf> {
    compile_with(path, symbols, version, answer, &[])
}

/// A library for which the compiler gets more arguments.
fn compile_with(
    path: &Path,
    symbols: &[&str],
    version: u32,
    answer: u32,
    arguments: &[&OsStr],
) -> Option<PathBuf> {
    let mut source = format!("int ncclGetVersion(int* version) {{ *version = {version}; return 0; }}\n");
    for symbol in symbols.iter().filter(|symbol| **symbol != "ncclGetVersion") {
        writeln!(source, "int {symbol}() {{ return {answer}; }}").expect("a string takes all");
    }
    std::fs::create_dir_all(path.parent()?).expect("the folder is writable");
    let input = path.with_extension("c");
    std::fs::write(&input, source).expect("the folder is writable");
    let mut compiler = Command::new("cc");
    compiler.args(["-w", "-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]).arg(path).arg(&input);
    let Ok(status) = compiler.args(arguments).status() else {
        eprintln!("skipped: there is no C compiler `cc` to make a library with");
        return None;
    };
    assert!(status.success(), "cc failed");
    Some(path.to_owned())
}

/// A HIP that is a library in this folder.
fn hip_in(folder: &Path, more: &[&str]) -> Option<Api> {
    let symbols = [EntryPoints::none().missing_required(), more.to_vec()].concat();
    let path = compile(&folder.join("libamdhip64.so.7"), &symbols, 0, 0)?;
    // SAFETY: the library is this test's own.
    Some(unsafe { Api::load(&Source::Library(path)) }.expect("it has all that is required"))
}

fn load(hip: &Api, path: Option<&Path>) -> Result<Rccl, LoadError> {
    // SAFETY: these tests name libraries of their own, and call only functions without arguments.
    unsafe { Rccl::load(hip, path) }
}

#[test]
fn a_missing_file_is_an_error_that_names_it_and_the_mend() {
    let folder = Folder::new("none");
    let Some(hip) = hip_in(&folder.0, &[]) else { return };
    let error = load(&hip, Some(Path::new("/nowhere/librccl.so.1"))).expect_err("nothing is there");
    assert!(matches!(error.attempts(), [attempt] if attempt.found == Found::Explicit), "{error:?}");
    let text = error.to_string();
    for part in ["/nowhere/librccl.so.1 (named by the caller): cannot open", LIBRARY_VARIABLE, "rccl"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
}

#[test]
fn a_file_that_is_no_library_is_an_error() {
    let folder = Folder::new("text");
    let Some(hip) = hip_in(&folder.0, &[]) else { return };
    let path = folder.0.join("librccl.so");
    std::fs::write(&path, "not an ELF file").expect("the folder is writable");
    let error = load(&hip, Some(&path)).expect_err("it is text");
    assert!(
        matches!(error.attempts(), [attempt] if matches!(attempt.reason, Reason::NotOpened(_))),
        "{error:?}"
    );
}

#[test]
fn missing_functions_are_named_with_library_and_version() {
    let folder = Folder::new("missing");
    let Some(hip) = hip_in(&folder.0, &[]) else { return };
    let all_but = |left: &str| -> Vec<&str> {
        Functions::REQUIRED.iter().copied().filter(|name| *name != left).collect()
    };
    let path = folder.0.join("other/librccl.so.1");
    compile(&path, &all_but("ncclReduceScatter"), 21_104, 0).expect("there was a compiler a moment ago");
    let text = load(&hip, Some(&path)).expect_err("a function is missing").to_string();
    for part in ["other/librccl.so.1", "RCCL 2.11.4", "lacks ncclReduceScatter, which every RCCL has"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }

    let path = compile(&folder.0.join("librccl-none.so"), &[], 0, 0).expect("as before");
    let text = load(&hip, Some(&path)).expect_err("it is no RCCL").to_string();
    assert!(text.contains("lacks ncclGetErrorString") && text.contains("more functions"), "{text}");
}

#[test]
fn the_rccl_beside_hip_is_found_and_called() {
    let folder = Folder::new("beside");
    let Some(hip) = hip_in(&folder.0, &[]) else { return };
    compile(&folder.0.join("librccl.so"), Functions::REQUIRED, 22_203, 5).expect("there was a compiler");
    let rccl = load(&hip, None).expect("it is beside HIP");
    assert_eq!(rccl.origin().found, Found::BesideHip);
    assert_eq!(rccl.origin().path.as_deref(), Some(folder.0.join("librccl.so").as_path()));
    assert!(rccl.origin().to_string().contains("RCCL 2.22.3, beside HIP"), "{}", rccl.origin());
    // SAFETY: the function takes no arguments.
    assert_eq!(unsafe { rccl.ncclGroupStart() }, ncclResult_t::ncclInvalidUsage);
    // SAFETY: the function is absent.
    assert_eq!(unsafe { rccl.ncclCommFinalize(std::ptr::null_mut()) }, None, "an older RCCL lacks it");
    assert!(rccl.functions().missing().contains(&"ncclCommSplit"), "{rccl:?}");
}

/// AMD's packages for Python have HIP in one and RCCL in another.
#[test]
fn the_rccl_of_amds_packages_for_python_is_found() {
    let folder = Folder::new("packages");
    let Some(hip) = hip_in(&folder.0.join("_rocm_sdk_core/lib"), &[]) else { return };
    let path = folder.0.join("_rocm_sdk_libraries_gfx94X_dcgpu/lib/librccl.so.1");
    compile(&path, Functions::REQUIRED, 22_707, 0).expect("there was a compiler");
    let rccl = load(&hip, None).expect("it is beside HIP's package");
    assert_eq!(rccl.origin().path.as_deref(), Some(path.as_path()));
}

#[test]
fn a_simulated_hip_takes_no_other_rccl() {
    let folder = Folder::new("simulated");
    let Some(hip) = hip_in(&folder.0, &["windlass_simulator_marker"]) else { return };
    let path = folder.0.join("librccl.so.1");
    compile(&path, Functions::REQUIRED, 22_203, 0).expect("there was a compiler");
    let error = load(&hip, None).expect_err("it is not simulated");
    assert!(error.attempts().iter().any(|attempt| attempt.reason == Reason::NotSimulated), "{error}");
    let real = Folder::new("real");
    let hip = hip_in(&real.0, &[]).expect("there was a compiler");
    let marked = [Functions::REQUIRED, &["windlass_simulator_marker"]].concat();
    compile(&real.0.join("librccl.so.1"), &marked, 22_203, 0).expect("as before");
    let error = load(&hip, None).expect_err("it is simulated");
    assert!(error.attempts().iter().any(|attempt| attempt.reason == Reason::Simulated), "{error}");
}

/// Two installations of ROCm in one process, of which another library has loaded the RCCL of the second.
#[test]
fn an_rccl_that_is_linked_to_another_hip_is_refused_though_it_is_loaded() {
    let (first, second) = (Folder::new("first-rocm"), Folder::new("second-rocm"));
    let Some(hip) = hip_in(&first.0, &[]) else { return };
    let other = hip_in(&second.0, &[]).expect("there was a compiler");
    let rccl_of = |folder: &Folder| {
        let hip = folder.0.join("libamdhip64.so.7");
        let name = OsStr::new("-Wl,-soname,libwindlass-test-rccl.so.1");
        let path = folder.0.join("libwindlass-test-rccl.so.1");
        compile_with(&path, Functions::REQUIRED, 22_203, 0, &[name, hip.as_os_str()]).expect("as before")
    };
    let theirs = rccl_of(&second);
    let loaded = load(&other, Some(&theirs)).expect("it belongs to the second HIP");
    assert_eq!(loaded.origin().path.as_deref(), Some(theirs.as_path()));

    let mut search = Search::for_hip(&hip);
    search.names = vec!["libwindlass-test-rccl.so.1".into()];
    search.folders.clear();
    // SAFETY: as for `load`.
    let found = |search: &Search| unsafe { Rccl::search(search) };
    let error = found(&search).expect_err("the only RCCL is that of another HIP");
    let is_other = |reason: &Reason| matches!(reason, Reason::OtherHip { .. });
    assert!(error.attempts().iter().any(|attempt| is_other(&attempt.reason)), "{error}");
    let file = |folder: &Folder| folder.0.join("libamdhip64.so.7").display().to_string();
    let expected = format!("is linked to the HIP {}, and the HIP in use is {}", file(&second), file(&first));
    assert!(error.to_string().contains(&expected), "{error}");
    let named = load(&hip, Some(&theirs)).expect_err("also if it is named");
    assert!(matches!(named.attempts(), [attempt] if is_other(&attempt.reason)), "{named}");

    let ours = rccl_of(&first);
    let rccl = found(&search).expect("the one beside HIP");
    assert_eq!(rccl.origin().path.as_deref(), Some(ours.as_path()));
    // The same file by another way, as a link of a package manager.
    std::fs::create_dir_all(first.0.join("link")).expect("the folder is writable");
    std::os::unix::fs::symlink(first.0.join("libamdhip64.so.7"), first.0.join("link/libamdhip64.so.7"))
        .expect("a link");
    search.hip = Some(first.0.join("link/libamdhip64.so.7"));
    found(&search).expect("the HIP is the same file");
}

#[test]
fn a_hip_of_this_process_without_rccl_says_so() {
    let hip = null::Instance::new(null::Options::default()).api();
    let error = load(&hip, None).expect_err("the null HIP has none");
    assert!(error.attempts().is_empty(), "no library may be opened for it");
    assert!(error.to_string().contains("HIP in this process"), "{error}");
}
