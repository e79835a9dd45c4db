// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions that do what others do, under other names or by other structures.

mod common;

use std::ffi::c_void;
use std::process::Command;
use std::ptr::{null, null_mut};

use common::library;
use windlass_hip_sys::bindings::*;
use windlass_hip_sys::{Api, Source, pfn};

const OK: hipError_t = hipError_t::hipSuccess;
const INVALID: hipError_t = hipError_t::hipErrorInvalidValue;

fn load() -> (Api, libloading::Library) {
    // SAFETY: the library is the one of this package.
    unsafe { (Api::load(&Source::Library(library())).unwrap(), libloading::Library::new(library()).unwrap()) }
}

/// A function that is not in the table.
fn symbol<T: Copy>(library: &libloading::Library, name: &str) -> T {
    // SAFETY: the tests name the signatures that HIP declares.
    *unsafe { library.get::<T>(name.as_bytes()) }.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// `hip_Memcpy2D`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Copy2d {
    from_x: usize,
    from_y: usize,
    from_kind: hipMemoryType,
    from_host: *const c_void,
    from_device: hipDeviceptr_t,
    from_array: hipArray_t,
    from_pitch: usize,
    to_x: usize,
    to_y: usize,
    to_kind: hipMemoryType,
    to_host: *mut c_void,
    to_device: hipDeviceptr_t,
    to_array: hipArray_t,
    to_pitch: usize,
    width: usize,
    height: usize,
}

#[test]
fn rows_are_copied_as_a_structure_says() {
    type Now = unsafe extern "C" fn(*const Copy2d) -> hipError_t;
    type InOrder = unsafe extern "C" fn(*const Copy2d, hipStream_t) -> hipError_t;
    let (api, library) = load();
    let in_order: InOrder = symbol(&library, "hipMemcpyParam2DAsync");
    let (source, mut device) = ((0..20).collect::<Vec<u8>>(), null_mut());
    let mut back = [0xff_u8; 12];
    // SAFETY: the pointers are to locals.
    assert_eq!(unsafe { api.hipMalloc(&mut device, 20) }, OK);
    let up = Copy2d {
        from_x: 1,
        from_y: 1,
        from_kind: hipMemoryType::hipMemoryTypeHost,
        from_host: source.as_ptr().cast(),
        from_device: null_mut(),
        from_array: null_mut(),
        from_pitch: 5,
        to_x: 2,
        to_y: 0,
        to_kind: hipMemoryType::hipMemoryTypeDevice,
        to_host: null_mut(),
        to_device: device,
        to_array: null_mut(),
        to_pitch: 5,
        width: 3,
        height: 2,
    };
    let down = Copy2d {
        from_x: 2,
        from_y: 0,
        from_kind: hipMemoryType::hipMemoryTypeDevice,
        from_device: device,
        to_x: 1,
        to_y: 1,
        to_kind: hipMemoryType::hipMemoryTypeHost,
        to_host: back.as_mut_ptr().cast(),
        to_pitch: 4,
        ..up
    };
    for name in ["hipMemcpyParam2D", "hipDrvMemcpy2DUnaligned"] {
        let copy: Now = symbol(&library, name);
        // SAFETY: the structures are right, or refused before memory is touched.
        unsafe {
            back_to_nothing(down.to_host);
            assert_eq!([api.hipMemset(device, 0, 20), copy(&up), copy(&down)], [OK; 3], "{name}");
            assert_eq!(back, [255, 255, 255, 255, 255, 6, 7, 8, 255, 11, 12, 13], "{name}");
            assert_eq!(copy(null()), INVALID);
            for wrong in [
                Copy2d { width: 6, ..up },
                Copy2d { height: 5, ..up },
                Copy2d { from_kind: hipMemoryType(99), ..up },
                Copy2d { to_device: null_mut(), ..up },
            ] {
                assert_eq!(copy(&wrong), INVALID, "{name}");
            }
            assert_eq!(copy(&Copy2d { height: 0, ..up }), OK, "{name}");
        }
    }
    // SAFETY: as above; the stream is waited for.
    unsafe {
        let mut stream = null_mut();
        assert_eq!([api.hipStreamCreate(&mut stream), api.hipMemset(device, 0, 20)], [OK; 2]);
        back_to_nothing(down.to_host);
        let statuses = [in_order(&up, stream), in_order(&down, stream), api.hipStreamSynchronize(stream)];
        assert_eq!(statuses, [OK; 3]);
        assert_eq!(back, [255, 255, 255, 255, 255, 6, 7, 8, 255, 11, 12, 13]);
        assert_eq!([in_order(null(), stream), in_order(&Copy2d { width: 6, ..up }, stream)], [INVALID; 2]);
        assert_eq!(api.hipStreamDestroy(stream), OK);
        assert_eq!(in_order(&up, stream), hipError_t::hipErrorContextIsDestroyed);
    }
}

/// # Safety
/// The pointer is to 12 bytes.
unsafe fn back_to_nothing(back: *mut c_void) {
    // SAFETY: the caller says so.
    unsafe { back.cast::<u8>().write_bytes(0xff, 12) };
}

#[test]
fn memory_comes_by_the_driver_s_names_too() {
    type Pitched = unsafe extern "C" fn(*mut hipDeviceptr_t, *mut usize, usize, usize, u32) -> hipError_t;
    type Fill = unsafe extern "C" fn(hipPitchedPtr, i32, hipExtent) -> hipError_t;
    let (api, library) = load();
    let host: pfn::hipMallocHost = symbol(&library, "hipMemAllocHost");
    let flagged: pfn::hipHostMalloc = symbol(&library, "hipExtHostAlloc");
    let pitched: Pitched = symbol(&library, "hipMemAllocPitch");
    let fill: Fill = symbol(&library, "hipMemset3D");
    let (mut memory, mut pitch, mut flags) = (null_mut(), 0, 0);
    // SAFETY: the pointers are to locals, and to memory of HIP.
    unsafe {
        assert_eq!(host(&mut memory, 64), OK);
        memory.cast::<u8>().write_bytes(3, 64);
        assert_eq!([api.hipHostFree(memory), host(null_mut(), 64)], [OK, INVALID]);
        assert_eq!(
            [host(&mut memory, 0), host(&mut memory, usize::MAX)],
            [OK, hipError_t::hipErrorOutOfMemory]
        );
        // AMD's own flags are for this one.
        assert_eq!(flagged(&mut memory, 64, 0x4000_0000), OK);
        assert_eq!([api.hipHostGetFlags(&mut flags, memory), api.hipHostFree(memory)], [OK; 2]);
        assert_eq!(flags, 0x4000_0000);
        for wrong in [8, 0xc000_0000, u32::MAX] {
            assert_eq!(flagged(&mut memory, 64, wrong), INVALID, "{wrong:#x}");
        }
        assert_eq!(flagged(null_mut(), 64, 0), INVALID);

        for element in [4, 8, 16] {
            assert_eq!(pitched(&mut memory, &mut pitch, 300, 2, element), OK);
            assert_eq!((pitch, api.hipFree(memory)), (512, OK));
        }
        for element in [0, 2, 5, 32] {
            assert_eq!(pitched(&mut memory, &mut pitch, 300, 2, element), INVALID, "{element}");
        }
        assert_eq!(pitched(null_mut(), &mut pitch, 300, 2, 4), INVALID);
        assert_eq!(pitched(&mut memory, null_mut(), 300, 2, 4), INVALID);

        // Two planes of two rows of three bytes, in memory of three rows of four.
        assert_eq!([api.hipMalloc(&mut memory, 24), api.hipMemset(memory, 0, 24)], [OK; 2]);
        let place = hipPitchedPtr { ptr: memory, pitch: 4, xsize: 4, ysize: 3 };
        let extent = |width, height, depth| hipExtent { width, height, depth };
        assert_eq!(fill(place, 7, extent(3, 2, 2)), OK);
        let mut bytes = [0_u8; 24];
        assert_eq!(api.hipMemcpyDtoH(bytes.as_mut_ptr().cast(), memory, 24), OK);
        let plane = [7, 7, 7, 0, 7, 7, 7, 0, 0, 0, 0, 0];
        assert_eq!(bytes[..], [plane, plane].concat());
        for wrong in [extent(5, 2, 2), extent(3, 2, 3), extent(usize::MAX, 2, 2)] {
            assert_eq!(fill(place, 7, wrong), INVALID, "{wrong:?}");
        }
        // A pitch below the rows of the memory, for a box that fits into the pitch.
        for (pitch, xsize) in [(4, 5), (0, 4)] {
            let wrong = hipPitchedPtr { pitch, xsize, ..place };
            assert_eq!(fill(wrong, 7, extent(3, 1, 1)), INVALID, "{wrong:?}");
        }
        for nothing in [extent(0, 2, 2), extent(3, 0, 2), extent(3, 2, 0)] {
            assert_eq!(fill(place, 9, nothing), OK, "{nothing:?}");
        }
        assert_eq!(api.hipFree(memory), OK);
    }
}

#[test]
fn contexts_have_no_wishes_of_their_own() {
    let (api, library) = load();
    let get_cache: pfn::hipDeviceGetCacheConfig = symbol(&library, "hipCtxGetCacheConfig");
    let set_cache: pfn::hipDeviceSetCacheConfig = symbol(&library, "hipCtxSetCacheConfig");
    let get_banks: pfn::hipDeviceGetSharedMemConfig = symbol(&library, "hipCtxGetSharedMemConfig");
    let set_banks: pfn::hipDeviceSetSharedMemConfig = symbol(&library, "hipCtxSetSharedMemConfig");
    let get_flags: pfn::hipGetDeviceFlags = symbol(&library, "hipCtxGetFlags");
    let (mut cache, mut banks, mut flags) = (hipFuncCache_t(9), hipSharedMemConfig(9), 9);
    // SAFETY: the pointers are to locals.
    unsafe {
        assert_eq!(get_banks(&mut banks), OK);
        assert_eq!(banks, hipSharedMemConfig::hipSharedMemBankSizeFourByte);
        assert_eq!(get_banks(null_mut()), INVALID);
        assert_eq!([4, u32::MAX].map(|wish| set_cache(hipFuncCache_t(wish))), [INVALID; 2]);
        let refused = [
            get_cache(&mut cache),
            set_cache(hipFuncCache_t::hipFuncCachePreferL1),
            set_banks(hipSharedMemConfig::hipSharedMemBankSizeEightByte),
            get_flags(&mut flags),
        ];
        assert_eq!(refused, [hipError_t::hipErrorNotSupported; 4]);
    }
    let reason = api.diagnose().unwrap();
    assert!(reason.contains("hipCtxGetFlags is not supported by AMD's HIP"), "{reason}");
    // SAFETY: there are no pointers.
    assert_eq!(unsafe { api.hipGetLastError() }, hipError_t::hipErrorNotSupported);
    assert_eq!((cache.0, flags), (9, 9));
}

/// HIP 5 exports these under the names of C++.
#[test]
fn launches_by_work_items_have_their_old_names() {
    type Hcc = pfn::hipHccModuleLaunchKernel;
    const EXT: &str =
        "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j";
    const HCC: &str =
        "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_";
    let (api, library) = load();
    let (ext, hcc): (pfn::hipExtModuleLaunchKernel, Hcc) = (symbol(&library, EXT), symbol(&library, HCC));
    let image: &[u8] = include_bytes!("../../../cts/kernels/bundles/vector_add.gfx942.co");
    let (mut module, mut function) = (null_mut(), null_mut());
    let (mut a, mut b, mut sum, mut n) = (null_mut(), null_mut(), null_mut(), 4_u32);
    let none = null_mut::<*mut c_void>();
    // SAFETY: the pointers are to locals and to memory of HIP; wrong launches are refused.
    unsafe {
        assert_eq!(api.hipModuleLoadData(&mut module, image.as_ptr().cast()), OK);
        assert_eq!(api.hipModuleGetFunction(&mut function, module, c"vector_add".as_ptr()), OK);
        let ones = [1_f32; 4];
        for memory in [&mut a, &mut b, &mut sum] {
            assert_eq!(api.hipMalloc(memory, 16), OK);
        }
        for memory in [a, b] {
            assert_eq!(api.hipMemcpyHtoD(memory, ones.as_ptr().cast(), 16), OK);
        }
        let mut each: [*mut c_void; 4] =
            [(&raw mut a).cast(), (&raw mut b).cast(), (&raw mut sum).cast(), (&raw mut n).cast()];
        let (each, stream, event) = (each.as_mut_ptr(), null_mut(), null_mut());
        for old in [false, true] {
            assert_eq!(api.hipMemset(sum, 0, 16), OK);
            let status = match old {
                false => ext(function, 4, 1, 1, 4, 1, 1, 0, stream, each, none, event, event, 0),
                true => hcc(function, 4, 1, 1, 4, 1, 1, 0, stream, each, none, event, event),
            };
            let mut out = [0_f32; 4];
            assert_eq!([status, api.hipMemcpyDtoH(out.as_mut_ptr().cast(), sum, 16)], [OK; 2]);
            assert_eq!(out, [2.0; 4]);
        }
        let nobody = null_mut();
        assert_ne!(ext(nobody, 4, 1, 1, 4, 1, 1, 0, stream, each, none, event, event, 0), OK);
        assert_ne!(hcc(nobody, 4, 1, 1, 4, 1, 1, 0, stream, each, none, event, event), OK);
        assert_eq!(ext(function, 0, 1, 1, 4, 1, 1, 0, stream, each, none, event, event, 0), INVALID);
        assert_eq!(hcc(function, 4, 1, 1, 0, 1, 1, 0, stream, each, none, event, event), INVALID);
    }
}

/// Run by the test below, in a process of its own.
#[test]
#[ignore = "runs in a process of its own"]
fn look_up_in_hip_7_2() {
    let (_, library) = load();
    let look_up: pfn::hipGetProcAddress = symbol(&library, "hipGetProcAddress_spt");
    for (name, flags, meant) in [
        (c"hipMemcpy", 0, "hipMemcpy_spt"),
        (c"hipMemcpy", 1, "hipMemcpy"),
        (c"hipMemcpy", 2, "hipMemcpy_spt"),
        (c"hipGetDeviceCount", 0, "hipGetDeviceCount"),
    ] {
        let (mut function, address) = (null_mut(), symbol::<*mut c_void>(&library, meant));
        // SAFETY: the pointers are to a string, a local, and nothing.
        let status = unsafe { look_up(name.as_ptr(), &mut function, 720, flags, null_mut()) };
        assert_eq!((status, function), (OK, address), "{name:?} {flags}");
    }
    let mut function = null_mut();
    // SAFETY: as above.
    let wrong = unsafe {
        [
            look_up(c"hipNoSuchFunction".as_ptr(), &mut function, 720, 0, null_mut()),
            look_up(c"hipMemcpy".as_ptr(), &mut function, 720, 3, null_mut()),
            look_up(null(), &mut function, 720, 0, null_mut()),
            look_up(c"hipMemcpy".as_ptr(), null_mut(), 720, 0, null_mut()),
        ]
    };
    assert_eq!(wrong, [INVALID; 4]);
}

#[test]
fn a_program_of_hip_7_2_finds_the_own_stream_s_functions() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "look_up_in_hip_7_2", "--ignored"]).env("WINDLASS_SIM", "gfx942?hip=7.2");
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Clients of hipRTC of HIP 4 ask for precompiled headers, and there are none.
#[test]
fn there_are_no_precompiled_headers() {
    type Headers = unsafe extern "C" fn(*mut *const std::ffi::c_char, *mut u32);
    let (_, library) = load();
    let headers: Headers = symbol(&library, "__hipGetPCH");
    let (mut header, mut size) = (c"something".as_ptr(), 9);
    // SAFETY: the pointers are to locals, or null.
    unsafe {
        headers(null_mut(), &mut size);
        headers(&mut header, null_mut());
        assert_eq!((header, size), (c"something".as_ptr(), 9));
        headers(&mut header, &mut size);
    }
    assert!(header.is_null() && size == 0);
}
