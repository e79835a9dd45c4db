// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files in the formats of other tools.

use std::{fs, io::Write};

use super::{Folder, VECTOR_ADD};

/// A zip file with its members deflated.
pub(crate) fn wheel(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut out);
    for (name, bytes) in files {
        let method = rawzip::CompressionMethod::DEFLATE;
        let (mut entry, config) = archive.new_file(name).compression_method(method).start().unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast());
        let mut writer = config.wrap(encoder);
        writer.write_all(bytes).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    out
}

/// A zip file with uncompressed members.
pub(super) fn stored(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut out);
    for (name, bytes) in files {
        let (mut entry, config) = archive.new_file(name).start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(bytes).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    out
}

/// An executable of IREE for HIP with one module.
pub(super) fn hip1(image: &[u8]) -> Vec<u8> {
    let halves = |low: u32, high: u32| low | high << 16;
    let magic = u32::from_le_bytes(*b"HIP1");
    // A table with two lists; the second has a table with the image.
    let root = [16, magic, halves(8, 12), halves(4, 8), 8, 8, 8, 0, 1, 12];
    let module = [halves(6, 8), 4, 8, 4, image.len() as u32];
    let flat = [&root[..], &module].concat().into_iter().flat_map(u32::to_le_bytes);
    let flat: Vec<u8> = flat.chain(image.iter().copied()).chain([0; 4]).collect();
    [b"HIP1\0\0\0\0", &(flat.len() as u64).to_le_bytes()[..], &[0; 48], &flat].concat()
}

/// A kpack archive with one code object for gfx942.
pub(super) fn kpack(binary: &str, image: &[u8]) -> Vec<u8> {
    kpack_for("gfx942", binary, image)
}

/// A kpack archive for any architecture.
pub(crate) fn kpack_for(arch: &str, binary: &str, image: &[u8]) -> Vec<u8> {
    let mut bytes = b"KPAK\x01\0\0\0".to_vec();
    bytes.resize(64, 0);
    bytes.extend(image);
    let toc = bytes.len() as u64;
    bytes[8..16].copy_from_slice(&toc.to_le_bytes());
    let string = |text: &str| [&[0xa0 | text.len() as u8], text.as_bytes()].concat();
    bytes.push(0x82);
    for part in ["toc", binary, arch, "ordinal"] {
        bytes.extend(string(part));
        bytes.push(if part == "ordinal" { 0 } else { 0x81 });
    }
    bytes.extend([string("blobs"), vec![0x91, 0x82], string("offset"), vec![64], string("size")].concat());
    bytes.push(0xce);
    bytes.extend((image.len() as u32).to_be_bytes());
    bytes
}

/// A host ELF that refers to a kpack archive.
pub(super) fn split_library(name: &str, search: &str) -> Vec<u8> {
    let string = |text: &str| [&[0xa0 | text.len() as u8], text.as_bytes()].concat();
    let paths = [string("kpack_search_paths"), vec![0x91], string(search)].concat();
    let marker = [vec![0x82], string("kernel_name"), string(name), paths].concat();
    let names = b"\0.shstrtab\0.rocm_kpack_ref\0";
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(64, 0);
    let table = (64 + marker.len() + names.len()) as u64;
    for (at, half) in [(16, 3), (18, 62), (52, 64), (58, 64), (60, 3), (62, 1)] {
        bytes[at..at + 2].copy_from_slice(&u16::to_le_bytes(half));
    }
    bytes[40..48].copy_from_slice(&table.to_le_bytes());
    bytes.extend([&marker[..], names].concat());
    let sections = [(0, 0, 0, 0), (1, 3, 64 + marker.len(), names.len()), (11, 1, 64, marker.len())];
    for (name, kind, offset, size) in sections {
        bytes.extend([name, kind].map(u32::to_le_bytes).concat());
        bytes.extend([0, 0, offset as u64, size as u64, 0, 1, 0].map(u64::to_le_bytes).concat());
    }
    bytes
}

/// An LLVM offload binary of version 1 for one image.
pub(super) fn offload_binary(arch: &str, image: &[u8]) -> Vec<u8> {
    offload_binary_for("amdgcn-amd-amdhsa", arch, image)
}

pub(super) fn offload_binary_for(triple: &str, arch: &str, image: &[u8]) -> Vec<u8> {
    let strings = ["triple", triple, "arch", arch].map(|text| format!("{text}\0"));
    let mut places = strings.iter().scan(104_u64, |next, text| {
        let place = *next;
        *next += text.len() as u64;
        Some(place)
    });
    let [triple_at, triple_value, arch_at, arch_value] = [(); 4].map(|()| places.next().unwrap());
    let image_at = 104 + strings.concat().len().next_multiple_of(8) as u64;
    let size = image_at + image.len().next_multiple_of(8) as u64;
    let mut bytes = b"\x10\xff\x10\xad\x01\0\0\0".to_vec();
    bytes.extend([size, 32, 40].map(u64::to_le_bytes).concat());
    // An object for HIP.
    bytes.extend([1, 0, 4, 0, 0, 0, 0, 0]);
    let entry = [72, 2, image_at, image.len() as u64, triple_at, triple_value, arch_at, arch_value];
    bytes.extend(entry.map(u64::to_le_bytes).concat());
    bytes.extend(strings.concat().into_bytes());
    bytes.resize(image_at as usize, 0);
    bytes.extend(image);
    bytes.resize(size as usize, 0);
    bytes
}

pub(super) fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let member = |(name, content): &(&str, &[u8])| {
        let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, content.len());
        [header.as_bytes(), content, &b"\n"[..content.len() % 2]].concat()
    };
    [b"!<arch>\n".to_vec(), members.iter().flat_map(member).collect()].concat()
}

/// Code of `vector_add` for gfx942 and gfx1100, and of other kernels for gfx942.
pub(super) fn images(folder: &Folder) -> [Vec<u8>; 3] {
    let [gfx942, gfx1100] =
        ["gfx942", "gfx1100"].map(|target| fs::read(folder.extract(VECTOR_ADD, target, "code")).unwrap());
    fs::remove_file(folder.0.join("code")).unwrap();
    [gfx942, gfx1100, fs::read("cts/kernels/bundles/saxpy.gfx942.co").unwrap()]
}

/// An offload bundle with an empty entry under an id.
pub(super) fn bundle_for(id: &str) -> Vec<u8> {
    let numbers = [1, 0, 0, id.len() as u64].map(u64::to_le_bytes).concat();
    [b"__CLANG_OFFLOAD_BUNDLE__", &numbers[..], id.as_bytes()].concat()
}

/// A compressed bundle with code for gfx942 in an entry of this size, most of it zeros.
pub(crate) fn packed_bundle(entry: u64) -> Vec<u8> {
    let id = b"hipv4-amdgcn-amd-amdhsa--gfx942";
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bundle.extend([1, 4096, entry, id.len() as u64].map(u64::to_le_bytes).concat());
    bundle.extend(id);
    bundle.resize(4096, 0);
    bundle.extend(fs::read("cts/kernels/bundles/vector_add.gfx942.co").unwrap());
    bundle.resize(4096 + entry as usize, 0);
    let payload = zstd::bulk::compress(&bundle, 1).unwrap();
    let mut packed = b"CCOB\x03\0\x01\0".to_vec();
    packed.extend([32 + payload.len() as u64, bundle.len() as u64, 0].map(u64::to_le_bytes).concat());
    packed.extend(payload);
    packed
}

/// An offload bundle with an image under each of the ids, the same bytes for all.
pub(super) fn bundle_of(ids: &[String], image: &[u8]) -> Vec<u8> {
    let table: usize = ids.iter().map(|id| 24 + id.len()).sum();
    let start = (32 + table).next_multiple_of(4096);
    let mut bytes = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bytes.extend((ids.len() as u64).to_le_bytes());
    for id in ids {
        bytes.extend([start, image.len(), id.len()].map(|number| (number as u64).to_le_bytes()).concat());
        bytes.extend(id.as_bytes());
    }
    bytes.resize(start, 0);
    bytes.extend(image);
    bytes
}
