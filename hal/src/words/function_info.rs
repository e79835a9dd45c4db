// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions and global variables of device code, as the code describes them.

use crate::words::facts::FunctionResources;

/// A global variable of an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GlobalInfo {
    /// The name to look it up by.
    pub name: String,
    /// The size in bytes, as the code says.
    pub size: u64,
}

impl GlobalInfo {
    /// A variable of `size` bytes.
    pub fn new(name: impl Into<String>, size: u64) -> Self {
        Self { name: name.into(), size }
    }
}

/// The parameters and requirements of a function, as its code object says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionInfo {
    /// The name to look it up by.
    pub name: String,
    /// The explicit parameters in order. Parameters that the runtime fills in are not included.
    pub parameters: Vec<Parameter>,
    /// The size of the block of explicit arguments, in bytes.
    pub argument_size: u32,
    /// The workgroup size, where the code fixes one.
    pub workgroup_size: Option<[u32; 3]>,
    /// The most work-items of a workgroup; 0 where only the limit of the device applies.
    pub max_workgroup_threads: u32,
    /// Bytes of local memory that each workgroup gets.
    pub static_local_memory: u32,
    /// The registers and the private memory that the code takes.
    pub resources: FunctionResources,
}

impl FunctionInfo {
    /// Name and parameters in one line: `saxpy(alpha: 4 bytes, x: buffer, y: buffer, n: 4 bytes)`.
    pub fn signature(&self) -> String {
        let parameters = self.parameters.iter().enumerate().map(|(index, parameter)| {
            let name = parameter.name.clone().unwrap_or_else(|| format!("#{index}"));
            match parameter.kind {
                ParameterKind::Buffer => format!("{name}: buffer"),
                ParameterKind::Value => format!("{name}: {} bytes", parameter.size),
            }
        });
        format!("{}({})", self.name, parameters.collect::<Vec<_>>().join(", "))
    }
}

/// An explicit parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// The kind of argument that it takes.
    pub kind: ParameterKind,
    /// The offset in the argument block, in bytes.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
    /// The name in the source, where the compiler kept it.
    pub name: Option<String>,
}

impl Parameter {
    /// A parameter without a name.
    pub fn new(kind: ParameterKind, offset: u32, size: u32) -> Self {
        Self { kind, offset, size, name: None }
    }

    /// Sets the name.
    #[must_use]
    pub fn named(mut self, name: Option<String>) -> Self {
        self.name = name;
        self
    }
}

/// The kind of argument that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterKind {
    /// A device address of eight bytes.
    Buffer,
    /// Bytes of exactly the parameter's size.
    Value,
}
