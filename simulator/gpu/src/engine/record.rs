// SPDX-License-Identifier: MIT OR Apache-2.0
//! The facts about a kernel that its code object states.

use crate::exec::Program;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use windlass_codeobject::{ArgKind, Kernel as Description};

/// An explicit parameter of a kernel, from the code object's metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name; empty if the compiler left none.
    pub name: String,
    /// Byte offset in the argument block.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Its kind.
    pub kind: ParameterKind,
}

/// The kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterKind {
    /// Bytes.
    Value,
    /// A device pointer.
    Pointer,
    /// An offset into dynamic LDS (OpenCL's local pointers).
    LocalPointer,
    /// Another kind that takes space (images, pipes).
    Other,
}

/// The facts about a kernel.
pub(super) struct KernelRecord {
    /// The code object's description.
    pub(super) description: Description,
    /// Address of the descriptor.
    pub(super) handle: u64,
    /// Address of the first instruction.
    pub(super) entry: u64,
    /// The code that holds the entry.
    pub(super) program: Arc<Program>,
    pub(super) parameters: Vec<Parameter>,
    /// Whether an access past the end of an allocation was reported.
    pub(super) has_overrun: AtomicBool,
}

impl KernelRecord {
    /// A kernel of a code object that is loaded at `base`.
    pub(super) fn new(description: Description, base: u64, program: Arc<Program>) -> Self {
        let parameters = description
            .explicit_args()
            .map(|arg| Parameter {
                name: arg.name.clone().unwrap_or_default(),
                offset: arg.offset,
                size: arg.size,
                kind: match arg.kind {
                    ArgKind::ByValue => ParameterKind::Value,
                    ArgKind::GlobalBuffer => ParameterKind::Pointer,
                    ArgKind::DynamicSharedPointer => ParameterKind::LocalPointer,
                    _ => ParameterKind::Other,
                },
            })
            .collect();
        Self {
            handle: base.wrapping_add(description.descriptor_address),
            entry: base.wrapping_add(description.entry_address),
            program,
            parameters,
            description,
            has_overrun: AtomicBool::new(false),
        }
    }
}
