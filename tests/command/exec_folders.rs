// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass exec` takes no library that another user may have put beside the command.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{Finished, command, finish, scratch};

/// The command in a folder of its own, with a file that poses as the simulator's library.
struct Installed(PathBuf);

impl Installed {
    fn new() -> Self {
        let root = scratch("installed");
        fs::create_dir_all(root.join("bin")).unwrap();
        fs::create_dir_all(root.join("lib/windlass")).unwrap();
        let installed = Self(root);
        for folder in ["bin", "lib", "lib/windlass"] {
            installed.mode(folder, 0o755);
        }
        fs::hard_link(env!("CARGO_BIN_EXE_windlass"), installed.0.join("bin/windlass")).unwrap();
        installed
    }

    fn put(&self, name: &str) {
        fs::write(
            self.0.join(name),
            b"windlass_simulator_marker\0libamdhip64.so\0libwindlass_simulator_core.so",
        )
        .unwrap();
        self.mode(name, 0o644);
    }

    fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.0.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn exec(&self) -> Finished {
        let mut known = command();
        let mut command = Command::new(self.0.join("bin/windlass"));
        command.envs(known.get_envs().filter_map(|(name, value)| Some((name, value?))));
        for (name, _) in known.env("PATH", "/usr/bin:/bin").get_envs().filter(|(_, value)| value.is_none()) {
            command.env_remove(name);
        }
        finish(command.args(["exec", "--", "true"]))
    }

    fn assert_refused(&self, part: &str, reason: &str) {
        let finished = self.exec();
        assert_eq!(finished.code, Some(2), "{part}: {finished:?}");
        let part = fs::canonicalize(self.0.join(part)).unwrap();
        let words = format!("{}: {reason}", part.display());
        assert!(finished.stderr.contains(&words), "{words}: {finished:?}");
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn folders_and_files_that_others_may_write_are_passed_over() {
    for (folder, library) in [
        ("bin", "bin/libamdhip64.so"),
        ("lib", "lib/libamdhip64.so"),
        ("lib/windlass", "lib/windlass/libamdhip64.so"),
    ] {
        let installed = Installed::new();
        installed.put(library);
        assert_eq!(installed.exec().code, Some(0), "{library}");
        for mode in [0o1777, 0o757] {
            installed.mode(folder, mode);
            installed.assert_refused(folder, "every user may write there");
        }
        installed.mode(folder, 0o755);
        installed.mode(library, 0o666);
        installed.assert_refused(library, "every user may write there");
        // The group of a user who is alone in it, as a umask of 002 leaves it.
        let owner = fs::metadata(&installed.0).unwrap();
        if owner.uid() == owner.gid() {
            installed.mode(folder, 0o775);
            installed.mode(library, 0o664);
            assert_eq!(installed.exec().code, Some(0), "{library}");
        }
    }
}

/// The library would load it.
#[test]
fn a_simulator_that_others_may_write_is_not_loaded() {
    let installed = Installed::new();
    installed.put("lib/windlass/libamdhip64.so");
    let core = "lib/windlass/libwindlass_simulator_core.so";
    installed.put(core);
    assert_eq!(installed.exec().code, Some(0));
    installed.mode(core, 0o666);
    installed.assert_refused(core, "every user may write there");
}

#[test]
fn libraries_of_others_are_passed_over() {
    let installed = Installed::new();
    installed.put("bin/libamdhip64.so");
    let give = |name: &str, user, group| chown(installed.0.join(name), Some(user), Some(group)).is_ok();
    if !give("bin/libamdhip64.so", 12345, 12345) {
        eprintln!("skipped: only root can give files to others");
        return;
    }
    installed.assert_refused("bin/libamdhip64.so", "it belongs to the user 12345");
    assert!(give("bin/libamdhip64.so", 0, 0) && give("bin", 12345, 12345));
    installed.assert_refused("bin", "it belongs to the user 12345");
    assert!(give("bin", 0, 54321));
    installed.mode("bin", 0o775);
    installed.assert_refused("bin", "the group 54321 may write there");
    // The owner of the command could as well change the command.
    let copy = installed.0.join("bin/copy");
    fs::copy(installed.0.join("bin/windlass"), &copy).unwrap();
    fs::rename(&copy, installed.0.join("bin/windlass")).unwrap();
    for name in ["bin/windlass", "bin/libamdhip64.so", "bin"] {
        assert!(give(name, 12345, 12345));
    }
    assert_eq!(installed.exec().code, Some(0));
    assert!(Path::new(&installed.0).exists());
}
