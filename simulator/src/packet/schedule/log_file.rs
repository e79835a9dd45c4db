// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file that a schedule is written to. Several simulators may use one name, and none overwrites the log of another:
//! the newest takes the name, and the older file gets a number behind its name.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::tally::{self, Count};

/// The names under which this process has begun logs.
static BEGUN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Begins a log. If a simulator of this process, or of this run of `windlass exec`, has begun a log under the same
/// name, or if a process still writes to it, that log is moved to the first free one of `NAME.1`, `NAME.2` and so on. A
/// log of an earlier run is replaced.
pub(super) fn create(path: &Path) -> io::Result<File> {
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    let own = std::path::absolute(path)?;
    // Each process of such a run has one simulator, and all processes share one count.
    let is_first = tally::count_and_get(Count::Recording).unwrap_or(0) == 0 && !begun.contains(&own);
    if !is_first {
        move_away(path)?;
    }
    let mut file = open(path)?;
    if is_held(&file) {
        move_away(path)?;
        file = open(path)?;
        is_held(&file);
    }
    file.set_len(0)?;
    begun.insert(own);
    Ok(file)
}

/// Checks that a log can be begun under a name. Neither changes an existing file nor leaves a new one.
///
/// # Errors
/// The reason why it cannot.
pub(super) fn check(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is not a regular file")),
        Ok(_) => OpenOptions::new().write(true).open(path).map(drop),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            OpenOptions::new().write(true).create_new(true).open(path)?;
            std::fs::remove_file(path)
        }
        Err(error) => Err(error),
    }
}

fn open(path: &Path) -> io::Result<File> {
    // Not truncated yet: another process may write to it.
    OpenOptions::new().write(true).create(true).truncate(false).open(path)
}

/// Gives the file the first free number. Its writer is not disturbed.
fn move_away(path: &Path) -> io::Result<()> {
    for number in 1_u64.. {
        let mut name = OsString::from(path);
        name.push(format!(".{number}"));
        match rename(path, Path::new(&name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            outcome => return outcome,
        }
    }
    Ok(())
}

/// Renames a file, unless the new name is taken.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Not every file system supports it.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            outcome => return Ok(outcome?),
        }
    }
    if to.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(from, to)
}

/// Locks the file for as long as it is open. True if another process holds the lock.
#[cfg(target_os = "linux")]
fn is_held(file: &File) -> bool {
    use rustix::fs::{FlockOperation, flock};
    // A file system without locks never holds one.
    flock(file, FlockOperation::NonBlockingLockExclusive) == Err(rustix::io::Errno::WOULDBLOCK)
}

#[cfg(not(target_os = "linux"))]
fn is_held(_file: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_changes_nothing() {
        let folder = std::env::temp_dir().join(format!("windlass-log-check-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (log, kept) = (folder.join("log"), folder.join("kept"));
        std::fs::write(&kept, "lines").unwrap();
        assert!(check(&log).is_ok() && !log.exists());
        assert!(check(&kept).is_ok() && std::fs::read(&kept).unwrap() == b"lines");
        assert!(check(&folder).is_err() && check(&folder.join("none/log")).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
