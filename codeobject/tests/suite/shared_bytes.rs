// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared objects and code objects that name the same bytes, or say the same thing, more often than any tool does: what is
//! small in the file may not become much work.

use windlass_codeobject::{CodeObject, Error, HostLibrary};

use crate::support::ElfBuilder;

const OBJECT: &[u8] = include_bytes!("../../../drivers/local/tests/native/kernels.x86_64.so");
const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const PT_NOTE: u64 = 4;
const PT_PHDR: u64 = 6;
const PT_GNU_EH_FRAME: u64 = 0x6474_e550;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_STRSZ: u64 = 10;
const VERSYM: u64 = 0x6fff_fff0;
const VERNEED: u64 = 0x6fff_fffe;
const VERNEEDNUM: u64 = 0x6fff_ffff;
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

/// The object with `name` at the end of its string table, with `tables`, and with `entries` in place of those of the same
/// tags in its dynamic section. Both are told where the name is in the string table, entries also where the tables are.
fn grown(
    name: &[u8],
    tables: impl FnOnce(u64) -> Vec<u8>,
    entries: impl FnOnce(u64, u64) -> Vec<Entry>,
) -> Vec<u8> {
    let mut headers = headers();
    let dynamic = headers.iter().position(|header| kind(header) == PT_DYNAMIC).unwrap();
    let start = headers[dynamic][1];
    let old = (0..).map(|index| [word(OBJECT, start + 16 * index), word(OBJECT, start + 16 * index + 8)]);
    let old: Vec<Entry> = old.take_while(|entry| entry[0] != 0).collect();
    let value = |tag| old.iter().find(|entry| entry[0] == tag).unwrap()[1];
    // What is only read lies in the file where it lies in memory.
    let strings = &OBJECT[value(DT_STRTAB) as usize..][..value(DT_STRSZ) as usize];
    let name_at = strings.len() as u64;
    let mut content = [strings, name, b"\0"].concat();
    let size = content.len() as u64;
    content.resize(content.len().next_multiple_of(16), 0);
    let tables_at = content.len() as u64;
    content.extend(tables(name_at));
    content.resize(content.len().next_multiple_of(16), 0);

    let mut object = OBJECT.to_vec();
    let address = (1 << 32) + object.len().next_multiple_of(4096) as u64;
    let new = entries(name_at, address + tables_at);
    let replaced =
        |tag| [DT_STRTAB, DT_STRSZ].contains(&tag) || tag != DT_NEEDED && new.iter().any(|new| new[0] == tag);
    let mut all: Vec<Entry> = old.into_iter().filter(|entry| !replaced(entry[0])).collect();
    all.extend(new);
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

fn limit(object: &[u8]) {
    let error = HostLibrary::parse(object).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
}

#[test]
fn a_library_that_is_asked_for_twice_is_one() {
    let needed = |count| grown(b"libm.so.6", |_| Vec::new(), |name, _| vec![[DT_NEEDED, name]; count]);
    let before = HostLibrary::parse(OBJECT).unwrap();
    let library = HostLibrary::parse(&needed(1000)).unwrap();
    assert_eq!(library.kernels(), before.kernels());
    assert_eq!(library.needed().iter().filter(|name| *name == "libm.so.6").count(), 1);
}

#[test]
fn a_long_name_of_a_library_is_read_a_few_times() {
    limit(&grown(&vec![b'n'; 10_000], |_| Vec::new(), |name, _| vec![[DT_NEEDED, name]; 2000]));
}

#[test]
fn a_long_name_of_a_version_is_read_a_few_times() {
    let number = 300;
    // Each library wants the same versions, which are behind all of them.
    let next = |index: u32| if index + 1 < number { 16 } else { 0 };
    let lists = |name: u64| -> Vec<u8> {
        let library = |index| [1 | number << 16, name as u32, 16 * (number - index), next(index)];
        let version = |index| [0, 2 << 16, name as u32 + 1, next(index)];
        let words = (0..number).flat_map(library).chain((0..number).flat_map(version));
        words.flat_map(u32::to_le_bytes).collect()
    };
    let symbols = [2, 0].repeat(4096);
    limit(&grown(
        &vec![b'n'; 20_000],
        |name| [lists(name), symbols].concat(),
        |name, tables| {
            let indices = tables + 2 * 16 * u64::from(number);
            vec![[DT_NEEDED, name], [VERNEED, tables], [VERNEEDNUM, number.into()], [VERSYM, indices]]
        },
    ));
}

#[test]
fn notes_that_many_headers_claim_are_read_a_few_times() {
    let mut object = OBJECT.to_vec();
    let segment = append(&mut object, &[0; 12_000]);
    let mut headers = headers();
    headers.retain(|header| kind(header) != PT_PHDR);
    headers.push(segment);
    let note = [PT_NOTE | READ_WRITE, segment[1], segment[2], segment[3], segment[4], segment[5], 4];
    let with_notes = |count| with_headers(object.clone(), &[&headers[..], &vec![note; count]].concat());
    HostLibrary::parse(&with_notes(1)).unwrap();
    let error = HostLibrary::parse(&with_notes(100)).unwrap_err();
    assert!(error.to_string().contains("notes"), "{error}");
    limit(&with_notes(2000));
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
