// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables: loaded device code and what it says of itself.

use std::{fmt, sync::Arc};

use crate::{
    driver,
    error::{Error, Result},
};

/// Loaded device code. Made by [`Device::load_executable`](crate::Device::load_executable); lives until the last
/// handle is gone and the last submission that uses it has ended.
#[derive(Clone)]
pub struct Executable {
    raw: Arc<dyn driver::Executable>,
}

impl Executable {
    pub(crate) fn from_driver(raw: Arc<dyn driver::Executable>) -> Self {
        Self { raw }
    }

    /// Every function that can be dispatched.
    pub fn functions(&self) -> impl Iterator<Item = Function> + '_ {
        (0..self.raw.functions().len() as u32).map(|index| Function { executable: self.raw.clone(), index })
    }

    /// A function by name; `NOT_FOUND` names those that exist.
    pub fn function(&self, name: &str) -> Result<Function> {
        let functions = self.raw.functions();
        match functions.iter().position(|function| function.name == name) {
            Some(index) => Ok(Function { executable: self.raw.clone(), index: index as u32 }),
            None => Err(Error::not_found(format!(
                "no function `{name}`; the executable has {}",
                names(functions)
            ))),
        }
    }

    /// The device address and the size in bytes of a global variable.
    pub fn global(&self, name: &str) -> Result<(u64, u64)> {
        self.raw.global(name)
    }
}

/// The first names of a list, and how many more there are.
fn names(functions: &[FunctionInfo]) -> String {
    const SHOWN: usize = 12;
    if functions.is_empty() {
        return "none".to_owned();
    }
    let mut text: Vec<_> =
        functions.iter().take(SHOWN).map(|function| format!("`{}`", function.name)).collect();
    if functions.len() > SHOWN {
        text.push(format!("{} more", functions.len() - SHOWN));
    }
    text.join(", ")
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Executable({})", names(self.raw.functions()))
    }
}

/// A function of an executable. Keeps the executable loaded.
#[derive(Clone)]
pub struct Function {
    pub(crate) executable: Arc<dyn driver::Executable>,
    pub(crate) index: u32,
}

impl Function {
    /// What the function takes and needs.
    pub fn info(&self) -> &FunctionInfo {
        &self.executable.functions()[self.index as usize]
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.info().name
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.info().signature())
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
