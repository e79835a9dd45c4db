// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compression of a bundle (CCOB).

use std::io::Write;

use super::{Compression, WriteError};
use crate::container::ccob::md5_head;
use crate::words::magic::Format;
use crate::words::method::Method;

/// The compressed bundle of `content`.
pub(super) fn wrap(content: &[u8], version: u16, compression: Compression) -> Result<Vec<u8>, WriteError> {
    let (method, payload) = match compression {
        Compression::None => return Ok(content.to_vec()),
        Compression::Zlib { level } => (Method::Zlib, zlib(content, level)?),
        Compression::Zstd { level } => (Method::Zstd, zstd(content, level)?),
    };
    let mut out = header(version, method, payload.len() as u64, content.len() as u64, md5_head(content))?;
    out.try_reserve_exact(payload.len()).map_err(|_| WriteError::Memory { bytes: payload.len() as u64 })?;
    out.extend(payload);
    Ok(out)
}

fn header(
    version: u16,
    method: Method,
    payload: u64,
    unpacked: u64,
    hash: u64,
) -> Result<Vec<u8>, WriteError> {
    let word = |what, bytes: u64| {
        u32::try_from(bytes).map(|word| word.to_le_bytes()).map_err(|_| WriteError::TooLarge {
            version,
            what,
            bytes,
        })
    };
    let method: u16 = match method {
        Method::Zlib => 0,
        Method::Zstd => 1,
    };
    let mut out = [Format::Ccob.magic(), &version.to_le_bytes(), &method.to_le_bytes()].concat();
    match version {
        1 => out.extend(word("unpacked bytes", unpacked)?),
        2 => {
            out.extend(word("stored bytes", payload.saturating_add(24))?);
            out.extend(word("unpacked bytes", unpacked)?);
        }
        3 => {
            out.extend(payload.saturating_add(32).to_le_bytes());
            out.extend(unpacked.to_le_bytes());
        }
        _ => {
            let advice = "versions 1, 2 and 3 are written";
            return Err(WriteError::BadOption { what: "a CCOB version", value: version.to_string(), advice });
        }
    }
    out.extend(hash.to_le_bytes());
    Ok(out)
}

fn zlib(content: &[u8], level: u32) -> Result<Vec<u8>, WriteError> {
    if level > 9 {
        let advice = "it is 0 to 9";
        return Err(WriteError::BadOption { what: "a zlib level", value: level.to_string(), advice });
    }
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(level));
    encoder.write_all(content).and_then(|()| encoder.finish()).map_err(|error| WriteError::Compress {
        method: "zlib",
        bytes: content.len() as u64,
        problem: error.to_string(),
    })
}

/// One frame that states its content size, with LLVM's parameters.
#[cfg(feature = "zstd-c")]
fn zstd(content: &[u8], level: i32) -> Result<Vec<u8>, WriteError> {
    use zstd::zstd_safe::{CCtx, CParameter, compress_bound, get_error_name, max_c_level, min_c_level};

    if level == 0 || !(min_c_level()..=max_c_level()).contains(&level) {
        let advice = "it is 1 to 22, or less than 0 for speed";
        return Err(WriteError::BadOption { what: "a zstd level", value: level.to_string(), advice });
    }
    let bytes = content.len() as u64;
    let failed = |problem: String| WriteError::Compress { method: "zstd", bytes, problem };
    let mut context = CCtx::try_create().ok_or(WriteError::Memory { bytes })?;
    for parameter in [CParameter::EnableLongDistanceMatching(true), CParameter::CompressionLevel(level)] {
        context.set_parameter(parameter).map_err(|code| failed(get_error_name(code).to_owned()))?;
    }
    let bound = compress_bound(content.len());
    let mut out = Vec::new();
    out.try_reserve_exact(bound).map_err(|_| WriteError::Memory { bytes: bound as u64 })?;
    context.compress2(&mut out, content).map_err(|code| failed(get_error_name(code).to_owned()))?;
    Ok(out)
}

/// The encoder in Rust looks 128 KiB back. Bundles become small because code for one target resembles code for another,
/// megabytes away.
#[cfg(not(feature = "zstd-c"))]
fn zstd(_content: &[u8], _level: i32) -> Result<Vec<u8>, WriteError> {
    Err(WriteError::NoEncoder { method: "zstd", feature: "zstd-c" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_a_version_cannot_hold_are_refused() {
        let four_gib = 1_u64 << 32;
        for (version, payload, unpacked) in [(1, 10, four_gib), (2, 10, four_gib), (2, four_gib - 24, 10)] {
            let error = header(version, Method::Zstd, payload, unpacked, 0).unwrap_err();
            assert!(matches!(error, WriteError::TooLarge { bytes, .. } if bytes == four_gib), "{error}");
        }
        assert!(header(1, Method::Zstd, four_gib, four_gib - 1, 0).is_ok(), "version 1 has no stored size");
        assert!(header(2, Method::Zstd, four_gib - 25, four_gib - 1, 0).is_ok());
        let header = header(3, Method::Zlib, four_gib, four_gib, 7).unwrap();
        let read = crate::container::ccob::CcobHeader::read(&header, 0).unwrap();
        assert_eq!((read.stored_size, read.unpacked_size), (Some(four_gib + 32), four_gib));
        assert_eq!((read.method, read.hash, read.header_size), (Method::Zlib, 7, 32));
    }

    #[test]
    fn the_hash_is_the_head_of_the_md5() {
        // RFC 1321: MD5 of "abc" is 900150983cd24fb0d6963f7d28e17f72.
        assert_eq!(md5_head(b"abc"), 0xb04f_d23c_9850_0190);
    }
}
