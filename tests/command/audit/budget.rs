// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small files that would unpack to much more than any file with code.

use std::io::Write;

use super::made::{packed_bundle, stored, wheel};
use super::{Folder, audit};

const MIB: usize = 1 << 20;

/// The head of an archive with one member of so many MiB, which is no code.
fn head_of_archive(mib: usize) -> Vec<u8> {
    format!("!<arch>\n{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "a/", 0, 0, 0, 644, mib * MIB).into_bytes()
}

/// Streams in a row count as one.
fn zstd(mib: usize) -> Vec<u8> {
    let zeros = zstd::encode_all(&vec![0; 16 * MIB][..], 1).unwrap();
    let head = zstd::encode_all(&head_of_archive(mib)[..], 1).unwrap();
    [head, zeros.repeat(mib / 16)].concat()
}

fn bzip2(mib: usize) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(&[head_of_archive(mib), vec![0; mib * MIB]].concat()).unwrap();
    encoder.finish().unwrap()
}

/// The name of the file, and that of its limit, are in the problem, and the exit code is 1.
fn assert_stops(name: &str, bytes: &[u8]) {
    assert!(bytes.len() < 8 * MIB, "{name} has {} bytes", bytes.len());
    let folder = Folder::new();
    let path = folder.put(name, bytes);
    let finished = audit(&[&path], "gfx942");
    assert_eq!(finished.code, Some(1), "{name}: {}{}", finished.stdout, finished.stderr);
    let limit = 256 * MIB + 64 * bytes.len();
    let reason =
        format!("it unpacks to more than {limit} bytes, the limit for a file of {} bytes", bytes.len());
    assert_eq!(finished.stdout.matches(&reason).count(), 1, "{name}: {}", finished.stdout);
    assert!(finished.stderr.contains(" with problems"), "{name}: {}", finished.stderr);
}

#[test]
fn members_share_a_budget() {
    let large = zstd(112);
    let members = ["a.so.zst", "b.so.zst", "c.so.zst"].map(|name| (name, &large[..]));
    assert_stops("streams.whl", &wheel(&members));
    let zeros = vec![0; 160 * MIB];
    assert_stops(
        "data.whl",
        &wheel(&["a.bin", "b.bin", "c.bin", "d.bin", "e.bin"].map(|name| (name, &zeros[..]))),
    );
    assert_stops("stream.zst", &zstd(320));
    let slow = bzip2(48);
    let names: Vec<_> = (0..6).map(|index| format!("{index}.bz2")).collect();
    assert_stops("slow.whl", &stored(&Vec::from_iter(names.iter().map(|name| (&**name, &slow[..])))));
}

#[test]
fn zip_files_in_zip_files_share_a_budget() {
    let inner = wheel(&[("a.so.zst", &zstd(112))]);
    let middle = wheel(&[("a.whl", &inner), ("b.whl", &inner)]);
    assert_stops("outer.whl", &wheel(&[("c.whl", &middle), ("d.whl", &inner)]));
}

#[test]
fn compressed_bundles_share_a_budget() {
    let bundle = packed_bundle(40 * MIB as u64);
    assert_stops("row.hipfb", &bundle.repeat(8));
    assert_stops("row.whl", &wheel(&[("a.hipfb", &bundle.repeat(4)), ("b.hipfb", &bundle.repeat(4))]));
}

/// The header of version 1 does not state the size of the stored bundle, so that a zlib
/// stream is unpacked to find its end.
#[test]
fn bundles_whose_end_is_looked_for_share_a_budget() {
    let mut bundle = zstd::decode_all(&packed_bundle(8 << 10)[32..]).unwrap();
    bundle.resize(96 * MIB, 0);
    let head = [&b"CCOB\x01\0\0\0"[..], &(96 * MIB as u32).to_le_bytes(), &[0; 8]].concat();
    let mut zlib = flate2::write::ZlibEncoder::new(head, flate2::Compression::fast());
    zlib.write_all(&bundle).unwrap();
    let without_end = zlib.finish().unwrap();
    let names: Vec<_> = (0..4).map(|index| format!("{index}.hipfb")).collect();
    assert_stops("ends.whl", &wheel(&Vec::from_iter(names.iter().map(|name| (&**name, &without_end[..])))));
}

#[test]
fn each_file_has_a_budget_of_its_own() {
    let folder = Folder::new();
    let code = std::fs::read("cts/kernels/bundles/vector_add.gfx942.co").unwrap();
    let large = wheel(&[("a.so.zst", &zstd(160)), ("b.co", &code)]);
    let paths = ["a.whl", "b.whl"].map(|name| folder.put(name, &large));
    let finished = audit(&[&paths[0], &paths[1]], "gfx942");
    assert_eq!(finished.code, Some(0), "{}{}", finished.stdout, finished.stderr);
}
