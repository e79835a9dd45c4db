// SPDX-License-Identifier: MIT OR Apache-2.0
//! Formats that carry GPU code and are not read here: each is known by name, so that an error can say what to do.

use crate::bytes::glimpse;
use crate::error::Error;

const TEXT_BUNDLE_MARK: &[u8] = b"__CLANG_OFFLOAD_BUNDLE____START__";

/// (magic, name, advice)
const MAGICS: &[(&[u8], &str, &str)] = &[
    (
        b"\x10\xff\x10\xad",
        "an LLVM offload binary (clang-offload-packager)",
        "link it with clang, or take the image out with clang-offload-packager --image",
    ),
    (b"!<arch>\n", "an archive of objects", "take the objects out with ar, or link it first"),
    (b"!<thin>\n", "a thin archive of objects", "link it first"),
    (b"KPAK", "a kpack archive", "unpack it with rocm-kpack"),
    (b"HIPK", "a kpack reference", "its code lies in the .kpack file beside it"),
    (b"HIP1", "an IREE HIP executable (HIP1)", "give the .hsaco that iree-compile dumps"),
    (b"AMD1", "an IREE AMDGPU executable (AMD1)", "give the .hsaco that iree-compile dumps"),
    (b"PK\x03\x04", "a zip file (an IREE module is one)", "give the .hsaco that iree-compile dumps"),
    (b"\x03\x02\x23\x07", "SPIR-V", "compile it for a GPU with clang --offload-arch=gfx..."),
    (b"BC\xc0\xde", "LLVM bitcode", "link it with clang for a GPU"),
];

/// Succeeds where `bytes` are of no format that is known not to be read.
pub(crate) fn refuse(bytes: &[u8]) -> Result<(), Error> {
    for (magic, name, advice) in MAGICS {
        if bytes.starts_with(magic) {
            return Err(Error::unsupported(*name, 0, *advice));
        }
    }
    let head = &bytes[..bytes.len().min(256)];
    if head.windows(TEXT_BUNDLE_MARK.len()).any(|window| window == TEXT_BUNDLE_MARK) {
        let advice = "it is a compiler's intermediate text; assemble or compile it first";
        return Err(Error::unsupported("a text offload bundle", 0, advice));
    }
    if bytes.is_empty() {
        return Err(Error::NotRecognised { offset: 0, found: glimpse(bytes) });
    }
    Ok(())
}

/// What to say of a host ELF without `.hip_fatbin`, by the names of its sections.
pub(crate) fn host_elf(sections: &[&[u8]]) -> Error {
    let has = |name: &[u8]| sections.iter().any(|section| section.starts_with(name));
    if has(b".rocm_kpack_ref") {
        let advice = "its code lies in .kpack files beside it; unpack them with rocm-kpack";
        return Error::unsupported("a host ELF with kpack references", 0, advice);
    }
    if has(b".llvm.offloading") {
        let advice = "link it with clang, which makes a fat binary of it";
        return Error::unsupported("a host object with an LLVM offload binary", 0, advice);
    }
    if has(b"__CLANG_OFFLOAD_BUNDLE__") {
        let advice = "link it with clang --hip-link -fgpu-rdc";
        return Error::unsupported("an object bundle (-fgpu-rdc)", 0, advice);
    }
    Error::NotFound {
        what: "section .hip_fatbin in the host ELF".to_owned(),
        present: "it carries no HIP code, or its section headers were stripped; give the library that does"
            .to_owned(),
    }
}
