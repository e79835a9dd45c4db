// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mistakes of clients, and separate machines: each gives an error, and no other effect.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

#[test]
fn null_out_parameters_are_refused() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let event = machine.event();
    fails!(hipErrorInvalidValue, machine, hipGetDeviceCount(null_mut()));
    fails!(hipErrorInvalidValue, machine, hipGetDevice(null_mut()));
    fails!(hipErrorInvalidValue, machine, hipDeviceGet(null_mut(), 0));
    fails!(hipErrorInvalidValue, machine, hipDeviceGetName(null_mut(), 64, 0));
    fails!(hipErrorInvalidValue, machine, hipDeviceGetUuid(null_mut(), 0));
    fails!(hipErrorInvalidValue, machine, hipGetDevicePropertiesR0600(null_mut(), 0));
    let warp = hipDeviceAttribute_t::hipDeviceAttributeWarpSize;
    fails!(hipErrorInvalidValue, machine, hipDeviceGetAttribute(null_mut(), warp, 0));
    fails!(hipErrorInvalidValue, machine, hipRuntimeGetVersion(null_mut()));
    fails!(hipErrorInvalidValue, machine, hipMalloc(null_mut(), 64));
    fails!(hipErrorInvalidValue, machine, hipHostMalloc(null_mut(), 64, 0));
    fails!(hipErrorInvalidValue, machine, hipMallocAsync(null_mut(), 64, stream));
    fails!(hipErrorInvalidValue, machine, hipStreamCreateWithFlags(null_mut(), 0));
    fails!(hipErrorInvalidValue, machine, hipEventCreateWithFlags(null_mut(), 0));
    fails!(hipErrorInvalidValue, machine, hipEventElapsedTime(null_mut(), event, event));
    fails!(hipErrorInvalidValue, machine, hipModuleLoadData(null_mut(), null()));
    fails!(hipErrorInvalidValue, machine, hipModuleLoad(null_mut(), null()));
    fails!(hipErrorInvalidValue, machine, hipModuleGetFunction(null_mut(), null_mut(), null()));
    fails!(hipErrorInvalidValue, machine, hipLaunchHostFunc(stream, None, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipHostRegister(null_mut(), 64, 0));
    fails!(hipErrorInvalidValue, machine, hipPointerGetAttributes(null_mut(), null()));
    fails!(hipErrorInvalidValue, machine, hipMemPoolCreate(null_mut(), null()));
    fails!(hipErrorInvalidValue, machine, hipGetProcAddress(null(), null_mut(), 600, 0, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipMemPtrGetInfo(machine.malloc(64), null_mut()));
    let kernel = crate::symbols::kernel(&machine);
    fails!(hipErrorInvalidValue, machine, hipGetFuncBySymbol(null_mut(), kernel));
}

#[test]
fn numbers_that_mean_nothing_are_refused() {
    let machine = Machine::new("");
    let (mut value, mut stream, mut event, mut pointer) = (0, null_mut(), null_mut(), null_mut());
    for device in [-1, 1, i32::MAX, i32::MIN] {
        fails!(hipErrorInvalidDevice, machine, hipSetDevice(device));
        fails!(hipErrorInvalidDevice, machine, hipDeviceGet(&mut value, device));
    }
    let unknown = hipDeviceAttribute_t(123_456);
    fails!(hipErrorInvalidValue, machine, hipDeviceGetAttribute(&mut value, unknown, 0));
    fails!(hipErrorInvalidValue, machine, hipStreamCreateWithFlags(&mut stream, 99));
    fails!(hipErrorInvalidValue, machine, hipEventCreateWithFlags(&mut event, 0x100));
    fails!(hipErrorInvalidValue, machine, hipHostMalloc(&mut pointer, 64, 0x100));
    fails!(hipErrorInvalidValue, machine, hipMallocManaged(&mut pointer, 64, 9));
    fails!(hipErrorInvalidValue, machine, hipInit(1));
    fails!(hipErrorInvalidValue, machine, hipDeviceGetLimit(&mut 0, hipLimit_t(99)));
    assert!(stream.is_null() && event.is_null() && pointer.is_null());
    // A size of zero is valid.
    ok!(machine, hipMalloc(&mut pointer, 0));
    ok!(machine, hipMemcpy(null_mut(), null(), 0, hipMemcpyKind::hipMemcpyHostToDevice));
}

#[test]
fn stale_and_invented_handles_are_refused() {
    let machine = Machine::new("");
    let (stream, event) = (machine.stream(), machine.event());
    ok!(machine, hipStreamDestroy(stream));
    ok!(machine, hipEventDestroy(event));
    // New objects take the slots of the old ones; the old handles must not refer to them.
    let (new_stream, new_event) = (machine.stream(), machine.event());
    assert!(new_stream != stream && new_event != event);
    let local = 0_u64;
    let invented: *mut c_void = (&raw const local).cast_mut().cast();
    for stream in [stream, invented.cast(), new_event.cast()] {
        fails!(hipErrorContextIsDestroyed, machine, hipStreamQuery(stream));
        fails!(hipErrorContextIsDestroyed, machine, hipStreamSynchronize(stream));
        fails!(hipErrorContextIsDestroyed, machine, hipStreamDestroy(stream));
        fails!(hipErrorInvalidHandle, machine, hipStreamWaitEvent(stream, new_event, 0));
        fails!(hipErrorContextIsDestroyed, machine, hipEventRecord(new_event, stream));
        fails!(hipErrorContextIsDestroyed, machine, hipMemsetAsync(invented, 0, 8, stream));
    }
    for event in [event, null_mut(), invented.cast(), new_stream.cast()] {
        fails!(hipErrorInvalidHandle, machine, hipEventQuery(event));
        fails!(hipErrorInvalidHandle, machine, hipEventSynchronize(event));
        fails!(hipErrorInvalidHandle, machine, hipEventRecord(event, new_stream));
        let answer = if event.is_null() {
            hipError_t::hipErrorInvalidHandle
        } else {
            hipError_t::hipErrorContextIsDestroyed
        };
        assert_eq!(hip!(machine, hipEventDestroy(event)), answer);
        fails!(hipErrorInvalidHandle, machine, hipStreamWaitEvent(new_stream, event, 0));
    }
    let (mut function, mut value) = (null_mut(), 0);
    let name: &CStr = c"kernel";
    fails!(hipErrorInvalidHandle, machine, hipModuleUnload(null_mut()));
    for module in [invented.cast(), new_stream.cast()] {
        fails!(hipErrorNotFound, machine, hipModuleUnload(module));
        fails!(hipErrorNotFound, machine, hipModuleGetFunction(&mut function, module, name.as_ptr()));
    }
    let registers = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_NUM_REGS;
    for function in [null_mut(), invented.cast(), new_stream.cast()] {
        fails!(hipErrorInvalidHandle, machine, hipFuncGetAttribute(&mut value, registers, function));
        let status = machine.launch(function, 1, 1, new_stream, &[]);
        assert_eq!(status, hipError_t::hipErrorInvalidHandle);
    }
    fails!(hipErrorInvalidContext, machine, hipCtxSetCurrent(invented.cast()));
    fails!(hipErrorInvalidHandle, machine, hipStreamDestroy(null_mut()));
}

#[test]
fn a_number_is_no_handle() {
    let machine = Machine::new("");
    let (stream, mut count, mut size) = (machine.stream(), 7, 7);
    fails!(hipErrorInvalidHandle, machine, hipEventRecordWithFlags(77 as hipEvent_t, stream, 0));
    fails!(hipErrorInvalidValue, machine, hipDeviceSetMemPool(0, 77 as hipMemPool_t));
    let function = 77 as hipFunction_t;
    assert!(hip!(machine, hipKernelNameRef(function)).is_null());
    fails!(
        hipErrorInvalidValue,
        machine,
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut count, function, 64, 0)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&mut count, function, 64, 0, 0)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipModuleOccupancyMaxPotentialBlockSize(&mut count, &mut size, function, 0, 0)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&mut count, &mut size, function, 0, 0, 0)
    );
    assert_eq!((count, size), (7, 7));
}

#[test]
fn two_machines_share_nothing() {
    let (one, other) = (Machine::new(""), Machine::new("gfx942?devices=3"));
    let mut count = 0;
    ok!(one, hipGetDeviceCount(&mut count));
    assert_eq!(count, 1);
    ok!(other, hipGetDeviceCount(&mut count));
    assert_eq!(count, 3);
    ok!(other, hipSetDevice(2));
    let mut device = -1;
    ok!(one, hipGetDevice(&mut device));
    assert_eq!(device, 0);

    let stream = one.stream();
    let memory = one.upload(&[1_u32; 16]);
    fails!(hipErrorContextIsDestroyed, other, hipStreamQuery(stream));
    fails!(hipErrorInvalidValue, other, hipFree(memory));
    // An error of one machine is not the last error of the other.
    ok!(one, hipGetLastError());
    fails!(hipErrorInvalidValue, other, hipGetLastError());

    // After a failure of one machine the other still works.
    let mut short_lived = null_mut();
    ok!(one, hipMallocAsync(&mut short_lived, 64, null_mut()));
    let gate = one.gate(null_mut());
    ok!(one, hipFreeAsync(short_lived, null_mut()));
    ok!(one, hipMemsetAsync(short_lived, 0, 64, null_mut()));
    drop(gate);
    fails!(hipErrorIllegalAddress, one, hipDeviceSynchronize());
    assert!(one.simulator.last_fault().is_some());
    assert_eq!(other.simulator.last_fault(), None);
    ok!(other, hipDeviceSynchronize());
    let elsewhere = other.upload(&[2_u32; 16]);
    assert_eq!(other.download::<u32>(elsewhere, 16), [2; 16]);
}

#[test]
fn a_machine_may_go_while_it_works() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let (start, started) = crate::common::signal();
    machine.call_on(stream, move || start.send(()).unwrap());
    let gate = machine.gate(stream);
    machine.call_on(stream, || panic!("what is queued is dropped with its machine"));
    started.recv().unwrap();
    drop(machine);
    drop(gate);
    let next = Machine::new("");
    let memory = next.upload(&[1_u8; 8]);
    assert_eq!(next.download::<u8>(memory, 8), [1; 8]);
}

#[test]
fn the_last_error_is_the_thread_s_own_and_read_once() {
    let machine = Machine::new("");
    fails!(hipErrorInvalidDevice, machine, hipSetDevice(9));
    fails!(hipErrorInvalidDevice, machine, hipPeekAtLastError());
    std::thread::scope(|scope| {
        scope.spawn(|| ok!(machine, hipGetLastError()));
    });
    let mut count = 0;
    // A success in between does not hide the error, as of HIP 7.
    ok!(machine, hipGetDeviceCount(&mut count));
    fails!(hipErrorInvalidDevice, machine, hipGetLastError());
    ok!(machine, hipGetLastError());

    let older = Machine::new("gfx942?hip=6.2");
    fails!(hipErrorInvalidDevice, older, hipSetDevice(9));
    ok!(older, hipGetDeviceCount(&mut count));
    ok!(older, hipGetLastError());

    // "Not ready" is not an error since HIP 7.
    for (machine, noted) in [(&machine, hipError_t::hipSuccess), (&older, hipError_t::hipErrorNotReady)] {
        let stream = machine.stream();
        let gate = machine.gate(stream);
        fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
        assert_eq!(hip!(machine, hipGetLastError()), noted);
        drop(gate);
    }
}

#[test]
fn contexts_follow_devices() {
    let machine = Machine::new("gfx942?devices=2");
    let (mut first, mut second, mut current) = (null_mut(), null_mut(), null_mut());
    ok!(machine, hipDevicePrimaryCtxRetain(&mut first, 0));
    ok!(machine, hipDevicePrimaryCtxRetain(&mut second, 1));
    assert_ne!(first, second);
    let device = || {
        let mut device = -1;
        ok!(machine, hipGetDevice(&mut device));
        device
    };
    ok!(machine, hipCtxSetCurrent(second));
    assert_eq!(device(), 1);
    ok!(machine, hipCtxPushCurrent(first));
    assert_eq!(device(), 0);
    ok!(machine, hipCtxGetCurrent(&mut current));
    assert_eq!(current, first);
    // Popping does not return to the previous device. IREE pops with null.
    ok!(machine, hipCtxPopCurrent(null_mut()));
    assert_eq!(device(), 0);
    ok!(machine, hipCtxPopCurrent(&mut current));
    assert_eq!((current, device()), (second, 0));
    fails!(hipErrorInvalidContext, machine, hipCtxPopCurrent(&mut current));
    ok!(machine, hipCtxSetCurrent(first));
    ok!(machine, hipCtxSetCurrent(null_mut()));
    assert_eq!(device(), 0);
    fails!(hipErrorInvalidContext, machine, hipCtxPopCurrent(&mut current));
    // A created context is pushed, and its device is not made current.
    ok!(machine, hipCtxCreate(&mut current, 0, 1));
    assert_eq!((current, device()), (second, 0));
    ok!(machine, hipCtxPopCurrent(&mut current));
    assert_eq!(current, second);
    // Another thread starts on device 0.
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(device(), 0));
    });
    ok!(machine, hipDevicePrimaryCtxRelease(0));
}

#[test]
fn a_device_says_who_it_is() {
    let machine = Machine::new("gfx942?devices=2&memory=1G&units=8");
    let mut name = [0; 256];
    ok!(machine, hipDeviceGetName(name.as_mut_ptr(), 256, 1));
    // SAFETY: the call closed the text with a zero.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    assert!(name.to_str().unwrap().contains("Simulated"), "{name:?}");
    let mut short = [1; 4];
    ok!(machine, hipDeviceGetName(short.as_mut_ptr(), 4, 0));
    assert_eq!(short[3], 0);

    let (mut one, mut other) = (hipUUID { bytes: [0; 16] }, hipUUID { bytes: [0; 16] });
    ok!(machine, hipDeviceGetUuid(&mut one, 0));
    ok!(machine, hipDeviceGetUuid(&mut other, 1));
    assert_ne!(one.bytes, other.bytes);

    // Both layouts, each in a field of its own size with guard bytes behind.
    #[repr(C)]
    struct Guarded<T>(T, [u8; 64]);
    let mut new = Guarded(hipDeviceProp_tR0600::default(), [0xAA; 64]);
    ok!(machine, hipGetDevicePropertiesR0600(&mut new.0, 1));
    let mut old = Guarded(hipDeviceProp_tR0000::default(), [0xAA; 64]);
    ok!(machine, hipGetDeviceProperties(&mut old.0, 1));
    assert_eq!((new.1, old.1), ([0xAA; 64], [0xAA; 64]));
    assert_eq!((new.0.totalGlobalMem, old.0.totalGlobalMem), (1 << 30, 1 << 30));
    assert_eq!((new.0.multiProcessorCount, new.0.warpSize), (8, 64));
    assert_eq!(new.0.gcnArchName, old.0.gcnArchName);
    // SAFETY: as above.
    let architecture = unsafe { CStr::from_ptr(new.0.gcnArchName.as_ptr()) };
    assert_eq!(architecture, c"gfx942:sramecc+:xnack-");
    let mut version = 0;
    ok!(machine, hipRuntimeGetVersion(&mut version));
    assert_eq!(version / 10_000_000, 7);
    assert!(machine.api.origin().simulated);
}

#[test]
fn functions_are_found_by_name_and_version() {
    let machine = Machine::new("");
    let mut found = hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    let look_up = |name: &CStr, version, found: &mut _| {
        let mut function = null_mut();
        (hip!(machine, hipGetProcAddress(name.as_ptr(), &mut function, version, 0, found)), function)
    };
    let (status, properties) = look_up(c"hipGetDeviceProperties", 60_000_000, &mut found);
    assert_eq!(status, hipError_t::hipSuccess);
    assert_eq!(found, hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SUCCESS);
    let expected = machine.api.entries().address("hipGetDevicePropertiesR0600").unwrap();
    assert_eq!(properties.cast_const(), expected);
    let (status, nothing) = look_up(c"hipMakeCoffee", 60_000_000, &mut found);
    assert_eq!(status, hipError_t::hipErrorInvalidValue);
    assert_eq!(found, hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert!(nothing.is_null());
}

#[test]
fn errors_have_names() {
    let machine = Machine::new("");
    let name = |error| {
        // SAFETY: HIP's names are constants that end in zero.
        unsafe { CStr::from_ptr(hip!(machine, hipGetErrorName(error))) }
    };
    assert_eq!(name(hipError_t::hipErrorIllegalAddress), c"hipErrorIllegalAddress");
    assert_eq!(name(hipError_t(4242)), c"hipErrorUnknown");
    // SAFETY: as above.
    let text = unsafe { CStr::from_ptr(hip!(machine, hipGetErrorString(hipError_t::hipErrorNotReady))) };
    assert!(!text.is_empty());
    let mut text = null();
    fails!(hipErrorInvalidValue, machine, hipDrvGetErrorString(hipError_t(4242), &mut text));
}

#[test]
fn the_driver_s_names_of_errors_say_whether_there_is_such_an_error() {
    let machine = Machine::new("");
    let name_of = |error| {
        let mut name = null();
        let status = hip!(machine, hipDrvGetErrorName(error, &mut name));
        // SAFETY: HIP's names are constants that end in zero.
        (status, unsafe { CStr::from_ptr(name) })
    };
    let known = hipError_t::hipSuccess;
    assert_eq!(name_of(known), (known, c"hipSuccess"));
    assert_eq!(name_of(hipError_t::hipErrorNotReady), (known, c"hipErrorNotReady"));
    assert_eq!(name_of(hipError_t::hipErrorUnknown), (known, c"hipErrorUnknown"));
    for unknown in [4242, u32::MAX] {
        assert_eq!(name_of(hipError_t(unknown)), (hipError_t::hipErrorInvalidValue, c"hipErrorUnknown"));
    }
    fails!(hipErrorInvalidValue, machine, hipDrvGetErrorName(known, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipDrvGetErrorString(known, null_mut()));
}

#[test]
fn the_status_of_the_latest_call_is_told_apart_from_the_last_error() {
    let machine = Machine::new("");
    let mut count = 0;
    fails!(hipErrorInvalidDevice, machine, hipSetDevice(9));
    fails!(hipErrorInvalidDevice, machine, hipExtGetLastError());
    ok!(machine, hipExtGetLastError());
    fails!(hipErrorInvalidDevice, machine, hipGetLastError());
    // A success in between hides it.
    fails!(hipErrorInvalidDevice, machine, hipSetDevice(9));
    ok!(machine, hipGetDeviceCount(&mut count));
    ok!(machine, hipExtGetLastError());
    // Another thread has made no call.
    fails!(hipErrorInvalidDevice, machine, hipSetDevice(9));
    std::thread::scope(|scope| {
        scope.spawn(|| ok!(machine, hipExtGetLastError()));
    });
    fails!(hipErrorInvalidDevice, machine, hipExtGetLastError());
}

#[test]
fn a_success_hides_the_status_of_a_call_and_before_hip_7_the_last_error_too() {
    for (options, last) in
        [("?hip=6.4", hipError_t::hipSuccess), ("?hip=7.0", hipError_t::hipErrorInvalidDevice)]
    {
        let machine = Machine::new(options);
        fails!(hipErrorInvalidDevice, machine, hipSetDevice(9));
        ok!(machine, hipGetDeviceCount(&mut 0));
        ok!(machine, hipExtGetLastError());
        assert_eq!(hip!(machine, hipGetLastError()), last, "{options}");
    }
}

#[test]
fn the_driver_has_the_version_of_the_runtime() {
    for (options, least) in [("?hip=5.2", 50_200_000), ("?hip=6.4", 60_400_000), ("?hip=7.1", 70_100_000)] {
        let machine = Machine::new(options);
        let (mut driver, mut runtime) = (0, 0);
        ok!(machine, hipDriverGetVersion(&mut driver));
        ok!(machine, hipRuntimeGetVersion(&mut runtime));
        assert_eq!(driver, runtime);
        assert!((least..least + 100_000).contains(&driver), "{options}: {driver}");
        fails!(hipErrorInvalidValue, machine, hipDriverGetVersion(null_mut()));
        fails!(hipErrorInvalidValue, machine, hipRuntimeGetVersion(null_mut()));
    }
}
