// SPDX-License-Identifier: MIT OR Apache-2.0
//! The private folder of one compilation, which goes when it is dropped.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

/// How many folders a header's name may leave by `..`.
const DEPTH: usize = 8;

pub(crate) struct Folder {
    root: TempDir,
    sources: PathBuf,
}

impl Folder {
    pub(crate) fn new() -> io::Result<Self> {
        let outer = std::path::absolute(std::env::temp_dir())?;
        let root = tempfile::Builder::new().prefix("windlass-rtc-").tempdir_in(outer)?;
        let mut sources = root.path().join("sources");
        for _ in 0..DEPTH {
            sources.push("s");
        }
        fs::create_dir_all(&sources)?;
        Ok(Self { root, sources })
    }

    /// A path for what a compiler writes.
    pub(crate) fn output(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// clang's options that give files their names as the caller knows them: in `__FILE__`, in messages of `assert`, and
    /// in debug information.
    pub(crate) fn names(&self) -> [String; 2] {
        let own = self.root.path().join("own");
        [&self.sources, &own].map(|folder| format!("-ffile-prefix-map={}/=", folder.display()))
    }

    /// The folder of the source and of its headers.
    pub(crate) fn sources(&self) -> &Path {
        &self.sources
    }

    /// Writes a file beside the source. A relative name may leave the source's folder by `..`, as far as the private folder goes.
    pub(crate) fn write_source(&self, name: &str, text: &[u8]) -> io::Result<PathBuf> {
        let refused = |why: &str| Err(io::Error::other(format!("the name `{name}` {why}")));
        let mut above = 0;
        let mut depth = 0;
        let mut path = self.sources.clone();
        for component in Path::new(name).components() {
            match component {
                Component::Normal(part) => {
                    path.push(part);
                    depth += 1;
                }
                Component::CurDir => {}
                Component::ParentDir if depth > 0 => {
                    path.pop();
                    depth -= 1;
                }
                Component::ParentDir => {
                    above += 1;
                    if above > DEPTH {
                        return refused("has too many `..`");
                    }
                    path.pop();
                }
                Component::RootDir | Component::Prefix(_) => return refused("is not relative"),
            }
        }
        if depth == 0 {
            return refused("names no file");
        }
        write(&path, text)?;
        Ok(path)
    }

    /// A folder for a compiler's temporary files.
    pub(crate) fn temporary(&self) -> &Path {
        self.root.path()
    }

    /// Writes a file of the folder for hipRTC's own headers, and returns that folder.
    pub(crate) fn write_own(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let own = self.root.path().join("own");
        write(&own.join(name), text.as_bytes())?;
        Ok(own)
    }

    /// A message of a compiler without this folder's path.
    pub(crate) fn strip(&self, message: &str) -> String {
        let mut message = message.to_owned();
        for path in [&self.sources, &self.root.path().join("own"), &self.root.path().to_path_buf()] {
            message = message.replace(&format!("{}/", path.display()), "");
        }
        message
    }
}

fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}
