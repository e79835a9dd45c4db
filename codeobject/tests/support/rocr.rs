// SPDX-License-Identifier: MIT OR Apache-2.0
//! A loader that walks an image like ROCr: by its headers, trusting every index and offset. It panics where the real
//! one would access memory out of bounds.

/// The fields of a section header that the walk uses.
struct Section {
    name: u64,
    kind: u64,
    address: u64,
    offset: u64,
    size: u64,
    link: u64,
    info: u64,
}

const NOTE: u64 = 7;
const RELA: u64 = 4;
const STRINGS: u64 = 3;
const NO_BITS: u64 = 8;
const SYMBOLS: [u64; 2] = [2, 11];

struct Image<'a> {
    bytes: &'a [u8],
    sections: Vec<Section>,
    /// Address of the first segment, and the memory behind it.
    base: u64,
    memory: Vec<u8>,
}

/// Loads an image; the error is ROCr's, for those numbers that ROCr checks.
pub(crate) fn load(bytes: &[u8]) -> Result<(), &'static str> {
    let mut image = Image { bytes, sections: Vec::new(), base: 0, memory: Vec::new() };
    image.read_sections()?;
    image.load_segments()?;
    image.load_symbols()?;
    image.relocate()
}

impl Image<'_> {
    fn number(&self, offset: u64, size: usize) -> u64 {
        let start = usize::try_from(offset).expect("an address of the host");
        let bytes = &self.bytes[start..start.checked_add(size).expect("within the address space")];
        bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn read_sections(&mut self) -> Result<(), &'static str> {
        let (table, count, names) = (self.number(40, 8), self.number(60, 2), self.number(62, 2));
        if count == 0 {
            return if table == 0 {
                Ok(())
            } else {
                panic!("the count is read from a header that may not be there")
            };
        }
        if names >= count {
            return Err("no section of names");
        }
        for index in 0..count {
            let at = table + 64 * index;
            self.sections.push(Section {
                name: self.number(at, 4),
                kind: self.number(at + 4, 4),
                address: self.number(at + 16, 8),
                offset: self.number(at + 24, 8),
                size: self.number(at + 32, 8),
                link: self.number(at + 40, 4),
                info: self.number(at + 44, 4),
            });
        }
        for index in 1..self.sections.len() {
            // Reads of the section's bytes come from its offset on, and names from the table of names.
            let section = self.section(index as u64);
            if section.kind != NO_BITS {
                let last = section.offset.checked_add(section.size).expect("no wrap");
                assert!(last <= self.bytes.len() as u64, "section {index} is outside");
            }
            self.string(names, self.section(index as u64).name);
        }
        // The last section of notes counts.
        if let Some(notes) = self.sections.iter().rev().find(|section| section.kind == NOTE) {
            self.read_notes(notes.offset, notes.size);
        }
        Ok(())
    }

    /// A section by number. The first, and those without a kind, are null pointers.
    fn section(&self, index: u64) -> &Section {
        let section = &self.sections[usize::try_from(index).unwrap()];
        assert!(index != 0 && section.kind != 0, "section {index} is a null pointer");
        section
    }

    fn string(&self, table: u64, offset: u64) -> Vec<u8> {
        let table = self.section(table);
        assert_eq!(table.kind, STRINGS, "a string out of another kind of section");
        assert!(offset < table.size, "a string outside of its table");
        let start = usize::try_from(table.offset + offset).unwrap();
        let end = self.bytes[start..].iter().position(|byte| *byte == 0).expect("a string with an end");
        self.bytes[start..start + end].to_vec()
    }

    fn read_notes(&self, offset: u64, size: u64) {
        let mut position = 0_u64;
        while position < size {
            let [name, content, _kind] = [0, 4, 8].map(|field| self.number(offset + position + field, 4));
            let content_at = position + 12 + name.next_multiple_of(4);
            assert!(content_at + content <= size, "a note outside of its section");
            position = content_at + content.next_multiple_of(4);
        }
    }

    fn load_segments(&mut self) -> Result<(), &'static str> {
        let (table, count) = (self.number(32, 8), self.number(56, 2));
        let mut segments = Vec::new();
        for index in 0..count {
            let at = table + 56 * index;
            if self.number(at, 4) == 1 {
                segments.push([8, 16, 32, 40].map(|field| self.number(at + field, 8)));
            }
        }
        let (Some(first), Some(last)) = (segments.first(), segments.last()) else { return Err("no segment") };
        self.base = first[1];
        let size = last[1].wrapping_add(last[3]).wrapping_sub(self.base);
        if size > 1 << 30 {
            return Err("no memory");
        }
        self.memory = vec![0; size as usize];
        for [offset, address, file_size, memory_size] in segments {
            if file_size > memory_size {
                return Err("more in the file than in memory");
            }
            let from = usize::try_from(offset).unwrap();
            let bytes = self.bytes[from..from + usize::try_from(file_size).unwrap()].to_vec();
            let to = usize::try_from(address.wrapping_sub(self.base)).unwrap();
            self.memory[to..to + bytes.len()].copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn load_symbols(&self) -> Result<(), &'static str> {
        for table in self.sections.iter().filter(|section| SYMBOLS.contains(&section.kind)) {
            for index in 0..table.size / 24 {
                let at = table.offset + 24 * index;
                let name = self.string(table.link, self.number(at, 4));
                let (info, place) = (self.number(at + 4, 1), self.number(at + 6, 2));
                let (value, size) = (self.number(at + 8, 8), self.number(at + 16, 8));
                if !matches!(info & 15, 1 | 5 | 10) || place == 0 {
                    continue;
                }
                let section = self.section(place);
                if name.ends_with(b".kd") {
                    assert_ne!(section.kind, NO_BITS, "a descriptor behind a null pointer");
                    let start = value.wrapping_sub(section.address);
                    assert!(start <= section.size && section.size - start >= 64, "a descriptor outside");
                }
                // Programs copy the size of the symbol from and to a variable.
                self.touch(value, size);
            }
        }
        Ok(())
    }

    fn touch(&self, address: u64, size: u64) {
        let start = usize::try_from(address.wrapping_sub(self.base)).unwrap();
        let _ = &self.memory[start..start.checked_add(usize::try_from(size).unwrap()).unwrap()];
    }

    fn relocate(&self) -> Result<(), &'static str> {
        for table in self.sections.iter().filter(|section| section.kind == RELA) {
            let symbols = self.section(table.link);
            assert!(SYMBOLS.contains(&symbols.kind), "symbols out of another kind of section");
            assert!((table.info as usize) < self.sections.len(), "a target that does not exist");
            if table.info != 0 {
                continue;
            }
            for index in 0..table.size / 24 {
                let at = table.offset + 24 * index;
                let (place, kind, symbol) =
                    (self.number(at, 8), self.number(at + 8, 4), self.number(at + 12, 4));
                assert!(symbol < symbols.size / 24, "a symbol that does not exist");
                let symbol = symbols.offset + 24 * symbol;
                match self.number(symbol + 4, 1) & 15 {
                    1 | 2 | 10 => self.touch(self.number(symbol + 8, 8), 1),
                    0 => {}
                    _ => return Err("a symbol of another kind"),
                }
                match kind {
                    1 | 2 | 6 => self.touch(place, 4),
                    3 | 13 => self.touch(place, 8),
                    _ => return Err("a kind of relocation that is not applied"),
                }
            }
        }
        Ok(())
    }
}
