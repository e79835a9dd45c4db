// SPDX-License-Identifier: MIT OR Apache-2.0
//! Valid inputs with bytes changed, cut off and spliced: any result is allowed, and no panic.

use proptest::prelude::*;
use windlass_codeobject::{CodeObject, File, Options};

use crate::support::{
    Ccob, ElfBuilder, KernelSpec, amd1, amd1_with, archive, compressed_offload_binary, hip1, host_elf, kpack,
    offload_binary, plain, stripped_host_elf, zip, zstd_frame, zstd_frame_without_size,
};
use crate::{GFX942, HOST};

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut builder = ElfBuilder::new(vec![KernelSpec::new("first"), KernelSpec::new("second")]);
    builder.symbols = vec![(b"counter".to_vec(), 0x2010, 4, 0x11, 3), (b"missing".to_vec(), 0, 0, 0x10, 0)];
    builder.spare = 0x10;
    builder.relocations = vec![(builder.spare_address(), 3, 2, 8)];
    let elf = builder.build();
    builder.with_hash = false;
    let hashless = builder.build();
    let content = plain(&[(HOST, b""), (GFX942, &elf), ("hip-amdgcn-amd-amdhsa--gfx90a", &hashless)], 64);
    let frames =
        [zstd_frame_without_size(&content[..3000]), zstd_frame_without_size(&content[3000..])].concat();
    let mut seeds = vec![elf, hashless, content.clone()];
    for version in [1, 2, 3] {
        seeds.push(Ccob::zlib(version, &content).bytes());
        seeds.push(Ccob { payload: frames.clone(), ..Ccob::zstd(version, &content) }.bytes());
    }
    let row = seeds[2..].concat();
    seeds.push(row);
    let binary = offload_binary(2, 4, "gfx942", &seeds[0]);
    seeds.push(host_elf(&[(".hip_fatbin", &content)]));
    seeds.push(host_elf(&[(".llvm.offloading", &binary)]));
    seeds.push(archive(&[("a.o/", &host_elf(&[(".hip_fatbin", &content)])), ("b.co/", &seeds[0])]));
    seeds.push(zip(0, true, &[("module.fb", b"vm"), ("a.fb", &hip1(&[&seeds[0], &content]))]));
    seeds.push(hip1(&[&seeds[0], &content]));
    seeds.push(stripped_host_elf(&[&content, &Ccob::zlib(3, &content).bytes()], true));
    let exports: [(&str, [u32; 3], u32, &[u64]); 1] = [("first", [64, 1, 1], 2, &[1, 0])];
    seeds.push(amd1_with("amdgcn-amd-amdhsa--gfx942", &exports, &[&seeds[0]]));
    seeds.push(amd1(&[&seeds[0], &content]));
    let binary = offload_binary(3, 4, "gfx942", &seeds[0]);
    seeds.push([binary.clone(), compressed_offload_binary(&binary, zstd_frame)].concat());
    seeds.push(archive(&[
        ("//", b"a_long_name_of_an_object.o/\n"),
        ("/0", &seeds[0]),
        ("#1/4", b"name...."),
    ]));
    let library = kpack(true, &[("liba.so#0", "gfx942", &seeds[0][..])], |_| {});
    let short = zip(8, false, &[("a.co", &seeds[0])]);
    seeds.push(archive(&[
        ("/<ECSYMBOLS>/", b"table"),
        ("a.fb/", &hip1(&[&seeds[0]])),
        ("b.kpack/", &library),
        ("c.zip/", &short),
    ]));
    seeds.push([b"#!/usr/bin/env python3\n", &short[..]].concat());
    seeds.push([&host_elf(&[(".text", b"code")])[..], &short].concat());
    seeds.push(offload_binary(1, 3, "gfx942", &seeds[0]));
    seeds.push(zip(8, false, &[("a.co", &seeds[0]), ("b.so", &host_elf(&[(".hip_fatbin", &content)]))]));
    let marker = b"\x82\xabkernel_name\xa8liba.so#0\xb2kpack_search_paths\x91\xa7a.kpack";
    seeds.push(host_elf(&[(".hip_fatbin", &content), (".rocm_kpack_ref", marker)]));
    for compressed in [false, true] {
        let images = [("lib/liba.so#0", "gfx942", &seeds[0][..]), ("lib/liba.so#1", "gfx90a", &seeds[1])];
        seeds.push(kpack(compressed, &images, |_| {}));
    }
    seeds
}

/// Runs all functions of the crate on a code object.
fn read_code(elf: &[u8]) {
    let Ok(code) = CodeObject::parse(elf) else { return };
    for symbol in code.symbols() {
        if let Some(bytes) = code.bytes_of(elf, symbol) {
            assert_eq!(bytes.len() as u64, symbol.size);
        }
    }
    let mut resolved = elf.to_vec();
    match code.resolve(&mut resolved, |_| Some(0x1234_5678_9abc)) {
        Ok(()) => assert_eq!(CodeObject::parse(&resolved).unwrap().unresolved().count(), 0),
        Err(_) => assert_eq!(resolved, elf),
    }
}

/// Runs all functions of the crate on a file.
fn read_everything(bytes: &[u8]) {
    let mut options = Options::default();
    options.max_unpacked = 4 << 20;
    read_code(bytes);
    let Ok(file) = File::parse(bytes, &options) else { return };
    let agent = "gfx942:sramecc+:xnack-".parse().unwrap();
    for export in file.iree_executables().iter().flat_map(|executable| executable.exports()) {
        let _ = (export.name(), export.bindings().count());
    }
    for bundle in file.bundles() {
        let selection = bundle.select(&agent, &options);
        assert_eq!(selection.verdicts.len(), bundle.entries().len());
        for index in 0..bundle.entries().len() {
            if let Ok(image) = bundle.image(index) {
                assert_eq!(image.len() as u64, bundle.entries()[index].size());
                read_code(&image);
            }
        }
    }
}

/// The positions of changes: a third of them are in the first 256 bytes.
fn place(size: usize, pick: prop::sample::Index, low: bool) -> usize {
    pick.index(if low { size.min(256) } else { size })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 1500 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes(
        seed in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::bool::weighted(0.33), any::<u8>()), 1..12),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let seeds = seeds();
        let mut bytes = seed.get(&seeds).clone();
        for (at, low, value) in changes {
            let at = place(bytes.len(), at, low);
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        read_everything(&bytes);
    }

    #[test]
    fn changed_words(
        seed in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        value in prop::sample::select(vec![0, 1, 0x7f, 0xffff, 0x8000_0000, 0xffff_ffff, 1 << 62, u64::MAX - 7, u64::MAX]),
    ) {
        let seeds = seeds();
        let mut bytes = seed.get(&seeds).clone();
        let at = at.index(bytes.len().saturating_sub(8)) & !7;
        bytes[at..at + 8].copy_from_slice(&u64::to_le_bytes(value));
        read_everything(&bytes);
    }

    #[test]
    fn changed_content_of_compressed_bundles(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        zstd in any::<bool>(),
    ) {
        let mut content = seeds()[2].clone();
        for (at, value) in changes {
            let at = place(content.len(), at, value & 1 == 0);
            content[at] = value;
        }
        let ccob = if zstd { Ccob::zstd(3, &content) } else { Ccob::zlib(3, &content) };
        read_everything(&ccob.bytes());
    }

    #[test]
    fn changed_metadata(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut builder = ElfBuilder::new(vec![KernelSpec::new("first"), KernelSpec::new("second")]);
        let mut note = builder.metadata();
        for (at, value) in changes {
            let at = at.index(note.len());
            note[at] = value;
        }
        builder.note = Some(note);
        read_everything(&builder.build());
    }

    #[test]
    fn arbitrary_bytes_behind_a_magic(
        magic in prop::sample::select(vec![&b"CCOB"[..], b"__CLANG_OFFLOAD_BUNDLE__", b"\x7fELF\x02\x01\x01\x40", b"HIP1", b"AMD1", b"\n; __CLANG_OFFLOAD_BUNDLE____START__ ", b"!<thin>\n", b"PK\x03\x04", b"!<arch>\n", b"KPAK\x01\0\0\0\x10\0\0\0\0\0\0\0", b"\x10\xff\x10\xad\x01\0\0\0", b"\x10\xff\x10\xad\x03\0\0\0", b""]),
        rest in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        read_everything(&[magic, &rest].concat());
    }
}
