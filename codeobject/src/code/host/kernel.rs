// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernels of a shared object for the host, and their parameters.

/// A kernel of a [`HostLibrary`](crate::HostLibrary). Sizes are bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostKernel {
    /// The kernel's name, which is the function's name.
    pub name: String,
    /// The address of the function, relative to the load address.
    pub address: u64,
    /// Whether the loader calls that function to get the kernel's address (`STT_GNU_IFUNC`).
    pub is_indirect: bool,
    /// Size of the function in bytes; 0 if its symbol does not say.
    pub size: u64,
    /// Size of the argument block.
    pub argument_size: u32,
    /// The parameters, by ascending offset and without overlap.
    pub parameters: Vec<HostParameter>,
    /// The only workgroup size that the kernel is made for, if there is one.
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
    /// The kind of value that the parameter takes.
    pub kind: HostParameterKind,
    /// The offset in the argument block.
    pub offset: u32,
    /// Size in bytes; never 0.
    pub size: u32,
    /// The parameter's name, if it has one.
    pub name: Option<String>,
}

/// The kind of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostParameterKind {
    /// A number or a struct, by value.
    Value,
    /// The address of a buffer, or null.
    Buffer,
}
