// SPDX-License-Identifier: MIT OR Apache-2.0
//! Libraries of kernels, and fat binaries as modules.

use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use crate::common::{Block, Machine};
use windlass_hip_sys::bindings::*;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels").join(name)
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

fn c_path(name: &str) -> CString {
    CString::new(path(name).into_os_string().into_encoded_bytes()).unwrap()
}

/// Runs `vector_add` over 100 elements.
fn check_vector_add(machine: &Machine, kernel: hipFunction_t) {
    let ones = machine.upload(&[1_f32; 100]);
    let out = machine.upload(&[0_f32; 100]);
    let arguments = Block::default().pointer(ones).pointer(ones).pointer(out).u32(100).done();
    let stream = machine.stream();
    assert_eq!(machine.launch(kernel, 1, 128, stream, &arguments), hipError_t::hipSuccess);
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<f32>(out, 100), [2.0; 100]);
}

#[test]
fn libraries_give_kernels_of_data_and_of_files() {
    let machine = Machine::new("?hip=7.2");
    let image = file("bundles/vector_add.ccob");
    let name = c_path("bundles/vector_add.ccob");
    for from_file in [false, true] {
        let mut library = null_mut();
        let (no, nothing) = (null_mut(), null_mut());
        if from_file {
            ok!(
                machine,
                hipLibraryLoadFromFile(&mut library, name.as_ptr(), no, nothing, 0, null_mut(), nothing, 0)
            );
        } else {
            let image = image.as_ptr().cast();
            ok!(machine, hipLibraryLoadData(&mut library, image, no, nothing, 0, null_mut(), nothing, 0));
        }
        let (mut count, mut kernel, mut again) = (0, null_mut(), null_mut());
        ok!(machine, hipLibraryGetKernelCount(&mut count, library));
        assert_eq!(count, 1);
        ok!(machine, hipLibraryGetKernel(&mut kernel, library, c"vector_add".as_ptr()));
        ok!(machine, hipLibraryGetKernel(&mut again, library, c"vector_add".as_ptr()));
        assert_eq!(kernel, again);
        check_vector_add(&machine, kernel.cast());
        fails!(hipErrorNotFound, machine, hipLibraryGetKernel(&mut again, library, c"none".as_ptr()));
        fails!(
            hipErrorInvalidValue,
            machine,
            hipLibraryGetKernel(null_mut(), library, c"vector_add".as_ptr())
        );
        fails!(hipErrorInvalidValue, machine, hipLibraryGetKernel(&mut again, library, null()));
        fails!(
            hipErrorInvalidValue,
            machine,
            hipLibraryGetKernel(&mut again, null_mut(), c"vector_add".as_ptr())
        );
        fails!(hipErrorInvalidValue, machine, hipLibraryGetKernelCount(null_mut(), library));
        fails!(hipErrorInvalidValue, machine, hipLibraryGetKernelCount(&mut count, null_mut()));

        ok!(machine, hipLibraryUnload(library));
        fails!(hipErrorInvalidHandle, machine, hipLibraryUnload(library));
        fails!(hipErrorInvalidValue, machine, hipLibraryGetKernelCount(&mut count, library));
        let mut value = 0;
        let most = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        fails!(hipErrorInvalidHandle, machine, hipFuncGetAttribute(&mut value, most, kernel.cast()));
    }
    fails!(hipErrorInvalidHandle, machine, hipLibraryUnload(null_mut()));
}

#[test]
fn libraries_are_loaded_for_each_device_that_asks() {
    let machine = Machine::new("gfx942?devices=2&hip=7.2");
    let image = file("bundles/vector_add.ccob");
    let (mut library, mut kernels) = (null_mut(), [null_mut(); 2]);
    let nothing = null_mut();
    let data = image.as_ptr().cast();
    ok!(machine, hipLibraryLoadData(&mut library, data, null_mut(), nothing, 0, null_mut(), nothing, 0));
    for (device, kernel) in kernels.iter_mut().enumerate() {
        ok!(machine, hipSetDevice(device as i32));
        ok!(machine, hipLibraryGetKernel(kernel, library, c"vector_add".as_ptr()));
        check_vector_add(&machine, kernel.cast());
    }
    assert_ne!(kernels[0], kernels[1]);
    ok!(machine, hipDeviceReset());
    ok!(machine, hipLibraryGetKernel(&mut kernels[1], library, c"vector_add".as_ptr()));
    check_vector_add(&machine, kernels[1].cast());
    ok!(machine, hipLibraryUnload(library));
}

#[test]
fn wrong_libraries_are_refused() {
    let machine = Machine::new("?hip=7.2");
    let image = file("bundles/vector_add.ccob");
    let (mut library, no, nothing) = (null_mut(), null_mut(), null_mut());
    let load = |library: *mut hipLibrary_t, image: *const c_void, options: u32| {
        hip!(machine, hipLibraryLoadData(library, image, no, nothing, options, null_mut(), nothing, 0))
    };
    assert_eq!(load(null_mut(), image.as_ptr().cast(), 0), hipError_t::hipErrorInvalidValue);
    assert_eq!(load(&mut library, null(), 0), hipError_t::hipErrorInvalidValue);
    assert_eq!(load(&mut library, image.as_ptr().cast(), 1), hipError_t::hipErrorInvalidValue);
    assert_eq!(load(&mut library, [0_u8; 64].as_ptr().cast(), 0), hipError_t::hipErrorInvalidImage);
    let from_file = |library: *mut hipLibrary_t, name: &CString, options: u32| {
        let name = name.as_ptr();
        hip!(machine, hipLibraryLoadFromFile(library, name, no, nothing, options, null_mut(), nothing, 0))
    };
    let name = c_path("bundles/vector_add.ccob");
    assert_eq!(from_file(null_mut(), &name, 0), hipError_t::hipErrorInvalidValue);
    assert_eq!(from_file(&mut library, &name, 1), hipError_t::hipErrorInvalidValue);
    assert_eq!(from_file(&mut library, &c_path("nowhere"), 0), hipError_t::hipErrorInvalidValue);
    // Bytes that are no code are found when a kernel is asked for, since AMD's HIP reads the file then.
    assert_eq!(from_file(&mut library, &c_path("build.sh"), 0), hipError_t::hipSuccess);
    let mut count = 0;
    assert_ne!(hip!(machine, hipLibraryGetKernelCount(&mut count, library)), hipError_t::hipSuccess);
    ok!(machine, hipLibraryUnload(library));
}

#[test]
fn a_fat_binary_is_a_module() {
    let machine = Machine::new("?hip=7.1");
    let image = file("bundles/vector_add.ccob");
    let mut module = null_mut();
    ok!(machine, hipModuleLoadFatBinary(&mut module, image.as_ptr().cast()));
    check_vector_add(&machine, machine.function(module, c"vector_add"));
    ok!(machine, hipModuleUnload(module));
    fails!(hipErrorInvalidValue, machine, hipModuleLoadFatBinary(&mut module, null()));
    fails!(hipErrorInvalidValue, machine, hipModuleLoadFatBinary(null_mut(), image.as_ptr().cast()));
}
