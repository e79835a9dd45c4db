// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code objects: the same header, segments, symbols, relocations and kernels as in `llvm-readelf`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use windlass_codeobject::{CodeObject, EntryTarget, Segment, SymbolRole};

use super::bundles::open;
use super::{Check, Scratch, arguments, ask, files, installed};

const READELF: &str = "llvm-readelf-19";

fn read(path: &Path) -> String {
    let options = ["-h", "-l", "-s", "-r", "--notes", "-W"].map(Into::into);
    ask(READELF, &[&options[..], &[path.as_os_str().to_owned()]].concat())
}

/// The lines between one that begins with `start` and the next empty one.
fn section<'a>(listing: &'a str, start: &str) -> Vec<&'a str> {
    let lines = listing.lines().skip_while(|line| !line.trim_start().starts_with(start));
    lines.skip(1).take_while(|line| !line.is_empty()).collect()
}

fn hex(word: &str) -> u64 {
    u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap()
}

/// (address, size, name) of the symbols in a table.
fn symbols(listing: &str, table: &str, kinds: &[&str]) -> Vec<(u64, u64, String)> {
    let mut found = Vec::new();
    let title = format!("Symbol table '{table}'");
    // Without section headers there is one, which has no name.
    let no_name = table == ".dynsym" && !listing.contains(&title);
    for line in section(listing, if no_name { "Symbol table for image" } else { &title }) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [number, value, size, kind, _, _, _, name] = words[..] else { continue };
        if number.trim_end_matches(':').parse::<u32>().is_ok() && kinds.contains(&kind) {
            let size = size.strip_prefix("0x").map_or_else(|| size.parse().unwrap(), hex);
            found.push((hex(value), size, name.to_owned()));
        }
    }
    found
}

fn kernels_of_notes(listing: &str) -> Vec<(String, String, u64, u64, usize)> {
    let mut kernels: Vec<(String, String, u64, u64, usize)> = Vec::new();
    let notes = listing.lines().skip_while(|line| *line != "amdhsa.kernels:").skip(1);
    for line in notes.take_while(|line| line.starts_with(' ')) {
        if line.starts_with("  - ") {
            kernels.push(Default::default());
        }
        let Some(kernel) = kernels.last_mut() else { continue };
        if line.starts_with("      - .") {
            kernel.4 += 1;
        }
        let Some((key, value)) = line.get(4..).and_then(|line| line.split_once(':')) else { continue };
        let value = value.trim().trim_start_matches("!str ").trim_matches(['\'', '"']);
        match key {
            ".name" => kernel.0 = value.to_owned(),
            ".symbol" => kernel.1 = value.to_owned(),
            ".kernarg_segment_size" => kernel.2 = value.parse().unwrap(),
            ".group_segment_fixed_size" => kernel.3 = value.parse().unwrap(),
            _ => {}
        }
    }
    kernels.sort();
    kernels
}

fn same_header(code: &CodeObject, listing: &str, what: &str) {
    let field = |name: &str| {
        let line = listing.lines().find_map(|line| line.trim_start().strip_prefix(name));
        line.unwrap_or_else(|| panic!("{what}: no {name}")).trim()
    };
    assert_eq!(field("Machine:"), "EM_AMDGPU", "{what}");
    assert_eq!(field("ABI Version:").parse(), Ok(code.abi_version()), "{what}");
    let flags = field("Flags:");
    let (number, names) = flags.split_once(", ").unwrap_or((flags, ""));
    assert_eq!(hex(number), u64::from(code.elf_flags()), "{what}");
    // LLVM adds names from its knowledge of the processor.
    let processor = names.split(", ").next().unwrap_or_default();
    if processor.starts_with("gfx") {
        assert_eq!(processor, code.target().processor(), "{what}");
    }
    let generic = names.split(", ").find_map(|name| name.strip_prefix("generic_v"));
    assert_eq!(generic.map(|version| version.parse().unwrap()), code.generic_version(), "{what}");
}

fn same_segments(code: &CodeObject, listing: &str, what: &str) {
    let segments: Vec<String> = code.segments().iter().map(segment_line).collect();
    let loads = section(listing, "Type           Offset");
    let expected: Vec<String> = loads
        .iter()
        .filter_map(|line| line.trim_start().strip_prefix("LOAD "))
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let flags = words[5..words.len() - 1].concat();
            let numbers = [words[0], words[1], words[3], words[4]].map(hex);
            format!("{numbers:x?} {flags} {:x}", hex(words[words.len() - 1]))
        })
        .collect();
    assert_eq!(segments, expected, "{what}");
}

fn segment_line(segment: &Segment) -> String {
    let numbers = [segment.offset, segment.address, segment.file_size, segment.memory_size];
    let flags: String = [(segment.readable, 'R'), (segment.writable, 'W'), (segment.executable, 'E')]
        .into_iter()
        .filter_map(|(on, flag)| on.then_some(flag))
        .collect();
    format!("{numbers:x?} {flags} {:x}", segment.alignment)
}

fn same_symbols(code: &CodeObject, listing: &str, what: &str) {
    let all = ["NOTYPE", "OBJECT", "FUNC"];
    let exported: Vec<(u64, u64, String)> = code
        .symbols()
        .iter()
        .filter(|symbol| symbol.exported)
        .map(|symbol| (symbol.address, symbol.size, symbol.name.clone()))
        .collect();
    assert_eq!(exported, symbols(listing, ".dynsym", &all), "{what}");
    let code_and_data = ["OBJECT", "FUNC"];
    let mut expected: BTreeSet<(u64, u64, String)> =
        symbols(listing, ".symtab", &code_and_data).into_iter().collect();
    expected.extend(symbols(listing, ".dynsym", &code_and_data));
    let found: BTreeSet<(u64, u64, String)> = code
        .symbols()
        .iter()
        .filter(|symbol| !matches!(symbol.role, SymbolRole::Other | SymbolRole::Undefined))
        .map(|symbol| (symbol.address, symbol.size, symbol.name.clone()))
        .collect();
    assert_eq!(found, expected, "{what}");
    let relocations = listing.lines().filter(|line| line.contains(" R_AMDGPU_")).count();
    assert_eq!(code.relocations().len(), relocations, "{what}");
}

fn same_kernels(code: &CodeObject, listing: &str, what: &str) {
    let mut kernels: Vec<(String, String, u64, u64, usize)> = code
        .kernels()
        .iter()
        .map(|kernel| {
            let sizes = (kernel.kernarg_size.into(), kernel.group_segment_size.into());
            (kernel.name.clone(), kernel.symbol.clone(), sizes.0, sizes.1, kernel.args.len())
        })
        .collect();
    kernels.sort();
    assert_eq!(kernels, kernels_of_notes(listing), "{what}");
    assert!(!kernels.is_empty(), "{what}");
}

/// Compares a linked code object with what `llvm-readelf` lists.
pub(super) fn compare(elf: &[u8], scratch: &Scratch, what: &str) {
    let code = CodeObject::parse(elf).unwrap();
    let listing = read(&scratch.write("code-object", elf));
    same_header(&code, &listing, what);
    same_segments(&code, &listing, what);
    same_symbols(&code, &listing, what);
    same_kernels(&code, &listing, what);
    arguments::same_kernels(&code, &listing, what);
    arguments::same_symbol_kinds(&code, &listing, what);
}

#[test]
fn readelf_lists_the_same_in_code_objects() {
    if !installed(READELF) {
        return;
    }
    let scratch = Scratch::new();
    for path in files(Check::CodeObject) {
        compare(&fs::read(&path).unwrap(), &scratch, &path.display().to_string());
    }
    for path in files(Check::Object) {
        let what = path.display().to_string();
        let code = CodeObject::parse(&fs::read(&path).unwrap()).unwrap();
        let listing = read(&path);
        same_header(&code, &listing, &what);
        assert_eq!(code.segments(), []);
        // An unlinked object has no addresses, so no kernel can be launched; its metadata is still read.
        let named: Vec<&str> = code.rejected().iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(named, ["k"], "{what}");
        assert!(listing.contains("k.kd"), "{what}");
    }
}

#[test]
fn readelf_lists_the_same_in_what_was_extracted() {
    if !installed(READELF) {
        return;
    }
    let scratch = Scratch::new();
    let containers = [Check::Bundles, Check::HostElf, Check::Archive, Check::OffloadBinary];
    for path in containers.into_iter().flat_map(files) {
        let bytes = fs::read(&path).unwrap();
        for bundle in open(&bytes).bundles() {
            for (index, entry) in bundle.entries().iter().enumerate() {
                let image = bundle.extract(index).unwrap();
                if matches!(entry.target(), EntryTarget::Gpu(_)) && image.starts_with(b"\x7fELF") {
                    compare(&image, &scratch, &format!("{} {}", path.display(), entry.id_text()));
                }
            }
        }
    }
}
