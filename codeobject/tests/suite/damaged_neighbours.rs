// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damage affects only the damaged part: the parts behind it are still found.

use std::fs;

use windlass_codeobject::{Bundle, Error, File, Input, Options, Wheel};

use crate::support::{
    Ccob, ElfBuilder, KernelSpec, archive, host_elf, plain, plain_rows, stripped_host_elf, zip,
};
use crate::{GFX942, HOST};

fn bundle() -> Vec<u8> {
    let elf = ElfBuilder::new(vec![KernelSpec::new("scale")]).build();
    plain(&[(HOST, b""), (GFX942, &elf)], 4096)
}

fn file(bytes: &[u8]) -> File<'_> {
    File::parse(bytes, &Options::default()).unwrap()
}

/// Bundles without a known end.
fn damaged() -> Vec<Vec<u8>> {
    let plain = bundle();
    let (mut magic, mut count, mut id) = (plain.clone(), plain.clone(), plain.clone());
    magic[3] ^= 0x20;
    count[31] = 1;
    id[32 + 16 + 5] = 9;
    let mut size = Ccob::zstd(3, &plain).bytes();
    size[14] = 0xff;
    let garbage = b"GARBAGE!".repeat(700);
    vec![magic, count, id, size, garbage]
}

/// Bundles in a row as compilers lay them out.
fn row(bundles: &[&[u8]]) -> Vec<u8> {
    let mut row = Vec::new();
    for bundle in bundles {
        row.resize(row.len().next_multiple_of(4096), 0);
        row.extend(*bundle);
    }
    row
}

#[test]
fn bundles_behind_a_damaged_one_are_found() {
    let (good, packed) = (bundle(), Ccob::zstd(2, &bundle()).bytes());
    for damaged in damaged() {
        let section = row(&[&packed, &damaged, &good, &damaged, &packed]);
        for bytes in [section.clone(), host_elf(&[(".text", b"code"), (".hip_fatbin", &section)])] {
            let file = file(&bytes);
            assert_eq!(file.bundles().len(), 3, "{:?}", file.problems());
            assert_eq!(file.problems().len(), 2, "{:?}", file.problems());
            assert!(file.bundles().iter().all(|bundle| bundle.extract(1).is_ok()));
        }
    }
}

#[test]
fn what_lies_inside_a_bundle_is_no_other() {
    // An image that is a bundle itself, at a multiple of 4096.
    let outer = plain(&[(HOST, b""), (GFX942, &bundle())], 4096);
    let bytes = row(&[&outer, b"garbage", &bundle()]);
    assert_eq!(file(&bytes).bundles().len(), 2);
}

#[test]
fn wrappers_tell_where_the_next_bundle_begins() {
    // Only the wrappers tell that the bundle inside of the damaged one is not part of the row.
    let mut outer = plain(&[(HOST, b""), (GFX942, &bundle())], 4096);
    outer[0] = b'X';
    let mut host = stripped_host_elf(&[&outer, &bundle()], true);
    let start = 4096_u64;
    let size = (outer.len().next_multiple_of(4096) + bundle().len()) as u64;
    let names = host.len() as u64;
    host.extend(b"\0.hip_fatbin\0");
    host.resize(host.len().next_multiple_of(8), 0);
    let table = host.len() as u64;
    for (name, kind, offset, size) in [(0_u32, 0_u32, 0, 0), (1, 1, start, size), (0, 3, names, 13)] {
        host.extend([name, kind].map(u32::to_le_bytes).concat());
        host.extend([0, 0, offset, size, 0, 1, 0].map(u64::to_le_bytes).concat());
    }
    host[40..48].copy_from_slice(&table.to_le_bytes());
    for (at, half) in [(52, 64_u16), (58, 64), (60, 3), (62, 2)] {
        host[at..at + 2].copy_from_slice(&half.to_le_bytes());
    }
    let file = file(&host);
    let offsets: Vec<_> = file.bundles().iter().map(Bundle::offset).collect();
    assert_eq!(offsets, [start + outer.len().next_multiple_of(4096) as u64]);
    assert!(matches!(file.problems(), [Error::NotRecognised { offset: 4096, .. }]), "{:?}", file.problems());
}

#[test]
fn however_many_are_damaged_the_good_one_is_found() {
    let good = host_elf(&[(".hip_fatbin", &bundle())]);
    let bad = b"\x7fELF\x02\x01\x01";
    let names: Vec<_> = (0..70).map(|index| format!("bad{index}.so")).collect();
    let mut members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &bad[..])).collect();
    members.push(("good.so", &good));
    for bytes in [archive(&members), zip(0, false, &members)] {
        let file = file(&bytes);
        let bundles = file.bundles();
        assert_eq!(bundles.iter().map(Bundle::member).collect::<Vec<_>>(), [Some("good.so")]);
        assert_eq!(file.problems().len(), 65);
        assert_eq!(file.problems().last(), Some(&Error::More { count: 6 }));
        assert_eq!(file.problems()[64].to_string(), "and 6 more problems, which are not listed");
    }
}

/// A zip file whose members all share the bytes of the first.
fn overlapping(method: u16) -> Vec<u8> {
    let good = host_elf(&[(".hip_fatbin", &bundle())]);
    let mut bytes = zip(method, false, &[("a.so", &good), ("b.so", &good)]);
    let second = bytes.windows(4).rposition(|word| word == b"PK\x01\x02").unwrap();
    bytes[second + 42..second + 46].fill(0);
    bytes
}

#[test]
fn members_that_share_bytes_are_refused() {
    let folder = std::env::temp_dir().join(format!("windlass-overlap-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let options = Options::default();
    for method in [0, 8] {
        let bytes = overlapping(method);
        let path = folder.join(format!("{method}.whl"));
        fs::write(&path, &bytes).unwrap();
        let errors = [
            File::parse(&bytes, &options).unwrap_err(),
            Input::open(&path, &options).unwrap().file(&options).unwrap_err(),
            Wheel::open(&path).unwrap_err(),
        ];
        for error in errors {
            assert!(
                matches!(&error, Error::Malformed { problem, .. } if problem.contains("next")),
                "{error}"
            );
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_section_that_objcopy_compressed_says_how_to_unpack_it() {
    let mut bytes = host_elf(&[(".hip_fatbin", &bundle())]);
    let table = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    bytes[table + 64 + 8..table + 64 + 16].copy_from_slice(&0x802_u64.to_le_bytes());
    let error = File::parse(&bytes, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("--compress-sections .hip_fatbin=none"), "{error}");
}

#[test]
fn a_package_of_debian_is_called_that() {
    let bytes = archive(&[("debian-binary", b"2.0\n"), ("data.tar.xz", b"x")]);
    let error = File::parse(&bytes, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("Debian") && error.to_string().contains("dpkg-deb"), "{error}");
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes: megabytes of ids, which is the limit")]
fn ids_longer_than_a_file_can_bear_cost_their_bundle() {
    let long = |byte: u8| {
        let row = crate::support::Row { offset: 0, size: 0, id_size: None, id: vec![byte; 1000] };
        plain_rows(4096, &vec![row; 4096], b"")
    };
    let bytes = row(&[&Ccob::zlib(2, &long(0xff)).bytes(), &Ccob::zstd(3, &bundle()).bytes()]);
    let file = file(&bytes);
    assert!(
        matches!(file.problems(), [Error::Limit { what, .. }] if what.contains("ids")),
        "{:?}",
        file.problems()
    );
    assert_eq!(file.bundles().len(), 1);
    assert!(file.bundles()[0].extract(1).is_ok());
}
