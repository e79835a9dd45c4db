// SPDX-License-Identifier: MIT OR Apache-2.0
//! What compiled HIP programs register at start: fat binaries, and which host symbols stand for kernels and variables.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::allocation;
use super::code::{Code, Outcome};
use super::launch::Shape;
use super::program::Program;
use super::runtime::Runtime;
use crate::handles::{Handles, Kind};

/// What `<<<>>>` puts aside between the configuration and the call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallConfiguration {
    pub(crate) shape: Shape,
    /// The stream, as the client knows it.
    pub(crate) stream: u64,
}

/// A fat binary inside the client's program.
pub(crate) struct FatBinary {
    image: *const c_void,
}

// SAFETY: the image is a constant of the client's program, which stays as long as it is registered.
unsafe impl Send for FatBinary {}
// SAFETY: as above.
unsafe impl Sync for FatBinary {}

/// A symbol of the client's program that stands for something of the same name in its fat binary.
#[derive(Clone)]
struct Symbol {
    binary: u64,
    name: String,
}

/// A managed variable: memory that host and devices share, whose address each device's program holds under the name.
struct Managed {
    symbol: Symbol,
    address: u64,
}

/// All that was registered with one simulator.
pub(crate) struct Compiled {
    binaries: Handles<FatBinary>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the address of the host symbol.
    functions: BTreeMap<u64, Symbol>,
    variables: BTreeMap<u64, Symbol>,
    managed: Vec<Managed>,
    /// Loaded when first needed; by fat binary and device.
    programs: BTreeMap<(u64, usize), Arc<Program>>,
}

impl Compiled {
    pub(crate) fn new(salt: u64) -> Self {
        Self { binaries: Handles::new(Kind::FatBinary, salt), state: Mutex::default() }
    }

    /// Registers a fat binary, to be loaded when first used.
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

    /// Registers a managed variable, whose memory is freed with its fat binary.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a fat binary that is not registered.
    pub(crate) fn register_managed(
        &self,
        runtime: &Runtime,
        binary: u64,
        name: String,
        address: u64,
    ) -> Outcome<()> {
        self.binaries.get(binary).ok_or(Code::INVALID_VALUE)?;
        let managed = Managed { symbol: Symbol { binary, name }, address };
        let mut state = self.lock();
        for ((of, _), program) in &state.programs {
            if *of == binary {
                managed.tell(runtime, program)?;
            }
        }
        state.managed.push(managed);
        Ok(())
    }

    /// Forgets a fat binary and everything in it.
    pub(crate) fn unregister(&self, runtime: &Runtime, binary: u64) {
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
        drop(state);
        let gone: BTreeMap<(u64, usize), Arc<Program>> = gone;
        for program in gone.into_values() {
            program.unload(runtime);
        }
        for managed in managed {
            allocation::release(&runtime.machine, managed.address, "__hipUnregisterFatBinary".into());
        }
    }

    /// Forgets what was loaded for a device; it is loaded afresh when next used.
    pub(crate) fn unload(&self, device: usize) {
        let mut state = self.lock();
        state.programs.retain(|(_, of), _| *of != device);
    }

    /// The handle of the kernel that a host symbol stands for.
    ///
    /// # Errors
    /// `INVALID_DEVICE_FUNCTION` for a symbol that stands for none, else as for loading a module.
    pub(crate) fn function(&self, runtime: &Runtime, device: usize, symbol: u64) -> Outcome<u64> {
        let symbol = self.lock().functions.get(&symbol).cloned().ok_or(Code::INVALID_DEVICE_FUNCTION)?;
        self.program(runtime, device, symbol.binary)?.function(runtime, &symbol.name)
    }

    /// Address and size of the variable that a host symbol stands for.
    pub(crate) fn variable(&self, runtime: &Runtime, device: usize, symbol: u64) -> Outcome<(u64, u64)> {
        let symbol = self.lock().variables.get(&symbol).cloned().ok_or(Code::INVALID_SYMBOL)?;
        let program = self.program(runtime, device, symbol.binary)?;
        program.module.global(&symbol.name).ok_or(Code::INVALID_SYMBOL)
    }

    fn program(&self, runtime: &Runtime, device: usize, binary: u64) -> Outcome<Arc<Program>> {
        // Held while loading, so that no two threads load the same.
        let mut state = self.lock();
        if let Some(program) = state.programs.get(&(binary, device)) {
            return Ok(program.clone());
        }
        let found = self.binaries.get(binary).ok_or(Code::INVALID_DEVICE_FUNCTION)?;
        // SAFETY: the compiler put a whole image there.
        let program =
            unsafe { Program::load_image(runtime, device, found.image, "registered by the program".into()) }?;
        for managed in state.managed.iter().filter(|managed| managed.symbol.binary == binary) {
            managed.tell(runtime, &program)?;
        }
        state.programs.insert((binary, device), program.clone());
        Ok(program)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Managed {
    /// Writes the address where a program looks for it. A program without such a variable does not use it.
    fn tell(&self, runtime: &Runtime, program: &Program) -> Outcome<()> {
        let Some((place, size)) = program.module.global(&self.symbol.name) else { return Ok(()) };
        if size != size_of::<u64>() as u64 {
            return Err(Code::INVALID_SYMBOL);
        }
        let told = runtime.machine.memory.write(place, &self.address.to_le_bytes());
        told.map_err(|_| Code::INVALID_SYMBOL)
    }
}
