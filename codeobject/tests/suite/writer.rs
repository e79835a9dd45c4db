// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bundles that the crate writes: read back here, refused if no loader could use them, and read by LLVM's tool.

use proptest::prelude::*;
use windlass_codeobject::{
    BundleWriter, Compression, Container, EntryKind, File, Options, WriteError, WriteOptions,
};

use crate::support::{ElfBuilder, plain};
use crate::{GFX942, HOST};

fn elf(flags: u32, target: &str) -> Vec<u8> {
    ElfBuilder::for_flags(flags, 3, target).build()
}

fn gfx942() -> Vec<u8> {
    elf(0x54c, "gfx942")
}

fn gfx1100() -> Vec<u8> {
    elf(0x041, "gfx1100")
}

fn options(compression: Compression, version: u16, align: u64) -> WriteOptions {
    let mut options = WriteOptions::default();
    (options.compression, options.ccob_version, options.align) = (compression, version, align);
    options
}

fn methods() -> Vec<Compression> {
    let zstd = cfg!(feature = "zstd-c").then_some(Compression::ZSTD);
    [Compression::None, Compression::ZLIB].into_iter().chain(zstd).collect()
}

/// The ids and images of the one bundle of a file.
fn read(bytes: &[u8]) -> (Container, Vec<(String, Vec<u8>)>) {
    let file = File::parse(bytes, &Options::default()).unwrap();
    assert_eq!((file.bundles().len(), file.problems()), (1, &[][..]));
    let bundle = &file.bundles()[0];
    assert_eq!(bundle.stored_size(), bytes.len() as u64, "nothing follows the bundle");
    let entries = bundle.entries().iter().enumerate().map(|(index, entry)| {
        assert_eq!(entry.problem(), None);
        (entry.id_text(), bundle.extract(index).unwrap())
    });
    (bundle.container(), entries.collect())
}

#[test]
fn every_version_method_and_alignment_reads_back() {
    let (mi300, rdna3) = (gfx942(), gfx1100());
    let mut writer = BundleWriter::new();
    assert_eq!(writer.add_code_object(&mi300).unwrap(), GFX942);
    writer.add("hip-amdgcn-amd-amdhsa--gfx1100", &rdna3).unwrap();
    let alignments: &[u64] = if cfg!(miri) { &[8] } else { &[1, 8, 4096, 1 << 16] };
    for compression in methods() {
        for version in 1..=3 {
            for &align in alignments {
                let bytes = writer.write(&options(compression, version, align)).unwrap();
                assert_eq!(bytes, writer.write(&options(compression, version, align)).unwrap());
                let (container, entries) = read(&bytes);
                let expected =
                    [(HOST, &[][..]), (GFX942, &mi300), ("hip-amdgcn-amd-amdhsa--gfx1100", &rdna3)];
                let expected = expected.map(|(id, bytes)| (id.to_owned(), bytes.to_vec()));
                assert_eq!(entries, expected, "{compression:?} v{version} align {align}");
                match compression {
                    Compression::None => assert_eq!(container, Container::Bundle),
                    _ => assert!(
                        matches!(container, Container::Ccob { version: found, .. } if found == version)
                    ),
                }
                let file = File::parse(&bytes, &Options::default()).unwrap();
                let offsets = file.bundles()[0].entries().iter().map(|entry| entry.offset());
                let offsets: Vec<u64> = offsets.collect();
                assert!(offsets.iter().all(|offset| offset % align == 0), "{offsets:?}");
                assert_eq!(offsets[0], offsets[1], "the host's entry takes no room");
                let best = file.bundles()[0].select(&"gfx942".parse().unwrap(), &Options::default()).best;
                assert_eq!(best, Some(1));
            }
        }
    }
}

#[test]
fn an_uncompressed_bundle_is_laid_out_as_clang_lays_it_out() {
    let (mi300, rdna3) = (gfx942(), gfx1100());
    let mut writer = BundleWriter::new();
    writer.add(GFX942, &mi300).unwrap();
    writer.add("hipv4-amdgcn-amd-amdhsa--gfx1100", &rdna3).unwrap();
    let expected = [(HOST, &[][..]), (GFX942, &mi300), ("hipv4-amdgcn-amd-amdhsa--gfx1100", &rdna3)];
    for align in [1, 4096] {
        let written = writer.write(&options(Compression::None, 2, align)).unwrap();
        assert!(written == plain(&expected, align as usize), "align {align}");
    }
    let mut without = options(Compression::None, 2, 1);
    without.host = None;
    assert!(writer.write(&without).unwrap() == plain(&expected[1..], 1));
}

#[test]
fn the_target_comes_from_the_code_object() {
    for (flags, abi, target) in [
        (0x54c, 3, "gfx942"),
        (0xe4c, 3, "gfx942:sramecc+:xnack-"),
        (0x73f, 3, "gfx90a:xnack+"),
        (0x0100_0151, 4, "gfx9-generic"),
    ] {
        let elf = ElfBuilder::for_flags(flags, abi, target).build();
        let mut writer = BundleWriter::new();
        let id = format!("hipv4-amdgcn-amd-amdhsa--{target}");
        assert_eq!(writer.add_code_object(&elf).unwrap(), id);
        let parsed = target.parse().unwrap();
        let mut writer = BundleWriter::new();
        assert_eq!(writer.add_target(&EntryKind::HipV4, &parsed, &elf).unwrap(), id);
        assert_eq!(writer.entries().collect::<Vec<_>>(), [(id.as_str(), elf.len() as u64)]);
    }
    // The metadata supplies the name of a processor that the table lacks.
    let future = elf(0x0fd, "gfx1999");
    let mut writer = BundleWriter::new();
    assert_eq!(writer.add_code_object(&future).unwrap(), "hipv4-amdgcn-amd-amdhsa--gfx1999");
}

#[test]
fn ids_that_no_loader_matches_are_refused() {
    let elf = gfx942();
    let long = format!("hip-amdgcn-amd-amdhsa--{}", "g".repeat(5000));
    for (id, words) in [
        ("", "none of host"),
        ("gfx942", "none of host"),
        ("cuda-nvptx64-nvidia-cuda--sm_90", "none of host"),
        ("hip-amdgcn-amd-amdhsa--", "no processor"),
        ("hip-amdgcn-amd-amdhsa--gfx942:xnack", "neither + nor -"),
        ("hip-amdgcn-amd-amdhsa--gfx942:xnack+:xnack+", "twice"),
        ("hip-amdgpu9.0a-amd-amdhsa--gfx942", "not that of gfx942"),
        ("hip-amdgcn-amd-amdhsa--gfx942 ", "belongs in no id"),
        ("hip-amdgcn-amd-amdhsa--gfx942\0", "belongs in no id"),
        ("host-", "three fields"),
        (long.as_str(), "at most 4096"),
    ] {
        let error = BundleWriter::new().add_unchecked(id, &elf).unwrap_err();
        assert!(matches!(&error, WriteError::BadId { .. }), "{id}: {error}");
        assert!(error.to_string().contains(words), "{id}: {error}");
    }
}

#[test]
fn two_entries_for_one_gpu_are_refused() {
    let (any, on, off) = (elf(0x54c, "gfx942"), elf(0x74c, "gfx942:xnack+"), elf(0x64c, "gfx942:xnack-"));
    let both = elf(0xe4c, "gfx942:sramecc+:xnack-");
    let pair = |first: &[u8], second: &[u8]| {
        let mut writer = BundleWriter::new();
        writer.add_code_object(first).unwrap();
        writer.add_code_object(second).map(str::to_owned)
    };
    assert!(matches!(pair(&any, &any), Err(WriteError::Duplicate { .. })));
    let error = pair(&any, &on).unwrap_err();
    assert!(matches!(&error, WriteError::MixedFeatures { feature, .. } if feature == "xnack"), "{error}");
    assert!(matches!(pair(&off, &any), Err(WriteError::MixedFeatures { .. })));
    let error = pair(&off, &both).unwrap_err();
    assert!(matches!(&error, WriteError::MixedFeatures { feature, .. } if feature == "sramecc"), "{error}");
    assert_eq!(pair(&on, &off).unwrap(), "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-");

    let mut writer = BundleWriter::new();
    writer.add("hip-amdgcn-amd-amdhsa--gfx942", &any).unwrap();
    assert!(matches!(writer.add(GFX942, &any), Err(WriteError::Duplicate { .. })), "loaders take either");
    writer.add("openmp-amdgcn-amd-amdhsa--gfx942", &any).unwrap();
    assert_eq!(writer.entries().len(), 2, "what was refused is not there");
}

#[test]
fn bytes_that_are_not_what_the_id_says_are_refused() {
    let code = gfx942();
    let mut host = code.clone();
    host[18] = 62;
    let mut object = code.clone();
    object[16] = 1;
    let mut system = code.clone();
    system[7] = 0;
    let cut = &code[..code.len() - 8];
    let stated = elf(0x74c, "gfx942:xnack+");
    // Their metadata and their flags name different processors.
    let (numberless, misnumbered) = (elf(0x500, "gfx942"), elf(0x57e, "gfx942"));
    let mut nameless = ElfBuilder::for_flags(0x57e, 3, "gfx942");
    nameless.with_note = false;
    let nameless = nameless.build();
    for (id, bytes, words) in [
        ("hip-amdgcn-amd-amdhsa--gfx1100", &code[..], "its ELF is for gfx942"),
        ("hip-amdgcn-amd-amdhsa--gfx942:xnack+", &code, "its ELF is for gfx942"),
        (GFX942, &stated, "its ELF is for gfx942:xnack+"),
        ("hip-amdgcn-amd-amdhsa--gfx942:xnack-", &stated, "its ELF is for gfx942:xnack+"),
        (GFX942, b"BC\xc0\xde", "unchecked"),
        (GFX942, b"", "unchecked"),
        (GFX942, &host, "machine 62"),
        (GFX942, &object, "ld.lld -shared"),
        (GFX942, &system, "HSA"),
        (GFX942, cut, "cut short"),
        ("hip-amdgcn-amd-amdhsa--gfx942:tgsplit+", &code, "no ELF states `tgsplit`"),
        (GFX942, &numberless, "the file is damaged"),
        (GFX942, &misnumbered, "the file is damaged"),
        ("hip-spirv64-amd-amdhsa--amdgcnspirv", &code, "unchecked"),
        (HOST, b"", "unchecked"),
    ] {
        let error = BundleWriter::new().add(id, bytes).unwrap_err();
        assert!(matches!(&error, WriteError::NotForTarget { .. }), "{id}: {error}");
        assert!(error.to_string().contains(words), "{id}: {error}");
        BundleWriter::new().add_unchecked(id, bytes).unwrap();
    }
    for bytes in [&b"text"[..], &host, cut, &numberless, &misnumbered, &nameless] {
        let error = BundleWriter::new().add_code_object(bytes).unwrap_err();
        assert!(matches!(&error, WriteError::NoTarget { .. }), "{error}");
    }
}

#[test]
fn what_is_no_code_object_can_be_written_unchecked() {
    let mut writer = BundleWriter::new();
    writer.add_unchecked("host-x86_64-unknown-linux", b"host code").unwrap();
    writer.add_unchecked("hip-spirv64-amd-amdhsa--amdgcnspirv", b"\x03\x02\x23\x07....").unwrap();
    writer.add_unchecked("hip-amdgcn-amd-amdhsa--gfx906", b"BC\xc0\xde").unwrap();
    let (_, entries) = read(&writer.write(&WriteOptions::default()).unwrap());
    let sizes: Vec<(&str, usize)> = entries.iter().map(|(id, bytes)| (id.as_str(), bytes.len())).collect();
    let expected = [
        ("host-x86_64-unknown-linux", 9),
        ("hip-spirv64-amd-amdhsa--amdgcnspirv", 8),
        ("hip-amdgcn-amd-amdhsa--gfx906", 4),
    ];
    assert_eq!(sizes, expected, "the host's own entry takes the place of the empty one");
}

#[test]
fn the_part_of_a_host_is_for_its_machine() {
    let kernels: &[u8] = include_bytes!("../../../drivers/local/tests/native/kernels.x86_64.so");
    let without: &[u8] = include_bytes!("../../../drivers/local/tests/native/provider.x86_64.so");
    const AARCH64: &str = "host-aarch64-unknown-linux-gnu-";
    for (id, bytes, words) in [
        (HOST, &b"text"[..], "no ELF"),
        (HOST, &kernels[..40], "no ELF"),
        (AARCH64, kernels, "it is for x86_64"),
    ] {
        let error = BundleWriter::new().add(id, bytes).unwrap_err();
        assert!(matches!(&error, WriteError::NotForTarget { .. }), "{id}: {error}");
        assert!(error.to_string().contains(words), "{id}: {error}");
        BundleWriter::new().add_unchecked(id, bytes).unwrap();
    }
    BundleWriter::new().add("host-x86_64-pc-windows-msvc", b"another format").unwrap();
    let written = |bytes| {
        let mut writer = BundleWriter::new();
        writer.add(HOST, bytes).unwrap();
        writer.write(&WriteOptions::default())
    };
    assert_eq!(written(without), Err(WriteError::Empty), "it describes no kernels");
    let (_, entries) = read(&written(kernels).unwrap());
    assert_eq!(entries, [(HOST.to_owned(), kernels.to_vec())]);
}

#[test]
fn options_that_do_not_exist_are_named() {
    let code = gfx942();
    assert_eq!(BundleWriter::new().write(&WriteOptions::default()), Err(WriteError::Empty));
    let mut writer = BundleWriter::new();
    writer.add_unchecked(HOST, b"x").unwrap();
    assert_eq!(writer.write(&WriteOptions::default()), Err(WriteError::Empty));
    writer.add_code_object(&code).unwrap();
    let none = Compression::None;
    for (wrong, words) in [
        (options(none, 2, 0), "alignment"),
        (options(none, 2, 12), "alignment"),
        (options(none, 2, 1 << 40), "alignment"),
        (options(Compression::ZLIB, 0, 1), "CCOB version"),
        (options(Compression::ZLIB, 4, 1), "CCOB version"),
        (options(Compression::Zlib { level: 10 }, 3, 1), "zlib level"),
    ] {
        let error = writer.write(&wrong).unwrap_err();
        assert!(matches!(&error, WriteError::BadOption { what, .. } if what.contains(words)), "{error}");
    }
    let mut writer = BundleWriter::new();
    writer.add_code_object(&code).unwrap();
    let mut wrong = WriteOptions::default();
    wrong.host = Some(GFX942.to_owned());
    assert!(matches!(writer.write(&wrong), Err(WriteError::BadId { .. })));
}

#[cfg(feature = "zstd-c")]
#[test]
fn zstd_levels_are_taken_or_refused() {
    let code = gfx942();
    let mut writer = BundleWriter::new();
    writer.add_code_object(&code).unwrap();
    for level in [-5, 1, 3, 19, 22] {
        let bytes = writer.write(&options(Compression::Zstd { level }, 3, 4096)).unwrap();
        assert_eq!(read(&bytes).1[1].1, code, "level {level}");
    }
    for level in [0, 23, i32::MAX, i32::MIN] {
        let error = writer.write(&options(Compression::Zstd { level }, 3, 4096)).unwrap_err();
        assert!(matches!(error, WriteError::BadOption { .. }), "{error}");
    }
}

#[cfg(not(feature = "zstd-c"))]
#[test]
fn without_the_c_library_zstd_is_refused_by_name() {
    let code = gfx942();
    let mut writer = BundleWriter::new();
    writer.add_code_object(&code).unwrap();
    let error = writer.write(&options(Compression::ZSTD, 3, 4096)).unwrap_err();
    assert_eq!(error, WriteError::NoEncoder { method: "zstd", feature: "zstd-c" });
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes: 4096 entries, which is the limit")]
fn more_entries_than_are_read_are_not_written() {
    let mut writer = BundleWriter::new();
    for index in 0..4095 {
        writer.add_unchecked(&format!("hip-amdgcn-amd-amdhsa--gfx{index}"), b"x").unwrap();
    }
    let error = writer.add_unchecked("hip-amdgcn-amd-amdhsa--one-more", b"x").unwrap_err();
    assert_eq!(error, WriteError::TooManyEntries { limit: 4095 });
    let (_, entries) = read(&writer.write(&options(Compression::None, 2, 1)).unwrap());
    assert_eq!(entries.len(), 4096);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 64 }, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_is_written_reads_back(
        images in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 1..12),
        features in 0_u8..3,
        host in any::<bool>(),
        method in 0..methods().len(),
        version in 1_u16..=3,
        align in 0_u32..14,
    ) {
        let mut writer = BundleWriter::new();
        let ids: Vec<String> = (0..images.len()).map(|index| {
            let kind = ["hip", "hipv4", "openmp"][index % 3];
            let stated = ["", ":xnack+", ":sramecc-:xnack-"][usize::from(features)];
            format!("{kind}-amdgcn-amd-amdhsa--gfx{:x}{stated}", 0x900 + index)
        }).collect();
        for (id, image) in ids.iter().zip(&images) {
            writer.add_unchecked(id, image).unwrap();
        }
        let mut options = options(methods()[method], version, 1 << align);
        if !host {
            options.host = None;
        }
        let (_, entries) = read(&writer.write(&options).unwrap());
        let skip = usize::from(host);
        prop_assert_eq!(entries.len(), images.len() + skip);
        for ((id, image), (found_id, found)) in ids.iter().zip(&images).zip(&entries[skip..]) {
            prop_assert_eq!(id, found_id);
            prop_assert_eq!(image, found);
        }
    }
}
