// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code objects in device memory.

use super::record::KernelRecord;
use crate::exec::{Debug, Program, loaded};
use crate::memory::{AllocationKind, Memory, MemoryError};
use crate::part::Part;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use windlass_codeobject::{CodeObject, Relocation, RelocationKind, Segment, SymbolRole};

/// A code object loaded for one simulated GPU. Dropping the last handle frees its memory.
pub struct Module {
    part: &'static Part,
    memory: Arc<Memory>,
    /// The address that it is loaded at.
    base: u64,
    pub(super) kernels: HashMap<String, Arc<KernelRecord>>,
    globals: HashMap<String, (u64, u64)>,
}

/// The reason why a code object was not loaded. A runtime gives each reason an error code of its own, so the list is exhaustive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The bytes are no code object, or the code object is inconsistent.
    Malformed {
        /// The error.
        reason: String,
    },
    /// The code is for another processor.
    WrongProcessor {
        /// The processor that it is for.
        processor: String,
        /// The simulated part.
        part: String,
    },
    /// The code object needs a feature that the simulator does not have.
    Unsupported {
        /// The feature.
        reason: String,
    },
    /// The code object refers to a symbol that it does not define.
    UndefinedSymbol {
        /// The symbol.
        name: String,
    },
    /// No device memory is left for its segments.
    Memory(MemoryError),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { reason } => write!(f, "not a valid code object: {reason}"),
            Self::WrongProcessor { processor, part } => {
                write!(f, "the code object is for {processor}, the simulated GPU is a {part}")
            }
            Self::Unsupported { reason } => write!(f, "the simulator cannot load this code object: {reason}"),
            Self::UndefinedSymbol { name } => {
                write!(
                    f,
                    "the code object refers to {name}, which it does not define: link it in, or load it together with the code that has it"
                )
            }
            Self::Memory(error) => write!(f, "no memory for the code object: {error}"),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<MemoryError> for LoadError {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

impl Module {
    /// Places the segments of a code object for a part in `memory`, applies its relocations and finds its kernels. `elf`
    /// may be followed by other bytes.
    ///
    /// # Errors
    /// See [`LoadError`]; nothing stays allocated then.
    pub fn load(part: &'static Part, memory: &Arc<Memory>, elf: &[u8]) -> Result<Arc<Self>, LoadError> {
        Self::load_for(part, memory, elf, "code object".into())
    }

    /// As [`Module::load`]. Messages about its memory name the owner.
    pub fn load_for(
        part: &'static Part,
        memory: &Arc<Memory>,
        elf: &[u8],
        owner: Arc<str>,
    ) -> Result<Arc<Self>, LoadError> {
        let object = CodeObject::parse(elf).map_err(|error| malformed(error.to_string()))?;
        let target = object.target();
        if !part.runs_target(target) {
            return Err(LoadError::WrongProcessor { processor: target.to_string(), part: part.target_id() });
        }
        // As in ROCm's loader, a symbol is only missing if a relocation needs it, and weak symbols are no exception.
        if let Some((_, symbol)) = object.unresolved().next() {
            return Err(LoadError::UndefinedSymbol { name: symbol.name.clone() });
        }
        let (mut size, mut align) = (0, 4096);
        for segment in object.segments() {
            let end = segment.address.checked_add(segment.memory_size);
            size = size.max(end.ok_or_else(|| malformed("a segment wraps around".into()))?);
            align = align.max(segment.alignment);
        }
        if !align.is_power_of_two() || align > 1 << 30 {
            return Err(malformed(format!("a segment is aligned to {align} bytes")));
        }
        let base = memory.allocate(size, align, AllocationKind::Code, owner)?;
        let mut module =
            Self { part, memory: memory.clone(), base, kernels: HashMap::new(), globals: HashMap::new() };
        // From here on the memory is freed when the module is dropped.
        module.fill(&object, elf)?;
        Ok(Arc::new(module))
    }

    fn fill(&mut self, object: &CodeObject, elf: &[u8]) -> Result<(), LoadError> {
        for segment in object.segments() {
            let start = usize::try_from(segment.offset).unwrap_or(usize::MAX);
            let end = usize::try_from(segment.offset.saturating_add(segment.file_size)).unwrap_or(usize::MAX);
            let bytes =
                elf.get(start..end).ok_or_else(|| malformed("a segment lies outside of the file".into()))?;
            self.memory.write(self.base + segment.address, bytes)?;
        }
        for relocation in object.relocations() {
            self.relocate(relocation)?;
        }
        let debug = Arc::new(Debug::new(elf, self.base));
        let mut programs = Vec::new();
        for segment in object.segments().iter().filter(|segment| segment.executable) {
            // The file bounds `file_size`. Nothing bounds `memory_size`.
            let mut code = vec![0; usize::try_from(segment.file_size).unwrap_or(0)];
            let address = self.base + segment.address;
            self.memory.read(address, &mut code)?;
            let words: Arc<[u32]> = code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
            // The code has a meaning for waves of each size.
            for set in self.part.sets() {
                let program = Program::new(set, address, words.clone()).with_debug(debug.clone());
                programs.push(Arc::new(program));
            }
        }
        loaded::add(&programs);
        for kernel in object.kernels() {
            let entry = self.base.wrapping_add(kernel.entry_address);
            // A launch refuses waves of a size that the part does not have.
            let set = self.part.set_of_waves(kernel.wavefront_size).unwrap_or(self.part.instructions());
            let own = |program: &&Arc<Program>| program.set() == set && program.contains(entry);
            if let Some(program) = programs.iter().find(own) {
                let record = KernelRecord::new(kernel.clone(), self.base, program.clone());
                self.kernels.insert(kernel.name.clone(), Arc::new(record));
            }
        }
        let read_only = object.segments().iter().filter(|segment| !segment.writable);
        let range = |segment: &Segment| {
            let start = self.base + segment.address;
            start..start + segment.memory_size
        };
        self.memory.protect(self.base, &read_only.map(range).collect::<Vec<_>>())?;
        let is_object = |role| matches!(role, SymbolRole::Variable | SymbolRole::Marker);
        for symbol in object.symbols().iter().filter(|symbol| is_object(symbol.role)) {
            self.globals.insert(symbol.name.clone(), (self.base.wrapping_add(symbol.address), symbol.size));
        }
        Ok(())
    }

    fn relocate(&self, relocation: &Relocation) -> Result<(), LoadError> {
        let place = self.base.wrapping_add(relocation.offset);
        let target = self.base.wrapping_add(relocation.symbol_value).wrapping_add_signed(relocation.addend);
        let relative = target.wrapping_sub(place);
        let (value, len) = match relocation.kind {
            RelocationKind::None => return Ok(()),
            RelocationKind::Abs32Lo | RelocationKind::Abs32 => (target, 4),
            RelocationKind::Abs32Hi => (target >> 32, 4),
            RelocationKind::Abs64 => (target, 8),
            RelocationKind::Rel32 | RelocationKind::Rel32Lo => (relative, 4),
            RelocationKind::Rel32Hi => (relative >> 32, 4),
            RelocationKind::Rel64 => (relative, 8),
            RelocationKind::Relative64 => (self.base.wrapping_add_signed(relocation.addend), 8),
            other => {
                return Err(LoadError::Unsupported { reason: format!("a relocation of kind {other:?}") });
            }
        };
        let inside = self.memory.lookup(place).is_some_and(|allocation| allocation.base == self.base);
        if !inside || self.memory.write(place, &value.to_le_bytes()[..len]).is_err() {
            return Err(malformed(format!("a relocation at {:#x} lies outside of it", relocation.offset)));
        }
        Ok(())
    }

    /// The names of all kernels, in no order.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.kernels.keys().map(String::as_str)
    }

    /// Address and size in bytes of a global variable.
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.globals.get(name).copied()
    }

    /// The names of all global variables, in no order.
    pub fn global_names(&self) -> impl Iterator<Item = &str> {
        self.globals.keys().map(String::as_str)
    }

    /// The address that it is loaded at.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// The part whose code it is.
    pub fn part(&self) -> &'static Part {
        self.part
    }

    /// The memory that it is loaded in.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module").field("kernels", &self.kernels.len()).finish_non_exhaustive()
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Err(error) = self.memory.free(self.base) {
            tracing::error!(target: "windlass::sim", %error, "the memory of a code object was not freed");
        }
    }
}

fn malformed(reason: String) -> LoadError {
    LoadError::Malformed { reason }
}
