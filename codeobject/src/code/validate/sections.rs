// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks the section headers, by which ROCr finds symbols, notes and relocations.

use object::LittleEndian;
use object::elf::{
    FileHeader64, Rela64, SHN_LORESERVE, SHN_UNDEF, SHT_DYNSYM, SHT_NOBITS, SHT_NOTE, SHT_NULL, SHT_RELA,
    SHT_STRTAB, SHT_SYMTAB, STT_COMMON, STT_FUNC, STT_OBJECT, SectionHeader64, Sym64, SymbolType,
};
use object::read::elf::{FileHeader, Rela, SectionHeader, Sym};

use super::segments::{Memory, check_note_area};
use crate::bytes::range;
use crate::code::descriptor::KernelDescriptor;
use crate::code::elf::pod_slice;
use crate::error::Error;

type Header = SectionHeader64<LittleEndian>;
type Symbol = Sym64<LittleEndian>;
const ENDIAN: LittleEndian = LittleEndian;
const HEADER_SIZE: u64 = 64;
/// `STT_AMDGPU_HSA_KERNEL`, of code object version 2.
const STT_KERNEL: SymbolType = SymbolType(10);

/// The section headers of an ELF.
struct Sections<'a> {
    elf: &'a [u8],
    headers: &'a [Header],
    /// The names of the sections.
    names: &'a [u8],
}

/// Checks every section header and its content. A file may have no section headers.
pub(super) fn check(elf: &[u8], memory: &Memory) -> Result<(), Error> {
    let Some(sections) = Sections::read(elf)? else { return Ok(()) };
    for (index, header) in sections.headers.iter().enumerate().skip(1) {
        sections.check_header(index, header)?;
        let kind = header.sh_type(ENDIAN);
        if kind == SHT_NOTE {
            check_note_area(elf, header.sh_offset(ENDIAN), header.sh_size(ENDIAN))?;
        } else if kind == SHT_SYMTAB || kind == SHT_DYNSYM {
            sections.check_symbols(index, header, memory)?;
        } else if kind == SHT_RELA {
            sections.check_relocations(index, header, memory)?;
        }
    }
    Ok(())
}

impl<'a> Sections<'a> {
    fn read(elf: &'a [u8]) -> Result<Option<Sections<'a>>, Error> {
        let broken = |problem: &str| Error::malformed("the section headers", 0, problem);
        let header = FileHeader64::<LittleEndian>::parse(elf).map_err(|error| broken(&error.to_string()))?;
        let (offset, count) = (header.e_shoff(ENDIAN), u64::from(header.e_shnum(ENDIAN)));
        if count == 0 {
            // Without a count in the ELF header, the first section header states the count.
            return if offset == 0 { Ok(None) } else { Err(broken("they have a place and no number")) };
        }
        if u64::from(header.e_shentsize(ENDIAN)) != HEADER_SIZE {
            return Err(broken("each has another size than 64 bytes"));
        }
        let table = range(elf, offset, HEADER_SIZE * count).ok_or_else(|| broken("they lie outside"))?;
        let headers = pod_slice::<Header>(table);
        if headers.first().is_none_or(|first| first.sh_type(ENDIAN) != SHT_NULL) {
            return Err(broken("the first is not empty"));
        }
        let mut sections = Sections { elf, headers, names: &[] };
        let names = usize::from(header.e_shstrndx(ENDIAN).0);
        sections.names =
            sections.strings(names).ok_or_else(|| broken("their names are in no string table"))?;
        Ok(Some(sections))
    }

    /// The bytes of a section in the file; empty for `SHT_NOBITS`.
    fn bytes(&self, header: &Header) -> Option<&'a [u8]> {
        match header.sh_type(ENDIAN) {
            SHT_NOBITS => Some(&[]),
            _ => range(self.elf, header.sh_offset(ENDIAN), header.sh_size(ENDIAN)),
        }
    }

    fn kind(&self, index: usize) -> Option<object::elf::SectionType> {
        self.headers.get(index).filter(|_| index > 0).map(|header| header.sh_type(ENDIAN))
    }

    /// The string table with this section number, if it ends with a zero.
    fn strings(&self, index: usize) -> Option<&'a [u8]> {
        self.kind(index).filter(|kind| *kind == SHT_STRTAB)?;
        self.bytes(self.headers.get(index)?).filter(|bytes| bytes.last() == Some(&0))
    }

    fn check_header(&self, index: usize, header: &Header) -> Result<(), Error> {
        let broken = |problem: &str| Err(wrong(index, header, problem));
        if header.sh_type(ENDIAN) == SHT_NULL {
            return broken("it is none, which only the first may be");
        }
        if self.bytes(header).is_none() {
            return broken("it lies outside the file");
        }
        if header.sh_name(ENDIAN) as usize >= self.names.len() {
            return broken("its name is not in the table of names");
        }
        Ok(())
    }

    fn check_symbols(&self, index: usize, header: &Header, memory: &Memory) -> Result<(), Error> {
        let broken = |problem: &str| wrong(index, header, problem);
        let strings = self
            .strings(header.sh_link(ENDIAN) as usize)
            .ok_or_else(|| broken("its names are in no string table, or one without an end"))?;
        let bytes = self.bytes(header).unwrap_or_default();
        for symbol in pod_slice::<Symbol>(bytes) {
            let name = usize::try_from(symbol.st_name(ENDIAN)).ok().and_then(|start| strings.get(start..));
            let name = name.filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| broken("a symbol's name is not in its string table"))?;
            self.check_symbol(name, symbol, memory).map_err(|problem| {
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                broken(&format!("its symbol {} {problem}", crate::bytes::text(name)))
            })?;
        }
        Ok(())
    }

    /// Checks a symbol that stands for memory. A loader takes its address from its section, and reads descriptors there.
    fn check_symbol(&self, name: &[u8], symbol: &Symbol, memory: &Memory) -> Result<(), &'static str> {
        let kind = symbol.st_type();
        let place = symbol.st_shndx(ENDIAN);
        if !matches!(kind, STT_OBJECT | STT_COMMON | STT_KERNEL) || place == SHN_UNDEF {
            return Ok(());
        }
        let section = self.headers.get(usize::from(place.0)).filter(|_| place.0 < SHN_LORESERVE);
        let section = section.ok_or("is in no section")?;
        let (value, size) = (symbol.st_value(ENDIAN), symbol.st_size(ENDIAN));
        let is_descriptor = name.split(|byte| *byte == 0).next().is_some_and(|name| name.ends_with(b".kd"));
        let needed = if is_descriptor { size.max(KernelDescriptor::SIZE) } else { size };
        let inside = value
            .checked_sub(section.sh_addr(ENDIAN))
            .and_then(|start| start.checked_add(needed))
            .is_some_and(|end| end <= section.sh_size(ENDIAN));
        if !inside {
            return Err("reaches out of its section");
        }
        if is_descriptor && section.sh_type(ENDIAN) == SHT_NOBITS {
            return Err("is a descriptor without bytes");
        }
        if !memory.holds(value, needed) {
            return Err("is in no segment");
        }
        Ok(())
    }

    fn check_relocations(&self, index: usize, header: &Header, memory: &Memory) -> Result<(), Error> {
        let broken = |problem: &str| wrong(index, header, problem);
        let link = header.sh_link(ENDIAN) as usize;
        let symbols = self.kind(link).filter(|kind| matches!(*kind, SHT_SYMTAB | SHT_DYNSYM));
        if symbols.is_none() {
            return Err(broken("its symbols are in no symbol table"));
        }
        let symbols = self.headers.get(link).and_then(|table| self.bytes(table)).unwrap_or_default();
        let symbols = pod_slice::<Symbol>(symbols);
        let target = header.sh_info(ENDIAN) as usize;
        if target >= self.headers.len() {
            return Err(broken("it is about a section that does not exist"));
        }
        let bytes = self.bytes(header).unwrap_or_default();
        for relocation in pod_slice::<Rela64<LittleEndian>>(bytes) {
            let Some(symbol) = symbols.get(relocation.r_sym(ENDIAN, false) as usize) else {
                return Err(broken("a relocation refers to a symbol that does not exist"));
            };
            // A relocation of another section (--emit-relocs) is not applied.
            if target != 0 {
                continue;
            }
            memory.check_relocation(relocation.r_offset(ENDIAN))?;
            let placed = matches!(symbol.st_type(), STT_OBJECT | STT_FUNC | STT_KERNEL);
            if placed && !memory.holds(symbol.st_value(ENDIAN), 1) {
                return Err(broken("a relocation refers to a symbol that is in no segment"));
            }
        }
        Ok(())
    }
}

fn wrong(index: usize, header: &Header, problem: &str) -> Error {
    Error::malformed(format!("section {index} of the ELF"), header.sh_offset(ENDIAN), problem)
}
