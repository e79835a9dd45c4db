// SPDX-License-Identifier: MIT OR Apache-2.0
//! A search for one bundle does not read the bundles behind it.

use windlass_codeobject::{Error, File, Options, TargetId};

use crate::support::{
    Ccob, ElfBuilder, KernelSpec, amd1, archive, hip1, host_elf, kpack, plain, stripped_host_elf, zip,
};
use crate::{GFX942, HOST};

const GFX90A: &str = "hipv4-amdgcn-amd-amdhsa--gfx90a";

fn elf() -> Vec<u8> {
    ElfBuilder::new(vec![KernelSpec::new("scale")]).build()
}

/// The container of a file with three bundles, the last of which is damaged.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let elf = elf();
    let good = Ccob::zstd(2, &plain(&[(HOST, b""), (GFX942, &elf)], 4096)).bytes();
    let broken = Ccob::zstd(2, b"no table").bytes();
    let row = [&good[..], &good, &broken].concat();
    let plain_bundle = plain(&[(GFX942, &elf)], 4096);
    let no_table = [&b"__CLANG_OFFLOAD_BUNDLE__"[..], &[0xff; 40]].concat();
    let members = [("a.o/", &host_elf(&[(".hip_fatbin", &row)])[..])];
    let loose = [("a/", &plain_bundle[..]), ("b/", &plain_bundle), ("c/", &no_table)];
    let zipped = [("a", &plain_bundle[..]), ("b", &plain_bundle), ("c", &no_table)];
    let cut = &elf[..40];
    vec![
        ("row", row.clone()),
        ("host", host_elf(&[(".hip_fatbin", &row)])),
        ("stripped host", stripped_host_elf(&[&plain_bundle, &plain_bundle, &no_table], true)),
        ("archive of a host", archive(&members)),
        ("archive", archive(&loose)),
        ("zip", zip(0, false, &zipped)),
        ("HIP1", hip1(&[&elf, &elf, cut])),
        ("AMD1", amd1(&[&elf, &elf, cut])),
    ]
}

#[test]
fn what_lies_behind_is_not_looked_at() {
    let options = Options::default();
    for (name, bytes) in files() {
        let whole = File::parse(&bytes, &options).unwrap();
        assert_eq!((whole.bundles().len(), whole.problems().len()), (2, 1), "{name}: {:?}", whole.problems());
        for wanted in 0..2 {
            let mut seen = Vec::new();
            let file = File::parse_until(&bytes, &options, |bundle| {
                seen.push(bundle.index());
                bundle.index() == wanted
            })
            .unwrap();
            assert_eq!(seen, (0..=wanted).collect::<Vec<_>>(), "{name}");
            assert_eq!(file.problems(), [], "{name}");
            assert_eq!(file.kind(), whole.kind(), "{name}");
            let places = |file: &File<'_>| -> Vec<_> {
                file.bundles().iter().map(|bundle| (bundle.offset(), bundle.stored_size())).collect()
            };
            assert_eq!(places(&file), places(&whole)[..=wanted], "{name}");
        }
        let all = File::parse_until(&bytes, &options, |_| false).unwrap();
        assert_eq!((all.bundles().len(), all.problems()), (2, whole.problems()), "{name}");
    }
}

#[test]
fn the_binaries_of_a_kpack_archive_come_one_by_one() {
    let elf = elf();
    let images = [("liba.so#0", "gfx942", &elf[..]), ("libb.so#0", "gfx942", &elf)];
    let bytes = kpack(true, &images, |_| {});
    let file = File::parse_until(&bytes, &Options::default(), |_| true).unwrap();
    assert_eq!((file.bundles().len(), file.problems()), (1, &[][..]));
}

#[test]
fn a_choice_may_end_the_search() {
    let elf = elf();
    let other = ElfBuilder::for_flags(0x53f, 3, "gfx90a").build();
    let bundles = [(GFX90A, &other), (GFX942, &elf), (GFX90A, &other)];
    let row: Vec<u8> =
        bundles.iter().flat_map(|(id, elf)| Ccob::zlib(3, &plain(&[(id, elf)], 4096)).bytes()).collect();
    let options = Options::default();
    let agent: TargetId = "gfx942:sramecc+:xnack-".parse().unwrap();
    let mut best = None;
    let file = File::parse_until(&row, &options, |bundle| {
        best = bundle.select(&agent, &options).best;
        best.is_some()
    })
    .unwrap();
    assert_eq!(file.bundles().len(), 2);
    assert!(file.bundles()[1].take_image(best.unwrap()).unwrap()[..] == elf);
}

#[test]
fn what_holds_nothing_is_an_error_all_the_same() {
    let wanted = |bytes: &[u8]| File::parse_until(bytes, &Options::default(), |_| true).map(|_| ());
    assert!(matches!(wanted(b"#!/bin/sh"), Err(Error::NotRecognised { .. })));
    assert!(wanted(&Ccob::zstd(2, b"no table").bytes()).is_err());
}

#[test]
fn sections_named_after_entries_are_behind_the_rows_of_a_host() {
    let elf = elf();
    let row = plain(&[(HOST, b""), (GFX942, &elf)], 4096);
    let named = format!("__CLANG_OFFLOAD_BUNDLE__{GFX942}");
    let bytes = host_elf(&[(".hip_fatbin", &row), (&named, &elf)]);
    let options = Options::default();
    assert_eq!(File::parse(&bytes, &options).unwrap().bundles().len(), 2);
    let file = File::parse_until(&bytes, &options, |_| true).unwrap();
    assert_eq!(file.bundles().len(), 1);
    assert_eq!(file.bundles()[0].entries().len(), 2, "the row's");
}
