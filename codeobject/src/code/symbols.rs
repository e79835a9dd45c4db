// SPDX-License-Identifier: MIT OR Apache-2.0
//! Describes the symbols and relocations of an ELF.

use std::collections::HashSet;

use object::LittleEndian;
use object::elf::{SHN_ABS, STB_GLOBAL, STB_WEAK, STT_FUNC, STT_OBJECT};
use object::read::elf::Sym;

use crate::bytes::text;
use crate::code::descriptor::KernelDescriptor;
use crate::code::elf::{Elf, ElfSymbol};
use crate::code::layout::{Binding, Relocation, RelocationKind, Symbol, SymbolRole};
use crate::error::Error;

const ENDIAN: LittleEndian = LittleEndian;

/// The symbols: all dynamic ones, so that relocations find them by number, then the named ones of the debugger's table
/// that are not among them.
pub(crate) fn describe(symbols: &[ElfSymbol<'_>]) -> Vec<Symbol> {
    let descriptors: HashSet<&[u8]> = symbols
        .iter()
        .filter(|symbol| symbol.symbol.st_type() == STT_OBJECT)
        .filter_map(|symbol| symbol.name.strip_suffix(b".kd"))
        .collect();
    let exported: HashSet<(&[u8], u64)> = symbols
        .iter()
        .filter(|symbol| symbol.exported)
        .map(|symbol| (symbol.name, symbol.symbol.st_value(ENDIAN)))
        .collect();
    symbols
        .iter()
        .filter(|symbol| {
            symbol.exported
                || !symbol.name.is_empty()
                    && !exported.contains(&(symbol.name, symbol.symbol.st_value(ENDIAN)))
        })
        .map(|symbol| describe_symbol(symbol, &descriptors))
        .collect()
}

fn describe_symbol(symbol: &ElfSymbol<'_>, descriptors: &HashSet<&[u8]>) -> Symbol {
    let raw = symbol.symbol;
    let kind = raw.st_type();
    let role = if raw.is_undefined(ENDIAN) {
        SymbolRole::Undefined
    } else if raw.st_shndx(ENDIAN) == SHN_ABS {
        SymbolRole::Other
    } else if kind == STT_FUNC {
        if descriptors.contains(symbol.name) { SymbolRole::KernelEntry } else { SymbolRole::Function }
    } else if kind == STT_OBJECT {
        let is_descriptor = symbol.name.ends_with(b".kd") && raw.st_size(ENDIAN) == KernelDescriptor::SIZE;
        if is_descriptor {
            SymbolRole::KernelDescriptor
        } else if symbol.name.starts_with(b"__hip_cuid_") {
            SymbolRole::Marker
        } else {
            SymbolRole::Variable
        }
    } else {
        SymbolRole::Other
    };
    let binding = match raw.st_bind() {
        STB_GLOBAL => Binding::Global,
        STB_WEAK => Binding::Weak,
        _ => Binding::Local,
    };
    Symbol {
        name: text(symbol.name),
        address: raw.st_value(ENDIAN),
        size: raw.st_size(ENDIAN),
        role,
        binding,
        exported: symbol.exported,
    }
}

/// The relocations that a loader applies, each with its symbol.
pub(crate) fn relocations(elf: &Elf<'_>, symbols: &[Symbol]) -> Result<Vec<Relocation>, Error> {
    let exported = symbols.iter().take_while(|symbol| symbol.exported).count();
    elf.relocations()?
        .into_iter()
        .map(|relocation| {
            let symbol = match relocation.symbol {
                0 => None,
                index => Some(index as usize - 1),
            };
            if symbol.is_some_and(|index| index >= exported) {
                let problem = format!("it refers to symbol {}, there are {exported}", relocation.symbol);
                return Err(Error::malformed("a relocation", relocation.offset, problem));
            }
            Ok(Relocation {
                offset: relocation.offset,
                kind: RelocationKind::from_elf(relocation.kind),
                symbol,
                symbol_value: symbol.and_then(|index| symbols.get(index)).map_or(0, |symbol| symbol.address),
                addend: relocation.addend,
            })
        })
        .collect()
}
