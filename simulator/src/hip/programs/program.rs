// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's modules: of an image in any container, the device's code object is selected and loaded.

use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_codeobject as codeobject;

use super::image;
use super::unsuited::{self, Subject};
use crate::engine::{Kernel, LoadError, Module};
use crate::handles::Handles;
use crate::hip::hardware::allocation::{self, Request};
use crate::hip::hardware::ledger::Origin;
use crate::hip::hardware::machine::Machine;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use windlass_simulated_gpu::Part;

/// A module loaded for one device.
pub(crate) struct Program {
    pub(crate) device: usize,
    pub(crate) module: Arc<Module>,
    /// Handles of the functions that clients looked up, by name.
    functions: Mutex<BTreeMap<String, u64>>,
    /// Address and size of each managed variable that was set up, by name.
    managed: Mutex<BTreeMap<String, (u64, u64)>>,
}

/// A kernel of a module.
pub(crate) struct Function {
    pub(crate) program: Arc<Program>,
    pub(crate) kernel: Arc<Kernel>,
    /// The kernel's name, for clients.
    pub(crate) name: CString,
    /// The most LDS in bytes, beside the LDS that the kernel declares, that the client wants for launches. It limits none.
    pub(crate) wanted_lds: AtomicU32,
}

impl Function {
    /// The most LDS in bytes that a launch can ask for beside the LDS that the kernel declares.
    pub(crate) fn dynamic_lds(&self) -> u32 {
        self.kernel.module().part().lds.saturating_sub(self.kernel.static_lds())
    }
}

impl Program {
    /// Loads the code for a device from an image of unknown length.
    ///
    /// # Errors
    /// `INVALID_IMAGE` for an image without code, `NO_BINARY_FOR_GPU` for an image without code for this device.
    ///
    /// # Safety
    /// The image is as long as its own headers say.
    pub(crate) unsafe fn load_image(
        machine: &Machine,
        device: usize,
        image: *const c_void,
        by: Arc<str>,
        subject: &Subject<'_>,
    ) -> Outcome<Arc<Self>> {
        // SAFETY: the caller vouches for the image.
        let bytes = unsafe { image::copy(image) }?;
        Self::load(machine, device, &bytes, by, subject)
    }

    /// Loads the code for a device from the bytes of a file, on behalf of a call.
    pub(crate) fn load(
        machine: &Machine,
        device: usize,
        bytes: &[u8],
        by: Arc<str>,
        subject: &Subject<'_>,
    ) -> Outcome<Arc<Self>> {
        let part = machine.device(device)?.part;
        let elf = select(bytes, part, subject)?;
        check_version(&elf, machine.hip)?;
        let module = Module::load_for(part, &machine.memory, &elf, by).map_err(|error| {
            explain(format!("the module was not loaded: {error}"));
            match error {
                LoadError::WrongProcessor { .. } => Code::NO_BINARY_FOR_GPU,
                LoadError::UndefinedSymbol { .. } => Code::SHARED_OBJECT_INIT_FAILED,
                LoadError::Memory(_) => Code::OUT_OF_MEMORY,
                LoadError::Unsupported { .. } => Code::NOT_SUPPORTED,
                LoadError::Malformed { .. } => Code::INVALID_IMAGE,
            }
        })?;
        Ok(Arc::new(Self { device, module, functions: Mutex::default(), managed: Mutex::default() }))
    }

    /// The handle of a kernel, the same for each call. A new handle is entered into `handles`.
    pub(crate) fn function(self: &Arc<Self>, handles: &Handles<Function>, name: &str) -> Outcome<u64> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = functions.get(name) {
            return Ok(*handle);
        }
        // The code object's symbol of a kernel's descriptor, `name.kd`, is no name of a function.
        let kernel =
            self.module.kernel(name).filter(|kernel| kernel.name() == name).ok_or(Code::NOT_FOUND)?;
        let function = Arc::new(Function {
            program: self.clone(),
            kernel,
            name: CString::new(name).map_err(|_| Code::NOT_FOUND)?,
            wanted_lds: AtomicU32::new(0),
        });
        function.wanted_lds.store(function.dynamic_lds(), Ordering::Relaxed);
        let handle = handles.insert(function).ok_or(Code::OUT_OF_MEMORY)?.get();
        functions.insert(name.to_owned(), handle);
        Ok(handle)
    }

    /// Gives each managed variable memory that host and device share, with the value that the code object has, on behalf of
    /// a call. A variable `x` is a pointer in the code, and `x.managed` has the value. Programs of `<<<>>>` launches
    /// register theirs instead.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY` if the device has no memory left; nothing stays allocated then.
    pub(crate) fn set_up_managed(&self, machine: &Machine, by: &Arc<str>) -> Outcome<()> {
        let set_up = || {
            for hidden in self.module.global_names() {
                let Some(name) = hidden.strip_suffix(".managed") else { continue };
                let values = self.module.global(hidden).zip(self.module.global(name));
                let Some(((value, size), (pointer, _))) = values else { continue };
                let request = Request {
                    size,
                    origin: Origin::Device,
                    managed: true,
                    flags: 1,
                    pool: None,
                    call: format!("{name}, managed, {by}").into(),
                };
                let address = allocation::allocate(machine, self.device, request)?;
                self.managed().insert(name.to_owned(), (address, size));
                let copied = machine.memory.copy(address, value, size);
                let pointed = copied.and_then(|()| machine.memory.write(pointer, &address.to_le_bytes()));
                pointed.map_err(|_| Code::INVALID_IMAGE)?;
            }
            Ok(())
        };
        set_up().inspect_err(|_| self.release_managed(machine, by))
    }

    /// Frees its managed variables, on behalf of a call.
    pub(crate) fn release_managed(&self, machine: &Machine, by: &Arc<str>) {
        for (address, _) in std::mem::take(&mut *self.managed()).into_values() {
            allocation::release(machine, address, by.clone());
        }
    }

    /// Address and size in bytes of a global variable.
    pub(crate) fn global(&self, name: &str) -> Option<(u64, u64)> {
        let managed = self.managed().get(name).copied();
        managed.or_else(|| self.module.global(name))
    }

    fn managed(&self) -> MutexGuard<'_, BTreeMap<String, (u64, u64)>> {
        self.managed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the handles of its functions stale. Queued launches keep their kernels.
    pub(crate) fn unload(&self, handles: &Handles<Function>) {
        let functions = std::mem::take(&mut *self.functions.lock().unwrap_or_else(PoisonError::into_inner));
        for handle in functions.into_values() {
            handles.remove(handle);
        }
    }
}

/// The newest version of code objects that a version of HIP reads: ROCm 5.3 added version 5, which Debian's 5.2 refuses,
/// and ROCm 6.0 version 6.
fn newest_code_object(hip: (u32, u32)) -> u32 {
    let brought = [((6, 0), 6), ((5, 3), 5)];
    brought.iter().find_map(|(since, version)| (hip >= *since).then_some(*version)).unwrap_or(4)
}

/// # Errors
/// `SHARED_OBJECT_INIT_FAILED` for code that is too new, as AMD's library answers if it finds no target in the code.
fn check_version(elf: &[u8], hip: (u32, u32)) -> Outcome<()> {
    let newest = newest_code_object(hip);
    let object = codeobject::CodeObject::parse(elf).ok();
    match object.and_then(|object| object.code_object_version()) {
        Some(version) if version > newest => {
            let (major, minor) = hip;
            explain(format!(
                "the module was not loaded: HIP {major}.{minor} reads code objects up to v{newest}, and this is a \
                 code object v{version}: compile it with -mcode-object-version={newest}, or simulate a newer HIP"
            ));
            Err(Code::SHARED_OBJECT_INIT_FAILED)
        }
        _ => Ok(()),
    }
}

/// The code object that suits a target best, from the first bundle of a file that has one.
fn select(bytes: &[u8], part: &'static Part, subject: &Subject<'_>) -> Outcome<Vec<u8>> {
    let refuse = |error: &codeobject::Error| {
        explain(format!("the module was not loaded: {error}"));
        Code::INVALID_IMAGE
    };
    let options = codeobject::Options::default();
    let target: codeobject::TargetId = part.target_id().parse().map_err(|error| refuse(&error))?;
    let is_enough = |bundle: &codeobject::Bundle<'_>| bundle.select(&target, &options).best.is_some();
    let file = codeobject::File::parse_until(bytes, &options, is_enough).map_err(|error| refuse(&error))?;
    for bundle in file.bundles() {
        if let Some(entry) = bundle.select(&target, &options).best {
            return bundle.extract(entry).map_err(|error| refuse(&error));
        }
    }
    explain(unsuited::describe(file.bundles(), part, subject));
    Err(Code::NO_BINARY_FOR_GPU)
}
