// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs in C and C++, built with the header and run against the library, as a user would.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skip must be seen")]

use std::{
    iter,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Mutex,
    thread,
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
    succeeds(compiler.args(["-lm", "-lpthread", "-o"]).arg(&program));
    Some(program)
}

/// Runs the cases three at a time. In a row they would be the last test that runs, on one of the processors.
fn abreast<C: Send>(cases: impl IntoIterator<Item = C, IntoIter: Send>, run: impl Fn(C) + Sync) {
    let cases = Mutex::new(cases.into_iter());
    let next = || cases.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| iter::from_fn(next).for_each(&run));
        }
    });
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
fn a_compiler_in_c() {
    let Some(program) = build(C, "examples/compiler.c") else { return };
    let operations = Path::new(PACKAGE).join("../examples/compiler/operations.ccob");
    for uri in ["hip-sim://gfx942", "hip-sim://gfx90a?seed=3"] {
        prints(clean(&program).arg(&operations).arg(uri), "all numbers of 3 runs are right");
    }
}

#[test]
fn failure_in_c() {
    let Some(program) = build(C, "examples/failure.c") else { return };
    prints(&mut clean(&program), "the wait ended: PERMISSION_DENIED: not on a Sunday");
}

#[test]
fn collectives_in_c_and_cxx() {
    for language in [C, CXX] {
        let Some(program) = build(language, "examples/all_reduce.c") else { continue };
        prints(&mut clean(&program), "2 ranks have the same 1000 sums");
        for (machine, ranks) in [("gfx942?seed=1", 1), ("gfx90a?devices=3&seed=2", 3)] {
            let wanted = format!("{ranks} ranks have the same 1000 sums");
            prints(clean(&program).arg(format!("hip-sim://{machine}")), &wanted);
        }
    }
}

/// The simulated HIP as a library; `None`, with a note, if it is not built.
fn drop_in() -> Option<PathBuf> {
    let folder = libraries().0.parent().unwrap();
    let places = [folder.join("deps/libamdhip64.so"), folder.join("libamdhip64.so")];
    let modified = |path: &PathBuf| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let library = places.into_iter().filter(|path| path.exists()).max_by_key(modified);
    if library.is_none() {
        eprintln!("skipped: the drop-in library is not built; `cargo test --workspace` builds it");
    }
    library
}

/// The program calls HIP by itself and through Windlass, in one process.
#[test]
fn two_libraries_take_turns_in_c_and_cxx() {
    let Some(library) = drop_in() else { return };
    let uri = format!("hip://?library={}", library.display());
    for language in [C, CXX] {
        let Some(program) = build(language, "examples/external_stream.c") else { continue };
        for machine in ["gfx942", "gfx942?seed=1&hardware_queues=0", "gfx942?seed=2&hardware_queues=0"] {
            let mut command = clean(&program);
            command.env("WINDLASS_SIM", machine).arg(kernel("order.ccob")).arg(&library).arg(&uri);
            prints(&mut command, "8 kernels of two libraries ran in turn");
        }
    }
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
    if let Some(library) = drop_in() {
        uris.push((format!("hip://?library={}", library.display()), 20));
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

#[test]
fn children_that_are_forked_while_threads_call_do_not_hang() {
    let Some(program) = build(C, "tests/fork.c") else { return };
    for uri in ["local://?threads=2", "null://"] {
        prints(clean(&program).arg(uri), "200 children returned");
    }
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "the process ends there")]
fn an_exception_that_leaves_a_callback_becomes_an_error_that_names_it() {
    let Some(program) = build(CXX, "tests/exceptions.cpp") else { return };
    for uri in ["local://?threads=2", "null://", "hip-sim://gfx942?memory=64M"] {
        let output = succeeds(clean(&program).arg(uri));
        assert!(String::from_utf8_lossy(&output.stdout).contains("35 exceptions were stopped"), "{uri}");
        let said = String::from_utf8_lossy(&output.stderr);
        let silent = [
            "the function of a profile",
            "the function that ends user data",
            "the observer of a semaphore",
            "`close` of a wrapper",
            "`close` of a driver",
            "`free` of a driver",
            "`trim` of a driver",
            "`unload` of a driver",
        ];
        for name in silent {
            let wanted = format!("a C++ exception of the type `(anonymous namespace)::Trouble` left {name};");
            assert!(said.contains(&wanted), "{uri}: {wanted}\n{said}");
        }
        let other = said.lines().find(|line| !line.contains("a C++ exception of the type"));
        assert_eq!(other, None, "{uri}");
    }
    let output = clean(&program).args(["local://?threads=2", "exit"]).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the function of a host call ended its thread"), "{said}");
}

#[test]
fn callbacks_call_back_and_threads_use_handles_that_others_release() {
    let Some(program) = build(C, "tests/callbacks.c") else { return };
    for uri in ["local://?threads=2", "hip-null://", "hip-sim://gfx942?memory=64M"] {
        let wanted = "the callbacks were called and the handles refused";
        prints(clean(&program).arg(uri).arg(kernel("vector_add.ccob")), wanted);
    }
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
fn profiles_for_callbacks_and_in_files() {
    let trace = folder().join("trace.json");
    let trace = trace.to_str().unwrap();
    let runs: [&[&str]; 2] = [&[trace, "hip-sim://gfx942?memory=64M"], &[trace, "local://?threads=2"]];
    in_both_languages("tests/profiling.c", &runs, "the profiles are right");
    if let Ok(text) = std::fs::read(trace) {
        let trace: serde_json::Value = serde_json::from_slice(&text).expect("the trace is JSON");
        assert!(trace["traceEvents"].as_array().unwrap().len() > 10);
    }
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
fn arrays_and_messages_are_exchanged() {
    let runs: [&[&str]; 2] = [&["hip-sim://gfx942?memory=64M", "10"], &["local://?threads=2", "1"]];
    in_both_languages("tests/exchange.c", &runs, "the exchange is right");
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
fn programs_have_drivers_and_wrappers_of_their_own() {
    let runs: [&[&str]; 2] = [&["hip-sim://gfx942?memory=64M"], &["local://?threads=2"]];
    in_both_languages("tests/extend.c", &runs, "the program's drivers and wrappers work");
    let Some(program) = build(C, "examples/driver.c") else { return };
    prints(&mut clean(&program), "a driver in C filled and copied 4096 bytes");
    let Some(program) = build(C, "examples/tracer.c") else { return };
    let wanted = "queue_dispatch saxpy, 4 x 256 work-items, 28 bytes of arguments after";
    prints(clean(&program).arg(kernel("saxpy.ccob")), wanted);
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

/// Each page alone and the header, with many warnings; the header also in the oldest languages that it supports.
#[test]
fn each_page_of_the_header_stands_alone() {
    let source = folder().join("alone.c");
    let names = pages().into_iter().map(|(name, _)| name).chain(["windlass.h".to_owned()]);
    for name in names {
        let twice = format!("#include \"{name}\"\n#include \"{name}\"\nint main(void) {{ return 0; }}\n");
        std::fs::write(&source, twice).unwrap();
        let oldest: &[_] = if name == "windlass.h" { &[("c99", "c++11")] } else { &[] };
        for (c, cxx) in oldest.iter().copied().chain([("c11", "c++17")]) {
            for (compiler_name, standard, language) in
                [("gcc", c, "c"), ("g++", cxx, "c++"), ("clang-19", c, "c"), ("clang++-19", cxx, "c++")]
            {
                // Clang is one more opinion, for machines that have it.
                let is_absent = Command::new(compiler_name).arg("--version").output().is_err();
                if is_absent && compiler_name.starts_with("clang") {
                    continue;
                }
                let Some(mut compiler) = compiler((compiler_name, standard)) else { continue };
                compiler.args(["-Wconversion", "-Wshadow", "-Wundef", "-Wcast-qual", "-fsyntax-only", "-x"]);
                succeeds(compiler.arg(language).arg(&source));
            }
        }
    }
}

/// The pages of the header, by name, without comments.
fn pages() -> Vec<(String, String)> {
    let folder = Path::new(PACKAGE).join("include/windlass");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let page = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let code: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        (format!("windlass/{}", path.file_name().unwrap().to_str().unwrap()), code.join("\n"))
    };
    entries.map(page).collect()
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
    let pages = pages();
    let mut declared: Vec<&str> = pages
        .iter()
        .flat_map(|(_, code)| code.split('('))
        .filter_map(|before| before.rsplit([' ', '*', '\n']).next())
        .filter(|name| exported.contains(name))
        .collect();
    declared.sort_unstable();
    declared.dedup();
    assert_eq!(declared, exported);
}

/// The library is compiled as usual; its allocations are the sanitizer's all the same, so leaks and freed memory show.
#[test]
fn the_address_sanitizer_finds_nothing() {
    let Some(mut probe) = compiler(C) else { return };
    let (source, program) = (folder().join("probe.c"), folder().join("probe"));
    std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"];
    let probe = probe.args(sanitizers).arg(source).arg("-o").arg(&program).output().unwrap();
    if !probe.status.success() {
        eprintln!("skipped: gcc has no address sanitizer; install libasan");
        return;
    }
    let vector_add = kernel("vector_add.ccob");
    let bundles = kernel("");
    let bundles = bundles.to_str().unwrap();
    let scratch = ["code", "memory"].map(|name| folder().join(format!("sanitizer.{name}")));
    let [code, memory] = scratch.each_ref().map(|path| path.to_str().unwrap());
    let cases = [
        ("tests/code.c", vec![bundles, code]),
        ("tests/memory.c", vec!["local://?threads=2", memory]),
        ("tests/executable.c", vec!["local://?threads=2", bundles]),
        ("tests/order.c", vec![vector_add.to_str().unwrap()]),
        ("tests/extend.c", vec!["local://?threads=2"]),
        ("tests/misuse.c", vec![vector_add.to_str().unwrap(), "hip-null://"]),
        ("tests/callbacks.c", vec!["hip-null://", vector_add.to_str().unwrap(), "1000"]),
        ("examples/driver.c", vec![]),
        ("examples/failure.c", vec!["null://"]),
        ("examples/all_reduce.c", vec!["hip-sim://gfx942?devices=2&memory=64M"]),
    ];
    abreast(cases, |(source, arguments)| {
        let Some(mut compiler) = compiler(C) else { return };
        let library = &libraries().0;
        let program = program.with_file_name(Path::new(source).file_name().unwrap()).with_extension("asan");
        compiler.args(sanitizers).arg(Path::new(PACKAGE).join(source)).arg(library);
        compiler.arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()));
        succeeds(compiler.args(["-lpthread", "-o"]).arg(&program));
        succeeds(clean(&program).args(arguments));
    });
}

/// The driver and the wrappers of `tests/plugin` under programs that know nothing of them, with the address sanitizer.
#[test]
fn programs_run_on_a_driver_in_c() {
    let Some(mut compiler) = compiler(C) else { return };
    let plugin = Path::new(PACKAGE).join("tests/plugin");
    let sources = ["enroll.c", "plugin.c", "driver.c", "wrappers.c", "broken.c"];
    let (library, program) = (&libraries().0, folder().join("on_a_driver_in_c"));
    compiler.arg(Path::new(PACKAGE).join("examples/hello_dispatch.c")).arg("-I").arg(&plugin);
    compiler.args(sources.map(|source| plugin.join(source))).arg(library);
    compiler.arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()));
    compiler.args(["-lpthread", "-ldl", "-o"]).arg(&program);
    let sanitized = compiler.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]);
    if !sanitized.output().unwrap().status.success() {
        eprintln!("skipped: gcc has no address sanitizer; install libasan");
        return;
    }
    let saxpy = kernel("saxpy.ccob");
    for uri in ["c-host://", "c-late://?over=c-host://", "c-trace://?over=c-host://?memory=1048576"] {
        prints(clean(&program).arg(&saxpy).arg(uri), "2 x + 1 is right for all 1000 elements");
    }
    let output = clean(&program).arg(&saxpy).arg("c-host://?memory=1000").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("RESOURCE_EXHAUSTED: ") && said.contains("with 1000 free of 1000"), "{said}");
}

/// On devices without the simulator's memory, which Memcheck would search for a minute.
#[test]
fn valgrind_finds_nothing() {
    if let Err(error) = Command::new("valgrind").arg("--version").output() {
        eprintln!("skipped: valgrind: {error}; install it");
        return;
    }
    let vector_add = kernel("vector_add.ccob");
    let bundles = kernel("");
    let bundles = bundles.to_str().unwrap();
    let scratch = ["code", "memory", "replay"].map(|name| folder().join(format!("valgrind.{name}")));
    let [code, memory, replay] = scratch.each_ref().map(|path| path.to_str().unwrap());
    let cases = [
        ("tests/code.c", vec![bundles, code]),
        ("tests/memory.c", vec!["local://?threads=2", memory]),
        ("tests/replay.c", vec!["local://?threads=2", replay]),
        ("tests/executable.c", vec!["local://?threads=2", bundles]),
        ("tests/extend.c", vec!["local://?threads=2"]),
        ("examples/driver.c", vec![]),
        ("tests/exchange.c", vec!["local://?threads=2", "1"]),
        ("examples/failure.c", vec!["null://"]),
        ("tests/misuse.c", vec![vector_add.to_str().unwrap(), "hip-null://"]),
        ("tests/exceptions.cpp", vec!["local://?threads=2"]),
        ("tests/callbacks.c", vec!["local://?threads=2", vector_add.to_str().unwrap(), "100"]),
    ];
    // An exception ends the process elsewhere.
    let cases =
        cases.into_iter().filter(|(source, _)| cfg!(target_arch = "x86_64") || source.ends_with(".c"));
    abreast(cases, |(source, arguments)| {
        let language = if source.ends_with(".cpp") { CXX } else { C };
        let Some(program) = build(language, source) else { return };
        let mut command = clean(Path::new("valgrind"));
        command.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
        command.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
        succeeds(command.arg(program).args(arguments));
    });
}
