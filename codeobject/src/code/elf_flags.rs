// SPDX-License-Identifier: MIT OR Apache-2.0
//! The head of an AMD GPU ELF: the target that its flags name.

use crate::bytes::{array, u16_at, u32_at};
use crate::words::magic::Format;
use crate::words::processor;
use crate::words::target::TargetId;

/// The number of bytes that [`ElfHead::read`] needs.
pub(crate) const ELF_HEAD_SIZE: u64 = 64;
/// The offset of `e_flags`; its first byte is `EF_AMDGPU_MACH`.
pub(crate) const ELF_FLAGS_OFFSET: usize = 48;
const EM_AMDGPU: u16 = 224;
const ELFOSABI_AMDGPU_HSA: u8 = 64;
const ABI_V3: u8 = 1;
const ABI_V6: u8 = 4;

/// The fields of an ELF header that tell the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ElfHead {
    pub(crate) elf_type: u16,
    pub(crate) machine: u16,
    pub(crate) abi_version: u8,
    pub(crate) flags: u32,
}

/// The mode of a feature in the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Any,
    Off,
    On,
}

impl ElfHead {
    /// The number that stands for no processor.
    pub(crate) const NO_MACH: u8 = 0;

    /// Reads the head of a little-endian 64-bit ELF; `None` for anything else.
    pub(crate) fn read(elf: &[u8]) -> Option<ElfHead> {
        let ident: [u8; 16] = array(elf, 0)?;
        if Format::of(&ident) != Some(Format::Elf) {
            return None;
        }
        Some(ElfHead {
            elf_type: u16_at(elf, 16)?,
            machine: u16_at(elf, 18)?,
            abi_version: ident[8],
            flags: u32_at(elf, ELF_FLAGS_OFFSET as u64)?,
        })
    }

    pub(crate) fn is_amdgpu(self) -> bool {
        self.machine == EM_AMDGPU
    }

    /// Whether the ELF was linked. An object of the compiler has no addresses yet.
    pub(crate) fn is_linked(self) -> bool {
        const ET_REL: u16 = 1;
        self.elf_type != ET_REL
    }

    /// Whether the identification bytes of an AMD GPU ELF name HSA as its system.
    pub(crate) fn is_hsa(elf: &[u8]) -> bool {
        elf.get(7) == Some(&ELFOSABI_AMDGPU_HSA)
    }

    /// The code object version, 2 to 6; `None` for an unknown ABI version.
    pub(crate) fn code_object_version(self) -> Option<u32> {
        (self.abi_version <= ABI_V6).then(|| u32::from(self.abi_version) + 2)
    }

    /// The version of a generic code object; 0 for others.
    pub(crate) fn generic_version(self) -> u8 {
        if self.abi_version >= ABI_V6 { (self.flags >> 24) as u8 } else { 0 }
    }

    /// The number of its processor, `EF_AMDGPU_MACH`.
    pub(crate) fn mach(self) -> u8 {
        self.flags as u8
    }

    /// The processor; `None` for a number that the table lacks.
    pub(crate) fn processor(self) -> Option<&'static str> {
        processor::from_mach(self.mach())
    }

    /// The features that the flags state, sorted by name.
    pub(crate) fn features(self) -> Vec<(String, bool)> {
        [("sramecc", self.sramecc()), ("xnack", self.xnack())]
            .into_iter()
            .filter(|(_, mode)| *mode != Mode::Any)
            .map(|(name, mode)| (name.to_owned(), mode == Mode::On))
            .collect()
    }

    /// The target, with `mach-0xNN` for a processor that the table does not know.
    pub(crate) fn target(self) -> TargetId {
        match self.processor() {
            Some(processor) => TargetId::new(processor, self.features()),
            None => TargetId::new(&format!("mach-{:#04x}", self.mach()), self.features()),
        }
    }

    fn xnack(self) -> Mode {
        match (self.abi_version, self.flags & 0x300) {
            (ABI_V3, bits) if bits & 0x100 != 0 => Mode::On,
            (0..=ABI_V3, _) => Mode::Any,
            (_, 0x300) => Mode::On,
            (_, 0x200) => Mode::Off,
            _ => Mode::Any,
        }
    }

    fn sramecc(self) -> Mode {
        match (self.abi_version, self.flags & 0xc00) {
            (ABI_V3, _) if self.flags & 0x200 != 0 => Mode::On,
            (0..=ABI_V3, _) => Mode::Any,
            (_, 0xc00) => Mode::On,
            (_, 0x800) => Mode::Off,
            _ => Mode::Any,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(abi_version: u8, flags: u32) -> String {
        ElfHead { elf_type: 3, machine: EM_AMDGPU, abi_version, flags }.target().to_string()
    }

    #[test]
    fn flags_of_each_version() {
        assert_eq!(target(2, 0x54c), "gfx942");
        assert_eq!(target(2, 0xe4c), "gfx942:sramecc+:xnack-");
        assert_eq!(target(3, 0x73f), "gfx90a:xnack+");
        assert_eq!(target(3, 0x12c), "gfx900");
        assert_eq!(target(4, 0x0100_0151), "gfx9-generic");
        assert_eq!(target(1, 0x32f), "gfx906:sramecc+:xnack+");
        assert_eq!(target(1, 0x02f), "gfx906");
        assert_eq!(target(3, 0x0ff), "mach-0xff");
    }

    #[test]
    fn generic_versions_exist_from_code_object_v6_on() {
        let head = |abi_version| ElfHead { elf_type: 3, machine: EM_AMDGPU, abi_version, flags: 0x0100_0151 };
        assert_eq!(head(4).generic_version(), 1);
        assert_eq!(head(3).generic_version(), 0);
    }
}
