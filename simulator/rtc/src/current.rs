// SPDX-License-Identifier: MIT OR Apache-2.0
//! The current GPU of the process, for programs that name none.

use std::ffi::{CStr, c_int};

use windlass_hip_sys::bindings::{hipDeviceProp_tR0600, hipError_t};

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
    let mut properties = hipDeviceProp_tR0600::default();
    let mut device = 0;
    // SAFETY: HIP gives these symbols these signatures, and the pointers are to locals.
    let status = unsafe {
        let current = library.get::<unsafe extern "C" fn(*mut c_int) -> hipError_t>(b"hipGetDevice\0");
        let describe = library.get::<unsafe extern "C" fn(*mut hipDeviceProp_tR0600, c_int) -> hipError_t>(
            b"hipGetDevicePropertiesR0600\0",
        );
        match (current, describe) {
            (Ok(current), Ok(describe)) => match current(&mut device) {
                hipError_t::hipSuccess => Some(describe(&mut properties, device)),
                status => Some(status),
            },
            _ => None,
        }
    };
    // Threads of HIP may run in it.
    std::mem::forget(library);
    match status {
        Some(hipError_t::hipSuccess) => {}
        Some(status) => {
            return Err(format!(
                "no GPU is named, and HIP cannot tell the current one: {}; {advice}",
                status.0
            ));
        }
        None => return Err(format!("no GPU is named, and this HIP is older than 6.0; {advice}")),
    }
    // SAFETY: HIP ends the name within the array, and the array was zero before.
    let name = unsafe { CStr::from_ptr(properties.gcnArchName.as_ptr()) }.to_string_lossy();
    Target::new(&name).ok_or_else(|| format!("HIP's current GPU has the name `{name}`; {advice}"))
}
