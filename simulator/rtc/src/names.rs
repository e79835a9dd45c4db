// SPDX-License-Identifier: MIT OR Apache-2.0
//! Name expressions: the unit gets a table of pointers to what they name, and the mangled names are read from the code object.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use object::elf;
use object::read::elf::{ElfFile64, FileHeader as _, Rela as _, SectionHeader as _, Sym as _};

/// The name of an entry of the table, before its number.
const ENTRY: &str = "__windlass_name_expression_";

/// The expression without parentheses around it and without `&`, which is how it is known.
pub(crate) fn stripped(expression: &str) -> &str {
    let mut text = expression.trim();
    loop {
        let bare = match text.strip_prefix('&') {
            Some(bare) => bare.trim(),
            None if encloses(text) => text[1..text.len() - 1].trim(),
            None => return text,
        };
        text = bare;
    }
}

/// A name as it stands between the quotes of a `#line`.
pub(crate) fn quoted(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}

/// Whether the first parenthesis of the text ends with its last character.
fn encloses(text: &str) -> bool {
    let mut depth = 0_usize;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index > 0 && index + 1 == text.len();
        }
    }
    false
}

/// The table for expressions, as source.
pub(crate) fn table<'a>(expressions: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for (index, expression) in expressions.enumerate() {
        // An error in an expression is reported under this name, on its first line.
        let _ = write!(
            text,
            "\n#line 1 \"name expression `{}`\"\nextern \"C\" __attribute__((device, used)) const void *{ENTRY}{index} = \
             {{(const void *)&{expression}}};",
            quoted(expression)
        );
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// The mangled names of `count` expressions in a code object, or in an object file. `None` where they name something without a
/// symbol, such as a `static` variable, and instead of the list if the file cannot be read.
pub(crate) fn lowered(code: &[u8], count: usize) -> Option<Vec<Option<String>>> {
    let file = ElfFile64::<object::Endianness>::parse(code).ok()?;
    let (endian, data) = (file.endian(), file.data());
    let header = file.elf_header();
    let sections = header.sections(endian, data).ok()?;
    let is_linked = header.e_type(endian) == elf::ET_DYN;
    let symbols =
        sections.symbols(endian, data, if is_linked { elf::SHT_DYNSYM } else { elf::SHT_SYMTAB }).ok()?;

    // A place is an address, in an object file within a section.
    let section_of = |index: usize| if is_linked { 0 } else { index };
    let mut entries = vec![None; count];
    let mut names = BTreeMap::new();
    let mut by_index = BTreeMap::new();
    for (index, symbol) in symbols.enumerate() {
        // An object file has local symbols too, which no program can look up once it is linked.
        let is_local = symbol.st_bind() == elf::STB_LOCAL;
        let name = if is_local { &[] } else { symbols.symbol_name(endian, symbol).ok()? };
        let name = std::str::from_utf8(name).ok()?;
        let place = (section_of(usize::from(symbol.st_shndx(endian).0)), symbol.st_value(endian));
        let number = name.strip_prefix(ENTRY).and_then(|number| number.parse::<usize>().ok());
        if let Some(entry) = number.and_then(|number| entries.get_mut(number)) {
            *entry = Some(place);
        } else if !symbol.is_undefined(endian) && !name.is_empty() {
            names.entry(place).or_insert(name);
        }
        by_index.insert(index.0, (name, place));
    }
    let mut pointers = BTreeMap::new();
    for section in sections.iter() {
        let Ok(Some((relocations, _))) = section.rela(endian, data) else { continue };
        let within = section_of(section.sh_info(endian) as usize);
        for relocation in relocations {
            let addend = relocation.r_addend(endian) as u64;
            let name = match relocation.r_sym(endian, false) {
                0 => names.get(&(0, addend)).copied(),
                symbol => by_index.get(&(symbol as usize)).and_then(|(name, (section, value))| match *name {
                    // The symbol of a section.
                    "" => names.get(&(*section, value.wrapping_add(addend))).copied(),
                    name => Some(name),
                }),
            };
            pointers.insert((within, relocation.r_offset(endian)), name);
        }
    }
    let name = |place: Option<(usize, u64)>| Some((*pointers.get(&place?)?)?.to_owned());
    Some(entries.into_iter().map(name).collect())
}
