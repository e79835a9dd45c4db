// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernels of a shared object for the host, and their parameters.

/// A kernel of a [`HostLibrary`](crate::HostLibrary). Sizes are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostKernel {
    /// Its name, which is that of the function.
    pub name: String,
    /// Where the function lies, counted from where the object is loaded.
    pub address: u64,
    /// Whether that is a function which the loader asks for the kernel's own (`STT_GNU_IFUNC`).
    pub is_indirect: bool,
    /// Bytes of the function; 0 where its symbol does not say.
    pub size: u64,
    /// Size of the argument block.
    pub argument_size: u32,
    /// Its parameters, by ascending offset and without overlap.
    pub parameters: Vec<HostParameter>,
    /// The only workgroup size that it is made for, where there is one.
    pub workgroup_size: Option<[u32; 3]>,
    /// The most work items of a workgroup; 0 for any number.
    pub max_workgroup_threads: u32,
    /// Local memory that every workgroup gets.
    pub local_memory_size: u32,
}

/// A parameter of a [`HostKernel`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostParameter {
    /// What it takes.
    pub kind: HostParameterKind,
    /// Where it lies in the argument block.
    pub offset: u32,
    /// Bytes; never 0.
    pub size: u32,
    /// Its name, where it has one.
    pub name: Option<String>,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostParameterKind {
    /// A number or a struct, by value.
    Value,
    /// The address of a buffer, or null.
    Buffer,
}
