// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shows a loaded kernel driver of AMD's to programs that look for it before they call HSA, such as `rocminfo`.
//!
//! The program gets a mount namespace of its own with `/dev/kfd`, a file that does nothing, `/sys/module/amdgpu`, and
//! an `lsmod` that lists the module. The machine stays unchanged, and no root is needed if the system lets users
//! create namespaces.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::{
        fs::{PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use clap::Args;
use rustix::{
    mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change},
    process::{getegid, geteuid},
    thread::{UnshareFlags, unshare_unsafe},
};

use super::super::failure::{self, Failure, Outcome};
use crate::command::started;

/// The hidden subcommand that makes the namespace and becomes the program.
pub(super) const SUBCOMMAND: &str = "exec-beside-kernel-driver";
/// The version of the module.
const VERSION: &str = "simulated by Windlass";

/// Whether a program is known to look for the driver.
pub(super) fn is_wanted_by(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new("rocminfo"))
}

/// A command that runs `command` with a visible driver. `folder` is a place for the files.
pub(super) fn beside(command: &Command, folder: &Path) -> Outcome<Command> {
    let words = started::words()
        .map_err(|error| Failure::failed(format!("cannot tell where this command lies: {error}")))?;
    let mut outer = Command::new(&words[0]);
    outer.args(&words[1..]).args([SUBCOMMAND, "--folder"]).arg(folder);
    for (name, value) in command.get_envs() {
        match value {
            // The library path is for the program, not for this command.
            Some(value) if name == SEARCH => drop(outer.arg("--libraries").arg(value)),
            Some(value) => drop(outer.env(name, value)),
            None => drop(outer.env_remove(name)),
        }
    }
    outer.arg("--").arg(command.get_program()).args(command.get_args());
    Ok(outer)
}

/// The variable for the dynamic linker's first folders.
const SEARCH: &str = "LD_LIBRARY_PATH";

/// Options of the hidden subcommand.
#[derive(Args)]
pub(crate) struct Beside {
    #[arg(long)]
    folder: PathBuf,
    #[arg(long)]
    libraries: Option<OsString>,
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

impl Beside {
    /// Replaces this process by the program.
    pub(crate) fn run(self) -> ExitCode {
        failure::report(self.start())
    }

    fn start(self) -> Outcome {
        let tools = show(&self.folder).map_err(|error| {
            Failure::failed(format!(
                "cannot show {} a kernel driver, which needs a mount namespace of its own: {error}; run the command as root; \
                 a container needs CAP_SYS_ADMIN",
                self.command[0].display()
            ))
        })?;
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
        let path = [tools.as_os_str(), &path].join(OsStr::new(":"));
        command.env("PATH", path);
        if let Some(libraries) = &self.libraries {
            command.env(SEARCH, libraries);
        }
        let error = command.exec();
        Err(Failure::input(format!("cannot run {}: {error}", self.command[0].display())))
    }
}

/// Moves this process to a namespace with a visible driver. Returns the folder with `lsmod`.
fn show(folder: &Path) -> io::Result<PathBuf> {
    separate()?;
    let [shown, old, tools] = ["shown", "old", "tools"].map(|name| folder.join("kernel-driver").join(name));
    for folder in [&shown, &old, &tools] {
        fs::create_dir_all(folder)?;
    }
    cover(Path::new("/dev"), &old.join("dev"), &shown.join("dev"), |dev| fs::write(dev.join("kfd"), ""))?;
    cover(Path::new("/sys/module"), &old.join("module"), &shown.join("module"), |modules| {
        let module = modules.join("amdgpu");
        fs::create_dir(&module)?;
        fs::write(module.join("initstate"), "live\n")?;
        fs::write(module.join("version"), format!("{VERSION}\n"))
    })?;
    let lsmod = tools.join("lsmod");
    let list = format!(
        "#!/bin/sh\necho 'Module                  Size  Used by'\necho 'amdgpu                     0  0 {VERSION}'\n"
    );
    fs::write(&lsmod, list)?;
    fs::set_permissions(&lsmod, fs::Permissions::from_mode(0o755))?;
    Ok(tools)
}

/// Gives this process a mount namespace of its own, in which it may mount.
fn separate() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    let flags =
        if user.is_root() { UnshareFlags::NEWNS } else { UnshareFlags::NEWNS | UnshareFlags::NEWUSER };
    // SAFETY: the flags leave the table of files, which threads share, unchanged.
    unsafe { unshare_unsafe(flags) }?;
    if !user.is_root() {
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
        fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))?;
    }
    Ok(mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}

/// Mounts a folder over `system` that links to the old content, and calls `add` to add more.
fn cover(system: &Path, old: &Path, shown: &Path, add: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    fs::create_dir_all(old)?;
    fs::create_dir_all(shown)?;
    // Some kernels are built without modules.
    if !system.exists() {
        return Ok(());
    }
    mount_bind_recursive(system, old)?;
    mount("windlass", shown, "tmpfs", MountFlags::NOSUID, c"mode=755")?;
    add(shown)?;
    for entry in fs::read_dir(old)? {
        let name = entry?.file_name();
        match symlink(old.join(&name), shown.join(&name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(mount_bind_recursive(shown, system)?)
}
