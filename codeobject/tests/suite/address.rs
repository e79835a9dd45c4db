// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code at a start address: its end is found, and not one byte behind it is read.

use std::fs;
use std::ptr;

use windlass_codeobject::{Container, Error, File, Options, bytes_at, declared_size};

use crate::guarded::Guarded;
use crate::support::{
    Ccob, ElfBuilder, KernelSpec, amd1, compressed_offload_binary, fixtures, hip1, offload_binary, plain,
    zlib, zstd_frame, zstd_frame_without_size,
};
use crate::{GFX942, HOST};

fn measured(guarded: &Guarded) -> Result<Vec<u8>, Error> {
    // SAFETY: the tests place the named content there, and the memory outlives the slice.
    unsafe { bytes_at(guarded.start(), &Options::default()) }.map(<[u8]>::to_vec)
}

/// Measures the bytes at the end of memory, and with other bytes behind them.
fn is_whole(bytes: &[u8], what: &str) {
    assert_eq!(measured(&Guarded::new(bytes)).unwrap(), bytes, "{what}");
    let longer = [bytes, &[0xa5; 100]].concat();
    // SAFETY: whole code lies there, and the vector outlives the slice.
    let found = unsafe { bytes_at(longer.as_ptr(), &Options::default()) }.unwrap();
    assert_eq!(found, bytes, "{what}, with something behind it");
}

fn elf() -> Vec<u8> {
    ElfBuilder::new(vec![KernelSpec::new("scale")]).build()
}

fn bundle() -> Vec<u8> {
    plain(&[(HOST, b""), (GFX942, &elf())], 4096)
}

#[test]
fn nothing_behind_the_code_is_read() {
    let (elf, bundle) = (elf(), bundle());
    let declared = declared_size(&elf).unwrap() as usize;
    is_whole(&elf[..declared], "code object");
    is_whole(&bundle, "bundle");
    is_whole(&plain(&[(HOST, b"")], 1), "bundle of nothing");
    for version in [1, 2, 3] {
        is_whole(&Ccob::zlib(version, &bundle).bytes(), "zlib");
        is_whole(&Ccob::zstd(version, &bundle).bytes(), "zstd");
        is_whole(&offload_binary(version.into(), 4, "gfx942", &elf), "offload binary");
    }
    let binary = offload_binary(3, 4, "gfx942", &elf);
    for compress in [zlib as fn(&[u8]) -> Vec<u8>, zstd_frame] {
        is_whole(&compressed_offload_binary(&binary, compress), "compressed offload binary");
    }
    is_whole(&hip1(&[&elf, &bundle]), "HIP1");
    is_whole(&amd1(&[&elf]), "AMD1");
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn the_end_of_version_1_is_where_its_stream_ends() {
    let content = bundle();
    let (front, back) = content.split_at(5000);
    let skippable = [&0x184d_2a53_u32.to_le_bytes()[..], &7_u32.to_le_bytes(), b"ignored"].concat();
    let payloads = [
        vec![zstd_frame(front), zstd_frame(back)],
        vec![skippable.clone(), zstd_frame(front), skippable, zstd_frame_without_size(back)],
        vec![zstd_frame_without_size(front), zstd_frame(back)],
        vec![zstd_frame(b""), zstd_frame_without_size(&content)],
        content.chunks(300).map(zstd_frame).collect(),
    ];
    for (index, payload) in payloads.into_iter().enumerate() {
        let ccob = Ccob { payload: payload.concat(), ..Ccob::zstd(1, &content) };
        is_whole(&ccob.bytes(), &format!("payload {index}"));
    }
    // One byte of zlib unpacks to more than a step can hold.
    let zeros = if cfg!(miri) { 1 << 17 } else { 1 << 20 };
    let even = plain(&[(HOST, b""), (GFX942, &vec![0; zeros])], 4096);
    is_whole(&Ccob::zlib(1, &even).bytes(), "zeros");
    let stored = Ccob { payload: stored_zlib(&content), ..Ccob::zlib(1, &content) };
    is_whole(&stored.bytes(), "uncompressed blocks");
}

fn stored_zlib(content: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_wrapper_of_a_host_program_is_followed() {
    let bundle = Guarded::new(&Ccob::zstd(1, &bundle()).bytes());
    let wrapper = |magic: &[u8; 4], version: u32, start: *const u8| {
        let mut bytes = [*magic, version.to_le_bytes()].concat();
        bytes.extend([0; 16]);
        // SAFETY: there is room for a pointer. A pointer, unlike a number, may still be dereferenced later.
        unsafe { bytes.as_mut_ptr().add(8).cast::<*const u8>().write_unaligned(start) };
        bytes
    };
    let whole = Guarded::new(&wrapper(b"FPIH", 1, bundle.start()));
    assert_eq!(measured(&whole).unwrap(), measured(&bundle).unwrap());
    // SAFETY: a wrapper lies there that points to a whole bundle, and both outlive the file.
    let file = unsafe { File::at_address(whole.start(), &Options::default()) }.unwrap();
    assert!(matches!(file.bundles()[0].container(), Container::Ccob { version: 1, .. }));

    for (wrapper, words) in [
        (wrapper(b"FPIH", 2, bundle.start()), "version 2"),
        (wrapper(b"FPIH", 1, ptr::null()), "null"),
        (wrapper(b"FPIH", 1, whole.start()), "another wrapper"),
        (wrapper(b"HIPK", 1, bundle.start()), "kpack"),
    ] {
        let error = measured(&Guarded::new(&wrapper)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn what_has_no_size_is_named() {
    for (bytes, words) in [
        (&b"KPAK"[..], "kpack"),
        (b"HIPK", "kpack"),
        (b"!<ar", "archive"),
        (b"PK\x03\x04", "zip"),
        (b"\x03\x02\x23\x07", "SPIR-V"),
        (b"BC\xc0\xde", "bitcode"),
        (b"\n; _", "text bundle"),
        (&[0; 4], "no AMD GPU code"),
        (b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0", "64-bit"),
    ] {
        let error = measured(&Guarded::new(bytes)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let host = crate::support::host_elf(&[(".hip_fatbin", &bundle())]);
    assert!(measured(&Guarded::new(&host[..64])).unwrap_err().to_string().contains("machine 62"));
    // SAFETY: a null pointer is detected before any read.
    let null = unsafe { bytes_at(ptr::null(), &Options::default()) };
    assert!(matches!(null, Err(Error::NotFound { .. })));
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn sizes_are_limited() {
    let (elf, bundle) = (elf(), bundle());
    let elf = &elf[..declared_size(&elf).unwrap() as usize];
    for bytes in [
        elf.to_vec(),
        bundle.clone(),
        Ccob::zlib(1, &bundle).bytes(),
        Ccob::zstd(1, &bundle).bytes(),
        Ccob::zstd(2, &bundle).bytes(),
        Ccob::zstd(3, &bundle).bytes(),
        offload_binary(1, 4, "gfx942", elf),
        hip1(&[elf]),
    ] {
        let guarded = Guarded::new(&bytes);
        for most in [0, 3, 4, 20, 60, bytes.len() as u64 - 1] {
            let mut options = Options::default();
            options.max_stored = most;
            // SAFETY: whole code lies there, and the mapping outlives the result.
            let error = unsafe { bytes_at(guarded.start(), &options) }.unwrap_err();
            assert!(matches!(error, Error::Limit { limit, .. } if limit == most), "{most}: {error}");
            assert!(error.to_string().contains("Options::max_stored"));
        }
        let mut options = Options::default();
        options.max_stored = bytes.len() as u64;
        // SAFETY: as above.
        assert_eq!(unsafe { bytes_at(guarded.start(), &options) }.unwrap(), bytes);
    }
    let mut options = Options::default();
    options.max_unpacked = 1000;
    let guarded = Guarded::new(&Ccob::zlib(1, &bundle).bytes());
    // SAFETY: as above.
    let error = unsafe { bytes_at(guarded.start(), &options) }.unwrap_err().to_string();
    assert!(error.contains("Options::max_unpacked"), "{error}");
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn headers_that_contradict_themselves() {
    let content = bundle();
    let more = content.len() as u64 + 1;
    let less = content.len() as u64 - 1;
    let wraps = crate::support::plain_rows(
        1,
        &[crate::support::Row { offset: u64::MAX - 8, size: 16, id_size: None, id: GFX942.into() }],
        b"",
    );
    let inside = crate::support::plain_rows(
        1,
        &[crate::support::Row { offset: 8, size: 16, id_size: None, id: GFX942.into() }],
        b"",
    );
    for (bytes, words) in [
        (wraps, "overflow"),
        (inside, "inside the bundle's table"),
        (Ccob { unpacked_size: less, ..Ccob::zstd(1, &content) }.bytes(), "are declared"),
        (Ccob { unpacked_size: less, ..Ccob::zlib(1, &content) }.bytes(), "are declared"),
        (
            [Ccob { unpacked_size: more, ..Ccob::zstd(1, &content) }.bytes(), vec![0; 4]].concat(),
            "no zstd frame",
        ),
        (Ccob { payload: vec![0; 100], ..Ccob::zlib(1, &content) }.bytes(), "malformed"),
        (Ccob { stored_size: Some(8), ..Ccob::zlib(2, &content) }.bytes(), "8 bytes"),
        (Ccob { version: 4, ..Ccob::zlib(2, &content) }.bytes(), "(CCOB v4)"),
        (Ccob { method: 4, ..Ccob::zlib(2, &content) }.bytes(), "method 4"),
    ] {
        let error = measured(&Guarded::new(&bytes)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn real_files_at_the_end_of_memory() {
    let Some(root) = fixtures() else { return };
    let mut measured = 0;
    for path in crate::fixtures::files(&root) {
        let bytes = fs::read(&path).unwrap();
        let Ok(file) = File::parse(&bytes, &Options::default()) else { continue };
        if !file.problems().is_empty() || path.starts_with(root.join("hostile")) {
            continue;
        }
        for bundle in file.bundles() {
            let start = bundle.offset() as usize;
            let stored = &bytes[start..start + bundle.stored_size() as usize];
            let stored = match bundle.container() {
                Container::RawElf => &stored[..declared_size(stored).unwrap() as usize],
                Container::Bundle | Container::Ccob { .. } | Container::OffloadBinary { .. } => stored,
                _ => continue,
            };
            is_whole(stored, &format!("{} {}", path.display(), bundle.index()));
            measured += 1;
        }
    }
    assert!(measured > 60, "{measured}");
}
