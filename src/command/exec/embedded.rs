// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator's libraries that this command has in itself. They are unpacked into a private folder, which no program
//! searches for libraries.

use std::{
    env, fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use super::super::failure::{Failure, Outcome};

include!(concat!(env!("OUT_DIR"), "/embedded_libraries.rs"));

/// The folder with the libraries, unpacked when this is called for the first time. `None` if the command has none.
pub(super) fn folder() -> Outcome<Option<PathBuf>> {
    if PACKED.is_empty() {
        return Ok(None);
    }
    let folder = cache()?.join("windlass").join(NAME);
    let unpacked = private(&folder)
        .and_then(|()| PACKED.iter().try_for_each(|(name, packed)| unpack(packed, &folder.join(name))));
    match unpacked {
        Ok(()) => Ok(Some(folder)),
        Err(error) => Err(Failure::failed(format!(
            "cannot unpack the simulator's libraries into {}: {error}; XDG_CACHE_HOME names another folder",
            folder.display()
        ))),
    }
}

/// The folder in which programs of this user keep files that they can make again.
fn cache() -> Outcome<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache"))).ok_or_else(|| {
        Failure::input(
            "no folder for the simulator's libraries: set XDG_CACHE_HOME or HOME, or name one by --library",
        )
    })
}

/// Makes a folder for this user alone. Refuses one into which another user may write.
fn private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let found = fs::symlink_metadata(folder)?;
    if found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(io::Error::other("other users may write there"))
}

/// Writes a library, unless it is there.
fn unpack(packed: &[u8], path: &Path) -> io::Result<()> {
    if path.is_file() {
        return Ok(());
    }
    let bytes = zstd::decode_all(packed)?;
    // Two commands may do this at once, so the file gets its name when it is whole.
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&bytes)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_into_which_others_may_write_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let open = root.path().join("open");
        fs::create_dir(&open).expect("a folder");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("a mode");
        assert!(private(&open).is_err());
        let elsewhere = root.path().join("link");
        std::os::unix::fs::symlink(root.path(), &elsewhere).expect("a link");
        assert!(private(&elsewhere).is_err(), "a link may lead to a folder of another user");
        let own = root.path().join("a/b");
        private(&own).expect("a new folder");
        assert_eq!(fs::metadata(&own).expect("it is there").mode() & 0o777, 0o700);
    }

    #[test]
    fn a_library_is_unpacked_once() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("library.so");
        let packed = zstd::encode_all(&b"bytes"[..], 3).expect("packs");
        unpack(&packed, &path).expect("unpacks");
        assert_eq!(fs::read(&path).expect("it is there"), b"bytes");
        unpack(b"not read again", &path).expect("it is there already");
        assert!(unpack(b"damaged", &root.path().join("other.so")).is_err());
        assert_eq!(fs::read_dir(root.path()).expect("reads").count(), 1, "nothing else is left");
    }
}
