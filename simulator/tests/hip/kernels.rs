// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules and kernels, from file to result, with the project's own code objects.

use std::ffi::{CStr, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

use crate::common::{Block, Machine};
use windlass_hip_sys::bindings::*;

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels")
}

/// The bytes of a file of the project's kernels.
pub(super) fn file(name: &str) -> Vec<u8> {
    let path = kernels().join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A kernel of one of the project's modules for gfx942.
fn kernel(machine: &Machine, module: &str, name: &CStr) -> hipFunction_t {
    let module = machine.load(&file(&format!("bundles/{module}.ccob")));
    machine.function(module, name)
}

fn path(name: &str) -> std::ffi::CString {
    std::ffi::CString::new(kernels().join(name).into_os_string().into_encoded_bytes()).unwrap()
}

/// Runs `vector_add` of a module over 1000 elements.
pub(super) fn check_vector_add(machine: &Machine, module: hipModule_t, container: &str) {
    let function = machine.function(module, c"vector_add");
    let a: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..1000).map(|i| 0.5 * i as f32).collect();
    let (left, right, out) = (machine.upload(&a), machine.upload(&b), machine.upload(&vec![-1_f32; 1001]));
    let arguments = Block::default().pointer(left).pointer(right).pointer(out).u32(1000).done();
    let stream = machine.stream();
    assert_eq!(machine.launch(function, 8, 128, stream, &arguments), hipError_t::hipSuccess, "{container}");
    ok!(machine, hipStreamSynchronize(stream));
    let mut expected: Vec<f32> = (0..1000).map(|i| 1.5 * i as f32).collect();
    expected.push(-1.0);
    assert_eq!(machine.download::<f32>(out, 1001), expected, "{container}");
}

#[test]
fn a_kernel_runs_from_every_container() {
    let machine = Machine::new("");
    for container in [
        "vector_add.gfx942.co",
        "vector_add.hipfb",
        "vector_add.ccob",
        "vector_add.v2-zlib.ccob",
        "vector_add.v3-zstd.ccob",
        "vector_add.features.ccob",
    ] {
        // At an odd address, as in a flatbuffer.
        let mut image = vec![0; 4];
        image.extend(file(&format!("bundles/{container}")));
        let mut module = null_mut();
        ok!(machine, hipModuleLoadData(&mut module, image[4..].as_ptr().cast()));
        drop(image);
        check_vector_add(&machine, module, container);
        ok!(machine, hipModuleUnload(module));
    }
    // Version 1 does not contain its length, so it can be loaded only from a file.
    let mut module = null_mut();
    ok!(machine, hipModuleLoad(&mut module, path("bundles/vector_add.v1-zstd.ccob").as_ptr()));
    check_vector_add(&machine, module, "a file");
}

#[test]
fn code_for_other_gpus_is_refused() {
    let machine = Machine::new("");
    let mut module = null_mut();
    let generic = file("bundles/vector_add.generic.ccob");
    fails!(hipErrorNoBinaryForGpu, machine, hipModuleLoadData(&mut module, generic.as_ptr().cast()));
    machine.explains(&["gfx942", "gfx11-generic"]);
    let noise = [0x55_u8; 64];
    fails!(hipErrorInvalidImage, machine, hipModuleLoadData(&mut module, noise.as_ptr().cast()));
    fails!(hipErrorFileNotFound, machine, hipModuleLoad(&mut module, path("bundles/nothing.co").as_ptr()));
    for no_file in [c"/", c"/dev/null"] {
        fails!(hipErrorInvalidValue, machine, hipModuleLoad(&mut module, no_file.as_ptr()));
    }
    assert!(module.is_null());
}

#[test]
fn arguments_come_by_pointers_or_as_a_block() {
    let machine = Machine::new("");
    let function = kernel(&machine, "arguments", c"apply_scale");
    let values: Vec<i64> = (-50..50).collect();
    let input = machine.upload(&values);
    let expected: Vec<i64> = values.iter().map(|value| (*value as f32 * 2.5) as i64 + 1000).collect();
    #[repr(C)]
    struct Scale {
        factor: f32,
        offset: i64,
    }
    let mut scale = Scale { factor: 2.5, offset: 1000 };
    let (mut from, mut count) = (input, 100_i32);

    let mut by_pointers = machine.upload(&[0_i64; 100]);
    let mut each: [*mut c_void; 4] = [
        (&raw mut from).cast(),
        (&raw mut count).cast(),
        (&raw mut scale).cast(),
        (&raw mut by_pointers).cast(),
    ];
    let null = null_mut();
    ok!(machine, hipModuleLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, null_mut(), each.as_mut_ptr(), null));
    assert_eq!(machine.download::<i64>(by_pointers, 100), expected);

    let as_block = machine.upload(&[0_i64; 100]);
    let mut bytes = [0_u8; 16];
    bytes[..4].copy_from_slice(&2.5_f32.to_le_bytes());
    bytes[8..].copy_from_slice(&1000_i64.to_le_bytes());
    let block = Block::default().pointer(input).u32(100).bytes(&bytes).pointer(as_block).done();
    assert_eq!(machine.launch(function, 2, 64, null_mut(), &block), hipError_t::hipSuccess);
    assert_eq!(machine.download::<i64>(as_block, 100), expected);
}

#[test]
fn arguments_are_taken_when_the_launch_is_made() {
    let machine = Machine::new("");
    let function = kernel(&machine, "order", c"multiply_add");
    let values = machine.upload(&[1_u32; 64]);
    let stream = machine.stream();
    let gate = machine.gate(stream);
    let (mut pointer, mut count, mut factor, mut addend) = (values, 64_i32, 3_u32, 4_u32);
    let mut each: [*mut c_void; 4] = [
        (&raw mut pointer).cast(),
        (&raw mut count).cast(),
        (&raw mut factor).cast(),
        (&raw mut addend).cast(),
    ];
    let null = null_mut();
    ok!(machine, hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, each.as_mut_ptr(), null));
    (pointer, count, factor, addend) = (null_mut(), 0, 0, 0);
    std::hint::black_box((pointer, count, factor, addend));
    drop(gate);
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u32>(values, 64), [7; 64]);
}

#[test]
fn kernels_copies_and_fills_of_a_stream_keep_their_order() {
    let machine = Machine::new("");
    let function = kernel(&machine, "order", c"multiply_add");
    let values = machine.malloc(4 * 1000);
    let stream = machine.stream();
    ok!(machine, hipMemsetD32Async(values, 1, 1000, stream));
    let mut expected = 1_u32;
    for round in 0..20 {
        let arguments = Block::default().pointer(values).u32(1000).u32(3).u32(round).done();
        assert_eq!(machine.launch(function, 4, 256, stream, &arguments), hipError_t::hipSuccess);
        expected = expected.wrapping_mul(3).wrapping_add(round);
    }
    let mut back = vec![0_u32; 1000];
    ok!(machine, hipMemcpyDtoHAsync(back.as_mut_ptr().cast(), values, 4000, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(back, [expected; 1000]);
}

#[test]
fn a_copy_reaches_a_kernel_that_runs() {
    let machine = Machine::new("");
    let function = kernel(&machine, "spin", c"spin_until");
    let (flag, out) = (machine.upload(&[0_u32]), machine.upload(&[0_u32]));
    let (spinning, copying) = (machine.stream(), machine.stream());
    let arguments = Block::default().pointer(flag).u32(5).pointer(out).done();
    assert_eq!(machine.launch(function, 1, 64, spinning, &arguments), hipError_t::hipSuccess);
    let word = 5_u32;
    ok!(machine, hipMemcpyHtoDAsync(flag, (&raw const word).cast(), 4, copying));
    ok!(machine, hipStreamSynchronize(spinning));
    assert_eq!(machine.download::<u32>(out, 1), [5]);
}

#[test]
fn the_host_releases_a_kernel_through_pinned_memory() {
    let machine = Machine::new("");
    let function = kernel(&machine, "spin", c"spin_until_host");
    let mut flag: *mut c_void = null_mut();
    ok!(machine, hipHostMalloc(&mut flag, 4, 0));
    let out = machine.upload(&[0_u32]);
    let stream = machine.stream();
    let arguments = Block::default().pointer(flag).u32(9).pointer(out).done();
    assert_eq!(machine.launch(function, 1, 64, stream, &arguments), hipError_t::hipSuccess);
    fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
    // SAFETY: the word is aligned, and only atomics touch it while the kernel runs.
    let word = unsafe { std::sync::atomic::AtomicU32::from_ptr(flag.cast()) };
    word.store(9, std::sync::atomic::Ordering::Release);
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u32>(out, 1), [9]);
}

#[test]
fn kernels_of_two_streams_run_at_the_same_time() {
    let machine = Machine::new("");
    let module = machine.load(&file("bundles/spin.ccob"));
    let (spin, set) = (machine.function(module, c"spin_until"), machine.function(module, c"set_flag"));
    let (flag, out) = (machine.upload(&[0_u32]), machine.upload(&[0_u32]));
    let (first, second) = (machine.stream(), machine.stream());
    let arguments = Block::default().pointer(flag).u32(1).pointer(out).done();
    assert_eq!(machine.launch(spin, 1, 64, first, &arguments), hipError_t::hipSuccess);
    let arguments = Block::default().pointer(flag).u32(1).done();
    assert_eq!(machine.launch(set, 1, 1, second, &arguments), hipError_t::hipSuccess);
    ok!(machine, hipStreamSynchronize(first));
    assert_eq!(machine.download::<u32>(out, 1), [1]);
}

#[test]
fn a_bad_store_fails_the_device_and_names_its_lane() {
    let machine = Machine::new("?faults=sticky");
    let function = kernel(&machine, "faults", c"write_one_lane_at");
    let values = machine.upload(&[0_u32; 256]);
    let stream = machine.stream();
    // Work-item 77 writes word 300 of 256.
    let arguments = Block::default().pointer(values).u32(256).u32(77).bytes(&300_i64.to_le_bytes()).done();
    let gate = machine.gate(stream);
    assert_eq!(machine.launch(function, 2, 128, stream, &arguments), hipError_t::hipSuccess);
    // The work behind it on the stream does not run.
    let log = crate::common::Log::default();
    machine.log_on(stream, &log, "behind");
    drop(gate);
    fails!(hipErrorIllegalAddress, machine, hipStreamSynchronize(stream));
    assert!(log.words().is_empty());
    let report = machine.simulator.last_fault().unwrap();
    assert!(report.contains("write_one_lane_at") && report.contains("lane 13"), "{report}");
    assert!(report.contains("1024-byte allocation"), "{report}");
    assert_eq!(machine.api.diagnose().as_deref(), Some(&*report));

    fails!(hipErrorIllegalAddress, machine, hipStreamQuery(stream));
    assert_eq!(machine.launch(function, 1, 1, stream, &arguments), hipError_t::hipErrorIllegalAddress);
    let mut memory = null_mut();
    fails!(hipErrorIllegalAddress, machine, hipMalloc(&mut memory, 64));
    ok!(machine, hipDeviceReset());
    fails!(hipErrorInvalidHandle, machine, hipFuncGetAttribute(&mut 0, hipFunction_attribute(0), function));
    let module = machine.load(&file("bundles/vector_add.ccob"));
    check_vector_add(&machine, module, "after a reset");
}

#[test]
fn a_trap_is_a_launch_failure() {
    let machine = Machine::new("");
    let function = kernel(&machine, "faults", c"trap_if");
    let out = machine.upload(&[0_u32]);
    let arguments = |condition| Block::default().pointer(out).u32(condition).done();
    assert_eq!(machine.launch(function, 1, 1, null_mut(), &arguments(0)), hipError_t::hipSuccess);
    assert_eq!(machine.download::<u32>(out, 1), [1]);
    assert_eq!(machine.launch(function, 1, 1, null_mut(), &arguments(1)), hipError_t::hipSuccess);
    fails!(hipErrorLaunchFailure, machine, hipDeviceSynchronize());
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let machine = Machine::new("");
    let function = kernel(&machine, "vector_add", c"vector_add");
    let null = null_mut();
    let mut each = [null_mut::<c_void>(); 4];
    let mut launch = |grid: [u32; 3], block: [u32; 3], lds| {
        let ([x, y, z], [bx, by, bz]) = (grid, block);
        let each = each.as_mut_ptr();
        hip!(machine, hipModuleLaunchKernel(function, x, y, z, bx, by, bz, lds, null_mut(), each, null))
    };
    assert_eq!(launch([0, 1, 1], [64, 1, 1], 0), hipError_t::hipErrorInvalidValue);
    assert_eq!(launch([1, 1, 1], [64, 0, 1], 0), hipError_t::hipErrorInvalidValue);
    assert_eq!(launch([1, 1, 1], [1025, 1, 1], 0), hipError_t::hipErrorInvalidValue);
    assert_eq!(launch([1, 1, 1], [64, 64, 64], 0), hipError_t::hipErrorInvalidValue);
    assert_eq!(launch([u32::MAX, 1, 1], [64, 1, 1], 0), hipError_t::hipErrorInvalidValue);
    assert_eq!(launch([1, u32::MAX, 1], [1, 1, 1], 0), hipError_t::hipErrorInvalidValue);
    assert_eq!(launch([1, 1, 1], [64, 1, 1], 65537), hipError_t::hipErrorInvalidValue);
    machine.explains(&["vector_add", "65537"]);
    // No arguments at all, and both forms at once.
    fails!(
        hipErrorInvalidValue,
        machine,
        hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut())
    );
    let mut end = [std::ptr::without_provenance_mut(3)];
    let (both, each) = (end.as_mut_ptr(), each.as_mut_ptr());
    fails!(
        hipErrorInvalidValue,
        machine,
        hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), each, both)
    );
    ok!(machine, hipDeviceSynchronize());
}

#[test]
fn launches_without_their_arguments_are_refused() {
    let machine = Machine::new("");
    let function = kernel(&machine, "vector_add", c"vector_add");
    let mut each = [null_mut::<c_void>(); 64];
    let each = each.as_mut_ptr();
    for (arguments, extra) in [(each, null_mut()), (null_mut(), each)] {
        fails!(
            hipErrorInvalidValue,
            machine,
            hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, null_mut(), arguments, extra)
        );
    }
    ok!(machine, hipDeviceSynchronize());
}

/// Hardware accepts them: see the engine's own tests.
#[test]
fn workgroups_that_a_kernel_was_not_compiled_for_are_refused() {
    let machine = Machine::new("");
    let null = null_mut();
    let mut each = [null_mut::<c_void>(); 4];
    let mut launch = |function, [x, y, z]: [u32; 3]| {
        let each = each.as_mut_ptr();
        hip!(machine, hipModuleLaunchKernel(function, 1, 1, 1, x, y, z, 0, null_mut(), each, null))
    };
    let saxpy = kernel(&machine, "saxpy", c"saxpy");
    assert_eq!(launch(saxpy, [257, 1, 1]), hipError_t::hipErrorLaunchFailure);
    machine.explains(&["saxpy", "smaller workgroups"]);
}

#[test]
fn another_workgroup_size_than_the_kernel_s_is_refused() {
    let machine = Machine::new("");
    let fixed = kernel(&machine, "fixed_block", c"fixed_block");
    let arguments = Block::default().pointer(null_mut()).pointer(null_mut()).u32(0).done();
    assert_eq!(machine.launch(fixed, 1, 128, null_mut(), &arguments), hipError_t::hipErrorInvalidValue);
    machine.explains(&["fixed_block", "another workgroup size"]);
}

#[test]
fn names_are_looked_up_and_handles_end_with_their_module() {
    let machine = Machine::new("");
    let module = machine.load(&file("bundles/spin.ccob"));
    let mut function = null_mut();
    for none in [c"spin", c"spin_until_host.kd"] {
        fails!(hipErrorNotFound, machine, hipModuleGetFunction(&mut function, module, none.as_ptr()));
    }
    fails!(hipErrorInvalidValue, machine, hipModuleGetFunction(&mut function, module, c"".as_ptr()));
    let found = machine.function(module, c"set_flag");
    assert_eq!(found, machine.function(module, c"set_flag"));
    let mut threads = 0;
    let most = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
    ok!(machine, hipFuncGetAttribute(&mut threads, most, found));
    assert_eq!(threads, 1024);
    let mut count = 0;
    ok!(machine, hipModuleGetFunctionCount(&mut count, module));
    assert_eq!(count, 4);
    ok!(machine, hipModuleUnload(module));
    fails!(hipErrorNotFound, machine, hipModuleUnload(module));
    fails!(hipErrorInvalidHandle, machine, hipFuncGetAttribute(&mut threads, most, found));
}

#[test]
fn variables_are_read_and_written_by_name() {
    let machine = Machine::new("");
    let module = machine.load(&file("bundles/globals.ccob"));
    let variable = |name: &CStr| {
        let (mut address, mut size) = (null_mut(), 0);
        ok!(machine, hipModuleGetGlobal(&mut address, &mut size, module, name.as_ptr()));
        (address, size)
    };
    let ((counter, 4), (biases, 256)) = (variable(c"counter"), variable(c"biases")) else {
        panic!("{:?}, {:?}", variable(c"counter"), variable(c"biases"));
    };
    assert_eq!(machine.download::<i32>(counter, 1), [7]);
    ok!(machine, hipMemsetD32(biases, 1.0_f32.to_bits() as i32, 64));
    let function = machine.function(module, c"use_globals");
    let out = machine.malloc(400);
    let arguments = Block::default().pointer(out).u32(100).done();
    assert_eq!(machine.launch(function, 1, 128, null_mut(), &arguments), hipError_t::hipSuccess);
    let expected: Vec<f32> = (0..100).map(|i| (1 << (i % 16)) as f32 + 1.0).collect();
    assert_eq!(machine.download::<f32>(out, 100), expected);
    assert_eq!(machine.download::<i32>(counter, 1), [107]);
    let (mut address, mut size) = (null_mut(), 0);
    fails!(hipErrorNotFound, machine, hipModuleGetGlobal(&mut address, &mut size, module, c"none".as_ptr()));
    let counter = c"counter".as_ptr();
    ok!(machine, hipModuleGetGlobal(&mut address, null_mut(), module, counter));
    fails!(hipErrorInvalidValue, machine, hipModuleGetGlobal(null_mut(), null_mut(), module, counter));
}

#[test]
fn a_module_may_be_unloaded_behind_its_launch() {
    let machine = Machine::new("");
    let module = machine.load(&file("bundles/order.ccob"));
    let function = machine.function(module, c"multiply_add");
    let values = machine.upload(&[2_u32; 64]);
    let stream = machine.stream();
    let arguments = Block::default().pointer(values).u32(64).u32(5).u32(1).done();
    assert_eq!(machine.launch(function, 1, 64, stream, &arguments), hipError_t::hipSuccess);
    ok!(machine, hipModuleUnload(module));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u32>(values, 64), [11; 64]);
}

#[test]
fn machines_and_threads_launch_at_once() {
    std::thread::scope(|scope| {
        for machine in 0..3_u32 {
            scope.spawn(move || {
                let machine_number = machine;
                let machine = Machine::new("gfx942?threads=2");
                let module = machine.load(&file("bundles/order.ccob"));
                let function = machine.function(module, c"multiply_add") as usize;
                std::thread::scope(|scope| {
                    for thread in 0..4_u32 {
                        let machine = &machine;
                        scope.spawn(move || {
                            let start = machine_number * 100 + thread;
                            let stream = machine.stream();
                            let values = machine.upload(&[start; 500]);
                            for round in 0..10 {
                                let arguments =
                                    Block::default().pointer(values).u32(500).u32(7).u32(round).done();
                                let function = function as hipFunction_t;
                                let status = machine.launch(function, 2, 256, stream, &arguments);
                                assert_eq!(status, hipError_t::hipSuccess);
                            }
                            ok!(machine, hipStreamSynchronize(stream));
                            let expected =
                                (0..10).fold(start, |value, round| value.wrapping_mul(7).wrapping_add(round));
                            assert_eq!(machine.download::<u32>(values, 500), [expected; 500]);
                        });
                    }
                });
            });
        }
    });
}

/// `__hipFatBinary`, as clang emits it.
#[repr(C)]
struct FatBinary {
    magic: u32,
    version: u32,
    image: *const u8,
    unused: *const u8,
}

/// A symbol refers to a kernel on each device. The stream decides, not the current device.
#[test]
fn kernels_of_compiled_programs_run_on_the_device_of_the_stream() {
    let bundle = file("bundles/vector_add.hipfb");
    let fat = FatBinary { magic: 0x4849_5046, version: 1, image: bundle.as_ptr(), unused: std::ptr::null() };
    let symbol = 0_u64;
    let machine = Machine::new("gfx942?devices=2");
    let name = c"vector_add".as_ptr().cast_mut();
    // SAFETY: the registered objects live as long as the machine.
    unsafe {
        let binary = machine.api.__hipRegisterFatBinary((&raw const fat).cast());
        let (symbol, none) = ((&raw const symbol).cast(), null_mut());
        machine.api.__hipRegisterFunction(
            binary,
            symbol,
            name,
            name,
            u32::MAX,
            none,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut(),
        );
    }
    ok!(machine, hipSetDevice(1));
    let stream = machine.stream();
    let (a, b, sum) =
        (machine.upload(&[1.5_f32; 64]), machine.upload(&[2_f32; 64]), machine.upload(&[0_f32; 64]));
    ok!(machine, hipSetDevice(0));
    let count = 64_u32;
    let mut arguments: [*mut c_void; 4] = [
        (&raw const a).cast_mut().cast(),
        (&raw const b).cast_mut().cast(),
        (&raw const sum).cast_mut().cast(),
        (&raw const count).cast_mut().cast(),
    ];
    let (grid, block) = (dim3 { x: 1, y: 1, z: 1 }, dim3 { x: 64, y: 1, z: 1 });
    let symbol = (&raw const symbol).cast();
    ok!(machine, hipLaunchKernel(symbol, grid, block, arguments.as_mut_ptr(), 0, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<f32>(sum, 64), [3.5; 64]);
}

/// As a library of a distribution that was built for other GPUs.
#[test]
fn a_program_without_code_for_the_gpu_is_told_once_what_to_do() {
    let bundle = file("bundles/vector_add.generic.ccob");
    let fat = FatBinary { magic: 0x4849_5046, version: 1, image: bundle.as_ptr(), unused: std::ptr::null() };
    let (first, second) = (0_u64, 0_u64);
    let machine = Machine::new("gfx942?hip=7.1");
    let symbols = [&raw const first, &raw const second].map(|symbol| symbol.cast::<c_void>());
    // SAFETY: the registered objects live as long as the machine.
    unsafe {
        let binary = machine.api.__hipRegisterFatBinary((&raw const fat).cast());
        for (symbol, name) in symbols.into_iter().zip([c"vector_add", c"other"]) {
            let (name, none) = (name.as_ptr().cast_mut(), null_mut());
            let null = null_mut();
            machine.api.__hipRegisterFunction(
                binary,
                symbol,
                name,
                name,
                u32::MAX,
                none,
                null,
                null_mut(),
                null_mut(),
                null_mut(),
            );
        }
    }
    let logged = Logged::default();
    let one = dim3 { x: 1, y: 1, z: 1 };
    tracing::subscriber::with_default(logged.clone(), || {
        for symbol in symbols.into_iter().chain(symbols) {
            fails!(
                hipErrorNoBinaryForGpu,
                machine,
                hipLaunchKernel(symbol, one, one, null_mut(), 0, null_mut())
            );
            let reason = machine.api.diagnose().unwrap();
            for part in ["vector_add", "gfx942", "gfx11-generic", "--offload-arch=gfx942", "windlass audit"] {
                assert!(reason.contains(part), "{part}: {reason}");
            }
        }
    });
    let logged = logged.0.lock().unwrap().clone();
    assert_eq!(logged.matches("runs on the simulated gfx942").count(), 1, "{logged}");
}

/// Another GPU that the simulator knows would do.
#[test]
fn code_for_another_simulated_gpu_names_it() {
    let machine = Machine::new("gfx90a");
    let mut module = null_mut();
    let code = file("bundles/vector_add.gfx942.co");
    fails!(hipErrorNoBinaryForGpu, machine, hipModuleLoadData(&mut module, code.as_ptr().cast()));
    let reason = machine.api.diagnose().unwrap();
    assert!(reason.contains("windlass exec --device hip-sim://gfx942"), "{reason}");
}

/// Collects the errors of a log.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<String>>);

impl tracing::field::Visit for Logged {
    fn record_debug(&mut self, _: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{value:?}\n"));
    }
}

impl tracing::Subscriber for Logged {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::ERROR
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// The options are for code that HIP would compile, which none of these is.
#[test]
fn a_module_is_loaded_whatever_the_options_for_compilers_are() {
    let machine = Machine::new("");
    let image = file("bundles/vector_add.ccob");
    let data: *const c_void = image.as_ptr().cast();
    let (mut options, mut values) =
        ([hipJitOption::hipJitOptionOptimizationLevel], [std::ptr::without_provenance_mut::<c_void>(3)]);
    let mut module = null_mut();
    ok!(machine, hipModuleLoadDataEx(&mut module, data, 1, options.as_mut_ptr(), values.as_mut_ptr()));
    check_vector_add(&machine, module, "with an option");
    let (no_options, no_values) = (null_mut(), null_mut());
    ok!(machine, hipModuleLoadDataEx(&mut module, data, 0, no_options, no_values));
    check_vector_add(&machine, module, "without options");
    let (out, nothing) = (&raw mut module, std::ptr::null());
    for (out, data) in [(null_mut(), data), (out, nothing)] {
        fails!(hipErrorInvalidValue, machine, hipModuleLoadDataEx(out, data, 0, no_options, no_values));
    }
    let noise = [0x55_u8; 64];
    let noise: *const c_void = noise.as_ptr().cast();
    fails!(hipErrorInvalidImage, machine, hipModuleLoadDataEx(out, noise, 0, no_options, no_values));
}
