// SPDX-License-Identifier: MIT OR Apache-2.0
//! What device code says of its functions and global variables.

/// A global variable of an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GlobalInfo {
    /// The name to look it up by.
    pub name: String,
    /// Bytes, as the code says.
    pub size: u64,
}

impl GlobalInfo {
    /// A variable with its size in bytes.
    pub fn new(name: impl Into<String>, size: u64) -> Self {
        Self { name: name.into(), size }
    }
}

/// What a function takes and needs, as its code object says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionInfo {
    /// The name to look it up by.
    pub name: String,
    /// Its explicit parameters in order. What the runtime fills in is not among them.
    pub parameters: Vec<Parameter>,
    /// Bytes of the block that holds the explicit arguments.
    pub argument_size: u32,
    /// The workgroup size that the code was built for, where it fixes one.
    pub workgroup_size: Option<[u32; 3]>,
    /// The most work-items of a workgroup; 0 where only the device's limit counts.
    pub max_workgroup_threads: u32,
    /// Bytes of local memory that every workgroup gets.
    pub static_local_memory: u32,
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
    /// What it takes.
    pub kind: ParameterKind,
    /// Where it lies in the argument block, in bytes.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Its name in the source, where the compiler kept it.
    pub name: Option<String>,
}

impl Parameter {
    /// A parameter without a name.
    pub fn new(kind: ParameterKind, offset: u32, size: u32) -> Self {
        Self { kind, offset, size, name: None }
    }

    /// The same with a name.
    #[must_use]
    pub fn named(mut self, name: Option<String>) -> Self {
        self.name = name;
        self
    }
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterKind {
    /// A device address of eight bytes.
    Buffer,
    /// Bytes of exactly the parameter's size.
    Value,
}
