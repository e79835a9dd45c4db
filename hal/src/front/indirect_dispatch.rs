// SPDX-License-Identifier: MIT OR Apache-2.0
//! The configuration of an indirect dispatch, whose workgroup count is in a buffer.

use crate::{driver::workgroup_count::IndirectParameters, front::dispatch::DispatchConfig};

/// How to launch a function whose workgroup count is in a buffer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IndirectDispatchConfig {
    /// The range that holds the count, and the moment of reading it.
    pub parameters: IndirectParameters,
    /// Work-items of a workgroup in x, y, z. `None` where the code fixes the size.
    pub workgroup_size: Option<[u32; 3]>,
    /// Bytes of local memory (LDS) in addition to those that the function declares.
    pub dynamic_local_memory: u32,
    /// Whether the caller packed the arguments. See
    /// [`DispatchConfig::raw_arguments`](crate::DispatchConfig::raw_arguments).
    pub raw_arguments: bool,
}

impl IndirectDispatchConfig {
    /// A count in a buffer, and workgroups of the size that the code fixes.
    pub fn new(parameters: IndirectParameters) -> Self {
        Self { parameters, workgroup_size: None, dynamic_local_memory: 0, raw_arguments: false }
    }

    /// Sets the workgroup size.
    #[must_use]
    pub fn workgroup_size(mut self, size: [u32; 3]) -> Self {
        self.workgroup_size = Some(size);
        self
    }

    /// Sets the dynamic local memory in bytes.
    #[must_use]
    pub fn dynamic_local_memory(mut self, bytes: u32) -> Self {
        self.dynamic_local_memory = bytes;
        self
    }

    /// Says that the caller packed the arguments. See
    /// [`DispatchConfig::raw_arguments`](crate::DispatchConfig::raw_arguments).
    #[must_use]
    pub fn raw_arguments(mut self) -> Self {
        self.raw_arguments = true;
        self
    }

    /// The same launch with one workgroup, for the checks before the count is known.
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
