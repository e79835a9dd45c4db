// SPDX-License-Identifier: MIT OR Apache-2.0
//! Formats that carry GPU code and are not read here: each is known by name, so that an error can say what to do.

use crate::error::Error;

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
    Ok(())
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
