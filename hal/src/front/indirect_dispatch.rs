// SPDX-License-Identifier: MIT OR Apache-2.0
//! Indirect dispatch: workgroup counts that the host does not know when it records or submits.

use crate::{driver::workgroup_count::IndirectParameters, front::dispatch::DispatchConfig};

/// How to launch a function whose workgroup count is in a buffer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IndirectDispatchConfig {
    /// Where the count is, and when to read it.
    pub parameters: IndirectParameters,
    /// Work-items of a workgroup in x, y, z; may be left out where the code fixes it.
    pub workgroup_size: Option<[u32; 3]>,
    /// Bytes of local memory (LDS) beyond what the function declares.
    pub dynamic_local_memory: u32,
    /// The arguments are one block that the caller packed. See
    /// [`DispatchConfig::raw_arguments`](crate::DispatchConfig::raw_arguments).
    pub raw_arguments: bool,
}

impl IndirectDispatchConfig {
    /// A count in a buffer, with workgroups of the size that the code fixes.
    pub fn new(parameters: IndirectParameters) -> Self {
        Self { parameters, workgroup_size: None, dynamic_local_memory: 0, raw_arguments: false }
    }

    /// The same with a workgroup size.
    #[must_use]
    pub fn workgroup_size(mut self, size: [u32; 3]) -> Self {
        self.workgroup_size = Some(size);
        self
    }

    /// The same with dynamic local memory.
    #[must_use]
    pub fn dynamic_local_memory(mut self, bytes: u32) -> Self {
        self.dynamic_local_memory = bytes;
        self
    }

    /// The same with arguments that the caller packed.
    #[must_use]
    pub fn raw_arguments(mut self) -> Self {
        self.raw_arguments = true;
        self
    }

    /// The same launch with the smallest grid, to be checked before the count is known.
    pub(crate) fn with_one_workgroup(&self) -> DispatchConfig {
        let mut config = DispatchConfig::new([1; 3]).dynamic_local_memory(self.dynamic_local_memory);
        config.workgroup_size = self.workgroup_size;
        config.raw_arguments = self.raw_arguments;
        config
    }
}

impl From<IndirectParameters> for IndirectDispatchConfig {
    fn from(parameters: IndirectParameters) -> Self {
        Self::new(parameters)
    }
}
