// SPDX-License-Identifier: MIT OR Apache-2.0
//! The users who may put a library where this command looks for one. Programs run its code, as root perhaps.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::super::escape;

/// The users whose libraries are taken.
pub(super) struct Trust(Vec<u32>);

impl Trust {
    /// Root, this user, and the owner of the command. The owner could as well change the command, and is neither of the
    /// others where a container sees the checkout of the machine's user.
    pub(super) fn of_command(command: &Path) -> Self {
        let owner = fs::metadata(command).map(|command| command.uid()).ok();
        Self([0, rustix::process::geteuid().as_raw()].into_iter().chain(owner).collect())
    }

    /// Root and this user.
    pub(super) fn of_user() -> Self {
        Self(vec![0, rustix::process::geteuid().as_raw()])
    }

    /// Refuses a folder if another user may put another one in its place: if others may write to a folder above it. They
    /// may write to a sticky one, as `/tmp` is, where nobody else can move it away.
    pub(super) fn check_place(&self, folder: &Path) -> io::Result<()> {
        let folder = fs::canonicalize(folder)?;
        for above in folder.ancestors().skip(1) {
            let found = fs::metadata(above)?;
            let sticky = found.mode() & 0o1000 != 0;
            let mode = if sticky { 0 } else { found.mode() };
            if let Some(reason) = self.doubt_of(found.uid(), found.gid(), mode) {
                return Err(io::Error::other(format!("{}: {reason}", escape::path(above))));
            }
        }
        Ok(())
    }

    /// The real path of the file `name` in a folder. `None` if there is none, or if another user may have put it there; then
    /// `doubts` gets the reason.
    pub(super) fn find(&self, folder: &Path, name: &str, doubts: &mut Vec<String>) -> Option<PathBuf> {
        let path = fs::canonicalize(folder.join(name)).ok()?;
        let folders = [fs::canonicalize(folder).ok()?, path.parent()?.to_owned()];
        let doubt = folders.iter().chain([&path]).find_map(|part| Some((part, self.doubt(part)?)));
        let Some((part, reason)) = doubt else { return Some(path) };
        let doubt = format!("{}: {reason}", escape::path(part));
        tracing::warn!(target: "windlass::exec", "{name} is passed over. {doubt}");
        if !doubts.contains(&doubt) {
            doubts.push(doubt);
        }
        None
    }

    fn doubt(&self, path: &Path) -> Option<String> {
        match fs::metadata(path) {
            Ok(found) => self.doubt_of(found.uid(), found.gid(), found.mode()),
            Err(error) => Some(error.to_string()),
        }
    }

    /// The systems that give each user a group alone give it the number of the user, and then set the umask 002. Source:
    /// `USERGROUPS_ENAB` in login.defs(5). Such a group may write.
    fn doubt_of(&self, owner: u32, group: u32, mode: u32) -> Option<String> {
        if !self.0.contains(&owner) {
            Some(format!("it belongs to the user {owner}"))
        } else if mode & 0o002 != 0 {
            Some("every user may write there".to_owned())
        } else if mode & 0o020 != 0 && group != owner {
            Some(format!("the group {group} may write there"))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_and_their_groups_are_doubted() {
        let trust = Trust(vec![0, 1000]);
        for (owner, group, mode) in
            [(1000, 1000, 0o755), (1000, 1000, 0o775), (0, 0, 0o775), (1000, 100, 0o755)]
        {
            assert_eq!(trust.doubt_of(owner, group, mode), None);
        }
        for (owner, group, mode) in [
            (1001, 1001, 0o755),
            (1001, 1000, 0o700),
            (1000, 100, 0o775),
            (0, 1000, 0o775),
            (0, 0, 0o1777),
            (1000, 1000, 0o757),
        ] {
            assert!(trust.doubt_of(owner, group, mode).is_some(), "{owner} {group} {mode:o}");
        }
    }
}
