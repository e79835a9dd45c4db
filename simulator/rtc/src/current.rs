// SPDX-License-Identifier: MIT OR Apache-2.0
//! The current GPU of the process, for programs that name none.

use std::ffi::{c_char, c_int};

use windlass_hip_sys::bindings::{hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t};

use crate::target::Target;

/// The names of HIP's library. Of those that are loaded, the loader gives the same one again.
const NAMES: [&str; 5] =
    ["libamdhip64.so.7", "libamdhip64.so.8", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"];

/// The current device's target, or the reason why there is none.
pub(crate) fn target() -> Result<Target, String> {
    let advice = "give the GPU by --offload-arch";
    // SAFETY: the libraries that the process finds under these names are HIP.
    let library = NAMES.iter().find_map(|name| unsafe { libloading::Library::new(*name) }.ok());
    let Some(library) = library else {
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
        if let Ok(describe) = library.get::<Describe<hipDeviceProp_tR0600>>(b"hipGetDevicePropertiesR0600\0")
        {
            let mut found = hipDeviceProp_tR0600::default();
            let status = describe(&mut found, device);
            // The simulated HIP has the function for programs that are linked with it, and refuses it as 5.
            if status != hipError_t::hipErrorNotSupported {
                return Some(checked(status).map(|()| text(&found.gcnArchName)));
            }
        }
        // HIP before 6.0.
        let describe = library.get::<Describe<hipDeviceProp_tR0000>>(b"hipGetDeviceProperties\0").ok()?;
        let mut found = hipDeviceProp_tR0000::default();
        Some(checked(describe(&mut found, device)).map(|()| text(&found.gcnArchName)))
    }
}
