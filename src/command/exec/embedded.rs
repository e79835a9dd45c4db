// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator's libraries that this command has in itself. They are unpacked into a private folder, which no program
//! searches for libraries.

use std::{
    env, fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use super::{
    super::failure::{Failure, Outcome},
    trust::Trust,
};
use crate::command::escape;

include!(concat!(env!("OUT_DIR"), "/embedded_libraries.rs"));

/// The folder with the libraries, unpacked when this is called for the first time. `None` if the command has none.
pub(super) fn folder() -> Outcome<Option<PathBuf>> {
    if PACKED.is_empty() {
        return Ok(None);
    }
    unpack_all(PACKED, &caches()).map(Some)
}

/// Unpacks the libraries into the first folder that can have them.
fn unpack_all(packed: &[(&str, &[u8])], caches: &[PathBuf]) -> Outcome<PathBuf> {
    let mut refused = Vec::new();
    for cache in caches {
        let folder = cache.join(NAME);
        let unpacked = private(cache)
            .and_then(|()| Trust::of_user().check_place(cache))
            .and_then(|()| private(&folder))
            .and_then(|()| packed.iter().try_for_each(|(name, packed)| unpack(packed, &folder.join(name))));
        match unpacked {
            Ok(()) => return Ok(folder),
            Err(error) => refused.push(format!("{}: {error}", escape::path(&folder))),
        }
    }
    Err(Failure::input(format!(
        "cannot unpack the simulator's libraries into {}; XDG_CACHE_HOME and TMPDIR name other folders, and --library names the \
         libraries",
        refused.join(", nor into ")
    )))
}

/// The folders that may hold the libraries: that of files which this user's programs can make again, then that of temporary
/// files, where the folder has the user's number as other users need one too.
fn caches() -> Vec<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    if let Some(home) = &home {
        // If it cannot be made, the folder in it cannot either, and that error is told. A folder for temporary files is not
        // made, because a wrong TMPDIR is a mistake.
        let _ = fs::DirBuilder::new().recursive(true).mode(0o700).create(home);
    }
    let temporary = format!("windlass-{}", rustix::process::geteuid().as_raw());
    home.map(|home| home.join("windlass")).into_iter().chain([env::temp_dir().join(temporary)]).collect()
}

/// Makes a folder for this user alone. Refuses one into which another user may write.
fn private(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    let found = fs::symlink_metadata(folder)?;
    if found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(io::Error::other("other users may write there"))
}

/// Writes a library, unless it is there. One that was cut or changed is replaced, because programs that load it would die
/// of it.
fn unpack(packed: &[u8], path: &Path) -> io::Result<()> {
    let bytes = zstd::decode_all(packed)?;
    let is_whole = fs::symlink_metadata(path).is_ok_and(|it| it.is_file() && it.len() == bytes.len() as u64)
        && fs::read(path).is_ok_and(|found| found == bytes);
    if is_whole {
        return Ok(());
    }
    // Two commands may do this at once, so the file gets its name when it is whole.
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&bytes)?;
    // Otherwise the name may last through a loss of power, and the bytes not.
    file.as_file().sync_all()?;
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
        assert!(private(&root.path().join("a/b")).is_err(), "only the last folder is made");
        let own = root.path().join("a");
        private(&own).expect("a new folder");
        assert_eq!(fs::metadata(&own).expect("it is there").mode() & 0o777, 0o700);
    }

    #[test]
    fn a_place_that_another_user_could_exchange_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let shared = root.path().join("shared");
        fs::create_dir(&shared).expect("a folder");
        let cache = shared.join("windlass");
        private(&cache).expect("a new folder");
        let packed = zstd::encode_all(&b"bytes"[..], 3).expect("packs");
        let unpack = || unpack_all(&[("library.so", &*packed)], std::slice::from_ref(&cache));
        for (mode, serves) in [(0o777, false), (0o1777, true), (0o755, true)] {
            fs::set_permissions(&shared, fs::Permissions::from_mode(mode)).expect("a mode");
            assert_eq!(unpack().is_ok(), serves, "{mode:o}");
        }
    }

    #[test]
    fn another_folder_serves_where_the_first_cannot() {
        let root = tempfile::tempdir().expect("a folder");
        let packed = zstd::encode_all(&b"bytes"[..], 3).expect("packs");
        let libraries = [("library.so", &*packed)];
        let file = root.path().join("file");
        fs::write(&file, "").expect("a file");
        // A home that cannot be written, also by root.
        let caches = [file.join("windlass"), root.path().join("windlass-1000")];
        let folder = unpack_all(&libraries, &caches).expect("the second folder");
        assert_eq!(folder, caches[1].join(NAME));
        assert_eq!(fs::read(folder.join("library.so")).expect("it is there"), b"bytes");
        let failure = unpack_all(&libraries, &caches[..1]).expect_err("no folder");
        assert!(failure.message().contains("XDG_CACHE_HOME and TMPDIR"), "{}", failure.message());
    }

    #[test]
    fn a_library_is_unpacked_once() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("library.so");
        let packed = zstd::encode_all(&b"bytes"[..], 3).expect("packs");
        unpack(&packed, &path).expect("unpacks");
        assert_eq!(fs::read(&path).expect("it is there"), b"bytes");
        let inode = || fs::metadata(&path).expect("it is there").ino();
        let first = inode();
        unpack(&packed, &path).expect("it is there already");
        assert_eq!(inode(), first);
        for damage in [&b"by"[..], b"bites", b""] {
            fs::write(&path, damage).expect("a write");
            unpack(&packed, &path).expect("unpacks again");
            assert_eq!(fs::read(&path).expect("it is there"), b"bytes");
        }
        assert!(unpack(b"damaged", &root.path().join("other.so")).is_err());
        assert_eq!(fs::read_dir(root.path()).expect("reads").count(), 1, "nothing else is left");
    }
}
