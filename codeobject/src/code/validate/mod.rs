// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks that a loader which trusts every header of an image stays within the image.
//!
//! HIP takes a code object without a length, and ROCm's loader trusts each of these numbers:
//!
//! | number in the image | use by the loader | check |
//! |---|---|---|
//! | offsets, counts and sizes of all headers | the size of the image (clr, `ElfSize`) | all of it exists |
//! | alignments of segments | the alignment of an allocation | they are powers of two |
//! | the last segment's end | the size of an allocation, into which every segment is copied (`LoadSegmentsV2`) | segments are in order, do not overlap, and are no longer in the file than in memory |
//! | count, size and kinds of section headers | an object for each; a header without a kind is a null pointer | 64 bytes each, only the first is empty, the count is stated |
//! | names, links and infos of sections | unchecked indices into arrays | they are in the array and of the expected kind |
//! | names of symbols | C strings | they lie in their table, which ends with a zero |
//! | a symbol's section | an index; a descriptor is copied from the section | the section exists and holds the symbol, a descriptor with 64 bytes |
//! | addresses and sizes of variables | programs copy from and to them | they lie in the memory of the segments |
//! | notes | a walk by their sizes | they fill their section or segment exactly |
//! | relocations | a symbol index, and a write to their offset | the symbol exists and lies in memory, and so do eight bytes at the offset |

mod sections;
mod segments;

use crate::code::code_object::{CodeObject, amdgpu_head};
use crate::code::elf::Elf;
use crate::code::extent::declared_size;
use crate::code::layout::SymbolRole;
use crate::error::Error;
use crate::warnings::Warnings;
use segments::Memory;

/// Checks that a loader which trusts the headers of a code object stays within its bytes, and within the memory of its
/// segments.
///
/// [`CodeObject::parse`] checks only the parts that it reads. This function also checks the numbers that HIP might
/// trust: sizes, the order of segments, section headers (a file may have none), links and indices, names, notes,
/// relocations and the addresses of variables. Pass only checked code objects to `hipModuleLoadData`.
///
/// # Errors
///
/// As [`CodeObject::parse`]; [`Error::Truncated`] and [`Error::Malformed`] name the header that is wrong.
///
/// ```
/// assert!(windlass_codeobject::validate(b"\x7fELF and no more").is_err());
/// ```
pub fn validate(elf: &[u8]) -> Result<(), Error> {
    check(elf, &CodeObject::parse(elf)?)
}

/// As [`validate`], for an image that was already parsed.
pub(crate) fn check(elf: &[u8], code: &CodeObject) -> Result<(), Error> {
    let what = "the code object";
    match declared_size(elf) {
        Some(size) if size <= elf.len() as u64 => {}
        Some(size) => return Err(Error::truncated(what, 0, size, elf.len() as u64)),
        None => return Err(Error::malformed(what, 0, "its headers claim more bytes than there can be")),
    }
    let head = amdgpu_head(elf)?;
    if !head.is_linked() {
        return Err(Error::unsupported(
            "an object of the compiler",
            0,
            "link it with ld.lld -shared; only linked code has addresses",
        ));
    }
    let parsed = Elf::parse(elf, &mut Warnings::default())?;
    let memory = Memory::check(&parsed.segments)?;
    for (offset, size) in parsed.note_areas() {
        segments::check_note_area(elf, offset, size)?;
    }
    sections::check(elf, &memory)?;
    for relocation in code.relocations() {
        memory.check_relocation(relocation.offset)?;
    }
    for symbol in code.symbols() {
        let is_data =
            matches!(symbol.role, SymbolRole::Variable | SymbolRole::Marker | SymbolRole::KernelDescriptor);
        if is_data && symbol.exported && !memory.holds(symbol.address, symbol.size) {
            let what = format!("the symbol {}", symbol.name);
            return Err(Error::malformed(what, symbol.address, "no segment holds all of it"));
        }
    }
    Ok(())
}
