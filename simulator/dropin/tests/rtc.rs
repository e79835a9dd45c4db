// SPDX-License-Identifier: MIT OR Apache-2.0
//! hipRTC's functions and HIP's linker in the library, by their names.

#![cfg(all(target_os = "linux", target_pointer_width = "64"))]

mod common;

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use libloading::{Library, Symbol};

const INVALID_VALUE: c_int = 1;
const INVALID_CONFIGURATION: c_int = 9;
const INVALID_IMAGE: c_int = 200;
const INVALID_HANDLE: c_int = 400;
const SPIRV: c_int = 103;

type Create = unsafe extern "C" fn(u32, *const u32, *const *mut c_void, *mut *mut c_void) -> c_int;
type AddData = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    *const c_void,
    usize,
    *const c_char,
    u32,
    *const u32,
    *const *mut c_void,
) -> c_int;
type AddFile =
    unsafe extern "C" fn(*mut c_void, c_int, *const c_char, u32, *const u32, *const *mut c_void) -> c_int;
type Complete = unsafe extern "C" fn(*mut c_void, *mut *mut c_void, *mut usize) -> c_int;
type Destroy = unsafe extern "C" fn(*mut c_void) -> c_int;

fn library() -> Library {
    // SAFETY: the library is the one of this package.
    unsafe { Library::new(common::library()) }.unwrap()
}

fn symbol<'a, T>(library: &'a Library, name: &str) -> Symbol<'a, T> {
    // SAFETY: the callers give the symbols' own types.
    unsafe { library.get(name.as_bytes()) }.unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn hips_linker_checks_as_amds() {
    let library = library();
    let create: Symbol<'_, Create> = symbol(&library, "hipLinkCreate");
    let add_data: Symbol<'_, AddData> = symbol(&library, "hipLinkAddData");
    let add_file: Symbol<'_, AddFile> = symbol(&library, "hipLinkAddFile");
    let complete: Symbol<'_, Complete> = symbol(&library, "hipLinkComplete");
    let destroy: Symbol<'_, Destroy> = symbol(&library, "hipLinkDestroy");
    let (mut linker, mut code, mut size) = (null_mut(), null_mut(), 77);
    let values = [null_mut::<c_void>()];
    // SAFETY: the pointers are null or to locals, and wrong handles are refused.
    unsafe {
        assert_eq!(create(0, null(), null(), null_mut()), INVALID_VALUE);
        assert_eq!(create(1, null(), values.as_ptr(), &mut linker), INVALID_VALUE);
        assert_eq!(create(1, [7].as_ptr(), values.as_ptr(), &mut linker), INVALID_VALUE);
        assert_eq!(create(1, [10_001].as_ptr(), values.as_ptr(), &mut linker), INVALID_CONFIGURATION);
        assert_eq!(create(0, null(), null(), &mut linker), 0);

        let add = |linker, kind, bytes: &[u8]| {
            add_data(linker, kind, bytes.as_ptr().cast(), bytes.len(), null(), 0, null(), null())
        };
        assert_eq!(add_data(linker, SPIRV, null(), 4, null(), 0, null(), null()), INVALID_IMAGE);
        assert_eq!(add(linker, SPIRV, b""), INVALID_IMAGE);
        for kind in [0, 1, 2, 3, 4, 5, 100, 101, 102] {
            assert_eq!(add(linker, kind, b"BC\xc0\xde"), INVALID_VALUE, "{kind}");
        }
        assert_eq!(add(linker, 99, b"BC\xc0\xde"), INVALID_CONFIGURATION);
        let file = |linker, path: *const c_char| add_file(linker, SPIRV, path, 0, null(), null());
        assert_eq!(file(null_mut(), c"/nowhere".as_ptr()), INVALID_HANDLE);
        assert_eq!(file(linker, c"/nowhere".as_ptr()), INVALID_CONFIGURATION);
        assert_eq!(file(linker, null()), INVALID_VALUE);
        assert_eq!(
            add(null_mut::<c_void>().wrapping_byte_add(16), SPIRV, b"\x03\x02\x23\x07"),
            INVALID_VALUE
        );

        assert_eq!(complete(linker, null_mut(), &mut size), INVALID_VALUE);
        assert_eq!(complete(linker, &mut code, null_mut()), INVALID_VALUE);
        // No SPIR-V is translated.
        assert_eq!(add(linker, SPIRV, b"\x03\x02\x23\x07"), 0);
        assert_eq!(complete(linker, &mut code, &mut size), INVALID_CONFIGURATION);
        assert_eq!((code, size), (null_mut(), 0));
        assert_eq!(destroy(linker), 0);
        assert_eq!(destroy(linker), INVALID_VALUE);
        assert_eq!(complete(linker, &mut code, &mut size), INVALID_VALUE);
    }
}

/// Programs of HIP 6 and before look for hipRTC here.
#[test]
fn hiprtcs_functions_are_in_the_library() {
    let library = library();
    type CreateProgram = unsafe extern "C" fn(
        *mut *mut c_void,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int;
    type Text = unsafe extern "C" fn(c_int) -> *const c_char;
    let create: Symbol<'_, CreateProgram> = symbol(&library, "hiprtcCreateProgram");
    let size_of: Symbol<'_, unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int> =
        symbol(&library, "hiprtcGetProgramLogSize");
    let destroy: Symbol<'_, unsafe extern "C" fn(*mut *mut c_void) -> c_int> =
        symbol(&library, "hiprtcDestroyProgram");
    let text: Symbol<'_, Text> = symbol(&library, "hiprtcGetErrorString");
    let (mut program, mut size) = (null_mut(), 77);
    // SAFETY: the pointers are null or to locals, and wrong handles are refused.
    unsafe {
        assert_eq!(create(&mut program, c"int x;".as_ptr(), null(), 0, null(), null()), 0);
        assert_eq!((size_of(program, &mut size), size), (0, 0));
        assert_eq!(destroy(&mut program), 0);
        size = 77;
        assert_eq!((size_of(program, &mut size), size), (4, 0), "HIPRTC_ERROR_INVALID_PROGRAM");
        assert_eq!(std::ffi::CStr::from_ptr(text(4)), c"HIPRTC_ERROR_INVALID_PROGRAM");
    }
}
