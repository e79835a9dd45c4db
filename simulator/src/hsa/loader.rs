// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code objects: readers, executables and their symbols.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use windlass_codeobject::CodeObject;

use crate::engine::{Kernel, LoadError, Module};
use crate::handles::{HandleKind, Handles};
use crate::memory::Memory;
use windlass_simulated_gpu::Part;

use super::abi::{CodeObjectReader, Executable, ExecutableSymbol};
use super::agent::Which;
use super::explain::explain;
use super::info::Info;
use super::status::{Outcome, Status};

/// The code objects of a runtime.
pub(crate) struct Loader {
    /// The part of each GPU.
    parts: Vec<&'static Part>,
    memory: Arc<Memory>,
    readers: Handles<Vec<u8>>,
    executables: Handles<Loaded>,
    symbols: Handles<Symbol>,
    /// Kernels with the GPU that they were loaded for, by the address of their descriptor.
    kernels: RwLock<BTreeMap<u64, (Arc<Kernel>, usize)>>,
}

/// An executable.
#[derive(Default)]
pub(crate) struct Loaded {
    state: Mutex<LoadedState>,
}

#[derive(Default)]
struct LoadedState {
    frozen: bool,
    /// Addresses of variables that the client defined, for one GPU or for all.
    defined: BTreeMap<(Option<usize>, String), u64>,
    modules: Vec<(usize, Arc<Module>)>,
    /// Handles of the symbols, in the order of their names.
    symbols: BTreeMap<(usize, String), u64>,
}

/// A symbol of an executable.
pub(crate) struct Symbol {
    name: String,
    gpu: usize,
    target: SymbolTarget,
}

/// The object behind a symbol.
enum SymbolTarget {
    Kernel(Arc<Kernel>),
    Variable { address: u64, size: u64 },
}

impl Loader {
    /// Code for GPUs of these parts.
    pub(crate) fn new(parts: Vec<&'static Part>, memory: Arc<Memory>) -> Self {
        Self {
            parts,
            memory,
            readers: Handles::new(HandleKind::CodeObjectReader, 0),
            executables: Handles::new(HandleKind::Executable, 0),
            symbols: Handles::new(HandleKind::ExecutableSymbol, 0),
            kernels: RwLock::default(),
        }
    }

    /// A reader of these bytes.
    ///
    /// # Errors
    /// `OUT_OF_RESOURCES` if there are too many.
    pub(crate) fn read(&self, bytes: Vec<u8>) -> Outcome<CodeObjectReader> {
        let handle = self.readers.insert(Arc::new(bytes)).ok_or(Status::OUT_OF_RESOURCES)?;
        Ok(CodeObjectReader { handle: handle.get() })
    }

    /// # Errors
    /// `INVALID_CODE_OBJECT_READER`.
    pub(crate) fn destroy_reader(&self, reader: CodeObjectReader) -> Outcome<()> {
        self.readers.remove(reader.handle).map(drop).ok_or(Status::INVALID_CODE_OBJECT_READER)
    }

    /// An empty executable.
    ///
    /// # Errors
    /// `OUT_OF_RESOURCES` if there are too many.
    pub(crate) fn create(&self, frozen: bool) -> Outcome<Executable> {
        let loaded = Loaded::default();
        loaded.lock().frozen = frozen;
        let handle = self.executables.insert(Arc::new(loaded)).ok_or(Status::OUT_OF_RESOURCES)?;
        Ok(Executable { handle: handle.get() })
    }

    /// # Errors
    /// `INVALID_EXECUTABLE`.
    pub(crate) fn executable(&self, executable: Executable) -> Outcome<Arc<Loaded>> {
        self.executables.get(executable.handle).ok_or(Status::INVALID_EXECUTABLE)
    }

    /// Unloads the code of an executable. A dispatch in flight keeps its kernel's code.
    ///
    /// # Errors
    /// `INVALID_EXECUTABLE`.
    pub(crate) fn destroy(&self, executable: Executable) -> Outcome<()> {
        let gone = self.executables.remove(executable.handle).ok_or(Status::INVALID_EXECUTABLE)?;
        let state = std::mem::take(&mut *gone.lock());
        for handle in state.symbols.values() {
            if let Some(symbol) = self.symbols.remove(*handle)
                && let SymbolTarget::Kernel(kernel) = &symbol.target
            {
                self.kernels.write().unwrap_or_else(PoisonError::into_inner).remove(&kernel.handle());
            }
        }
        Ok(())
    }

    /// Loads a reader's code object for a GPU, on behalf of a call.
    ///
    /// # Errors
    /// `INVALID_EXECUTABLE`, `INVALID_CODE_OBJECT_READER`, `INVALID_AGENT`, `FROZEN_EXECUTABLE`, `INVALID_CODE_OBJECT` for
    /// bytes that are no code object, `INCOMPATIBLE_ARGUMENTS` for code of another GPU, `VARIABLE_UNDEFINED`,
    /// `VARIABLE_ALREADY_DEFINED` for names that the executable has already, `OUT_OF_RESOURCES`.
    pub(crate) fn load(
        &self,
        executable: Executable,
        gpu: usize,
        reader: CodeObjectReader,
        by: Arc<str>,
    ) -> Outcome<()> {
        let loaded = self.executable(executable)?;
        let bytes = self.readers.get(reader.handle).ok_or(Status::INVALID_CODE_OBJECT_READER)?;
        let mut state = loaded.lock();
        if state.frozen {
            return Err(Status::FROZEN_EXECUTABLE);
        }
        let resolved = resolve(&bytes, |name| state.find(gpu, name))?;
        let elf = resolved.as_deref().unwrap_or(&bytes);
        let part = self.parts.get(gpu).ok_or(Status::INVALID_AGENT)?;
        let module = Module::load_for(part, &self.memory, elf, by).map_err(|error| refused(&error))?;
        self.memory.set_homes(module.base(), 1 << (gpu & 63));
        let kernels = module
            .kernel_names()
            .filter_map(|name| module.kernel(name))
            .map(|kernel| (format!("{}.kd", kernel.name()), SymbolTarget::Kernel(kernel)));
        let variables = module.global_names().filter_map(|name| {
            let (address, size) = module.global(name)?;
            Some((name.to_owned(), SymbolTarget::Variable { address, size }))
        });
        let symbols: Vec<(String, SymbolTarget)> = kernels.chain(variables).collect();
        if let Some((name, _)) =
            symbols.iter().find(|(name, _)| state.symbols.contains_key(&(gpu, name.clone())))
        {
            explain(&format!(
                "the code object was not loaded: the executable has {name} of this agent already"
            ));
            return Err(Status::VARIABLE_ALREADY_DEFINED);
        }
        for (name, target) in symbols {
            if let SymbolTarget::Kernel(kernel) = &target {
                let mut kernels = self.kernels.write().unwrap_or_else(PoisonError::into_inner);
                kernels.insert(kernel.handle(), (kernel.clone(), gpu));
            }
            let symbol = Symbol { name: name.clone(), gpu, target };
            let handle = self.symbols.insert(Arc::new(symbol)).ok_or(Status::OUT_OF_RESOURCES)?;
            state.symbols.insert((gpu, name), handle.get());
        }
        state.modules.push((gpu, module));
        Ok(())
    }

    /// The kernel whose descriptor is at an address, and the GPU that it was loaded for.
    pub(crate) fn kernel(&self, descriptor: u64) -> Option<(Arc<Kernel>, usize)> {
        self.kernels.read().unwrap_or_else(PoisonError::into_inner).get(&descriptor).cloned()
    }

    /// # Errors
    /// `INVALID_EXECUTABLE_SYMBOL`.
    pub(crate) fn symbol(&self, symbol: ExecutableSymbol) -> Outcome<Arc<Symbol>> {
        self.symbols.get(symbol.handle).ok_or(Status::INVALID_EXECUTABLE_SYMBOL)
    }
}

impl Loaded {
    /// Defines the address of a variable for code objects that are loaded later.
    ///
    /// # Errors
    /// `FROZEN_EXECUTABLE`, `VARIABLE_ALREADY_DEFINED`.
    pub(crate) fn define(&self, gpu: Option<usize>, name: &str, address: u64) -> Outcome<()> {
        let mut state = self.lock();
        if state.frozen {
            return Err(Status::FROZEN_EXECUTABLE);
        }
        match state.defined.insert((gpu, name.to_owned()), address) {
            None => Ok(()),
            Some(before) => {
                state.defined.insert((gpu, name.to_owned()), before);
                Err(Status::VARIABLE_ALREADY_DEFINED)
            }
        }
    }

    /// # Errors
    /// `FROZEN_EXECUTABLE` if it is frozen already.
    pub(crate) fn freeze(&self) -> Outcome<()> {
        match std::mem::replace(&mut self.lock().frozen, true) {
            false => Ok(()),
            true => Err(Status::FROZEN_EXECUTABLE),
        }
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.lock().frozen
    }

    /// A symbol by its name, of one GPU or of any.
    ///
    /// # Errors
    /// `INVALID_SYMBOL_NAME`.
    pub(crate) fn find(&self, gpu: Option<usize>, name: &str) -> Outcome<ExecutableSymbol> {
        let state = self.lock();
        let mut found =
            state.symbols.iter().filter(|((of, known), _)| gpu.is_none_or(|gpu| gpu == *of) && known == name);
        let (_, handle) = found.next().ok_or(Status::INVALID_SYMBOL_NAME)?;
        Ok(ExecutableSymbol { handle: *handle })
    }

    /// The symbols of a GPU, or of all.
    pub(crate) fn symbols(&self, gpu: Option<usize>) -> Vec<ExecutableSymbol> {
        let state = self.lock();
        let wanted = state.symbols.iter().filter(|((of, _), _)| gpu.is_none_or(|gpu| gpu == *of));
        wanted.map(|(_, handle)| ExecutableSymbol { handle: *handle }).collect()
    }

    fn lock(&self) -> MutexGuard<'_, LoadedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LoadedState {
    /// The address of a variable that the client defined.
    fn find(&self, gpu: usize, name: &str) -> Option<u64> {
        let name = name.to_owned();
        self.defined.get(&(Some(gpu), name.clone())).or_else(|| self.defined.get(&(None, name))).copied()
    }
}

impl Symbol {
    /// An attribute, by `hsa_executable_symbol_info_t`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unknown attribute, or one of another kind of symbol.
    pub(crate) fn info(&self, attribute: u32) -> Outcome<Info> {
        Ok(match (attribute, &self.target) {
            (0, SymbolTarget::Variable { .. }) => Info::U32(0),
            (0, SymbolTarget::Kernel(_)) => Info::U32(1),
            (1, _) => Info::U32(self.name.len() as u32),
            (2, _) => Info::Bytes(self.name.clone().into_bytes()),
            // There are no module names.
            (3, _) => Info::U32(0),
            (4, _) => Info::Bytes(Vec::new()),
            // Program linkage, and a definition.
            (5, _) => Info::U32(1),
            (17, _) => Info::Bool(true),
            (20, _) => Info::U64(Which::Gpu(self.gpu).handle().handle),
            (6 | 7, SymbolTarget::Variable { .. }) => Info::U32(0),
            (8, SymbolTarget::Variable { address, .. }) => Info::U32(1 << address.trailing_zeros().min(12)),
            (9, SymbolTarget::Variable { size, .. }) => Info::U32(u32::try_from(*size).unwrap_or(u32::MAX)),
            (10, SymbolTarget::Variable { .. }) => Info::Bool(false),
            (21, SymbolTarget::Variable { address, .. }) => Info::U64(*address),
            (22, SymbolTarget::Kernel(kernel)) => Info::U64(kernel.handle()),
            (11, SymbolTarget::Kernel(kernel)) => Info::U32(kernel.argument_size()),
            (12, SymbolTarget::Kernel(kernel)) => Info::U32(kernel.description().kernarg_align.max(16)),
            (13, SymbolTarget::Kernel(kernel)) => Info::U32(kernel.static_lds()),
            (14, SymbolTarget::Kernel(kernel)) => Info::U32(kernel.private_size()),
            (15, SymbolTarget::Kernel(kernel)) => Info::Bool(kernel.description().uses_dynamic_stack),
            (18, SymbolTarget::Kernel(_)) => Info::U32(0),
            _ => return Err(Status::INVALID_ARGUMENT),
        })
    }
}

/// The bytes of a code object with the client's variables linked in; `None` if it refers to none.
fn resolve(bytes: &[u8], find: impl Fn(&str) -> Option<u64>) -> Outcome<Option<Vec<u8>>> {
    let object = CodeObject::parse(bytes).map_err(|error| {
        explain(&format!("the code object was not loaded: {error}"));
        Status::INVALID_CODE_OBJECT
    })?;
    if object.unresolved().next().is_none() {
        return Ok(None);
    }
    if let Some((_, symbol)) = object.unresolved().find(|(_, symbol)| find(&symbol.name).is_none()) {
        explain(&format!(
            "the code object was not loaded: it refers to {}, which is not defined \
             (hsa_executable_agent_global_variable_define)",
            symbol.name
        ));
        return Err(Status::VARIABLE_UNDEFINED);
    }
    let mut resolved = bytes.to_vec();
    object.resolve(&mut resolved, |symbol| find(&symbol.name)).map_err(|error| {
        explain(&format!("the code object was not loaded: {error}"));
        Status::INVALID_CODE_OBJECT
    })?;
    Ok(Some(resolved))
}

fn refused(error: &LoadError) -> Status {
    explain(&format!("the code object was not loaded: {error}"));
    match error {
        LoadError::WrongProcessor { .. } => Status::INCOMPATIBLE_ARGUMENTS,
        LoadError::UndefinedSymbol { .. } => Status::VARIABLE_UNDEFINED,
        LoadError::Memory(_) => Status::OUT_OF_RESOURCES,
        LoadError::Malformed { .. } | LoadError::Unsupported { .. } => Status::INVALID_CODE_OBJECT,
    }
}
