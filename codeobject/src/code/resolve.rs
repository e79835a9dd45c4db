// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes the addresses of undefined symbols into a code object.

use std::ops::Range;

use object::elf::{DT_PLTRELSZ, DT_RELASZ};

use crate::code::code_object::CodeObject;
use crate::code::elf::Elf;
use crate::code::layout::{Relocation, RelocationKind, Symbol, SymbolRole};
use crate::error::Error;
use crate::warnings::Warnings;

const WHAT: &str = "resolving undefined symbols";
const RELOCATION_SIZE: usize = 24;
/// Bytes of the ELF header.
const HEADER: usize = 64;

/// A place in the file, and the bytes to write there.
type Edit = (Range<usize>, Vec<u8>);

impl CodeObject {
    /// The relocations that refer to a symbol of another code object, each with that symbol.
    ///
    /// ROCm's loaders find undefined symbols by relocations alone, so a symbol that no relocation refers to does not
    /// count.
    pub fn unresolved(&self) -> impl Iterator<Item = (&Relocation, &Symbol)> {
        let pairs = self.relocations().iter().map(|relocation| (relocation, self.awaited(relocation)));
        pairs.filter_map(|(relocation, symbol)| Some((relocation, symbol?)))
    }

    /// The undefined symbol that a relocation refers to.
    fn awaited(&self, relocation: &Relocation) -> Option<&Symbol> {
        let symbol = self.symbols().get(relocation.symbol?)?;
        let waits = symbol.role == SymbolRole::Undefined && relocation.kind != RelocationKind::None;
        waits.then_some(symbol)
    }

    /// Writes the addresses of other code objects' symbols into `elf`, the bytes that this value was parsed from, and
    /// removes the relocations that refer to those symbols. A loader then sees a complete code object.
    ///
    /// `address_of` gives the final device address of each symbol in [`unresolved`](Self::unresolved). The address of
    /// a weak symbol that no code object defines is 0.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a symbol without an address, [`Error::Unsupported`] for a relocation that depends on
    /// the load address of this code object, [`Error::Malformed`] if a relocation would overwrite the headers or
    /// tables of the ELF. The bytes are then unchanged.
    pub fn resolve(
        &self,
        elf: &mut [u8],
        mut address_of: impl FnMut(&Symbol) -> Option<u64>,
    ) -> Result<(), Error> {
        let edits = self.edits(elf, &mut address_of)?;
        let mut changed = elf.to_vec();
        for (place, bytes) in edits {
            if let Some(target) = changed.get_mut(place) {
                target.copy_from_slice(&bytes);
            }
        }
        // The places come from the file, and a write may hit a header. Check the result as a loader will see it.
        let again = CodeObject::parse(&changed)?;
        let same = changed.get(..HEADER) == elf.get(..HEADER)
            && again.target() == self.target()
            && again.kernels() == self.kernels()
            && again.segments() == self.segments()
            && again.symbols() == self.symbols()
            && again.unresolved().next().is_none();
        if !same {
            let problem = "a relocation is aimed at the headers and tables of the ELF";
            return Err(Error::malformed(WHAT, 0, problem));
        }
        elf.copy_from_slice(&changed);
        Ok(())
    }

    /// The writes to the file.
    fn edits(
        &self,
        bytes: &[u8],
        address_of: &mut dyn FnMut(&Symbol) -> Option<u64>,
    ) -> Result<Vec<Edit>, Error> {
        let elf = Elf::parse(bytes, &mut Warnings::default())?;
        let mut edits = Vec::new();
        for (relocation, symbol) in self.unresolved() {
            let address = address_of(symbol).ok_or_else(|| Error::NotFound {
                what: format!("address for the undefined symbol {}", symbol.name),
                present: "load the code that defines it together with this one".to_owned(),
            })?;
            let value = address.wrapping_add_signed(relocation.addend);
            let value = match relocation.kind {
                RelocationKind::Abs64 => value.to_le_bytes().to_vec(),
                RelocationKind::Abs32 | RelocationKind::Abs32Lo => (value as u32).to_le_bytes().to_vec(),
                RelocationKind::Abs32Hi => ((value >> 32) as u32).to_le_bytes().to_vec(),
                kind => {
                    let what =
                        format!("a relocation of kind {kind:?} against the undefined symbol {}", symbol.name);
                    let advice =
                        "compile with -fPIC, so that other code is reached through the global offset table";
                    return Err(Error::unsupported(what, relocation.offset, advice));
                }
            };
            let place = elf.file_range(relocation.offset, value.len() as u64).ok_or_else(|| {
                let problem = "no segment has bytes in the file for the place of a relocation";
                Error::malformed(WHAT, relocation.offset, problem)
            })?;
            edits.push((place, value));
        }
        let mut first = 0;
        for (table, size_tag) in elf.relocation_tables().into_iter().zip([DT_RELASZ, DT_PLTRELSZ]) {
            let Some((address, size)) = table else { continue };
            let outside = || Error::malformed("the table of relocations", address, "no segment holds it");
            let place = elf.file_range(address, size).ok_or_else(outside)?;
            let rows = bytes.get(place.clone()).ok_or_else(outside)?.chunks_exact(RELOCATION_SIZE);
            let count = rows.len();
            let relocations = self.relocations().get(first..first + count).unwrap_or_default();
            first += count;
            let settled = rows.zip(relocations).filter(|(_, relocation)| self.awaited(relocation).is_none());
            let mut kept: Vec<u8> = settled.flat_map(|(row, _)| row).copied().collect();
            if kept.len() == count * RELOCATION_SIZE {
                continue;
            }
            let new_size = (kept.len() as u64).to_le_bytes().to_vec();
            kept.resize(place.len(), 0);
            edits.push((place, kept));
            // ROCm's loader uses the section headers if there are any.
            let sizes = elf.dynamic_value(size_tag).into_iter().chain(elf.relocation_section_sizes(address));
            edits.extend(sizes.map(|place| (place, new_size.clone())));
        }
        Ok(edits)
    }
}
