// SPDX-License-Identifier: MIT OR Apache-2.0
//! Formats that carry GPU code and are not read here: each is known by name, so that an error can say what to do.

use std::path::Path;

use crate::container::zip::ZIP_MAGIC;
use crate::error::Error;
use crate::file::walk::may_hold_code;

/// (magic, name, advice)
const MAGICS: &[(&[u8], &str, &str)] = &[
    (b"HIPK", "a kpack reference", "its code lies in a .kpack file; open the library that it is part of"),
    (b"\x03\x02\x23\x07", "SPIR-V", "compile it for a GPU with clang --offload-arch=gfx..."),
    (b"BC\xc0\xde", "LLVM bitcode", "link it with clang for a GPU"),
];

/// Succeeds where `bytes`, which lie at `offset` of their file, are of no format that is known not to be read.
pub(crate) fn refuse(bytes: &[u8], offset: u64) -> Result<(), Error> {
    for (magic, name, advice) in MAGICS {
        if bytes.starts_with(magic) {
            return Err(Error::unsupported(*name, offset, *advice));
        }
    }
    Package::by_content(bytes).map_or(Ok(()), |package| Err(package.error(offset)))
}

/// A file of files that is not looked into, such as a tar file: its owner unpacks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Package {
    /// What it is.
    pub what: &'static str,
    /// How to get at the files in it.
    pub advice: &'static str,
}

impl Package {
    pub(crate) const DEBIAN: Package =
        Package { what: "a Debian package", advice: "unpack it with `dpkg-deb -x`" };
    const RPM: Package = Package { what: "an RPM package", advice: "unpack it with `rpm2cpio` and `cpio`" };
    const SEVEN_ZIP: Package = Package { what: "a 7z archive", advice: "unpack it first" };
    const CONDA: Package = Package { what: "a conda package", advice: "unpack it with `cph extract`" };
    const TAR: Package = Package { what: "a tar file", advice: "unpack it with `tar -xf`" };
    /// How packages begin.
    const MAGICS: [(&[u8], Package); 3] = [
        (b"!<arch>\ndebian-binary", Package::DEBIAN),
        (b"\xed\xab\xee\xdb", Package::RPM),
        (b"7z\xbc\xaf\x27\x1c", Package::SEVEN_ZIP),
    ];
    /// Where a tar file says that it is one, and how.
    const TAR_MAGIC: (usize, &[u8]) = (257, b"ustar");
    /// How names of tar files end. What is compressed tells nothing else until it is unpacked.
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

    /// What a file is by its first bytes, of which 512 are enough, and its name; `None` for what may be read, and for
    /// what nobody knows.
    pub fn of(head: &[u8], path: impl AsRef<Path>) -> Option<Package> {
        let path = path.as_ref();
        let is_zip = head.starts_with(ZIP_MAGIC);
        Package::by_content(head).or_else(|| match () {
            // A zip file of two tar files.
            () if is_zip => {
                path.extension().is_some_and(|ending| ending == "conda").then_some(Package::CONDA)
            }
            () if head.is_empty() || may_hold_code(head) => None,
            () => Package::by_name(&path.to_string_lossy()),
        })
    }

    /// What a file is by its name alone: a tar file, compressed or not.
    pub fn by_name(name: &str) -> Option<Package> {
        let name = name.to_ascii_lowercase();
        Package::TAR_ENDINGS.iter().any(|ending| name.ends_with(ending)).then_some(Package::TAR)
    }

    fn by_content(bytes: &[u8]) -> Option<Package> {
        let known = Package::MAGICS.iter().find(|(magic, _)| bytes.starts_with(magic));
        let (at, magic) = Package::TAR_MAGIC;
        let is_tar = || !may_hold_code(bytes) && bytes.get(at..).is_some_and(|rest| rest.starts_with(magic));
        known.map(|(_, package)| *package).or_else(|| is_tar().then_some(Package::TAR))
    }

    /// The error for one that lies at `offset` of its file.
    pub(crate) fn error(self, offset: u64) -> Error {
        Error::unsupported(self.what, offset, self.advice)
    }
}

/// Succeeds where `magic`, which lies at an address, begins no format that is read from files alone, because nothing in
/// it tells its size.
pub(crate) fn refuse_unsized(magic: &[u8]) -> Result<(), Error> {
    let name = match magic {
        b"KPAK" => "a kpack archive at an address",
        b"!<ar" | b"!<th" => "an archive of objects at an address",
        b"PK\x03\x04" => "a zip file at an address",
        _ => return Ok(()),
    };
    Err(Error::unsupported(name, 0, "its size is not in its header; read it as a file, or give its bytes"))
}

/// What an image is that no GPU runs, where its first bytes tell, and what to do with it.
pub(crate) fn image(bytes: &[u8]) -> Option<&'static str> {
    const IMAGES: &[(&[u8], &str)] = &[
        (b"BC\xc0\xde", "it is LLVM bitcode; link it for the GPU first"),
        (
            b"\x03\x02\x23\x07",
            "it is SPIR-V, which must first be compiled for the GPU; build for the GPU's target",
        ),
        (b"CCOB", "it is a compressed offload bundle; take it out and read it as a file of its own"),
        (
            b"__CLANG_OFFLOAD_BUNDLE__",
            "it is an offload bundle; take it out and read it as a file of its own",
        ),
        (b"\x10\xff\x10\xad", "it is an LLVM offload binary; take it out and read it as a file of its own"),
    ];
    IMAGES.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, what)| *what)
}
