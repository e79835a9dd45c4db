// SPDX-License-Identifier: MIT OR Apache-2.0
//! Formats that carry GPU code and are not read here: each is known by name, so that an error can say what to do.

use crate::error::Error;

const TEXT_BUNDLE_MARK: &[u8] = b"__CLANG_OFFLOAD_BUNDLE____START__";

/// (magic, name, advice)
const MAGICS: &[(&[u8], &str, &str)] = &[
    (b"!<thin>\n", "a thin archive of objects", "link it first"),
    (b"HIPK", "a kpack reference", "its code lies in the .kpack file beside it"),
    (b"AMD1", "an IREE AMDGPU executable (AMD1)", "give the .hsaco that iree-compile dumps"),
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
    let head = &bytes[..bytes.len().min(256)];
    if head.windows(TEXT_BUNDLE_MARK.len()).any(|window| window == TEXT_BUNDLE_MARK) {
        let advice = "it is a compiler's intermediate text; assemble or compile it first";
        return Err(Error::unsupported("a text offload bundle", offset, advice));
    }
    Ok(())
}
