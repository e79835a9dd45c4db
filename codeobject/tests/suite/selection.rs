// SPDX-License-Identifier: MIT OR Apache-2.0
//! The entry that a GPU gets, and the verdicts on the others.

use windlass_codeobject::{File, Fit, Options, Selection};

use crate::HOST;
use crate::support::{Ccob, ElfBuilder, plain};

const GENERIC_V1: u32 = 1 << 24;

/// Id, e_flags, ABI version.
type Spec = (&'static str, u32, u8);

fn bundle(specs: &[Spec]) -> Vec<u8> {
    let images: Vec<Vec<u8>> =
        specs.iter().map(|(id, flags, abi)| ElfBuilder::for_flags(*flags, *abi, id).build()).collect();
    let ids: Vec<String> = specs
        .iter()
        .map(
            |(id, ..)| {
                if id.contains("amd") { (*id).to_owned() } else { format!("hipv4-amdgcn-amd-amdhsa--{id}") }
            },
        )
        .collect();
    let entries: Vec<(&str, &[u8])> =
        ids.iter().map(String::as_str).zip(images.iter().map(Vec::as_slice)).collect();
    plain(&entries, 8)
}

fn select_with(bytes: &[u8], agent: &str, options: &Options) -> Selection {
    let file = File::parse(bytes, options).unwrap();
    let selection = file.bundles()[0].select(&agent.parse().unwrap(), options);
    assert_eq!(selection.verdicts.len(), file.bundles()[0].entries().len());
    assert!(selection.verdicts.iter().enumerate().all(|(index, verdict)| verdict.entry == index));
    selection
}

fn select(specs: &[Spec], agent: &str) -> Selection {
    let content = bundle(specs);
    let plain = select_with(&content, agent, &Options::default());
    let packed = select_with(&Ccob::zstd(3, &content).bytes(), agent, &Options::default());
    assert_eq!(plain, packed, "compression makes no difference");
    plain
}

fn said(selection: &Selection, entry: usize) -> String {
    selection.verdicts[entry].to_string()
}

#[test]
fn the_exact_entry_wins_whatever_the_order() {
    let specs = [
        ("gfx9-4-generic", 0x5f | GENERIC_V1, 4),
        ("gfx90a", 0x53f, 3),
        ("gfx942", 0x54c, 3),
        ("gfx1100", 0x41, 3),
    ];
    let selection = select(&specs, "gfx942:sramecc+:xnack-");
    assert_eq!(selection.best, Some(2));
    assert_eq!(selection.verdicts[2].fit, Some(Fit::Exact));
    assert_eq!(said(&selection, 0), "generic gfx9-4-generic (entry 2 is preferred)");
    assert_eq!(said(&selection, 1), "refused: gfx90a is another processor than gfx942");
    assert_eq!(said(&selection, 3), "refused: gfx1100 is another processor than gfx942");
}

#[test]
fn entries_that_state_more_features_are_preferred_and_must_agree() {
    let specs = [
        ("gfx90a", 0x53f, 3),
        ("gfx90a:xnack+", 0x73f, 3),
        ("gfx90a:xnack-", 0x63f, 3),
        ("gfx90a:sramecc+:xnack-", 0xe3f, 3),
    ];
    let selection = select(&specs, "gfx90a:sramecc+:xnack-");
    assert_eq!(selection.best, Some(3));
    assert_eq!(
        said(&selection, 1),
        "refused: gfx90a:xnack+ needs xnack+, the GPU runs gfx90a:sramecc+:xnack-"
    );
    assert_eq!(select(&specs, "gfx90a:sramecc+:xnack+").best, Some(1));
    assert_eq!(select(&specs, "gfx90a:sramecc-:xnack-").best, Some(2));
    let open = select(&specs, "gfx90a");
    assert_eq!(open.best, Some(0));
    assert!(said(&open, 2).contains("ask for gfx90a:xnack-"), "{}", said(&open, 2));
}

#[test]
fn generic_targets_need_a_version() {
    let selection = select(&[("gfx9-4-generic", 0x5f | GENERIC_V1, 4)], "gfx950:sramecc+:xnack-");
    assert_eq!((selection.best, selection.verdicts[0].fit), (Some(0), Some(Fit::Generic)));
    for specs in [[("gfx9-4-generic", 0x5f, 4)], [("gfx9-4-generic", 0x5f | GENERIC_V1, 3)]] {
        let selection = select(&specs, "gfx950:sramecc+:xnack-");
        assert_eq!(selection.best, None);
        assert!(said(&selection, 0).contains("code object version 6"), "{}", said(&selection, 0));
    }
    let selection = select(&[("gfx11-generic", 0x54 | GENERIC_V1, 4)], "gfx1030");
    assert_eq!(said(&selection, 0), "refused: gfx11-generic does not cover gfx1030");
}

#[test]
fn generic_targets_serve_processors_that_no_table_knows_by_their_numbers() {
    let specs = [("gfx12-generic", 0x59 | GENERIC_V1, 4), ("gfx11-generic", 0x54 | GENERIC_V1, 4)];
    let selection = select(&specs, "gfx1199");
    assert_eq!((selection.best, selection.verdicts[1].fit), (Some(1), Some(Fit::Generic)));
    assert_eq!(said(&selection, 1), "generic gfx11-generic (by its number)");
    assert_eq!(select(&specs, "gfx1250").best, None, "gfx1250 is known, and not one of gfx12-generic");
    let specs = [("gfx12-generic", 0x59 | GENERIC_V1, 4), ("gfx12-5-generic", 0x5b | GENERIC_V1, 4)];
    assert_eq!(select(&specs, "gfx1252").best, Some(1), "gfx12 is split, so its number alone says nothing");
    let specs = [("gfx13-generic", 0x70 | GENERIC_V1, 4), ("gfx13-2-generic", 0x71 | GENERIC_V1, 4)];
    assert_eq!(select(&specs, "gfx1327").best, Some(1), "the nearer of two that no table knows");
}

#[test]
fn compatible_families_only_when_asked_for() {
    let content = bundle(&[("gfx1100", 0x41, 3), ("gfx1030", 0x36, 3)]);
    let selection = select_with(&content, "gfx1031", &Options::default());
    assert_eq!(selection.best, None);
    assert!(said(&selection, 1).contains("compatible_families"), "{}", said(&selection, 1));
    let mut options = Options::default();
    options.compatible_families = true;
    let selection = select_with(&content, "gfx1031", &options);
    assert_eq!((selection.best, selection.verdicts[1].fit), (Some(1), Some(Fit::Family)));
    assert_eq!(selection.verdicts[0].fit, None);
}

#[test]
fn an_id_that_its_code_contradicts_is_not_believed() {
    let selection = select(&[("gfx942", 0x53f, 3), ("gfx9-4-generic", 0x5f | GENERIC_V1, 4)], "gfx942");
    assert_eq!(selection.best, Some(1), "the next best entry is taken");
    assert_eq!(said(&selection, 0), "refused: its id says gfx942, but its ELF is for gfx90a");
    let selection = select(&[("gfx942:xnack+", 0x64c, 3)], "gfx942:xnack+");
    assert!(said(&selection, 0).contains("its ELF is for gfx942:xnack-"), "{}", said(&selection, 0));
    for (id, flags) in [("gfx942", 0x500), ("gfx942", 0x57e), ("gfx9999", 0x54c), ("gfx9999", 0x500)] {
        let selection = select(&[(id, flags, 3)], id);
        assert!(said(&selection, 0).contains("but its ELF is for"), "{}", said(&selection, 0));
    }
    // The code states a mode that the id leaves open.
    let selection = select(&[("gfx942", 0x74c, 3)], "gfx942:sramecc+:xnack-");
    assert!(said(&selection, 0).contains("needs xnack+"), "{}", said(&selection, 0));
}

#[test]
fn processors_that_no_table_knows_are_matched_by_name() {
    let selection = select(&[("gfx9999", 0xfe, 3)], "gfx9999");
    assert_eq!(selection.best, Some(0));
}

#[test]
fn the_first_of_equals_is_taken() {
    let selection = select(&[("gfx1100", 0x41, 3), ("gfx1100", 0x41, 3)], "gfx1100");
    assert_eq!(selection.best, Some(0));
    assert_eq!(said(&selection, 1), "exact gfx1100 (entry 0 is preferred)");
}

#[test]
fn kinds_and_triples() {
    let specs = [
        ("openmp-amdgcn-amd-amdhsa--gfx942", 0x54c, 3),
        ("hip-amdgpu9.0a-amd-amdhsa--gfx942", 0x54c, 3),
        ("hip-spirv64-amd-amdhsa--amdgcnspirv", 0x54c, 3),
        ("hip-amdgcn-amd-amdhsa--gfx942:xnack+:xnack+", 0x54c, 3),
        (HOST_ID, 0x54c, 3),
        ("hip-amdgpu9.42-amd-amdhsa-unknown-gfx942", 0x54c, 3),
        ("hip-amdgcn-amd-amdhsa-gfx942", 0x54c, 3),
    ];
    let selection = select(&specs, "gfx942:sramecc+:xnack-");
    assert_eq!(selection.best, Some(5));
    for (entry, words) in [
        (0, "for openmp"),
        (1, "not that of gfx942"),
        (2, "SPIR-V"),
        (3, "twice"),
        (4, "host's part"),
        (6, "exact"),
    ] {
        assert!(said(&selection, entry).contains(words), "{}", said(&selection, entry));
    }
}

const HOST_ID: &str = "host-x86_64-unknown-amd-gnu-";

#[test]
fn empty_and_foreign_images_are_refused() {
    let mut host = ElfBuilder::new(vec![]);
    host.machine = 62;
    let mut pal = ElfBuilder::new(vec![]).build();
    pal[7] = 65;
    let id = crate::GFX942;
    let bytes = plain(&[(HOST, b""), (id, b""), (id, b"no ELF at all"), (id, &host.build()), (id, &pal)], 8);
    let selection = select_with(&bytes, "gfx942", &Options::default());
    assert_eq!(selection.best, None);
    for (entry, words) in [(1, "empty"), (2, "no 64-bit"), (3, "machine 62"), (4, "HSA")] {
        assert!(said(&selection, entry).contains(words), "{}", said(&selection, entry));
    }
}

#[test]
fn what_cannot_be_unpacked_is_a_verdict() {
    let content = bundle(&[("gfx942", 0x54c, 3)]);
    let mut ccob = Ccob::zlib(3, &content);
    ccob.payload = crate::support::zlib(&content[..100]);
    let bytes = ccob.bytes();
    let selection = select_with(&bytes, "gfx942", &Options::default());
    assert_eq!(selection.best, None);
    assert!(said(&selection, 0).contains("zlib stream"), "{}", said(&selection, 0));
}

#[test]
fn a_bare_code_object_is_judged_like_an_entry() {
    let elf = ElfBuilder::for_flags(0x74c, 3, "gfx942:xnack+").build();
    assert_eq!(select_with(&elf, "gfx942:sramecc+:xnack+", &Options::default()).best, Some(0));
    let refused = select_with(&elf, "gfx942:sramecc+:xnack-", &Options::default());
    assert!(said(&refused, 0).contains("needs xnack+"));
}
