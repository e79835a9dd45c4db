// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables: loaded device code and what it says of itself.

use std::{fmt, sync::Arc};

use crate::{
    buffer::{Buffer, BufferParams},
    driver,
    error::{Error, Result, ResultExt},
    fork::Kept,
    near_names::near_names,
    operation::QueueAffinity,
    symbol::SymbolInfo,
};

/// Loaded device code. Made by [`Device::load_executable`](crate::Device::load_executable); lives until the last
/// handle is gone and the last submission that uses it has ended.
#[derive(Clone)]
pub struct Executable {
    raw: Kept<Arc<dyn driver::Executable>>,
}

impl Executable {
    pub(crate) fn from_driver(raw: Arc<dyn driver::Executable>) -> Self {
        Self { raw: raw.into() }
    }

    /// Every function that can be dispatched.
    pub fn functions(&self) -> impl Iterator<Item = Function> + '_ {
        (0..self.raw.functions().len() as u32).map(|index| Function { executable: self.raw.clone(), index })
    }

    /// A function by name; `NOT_FOUND` names those that exist, the most similar first.
    pub fn function(&self, name: &str) -> Result<Function> {
        let functions = self.raw.functions();
        match functions.iter().position(|function| function.name == name) {
            Some(index) => Ok(Function { executable: self.raw.clone(), index: index as u32 }),
            None => Err(Error::not_found(format!(
                "no function `{name}`; the executable has {}",
                near_names(name, functions.iter().map(|function| function.name.as_str()))
            ))),
        }
    }

    /// Every global variable that can be looked up.
    pub fn globals(&self) -> &[GlobalInfo] {
        self.raw.globals()
    }

    /// The memory of a global variable, as a buffer: a source or target of transfers and an argument of dispatches. It
    /// keeps the executable loaded. What it holds is ordered like any other memory, by semaphores.
    ///
    /// `NOT_FOUND` names the variables that exist, the most similar first. `FAILED_PRECONDITION` on a device of several
    /// GPUs, each of which has a copy of its own: ask with [`global_on`](Self::global_on).
    pub fn global(&self, name: &str) -> Result<Buffer> {
        self.global_on(name, QueueAffinity::ANY)
    }

    /// [`global`](Self::global) as kernels on these queues see it: on a device of several GPUs, the queues of one.
    pub fn global_on(&self, name: &str, queues: QueueAffinity) -> Result<Buffer> {
        let globals = self.raw.globals();
        let index = globals.iter().position(|global| global.name == name).ok_or_else(|| {
            Error::not_found(format!(
                "no global variable `{name}`; the executable has {}",
                near_names(name, globals.iter().map(|global| global.name.as_str()))
            ))
        })?;
        let raw = Arc::clone(&self.raw).global(index as u32, queues);
        let raw = raw.context(|| format!("looking up the global variable `{name}`"))?;
        Ok(Buffer::from_driver(raw, BufferParams::device()))
    }

    /// Every kernel, function and variable that the code names, with its device address where the driver can tell. Names
    /// need not be unique: an executable may hold several code objects, and each has local symbols of its own.
    ///
    /// `FAILED_PRECONDITION` on a device of several GPUs, each of which has a copy of its own: ask with
    /// [`symbols_on`](Self::symbols_on). `UNIMPLEMENTED` where the device declares that it lacks
    /// [`Feature::Symbols`](crate::Feature::Symbols).
    pub fn symbols(&self) -> Result<Vec<SymbolInfo>> {
        self.symbols_on(QueueAffinity::ANY)
    }

    /// [`symbols`](Self::symbols) as kernels on these queues see them: on a device of several GPUs, the queues of one.
    pub fn symbols_on(&self, queues: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        self.raw.symbols(queues).context(|| "listing the symbols of an executable")
    }

    /// Whether both handles are of one loaded executable. See
    /// [`Device::load_executable`](crate::Device::load_executable).
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.raw, &other.raw)
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = near_names("", self.raw.functions().iter().map(|function| function.name.as_str()));
        write!(f, "Executable({names})")
    }
}

/// A function of an executable. Keeps the executable loaded.
#[derive(Clone)]
pub struct Function {
    pub(crate) executable: Kept<Arc<dyn driver::Executable>>,
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

    /// The executable that it belongs to.
    pub fn executable(&self) -> Executable {
        Executable { raw: self.executable.clone() }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.info().signature())
    }
}

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
