// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exports of the built library, as a linker reads them.

use std::collections::{BTreeMap, BTreeSet};

use object::elf;
use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _, Sym as _};

/// The exports of the library.
pub(crate) struct Exports {
    pub(crate) soname: String,
    /// The version nodes that it defines, without its own name.
    pub(crate) nodes: BTreeSet<String>,
    /// Its functions and variables, each with its version, if it has one.
    pub(crate) symbols: BTreeMap<String, Option<String>>,
}

pub(crate) fn exports() -> Exports {
    let bytes = std::fs::read(crate::common::library()).unwrap();
    let file = ElfFile64::<object::Endianness>::parse(&*bytes).unwrap();
    let (endian, data) = (file.endian(), file.data());
    let header = file.elf_header();
    let sections = header.sections(endian, data).unwrap();

    let (dynamic, strings) = sections.dynamic(endian, data).unwrap().expect("a dynamic section");
    let strings = sections.strings(endian, data, strings).unwrap();
    let soname = dynamic.iter().find(|entry| entry.tag(endian) == elf::DT_SONAME).expect("a SONAME");
    let soname = String::from_utf8(soname.string(endian, strings).unwrap().to_vec()).unwrap();

    let mut nodes = BTreeSet::new();
    if let Some((mut definitions, link)) = sections.gnu_verdef(endian, data).unwrap() {
        let strings = sections.strings(endian, data, link).unwrap();
        while let Some((definition, mut names)) = definitions.next().unwrap() {
            let name = names.next().unwrap().expect("each definition has a name");
            let name = name.name(endian, strings).unwrap();
            if definition.vd_flags.get(endian) != elf::VER_FLG_BASE {
                nodes.insert(String::from_utf8(name.to_vec()).unwrap());
            }
        }
    }

    let versions = sections.versions(endian, data).unwrap().unwrap_or_default();
    let table = sections.symbols(endian, data, elf::SHT_DYNSYM).unwrap();
    let defined = table.enumerate().filter(|(_, symbol)| !symbol.is_undefined(endian));
    let symbols = defined.map(|(index, symbol)| {
        let name = String::from_utf8(table.symbol_name(endian, symbol).unwrap().to_vec()).unwrap();
        let version = versions.version(versions.version_index(endian, index).index()).unwrap();
        let version = version.map(|version| String::from_utf8(version.name().to_vec()).unwrap());
        (name, version)
    });
    Exports { soname, nodes, symbols: symbols.filter(|(name, _)| !name.is_empty()).collect() }
}

/// As [`exports`], or `None` if the linker took no symbol versions.
#[allow(clippy::print_stderr, reason = "a skip must be seen")]
pub(crate) fn versioned_exports() -> Option<Exports> {
    let exports = exports();
    if exports.nodes.is_empty() {
        eprintln!("skipped: this linker takes no symbol versions beside rustc's own map; LLD does");
        return None;
    }
    Some(exports)
}
