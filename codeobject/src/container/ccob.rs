// SPDX-License-Identifier: MIT OR Apache-2.0
//! The header of a compressed bundle (CCOB), versions 1 to 3.

use md5::{Digest, Md5};

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::error::Error;
use crate::words::method::Method;

/// The hash in the header of a compressed bundle: the first eight bytes of the MD5.
pub(crate) fn md5_head(content: &[u8]) -> u64 {
    let digest: [u8; 16] = Md5::digest(content).into();
    let [head, _] = *digest.as_chunks::<8>().0 else { return 0 };
    u64::from_le_bytes(head)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CcobHeader {
    pub(crate) version: u16,
    pub(crate) method: Method,
    /// Size in bytes, header included; version 1 does not state it.
    pub(crate) stored_size: Option<u64>,
    pub(crate) unpacked_size: u64,
    /// The first eight bytes of the MD5 of the unpacked bytes.
    pub(crate) hash: u64,
    pub(crate) header_size: u64,
}

impl CcobHeader {
    /// The size of the header of a version, in bytes.
    pub(crate) fn size_of(version: u16, offset: u64) -> Result<u64, Error> {
        match version {
            1 => Ok(20),
            2 => Ok(24),
            3 => Ok(32),
            _ => Err(Error::unsupported(
                format!("the compressed bundle (CCOB v{version})"),
                offset,
                "v1 to v3 are read; set COMPRESSED_BUNDLE_FORMAT_VERSION=3 for the compiler that made it",
            )),
        }
    }

    /// Reads the header at the start of `data`, which lies at `offset` of its file.
    pub(crate) fn read(data: &[u8], offset: u64) -> Result<CcobHeader, Error> {
        let what = "the header of the compressed bundle (CCOB)";
        let cut = |needed: u64| Error::truncated(what, offset, needed, data.len() as u64);
        let version = u16_at(data, 4).ok_or_else(|| cut(8))?;
        let method = u16_at(data, 6).ok_or_else(|| cut(8))?;
        let header_size = CcobHeader::size_of(version, offset)?;
        let method = match method {
            0 => Method::Zlib,
            1 => Method::Zstd,
            _ => {
                return Err(Error::unsupported(
                    format!("method {method} of the compressed bundle (CCOB)"),
                    offset,
                    "methods 0 (zlib) and 1 (zstd) are read; build without --offload-compress",
                ));
            }
        };
        let word = |at| u32_at(data, at).map(u64::from).ok_or_else(|| cut(header_size));
        let long = |at| u64_at(data, at).ok_or_else(|| cut(header_size));
        let (stored_size, unpacked_size, hash) = match version {
            1 => (None, word(8)?, long(12)?),
            2 => (Some(word(8)?), word(12)?, long(16)?),
            _ => (Some(long(8)?), long(16)?, long(24)?),
        };
        if stored_size.is_some_and(|size| size < header_size) {
            let problem =
                format!("it says that it has {} bytes with its header", stored_size.unwrap_or_default());
            return Err(Error::malformed(what, offset, problem));
        }
        Ok(CcobHeader { version, method, stored_size, unpacked_size, hash, header_size })
    }
}
