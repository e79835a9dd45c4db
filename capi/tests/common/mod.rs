// SPDX-License-Identifier: MIT OR Apache-2.0
//! The libraries under test.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

pub(crate) const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// The shared and the static library. Cargo builds neither for a test of the package, which has no Rust library.
pub(crate) fn libraries() -> &'static (PathBuf, PathBuf) {
    static LIBRARIES: OnceLock<(PathBuf, PathBuf)> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        // Of the workspace and with an example, so that features are those of `cargo test --workspace`: all packages below are
        // there already.
        cargo.args(["build", "--workspace", "--lib", "--example", "write_header"]);
        cargo.args(["--message-format", "json"]);
        cargo.current_dir(PACKAGE).arg("--target-dir").arg(target);
        let output = cargo.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let messages = String::from_utf8(output.stdout).unwrap();
        let messages =
            messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let files: Vec<PathBuf> = messages
            .filter(|message| message["target"]["src_path"] == format!("{PACKAGE}/src/lib.rs"))
            .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default())
            .filter_map(|file| file.as_str().map(PathBuf::from))
            .collect();
        let named = |name: &str| files.iter().find(|file| file.ends_with(name)).expect(name).clone();
        (named("libwindlass.so"), named("libwindlass.a"))
    })
}
