// SPDX-License-Identifier: MIT OR Apache-2.0
//! A loader that trusts every header can walk all images that pass for HIP.

use std::fs;

use windlass_codeobject::{CodeObject, Error, validate};

use crate::support::{ElfBuilder, KernelSpec, fixtures, rocr};

/// Images of clang; a fresh clone has two, and the fixtures more.
fn images() -> Vec<(String, Vec<u8>)> {
    let mut images: Vec<(String, Vec<u8>)> = [
        ("vector_add", &include_bytes!("../../../cts/kernels/bundles/vector_add.gfx942.co")[..]),
        ("functions", include_bytes!("../../../cts/kernels/bundles/functions.gfx942.co")),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes.to_vec()))
    .into();
    let Some(root) = fixtures() else { return images };
    for folder in ["clang", "iree/gfx942", "iree/gfx1100", "triton"] {
        for file in fs::read_dir(root.join(folder)).unwrap() {
            let path = file.unwrap().path();
            let is_image = path.extension().is_some_and(|ending| ending == "co" || ending == "hsaco");
            if is_image {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                images.push((name, fs::read(path).unwrap()));
            }
        }
    }
    images.sort();
    images
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// The offsets of the headers and tables of an image: all numbers that a loader uses.
fn headers(image: &[u8]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..64).collect();
    let programs = u64_at(image, 32);
    places.extend(programs..programs + 56 * u16_at(image, 56));
    let sections = u64_at(image, 40);
    places.extend(sections..sections + 64 * u16_at(image, 60));
    for index in 0..u16_at(image, 60) {
        let header = sections + 64 * index;
        let (offset, size) = (u64_at(image, header + 24), u64_at(image, header + 32));
        match image[header + 4] {
            // Symbols, relocations, the dynamic section.
            2 | 4 | 6 | 11 => places.extend(offset..offset + size.min(2000)),
            7 => places.extend(offset..offset + 12),
            // The ends of the last strings.
            3 => places.extend(offset + size - 1..offset + size),
            _ => {}
        }
    }
    places
}

/// The part of a test's cases that takes no more than minutes under Miri, if all take a second without it.
fn share<T>(cases: impl IntoIterator<Item = T>, one_of: usize) -> impl Iterator<Item = T> {
    cases.into_iter().step_by(if cfg!(miri) { one_of } else { 1 })
}

/// Fails if an image passes that would lead such a loader out of bounds.
fn check(name: &str, image: &[u8]) -> bool {
    if validate(image).is_err() {
        return false;
    }
    let walked = std::panic::catch_unwind(|| rocr::load(image));
    assert!(walked.is_ok(), "{name}: it passes, and a loader would leave the image");
    true
}

#[test]
fn what_compilers_write_passes_and_loads() {
    for (name, image) in images() {
        validate(&image).unwrap_or_else(|error| panic!("{name}: {error}"));
        rocr::load(&image).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// AMD's own builds, of several releases.
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
#[test]
fn what_vendors_ship_passes_and_loads() {
    use windlass_codeobject::{Entry, EntryTarget, File, Options};

    let Some(root) = fixtures() else { return };
    let mut count = 0;
    for name in [
        "libbitsandbytes_rocm64.hip_fatbin",
        "libbitsandbytes_rocm71.hip_fatbin",
        "roofline-ubuntu22_04-rocm7",
        "reduce.generic_mix.v6.hipfb",
        "symbols.compressed.hipfb",
        "many2000.compressed.hipfb",
    ] {
        let bytes = fs::read(root.join("fatbin").join(name)).unwrap();
        let file = File::parse(&bytes, &Options::default()).unwrap();
        for bundle in file.bundles() {
            let code = |entry: &Entry| matches!(entry.target(), EntryTarget::Gpu(_));
            for (index, entry) in bundle.entries().iter().enumerate().filter(|(_, entry)| code(entry)) {
                let image = bundle.extract(index).unwrap();
                let what = format!("{name}, bundle {}, {}", bundle.index(), entry.id_text());
                validate(&image).unwrap_or_else(|error| panic!("{what}: {error}"));
                rocr::load(&image).unwrap_or_else(|error| panic!("{what}: {error}"));
                count += 1;
            }
        }
    }
    assert!(count > 70, "{count}");
}

#[test]
fn a_damaged_byte_in_any_header_is_refused_or_harmless() {
    let least = if cfg!(miri) { 0 } else { 100 };
    for (name, image) in images().into_iter().step_by(3) {
        let (mut passed, mut refused) = (0, 0);
        let mut damaged = image.clone();
        for at in share(headers(&image), 41) {
            let byte = image[at];
            for other in [0, 0xff, byte ^ 1, byte ^ 0x80, byte.wrapping_add(8)] {
                damaged[at] = other;
                *(if check(&format!("{name}, byte {at:#x} = {other:#x}"), &damaged) {
                    &mut passed
                } else {
                    &mut refused
                }) += 1;
            }
            damaged[at] = byte;
        }
        assert!(passed > least && refused > least, "{name}: {passed} passed, {refused} were refused");
    }
}

#[test]
fn damaged_numbers_in_any_header_are_refused_or_harmless() {
    for (name, image) in images().into_iter().step_by(4) {
        let end = image.len() as u64;
        let mut damaged = image.clone();
        let words = headers(&image).into_iter().filter(|at| at % 8 == 0 && at + 8 <= image.len());
        for at in share(words, 13) {
            for number in [u64::MAX, 1 << 63, end, end - 1, end + 1, 0x1000, u64::MAX - 0xfff] {
                damaged[at..at + 8].copy_from_slice(&number.to_le_bytes());
                check(&format!("{name}, number at {at:#x} = {number:#x}"), &damaged);
            }
            damaged[at..at + 8].copy_from_slice(&image[at..at + 8]);
        }
    }
}

#[test]
fn several_damages_at_once_are_refused_or_harmless() {
    for (name, image) in images().into_iter().take(2) {
        let places = headers(&image);
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 16) as usize % below
        };
        for round in share(0..20_000, 1000) {
            let mut damaged = image.clone();
            for _ in 0..2 + draw(3) {
                damaged[places[draw(places.len())]] = draw(256) as u8;
            }
            check(&format!("{name}, round {round}"), &damaged);
        }
    }
}

#[test]
fn images_that_are_cut_short_are_refused() {
    for (name, image) in images().into_iter().take(4) {
        for size in share((0..image.len()).step_by(97), 13).chain([image.len() - 1]) {
            assert!(validate(&image[..size]).is_err(), "{name} of {size} bytes");
        }
    }
}

/// Each is a defect that crashed a loader in the field. `CodeObject::parse` needs none of these numbers, and accepts
/// it.
#[test]
fn faults_that_only_a_loader_meets_are_named() {
    let (_, image) = images().into_iter().find(|(name, _)| name == "functions").unwrap();
    let programs = u64_at(&image, 32);
    let sections = u64_at(&image, 40);
    let section_of = |kind: u8| {
        let mut headers = (1..u16_at(&image, 60)).map(|index| sections + 64 * index);
        headers.find(|header| image[header + 4] == kind).unwrap()
    };
    let loads: Vec<usize> = (0..u16_at(&image, 56))
        .map(|index| programs + 56 * index)
        .filter(|header| image[*header] == 1)
        .collect();
    let (dynamic_symbols, relocations) = (section_of(11), section_of(4));
    let symbols_at = u64_at(&image, dynamic_symbols + 24);
    let variable = (symbols_at..).step_by(24).find(|symbol| image[symbol + 4] & 15 == 1).unwrap();
    for (what, at, bytes, words) in [
        ("a count in the first header", 60, &[0, 0][..], "a place and no number"),
        ("the size of section headers", 58, &[0, 0], "headers claim"),
        ("a first section that is one", sections + 4, &[4], "the first is not empty"),
        ("no names of sections", 62, &[0, 0], "string table"),
        ("a null section", dynamic_symbols + 4, &[0], "only the first may be"),
        ("a section's name", dynamic_symbols, &[0xff, 0xff], "table of names"),
        ("the strings of symbols", dynamic_symbols + 40, &[200], "string table"),
        ("the symbols of relocations", relocations + 40, &[200], "symbol table"),
        ("the target of relocations", relocations + 44, &[200], "does not exist"),
        ("a variable's section", variable + 6, &[0xf1, 0xff], "is in no section"),
        ("a segment's place", loads[1] + 16, &[0; 8], "segment"),
    ] {
        let mut damaged = image.clone();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        let error = validate(&damaged).expect_err(what);
        assert!(error.to_string().contains(words), "{what}: {error}");
    }
}

#[test]
fn segments_out_of_order_are_refused() {
    let (_, image) = images().swap_remove(0);
    let programs = u64_at(&image, 32);
    let loads: Vec<usize> = (0..u16_at(&image, 56))
        .map(|index| programs + 56 * index)
        .filter(|header| image[*header] == 1)
        .collect();
    let mut damaged = image.clone();
    damaged[loads[0]..loads[0] + 56].copy_from_slice(&image[loads[1]..loads[1] + 56]);
    damaged[loads[1]..loads[1] + 56].copy_from_slice(&image[loads[0]..loads[0] + 56]);
    let error = validate(&damaged).unwrap_err();
    assert!(error.to_string().contains("before the segment ahead of it ends"), "{error}");
}

#[test]
fn relocations_and_variables_outside_of_the_segments_are_refused() {
    let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
    validate(&builder.build()).expect("what is built is sound");
    builder.relocations.push((1 << 40, 3, 0, 0));
    assert!(CodeObject::parse(&builder.build()).is_ok());
    let error = validate(&builder.build()).unwrap_err();
    assert!(matches!(&error, Error::Malformed { what, .. } if what == "a relocation"), "{error}");

    let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
    builder.symbols.push((b"wide".to_vec(), 0x1000, 1 << 40, 0x11, 1));
    assert!(CodeObject::parse(&builder.build()).is_ok());
    let error = validate(&builder.build()).unwrap_err();
    assert!(matches!(&error, Error::Malformed { what, .. } if what == "the symbol wide"), "{error}");
}
