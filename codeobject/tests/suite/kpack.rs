// SPDX-License-Identifier: MIT OR Apache-2.0
//! kpack archives.

use std::fs;

use windlass_codeobject::{CodeObject, Container, EntryTarget, Error, File, FileKind, Method, Options};

use crate::support::{ElfBuilder, KernelSpec, KpackImage, Value, fixtures, kpack, map};

fn elf(flags: u32, target: &str, kernel: &str) -> Vec<u8> {
    ElfBuilder { kernels: vec![KernelSpec::new(kernel)], ..ElfBuilder::for_flags(flags, 2, target) }.build()
}

fn parse(bytes: &[u8]) -> File<'_> {
    File::parse(bytes, &Options::default()).unwrap()
}

fn error(bytes: &[u8]) -> Error {
    File::parse(bytes, &Options::default()).unwrap_err()
}

/// The value of a key of the table of contents.
fn value<'v>(contents: &'v mut [(&str, Value)], key: &str) -> &'v mut Value {
    &mut contents.iter_mut().find(|(name, _)| *name == key).unwrap().1
}

#[test]
fn each_binary_is_a_bundle_with_an_entry_per_architecture() {
    let gfx942 = elf(0x54c, "gfx942", "first");
    let on = elf(0x73f, "gfx90a:xnack+", "second");
    let off = elf(0x63f, "gfx90a:xnack-", "third");
    let images = [
        ("lib/liba.so#0", "gfx942", &gfx942[..]),
        ("lib/liba.so#1", "gfx90a:xnack+", &on),
        ("lib/liba.so#1", "gfx90a:xnack-", &off),
    ];
    for (compressed, method) in [(false, None), (true, Some(Method::Zstd))] {
        let bytes = kpack(compressed, &images, |_| {});
        let file = parse(&bytes);
        assert_eq!((file.kind(), file.problems()), (FileKind::Kpack, &[][..]));
        let members: Vec<_> = file.bundles().iter().map(|bundle| bundle.member().unwrap()).collect();
        assert_eq!(members, ["lib/liba.so#0", "lib/liba.so#1"]);
        let [first, second] = file.bundles() else { panic!() };
        assert_ne!(first.digest(), second.digest(), "the key of what is decoded");
        assert_eq!(second.container(), Container::Kpack { method });
        assert_eq!(second.unpacked_size(), Some((on.len() + off.len()) as u64));
        // Miri's frames are uncompressed.
        let is_smaller = compressed && !cfg!(miri);
        assert_eq!(second.stored_size() < (on.len() + off.len()) as u64, is_smaller);
        assert_eq!(first.extract(0).unwrap(), gfx942);
        // In any order, and repeatedly: each entry has a stream of its own.
        for (entry, image) in [(1, &off), (0, &on), (1, &off)] {
            assert_eq!(&second.extract(entry).unwrap(), image);
            assert_eq!(&second.with_image(entry, <[u8]>::to_vec).unwrap(), image);
        }
        for (agent, best) in [("gfx90a:sramecc+:xnack+", 0), ("gfx90a:sramecc+:xnack-", 1)] {
            let selection = second.select(&agent.parse().unwrap(), &Options::default());
            assert_eq!(selection.best, Some(best), "{:?}", selection.verdicts);
            let code = CodeObject::parse(&second.extract(best).unwrap()).unwrap();
            assert_eq!(second.entries()[best].target(), &EntryTarget::Gpu(code.target().clone()));
        }
    }
}

#[test]
fn one_image_costs_no_other() {
    let whole = elf(0x54c, "gfx942", "k");
    let images = [("a", "gfx942", &whole[..]), ("b", "gfx942", &whole)];
    let mut bytes = kpack(true, &images, |_| {});
    // Into the first frame, behind its header.
    bytes[64 + 4 + 4 + 12] ^= 0xff;
    let file = parse(&bytes);
    assert!(file.bundles()[0].extract(0).is_err());
    assert_eq!(file.bundles()[1].extract(0).unwrap(), whole);
    let mut options = Options::default();
    options.max_unpacked = 100;
    let file = File::parse(&bytes, &options).unwrap();
    assert!(matches!(file.bundles()[1].extract(0), Err(Error::Limit { .. })));
}

const IMAGES: [KpackImage<'static>; 2] = [("a", "gfx942", &[7; 100]), ("b", "gfx90a", &[8; 200])];

#[test]
fn numbers_and_sizes_that_lie_are_problems_of_their_entry() {
    let image =
        |ordinal: i64, size: i64| map(vec![("ordinal", ordinal.into()), ("original_size", size.into())]);
    let row = |ordinal, size| {
        let (first, second) = (image(ordinal, size), image(1, 200));
        map(vec![("a", map(vec![("gfx942", first)])), ("b", map(vec![("gfx90a", second)]))])
    };
    for compressed in [false, true] {
        for (ordinal, words) in
            [(2, "not in the archive"), (i64::MAX, "not in the archive"), (-1, "no number")]
        {
            let bytes = kpack(compressed, &IMAGES, |toc| *value(toc, "toc") = row(ordinal, 100));
            let file = parse(&bytes);
            assert!(file.bundles()[0].entries()[0].problem().unwrap().contains(words));
            assert!(file.bundles()[0].extract(0).unwrap_err().to_string().contains(words));
            assert_eq!(file.bundles()[1].extract(0).unwrap(), [8; 200]);
        }
    }
    for size in [99, 101, 0, i64::MAX] {
        let bytes = kpack(true, &IMAGES, |toc| *value(toc, "toc") = row(0, size));
        let file = parse(&bytes);
        let first = &file.bundles()[0];
        assert_ne!(first.extract(0).ok(), Some(vec![7; 100]), "{size}");
        assert_eq!(file.bundles()[1].extract(0).unwrap(), [8; 200]);
    }
    let bytes = kpack(false, &IMAGES, |toc| *value(toc, "toc") = row(1, 100));
    let file = parse(&bytes);
    let [first, second] = file.bundles() else { panic!() };
    assert_eq!(first.extract(0).unwrap(), second.extract(0).unwrap());
    assert_ne!(first.digest(), second.digest(), "the same bytes for another architecture");
    let bytes = kpack(true, &IMAGES, |toc| *value(toc, "toc") = row(1, 100));
    let file = parse(&bytes);
    assert!(file.bundles()[1].entries()[0].problem().unwrap().contains("another size"));
    let good = kpack(true, &IMAGES, |_| {});
    let good = parse(&good).bundles()[1].digest();
    assert_ne!(file.bundles()[1].digest(), good, "what is refused is another thing");
}

#[test]
fn blobs_outside_the_archive() {
    for (offset, size) in [(0, 8), (64, i64::MAX), (i64::MAX, 1), (1 << 40, 1), (-1, 4)] {
        let blob = map(vec![("offset", offset.into()), ("size", size.into())]);
        let bytes = kpack(false, &IMAGES, |toc| *value(toc, "blobs") = Value::Array(vec![blob]));
        for bundle in parse(&bytes).bundles() {
            assert!(bundle.entries()[0].problem().unwrap().contains("not in the archive"));
            assert!(bundle.extract(0).is_err());
        }
    }
}

#[test]
fn frames_cut_short_cost_only_those_behind() {
    let mut bytes = kpack(true, &IMAGES, |_| {});
    let first = u32::from_le_bytes(bytes[68..72].try_into().unwrap()) as usize;
    bytes[72 + first..76 + first].copy_from_slice(&u32::MAX.to_le_bytes());
    let file = parse(&bytes);
    assert_eq!(file.bundles()[0].extract(0).unwrap(), [7; 100]);
    assert!(file.bundles()[1].entries()[0].problem().unwrap().contains("not in the archive"));
}

#[test]
fn tables_of_contents_that_make_no_sense() {
    let bytes = kpack(false, &IMAGES, |_| {});
    for toc in [0, 15, bytes.len() as u64, u64::MAX] {
        let mut bytes = bytes.clone();
        bytes[8..16].copy_from_slice(&toc.to_le_bytes());
        assert!(matches!(error(&bytes), Error::Malformed { .. }), "{toc}");
    }
    for version in [0, 2, u32::MAX] {
        let mut bytes = bytes.clone();
        bytes[4..8].copy_from_slice(&version.to_le_bytes());
        assert!(error(&bytes).to_string().contains(&format!("kpack archive v{version}")));
    }
    for (key, spoiled, words) in [
        ("toc", Value::Nil, "no map of maps"),
        ("toc", Value::Map(vec![]), "table of contents is empty"),
        ("toc", map(vec![("a", map(vec![("gfx942", Value::Int(3))]))]), "no map of maps"),
        ("compression_scheme", "lz4-per-kernel".into(), "lz4-per-kernel"),
        ("compression_scheme", Value::Int(1), "no string"),
        ("blobs", Value::Int(1), "no array"),
        ("blobs", Value::Array(vec![Value::Nil]), "no array of maps"),
    ] {
        let message = error(&kpack(false, &IMAGES, |toc| *value(toc, key) = spoiled)).to_string();
        assert!(message.contains(words), "{message}");
    }
    for (key, spoiled) in [("zstd_offset", 0), ("zstd_offset", i64::MAX), ("zstd_size", i64::MAX)] {
        let message = error(&kpack(true, &IMAGES, |toc| *value(toc, key) = spoiled.into())).to_string();
        assert!(message.contains("outside the file"), "{message}");
    }
    for size in 0..bytes.len() {
        assert!(File::parse(&bytes[..size], &Options::default()).is_err(), "{size}");
    }
}

#[test]
fn nesting_counts_and_names_are_bounded() {
    let mut deep = Value::Nil;
    for _ in 0..2000 {
        deep = Value::Array(vec![deep]);
    }
    let bytes = kpack(false, &IMAGES, |toc| toc.insert(0, ("group_name", deep)));
    assert_eq!(parse(&bytes).bundles()[1].extract(0).unwrap(), [8; 200]);
    let many = |count: usize| {
        Value::Map((0..count).map(|n| (format!("{n}").as_str().into(), map(vec![]))).collect())
    };
    let bytes = kpack(false, &IMAGES, |toc| *value(toc, "toc") = map(vec![("a", many(5000))]));
    assert!(matches!(error(&bytes), Error::Limit { .. }));
    if !cfg!(miri) {
        let bytes = kpack(false, &IMAGES, |toc| *value(toc, "toc") = many(200_000));
        assert!(matches!(error(&bytes), Error::Limit { .. }));
    }
    let name = "n".repeat(5000);
    let bytes = kpack(false, &[(&name, "gfx942", b"")], |_| {});
    assert!(matches!(error(&bytes), Error::Limit { .. }));
}

#[test]
fn what_comes_twice_counts_the_first_time() {
    let images = [("a", "gfx942", &b"first"[..]), ("a", "gfx942", b"second")];
    let bytes = kpack(false, &images, |toc| toc.push(("compression_scheme", "lz4".into())));
    let file = parse(&bytes);
    assert_eq!(file.bundles()[0].entries().len(), 2);
    assert_eq!(file.bundles()[0].extract(0).unwrap(), b"first");
}

#[test]
fn architectures_that_are_none_are_listed() {
    for arch in ["gfx942:xnack+:xnack-", "host", "", "gfx9 42"] {
        let bytes = kpack(false, &[("a", arch, b"code")], |_| {});
        let file = parse(&bytes);
        let entry = &file.bundles()[0].entries()[0];
        assert_eq!(entry.id_text(), arch);
        assert!(matches!(entry.target(), EntryTarget::Unknown(_)), "{entry:?}");
        assert_eq!(file.bundles()[0].extract(0).unwrap(), b"code");
    }
}

#[test]
fn archives_of_the_field() {
    let Some(root) = fixtures() else { return };
    let noop = [
        ("lib/libtest.so", "gfx900", filled("KERNEL1_GFX900_DATA", b"\0", 100)),
        ("lib/libtest.so", "gfx906", filled("KERNEL2_GFX906_DATA", b"\0", 200)),
        ("bin/testapp", "gfx900", filled("KERNEL3_APP_GFX900", b"\xff", 150)),
    ];
    let a_and_b = [b"A".repeat(500), b"B".repeat(500)].concat();
    let x_and_y = [b"X".repeat(300), b"Y".repeat(300)].concat();
    let zstd = [
        ("lib/libhip.so", "gfx1100", filled("HIP_KERNEL_GFX1100_", &a_and_b, 1)),
        ("lib/libhip.so", "gfx1101", filled("HIP_KERNEL_GFX1101_", &x_and_y, 1)),
        ("bin/hiptest", "gfx1100", filled("TEST_APP_KERNEL___", b"B", 1000)),
    ];
    for (name, expected) in [("test_noop.kpack", noop), ("test_zstd.kpack", zstd)] {
        let bytes = fs::read(root.join("kpack").join(name)).unwrap();
        let file = parse(&bytes);
        let mut expected = expected.iter();
        for bundle in file.bundles() {
            for (index, entry) in bundle.entries().iter().enumerate() {
                let (binary, arch, image) = expected.next().unwrap();
                let found = bundle.extract(index).unwrap();
                let shown = String::from_utf8_lossy(&found);
                assert_eq!((bundle.member(), entry.id()), (Some(*binary), arch.as_bytes()));
                assert!(found == *image, "{name}: {shown}");
            }
        }
        assert!(expected.next().is_none());
    }
}

fn filled(head: &str, tail: &[u8], count: usize) -> Vec<u8> {
    [head.as_bytes(), &tail.repeat(count)].concat()
}
