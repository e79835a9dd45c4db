// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of file formats: the first bytes of each, and how a reader may use the format.

use std::fmt;

use crate::error::Error;

/// The number of bytes at the start of a file that tell every format.
pub(crate) const HEAD: usize = 262;

/// A file format that its first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// A 64-bit little-endian ELF, for a GPU or for a host.
    Elf,
    /// An ELF of 32 bits, or a big-endian one.
    OtherElf,
    /// An uncompressed clang offload bundle.
    Bundle,
    /// A compressed clang offload bundle.
    Ccob,
    /// An LLVM offload binary.
    OffloadBinary,
    /// An IREE executable for the HIP driver (`HIP1`).
    IreeHip,
    /// An IREE executable for the AMDGPU driver (`AMD1`).
    IreeAmdgpu,
    /// A kpack archive.
    Kpack,
    /// A Debian package, which is an archive whose first member says so.
    Debian,
    /// An archive of objects (`ar`).
    Archive,
    /// An archive of objects that holds names and no contents.
    ThinArchive,
    /// A zip file.
    Zip,
    /// The wrapper by which a host program registers a bundle (`__hip_fatbin_wrapper`).
    HostWrapper,
    /// The wrapper that stands in a host program whose code lies in a kpack archive.
    KpackReference,
    /// SPIR-V.
    SpirV,
    /// LLVM bitcode.
    Bitcode,
    /// An RPM package.
    Rpm,
    /// A 7z archive.
    SevenZip,
    /// An uncompressed tar file.
    Tar,
    /// A text bundle, which clang writes for several targets between its stages, such as `.ll` and `.s`.
    TextBundle,
}

/// The places in which a format can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Anywhere: the headers state the size, so a start address is enough.
    Anywhere,
    /// In a file: the format ends at the end of the file.
    InFiles,
    /// Nowhere: the advice gives an alternative.
    Never,
}

/// A row of the table.
struct Row {
    format: Format,
    /// The offset of the magic in bytes.
    at: usize,
    magic: &'static [u8],
    name: &'static str,
    may_hold_code: bool,
    reads: Reads,
    /// Advice for a caller that expected a code object and has such a file.
    advice: &'static str,
}

const CODE: bool = true;
const NO_CODE: bool = false;

const TAKE_OUT: &str = "take it out and read it as a file of its own";
const BESIDE: &str = "read its members, which are files beside it";
const FOLLOW: &str = "give the bundle that its pointer leads to";
const IN_KPACK: &str = "its code lies in a .kpack file; open the library that it is part of";
const COMPILE: &str = "compile it for a GPU with clang --offload-arch=gfx...";
const TEXT: &str = "no GPU runs text; compile each target's part to a code object";

/// The rows are in the order of [`Format`]. The first match counts, so the longer of two magics with the same
/// beginning comes first.
#[rustfmt::skip]
const TABLE: [Row; 22] = {
    use Format::*;
    use Reads::{Anywhere, InFiles, Never};

    [
        row(Elf,           b"\x7fELF\x02\x01",         "an ELF",                      CODE,    Anywhere, TAKE_OUT),
        row(OtherElf,      b"\x7fELF",                 "a 32-bit or big-endian ELF",  NO_CODE, Anywhere, TAKE_OUT),
        row(Bundle,        b"__CLANG_OFFLOAD_BUNDLE__", "an offload bundle",           CODE,    Anywhere, TAKE_OUT),
        row(Ccob,          b"CCOB",                    "a compressed offload bundle", CODE,    Anywhere, TAKE_OUT),
        row(OffloadBinary, b"\x10\xff\x10\xad",        "an LLVM offload binary",      CODE,    Anywhere, TAKE_OUT),
        row(IreeHip,       b"HIP1",                    "an IREE HIP executable",      CODE,    Anywhere, TAKE_OUT),
        row(IreeAmdgpu,    b"AMD1",                    "an IREE AMDGPU executable",   CODE,    Anywhere, TAKE_OUT),
        row(Kpack,         b"KPAK",                    "a kpack archive",             CODE,    InFiles,  TAKE_OUT),
        row(Debian,        b"!<arch>\ndebian-binary",  "a Debian package",            CODE,    Never,    "unpack it with `dpkg-deb -x`"),
        row(Archive,       b"!<arch>\n",               "an archive of objects",       CODE,    InFiles,  TAKE_OUT),
        row(ThinArchive,   b"!<thin>\n",               "a thin archive of objects",   NO_CODE, InFiles,  BESIDE),
        row(Zip,           b"PK\x03\x04",              "a zip file",                  NO_CODE, InFiles,  "unpack it with `unzip`"),
        row(HostWrapper,   b"FPIH",                    "a HIPF wrapper",              NO_CODE, Anywhere, FOLLOW),
        row(KpackReference, b"HIPK",                   "a kpack reference",           NO_CODE, Never,    IN_KPACK),
        row(SpirV,         b"\x03\x02\x23\x07",        "SPIR-V",                      NO_CODE, Never,    COMPILE),
        row(Bitcode,       b"BC\xc0\xde",              "LLVM bitcode",                NO_CODE, Never,    "link it with clang for a GPU"),
        row(Rpm,           b"\xed\xab\xee\xdb",        "an RPM package",              NO_CODE, Never,    "unpack it with `rpm2cpio` and `cpio`"),
        row(SevenZip,      b"7z\xbc\xaf\x27\x1c",      "a 7z archive",                NO_CODE, Never,    "unpack it first"),
        Row { at: 257, ..
        row(Tar,           b"ustar",                   "a tar file",                  NO_CODE, Never,    "unpack it with `tar -xf`") },
        row(TextBundle,    b"\n# __CLANG_OFFLOAD_BUNDLE__",  "a text bundle",         NO_CODE, Never,    TEXT),
        row(TextBundle,    b"\n; __CLANG_OFFLOAD_BUNDLE__",  "a text bundle",         NO_CODE, Never,    TEXT),
        row(TextBundle,    b"\n// __CLANG_OFFLOAD_BUNDLE__", "a text bundle",         NO_CODE, Never,    TEXT),
    ]
};

const fn row(
    format: Format,
    magic: &'static [u8],
    name: &'static str,
    may_hold_code: bool,
    reads: Reads,
    advice: &'static str,
) -> Row {
    Row { format, at: 0, magic, name, may_hold_code, reads, advice }
}

impl Format {
    /// The format of a file that begins with `head`. 262 bytes tell all formats, 64 all that may hold code.
    pub fn of(head: &[u8]) -> Option<Format> {
        let row = TABLE.iter().find(|row| head.get(row.at..).is_some_and(|rest| rest.starts_with(row.magic)));
        row.map(|row| row.format)
    }

    /// The format whose magic begins with these four bytes, for memory of unknown length. The shortest magic counts;
    /// its reader checks the rest.
    pub fn at_address(head: [u8; 4]) -> Option<Format> {
        let begins = |row: &&Row| row.at == 0 && row.magic.starts_with(&head);
        TABLE.iter().filter(begins).min_by_key(|row| row.magic.len()).map(|row| row.format)
    }

    /// Whether [`File::parse`](crate::File::parse) may find code in a file with such a beginning. False for zip files,
    /// which may hold anything.
    pub fn may_hold_code(self) -> bool {
        self.row().may_hold_code
    }

    /// Whether this is a bundle or an offload binary, several of which may stand in a row.
    pub(crate) fn is_bundle(self) -> bool {
        matches!(self, Format::Bundle | Format::Ccob | Format::OffloadBinary)
    }

    /// Whether this is an ELF of any kind.
    pub(crate) fn is_elf(self) -> bool {
        matches!(self, Format::Elf | Format::OtherElf)
    }

    /// The magic. It is at the start, except for [`Tar`](Format::Tar).
    pub(crate) fn magic(self) -> &'static [u8] {
        self.row().magic
    }

    /// The name with an article, as in "a tar file".
    pub(crate) fn name(self) -> &'static str {
        self.row().name
    }

    /// Advice for a caller that expected a code object and has such a file.
    pub(crate) fn advice(self) -> &'static str {
        self.row().advice
    }

    /// The error for a file of this format at `offset`, in a place where the format is not read.
    pub(crate) fn refused(self, offset: u64) -> Error {
        Error::unsupported(self.name(), offset, self.advice())
    }

    /// The error for a container of files in a build without the feature `carriers`.
    #[cfg(not(feature = "carriers"))]
    pub(crate) fn is_not_built_in(self, offset: u64) -> Error {
        let advice = "this build does not look into it; enable the feature `carriers` of windlass or windlass-codeobject";
        Error::unsupported(self.name(), offset, advice)
    }

    /// The error for this format at an address, if the size cannot be determined.
    pub(crate) fn refused_at_address(self) -> Error {
        if self.row().reads == Reads::Never {
            return self.refused(0);
        }
        let advice = "its size is not in its header; read it as a file, or give its bytes";
        Error::unsupported(format!("{} at an address", self.name()), 0, advice)
    }

    /// The first row of this format.
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether [`File::parse`](crate::File::parse) may find code in a file that begins with `head`: a 64-bit ELF, an
/// archive, a bundle, an offload binary, a kpack archive or an IREE executable. Sixty-four bytes are enough. False for
/// zip files, which may hold anything.
pub fn may_hold_code(head: &[u8]) -> bool {
    Format::of(head).is_some_and(Format::may_hold_code)
}

/// Whether a bundle or an offload binary begins here.
pub(crate) fn begins_bundle(head: &[u8]) -> bool {
    Format::of(head).is_some_and(Format::is_bundle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_where_its_format_looks_for_it() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.format as usize, index.min(Format::TextBundle as usize), "{}", row.name);
            let head = [&vec![0; row.at], row.magic].concat();
            assert_eq!(Format::of(&head), Some(row.format), "an earlier row begins as {} does", row.name);
            assert!(head.len() <= HEAD && (!row.may_hold_code || head.len() <= 64), "{}", row.name);
        }
    }

    #[test]
    fn four_bytes_tell_the_shortest_magic() {
        assert_eq!(Format::at_address(*b"\x7fELF"), Some(Format::OtherElf));
        assert_eq!(Format::at_address(*b"!<ar"), Some(Format::Archive));
        assert_eq!(Format::at_address(*b"__CL"), Some(Format::Bundle));
        assert_eq!(Format::at_address(*b"CCO\0"), None);
    }

    #[test]
    fn what_may_hold_code_can_be_read() {
        for row in TABLE.iter().filter(|row| row.may_hold_code) {
            assert!(row.reads != Reads::Never || row.format == Format::Debian, "{}", row.name);
        }
    }
}
