// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host programs without section headers: bundles are found by the program's own wrappers.

use windlass_codeobject::{Error, File, FileKind, Options};

use crate::support::{Ccob, ElfBuilder, KernelSpec, plain, stripped_host_elf};
use crate::{GFX942, HOST};

fn bundles() -> Vec<Vec<u8>> {
    let mut elf = ElfBuilder::new(vec![KernelSpec::new("scale")]).build();
    if cfg!(miri) {
        // The tests do not read it.
        elf.truncate(1000);
    }
    let bundle = plain(&[(HOST, b""), (GFX942, &elf)], 4096);
    vec![bundle.clone(), Ccob::zstd(3, &bundle).bytes(), Ccob::zlib(1, &bundle).bytes(), bundle]
}

fn host(bundles: &[Vec<u8>], movable: bool) -> Vec<u8> {
    stripped_host_elf(&bundles.iter().map(Vec::as_slice).collect::<Vec<_>>(), movable)
}

/// The stored bytes of each bundle.
fn stored(host: &[u8]) -> Vec<Vec<u8>> {
    let file = File::parse(host, &Options::default()).unwrap();
    assert_eq!((file.kind(), file.problems()), (FileKind::HostElf, &[][..]));
    let range = |bundle: &windlass_codeobject::Bundle<'_>| {
        let start = bundle.offset() as usize;
        host[start..start + bundle.stored_size() as usize].to_vec()
    };
    file.bundles().iter().map(range).collect()
}

#[test]
fn wrappers_lead_to_the_bundles() {
    for movable in [false, true] {
        assert_eq!(stored(&host(&bundles(), movable)), bundles(), "movable: {movable}");
    }
}

#[test]
fn wrappers_that_point_nowhere_are_passed_over() {
    let mut host = host(&bundles(), false);
    let first = host.windows(4).position(|word| word == b"FPIH").unwrap();
    host[first + 8..first + 16].copy_from_slice(&u64::MAX.to_le_bytes());
    assert_eq!(stored(&host), bundles()[1..]);
    // A second wrapper for the same bundle, and one into the middle of it.
    let second = host[first + 32..first + 40].to_vec();
    host[first + 8..first + 16].copy_from_slice(&second);
    assert_eq!(stored(&host), bundles()[1..]);
    let inside = u64::from_le_bytes(second.try_into().unwrap()) + 8;
    host[first + 8..first + 16].copy_from_slice(&inside.to_le_bytes());
    assert_eq!(stored(&host), bundles()[1..]);
    // Of another version.
    host[first + 4] = 2;
    assert_eq!(stored(&host), bundles()[1..]);
}

/// Useless section headers: none, one without a name, or all without names.
#[test]
fn headers_that_tell_nothing_do_not_hide_the_wrappers() {
    for movable in [false, true] {
        let mut host = host(&bundles(), movable);
        let start = host.len().next_multiple_of(8);
        host.resize(start + 64, 0);
        host[40..48].copy_from_slice(&(start as u64).to_le_bytes());
        host[58..64].copy_from_slice(&[64, 0, 1, 0, 0, 0]);
        assert_eq!(stored(&host), bundles(), "movable: {movable}");
    }
}

#[test]
fn without_wrappers_the_error_says_what_is_missing() {
    let error = File::parse(&host(&[], true), &Options::default()).unwrap_err();
    assert!(matches!(&error, Error::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("wrapper"), "{error}");
}

#[test]
fn what_a_wrapper_points_to_may_be_damaged() {
    let mut bundles = bundles();
    bundles[1][40..].fill(0xff);
    bundles[2] = b"no bundle".to_vec();
    let host = host(&bundles, true);
    let file = File::parse(&host, &Options::default()).unwrap();
    assert_eq!(file.bundles().len(), 2);
    assert!(
        matches!(file.problems(), [Error::Decode { .. }, Error::NotRecognised { .. }]),
        "{:?}",
        file.problems()
    );
}
