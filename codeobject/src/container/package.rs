// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packages and archives of whole file trees, which are named and not looked into.

use std::path::Path;

use crate::container::magic::Format;
use crate::error::Error;

/// A file of files that is not looked into, such as a tar file: its owner unpacks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Package {
    /// Its name with an article.
    pub what: &'static str,
    /// How to get at the files in it.
    pub advice: &'static str,
}

impl Package {
    const CONDA: Package = Package { what: "a conda package", advice: "unpack it with `cph extract`" };
    /// The endings of tar files' names. The bytes of a compressed one tell nothing until it is unpacked.
    const TAR_ENDINGS: [&str; 12] = [
        ".tar",
        ".tar.gz",
        ".tgz",
        ".tar.bz2",
        ".tbz2",
        ".tbz",
        ".tar.xz",
        ".txz",
        ".tar.zst",
        ".tzst",
        ".tar.lz4",
        ".tar.lzma",
    ];

    /// The package that a file is by its first 512 bytes and its name; `None` for a file that may be read, and for an
    /// unknown one.
    pub fn of(head: &[u8], path: impl AsRef<Path>) -> Option<Package> {
        let path = path.as_ref();
        match Format::of(head) {
            Some(format @ (Format::Debian | Format::Rpm | Format::SevenZip | Format::Tar)) => {
                Some(Package::by_format(format))
            }
            // A conda package is a zip file of two tar files.
            Some(Format::Zip) => {
                path.extension().is_some_and(|ending| ending == "conda").then_some(Package::CONDA)
            }
            Some(format) if format.may_hold_code() => None,
            _ if head.is_empty() => None,
            _ => Package::by_name(&path.to_string_lossy()),
        }
    }

    /// The package that a file is by its name alone: a tar file, compressed or not.
    pub fn by_name(name: &str) -> Option<Package> {
        let name = name.to_ascii_lowercase();
        let is_tar = Package::TAR_ENDINGS.iter().any(|ending| name.ends_with(ending));
        is_tar.then(|| Package::by_format(Format::Tar))
    }

    fn by_format(format: Format) -> Package {
        Package { what: format.name(), advice: format.advice() }
    }

    /// The error for a package at `offset` of its file.
    pub(crate) fn error(self, offset: u64) -> Error {
        Error::unsupported(self.what, offset, self.advice)
    }
}
