// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that contain code objects or bundles.

use std::io::Write;

use super::{Value, encode, map};

/// A host ELF with sections of the given names and contents.
pub(crate) fn host_elf(sections: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"\x7fELF\x02\x01\x01".to_vec();
    out.resize(64, 0);
    let mut names = b"\0.shstrtab\0".to_vec();
    let mut headers = vec![section_header(0, 0, 0, 0)];
    for (name, content) in sections {
        headers.push(section_header(names.len(), 1, out.len(), content.len()));
        names.extend(name.as_bytes());
        names.push(0);
        out.extend(*content);
    }
    headers.push(section_header(1, 3, out.len(), names.len()));
    out.extend(&names);
    let table = out.len() as u64;
    out.extend(headers.concat());
    out[16..20].copy_from_slice(&[3, 0, 62, 0]);
    out[40..48].copy_from_slice(&table.to_le_bytes());
    let count = headers.len() as u16;
    for (at, half) in [(52, 64), (58, 64), (60, count), (62, count - 1)] {
        out[at..at + 2].copy_from_slice(&u16::to_le_bytes(half));
    }
    out
}

fn section_header(name: usize, kind: u32, offset: usize, size: usize) -> Vec<u8> {
    let mut header = [name as u32, kind].map(u32::to_le_bytes).concat();
    header.extend([0, 0, offset as u64, size as u64, 0, 1, 0].map(u64::to_le_bytes).concat());
    header
}

/// An offload binary for one image, of version 1 or 2, or of version 3 uncompressed.
pub(crate) fn offload_binary(version: u32, kind: u16, arch: &str, image: &[u8]) -> Vec<u8> {
    offload_binary_for(version, 1, kind, "amdgcn-amd-amdhsa", arch, image)
}

/// An offload binary with any triple and kind of image.
pub(crate) fn offload_binary_for(
    version: u32,
    image_kind: u16,
    kind: u16,
    triple: &str,
    arch: &str,
    image: &[u8],
) -> Vec<u8> {
    let strings = ["triple", triple, "arch", arch].map(|text| format!("{text}\0")).concat();
    let entry = if version < 3 { 32 } else { 40 };
    let map = entry + 40;
    let stride = if version == 1 { 16 } else { 24 };
    let text = map + 2 * stride;
    let image_at = (text + strings.len() as u64).next_multiple_of(8);
    let size = (image_at + image.len() as u64).next_multiple_of(8);
    let mut out = b"\x10\xff\x10\xad".to_vec();
    out.extend(version.to_le_bytes());
    out.extend([size, entry, if version == 1 { 40 } else { 1 }].map(u64::to_le_bytes).concat());
    out.resize(entry as usize, 0);
    out.extend(image_kind.to_le_bytes());
    out.extend(kind.to_le_bytes());
    out.extend(0_u32.to_le_bytes());
    out.extend([map, 2, image_at, image.len() as u64].map(u64::to_le_bytes).concat());
    let (triple_size, arch_size) = (triple.len() as u64, arch.len() as u64);
    for (key, value, value_size) in [(0, 7, triple_size), (8 + triple_size, 13 + triple_size, arch_size)] {
        out.extend([text + key, text + value].map(u64::to_le_bytes).concat());
        if version > 1 {
            out.extend(u64::to_le_bytes(value_size));
        }
    }
    out.extend(strings.bytes());
    out.resize(image_at as usize, 0);
    out.extend(image);
    out.resize(size as usize, 0);
    out
}

/// The offload binary of version 3 with everything behind its header compressed.
pub(crate) fn compressed_offload_binary(binary: &[u8], compress: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let (header, payload) = binary.split_at(40);
    let mut out = [header, &compress(payload)].concat();
    out.resize(out.len().next_multiple_of(8), 0);
    let size = out.len() as u64;
    out[8..16].copy_from_slice(&size.to_le_bytes());
    out[32..40].copy_from_slice(&(binary.len() as u64).to_le_bytes());
    out
}

/// An archive as GNU's `ar` writes it.
pub(crate) fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, content) in members {
        out.extend(
            format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name, 0, 0, 0, 644, content.len()).bytes(),
        );
        out.extend(*content);
        if content.len() % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

/// An entry point of an executable of IREE: name, workgroup size, number of constants, flags of bindings.
pub(crate) type IreeEntryPoint<'a> = (&'a str, [u32; 3], u32, &'a [u64]);

/// A HIP executable of IREE with one module per image.
pub(crate) fn hip1(images: &[&[u8]]) -> Vec<u8> {
    hip1_with(&[], images)
}

/// A HIP executable with entry points, all of them in module 7.
pub(crate) fn hip1_with(exports: &[IreeEntryPoint<'_>], images: &[&[u8]]) -> Vec<u8> {
    let mut flat = Flat(b"\0\0\0\0HIP1".to_vec());
    let root = flat.table(0, &[Field::Offset, Field::Offset]);
    let places = flat.offsets(root[0], exports.len());
    for (at, (name, size, constants, flags)) in places.into_iter().zip(exports) {
        let numbers =
            [Field::Number(7), Field::Offset, Field::Numbers(*size), Field::None, Field::Number(*constants)];
        let fields = flat.table(at, &[&numbers[..], &[Field::Offset]].concat());
        flat.list(fields[0], name.len(), name.as_bytes());
        flat.list(fields[1], flags.len(), &little_endian(flags));
    }
    flat.modules(root[1], images);
    flat.behind_prefix(*b"HIP1")
}

/// An AMDGPU executable of IREE with one module per image.
pub(crate) fn amd1(images: &[&[u8]]) -> Vec<u8> {
    amd1_with("", &[], images)
}

/// An AMDGPU executable with an ISA and entry points.
pub(crate) fn amd1_with(isa: &str, exports: &[IreeEntryPoint<'_>], images: &[&[u8]]) -> Vec<u8> {
    let mut flat = Flat(b"\0\0\0\0AMD1".to_vec());
    let root = flat.table(0, &[Field::Offset; 3]);
    flat.list(root[0], isa.len(), isa.as_bytes());
    let places = flat.offsets(root[1], exports.len());
    for (at, (name, size, constants, flags)) in places.into_iter().zip(exports) {
        let fields =
            flat.table(at, &[Field::Offset, Field::Numbers(*size), Field::Number(*constants), Field::Offset]);
        flat.list(fields[0], name.len(), name.as_bytes());
        flat.list(fields[1], flags.len(), &little_endian(flags));
    }
    flat.modules(root[2], images);
    flat.behind_prefix(*b"AMD1")
}

fn little_endian(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The content of a field of a flatbuffer's table.
#[derive(Clone, Copy)]
enum Field {
    None,
    Number(u32),
    Numbers([u32; 3]),
    /// An offset, filled in when its target is written.
    Offset,
}

/// A flatbuffer, written from the root on: offsets stand before their targets.
struct Flat(Vec<u8>);

impl Flat {
    /// Points the offset at `at` to the next written object.
    fn point(&mut self, at: usize) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        let distance = (self.0.len() - at) as u32;
        self.0[at..at + 4].copy_from_slice(&distance.to_le_bytes());
    }

    /// Writes a table, and returns the positions of its offsets.
    fn table(&mut self, at: usize, fields: &[Field]) -> Vec<usize> {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        let directory = self.0.len();
        let mut place = 4_u16;
        let mut places = Vec::new();
        for field in fields {
            places.push(if matches!(field, Field::None) { 0 } else { place });
            place += match field {
                Field::None => 0,
                Field::Numbers(_) => 12,
                Field::Number(_) | Field::Offset => 4,
            };
        }
        let sizes = [4 + 2 * fields.len() as u16, place];
        self.0.extend(sizes.into_iter().chain(places).flat_map(u16::to_le_bytes));
        self.point(at);
        let back = (self.0.len() - directory) as i32;
        self.0.extend(back.to_le_bytes());
        let mut offsets = Vec::new();
        for field in fields {
            match field {
                Field::None => {}
                Field::Number(number) => self.0.extend(number.to_le_bytes()),
                Field::Numbers(numbers) => self.0.extend(numbers.map(u32::to_le_bytes).concat()),
                Field::Offset => {
                    offsets.push(self.0.len());
                    self.0.extend([0; 4]);
                }
            }
        }
        offsets
    }

    /// Writes a list of this many elements, or a string.
    fn list(&mut self, at: usize, count: usize, bytes: &[u8]) {
        self.point(at);
        self.0.extend((count as u32).to_le_bytes());
        self.0.extend(bytes);
        self.0.push(0);
    }

    /// Writes a list of offsets, and returns their positions.
    fn offsets(&mut self, at: usize, count: usize) -> Vec<usize> {
        self.point(at);
        self.0.extend((count as u32).to_le_bytes());
        let first = self.0.len();
        self.0.resize(first + 4 * count, 0);
        (0..count).map(|index| first + 4 * index).collect()
    }

    fn modules(&mut self, at: usize, images: &[&[u8]]) {
        let places = self.offsets(at, images.len());
        for (at, image) in places.into_iter().zip(images) {
            let fields = self.table(at, &[Field::Offset]);
            self.list(fields[0], image.len(), image);
        }
    }

    fn behind_prefix(self, magic: [u8; 4]) -> Vec<u8> {
        let mut out = [magic, [0; 4]].concat();
        out.extend((self.0.len() as u64).to_le_bytes());
        out.resize(64, 0);
        out.extend(self.0);
        out
    }
}

/// A zip file with stored (method 0) or deflated (8) members. A long one keeps its sizes in extra fields, as IREE
/// does.
pub(crate) fn zip(method: u16, long: bool, files: &[(&str, &[u8])]) -> Vec<u8> {
    zip_of(long, &files.iter().map(|(name, content)| (*name, method, *content)).collect::<Vec<_>>())
}

/// A zip file with a method for each member.
pub(crate) fn zip_of(long: bool, files: &[(&str, u16, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut directory = Vec::new();
    for (name, method, content) in files {
        let method = *method;
        // Members need not be adjacent.
        out.resize(out.len().next_multiple_of(16), 0);
        let packed = if method == 8 { deflated(content) } else { content.to_vec() };
        let offset = out.len() as u32;
        let sizes = [packed.len() as u32, content.len() as u32];
        let mut extra = Vec::new();
        if long {
            extra.extend(b"\xca\xfe\x01\0\0");
            extra.extend([1_u16, 16].map(u16::to_le_bytes).concat());
            extra.extend([content.len() as u64, packed.len() as u64].map(u64::to_le_bytes).concat());
        }
        let shown = sizes.map(|size| if long { u32::MAX } else { size });
        let lengths = [name.len() as u16, extra.len() as u16];
        let checksum = rawzip::crc32(content).to_le_bytes();
        out.extend(b"PK\x03\x04");
        out.extend([45, 0, method, 0, 0].map(u16::to_le_bytes).concat());
        out.extend(checksum);
        out.extend(shown.map(u32::to_le_bytes).concat());
        out.extend(lengths.map(u16::to_le_bytes).concat());
        out.extend(name.as_bytes());
        out.extend(&extra);
        out.extend(packed);
        directory.extend(b"PK\x01\x02");
        directory.extend([45, 45, 0, method, 0, 0].map(u16::to_le_bytes).concat());
        directory.extend(checksum);
        directory.extend(shown.map(u32::to_le_bytes).concat());
        directory.extend(lengths.map(u16::to_le_bytes).concat());
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
        directory.extend(&extra);
    }
    let start = out.len() as u64;
    out.extend(&directory);
    let (size, count) = (directory.len() as u64, files.len() as u64);
    if long {
        let end = out.len() as u64;
        out.extend(b"PK\x06\x06");
        out.extend(44_u64.to_le_bytes());
        out.extend([45, 45, 0, 0, 0, 0].map(u16::to_le_bytes).concat());
        out.extend([count, count, size, start].map(u64::to_le_bytes).concat());
        out.extend(b"PK\x06\x07\0\0\0\0");
        out.extend(end.to_le_bytes());
        out.extend(1_u32.to_le_bytes());
    }
    let shown = |number: u64| if long { u32::MAX } else { number as u32 };
    let count = if long { u16::MAX } else { count as u16 };
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count; 2].map(u16::to_le_bytes).concat());
    out.extend([shown(size), shown(start)].map(u32::to_le_bytes).concat());
    out.extend([0; 2]);
    out
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let level = if cfg!(miri) { flate2::Compression::fast() } else { flate2::Compression::default() };
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// One image of a kpack archive: binary, architecture, and its bytes.
pub(crate) type KpackImage<'a> = (&'a str, &'a str, &'a [u8]);

/// A kpack archive, uncompressed or with a zstd frame per image. `change` may spoil its table of contents.
pub(crate) fn kpack(
    compressed: bool,
    images: &[KpackImage<'_>],
    change: impl FnOnce(&mut Vec<(&str, Value)>),
) -> Vec<u8> {
    let mut out = b"KPAK\x01\0\0\0".to_vec();
    out.resize(64, 0);
    let mut toc: Vec<(Value, Value)> = Vec::new();
    let mut blobs = Vec::new();
    if compressed {
        out.extend((images.len() as u32).to_le_bytes());
    }
    for (ordinal, (binary, arch, image)) in images.iter().enumerate() {
        let size = Value::Int(image.len() as i64);
        let row = map(vec![
            ("type", "hsaco".into()),
            ("ordinal", Value::Int(ordinal as i64)),
            ("original_size", size.clone()),
        ]);
        let name = Value::from(*binary);
        match toc.last_mut() {
            Some((Value::Str(last), Value::Map(rows))) if last == binary.as_bytes() => {
                rows.push((Value::from(*arch), row));
            }
            _ => toc.push((name, Value::Map(vec![(Value::from(*arch), row)]))),
        }
        if compressed {
            let frame = super::zstd_frame(image);
            out.extend((frame.len() as u32).to_le_bytes());
            out.extend(frame);
        } else {
            blobs.push(map(vec![("offset", Value::Int(out.len() as i64)), ("size", size)]));
            out.extend(*image);
        }
    }
    let mut contents = vec![("format_version", Value::Int(1)), ("toc", Value::Map(toc))];
    if compressed {
        contents.push(("compression_scheme", "zstd-per-kernel".into()));
        contents.push(("zstd_offset", Value::Int(64)));
        contents.push(("zstd_size", Value::Int(out.len() as i64 - 64)));
    } else {
        contents.push(("compression_scheme", "none".into()));
        contents.push(("blobs", Value::Array(blobs)));
    }
    change(&mut contents);
    let start = out.len() as u64;
    out[8..16].copy_from_slice(&start.to_le_bytes());
    out.extend(encode(&map(contents)));
    out
}

/// A host program without section headers, with bundles in one segment, and wrappers that point to them in another. If
/// it is `movable`, only relocations have the pointers.
pub(crate) fn stripped_host_elf(bundles: &[&[u8]], movable: bool) -> Vec<u8> {
    const CODE: u64 = 0x20_0000;
    const DATA: u64 = 0x40_0000;
    let mut out = b"\x7fELF\x02\x01\x01".to_vec();
    out.resize(64 + 3 * 56, 0);
    let mut starts = Vec::new();
    for bundle in bundles {
        super::elf::align(&mut out, 4096);
        starts.push(CODE + out.len() as u64);
        out.extend(*bundle);
    }
    let mut relocations = Vec::new();
    let code_size = out.len() as u64;
    out.resize(out.len().next_multiple_of(8), 0);
    let data = out.len() as u64;
    for start in &starts {
        out.extend(b"FPIH\x01\0\0\0");
        let pointer = DATA + out.len() as u64;
        out.extend(if movable { 0 } else { *start }.to_le_bytes());
        out.extend([0; 8]);
        relocations.extend([pointer, 8, *start].map(u64::to_le_bytes).concat());
    }
    let table = out.len() as u64;
    out.extend(&relocations);
    let dynamic = out.len() as u64;
    if movable {
        let entries = [7, DATA + table, 8, relocations.len() as u64, 9, 24];
        out.extend(entries.map(u64::to_le_bytes).concat());
    }
    out.extend([0; 16]);
    let end = out.len() as u64;
    let segments = [
        (1_u32, 4_u32, 0, CODE, code_size),
        (1, 6, data, DATA + data, end - data),
        (2, 6, dynamic, DATA + dynamic, end - dynamic),
    ];
    for (index, (kind, flags, offset, address, size)) in segments.into_iter().enumerate() {
        let at = 64 + 56 * index;
        out[at..at + 4].copy_from_slice(&kind.to_le_bytes());
        out[at + 4..at + 8].copy_from_slice(&flags.to_le_bytes());
        for (field, value) in [(8, offset), (16, address), (24, address), (32, size), (40, size), (48, 8)] {
            out[at + field..at + field + 8].copy_from_slice(&value.to_le_bytes());
        }
    }
    out[16..20].copy_from_slice(&[3, 0, 62, 0]);
    out[32..40].copy_from_slice(&64_u64.to_le_bytes());
    for (at, half) in [(52, 64), (54, 56), (56, 3)] {
        out[at..at + 2].copy_from_slice(&u16::to_le_bytes(half));
    }
    out
}
