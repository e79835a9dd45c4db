// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a loader may be shown an image that believes every header.
//!
//! HIP takes a code object without a length, and every number in it is believed by somebody:
//!
//! | what a loader takes from the image | what it does with it | what is asked here |
//! |---|---|---|
//! | offsets, counts and sizes of all headers | measures the image by them (clr, `ElfSize`) | all of it is there |
//! | the last segment's end | allocates so much, copies every segment into it (`LoadSegmentsV2`) | segments in order, none over another, none longer in the file than in memory |
//! | the count, the size and the kinds of section headers | an object for each; one without a kind is a null pointer | 64 bytes each, the first empty and no other, a count that is stated |
//! | names, links, infos of sections | indices into arrays without a check | in the array, and of the kind that is expected there |
//! | names of symbols | C strings | in their table, which ends with a zero |
//! | a symbol's section | index; a descriptor's bytes are copied from it | in the array, the symbol inside it, a descriptor with its 64 bytes |
//! | variables' addresses and sizes | given to programs to copy from and to | inside the memory of the segments |
//! | notes | walked by adding up their sizes | they fill their section or segment exactly |
//! | relocations | symbol by index, written to their offset | a symbol that exists and lies in memory, eight bytes of memory to write |

mod sections;
mod segments;

use crate::code::code_object::{CodeObject, amdgpu_head};
use crate::code::elf::Elf;
use crate::code::extent::declared_size;
use crate::code::layout::SymbolRole;
use crate::error::Error;
use crate::warnings::Warnings;
use segments::Memory;

/// Succeeds where a loader that believes the headers of a code object stays within its bytes, and within the memory of
/// its segments.
///
/// [`CodeObject::parse`] reads what it needs and forgives the rest; this forgives nothing that HIP might trust: sizes,
/// the order of segments, section headers (a file may have none), links and indices, names, notes, relocations and
/// where variables lie. `hipModuleLoadData` should see only what has passed.
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

/// As [`validate`], of an image that was parsed before.
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
    segments::check_notes(elf)?;
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
