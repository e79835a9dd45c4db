// SPDX-License-Identifier: MIT OR Apache-2.0
//! A copy of the drop-in library with some of its dynamic symbols hidden.
//!
//! `dlsym` and the dynamic linker search the file, so each version of HIP needs a file of its own. A hidden symbol
//! stays in the table without a name. The loader skips hidden symbols, and references of the library itself to the
//! entry still work.

use object::{
    LittleEndian, elf,
    elf::{FileHeader64, Sym64, Versym},
    pod,
    read::elf::{FileHeader as _, SectionHeader as _, Sym as _},
};

type Header = FileHeader64<LittleEndian>;
type Symbol = Sym64<LittleEndian>;

/// Why a library could not be changed.
type Refusal = String;

/// Hides the symbols for which `lacks` returns true, by name and symbol version (`hip_5.2`). Returns their number.
///
/// # Errors
/// The library is no 64-bit ELF, or its tables are damaged.
pub(super) fn hide(library: &mut [u8], lacks: impl Fn(&str, Option<&str>) -> bool) -> Result<usize, Refusal> {
    let found = find(library, lacks).map_err(|error| format!("its symbols cannot be read: {error}"))?;
    for entry in &found {
        let symbol = part::<Symbol>(library, entry.symbol)?;
        symbol.st_name.set(LittleEndian, 0);
        symbol.st_other = elf::STV_HIDDEN.into();
        if let Some(version) = entry.version {
            part::<Versym<LittleEndian>>(library, version)?.0.set(LittleEndian, elf::VER_NDX_LOCAL.into());
        }
    }
    Ok(found.len())
}

/// The offsets in the file of a symbol and its version.
struct Entry {
    symbol: usize,
    version: Option<usize>,
}

fn find(library: &[u8], lacks: impl Fn(&str, Option<&str>) -> bool) -> object::read::Result<Vec<Entry>> {
    let endian = LittleEndian;
    let header = Header::parse(library)?;
    let sections = header.sections(endian, library)?;
    let table = sections.symbols(endian, library, elf::SHT_DYNSYM)?;
    let versions = sections.versions(endian, library)?.unwrap_or_default();
    let offset = |wanted| {
        let section = sections.iter().find(|section| section.sh_type(endian) == wanted);
        section.map(|section| section.sh_offset(endian) as usize)
    };
    let Some(symbols_at) = offset(elf::SHT_DYNSYM) else { return Ok(Vec::new()) };
    let versions_at = offset(elf::SHT_GNU_VERSYM);
    let mut found = Vec::new();
    for (index, symbol) in table.enumerate().filter(|(_, symbol)| !symbol.is_undefined(endian)) {
        let name = table.symbol_name(endian, symbol)?;
        let version = versions.version(versions.version_index(endian, index).index())?;
        let version = version.and_then(|version| std::str::from_utf8(version.name()).ok());
        if std::str::from_utf8(name).is_ok_and(|name| !name.is_empty() && lacks(name, version)) {
            found.push(Entry {
                symbol: symbols_at + index.0 * size_of::<Symbol>(),
                version: versions_at.map(|at| at + index.0 * size_of::<Versym<LittleEndian>>()),
            });
        }
    }
    Ok(found)
}

fn part<T: pod::Pod>(library: &mut [u8], offset: usize) -> Result<&mut T, Refusal> {
    let bytes = library.get_mut(offset..);
    let part = bytes.and_then(|bytes| pod::from_bytes_mut(bytes).ok());
    part.map(|(part, _)| part).ok_or_else(|| format!("a symbol lies outside of it, at byte {offset}"))
}
