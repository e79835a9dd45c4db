// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of a decode error. It names another set that has the instruction.

use std::fmt;

use super::error::DecodeError;
use super::fields::field;
use super::set::{Family, InstructionSet};
use super::tables::images;

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Truncated { have, need } => {
                write!(f, "the code ends inside an instruction: it has {have} words of at least {need}")
            }
            DecodeError::Unknown { set, words, encoding: Some(encoding) } => {
                let (name, [first, second]) = (set.name(), words);
                let related =
                    |other: &&InstructionSet| other.family == set.family && other.name() != set.name();
                // Most sets of GFX9 share an instruction with the newest one, which says least.
                let [newest, others @ ..] = InstructionSet::GFX9;
                let sets = others.into_iter().chain([newest]).chain(InstructionSet::RDNA);
                for other in sets.filter(related) {
                    if let Ok(inst) = other.decode(words) {
                        return write!(
                            f,
                            "{name} has no {inst}: {first:#010x} {second:#010x} is an instruction of {}",
                            other.name()
                        );
                    }
                }
                write!(
                    f,
                    "no {name} instruction of format {encoding:?} is encoded {first:#010x} {second:#010x}"
                )
            }
            DecodeError::Unknown { set, words, encoding: None } => {
                let (name, [first, second]) = (set.name(), words);
                match image(set, *first) {
                    Some(mnemonic) if set.has_images => {
                        write!(f, "{mnemonic} ({first:#010x} {second:#010x}: images are not simulated)")
                    }
                    Some(_) => write!(
                        f,
                        "{first:#010x} {second:#010x} (an image instruction, and {name} has no images)"
                    ),
                    None => write!(
                        f,
                        "{first:#010x} (no format of {name} for compute kernels starts so; exports and interpolation are not simulated)"
                    ),
                }
            }
        }
    }
}

impl std::error::Error for DecodeError {}

/// LLVM's mnemonic of an image instruction, which is not decoded, by its first word.
fn image(set: &InstructionSet, first: u32) -> Option<&'static str> {
    let (names, code) = match (set.family, field(first, 26, 6)) {
        (Family::Gfx9, 0b11_1100) => (images::GFX9, field(first, 18, 7) | field(first, 0, 1) << 7),
        (Family::Gfx10, 0b11_1100) => (images::GFX10, field(first, 18, 7) | field(first, 0, 1) << 7),
        (Family::Gfx11, 0b11_1100) => (images::GFX11, field(first, 18, 8)),
        (Family::Gfx12, 0b11_0100) => (images::VIMAGE, field(first, 14, 8)),
        (Family::Gfx12, 0b11_1001) => (images::VSAMPLE, field(first, 14, 8)),
        _ => return None,
    };
    let found = names.iter().find(|(of, _)| u32::from(*of) == code);
    Some(found.map_or("an unknown image instruction", |(_, mnemonic)| *mnemonic))
}
