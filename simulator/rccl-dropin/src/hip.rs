// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulated HIP of the process, which has RCCL's functions.

use std::sync::OnceLock;

use windlass_hip_sys::rccl::Functions;

/// RCCL's functions; `None`, with a line on standard error, if the process has no simulated HIP.
#[allow(clippy::print_stderr, reason = "a program that ignores RCCL's results must learn the reason")]
pub(crate) fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    let found = FUNCTIONS.get_or_init(|| {
        let found = find();
        if found.is_none() {
            eprintln!(
                "windlass: this librccl.so.1 is for the simulated GPU, and the process has no simulated libamdhip64.so; run \
                 the program by `windlass exec`, or take this library's folder from LD_LIBRARY_PATH"
            );
        }
        found
    });
    found.as_ref()
}

#[cfg(not(unix))]
fn find() -> Option<Functions> {
    None
}

#[cfg(unix)]
fn find() -> Option<Functions> {
    use std::ffi::{CStr, c_char, c_int, c_void};

    /// The symbol of the simulated HIP's function that gives the address of a function of RCCL, or null.
    const LOOKUP: &CStr = c"windlass_simulator_rccl";
    type Lookup = unsafe extern "C" fn(*const c_char) -> *const c_void;
    const NAMES: [&str; 5] =
        ["libamdhip64.so.8", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"];

    let open = |name: &str, flags: c_int| {
        let name = std::ffi::CString::new(name).ok()?;
        // SAFETY: a C string. A library of HIP's name that a program has or would load is sound to load. It is never
        // closed.
        let handle = unsafe { libc::dlopen(name.as_ptr(), flags | libc::RTLD_LAZY) };
        (!handle.is_null()).then_some(handle)
    };
    let lookup = |handle: *mut c_void| {
        // SAFETY: a handle of a library that stays open, and a C string.
        let address = unsafe { libc::dlsym(handle, LOOKUP.as_ptr()) };
        // SAFETY: only the simulator's library has the symbol, and gives it this signature.
        unsafe { std::mem::transmute::<*mut c_void, Option<Lookup>>(address) }
    };
    let loaded = NAMES.iter().filter_map(|name| open(name, libc::RTLD_NOLOAD));
    // AMD's RCCL is linked with HIP, so a program that loads RCCL alone has HIP too.
    let beside = folder().into_iter().flat_map(|folder| NAMES.map(|name| format!("{folder}/{name}")));
    let beside = beside.filter_map(|path| open(&path, 0));
    let searched = NAMES.iter().filter_map(|name| open(name, 0));
    let lookup = loaded.chain(beside).chain(searched).find_map(lookup)?;
    // SAFETY: the simulator gives addresses of functions with these signatures, and its library stays loaded.
    unsafe { Functions::resolve(|name| lookup(name.as_ptr())) }.ok()
}

/// The folder of this library.
#[cfg(unix)]
fn folder() -> Option<String> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address may be asked for; the result goes to a local.
    let known =
        unsafe { libc::dladdr((&raw const crate::windlass_simulator_marker).cast(), found.as_mut_ptr()) };
    // SAFETY: zeroed is a valid Dl_info, and dladdr has written it.
    let found = unsafe { found.assume_init() };
    if known == 0 || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr gave a C string that lives as long as this library.
    let path = unsafe { std::ffi::CStr::from_ptr(found.dli_fname) }.to_str().ok()?;
    Some(path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned())
}
