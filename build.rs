// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the facts that reports state about a build: its drivers and its origin. Builds the libraries that an installed
//! command has in itself.

#[path = "src/command/exec/build_libraries.rs"]
mod build_libraries;

use std::{env, fs, path::Path, process::Command};

/// The features that bring drivers, with the schemes of these drivers.
const DRIVERS: &[(&str, &[&str])] = &[
    ("hip", &["hip", "hip-null"]),
    ("sim", &["hip-sim"]),
    ("local", &["local"]),
    ("null", &["null"]),
    ("record", &["record"]),
    ("command", &["shuffle"]),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let is_repository = Path::new(&root).join(".git").exists();
    let git = |arguments: &[&str]| output("git", &[&["-C", &root], arguments].concat());
    // A commit changes the log of HEAD. In a worktree, git alone knows where that lies.
    for name in ["HEAD", "logs/HEAD"].into_iter().filter(|_| is_repository) {
        let asked = git(&["rev-parse", "--git-path", name]);
        let file = Path::new(&root).join(asked.unwrap_or_else(|| format!(".git/{name}")));
        // A file that does not exist would make every build run this script again.
        if file.exists() {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    let enabled: Vec<_> = DRIVERS
        .iter()
        .filter(|(feature, _)| env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase())).is_some())
        .flat_map(|(_, schemes)| schemes.iter().copied())
        .collect();
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let rustc = output(&variable("RUSTC"), &["--version"]).unwrap_or_default();
    // A package from a registry may lie in some other project's repository: its commit says nothing here.
    let commit = if is_repository { git(&["rev-parse", "HEAD"]) } else { packaged_commit(&root) };
    let (target, profile) = (variable("TARGET"), variable("PROFILE"));
    let short = commit.as_deref().and_then(|commit| commit.get(..12)).map(|commit| format!(" ({commit})"));
    let provenance = format!(
        "{}{}, {rustc}, {target}, {profile}",
        variable("CARGO_PKG_VERSION"),
        short.unwrap_or_default()
    );
    let text = format!(
        "/// The schemes of the drivers that this build has.\n\
         pub const DRIVERS: &[&str] = &{enabled:?};\n\
         /// The git commit that was built, where it was built from a repository.\n\
         pub const COMMIT: Option<&str> = {commit:?};\n\
         /// The compiler.\n\
         pub const RUSTC: &str = {rustc:?};\n\
         /// The target triple.\n\
         pub const TARGET: &str = {target:?};\n\
         /// The build profile: `debug` or `release`.\n\
         pub const PROFILE: &str = {profile:?};\n\
         /// Version, commit, compiler, target and profile in one line.\n\
         pub const PROVENANCE: &str = {provenance:?};\n"
    );
    let out = Path::new(&variable("OUT_DIR")).to_owned();
    if let Err(error) = fs::write(out.join("build_info.rs"), text) {
        println!("cargo::error=cannot write build_info.rs: {error}");
    }
    build_libraries::write(Path::new(&root), &out);
}

/// The commit that a package or a release's source archive tells.
fn packaged_commit(root: &str) -> Option<String> {
    let text = fs::read_to_string(Path::new(root).join(".cargo_vcs_info.json")).ok()?;
    let is_commit = |word: &&str| word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split('"').find(is_commit).map(str::to_owned)
}

/// The output of a program, if the program is there and succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}
