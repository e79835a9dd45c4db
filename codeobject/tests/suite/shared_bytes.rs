// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared objects and code objects that name the same bytes, or repeat the same entry, more often than any tool does.
//! A small file must not cause much work.

use windlass_codeobject::{CodeObject, Error, HostLibrary};

use crate::support::ElfBuilder;

const OBJECT: &[u8] = include_bytes!("../../../drivers/local/tests/native/kernels.x86_64.so");
const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const PT_PHDR: u64 = 6;
const PT_GNU_EH_FRAME: u64 = 0x6474_e550;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_STRSZ: u64 = 10;
const READ_WRITE: u64 = 6 << 32;

/// A program header: type and flags, offset, two addresses, two sizes, alignment.
type Header = [u64; 7];
/// An entry of the dynamic section: tag and value.
type Entry = [u64; 2];

fn word(bytes: &[u8], at: u64) -> u64 {
    u64::from_le_bytes(bytes[at as usize..][..8].try_into().unwrap())
}

fn kind(header: &Header) -> u64 {
    header[0] & 0xffff_ffff
}

fn headers() -> Vec<Header> {
    let (start, count) = (word(OBJECT, 32), u64::from(OBJECT[56]));
    (0..count)
        .map(|index| std::array::from_fn(|field| word(OBJECT, start + 56 * index + 8 * field as u64)))
        .collect()
}

/// The object with other program headers, at its end.
fn with_headers(mut object: Vec<u8>, headers: &[Header]) -> Vec<u8> {
    object.resize(object.len().next_multiple_of(8), 0);
    let start = object.len() as u64;
    object[32..40].copy_from_slice(&start.to_le_bytes());
    object[56..58].copy_from_slice(&(headers.len() as u16).to_le_bytes());
    object.extend(headers.iter().flatten().flat_map(|word| word.to_le_bytes()));
    object
}

/// A segment of `content`, behind all others in the file and in memory.
fn append(object: &mut Vec<u8>, content: &[u8]) -> Header {
    object.resize(object.len().next_multiple_of(4096), 0);
    let (start, size) = (object.len() as u64, content.len() as u64);
    let address = (1 << 32) + start;
    object.extend(content);
    [PT_LOAD | READ_WRITE, start, address, address, size, size, 4096]
}

/// The object with `name` at the end of its string table, and with `count` more entries in its dynamic section that
/// require a library of that name.
fn grown(name: &[u8], count: usize) -> Vec<u8> {
    let mut headers = headers();
    let dynamic = headers.iter().position(|header| kind(header) == PT_DYNAMIC).unwrap();
    let start = headers[dynamic][1];
    let old = (0..).map(|index| [word(OBJECT, start + 16 * index), word(OBJECT, start + 16 * index + 8)]);
    let old: Vec<Entry> = old.take_while(|entry| entry[0] != 0).collect();
    let value = |tag| old.iter().find(|entry| entry[0] == tag).unwrap()[1];
    // The read-only part has equal offsets and addresses.
    let strings = &OBJECT[value(DT_STRTAB) as usize..][..value(DT_STRSZ) as usize];
    let name_at = strings.len() as u64;
    let mut content = [strings, name, b"\0"].concat();
    let size = content.len() as u64;
    content.resize(content.len().next_multiple_of(16), 0);

    let mut object = OBJECT.to_vec();
    let address = (1 << 32) + object.len().next_multiple_of(4096) as u64;
    let mut all: Vec<Entry> = old;
    all.retain(|entry| ![DT_STRTAB, DT_STRSZ].contains(&entry[0]));
    all.extend(vec![[DT_NEEDED, name_at]; count]);
    all.extend([[DT_STRTAB, address], [DT_STRSZ, size], [0, 0]]);
    let dynamic_at = content.len() as u64;
    content.extend(all.iter().flatten().flat_map(|word| word.to_le_bytes()));
    let segment = append(&mut object, &content);
    let (at, size) = (segment[1] + dynamic_at, content.len() as u64 - dynamic_at);
    headers[dynamic] = [headers[dynamic][0], at, address + dynamic_at, address + dynamic_at, size, size, 8];
    headers.retain(|header| ![PT_PHDR, PT_GNU_EH_FRAME].contains(&kind(header)));
    headers.push(segment);
    with_headers(object, &headers)
}

#[test]
fn a_library_that_is_asked_for_twice_is_one() {
    let before = HostLibrary::parse(OBJECT).unwrap();
    let library = HostLibrary::parse(&grown(b"libm.so.6", 1000)).unwrap();
    assert_eq!(library.kernels(), before.kernels());
    assert_eq!(library.needed().iter().filter(|name| *name == "libm.so.6").count(), 1);
}

#[test]
fn a_long_name_of_a_library_is_read_a_few_times() {
    let error = HostLibrary::parse(&grown(&vec![b'n'; 10_000], 2000)).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
}

#[test]
#[cfg_attr(miri, ignore = "a million symbols")]
fn more_symbols_than_any_tool_writes_are_refused() {
    let mut builder = ElfBuilder::new(vec![]);
    builder.symbols = vec![(b"s".to_vec(), 0, 0, 0x11, 1); 1 << 20];
    let error = CodeObject::parse(&builder.build()).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    builder.symbols.truncate(1000);
    assert_eq!(CodeObject::parse(&builder.build()).unwrap().symbols().len(), 1000);
}
