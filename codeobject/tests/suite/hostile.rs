// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files with false statements about themselves: each gives a result or a named error.

use windlass_codeobject::{EntryTarget, Error, File, Options};

use crate::support::{Ccob, ElfBuilder, KernelSpec, Row, plain, plain_rows, zstd_frame};
use crate::{GFX942, HOST};

fn error(bytes: &[u8]) -> Error {
    File::parse(bytes, &Options::default()).unwrap_err()
}

fn row(offset: u64, size: u64) -> Row {
    Row { offset, size, id_size: None, id: GFX942.as_bytes().to_vec() }
}

#[test]
fn ranges_outside_the_bundle_are_listed_with_their_problem() {
    for (offset, size, words) in [
        (u64::MAX - 4095, 8192, "overflow"),
        (u64::MAX, u64::MAX, "overflow"),
        (4096, u64::MAX - 4096, "past the end"),
        (200, 1 << 40, "past the end"),
        (1 << 40, 1, "past the end"),
        (0, 64, "inside the bundle's table"),
        (40, 8, "inside the bundle's table"),
    ] {
        let content = plain_rows(1, &[row(offset, size)], &[7; if cfg!(miri) { 256 } else { 4096 }]);
        for bytes in [content.clone(), Ccob::zstd(3, &content).bytes(), Ccob::zlib(2, &content).bytes()] {
            let file = File::parse(&bytes, &Options::default()).unwrap();
            let bundle = &file.bundles()[0];
            assert!(bundle.entries()[0].problem().unwrap().contains(words), "{:?}", bundle.entries());
            assert!(bundle.extract(0).unwrap_err().to_string().contains(words));
            let selection = bundle.select(&"gfx942".parse().unwrap(), &Options::default());
            assert_eq!(selection.best, None);
            assert!(selection.verdicts[0].to_string().contains(words));
        }
    }
}

#[test]
fn overlapping_ranges_are_only_ranges() {
    let elf = ElfBuilder::new(vec![KernelSpec::new("k")]).build();
    let start = 32 + 16 * (24 + GFX942.len() as u64);
    let rows = vec![row(start, elf.len() as u64); 16];
    let bytes = plain_rows(16, &rows, &elf);
    let file = File::parse(&bytes, &Options::default()).unwrap();
    assert!((0..16).all(|entry| file.bundles()[0].extract(entry).unwrap() == elf));
    assert!(matches!(file.bundles()[0].extract(16), Err(Error::NotFound { .. })));
}

#[test]
fn tables_that_claim_too_much() {
    for count in [4097, 1 << 32, u64::MAX] {
        assert!(matches!(error(&plain_rows(count, &[row(0, 0)], b"")), Error::Limit { .. }));
    }
    assert!(matches!(error(&plain_rows(2, &[row(0, 0)], b"")), Error::Truncated { .. }));
    for id_size in [1025, u64::MAX, u64::MAX - 50] {
        let row = Row { id_size: Some(id_size), ..row(0, 0) };
        assert!(matches!(error(&plain_rows(1, &[row], b"")), Error::Limit { .. }));
    }
    let row = Row { id_size: Some(1000), ..row(0, 0) };
    assert!(matches!(error(&plain_rows(1, &[row], b"")), Error::Truncated { .. }));
}

#[test]
fn bundles_cut_short_anywhere() {
    let whole = plain(&[(HOST, b""), (GFX942, &[9; 100])], 8);
    for size in 0..whole.len() {
        match File::parse(&whole[..size], &Options::default()) {
            Ok(file) => assert!(file.bundles()[0].extract(1).is_err(), "{size}"),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    for ccob in [Ccob::zlib(3, &whole), Ccob::zstd(3, &whole), Ccob::zstd(2, &whole)] {
        let whole = ccob.bytes();
        for size in 0..whole.len() {
            assert!(File::parse(&whole[..size], &Options::default()).is_err(), "{size}");
        }
    }
}

#[test]
fn header_fields_of_compressed_bundles() {
    let content = plain(&[(HOST, b""), (GFX942, &[9; 100])], 8);
    for version in [0, 4, 255, 65535] {
        let message = error(&Ccob { version, ..Ccob::zstd(3, &content) }.bytes()).to_string();
        assert!(message.contains(&format!("v{version}")), "{message}");
    }
    for method in [2, 255, 65535] {
        let message = error(&Ccob { method, ..Ccob::zstd(3, &content) }.bytes()).to_string();
        assert!(message.contains(&format!("method {method}")), "{message}");
    }
    for version in [2, 3] {
        let sized = |size| Ccob { stored_size: Some(size), ..Ccob::zstd(version, &content) }.bytes();
        assert!(matches!(error(&sized(0)), Error::Malformed { .. }));
        assert!(matches!(error(&sized(23)), Error::Malformed { .. }));
        assert!(matches!(error(&sized(0xffff_ffff)), Error::Truncated { .. }));
    }
    let huge = Ccob { stored_size: Some(u64::MAX), ..Ccob::zstd(3, &content) };
    assert!(matches!(error(&huge.bytes()), Error::Truncated { .. }));
    let unpacked = |unpacked_size| Ccob { unpacked_size, ..Ccob::zstd(3, &content) }.bytes();
    assert!(matches!(error(&unpacked(0)), Error::Truncated { .. }));
    let understated = error(&unpacked(33)).to_string();
    assert!(understated.contains("33") || understated.contains("cut short"), "{understated}");
}

#[test]
fn a_stream_that_ends_before_what_it_declares() {
    let content = plain(&[(GFX942, &[9; 100]), ("hip-amdgcn-amd-amdhsa--gfx90a", &[8; 5000])], 8);
    for short in [
        Ccob { payload: zstd_frame(&content[..1000]), ..Ccob::zstd(3, &content) },
        Ccob { payload: crate::support::zlib(&content[..1000]), ..Ccob::zlib(3, &content) },
    ] {
        let bytes = short.bytes();
        let file = File::parse(&bytes, &Options::default()).unwrap();
        assert_eq!(file.bundles()[0].extract(0).unwrap(), [9; 100]);
        for _ in 0..2 {
            let error = file.bundles()[0].extract(1).unwrap_err();
            assert!(matches!(error, Error::Decode { unpacked: 1000, .. }), "{error}");
        }
        assert_eq!(file.bundles()[0].extract(0).unwrap(), [9; 100], "what was decoded stays");
    }
}

#[test]
fn bundles_are_not_nested() {
    let inner = Ccob::zstd(3, &plain(&[(HOST, b"")], 8)).bytes();
    for bytes in [Ccob::zstd(3, &inner).bytes(), Ccob::zlib(2, &inner).bytes()] {
        assert!(error(&bytes).to_string().contains("never nested"), "{}", error(&bytes));
    }
    let elf = ElfBuilder::new(vec![]).build();
    assert!(error(&Ccob::zstd(3, &elf).bytes()).to_string().contains("begins with"));
    assert!(error(&Ccob::zstd(3, &[0; 100]).bytes()).to_string().contains("begins with"));
}

#[test]
fn ids_of_all_sorts_are_listed() {
    for (id, known) in [
        (&b"hip-amdgcn-amd-amdhsa--gfx942\xff\xfe"[..], false),
        (b"hip-amdgcn-amd-amdhsa--gfx9\x0042", false),
        (b"hip-amdgcn-amd-amdhsa--gfx942:xnack+:sramecc-", true),
        (b"hip-amdgcn-amd-amdhsa--gfx942:warp+", true),
        (b"---------", false),
        (b"", false),
    ] {
        let bytes = plain_rows(1, &[Row { id: id.to_vec(), ..row(100, 0) }], &[0; 100]);
        let file = File::parse(&bytes, &Options::default()).unwrap();
        let entry = &file.bundles()[0].entries()[0];
        assert_eq!(entry.id(), id);
        assert_eq!(matches!(entry.target(), EntryTarget::Gpu(_)), known, "{entry:?}");
    }
}

#[test]
fn formats_that_are_not_read_are_named() {
    for (bytes, name) in [
        (&b"!<thin>\nfoo"[..], "thin archive"),
        (b"HIPK\x01\0\0\0", "kpack reference"),
        (b"\x03\x02\x23\x07\0\0\0\0", "SPIR-V"),
        (b"BC\xc0\xde", "bitcode"),
        (b"\n; __CLANG_OFFLOAD_BUNDLE____START__ host-x86_64-unknown-linux-gnu-\n", "text bundle"),
        (b"\n// __CLANG_OFFLOAD_BUNDLE____START__ host-x86_64-unknown-linux-gnu-\n", "text bundle"),
    ] {
        let error = error(bytes);
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(matches!(error(b""), Error::NotRecognised { .. }));
    assert!(matches!(error(b"{\"json\": true}"), Error::NotRecognised { .. }));
    assert!(matches!(error(&[0; 4096]), Error::NotRecognised { .. }));
}

#[test]
fn a_row_without_end_is_walked_once() {
    let one = Ccob::zstd(3, &plain(&[(HOST, b"")], 8)).bytes();
    let count = if cfg!(miri) { 50 } else { 2000 };
    let bytes = one.repeat(count);
    let file = File::parse(&bytes, &Options::default()).unwrap();
    assert_eq!(file.bundles().len(), count);
}

#[test]
fn of_a_row_of_damaged_bundles_some_are_listed() {
    let mut damaged = Ccob::zstd(3, &plain(&[(HOST, b"")], 8));
    damaged.payload[4..].fill(0xff);
    let count = if cfg!(miri) { 70 } else { 10_000 };
    let bytes = damaged.bytes().repeat(count);
    assert!(File::parse(&bytes, &Options::default()).is_err());
    let bytes = [plain(&[(HOST, b"")], 8), bytes].concat();
    let file = File::parse(&bytes, &Options::default()).unwrap();
    assert_eq!(file.problems().len(), 65);
    assert_eq!(file.problems().last(), Some(&Error::More { count: count as u64 - 64 }));
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes: 65 536 bundles, which is the limit")]
fn more_bundles_than_any_file_has_are_limited() {
    let elf = ElfBuilder::new(vec![]).build();
    let executable = crate::support::hip1(&vec![&elf[..64]; 4000]);
    let bytes = crate::support::zip(0, false, &[("a.fb", &executable[..]); 20]);
    let file = File::parse(&bytes, &Options::default()).unwrap();
    assert_eq!(file.bundles().len(), 65_536);
    assert!(matches!(file.problems().last(), Some(Error::Limit { .. })));
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes: 65 536 entries, which is the limit")]
fn entries_that_compression_multiplies_are_limited_per_file() {
    let rows = vec![Row { id: Vec::new(), ..row(0, 0) }; 4096];
    let bytes = Ccob::zstd(3, &plain_rows(4096, &rows, b"")).bytes().repeat(200);
    let file = File::parse(&bytes, &Options::default()).unwrap();
    let entries: usize = file.bundles().iter().map(|bundle| bundle.entries().len()).sum();
    assert!(entries <= 65_536 + bytes.len() / 64, "{entries}");
    assert!(matches!(file.problems().first(), Some(Error::Limit { .. })));
}
