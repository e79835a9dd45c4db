// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of a decode error. It names another set that has the instruction.

use std::fmt;

use super::error::DecodeError;
use super::set::InstructionSet;

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Truncated { have, need } => {
                write!(f, "the code ends inside an instruction: it has {have} words of at least {need}")
            }
            DecodeError::Unknown { set, words, encoding: Some(encoding) } => {
                let (name, [first, second]) = (set.name(), words);
                let related = |other: &&InstructionSet| other != set && other.family == set.family;
                // Most sets share an instruction with the newest one, which says least.
                let [newest, others @ ..] = InstructionSet::ALL;
                for other in others.into_iter().chain([newest]).filter(related) {
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
                if let Some(mnemonic) = set.image_mnemonic(*first) {
                    return write!(
                        f,
                        "{mnemonic} ({first:#010x} {second:#010x}) is an image instruction of {name}; images are not simulated"
                    );
                }
                write!(
                    f,
                    "no format of {} for compute kernels starts with {first:#010x}; exports and interpolation are not simulated",
                    name,
                )
            }
        }
    }
}

impl std::error::Error for DecodeError {}
