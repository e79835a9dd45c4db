// SPDX-License-Identifier: MIT OR Apache-2.0
//! The built library, loaded as any program would.

mod common;

use std::ffi::c_void;
use std::process::Command;
use std::ptr::{null, null_mut};

use common::library;
use windlass_hip_sys::bindings::{
    hipDriverProcAddressQueryResult, hipError_t, hipExtent, hipMemcpyKind, hipPitchedPtr,
};
use windlass_hip_sys::{Api, Feature, Source, Version};

fn load() -> Api {
    // SAFETY: the library is the one of this package.
    unsafe { Api::load(&Source::Library(library())) }.unwrap()
}

#[test]
fn every_declared_function_is_exported() {
    // SAFETY: the library is the one of this package.
    let library = unsafe { libloading::Library::new(library()) }.unwrap();
    for name in windlass_hip_sys::EntryPoints::NAMES {
        // SAFETY: the symbol is only looked up.
        assert!(unsafe { library.get::<*const ()>(name.as_bytes()) }.is_ok(), "{name}");
    }
    // One without a function behind it.
    // SAFETY: the symbol has the declared signature, and the pointer is to a local.
    let status = unsafe {
        let load = library
            .get::<windlass_hip_sys::pfn::hipImportExternalMemory>(b"hipImportExternalMemory")
            .unwrap();
        load(&mut null_mut(), null())
    };
    assert_eq!(status, hipError_t::hipErrorNotSupported);
}

#[test]
fn it_says_what_it_is_and_has() {
    let api = load();
    assert!(api.has(Feature::MemoryPools) && api.has(Feature::Graphs) && !api.has(Feature::ExternalMemory));
    assert!(api.missing().contains(&"hipImportExternalMemory") && !api.missing().contains(&"hipMalloc"));
    assert!(api.origin().simulated, "{}", api.origin());
    let version = api.origin().version.unwrap();
    assert!(version > Version { major: 7, minor: 0, patch: 0 }, "{version}");
}

#[test]
fn its_functions_reach_a_simulated_gpu() {
    let api = load();
    let mut memory = null_mut();
    let mut words = [0_u32; 4];
    // SAFETY: the pointers are to locals and to memory that HIP allocates.
    let statuses = unsafe {
        [
            api.hipMalloc(&mut memory, 16),
            api.hipMemsetD32(memory, 0x1234, 4),
            api.hipMemcpy(words.as_mut_ptr().cast(), memory, 16, hipMemcpyKind::hipMemcpyDeviceToHost),
            api.hipFree(memory),
        ]
    };
    assert_eq!(statuses, [hipError_t::hipSuccess; 4]);
    assert_eq!(words, [0x1234; 4]);
}

/// A function that is not in the table.
fn symbol<T: Copy>(library: &libloading::Library, name: &str) -> T {
    // SAFETY: the tests name the signatures that HIP declares.
    *unsafe { library.get::<T>(name.as_bytes()) }.unwrap()
}

#[test]
fn functions_in_other_words_do_the_same() {
    type Allocate = unsafe extern "C" fn(*mut hipPitchedPtr, hipExtent) -> hipError_t;
    type Fill = unsafe extern "C" fn(hipPitchedPtr, i32, hipExtent) -> hipError_t;
    type Copy = unsafe extern "C" fn(*mut c_void, *const c_void, usize, hipMemcpyKind) -> hipError_t;
    let api = load();
    // SAFETY: the library is the one of this package.
    let library = unsafe { libloading::Library::new(library()) }.unwrap();
    let allocate: Allocate = symbol(&library, "hipMalloc3D");
    let fill: Fill = symbol(&library, "hipMemset3D_spt");
    let copy: Copy = symbol(&library, "hipMemcpy_spt");
    let mut memory = hipPitchedPtr { ptr: null_mut(), pitch: 0, xsize: 0, ysize: 0 };
    let whole = hipExtent { width: 8, height: 3, depth: 2 };
    let part = hipExtent { width: 4, height: 2, depth: 2 };
    let mut bytes = vec![0_u8; 6 * 256];
    // SAFETY: the pointers are to locals and to memory that HIP allocates.
    let statuses = unsafe {
        [
            allocate(&mut memory, whole),
            fill(memory, 1, whole),
            fill(memory, 2, part),
            copy(
                bytes.as_mut_ptr().cast(),
                memory.ptr,
                6 * memory.pitch,
                hipMemcpyKind::hipMemcpyDeviceToHost,
            ),
            api.hipFree(memory.ptr),
        ]
    };
    assert_eq!(statuses, [hipError_t::hipSuccess; 5]);
    assert_eq!((memory.pitch, memory.xsize, memory.ysize), (256, 8, 3));
    let row = |index: usize| &bytes[index * 256..][..8];
    for index in 0..6 {
        let left = if index % 3 == 2 { 1 } else { 2 };
        assert_eq!(row(index), [left, left, left, left, 1, 1, 1, 1], "{index}");
    }
}

/// The status, the function and the query result of hipGetProcAddress.
fn look_up(api: &Api, name: &str, flags: u64) -> (hipError_t, *mut c_void, hipDriverProcAddressQueryResult) {
    let name = std::ffi::CString::new(name).unwrap();
    let mut function = null_mut();
    let mut found = hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    // SAFETY: the pointers are to locals.
    let status = unsafe { api.hipGetProcAddress(name.as_ptr(), &mut function, 710, flags, &mut found) };
    (status, function, found)
}

#[test]
fn functions_are_found_by_name_as_the_dynamic_linker_finds_them() {
    const SUCCESS: hipDriverProcAddressQueryResult =
        hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SUCCESS;
    const NOT_FOUND: hipDriverProcAddressQueryResult =
        hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    let (default, legacy, per_thread) = (0, 1, 2);
    let api = load();
    // SAFETY: the library is the one of this package.
    let library = unsafe { libloading::Library::new(library()) }.unwrap();
    for (name, flags, meant) in [
        ("hipMemcpy", default, "hipMemcpy"),
        ("hipMemcpy", legacy, "hipMemcpy"),
        ("hipMemcpy", per_thread, "hipMemcpy_spt"),
        ("hipMemcpy_spt", default, "hipMemcpy_spt"),
        ("hipMemset3DAsync", default, "hipMemset3DAsync"),
        ("hipMemset3DAsync", per_thread, "hipMemset3DAsync_spt"),
        // Functions without a variant for the thread's own stream, and functions that exist only in that
        // variant.
        ("hipGetDeviceCount", per_thread, "hipGetDeviceCount"),
        ("hipGetDeviceProperties", per_thread, "hipGetDevicePropertiesR0600"),
        ("hipMalloc3D", default, "hipMalloc3D"),
        ("hipCreateChannelDesc", default, "hipCreateChannelDesc"),
    ] {
        let address: *mut c_void = symbol(&library, meant);
        assert_eq!(look_up(&api, name, flags), (hipError_t::hipSuccess, address, SUCCESS), "{name} {flags}");
    }
    for name in ["hipNoSuchFunction", "hipMallocArray", "hipImportExternalMemory", "hipMemcpyFromArray_spt"] {
        let missing = (hipError_t::hipErrorInvalidValue, null_mut(), NOT_FOUND);
        assert_eq!(look_up(&api, name, default), missing, "{name}");
        assert_eq!(look_up(&api, name, per_thread), missing, "{name}");
    }
    assert_eq!(look_up(&api, "hipMalloc", 3).0, hipError_t::hipErrorInvalidValue);
    assert_eq!(look_up(&api, "", default).0, hipError_t::hipErrorInvalidValue);
}

#[test]
fn a_program_built_for_the_own_stream_finds_that_streams_functions() {
    type LookUp = unsafe extern "C" fn(
        *const std::ffi::c_char,
        *mut *mut c_void,
        u64,
        *mut hipDriverProcAddressQueryResult,
    ) -> hipError_t;
    // SAFETY: the library is the one of this package.
    let library = unsafe { libloading::Library::new(library()) }.unwrap();
    for (look_up, flags, meant) in [
        ("hipGetDriverEntryPoint", 0, "hipMemsetAsync"),
        ("hipGetDriverEntryPoint", 2, "hipMemsetAsync_spt"),
        ("hipGetDriverEntryPoint_spt", 0, "hipMemsetAsync_spt"),
        ("hipGetDriverEntryPoint_spt", 1, "hipMemsetAsync"),
    ] {
        let entry: LookUp = symbol(&library, look_up);
        let mut function = null_mut();
        // SAFETY: the pointers are to a string, a local, and nothing.
        let status = unsafe { entry(c"hipMemsetAsync".as_ptr(), &mut function, flags, null_mut()) };
        let address: *mut c_void = symbol(&library, meant);
        assert_eq!((status, function), (hipError_t::hipSuccess, address), "{look_up} {flags}");
    }
}

/// Prints what a process with its own environment sees; run by the tests below.
#[test]
#[ignore = "runs in a process of its own"]
#[allow(clippy::print_stdout, reason = "the parent reads it")]
fn count_devices() {
    let api = load();
    let mut devices = -7;
    // SAFETY: the pointer is to a local.
    let status = unsafe { api.hipGetDeviceCount(&mut devices) };
    // SAFETY: as above.
    let again = unsafe { api.hipGetDeviceCount(&mut devices) };
    assert_eq!(status, again);
    println!("status {} devices {devices}", status.0);
}

fn count_with(variables: &[(&str, &str)]) -> (String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "count_devices", "--ignored", "--nocapture"]);
    for name in ["WINDLASS_SIM", "WINDLASS_LOG", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn the_environment_describes_the_machine() {
    let devices = |variables: &[_]| count_with(variables).0;
    assert!(devices(&[]).contains("status 0 devices 1"));
    assert!(devices(&[("WINDLASS_SIM", "gfx942?devices=3")]).contains("status 0 devices 3"));
    let hidden = [("WINDLASS_SIM", "gfx942?devices=3"), ("HIP_VISIBLE_DEVICES", "2,1")];
    assert!(devices(&hidden).contains("status 0 devices 2"));
    let empty = [hidden[0], ("HIP_VISIBLE_DEVICES", "")];
    assert!(devices(&empty).contains("status 0 devices 3"), "nothing is no list");
    let other = [empty[0], empty[1], ("CUDA_VISIBLE_DEVICES", "1")];
    assert!(devices(&other).contains("status 0 devices 1"), "the other variable's list counts then");
    assert!(devices(&[("HIP_VISIBLE_DEVICES", "-1")]).contains("status 100 devices 0"));
    assert!(devices(&[("WINDLASS_SIM", "gfx942?devices=0&hip=5.2")]).contains("status 100 devices 0"));
}

#[test]
fn what_is_wrong_with_the_environment_is_said() {
    let (out, err) = count_with(&[("WINDLASS_SIM", "gfx9999")]);
    assert!(out.contains("status 100 devices 0"), "{out}");
    assert!(err.contains("gfx9999") && err.contains("gfx942"), "{err}");
    let (out, err) = count_with(&[("WINDLASS_SIM", "gfx942?replay=/no/such/log")]);
    assert!(out.contains("status 100 devices 0"), "{out}");
    assert_eq!(err.matches("/no/such/log").count(), 1, "{err}");
    let (_, err) = count_with(&[("WINDLASS_LOG", "windlass=shouting")]);
    assert!(err.contains("WINDLASS_LOG"), "{err}");
    let (_, err) = count_with(&[("WINDLASS_LOG", "windlass=trace")]);
    assert!(err.contains("hipGetDeviceCount"), "{err}");
}

/// Functions that have no place in the table: names of commands, and a callback that hears of nothing.
#[test]
fn tracers_load_and_hear_of_nothing() {
    // SAFETY: the library is the one of this package.
    let library = unsafe { libloading::Library::new(library()) }.unwrap();
    let kind = |number: u32| {
        type Name = unsafe extern "C" fn(u32) -> *const std::ffi::c_char;
        // SAFETY: the function has this signature, and returns a string that ends.
        unsafe {
            let name = library.get::<Name>(b"hipGetCmdName").unwrap();
            std::ffi::CStr::from_ptr(name(number)).to_str().unwrap().to_owned()
        }
    };
    assert_eq!(kind(0x11F0), "KernelExecution");
    assert_eq!(kind(0x4502), "StreamWrite");
    assert_eq!(kind(1), "Unknown command kind");
    let api = load();
    // SAFETY: the functions have these signatures; the callback is never called.
    unsafe {
        let register =
            library.get::<unsafe extern "C" fn(*const c_void)>(b"hipRegisterTracerCallback").unwrap();
        assert_eq!(api.hipInit(0), hipError_t::hipSuccess);
        register(8 as *const c_void);
        assert_eq!(api.hipGetLastError(), hipError_t::hipSuccess, "it is no failure");
    }
}
