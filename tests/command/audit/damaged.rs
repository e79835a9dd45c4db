// SPDX-License-Identifier: MIT OR Apache-2.0
//! Damage that decoding does not notice: a zstd stream of clang's has no checksum, but the bundle's header has a hash.

use std::borrow::Cow;
use std::fs;

use windlass_codeobject::{File, Options};

use super::{Folder, VECTOR_ADD, audit};

/// Offsets in the header of version 2: the unpacked size, the hash, the end.
const SIZE: usize = 12;
const HASH: usize = 16;
const HEADER: usize = 24;

#[test]
fn no_changed_bit_of_a_compressed_bundle_passes() {
    let folder = Folder::new();
    let bytes = fs::read(VECTOR_ADD).unwrap();
    let unpacked = |bytes: &[u8]| -> Option<Vec<Vec<u8>>> {
        let file = File::parse(bytes, &Options::default()).ok()?;
        let bundle = file.bundles().first()?;
        (0..bundle.entries().len()).map(|entry| bundle.image(entry).ok().map(Cow::into_owned)).collect()
    };
    let code = |place: usize, bit: u8| {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1 << bit;
        let path = folder.put("damaged.ccob", &damaged);
        // zstd ignores a few bits of its stream.
        let same = || unpacked(&damaged).is_some_and(|images| Some(images) == unpacked(&bytes));
        if place >= HEADER && same() { Some(1) } else { audit(&[&path], "gfx942").code }
    };
    let whole = folder.put("whole.ccob", &bytes);
    assert_eq!(audit(&[&whole], "gfx942").code, Some(0));
    let places = [SIZE, HASH, HASH + 7].into_iter().chain((HEADER..bytes.len()).step_by(bytes.len() / 40));
    for (place, bit) in places.zip((0..8).cycle()) {
        assert!(matches!(code(place, bit), Some(1 | 2)), "byte {place}, bit {bit}");
    }
}
