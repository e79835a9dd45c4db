// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables: loaded libraries of Rust kernels, and loaded shared objects.

mod native;

use std::{any::Any, sync::Arc};

use windlass_hal::{
    Error, FunctionInfo, GlobalInfo, Limits, Occupancy, QueueAffinity, Result, SuggestedWorkgroup,
    SymbolInfo, SymbolKind, driver,
    edge::Domain,
    host_memory::{HostBuffer, HostMemory},
};

use crate::{
    entry::Entry,
    library::{self, Library},
    shared_object::SharedObjects,
};

/// The alignment of globals in bytes.
const GLOBAL_ALIGNMENT: u64 = 64;

/// Kernels with their code, and this executable's own copies of the globals.
pub(crate) struct Executable {
    domain: Domain,
    /// Threads of the device: the workgroups that run at once.
    threads: u32,
    functions: Vec<FunctionInfo>,
    entries: Vec<Entry>,
    variables: Vec<(String, Arc<HostMemory>)>,
    globals: Vec<GlobalInfo>,
    symbols: Vec<SymbolInfo>,
    /// The shared objects that hold entries, variables and symbols. `None` for a library of Rust kernels.
    _code: Option<SharedObjects>,
}

impl Executable {
    /// Loads the library that an image names, or the shared object in a file. Without `native`, shared objects are
    /// `UNIMPLEMENTED`.
    ///
    /// # Safety
    /// As for [`driver::RawDevice::load_executable`].
    pub(crate) unsafe fn load(
        domain: Domain,
        libraries: &[Library],
        code: &[u8],
        native: bool,
    ) -> Result<Self> {
        match library::name_in(code) {
            Some(name) => Self::of_library(domain, libraries, name?),
            // SAFETY: the caller's promise, passed on.
            None => unsafe { Self::of_host_code(domain, &[code], native) },
        }
    }

    /// Loads shared objects that refer to each other.
    ///
    /// # Safety
    /// As for [`driver::RawDevice::load_linked`].
    pub(crate) unsafe fn load_linked(domain: Domain, parts: &[&[u8]], native: bool) -> Result<Self> {
        if let Some(index) = parts.iter().position(|part| library::name_in(part).is_some()) {
            return Err(Error::invalid_argument(format!(
                "piece {index} is the image of a library of Rust kernels, which is whole; load it with load_executable"
            )));
        }
        // SAFETY: the caller's promise, passed on.
        unsafe { Self::of_host_code(domain, parts, native) }
    }

    fn of_library(domain: Domain, libraries: &[Library], name: &str) -> Result<Self> {
        let library = libraries.iter().find(|library| library.name() == name).ok_or_else(|| {
            let known: Vec<_> = libraries.iter().map(Library::name).collect();
            Error::not_found(format!(
                "no library `{name}` of Rust kernels; the driver has {}; register it with LocalDriver::with_library",
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            ))
        })?;
        let mut executable = Self::empty(domain);
        executable.functions = library.functions().to_vec();
        executable.entries = library.entries().to_vec();
        // Rust kernels get no address: a device address would not show where they are in this process.
        let kernels = library.functions().iter();
        executable
            .symbols
            .extend(kernels.map(|function| SymbolInfo::new(&function.name, SymbolKind::Kernel)));
        for (name, contents) in library.globals() {
            executable.add_variable(name, HostMemory::of(contents, GLOBAL_ALIGNMENT)?);
        }
        Ok(executable)
    }

    fn empty(domain: Domain) -> Self {
        Self {
            domain,
            threads: 1,
            functions: Vec::new(),
            entries: Vec::new(),
            variables: Vec::new(),
            globals: Vec::new(),
            symbols: Vec::new(),
            _code: None,
        }
    }

    /// Tells how many threads run the kernels.
    pub(crate) fn on_threads(mut self, threads: usize) -> Self {
        self.threads = u32::try_from(threads.max(1)).unwrap_or(u32::MAX);
        self
    }

    fn add_variable(&mut self, name: &str, memory: HostMemory) {
        let (size, memory) = (memory.bytes().len() as u64, Arc::new(memory));
        self.symbols.push(SymbolInfo::new(name, SymbolKind::Variable).placed(Some(memory.address()), size));
        self.globals.push(GlobalInfo::new(name, size));
        self.variables.push((name.to_owned(), memory));
    }

    /// The code of a function, by its index in [`functions`](driver::RawExecutable::functions).
    pub(crate) fn entry(&self, function: u32) -> Option<&Entry> {
        self.entries.get(function as usize)
    }

    /// The global variables, by name.
    pub(crate) fn variables(&self) -> &[(String, Arc<HostMemory>)] {
        &self.variables
    }
}

// SAFETY: the descriptions are read from the code that is loaded here, and never change.
unsafe impl driver::RawExecutable for Executable {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn functions(&self) -> &[FunctionInfo] {
        &self.functions
    }

    fn globals(&self) -> &[GlobalInfo] {
        &self.globals
    }

    fn global(self: Arc<Self>, index: u32, _affinity: QueueAffinity) -> Result<Arc<dyn driver::RawBuffer>> {
        let (_, memory) = self
            .variables
            .get(index as usize)
            .ok_or_else(|| Error::internal(format!("no global variable {index}")))?;
        Ok(Arc::new(HostBuffer::new(self.domain, memory.clone()).keeping(self)))
    }

    fn symbols(&self, _affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        Ok(self.symbols.clone())
    }

    /// A thread runs one workgroup at a time, whatever it takes.
    fn occupancy(
        &self,
        _function: u32,
        _affinity: QueueAffinity,
        _threads: u32,
        _dynamic_local_memory: u32,
    ) -> Result<Occupancy> {
        Ok(Occupancy::new(1))
    }

    /// The largest workgroup, because a thread begins each workgroup anew, and one for each thread.
    fn suggested_workgroup(
        &self,
        function: u32,
        _affinity: QueueAffinity,
        _dynamic_local_memory: u32,
    ) -> Result<SuggestedWorkgroup> {
        let function = self.functions.get(function as usize);
        let function = function.ok_or_else(|| Error::internal("a function that the executable lacks"))?;
        let device = Limits::default().max_workgroup_threads;
        let fixed = function.workgroup_size.map(|[x, y, z]| x.saturating_mul(y).saturating_mul(z));
        let most = Some(function.max_workgroup_threads).filter(|most| *most > 0).unwrap_or(device);
        Ok(SuggestedWorkgroup::new(fixed.unwrap_or(most).min(device).max(1), self.threads))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
