// SPDX-License-Identifier: MIT OR Apache-2.0
//! The locks that keep two runs from one GPU: a file for each UUID, locked as long as the run has the device.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use windlass_hal::DeviceInfo;

use super::regular;
use crate::{interrupt, options::Options, summary::Problem};

/// The same for all users and jobs of a machine, unlike `TMPDIR`.
const FOLDER: &str = "/tmp";
/// The time between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// The locks of a device, one for each of its GPUs. They end with this value, and with the process.
pub(super) struct DeviceLock {
    #[expect(dead_code, reason = "the files are locked as long as they are open")]
    files: Vec<File>,
}

/// Locks the GPUs of a device. Simulated devices and devices without a UUID need no lock. `wait` is called once with the
/// file of another run's lock.
pub(super) fn lock(
    device: &DeviceInfo,
    options: &Options,
    wait: &mut dyn FnMut(&Path) -> io::Result<()>,
) -> io::Result<Result<DeviceLock, Problem>> {
    let mut files = Vec::new();
    let deadline = Instant::now() + options.lock_timeout;
    let mut told = false;
    for path in paths(device, options) {
        let named = |error: io::Error| {
            // In a folder like /tmp, another user may have put anything there.
            let remedy = if error.kind() == io::ErrorKind::InvalidInput { "remove it, or " } else { "" };
            Problem::Broken(format!(
                "the lock {} cannot be opened: {error}; {remedy}name another folder with --lock-dir",
                path.display()
            ))
        };
        let file = match open(&path) {
            Ok(file) => file,
            Err(error) => return Ok(Err(named(error))),
        };
        loop {
            match try_lock(&file) {
                Ok(true) => break,
                Err(error) => return Ok(Err(named(error))),
                Ok(false) => {}
            }
            if !told && !options.lock_timeout.is_zero() {
                wait(&path)?;
                told = true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || interrupt::signal().is_some() {
                return Ok(Err(Problem::Busy(format!(
                    "another run holds {} for longer than the {} s of --lock-timeout",
                    path.display(),
                    options.lock_timeout.as_secs_f64()
                ))));
            }
            thread::sleep(PAUSE.min(left));
        }
        files.push(file);
    }
    Ok(Ok(DeviceLock { files }))
}

/// The files of a device's GPUs. Their order is the same in each run, so that two runs over several GPUs do not wait for
/// each other.
fn paths(device: &DeviceInfo, options: &Options) -> Vec<PathBuf> {
    if device.simulated || options.child || options.probe {
        return Vec::new();
    }
    let folder = options.lock_dir.as_deref().unwrap_or(Path::new(FOLDER));
    let safe = |uuid: &str| -> String {
        uuid.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
    };
    let uuids = device.uuid.iter().flat_map(|uuids| uuids.split(','));
    let mut paths: Vec<_> = uuids.map(|uuid| folder.join(format!("windlass-{}.lock", safe(uuid)))).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// A file of another user can be locked without permission to write, but in folders like /tmp not opened for creation.
fn open(path: &Path) -> io::Result<File> {
    let found = || regular::open_itself(File::options().read(true), path);
    match found() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match File::options().write(true).create_new(true).open(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => found(),
                created => created.inspect(let_others_read),
            }
        }
        opened => opened,
    }
}

/// Other users open the file to lock it, even if this user's new files are private.
fn let_others_read(file: &File) {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        // Without it, those users get an error that names the file.
        let _ = file.set_permissions(mode);
    }
    #[cfg(not(unix))]
    let _ = file;
}

/// Locks an open file. False if another process, or another opening of this one, has locked it.
#[cfg(unix)]
pub(super) fn try_lock(file: &File) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Runs are not kept apart on systems that Windlass has no GPUs on.
#[cfg(not(unix))]
pub(super) fn try_lock(_: &File) -> io::Result<bool> {
    Ok(true)
}
