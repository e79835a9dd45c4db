// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transfers, submitted or recorded, whole or in parts.

use std::{borrow::Cow, ops::Range};

use windlass_hal::{Buffer, Command, Error, Operation, Pattern, Result, host_memory};

/// A fill, an update or a copy with its ranges resolved.
pub(crate) enum Transfer<'a> {
    Fill { target: Buffer, pattern: Pattern },
    Update { source: Cow<'a, [u8]>, target: Buffer },
    Copy { source: Buffer, target: Buffer },
}

impl Transfer<'static> {
    /// Converts an operation that is a transfer. Returns any other operation as the error.
    #[allow(clippy::result_large_err, reason = "the caller goes on with the operation")]
    pub(crate) fn submitted(operation: Operation) -> Result<Self, Operation> {
        Ok(match operation {
            Operation::Fill { target, pattern } => Self::Fill { target, pattern },
            Operation::Update { source, target } => {
                Self::Update { source: Cow::Owned(source.into_vec()), target }
            }
            Operation::Copy { source, target } => Self::Copy { source, target },
            other => return Err(other),
        })
    }
}

impl<'a> Transfer<'a> {
    /// Converts a command that is a transfer. `None` for any other command.
    pub(crate) fn recorded(command: &Command<'a>, bindings: &[Buffer]) -> Result<Option<Self>> {
        Ok(Some(match *command {
            Command::Fill { target, pattern } => Self::Fill { target: target.resolve(bindings)?, pattern },
            Command::Update { source, target, .. } => {
                Self::Update { source: Cow::Borrowed(source), target: target.resolve(bindings)? }
            }
            Command::Copy { source, target } => {
                Self::Copy { source: source.resolve(bindings)?, target: target.resolve(bindings)? }
            }
            _ => return Ok(None),
        }))
    }

    /// The length in bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Fill { target, .. } | Self::Update { target, .. } | Self::Copy { target, .. } => {
                target.len()
            }
        }
    }

    /// Transfers a part. Its ends must be multiples of the longest pattern, or the end of the whole.
    pub(crate) fn run(&self, part: Range<u64>) -> Result<()> {
        let of = |buffer: &Buffer| buffer.subspan(part.start, part.end - part.start);
        match self {
            Self::Fill { target, pattern } => host_memory::fill(&of(target)?, *pattern),
            Self::Update { source, target } => {
                let source = source.get(part.start as usize..part.end as usize);
                let source =
                    source.ok_or_else(|| Error::internal("an update has fewer bytes than its target"))?;
                host_memory::update(source, &of(target)?)
            }
            Self::Copy { source, target } => host_memory::copy(&of(source)?, &of(target)?),
        }
    }
}
