// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables: loaded device code with its functions, global variables and symbols.

use std::{fmt, sync::Arc};

use crate::{
    driver::{self, range::Buffer},
    words::{
        buffer_params::BufferParams,
        error::{Error, Result, ResultExt},
        facts::{Occupancy, SuggestedWorkgroup},
        fork::{self, Kept},
        function_info::{FunctionInfo, GlobalInfo},
        near_names::near_names,
        queue_affinity::QueueAffinity,
        symbol::SymbolInfo,
    },
};

/// Loaded device code, from [`Device::load_executable`](crate::Device::load_executable). It lives until the last handle
/// is dropped and the last submission that uses it has ended.
#[derive(Clone)]
pub struct Executable {
    raw: Kept<Arc<dyn driver::RawExecutable>>,
}

impl Executable {
    pub(crate) fn from_driver(raw: Arc<dyn driver::RawExecutable>) -> Self {
        Self { raw: raw.into() }
    }

    /// The functions that can be dispatched.
    pub fn functions(&self) -> impl Iterator<Item = Function> + '_ {
        (0..self.raw.functions().len() as u32).map(|index| Function::new(&self.raw, index))
    }

    /// Finds a function by name. `NOT_FOUND` lists the existing names, the most similar first.
    pub fn function(&self, name: &str) -> Result<Function> {
        let functions = self.raw.functions();
        match functions.iter().position(|function| function.name == name) {
            Some(index) => Ok(Function::new(&self.raw, index as u32)),
            None => Err(Error::not_found(format!(
                "no function `{name}`; the executable has {}",
                near_names(name, functions.iter().map(|function| function.name.as_str()))
            ))),
        }
    }

    /// The global variables that can be looked up.
    pub fn globals(&self) -> &[GlobalInfo] {
        self.raw.globals()
    }

    /// The memory of a global variable, as a buffer for transfers and dispatches. The buffer keeps the executable
    /// loaded. As for any memory, semaphores order the accesses to it.
    ///
    /// `NOT_FOUND` lists the existing variables, the most similar first. `FAILED_PRECONDITION` on a device of several
    /// GPUs, where each GPU has a copy: use [`global_on`](Self::global_on).
    pub fn global(&self, name: &str) -> Result<Buffer> {
        self.global_on(name, QueueAffinity::ANY)
    }

    /// [`global`](Self::global) for the kernels on these queues. On a device of several GPUs, these must be queues of
    /// one GPU.
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

    /// The kernels, functions and variables of the code, with their device addresses where the driver knows them. Names
    /// need not be unique, because an executable may hold several code objects with local symbols.
    ///
    /// `FAILED_PRECONDITION` on a device of several GPUs, where each GPU has a copy: use
    /// [`symbols_on`](Self::symbols_on). `UNIMPLEMENTED` where the device declares the lack of
    /// [`Feature::Symbols`](crate::Feature::Symbols).
    pub fn symbols(&self) -> Result<Vec<SymbolInfo>> {
        self.symbols_on(QueueAffinity::ANY)
    }

    /// [`symbols`](Self::symbols) for the kernels on these queues. On a device of several GPUs, these must be queues of
    /// one GPU.
    pub fn symbols_on(&self, queues: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        self.raw.symbols(queues).context(|| "listing the symbols of an executable")
    }

    /// Whether both handles are of the same loaded executable. See
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

/// A function of an executable. It keeps the executable loaded.
#[derive(Clone)]
pub struct Function {
    pub(crate) executable: Kept<Arc<dyn driver::RawExecutable>>,
    pub(crate) index: u32,
    /// The address of the executable's object in the host's memory.
    pub(crate) identity: usize,
}

impl Function {
    fn new(executable: &Kept<Arc<dyn driver::RawExecutable>>, index: u32) -> Self {
        let identity = Arc::as_ptr(executable).cast::<()>() as usize;
        Self { executable: executable.clone(), index, identity }
    }

    /// The parameters of the function and its requirements.
    pub fn info(&self) -> &FunctionInfo {
        &self.executable.functions()[self.index as usize]
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.info().name
    }

    /// The executable of this function.
    pub fn executable(&self) -> Executable {
        Executable { raw: self.executable.clone() }
    }

    /// How many workgroups of `threads` work-items in all, each with `dynamic_local_memory` bytes of local memory beside
    /// the function's own, a compute unit runs at once. A device of several GPUs answers for its first one:
    /// [`occupancy_on`](Self::occupancy_on) asks another.
    ///
    /// `OUT_OF_RANGE` for no work-items, and for more than the function or the device can launch. `UNIMPLEMENTED` where
    /// the device declares the lack of [`Feature::Occupancy`](crate::Feature::Occupancy).
    pub fn occupancy(&self, threads: u32, dynamic_local_memory: u32) -> Result<Occupancy> {
        self.occupancy_on(QueueAffinity::ANY, threads, dynamic_local_memory)
    }

    /// [`occupancy`](Self::occupancy) on the GPU of these queues: the first one that they belong to.
    pub fn occupancy_on(
        &self,
        queues: QueueAffinity,
        threads: u32,
        dynamic_local_memory: u32,
    ) -> Result<Occupancy> {
        fork::check()?;
        let most = self.info().max_workgroup_threads;
        if threads == 0 || (most > 0 && threads > most) {
            return Err(Error::out_of_range(format!(
                "workgroups of {threads} work-items of `{}`, which allows 1 to {most}",
                self.name()
            )));
        }
        let found = self.executable.occupancy(self.index, queues, threads, dynamic_local_memory);
        found.context(|| {
            format!("asking how many workgroups of {threads} work-items of `{}` fit", self.name())
        })
    }

    /// A workgroup size that fills a processor with this function, for workgroups with `dynamic_local_memory` bytes of
    /// local memory beside the function's own. A device of several GPUs answers for its first one. The errors are those
    /// of [`occupancy`](Self::occupancy).
    pub fn suggested_workgroup(&self, dynamic_local_memory: u32) -> Result<SuggestedWorkgroup> {
        self.suggested_workgroup_on(QueueAffinity::ANY, dynamic_local_memory)
    }

    /// [`suggested_workgroup`](Self::suggested_workgroup) on the GPU of these queues: the first one that they belong to.
    pub fn suggested_workgroup_on(
        &self,
        queues: QueueAffinity,
        dynamic_local_memory: u32,
    ) -> Result<SuggestedWorkgroup> {
        fork::check()?;
        let found = self.executable.suggested_workgroup(self.index, queues, dynamic_local_memory);
        found.context(|| format!("asking for a workgroup size of `{}`", self.name()))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.info().signature())
    }
}
