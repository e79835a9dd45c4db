// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of writing a bundle.

/// The compression of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// None. Loaders map the entries.
    None,
    /// Zstandard with long-distance matching, as LLVM compresses. Needs the feature `zstd-c`.
    Zstd {
        /// 1 to 22, or less than 0 for speed; LLVM's default is 3.
        level: i32,
    },
    /// zlib, for readers without zstd.
    Zlib {
        /// 0 to 9; LLVM's default is 6.
        level: u32,
    },
}

impl Compression {
    /// zstd as LLVM's tools write it.
    pub const ZSTD: Compression = Compression::Zstd { level: 3 };
    /// zlib as LLVM's tools write it.
    pub const ZLIB: Compression = Compression::Zlib { level: 6 };
}

/// Options of [`BundleWriter::write`](crate::BundleWriter::write). The default is the uncompressed output of clang's
/// HIP tool chain.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The alignment of every image in bytes: a power of two, at most 1 GiB. Default 4096.
    pub align: u64,
    /// The id of the empty host entry that comes first, which ROCm's loaders expect. `None` omits it, and so does an
    /// added host entry. Default `host-x86_64-unknown-linux-gnu-`.
    pub host: Option<String>,
    /// Default [`Compression::None`].
    pub compression: Compression,
    /// The version of a compressed bundle's header, 1 to 3. ROCm 6.4 and 7.0 write version 2 (the default), up to 4
    /// GiB. ROCm 7.1 and later write version 3, without that limit. Version 1 is obsolete.
    pub ccob_version: u16,
}

impl Default for WriteOptions {
    fn default() -> WriteOptions {
        WriteOptions {
            align: 4096,
            host: Some("host-x86_64-unknown-linux-gnu-".to_owned()),
            compression: Compression::None,
            ccob_version: 2,
        }
    }
}
