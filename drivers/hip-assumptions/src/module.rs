// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code objects.

use std::ptr;

use windlass_hip_sys::bindings::*;

use crate::gpu::{Add, GLOBALS, Gpu, VECTOR_ADD, address, block};
use crate::hips::{Handle, OK};

pub(crate) fn functions_and_variables_are_found_by_name(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let module = gpu.load(GLOBALS);
    let (mut function, mut variable, mut size) = (ptr::null_mut(), ptr::null_mut(), 0);
    let none = hipError_t::hipErrorNotFound;
    assert_eq!(call!(gpu.hipModuleGetFunction(&mut function, module, c"nothing".as_ptr())), none);
    assert_eq!(call!(gpu.hipModuleGetGlobal(&mut variable, &mut size, module, c"nothing".as_ptr())), none);
    call!(gpu.hipGetLastError());
    ok!(gpu.hipModuleGetGlobal(&mut variable, &mut size, module, c"counter".as_ptr()));
    assert_eq!((size, gpu.read_words(stream, variable, 1)), (4, vec![7]));
    ok!(gpu.hipModuleGetGlobal(&mut variable, &mut size, module, c"table".as_ptr()));
    assert_eq!(size, 64);
    let table: Vec<u32> = (0..16).map(|exponent| (1_u32 << exponent) as f32).map(f32::to_bits).collect();
    assert_eq!(gpu.read_words(stream, variable, 16), table);
    ok!(gpu.hipModuleUnload(module));
    ok!(gpu.hipStreamDestroy(stream));
}

pub(crate) fn variables_keep_their_values_and_belong_to_their_module(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let [one, other] = [(); 2].map(|()| gpu.load(GLOBALS));
    let out = gpu.device_memory(4 * 64);
    let count = |module| {
        let (mut variable, mut size) = (ptr::null_mut(), 0);
        ok!(gpu.hipModuleGetGlobal(&mut variable, &mut size, module, c"counter".as_ptr()));
        gpu.read_words(stream, variable, 1)[0]
    };
    let arguments = block(&[&address(out), &64_i32.to_le_bytes()]);
    for _ in 0..2 {
        let function = gpu.function(one, c"use_globals");
        assert_eq!(gpu.launch(function, [1; 3], [64, 1, 1], 0, stream, &arguments), OK);
    }
    assert_eq!((count(one), count(other)), (7 + 128, 7));
    ok!(gpu.hipModuleUnload(one));
    ok!(gpu.hipModuleUnload(other));
    ok!(gpu.hipFree(out));
    ok!(gpu.hipStreamDestroy(stream));
}

pub(crate) fn code_for_another_gpu_is_refused(gpu: &Gpu<'_>) {
    let mut image = gpu.image(VECTOR_ADD);
    // The low byte of the ELF header's flags names the processor; 0x2a is gfx802.
    image[48] = 0x2a;
    let mut module = ptr::null_mut();
    assert_ne!(call!(gpu.hipModuleLoadData(&mut module, image.as_ptr().cast())), OK);
    call!(gpu.hipGetLastError());
}

/// The last submission of an executable may briefly outlive its handle.
pub(crate) fn code_that_is_unloaded_while_it_is_in_flight_still_runs(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let mut add = Add::new(gpu);
    let module = gpu.load(VECTOR_ADD);
    add.function = gpu.function(module, c"vector_add");
    let gate = gpu.hold(stream);
    assert_eq!(add.launch(gpu, stream), OK);
    let module = Handle::new(module);
    std::thread::scope(|scope| {
        // It may wait, or keep the code.
        scope.spawn(move || ok!(gpu.hipModuleUnload(module.get())));
        for _ in 0..1000 {
            std::thread::yield_now();
        }
        gate.open();
    });
    add.check(gpu, stream);
    ok!(gpu.hipStreamDestroy(stream));
}
