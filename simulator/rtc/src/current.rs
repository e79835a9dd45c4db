// SPDX-License-Identifier: MIT OR Apache-2.0
//! The current GPU of the process, for programs that name none.

use std::ffi::{c_char, c_int};

use windlass_hip_sys::bindings::{hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t};

use crate::target::Target;

/// The names of HIP's library. Of those that are loaded, the loader gives the same one again.
const NAMES: [&str; 5] =
    ["libamdhip64.so.7", "libamdhip64.so.8", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"];

/// The version of code objects for this process's HIP. HIP reads version 5 since 5.3.
pub(crate) fn code_object() -> u32 {
    let version = hip().map(|library| {
        let version = version(&library);
        std::mem::forget(library);
        version
    });
    if version.is_some_and(|version| version < 50_300_000) { 4 } else { 5 }
}

/// HIP's library, as the process finds it.
fn hip() -> Option<libloading::Library> {
    // SAFETY: the libraries that the process finds under these names are HIP.
    NAMES.iter().find_map(|name| unsafe { libloading::Library::new(*name) }.ok())
}

/// HIP's version, as 70100000 for 7.1; the greatest number if it does not tell.
fn version(library: &libloading::Library) -> c_int {
    let mut version = c_int::MAX;
    // SAFETY: HIP gives the symbol this signature, and the pointer is to a local.
    unsafe {
        if let Ok(ask) =
            library.get::<unsafe extern "C" fn(*mut c_int) -> hipError_t>(b"hipRuntimeGetVersion\0")
        {
            ask(&mut version);
        }
    }
    version
}

/// The current device's target, or the reason why there is none.
pub(crate) fn target() -> Result<Target, String> {
    let advice = "give the GPU by --offload-arch";
    let Some(library) = hip() else {
        return Err(format!(
            "no GPU is named, and the process finds no libamdhip64.so that could tell one; {advice}"
        ));
    };
    let asked = ask(&library);
    // Threads of HIP may run in it.
    std::mem::forget(library);
    let name = match asked {
        Some(Ok(name)) => name,
        Some(Err(status)) => {
            return Err(format!(
                "no GPU is named, and HIP cannot tell the current one: {}; {advice}",
                status.0
            ));
        }
        None => return Err(format!("no GPU is named, and this HIP does not tell the current one; {advice}")),
    };
    Target::new(&name).ok_or_else(|| format!("HIP's current GPU has the name `{name}`; {advice}"))
}

/// The name of the current device. `None` if the library lacks a function.
fn ask(library: &libloading::Library) -> Option<Result<String, hipError_t>> {
    type Describe<T> = unsafe extern "C" fn(*mut T, c_int) -> hipError_t;
    let checked = |status| if status == hipError_t::hipSuccess { Ok(()) } else { Err(status) };
    let text = |name: &[c_char]| {
        let bytes: Vec<_> = name.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    // SAFETY: HIP gives these symbols these signatures, and the pointers are to locals.
    unsafe {
        let current =
            library.get::<unsafe extern "C" fn(*mut c_int) -> hipError_t>(b"hipGetDevice\0").ok()?;
        let mut device = 0;
        if let Err(status) = checked(current(&mut device)) {
            return Some(Err(status));
        }
        let newer = library.get::<Describe<hipDeviceProp_tR0600>>(b"hipGetDevicePropertiesR0600\0");
        // The simulated HIP exports the function as 5 too, for programs that are linked with it, and refuses it.
        if let Some(describe) = newer.ok().filter(|_| version(library) >= 60_000_000) {
            let mut found = hipDeviceProp_tR0600::default();
            return Some(checked(describe(&mut found, device)).map(|()| text(&found.gcnArchName)));
        }
        // HIP before 6.0.
        let describe = library.get::<Describe<hipDeviceProp_tR0000>>(b"hipGetDeviceProperties\0").ok()?;
        let mut found = hipDeviceProp_tR0000::default();
        Some(checked(describe(&mut found, device)).map(|()| text(&found.gcnArchName)))
    }
}
