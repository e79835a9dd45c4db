// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass exec --hip amd`: AMD's HIP over the simulated GPU. The tests of starting programs use a folder with AMD's
//! file names and no code of AMD's, whose loader is a script that prints its arguments.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{Finished, command, finish, scratch};

const WINDLASS: &str = env!("CARGO_BIN_EXE_windlass");
const LOADER: &str = "#!/bin/sh
case $1 in
--version) echo 'ld.so (nobody) stable release version VERSION.' ;;
--library-path) IFS=:; set -f; for folder in $2; do ls -d \"$folder\"; done; shift 2; printf '<%s>\\n' \"$@\" ;;
esac
";

/// A folder like those of `amd-hip`, with a loader that reports this libc, and the simulator's library beside it.
struct Fake {
    folder: PathBuf,
}

impl Fake {
    fn new(libc: &str) -> Self {
        let folder = scratch("amd");
        let root = folder.join("kept/6.4");
        fs::create_dir_all(root.join("usr/lib/x86_64-linux-gnu")).expect("a folder");
        fs::create_dir_all(root.join("usr/lib64")).expect("a folder");
        executable(&root.join("usr/lib64/ld-linux-x86-64.so.2"), &LOADER.replace("VERSION", libc));
        let fake = Self { folder };
        fs::write(fake.libraries().join("libamdhip64.so.6.4.12345"), "HIP").expect("a file");
        symlink("libamdhip64.so.6.4.12345", fake.libraries().join("libamdhip64.so.6")).expect("a link");
        for name in ["libc.so.6", "libhsa-runtime64.so.1", "libof-amd-alone.so.2"] {
            fs::write(fake.libraries().join(name), "a library").expect("a file");
        }
        fs::write(fake.hsa(), b"libhsa-runtime64.so.1\0windlass_simulator_marker\0").expect("a file");
        fake
    }

    fn libraries(&self) -> PathBuf {
        self.folder.join("kept/6.4/usr/lib/x86_64-linux-gnu")
    }

    fn library(&self) -> PathBuf {
        fs::canonicalize(self.libraries().join("libamdhip64.so.6")).expect("a file")
    }

    fn hsa(&self) -> PathBuf {
        self.folder.join("libhsa_runtime64.so")
    }

    /// A script of the folder.
    fn script(&self, text: &str) -> PathBuf {
        let path = self.folder.join("script");
        executable(&path, text);
        path
    }

    fn exec(&self, hip: &str) -> Command {
        let mut command = command();
        command.env("WINDLASS_AMD_HIP", self.folder.join("kept")).env_remove("LD_LIBRARY_PATH");
        command.args(["exec", "--hip", hip, "--library"]).arg(self.hsa()).arg("--");
        command
    }

    /// The words that the loader was given to start, one per line.
    fn started(&self, words: &[&str]) -> String {
        let finished = finish(self.exec("amd=6.4").args(words));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        let mut lines = finished.stdout.lines();
        let own = lines.next().expect("the folder of links");
        assert!(own.contains("windlass-exec-") && own.ends_with("/lib"), "{finished:?}");
        assert_eq!(lines.next().map(Path::new), Some(&*fs::canonicalize(self.libraries()).expect("a path")));
        lines.map(|line| format!("{line}\n")).collect()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Written by another process: a child of a concurrent test could hold a file open that this process writes, and an
/// open file cannot be run.
fn executable(path: &Path, text: &str) {
    let source = path.with_extension("text");
    fs::write(&source, text).expect("a file");
    let made = Command::new("install").args(["-m", "755"]).arg(&source).arg(path).status();
    assert!(made.expect("install").success());
    fs::remove_file(&source).expect("a file");
}

#[test]
fn a_newer_libc_comes_with_its_loader() {
    let fake = Fake::new("99.1");
    assert_eq!(
        fake.started(&[WINDLASS, "devices", "--json"]),
        format!("<{WINDLASS}>\n<devices>\n<--json>\n")
    );
    // A name is searched for like in a shell, and the program gets the path that was found.
    let found = fake.started(&["sh", "-c", "a b"]);
    assert!(found.starts_with("</") && found.ends_with("/sh>\n<-c>\n<a b>\n"), "{found}");
}

#[test]
fn scripts_are_started_by_their_interpreters() {
    let fake = Fake::new("99.1");
    let script = fake.script(&format!("#! {WINDLASS}  one word\necho\n"));
    let path = script.to_str().expect("text");
    assert_eq!(fake.started(&[path, "x"]), format!("<{WINDLASS}>\n<one word>\n<{path}>\n<x>\n"));
    // The kernel would start `env`'s program under the machine's loader.
    fake.script("#!/usr/bin/env sh\necho\n");
    let found = fake.started(&[path, "x"]);
    assert!(found.ends_with(&format!("/sh>\n<{path}>\n<x>\n")) && !found.contains("/env>"), "{found}");
    // A script may be the interpreter of another.
    let outer = fake.folder.join("outer");
    executable(&outer, &format!("#!{path}\n"));
    let found = fake.started(&[outer.to_str().expect("text")]);
    assert!(found.ends_with(&format!("/sh>\n<{path}>\n<{}>\n", outer.display())), "{found}");
}

#[test]
fn what_no_loader_starts_is_started_as_it_is_or_refused() {
    let fake = Fake::new("99.1");
    let run = |text: &[u8]| {
        let path = fake.script("");
        fs::write(&path, text).expect("a file");
        finish(fake.exec("amd").arg(&path))
    };
    // The header of an ELF file without a segment, which counts as statically linked.
    let mut header = [0_u8; 64];
    header[..6].copy_from_slice(b"\x7fELF\x02\x01");
    header[18] = 62;
    let linked_statically = run(&header);
    assert!(linked_statically.stderr.contains("linked statically"), "{linked_statically:?}");
    assert!(!linked_statically.stdout.contains('<'), "{linked_statically:?}");
    header[18] = 183;
    assert!(run(&header).stderr.contains("another processor"));
    assert!(run(b"no program").stderr.contains("neither an ELF file nor a script"));
    // The maximum number of headers, behind the end of the file; a script without a name, and one that names itself.
    header[18] = 62;
    header[56..58].fill(0xff);
    let own = format!("#!{}\n", fake.folder.join("script").display());
    for text in [&header[..], b"#!\n", b"#! \n", own.as_bytes()] {
        let finished = run(text);
        assert_eq!(finished.code, Some(2), "{finished:?}");
        assert!(finished.stderr.contains("cannot run "), "{finished:?}");
    }
}

/// The command in a folder of its own, with known files beside it.
fn lonely(fake: &Fake) -> PathBuf {
    let command = fake.folder.join("bin/windlass");
    fs::create_dir_all(fake.folder.join("bin")).expect("a folder");
    if fs::hard_link(WINDLASS, &command).is_err() {
        fs::copy(WINDLASS, &command).expect("a copy");
    }
    command
}

#[test]
fn what_the_program_starts_is_brought_under_the_loader() {
    let fake = Fake::new("99.1");
    let telling = "#!/bin/sh\necho 'ld.so (nobody) stable release version 99.1.'\n\
                   echo \"$LD_AUDIT\"; echo \"$WINDLASS_RESTART\"; readlink \"${LD_AUDIT%%:*}\" || true\n";
    let loader = fake.folder.join("kept/6.4/usr/lib64/ld-linux-x86-64.so.2");
    executable(&loader, telling);
    let windlass = lonely(&fake);
    let run = |hip: &str| {
        let mut command = Command::new(&windlass);
        command.env("WINDLASS_AMD_HIP", fake.folder.join("kept")).env("WINDLASS_RESTART", "/outer:/one");
        command.args(["exec", "--hip", hip, "--library"]).arg(fake.hsa());
        finish(command.args(["--", "sh", "-c", "echo \"<$WINDLASS_RESTART>\""]))
    };
    // Without the library a message says so, and the library of another run is not used.
    let without = run("amd");
    assert!(without.stderr.contains("libwindlass_restart.so is neither in "), "{without:?}");
    assert!(without.stdout.ends_with("version 99.1.\n\n\n"), "{without:?}");

    let library = fake.folder.join("bin/libwindlass_restart.so");
    fs::write(&library, b"libwindlass_restart.so\0windlass_simulator_marker\0").expect("a file");
    let with = run("amd");
    assert!(!with.stderr.contains("libwindlass_restart.so"), "{with:?}");
    let lines: Vec<_> = with.stdout.lines().collect();
    let [_, audit, restart, link] = lines[..] else { panic!("{with:?}") };
    let root = audit.strip_suffix("/windlass-restart.so").expect("the folder of links");
    let folder = fs::canonicalize(fake.libraries()).expect("a path");
    assert_eq!(restart, format!("{}:{root}/lib:{}", loader_of(&folder).display(), folder.display()));
    assert_eq!(Path::new(link), fs::canonicalize(&library).expect("a path"));

    // No loader is involved for the older HIP, nor for the simulated one.
    executable(&loader, &LOADER.replace("VERSION", "2.3"));
    let older = run("amd");
    assert!(older.stdout.ends_with("<>\n"), "{older:?}");
}

/// The loader of a root folder.
fn loader_of(libraries: &Path) -> PathBuf {
    let root = libraries.ancestors().nth(3).expect("the system's folder");
    root.join("usr/lib64/ld-linux-x86-64.so.2")
}

#[test]
fn an_older_libc_stays_away() {
    for libc in ["2.3", "nonsense"] {
        let fake = Fake::new(libc);
        let script = "ls \"$ROCM_PATH/lib\"; for name in libamdhip64.so libamdhip64.so.6 libhsa-runtime64.so.1 \
                      libof-amd-alone.so.2; do readlink -f \"$ROCM_PATH/lib/$name\"; done; \
                      echo \"$WINDLASS_HIP_LIBRARY\"; echo \"$TRITON_LIBHIP_PATH\"; echo \"$LD_LIBRARY_PATH\"; echo \"$ROCM_PATH\"";
        let mut command = fake.exec("amd=6.4.12345");
        let finished = finish(command.args(["sh", "-c", script]).env("LD_LIBRARY_PATH", "/own"));
        let lines: Vec<_> = finished.stdout.lines().collect();
        let hip = fake.library();
        let names = [
            "libamdhip64.so",
            "libamdhip64.so.6",
            "libhsa-runtime64.so",
            "libhsa-runtime64.so.1",
            "libof-amd-alone.so.2",
        ];
        assert_eq!(lines[..5], names, "{finished:?}");
        let paths: Vec<_> = lines[5..11].iter().map(Path::new).collect();
        let alone = fs::canonicalize(fake.libraries().join(names[4])).expect("a path");
        let hsa = fs::canonicalize(fake.hsa()).expect("a path");
        assert_eq!(paths, [&*hip, &*hip, &*hsa, &*alone, &*hip, &*hip], "{finished:?}");
        assert_eq!(lines[11], format!("{}/lib:/own", lines[12]), "{finished:?}");
        assert!(!Path::new(lines[12]).exists(), "{finished:?}");
    }
}

#[test]
fn the_newest_is_taken_and_a_path_is_what_it_says() {
    let fake = Fake::new("2.3");
    let older = fake.folder.join("kept/5.2/usr/lib/x86_64-linux-gnu");
    fs::create_dir_all(&older).expect("a folder");
    fs::write(older.join("libamdhip64.so.5.2.9"), "HIP").expect("a file");
    // An incomplete one, one of the simulator's, and 6.10, which is newer than 6.4.
    let half = fake.folder.join("kept/.partial/usr/lib/x86_64-linux-gnu");
    fs::create_dir_all(&half).expect("a folder");
    fs::write(half.join("libamdhip64.so.99.0.0"), "HIP").expect("a file");
    fs::write(older.join("libamdhip64.so.98.0.0"), b"libamdhip64.so.7\0windlass_simulator_marker\0")
        .expect("a file");
    let newest = fake.libraries().join("libamdhip64.so.96.10.0");
    fs::write(&newest, "HIP").expect("a file");
    fs::write(fake.libraries().join("libamdhip64.so.96.9.7"), "HIP").expect("a file");
    let taken = |hip: &str| {
        let mut exec = fake.exec(hip);
        exec.env("WINDLASS_SIM", "gfx90a").args(["sh", "-c", "echo \"$WINDLASS_HIP_LIBRARY\""]);
        let finished = finish(&mut exec);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        finished.stdout.trim_end().rsplit('/').next().unwrap_or_default().to_owned()
    };
    assert_eq!(taken("amd"), "libamdhip64.so.96.10.0");
    assert_eq!(taken("amd=96"), "libamdhip64.so.96.10.0");
    assert_eq!(taken("amd=96.9"), "libamdhip64.so.96.9.7");
    assert_eq!(taken("amd=6"), "libamdhip64.so.6.4.12345");
    assert_eq!(taken("amd=5.2.9"), "libamdhip64.so.5.2.9");
    let root = fake.folder.join("kept/5.2");
    for path in [root.clone(), older.clone(), older.join("libamdhip64.so.5.2.9")] {
        assert_eq!(taken(&format!("amd={}", path.display())), "libamdhip64.so.5.2.9");
    }
    // The default GPU is a gfx942, which is newer than this HIP.
    let finished = finish(fake.exec("amd=5.2").arg("true"));
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert!(finished.stderr.contains("does not know gfx942") && finished.stderr.contains("hip-sim://gfx90a"));
}

#[test]
fn what_is_not_there_is_named_with_what_to_do() {
    let fake = Fake::new("99.1");
    let empty = fake.folder.join("empty");
    fs::create_dir_all(&empty).expect("a folder");
    let run = |hip: &str, more: &[&str]| -> Finished {
        let mut command = command();
        command.env("WINDLASS_AMD_HIP", fake.folder.join("kept")).args(["exec", "--hip", hip, "--library"]);
        finish(command.arg(fake.hsa()).args(more).args(["--", "echo", "started"]))
    };
    let of_empty = format!("amd={}", empty.display());
    let of_hsa = format!("amd={}", fake.hsa().display());
    let text = fake.folder.join("text");
    fs::write(&text, "no library").expect("a file");
    let text = text.to_str().expect("text");
    for (hip, more, code, said) in [
        ("amd=9.7", &[][..], 3, "simulator/interop/amd-hip 6.4"),
        ("amd=5.1", &[], 3, "simulator/interop/amd-hip 5.2"),
        ("amd=9.7", &[], 3, "libamdhip64.so.6.4.12345"),
        (&of_empty, &[], 3, "usr/lib/x86_64-linux-gnu"),
        ("amd=/no/such", &[], 3, "/no/such"),
        ("amd=newest", &[], 2, "6.4"),
        ("hip", &[], 2, "simulated"),
        ("amd", &["--device", "hip-sim://gfx942?hip=6.4"], 2, "hip="),
        (
            "amd",
            &["--device", "hip-sim://?seed=1&fail=hipMalloc@1"],
            2,
            "with --hip amd hipMalloc is AMD's own",
        ),
        ("amd", &["--device", "hip-sim://?delay=hipFree@1:5ms"], 2, "with --hip amd hipFree is AMD's own"),
        ("amd", &["--device", "hip-sim://?fail=hsa_queue_destory"], 2, "hsa_queue_destroy is similar"),
        ("amd", &["--device", "hip-sim://?fail=hsa_signal_load_relaxed"], 2, "has no status"),
        ("amd", &["--device", "hip-sim://?fail=hsa_init:hipErrorUnknown"], 2, "HSA_STATUS_"),
        ("amd", &["--library", text], 2, "libhsa-runtime64.so.1"),
        (&of_hsa, &["--device", "hip://"], 2, "hip-sim://"),
    ] {
        let finished = match more {
            ["--library", path] => {
                finish(command().env("WINDLASS_AMD_HIP", fake.folder.join("kept")).args([
                    "exec",
                    "--hip",
                    hip,
                    "--library",
                    path,
                    "--",
                    "echo",
                    "started",
                ]))
            }
            _ => run(hip, more),
        };
        assert_eq!(finished.code, Some(code), "{hip} {more:?}: {finished:?}");
        assert!(finished.stderr.contains(said), "{hip} {more:?}: {finished:?}");
        assert!(!finished.stdout.contains("started"), "{hip} {more:?}: {finished:?}");
    }
    let finished = finish(fake.exec("amd").arg("no-such-program-anywhere"));
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert!(finished.stderr.contains("cannot run no-such-program-anywhere"), "{finished:?}");
}

#[test]
fn this_command_knows_itself_under_another_loader() {
    let Some(loader) = ["/lib64/ld-linux-x86-64.so.2"].into_iter().find(|path| Path::new(path).exists())
    else {
        eprintln!("skipped: this machine has no loader of glibc's for x86-64");
        return;
    };
    // Each case is a process of its own, which the command starts by the path that it finds for itself.
    let mut command = Command::new(loader);
    command.args([
        "--library-path",
        "/nowhere",
        WINDLASS,
        "cts",
        "--isolate",
        "--require",
        "--device",
        "null://",
    ]);
    let finished = finish(command.args(["--exact", "semaphore.starts_at_initial"]));
    assert_eq!(finished.code, Some(0), "{finished:?}");
}
