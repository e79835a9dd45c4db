// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packages and archives of whole file trees, which are recognized and not read.

use std::path::Path;

use crate::error::Error;
use crate::words::magic::Format;

/// A file such as a tar file, which its owner must unpack first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Package {
    /// Its name with an article.
    pub what: &'static str,
    /// How to unpack it.
    pub advice: &'static str,
}

impl Package {
    const CONDA: Package = Package { what: "a conda package", advice: "unpack it with `cph extract`" };
    /// The file name endings of tar files. The bytes of a compressed tar file do not show its content.
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

    /// The kind of package, by the first 512 bytes and the name of a file. `None` for any other file.
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

    /// The kind of package by the file name alone: a tar file, compressed or not.
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
