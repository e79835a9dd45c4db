// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every container, version and method gives back the code object that went in.

use windlass_codeobject::{Container, EntryKind, EntryTarget, Error, File, FileKind, Method, Options};

use crate::support::{Ccob, ElfBuilder, KernelSpec, kpack, plain, zstd_frame, zstd_frame_without_size};
use crate::{GFX942, HOST};

fn elf() -> Vec<u8> {
    ElfBuilder::new(vec![KernelSpec::new("scale")]).build()
}

fn open(bytes: &[u8]) -> File<'_> {
    File::parse(bytes, &Options::default()).unwrap()
}

/// The bundle holds the host's entry and, as entry 1, the code object.
fn holds(bytes: &[u8], bundle: usize, container: Container) {
    let file = open(bytes);
    assert_eq!(file.problems(), []);
    let bundle = &file.bundles()[bundle];
    assert_eq!(bundle.container(), container);
    assert_eq!(bundle.entries()[0].kind(), &EntryKind::Host);
    assert_eq!(bundle.entries()[1].id(), GFX942.as_bytes());
    assert!(
        matches!(bundle.entries()[1].target(), EntryTarget::Gpu(target) if target.processor() == "gfx942")
    );
    assert_eq!(bundle.extract(1).unwrap(), elf());
    assert_eq!(bundle.image(1).unwrap(), elf());
    assert!(bundle.with_image(1, |image| image == elf()).unwrap());
    assert_eq!(bundle.extract(0).unwrap(), b"");
}

fn bundle() -> Vec<u8> {
    plain(&[(HOST, b""), (GFX942, &elf())], 4096)
}

#[test]
fn a_code_object_is_a_bundle_of_one() {
    let elf = elf();
    let file = open(&elf);
    assert_eq!(file.kind(), FileKind::CodeObject);
    let bundle = &file.bundles()[0];
    assert_eq!(bundle.container(), Container::RawElf);
    assert_eq!(bundle.entries()[0].id_text(), "gfx942");
    assert!(matches!(bundle.image(0).unwrap(), std::borrow::Cow::Borrowed(image) if image == elf));
}

#[test]
fn plain_bundles_with_any_alignment() {
    for align in [1, 8, 4096] {
        let bytes = plain(&[(HOST, b""), (GFX942, &elf())], align);
        holds(&bytes, 0, Container::Bundle);
        assert_eq!(open(&bytes).bundles()[0].stored_size(), bytes.len() as u64);
        assert!(matches!(open(&bytes).bundles()[0].image(1).unwrap(), std::borrow::Cow::Borrowed(_)));
    }
}

#[test]
fn every_version_and_method_of_compressed_bundles() {
    for version in [1, 2, 3] {
        for (ccob, method) in
            [(Ccob::zlib(version, &bundle()), Method::Zlib), (Ccob::zstd(version, &bundle()), Method::Zstd)]
        {
            let bytes = ccob.bytes();
            holds(&bytes, 0, Container::Ccob { version, method });
            let file = open(&bytes);
            assert_eq!(file.kind(), FileKind::FatBinary);
            assert_eq!(file.bundles()[0].stored_size(), bytes.len() as u64);
            assert_eq!(file.bundles()[0].unpacked_size(), Some(bundle().len() as u64));
            assert_eq!(file.bundles()[0].hash(), Some(0x1122_3344_5566_7788));
        }
    }
}

#[test]
fn zstd_payloads_of_several_frames() {
    let content = bundle();
    let (front, back) = content.split_at(5000);
    let skippable = [&0x184d_2a53_u32.to_le_bytes()[..], &7_u32.to_le_bytes(), b"ignored"].concat();
    let payloads = [
        vec![zstd_frame(front), zstd_frame(back)],
        vec![skippable.clone(), zstd_frame(front), skippable.clone(), zstd_frame_without_size(back)],
        vec![zstd_frame(b""), zstd_frame(&content), skippable],
        vec![zstd_frame_without_size(&content)],
    ];
    for payload in payloads {
        for version in [1, 2, 3] {
            let ccob = Ccob { payload: payload.concat(), ..Ccob::zstd(version, &content) };
            let bytes = [ccob.bytes(), vec![0; 100], bundle()].concat();
            holds(&bytes, 0, Container::Ccob { version, method: Method::Zstd });
            holds(&bytes, 1, Container::Bundle);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn bundles_in_a_row_of_all_sorts() {
    let mut bytes = Vec::new();
    let mut sorts = Vec::new();
    for round in 0..2 {
        for version in [1, 2, 3] {
            for ccob in [Ccob::zlib(version, &bundle()), Ccob::zstd(version, &bundle())] {
                bytes.extend(ccob.bytes());
                let method = if ccob.method == 0 { Method::Zlib } else { Method::Zstd };
                sorts.push(Container::Ccob { version, method });
                if round == 1 {
                    bytes.resize(bytes.len().next_multiple_of(4096), 0);
                }
            }
        }
        bytes.extend(bundle());
        sorts.push(Container::Bundle);
    }
    let file = open(&bytes);
    let found: Vec<Container> = file.bundles().iter().map(|bundle| bundle.container()).collect();
    assert_eq!(found, sorts);
    assert!(file.bundles().iter().enumerate().all(|(index, bundle)| bundle.index() == index));
    for (index, container) in sorts.into_iter().enumerate() {
        holds(&bytes, index, container);
    }
}

#[test]
fn payload_bytes_that_look_like_the_next_bundle_do_not_end_it() {
    let image = [&elf()[..], b"CCOB\x02\0\x01\0", b"__CLANG_OFFLOAD_BUNDLE__"].concat();
    let stored = plain(&[(HOST, b""), (GFX942, &image)], 8);
    let skippable = [&0x184d_2a50_u32.to_le_bytes()[..], &8_u32.to_le_bytes(), b"CCOB\x02\0\x01\0"].concat();
    let payload = [skippable, zstd_frame(&stored)].concat();
    let bytes = [Ccob { payload, ..Ccob::zstd(3, &stored) }.bytes(), bundle()].concat();
    let file = open(&bytes);
    assert_eq!(file.bundles().len(), 2);
    assert_eq!(file.bundles()[0].extract(1).unwrap(), image);
}

#[test]
fn a_damaged_bundle_costs_no_other() {
    let mut damaged = Ccob::zstd(2, &bundle());
    damaged.payload[4..].fill(0xff);
    let bytes = [damaged.bytes(), Ccob::zstd(2, &bundle()).bytes()].concat();
    let file = open(&bytes);
    assert_eq!(file.bundles().len(), 1);
    assert_eq!(file.bundles()[0].extract(1).unwrap(), elf());
    assert!(
        matches!(file.problems(), [Error::Decode { method: "zstd", offset: 24, .. }]),
        "{:?}",
        file.problems()
    );
}

#[test]
fn what_follows_the_last_bundle_is_told() {
    let bytes = [bundle(), b"something else".to_vec()].concat();
    let file = open(&bytes);
    assert_eq!(file.bundles().len(), 1);
    assert!(matches!(file.problems(), [Error::NotRecognised { .. }]));
}

#[test]
fn entries_are_read_in_any_order() {
    let size = if cfg!(miri) { 1000 } else { 100_000 };
    let images: Vec<Vec<u8>> = (0..20_u8).map(|seed| vec![seed; size + usize::from(seed)]).collect();
    let names: Vec<String> = (0..20).map(|index| format!("hip-amdgcn-amd-amdhsa--gfx10{index:02}")).collect();
    let entries: Vec<(&str, &[u8])> =
        names.iter().map(String::as_str).zip(images.iter().map(Vec::as_slice)).collect();
    let content = plain(&entries, 1);
    for ccob in [Ccob::zstd(3, &content), Ccob::zlib(3, &content)] {
        let bytes = ccob.bytes();
        let file = open(&bytes);
        for index in [3, 0, 19, 7, 19, 18] {
            assert_eq!(file.bundles()[0].extract(index).unwrap(), images[index]);
        }
    }
}

#[test]
fn only_what_is_wanted_is_unpacked() {
    let size = if cfg!(miri) { 64 << 10 } else { 4 << 20 };
    let content = plain(&[(GFX942, &elf()), ("hip-amdgcn-amd-amdhsa--gfx90a", &vec![7; size])], 8);
    let mut options = Options::default();
    options.max_unpacked = 64 << 10;
    for ccob in [Ccob::zstd(3, &content), Ccob::zlib(3, &content)] {
        let bytes = ccob.bytes();
        let file = File::parse(&bytes, &options).unwrap();
        assert_eq!(file.bundles()[0].extract(0).unwrap(), elf());
        let error = file.bundles()[0].extract(1).unwrap_err();
        assert!(matches!(error, Error::Limit { limit: 65536, .. }), "{error}");
        assert!(error.to_string().contains("Options::max_unpacked"), "{error}");
    }
}

#[test]
fn where_entries_come_from_and_reading_them_anew() {
    let (elf, plain) = (elf(), bundle());
    let ccob = Ccob::zstd(3, &plain).bytes();
    let images = [("liba.so#0", "gfx942", &elf[..]), ("liba.so#0", "gfx1100", &elf)];
    let packed = kpack(true, &images, |_| {});
    let stored = kpack(false, &images, |_| {});
    for (bytes, entry, is_own) in
        [(&plain, 1, true), (&ccob, 1, false), (&packed, 1, false), (&stored, 1, true)]
    {
        let file = open(bytes);
        let bundle = &file.bundles()[0];
        let from = bundle.stored_bytes(entry).unwrap();
        assert!(bytes.as_ptr_range().contains(&from.as_ptr()), "of the file");
        assert_eq!((from == elf, bundle.is_compressed()), (is_own, !is_own));
        assert_eq!(bundle.stored_bytes(9), None);
        for _ in 0..2 {
            assert_eq!(bundle.extract(entry).unwrap(), elf);
            bundle.forget_unpacked();
        }
    }
    let file = open(&ccob);
    let [bundle] = file.bundles() else { panic!("{file:?}") };
    assert_eq!((bundle.stored_bytes(0), bundle.stored_bytes(1)), (Some(&ccob[..]), Some(&ccob[..])));
    let other = open(&packed);
    let [bundle] = other.bundles() else { panic!("{other:?}") };
    assert_ne!(bundle.stored_bytes(0).map(<[u8]>::as_ptr), bundle.stored_bytes(1).map(<[u8]>::as_ptr));
}
