// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in C and C++, built with the header and run against the library, as a user would.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skip must be seen")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use object::{Object, ObjectSymbol};

mod common;

use common::{PACKAGE, libraries};

/// A folder of this test's own.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("capi");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn kernel(name: &str) -> PathBuf {
    Path::new(PACKAGE).join("../cts/kernels/bundles").join(name)
}

const C: (&str, &str) = ("gcc", "c11");
const CXX: (&str, &str) = ("g++", "c++17");

/// A compiler's command with warnings as errors; `None`, with a note, if the compiler is not installed.
fn compiler((name, standard): (&str, &str)) -> Option<Command> {
    if let Err(error) = Command::new(name).arg("--version").output() {
        eprintln!("skipped: {name}: {error}; install it");
        return None;
    }
    let mut command = Command::new(name);
    command.arg(format!("-std={standard}")).args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-O1"]);
    command.arg("-I").arg(Path::new(PACKAGE).join("include"));
    Some(command)
}

fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    output
}

/// Builds a program of this package with the shared library.
fn build(language: (&str, &str), source: &str) -> Option<PathBuf> {
    let mut compiler = compiler(language)?;
    let folder = folder();
    let program = folder.join(Path::new(source).file_name().unwrap()).with_extension(language.1);
    let library = &libraries().0;
    compiler.arg(Path::new(PACKAGE).join(source)).arg(library);
    compiler.arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()));
    succeeds(compiler.arg("-o").arg(&program));
    Some(program)
}

/// A command without the environment variables that would change its behaviour.
fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    for name in ["WINDLASS_DEVICE", "WINDLASS_SIM", "WINDLASS_LOG", "WINDLASS_HIP_LIBRARY", "LD_LIBRARY_PATH"]
    {
        command.env_remove(name);
    }
    command
}

#[track_caller]
fn prints(command: &mut Command, wanted: &str) {
    let output = succeeds(command);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains(wanted), "{out}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn hello_dispatch_in_c() {
    let Some(program) = build(C, "examples/hello_dispatch.c") else { return };
    prints(clean(&program).arg(kernel("saxpy.ccob")), "2 x + 1 is right for all 1000 elements");
}

#[test]
fn hello_dispatch_in_cxx() {
    let Some(program) = build(CXX, "tests/hello_dispatch.cpp") else { return };
    prints(clean(&program).arg(kernel("saxpy.ccob")), "no driver for `nowhere://`");
}

#[test]
fn command_buffers_in_c() {
    let Some(program) = build(C, "examples/replay_with_table.c") else { return };
    prints(clean(&program).arg(kernel("saxpy.ccob")), "is right in all 3 batches");
}

#[test]
fn failure_in_c() {
    let Some(program) = build(C, "examples/failure.c") else { return };
    prints(&mut clean(&program), "the wait ended: PERMISSION_DENIED: not on a Sunday");
}

/// Static objects, handlers of `atexit` and threads keep using devices when a process ends. For `hip://` the drop-in
/// library stands in, which aborts in every case in which AMD's HIP may crash.
#[test]
fn a_process_ends_as_it_is_told() {
    let Some(program) = build(CXX, "tests/exit.cpp") else { return };
    let mut uris: Vec<(String, usize)> =
        ["null://", "local://?threads=2", "local://?threads=0", "hip-null://", "hip-sim://gfx942"]
            .map(|uri| (uri.to_owned(), 3))
            .into();
    let folder = libraries().0.parent().unwrap();
    let places = [folder.join("deps/libamdhip64.so"), folder.join("libamdhip64.so")];
    let modified = |path: &PathBuf| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    match places.into_iter().filter(|path| path.exists()).max_by_key(modified) {
        Some(library) => uris.push((format!("hip://?library={}", library.display()), 20)),
        None => eprintln!("skipped: the drop-in library is not built; `cargo test --workspace` builds it"),
    }
    for (uri, times) in uris {
        for how in ["return", "exit", "call"] {
            for time in 0..times {
                let output = clean(&program).args([&uri, how]).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr);
                assert_eq!(
                    output.status.code(),
                    Some(7),
                    "{uri} {how}, run {time}: {} {said}",
                    output.status
                );
                assert_eq!(said, "", "{uri} {how}, run {time}");
            }
        }
    }
}

#[test]
fn misuse_is_refused() {
    let Some(program) = build(C, "tests/misuse.c") else { return };
    prints(clean(&program).arg(kernel("vector_add.ccob")), "every misuse was refused");
}

/// Runs a program as C and as C++, once for each list of arguments.
fn in_both_languages(source: &str, runs: &[&[&str]], wanted: &str) {
    for language in [C, CXX] {
        let Some(program) = build(language, source) else { continue };
        for arguments in runs {
            prints(clean(&program).args(*arguments), wanted);
        }
    }
}

#[test]
fn memory_from_pools_imports_and_files() {
    let scratch = folder().join("memory.scratch");
    let scratch = scratch.to_str().unwrap();
    let runs: [&[&str]; 2] = [&["hip-sim://gfx942?memory=64M", scratch], &["local://?threads=2", scratch]];
    in_both_languages("tests/memory.c", &runs, "the memory is right");
}

#[test]
fn a_recording_replays() {
    let scratch = folder().join("replay.scratch");
    let scratch = scratch.to_str().unwrap();
    let runs: [&[&str]; 2] = [&["hip-sim://gfx942?memory=64M", scratch], &["local://?threads=2", scratch]];
    in_both_languages("tests/replay.c", &runs, "the replay is right");
}

#[test]
fn executables_tell_what_they_have() {
    let bundles = kernel("");
    let bundles = bundles.to_str().unwrap();
    let runs: [&[&str]; 2] = [&["hip-sim://gfx942?memory=64M", bundles], &["local://?threads=2", bundles]];
    in_both_languages("tests/executable.c", &runs, "the executables are right");
}

#[test]
fn code_is_read_without_a_device() {
    let bundles = kernel("");
    let scratch = folder().join("code.scratch");
    let arguments = [bundles.to_str().unwrap(), scratch.to_str().unwrap()];
    in_both_languages("tests/code.c", &[&arguments], "the code is right");
    let Some(program) = build(C, "examples/inspect.c") else { return };
    prints(clean(&program).arg(kernel("vector_add.ccob")).arg("gfx942"), "vector_add takes 4 arguments");
}

#[test]
fn order_in_c_and_cxx() {
    for language in [C, CXX] {
        let Some(program) = build(language, "tests/order.c") else { return };
        prints(clean(&program).arg(kernel("vector_add.ccob")), "order holds");
    }
}

#[test]
fn the_static_library_links() {
    let Some(mut compiler) = compiler(C) else { return };
    let program = folder().join("static");
    compiler.arg(Path::new(PACKAGE).join("examples/failure.c")).arg(&libraries().1);
    succeeds(compiler.args(["-s", "-lm", "-lpthread", "-ldl", "-o"]).arg(&program));
    prints(&mut clean(&program), "nothing that depended on it ran");
}

#[test]
fn an_installed_library_is_found_by_pkg_config() {
    let (shared, prefix) = (&libraries().0, folder().join("prefix"));
    let mut install = Command::new("sh");
    install.arg(Path::new(PACKAGE).join("install.sh")).arg(&prefix).arg(shared.parent().unwrap());
    succeeds(&mut install);
    let mut pkg_config = Command::new("pkg-config");
    pkg_config.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")).args(["--cflags", "--libs", "windlass"]);
    if let Err(error) = Command::new("pkg-config").arg("--version").output() {
        eprintln!("skipped: pkg-config: {error}; install it");
        return;
    }
    let flags = String::from_utf8(succeeds(&mut pkg_config).stdout).unwrap();
    let program = folder().join("installed");
    let mut compiler = Command::new(C.0);
    compiler.arg(Path::new(PACKAGE).join("examples/failure.c")).args(flags.split_whitespace());
    if let Err(error) = Command::new(C.0).arg("--version").output() {
        eprintln!("skipped: {}: {error}; install it", C.0);
        return;
    }
    succeeds(compiler.arg("-o").arg(&program));
    let library_path = prefix.join("lib");
    prints(clean(&program).env("LD_LIBRARY_PATH", library_path), "nothing that depended on it ran");
    // Debug builds of the libraries are large.
    std::fs::remove_dir_all(prefix).unwrap();
}

/// The oldest languages that the header supports, with the usual sets of warnings.
#[test]
fn the_header_stands_alone_in_c99_and_cxx11() {
    let source = folder().join("alone.c");
    std::fs::write(
        &source,
        "#include \"windlass.h\"\n#include \"windlass.h\"\nint main(void) { return !windlass_abi_fits(); }\n",
    )
    .unwrap();
    for (name, standard, language) in [("gcc", "c99", "c"), ("g++", "c++11", "c++")] {
        let Some(mut compiler) = compiler((name, standard)) else { continue };
        compiler.args([
            "-Wconversion",
            "-Wshadow",
            "-Wundef",
            "-Wcast-qual",
            "-fsyntax-only",
            "-x",
            language,
        ]);
        succeeds(compiler.arg(&source));
    }
}

#[test]
fn nothing_but_windlass_is_exported() {
    let bytes = std::fs::read(&libraries().0).unwrap();
    let library = object::File::parse(&*bytes).unwrap();
    let exported = library.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let mut exported: Vec<&str> = exported.map(|symbol| symbol.name().unwrap()).collect();
    exported.sort_unstable();
    let foreign: Vec<_> = exported.iter().filter(|name| !name.starts_with("windlass_")).collect();
    assert!(foreign.is_empty(), "{foreign:?}");

    // The header declares exactly the exported functions.
    let header = std::fs::read_to_string(Path::new(PACKAGE).join("include/windlass.h")).unwrap();
    let declarations = header.split("The functions below are compiled into the program").next().unwrap();
    let mut declared: Vec<&str> = declarations
        .split('(')
        .filter_map(|before| before.rsplit([' ', '*', '\n']).next())
        .filter(|name| exported.contains(name))
        .collect();
    declared.sort_unstable();
    declared.dedup();
    assert_eq!(declared, exported);
}

/// On devices without the simulator's memory, which Memcheck would search for a minute.
#[test]
fn valgrind_finds_nothing() {
    if let Err(error) = Command::new("valgrind").arg("--version").output() {
        eprintln!("skipped: valgrind: {error}; install it");
        return;
    }
    let vector_add = kernel("vector_add.ccob");
    let (bundles, scratch) = (kernel(""), folder().join("valgrind.scratch"));
    for (source, arguments) in [
        ("tests/code.c", vec![bundles.to_str().unwrap(), scratch.to_str().unwrap()]),
        ("tests/memory.c", vec!["local://?threads=2", scratch.to_str().unwrap()]),
        ("tests/replay.c", vec!["local://?threads=2", scratch.to_str().unwrap()]),
        ("tests/executable.c", vec!["local://?threads=2", bundles.to_str().unwrap()]),
        ("examples/failure.c", vec!["null://"]),
        ("tests/misuse.c", vec![vector_add.to_str().unwrap(), "hip-null://"]),
    ] {
        let Some(program) = build(C, source) else { return };
        let mut command = clean(Path::new("valgrind"));
        command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
        command.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
        succeeds(command.arg(program).args(arguments));
    }
}
