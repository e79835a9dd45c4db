// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules: loaded device code, and its functions.
//!
//! Generated code loads its module for every launch and unloads it behind the launch. So a few unloaded modules are
//! kept, which the next load of the same bytes finds. A module with global variables is not, because they start anew.
#![allow(unsafe_code)]

use std::{
    collections::VecDeque,
    ffi::{CStr, c_char, c_int, c_void},
    ptr, slice,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use facade::{Error, Executable, Function, Result};

use crate::{
    boundary::call,
    device::device,
    handles::{Kind, Table},
    stream::lock,
};

/// A loaded module, with the functions that were asked for and their handles.
struct Module {
    executable: Executable,
    functions: Mutex<Vec<(String, usize)>>,
}

impl Kind for Module {
    const NAME: &'static str = "module";
    const TAG: usize = 0x53;
    fn table() -> &'static Table<Self> {
        static TABLE: Table<Module> = Table::new();
        &TABLE
    }
}

/// A function of a module. Unloading the module ends it.
pub(crate) struct Kernel(pub(crate) Function);

impl Kind for Kernel {
    const NAME: &'static str = "function";
    const TAG: usize = 0x54;
    fn table() -> &'static Table<Self> {
        static TABLE: Table<Kernel> = Table::new();
        &TABLE
    }
}

/// Unloaded modules, the last one first.
static KEPT: Mutex<VecDeque<Executable>> = Mutex::new(VecDeque::new());

/// The most unloaded modules that are kept.
const MOST_KEPT: usize = 16;

/// Loads `size` bytes of device code: a code object, or a bundle of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuModuleLoad(data: *const c_void, size: usize) -> *mut c_void {
    call(
        ptr::null_mut(),
        || format!("mgpuModuleLoad({data:p}, {size} bytes)"),
        || {
            if data.is_null() || size == 0 || size > isize::MAX as usize {
                return Err(Error::invalid_argument("there is no code; MLIR 19 and later pass its size"));
            }
            // SAFETY: the program embeds its code, which nobody writes, and vouches for it.
            let executable = unsafe { load(slice::from_raw_parts(data.cast(), size)) }?;
            Ok(Module::table().insert(Arc::new(Module { executable, functions: Mutex::default() })))
        },
    )
}

/// Loads code. Windlass shares an executable among all loads of the same bytes, and with it the global variables. Those
/// of a module are its own, so code with variables is loaded with bytes behind its end that differ each time.
///
/// # Safety
/// As for [`Device::load_executable`](facade::Device::load_executable).
unsafe fn load(code: &[u8]) -> Result<Executable> {
    static LOADS: AtomicU64 = AtomicU64::new(0);
    // SAFETY: the same contract.
    let executable = unsafe { device()?.load_executable(code) }?;
    if executable.globals().is_empty() {
        return Ok(executable);
    }
    drop(executable);
    let number = LOADS.fetch_add(1, Ordering::Relaxed).to_le_bytes();
    // SAFETY: the same contract; no reader of code objects and bundles looks behind their end.
    unsafe { device()?.load_executable(&[code, &number].concat()) }
}

/// Fails: the text of assembly is compiled before, by MLIR's own passes.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuModuleLoadJIT(data: *const c_void, level: c_int) -> *mut c_void {
    call(
        ptr::null_mut(),
        || format!("mgpuModuleLoadJIT({data:p}, {level})"),
        || Err(Error::unimplemented("this library assembles no text; use gpu-module-to-binary=format=bin")),
    )
}

/// Unloads a module and ends its functions. Work that runs them continues.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuModuleUnload(module: *mut c_void) {
    call(
        (),
        || format!("mgpuModuleUnload({module:p})"),
        || {
            let module = Module::table().remove(module)?;
            for (_, handle) in lock(&module.functions).drain(..) {
                Kernel::table().remove(ptr::without_provenance_mut(handle))?;
            }
            if module.executable.globals().is_empty() {
                let mut kept = lock(&KEPT);
                kept.retain(|known| !known.same(&module.executable));
                kept.push_front(module.executable.clone());
                kept.truncate(MOST_KEPT);
            }
            Ok(())
        },
    );
}

/// A kernel of a module, by its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuModuleGetFunction(module: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: null, or a string that ends with a NUL.
    let text = || if name.is_null() { c"" } else { unsafe { CStr::from_ptr(name) } }.to_string_lossy();
    let attempt = || format!("mgpuModuleGetFunction({module:p}, \"{}\")", text());
    call(ptr::null_mut(), attempt, || function(&*Module::table().get(module)?, &text()))
}

fn function(module: &Module, name: &str) -> Result<*mut c_void> {
    let mut functions = lock(&module.functions);
    if let Some((_, handle)) = functions.iter().find(|(known, _)| known == name) {
        return Ok(ptr::without_provenance_mut(*handle));
    }
    let handle = Kernel::table().insert(Arc::new(Kernel(module.executable.function(name)?)));
    functions.push((name.to_owned(), handle.addr()));
    Ok(handle)
}
