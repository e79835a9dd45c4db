// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library as the machine's loader uses it. The loader of restarted programs is a script that prints its
//! arguments, or the machine's own.
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
#![allow(clippy::print_stderr, reason = "a skip is told")]

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
};

use windlass_restart::VARIABLE;

const MACHINES: &str = "/lib64/ld-linux-x86-64.so.2";
/// The program that is copied to make programs which print their arguments.
const ECHO: &str = "/bin/echo";

/// Cargo builds the library beside the tests of its package.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    let mut folders = test.ancestors().skip(1).take(2).map(|folder| folder.join("libwindlass_restart.so"));
    folders.find(|path| path.exists()).expect("the library beside the tests")
}

/// Held while a program is written, and while one is started: a process that another test starts during the
/// write would keep the file open until its own `exec`, and a file that is open for writing cannot be run.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn output(command: &mut Command) -> io::Result<Output> {
    let started = {
        let _alone = alone();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    };
    started.and_then(Child::wait_with_output)
}

/// A folder with programs, which is removed with this value.
struct Folder(PathBuf);

impl Folder {
    /// A folder with a loader that prints its arguments, one in a line.
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("windlass-restart-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let folder = Self(fs::canonicalize(folder).expect("a path"));
        folder.file("loader", b"#!/bin/sh\nprintf '<%s>\\n' \"$@\"\n");
        folder
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        let _alone = alone();
        fs::write(&path, bytes).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
        path
    }

    /// `echo` under a name, with bytes at its end.
    fn echo(&self, name: &str, end: &[u8]) -> PathBuf {
        self.file(name, &[&fs::read(ECHO).expect("echo"), end].concat())
    }

    /// A C program; `None` without a compiler.
    fn compile(&self, name: &str, source: &str, options: &[&str]) -> Option<PathBuf> {
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        if output(Command::new(&compiler).arg("--version")).is_err() {
            eprintln!("skipped: no C compiler ({compiler}); set CC");
            return None;
        }
        let text = self.file(&format!("{name}.c"), source.as_bytes());
        let program = self.0.join(name);
        let mut command = Command::new(&compiler);
        command.current_dir(&self.0).arg(text).arg("-o").arg(&program).args(options);
        let output = output(&mut command).expect("the compiler starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(program)
    }

    /// The arguments that the folder's loader gets for a program and its arguments.
    fn given(&self, program: &Path, words: &str) -> String {
        format!("<--library-path>\n</one:/two>\n<--argv0>\n<{0}>\n<{0}>\n{words}", program.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn command(program: &Path, loader: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_AUDIT", library()).env_remove("LD_LIBRARY_PATH");
    command.env(VARIABLE, format!("{}:/one:/two", loader.display()));
    command
}

/// The text of a program on standard output and on standard error.
fn run(command: &mut Command) -> [String; 2] {
    let output = output(command).expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"))
}

#[test]
fn programs_that_name_hip_are_started_again() {
    let folder = Folder::new("names");
    let loader = folder.0.join("loader");
    // At the end of a file, over the end of a megabyte, HSA's, and Python, which names none.
    let pad = (1 << 20) - fs::metadata(ECHO).expect("echo").len() as usize - 7;
    let over = [&vec![0; pad][..], b"libamdhip64.so.7\0"].concat();
    for (name, end) in [
        ("one", &b"libamdhip64.so"[..]),
        ("over", &over),
        ("hsa", b"libhsa-runtime64.so.1\0"),
        ("python3.12", b""),
        ("python", b""),
    ] {
        let program = folder.echo(name, end);
        let [said, errors] = run(command(&program, &loader).args(["a b", "", "c"]));
        assert_eq!((&*said, &*errors), (&*folder.given(&program, "<a b>\n<>\n<c>\n"), ""), "{name}");
    }
    // By a link, with a name of its own, and with the caller's library folders.
    let program = folder.0.join("one");
    let link = folder.0.join("link");
    std::os::unix::fs::symlink(&program, &link).expect("a link");
    let [said, _] = run(command(&link, &loader).env("LD_LIBRARY_PATH", "/own"));
    let expected = format!(
        "<--library-path>\n</one:/two:/own>\n<--argv0>\n<{}>\n<{}>\n",
        link.display(),
        program.display()
    );
    assert_eq!(said, expected);
}

#[test]
fn what_a_started_program_starts_is_started_again() {
    let folder = Folder::new("children");
    let program = folder.echo("uses-hip", b"libamdhip64.so");
    let script = folder
        .file("script", format!("#!/bin/sh\necho begin\n{} a\necho end\n", program.display()).as_bytes());
    let [said, errors] = run(&mut command(&script, &folder.0.join("loader")));
    assert_eq!((said, errors), (format!("begin\n{}end\n", folder.given(&program, "<a>\n")), String::new()));
}

#[test]
fn all_else_stays_as_it_is() {
    let folder = Folder::new("others");
    let loader = folder.0.join("loader");
    for (name, end) in [("plain", &b""[..]), ("near", b"libamdhip6"), ("pythonic", b"")] {
        let program = folder.echo(name, end);
        assert_eq!(run(command(&program, &loader).arg(name)), [format!("{name}\n"), String::new()]);
    }
    let program = folder.echo("uses-hip", b"libamdhip64.so");
    let unset = run(command(&program, &loader).env_remove(VARIABLE).arg("unset"));
    assert_eq!(unset, ["unset\n", ""]);
    // An invalid variable.
    for value in ["", "/no/colon", "/no/such/loader:/one"] {
        let [said, _] = run(command(&program, &loader).env(VARIABLE, value).arg("went on"));
        assert_eq!(said, "went on\n", "{value}");
    }
}

#[test]
fn a_loader_that_cannot_be_started_is_told() {
    let folder = Folder::new("cannot");
    let loader = folder.file("not-a-program", b"nothing that runs");
    let program = folder.echo("uses-hip", b"libamdhip64.so");
    let [said, errors] = run(command(&program, &loader).arg("went on"));
    assert_eq!(said, "went on\n");
    assert!(errors.contains("uses-hip gets no HIP of AMD's"), "{errors}");
}

#[test]
fn a_program_runs_under_the_other_loader_once() {
    let folder = Folder::new("runs");
    let program = folder.echo("uses-hip", b"libamdhip64.so");
    // Under another name too, under which it is not a loader.
    let other = folder.file("other", &fs::read(MACHINES).expect("the machine's loader"));
    for loader in [Path::new(MACHINES), &other] {
        assert_eq!(run(command(&program, loader).arg("once")), ["once\n", ""]);
    }
}

#[test]
fn libraries_that_are_linked_with_hip_count() {
    let folder = Folder::new("linked");
    let options = ["-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.6"];
    let Some(hip) = folder.compile("libamdhip64.so.6", "int hip(void) { return 0; }", &options) else {
        return;
    };
    let source = "int hip(void); int user(void) { return hip(); }";
    folder.compile("libuser.so", source, &["-shared", "-fPIC", "-Wl,--no-as-needed", "libamdhip64.so.6"]);
    let source = "int user(void); int main(void) { return user(); }";
    let options = ["libuser.so", "-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined"];
    let program = folder.compile("program", source, &options).expect("a compiler, as before");
    assert!(!fs::read(&program).expect("a program").windows(14).any(|text| text == b"libamdhip64.so"));
    let loader = folder.0.join("loader");
    let expected = folder.given(&program, "<a>\n");
    assert_eq!(run(command(&program, &loader).arg("a")), [expected.clone(), String::new()]);
    // Also if the library is not found.
    fs::remove_file(hip).expect("a file goes");
    assert_eq!(run(command(&program, &loader).arg("a")), [expected, String::new()]);
}

#[test]
fn hip_that_is_loaded_too_late_is_told() {
    let folder = Folder::new("late");
    let source = r#"#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
  puts("runs");
  for (int i = 0; i < 2; i++) if (dlopen(words[1], RTLD_NOW)) return 1;
  return 0;
}"#;
    let Some(program) = folder.compile("program", source, &["-ldl"]) else { return };
    let loader = folder.0.join("loader");
    let [said, errors] = run(command(&program, &loader).arg("libamdhip64.so.99"));
    assert_eq!(said, "runs\n");
    assert_eq!(errors.matches("looks for HIP and gets none of AMD's").count(), 1, "{errors}");
    let [said, errors] = run(command(&program, &loader).arg("libanother.so"));
    assert_eq!((&*said, &*errors), ("runs\n", ""));
}
