// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes the target in a code object's flags to a compatible processor.

use crate::code::elf_flags::{ELF_FLAGS_OFFSET, ElfHead};
use crate::error::Error;
use crate::words::processor;
use crate::words::target::TargetId;

/// Changes the flags of a code object to `agent`'s processor, if distributions let that processor run the code
/// ([`Fit::Family`](crate::Fit::Family)).
///
/// ROCm takes the target of a code object from its ELF flags and refuses code for another processor. Code that was
/// chosen with [`Options::compatible_families`](crate::Options::compatible_families) therefore needs the agent's name.
/// Only the processor in the flags changes: the stated features stay, and the metadata keeps the compiler's name.
///
/// # Errors
///
/// If the bytes are no ELF for amdgpu, or the code is for a processor of another family. The bytes are then unchanged.
///
/// ```
/// let mut elf = [0; 64];
/// assert!(windlass_codeobject::retarget(&mut elf, &"gfx1031".parse()?).is_err());
/// # Ok::<(), windlass_codeobject::Error>(())
/// ```
pub fn retarget(elf: &mut [u8], agent: &TargetId) -> Result<(), Error> {
    let what = "a code object under another processor's name";
    let head = ElfHead::read(elf)
        .filter(|head| head.is_amdgpu())
        .ok_or_else(|| Error::malformed(what, 0, "it is no 64-bit little-endian ELF for amdgpu"))?;
    let code = head.target();
    let mach = processor::to_mach(agent.processor())
        .filter(|_| processor::family_serves(code.processor(), agent.processor()));
    let (Some(mach), Some(flags)) = (mach, elf.get_mut(ELF_FLAGS_OFFSET)) else {
        let advice = format!("build it for {agent}, or for a generic target that covers it");
        return Err(Error::unsupported(format!("code for {code} on {agent}"), 0, advice));
    };
    *flags = mach;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(flags: u32) -> Vec<u8> {
        let mut elf = vec![0; 64];
        elf[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1]);
        elf[8] = 2;
        elf[18] = 224;
        elf[48..52].copy_from_slice(&flags.to_le_bytes());
        elf
    }

    #[test]
    fn the_processor_changes_and_nothing_else() {
        let mut code = elf(0x36);
        retarget(&mut code, &"gfx1031".parse().unwrap()).unwrap();
        assert_eq!(code, elf(0x37));
        let mut code = elf(0x22c);
        retarget(&mut code, &"gfx90c:xnack-".parse().unwrap()).unwrap();
        assert_eq!(code, elf(0x232), "the mode of xnack stays");
    }

    #[test]
    fn other_families_are_refused() {
        for (flags, agent) in [(0x41, "gfx1101"), (0x2f, "gfx900"), (0xfe, "gfx1031"), (0x36, "gfx9999")] {
            let mut code = elf(flags);
            assert!(retarget(&mut code, &agent.parse().unwrap()).is_err(), "{flags:#x} {agent}");
            assert_eq!(code, elf(flags));
        }
    }
}
