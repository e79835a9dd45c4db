// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registrations of compiled HIP programs: fat binaries, and the host symbols that stand for kernels and variables.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::program::{Function, Program};
use super::unsuited::{Subject, library_at};
use crate::handles::{HandleKind, Handles};
use crate::hip::hardware::allocation;
use crate::hip::hardware::machine::Machine;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::{self, remind};

/// A fat binary inside the client's program.
pub(crate) struct FatBinary {
    image: *const c_void,
}

// SAFETY: the image is a constant of the client's program, which stays as long as it is registered.
unsafe impl Send for FatBinary {}
// SAFETY: as above.
unsafe impl Sync for FatBinary {}

/// A symbol of the client's program, and the name in its fat binary that the symbol stands for.
#[derive(Clone)]
struct Symbol {
    binary: u64,
    name: String,
}

/// A managed variable. The program of each device holds the address of its memory, which host and devices share.
struct Managed {
    symbol: Symbol,
    address: u64,
}

/// The registrations with one simulator.
pub(crate) struct Compiled {
    machine: Arc<Machine>,
    functions: Arc<Handles<Function>>,
    binaries: Handles<FatBinary>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the address of the host symbol.
    functions: BTreeMap<u64, Symbol>,
    variables: BTreeMap<u64, Symbol>,
    managed: Vec<Managed>,
    /// Loaded at their first use; by fat binary and device.
    programs: BTreeMap<(u64, usize), Arc<Program>>,
    /// Fat binaries without code for a device, and the explanation, which the log has once.
    unsuited: BTreeMap<(u64, usize), Arc<str>>,
}

impl Compiled {
    /// No registrations. Programs are loaded for the devices of `machine`, their kernels entered into `functions`.
    pub(crate) fn new(salt: u64, machine: Arc<Machine>, functions: Arc<Handles<Function>>) -> Self {
        Self {
            machine,
            functions,
            binaries: Handles::new(HandleKind::FatBinary, salt),
            state: Mutex::default(),
        }
    }

    /// Registers a fat binary. It is loaded at its first use.
    pub(crate) fn register(&self, image: *const c_void) -> Outcome<u64> {
        let handle = self.binaries.insert(Arc::new(FatBinary { image }));
        Ok(handle.ok_or(Code::OUT_OF_MEMORY)?.get())
    }

    pub(crate) fn register_function(&self, binary: u64, symbol: u64, name: String) {
        if self.binaries.get(binary).is_some() {
            self.lock().functions.insert(symbol, Symbol { binary, name });
        }
    }

    pub(crate) fn register_variable(&self, binary: u64, symbol: u64, name: String) {
        if self.binaries.get(binary).is_some() {
            self.lock().variables.insert(symbol, Symbol { binary, name });
        }
    }

    /// Registers a managed variable. Its memory is freed with its fat binary.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a fat binary that is not registered.
    pub(crate) fn register_managed(&self, binary: u64, name: String, address: u64) -> Outcome<()> {
        self.binaries.get(binary).ok_or(Code::INVALID_VALUE)?;
        let managed = Managed { symbol: Symbol { binary, name }, address };
        let mut state = self.lock();
        for ((of, _), program) in &state.programs {
            if *of == binary {
                managed.write_address(&self.machine, program)?;
            }
        }
        state.managed.push(managed);
        Ok(())
    }

    /// Removes a fat binary and everything in it.
    pub(crate) fn unregister(&self, binary: u64) {
        self.binaries.remove(binary);
        let mut state = self.lock();
        state.functions.retain(|_, symbol| symbol.binary != binary);
        state.variables.retain(|_, symbol| symbol.binary != binary);
        let (managed, others) =
            std::mem::take(&mut state.managed).into_iter().partition(|one| one.symbol.binary == binary);
        state.managed = others;
        let managed: Vec<Managed> = managed;
        let programs = std::mem::take(&mut state.programs);
        let (gone, kept) = programs.into_iter().partition(|((of, _), _)| *of == binary);
        state.programs = kept;
        state.unsuited.retain(|(of, _), _| *of != binary);
        drop(state);
        let gone: BTreeMap<(u64, usize), Arc<Program>> = gone;
        for program in gone.into_values() {
            program.unload(&self.functions);
        }
        for managed in managed {
            allocation::release(&self.machine, managed.address, "__hipUnregisterFatBinary".into());
        }
    }

    /// Drops the programs that were loaded for a device. Their next use loads them again.
    pub(crate) fn unload(&self, device: usize) {
        let mut state = self.lock();
        state.programs.retain(|(_, of), _| *of != device);
    }

    /// The handle of the kernel that a host symbol stands for.
    ///
    /// # Errors
    /// `INVALID_DEVICE_FUNCTION` for a symbol that stands for no kernel; the errors of [`Program::load_image`].
    pub(crate) fn function(&self, device: usize, symbol: u64) -> Outcome<u64> {
        let symbol = self.lock().functions.get(&symbol).cloned().ok_or(Code::INVALID_DEVICE_FUNCTION)?;
        self.program(device, &symbol)?.function(&self.functions, &symbol.name)
    }

    /// Address and size of the variable that a host symbol stands for.
    pub(crate) fn variable(&self, device: usize, symbol: u64) -> Outcome<(u64, u64)> {
        let symbol = self.lock().variables.get(&symbol).cloned().ok_or(Code::INVALID_SYMBOL)?;
        let program = self.program(device, &symbol)?;
        program.module.global(&symbol.name).ok_or(Code::INVALID_SYMBOL)
    }

    fn program(&self, device: usize, symbol: &Symbol) -> Outcome<Arc<Program>> {
        let binary = symbol.binary;
        // Locked during the load, or two threads could load the same program.
        let mut state = self.lock();
        if let Some(explanation) = state.unsuited.get(&(binary, device)) {
            remind(explanation);
            return Err(Code::NO_BINARY_FOR_GPU);
        }
        if let Some(program) = state.programs.get(&(binary, device)) {
            return Ok(program.clone());
        }
        let found = self.binaries.get(binary).ok_or(Code::INVALID_DEVICE_FUNCTION)?;
        let library = library_at(found.image);
        let subject = Subject::Compiled { library: &library, symbol: &symbol.name };
        let by = "registered by the program".into();
        // SAFETY: the compiler put a whole image there.
        let loaded = unsafe { Program::load_image(&self.machine, device, found.image, by, &subject) };
        let program = loaded.inspect_err(|code| {
            if *code == Code::NO_BINARY_FOR_GPU {
                let explanation = explanation::latest().unwrap_or_default();
                state.unsuited.insert((binary, device), explanation.into());
            }
        })?;
        for managed in state.managed.iter().filter(|managed| managed.symbol.binary == binary) {
            managed.write_address(&self.machine, &program)?;
        }
        state.programs.insert((binary, device), program.clone());
        Ok(program)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Managed {
    /// Writes the address into the program's variable of that name, if the program has one.
    fn write_address(&self, machine: &Machine, program: &Program) -> Outcome<()> {
        let Some((place, size)) = program.module.global(&self.symbol.name) else { return Ok(()) };
        if size != size_of::<u64>() as u64 {
            return Err(Code::INVALID_SYMBOL);
        }
        let told = machine.memory.write(place, &self.address.to_le_bytes());
        told.map_err(|_| Code::INVALID_SYMBOL)
    }
}
