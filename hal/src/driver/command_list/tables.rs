// SPDX-License-Identifier: MIT OR Apache-2.0
//! The objects of a list, each kept once. Packed commands name them by number.

use crate::{
    driver::{
        buffer_ref::BufferRef,
        command::{RecordedFunction, RecordedGroup},
        range::Buffer,
        workgroup_count::IndirectParameters,
    },
    words::debug_group::DebugGroup,
};

#[derive(Clone, Default)]
pub(crate) struct Tables {
    pub(crate) functions: Vec<RecordedFunction>,
    /// A handle of each allocation, of those too that only argument blocks refer to.
    pub(crate) buffers: Vec<Buffer>,
    /// The workgroup counts in memory.
    pub(crate) counts: Vec<IndirectParameters>,
    /// The ranges that the arguments of a dispatch name, of each dispatch that keeps them.
    pub(crate) ranges: Vec<Vec<BufferRef>>,
    /// The events of all waits.
    pub(crate) events: Vec<usize>,
    pub(crate) groups: Vec<DebugGroup>,
    /// The groups of collective operations.
    pub(crate) collectives: Vec<RecordedGroup>,
    /// The bytes of all updates.
    pub(crate) data: Vec<u8>,
}

impl Tables {
    pub(crate) const NONE: Self = Self {
        functions: Vec::new(),
        buffers: Vec::new(),
        counts: Vec::new(),
        ranges: Vec::new(),
        events: Vec::new(),
        groups: Vec::new(),
        collectives: Vec::new(),
        data: Vec::new(),
    };
}
