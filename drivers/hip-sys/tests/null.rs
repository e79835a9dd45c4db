// SPDX-License-Identifier: MIT OR Apache-2.0
//! The null HIP: its counts, its real effects, and the independence of instances.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use windlass_hip_sys::bindings::*;
use windlass_hip_sys::null::{Instance, Options};
use windlass_hip_sys::{Api, Feature, Found};

fn null() -> (Arc<Instance>, Api) {
    let instance = Instance::new(Options::default());
    let api = instance.api();
    (instance, api)
}

fn manual() -> (Arc<Instance>, Api) {
    let instance = Instance::new(Options { manual: true, ..Options::default() });
    let api = instance.api();
    (instance, api)
}

const OK: hipError_t = hipError_t::hipSuccess;
const NOT_READY: hipError_t = hipError_t::hipErrorNotReady;

fn stream(api: &Api) -> hipStream_t {
    let mut stream = ptr::null_mut();
    // SAFETY: the pointer is ours.
    assert_eq!(unsafe { api.hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking) }, OK);
    stream
}

fn event(api: &Api) -> hipEvent_t {
    let mut event = ptr::null_mut();
    // SAFETY: the pointer is ours.
    assert_eq!(unsafe { api.hipEventCreateWithFlags(&mut event, hipEventDisableTiming) }, OK);
    event
}

fn function(api: &Api) -> (hipModule_t, hipFunction_t) {
    let (mut module, mut function) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the pointers are ours; the null HIP does not read the image.
    unsafe {
        assert_eq!(api.hipModuleLoadData(&mut module, b"any".as_ptr().cast()), OK);
        assert_eq!(api.hipModuleGetFunction(&mut function, module, c"kernel".as_ptr()), OK);
    }
    (module, function)
}

fn launch(api: &Api, function: hipFunction_t, stream: hipStream_t) -> hipError_t {
    // SAFETY: the null HIP reads no arguments.
    unsafe {
        api.hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, ptr::null_mut(), ptr::null_mut())
    }
}

#[test]
fn a_table_of_nulls_serves_a_driver() {
    let (_, api) = null();
    assert_eq!(api.entries().missing_required(), Vec::<&str>::new());
    assert_eq!(api.origin().found, Found::InProcess);
    assert!(api.has(Feature::HostCall));
    assert!(!api.has(Feature::MemoryPools));
}

#[test]
fn counts_are_exact() {
    let (instance, api) = null();
    let stream = stream(&api);
    let (_, function) = function(&api);
    for _ in 0..1000 {
        assert_eq!(launch(&api, function, stream), OK);
    }
    assert_eq!(
        instance.calls(),
        [
            ("hipStreamCreateWithFlags", 1),
            ("hipModuleLoadData", 1),
            ("hipModuleGetFunction", 1),
            ("hipModuleLaunchKernel", 1000)
        ]
    );
    instance.reset_counts();
    assert_eq!(instance.calls(), []);
    assert_eq!(launch(&api, function, stream), OK);
    assert_eq!(instance.count("hipModuleLaunchKernel"), 1);
    assert_eq!(instance.count("no such function"), 0);
}

#[test]
fn counts_tell_threads_apart() {
    let (instance, api) = null();
    let query = |times: u32| {
        for _ in 0..times {
            // SAFETY: the null stream always exists.
            assert_eq!(unsafe { api.hipStreamQuery(ptr::null_mut()) }, OK);
        }
        std::thread::current().id()
    };
    let here = query(3);
    let there = std::thread::scope(|scope| scope.spawn(|| query(5)).join()).expect("the thread ends well");
    let count = |thread| {
        let threads = instance.calls_by_thread();
        threads
            .iter()
            .find(|calls| calls.thread == Some(thread))
            .map_or(0, |calls| calls.count("hipStreamQuery"))
    };
    assert_eq!((count(here), count(there)), (3, 5));
    assert_eq!(instance.count("hipStreamQuery"), 8);
}

#[test]
fn more_threads_than_places_lose_no_count() {
    let (instance, api) = null();
    std::thread::scope(|scope| {
        for _ in 0..100 {
            // SAFETY: the null stream always exists.
            scope.spawn(|| unsafe { api.hipStreamQuery(ptr::null_mut()) });
        }
    });
    assert_eq!(instance.count("hipStreamQuery"), 100);
    assert_eq!(instance.calls_by_thread().len(), 64, "63 threads by themselves, the others together");
}

#[test]
fn the_binding_parts_two_instances_on_one_thread() {
    let (left, left_api) = null();
    let (right, right_api) = null();
    let (mut of_left, mut of_right) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the pointers are ours.
    unsafe {
        assert_eq!(left_api.hipMalloc(&mut of_left, 16), OK);
        assert_eq!(right_api.hipMalloc(&mut of_right, 32), OK);
        assert_eq!(
            right_api.hipFree(of_left),
            hipError_t::hipErrorInvalidValue,
            "not the right one's memory"
        );
        assert_eq!(left_api.hipFree(of_left), OK);
    }
    assert_eq!(left.live().bytes, 0);
    assert_eq!(right.live().bytes, 32);
    assert_eq!((left.count("hipMalloc"), right.count("hipMalloc")), (1, 1));
    assert_eq!((left.count("hipFree"), right.count("hipFree")), (1, 1));
}

#[test]
fn a_table_keeps_its_instance() {
    let (instance, api) = null();
    let weak = Arc::downgrade(&instance);
    drop(instance);
    assert!(weak.upgrade().is_some());
    drop(api);
    assert!(weak.upgrade().is_none());
}

#[test]
fn memory_is_zeroed_copied_and_filled() {
    let (instance, api) = null();
    let stream = stream(&api);
    let mut device = ptr::null_mut();
    let mut host = [0xff_u8; 16];
    // SAFETY: the ranges lie within the allocation and the array.
    unsafe {
        assert_eq!(api.hipMalloc(&mut device, 16), OK);
        assert_eq!(device.addr() % 256, 0);
        let copy_back = |host: &mut [u8; 16]| {
            api.hipMemcpyAsync(
                host.as_mut_ptr().cast(),
                device,
                16,
                hipMemcpyKind::hipMemcpyDeviceToHost,
                stream,
            )
        };
        assert_eq!(copy_back(&mut host), OK);
        assert_eq!(host, [0; 16]);
        assert_eq!(api.hipMemsetD32Async(device, 0x0403_0201, 2, stream), OK);
        assert_eq!(api.hipMemsetD16Async(device.byte_add(8), 0x0605, 2, stream), OK);
        assert_eq!(api.hipMemsetD8Async(device.byte_add(12), 7, 2, stream), OK);
        assert_eq!(api.hipMemsetAsync(device.byte_add(14), 0x108, 2, stream), OK);
        assert_eq!(copy_back(&mut host), OK);
        assert_eq!(host, [1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 5, 6, 7, 7, 8, 8]);
        assert_eq!(api.hipFree(device), OK);
        assert_eq!(api.hipFree(device), hipError_t::hipErrorInvalidValue, "freed twice");
    }
    assert_eq!(instance.live().allocations, 0);
}

#[test]
fn a_device_runs_out_of_memory_by_itself() {
    let instance = Instance::new(Options { devices: 2, memory_bytes: 1024, ..Options::default() });
    let api = instance.api();
    let mut address = ptr::null_mut();
    // SAFETY: the pointers are ours.
    unsafe {
        assert_eq!(api.hipMalloc(&mut address, 1025), hipError_t::hipErrorOutOfMemory);
        assert_eq!(api.hipMalloc(&mut address, 1024), OK);
        assert_eq!(api.hipMalloc(&mut address, 1), hipError_t::hipErrorOutOfMemory);
        assert_eq!(api.hipMalloc(&mut address, usize::MAX), hipError_t::hipErrorOutOfMemory);
        assert_eq!(api.hipSetDevice(1), OK);
        assert_eq!(api.hipMalloc(&mut address, 1024), OK, "the other device has its own");
        assert_eq!(api.hipSetDevice(2), hipError_t::hipErrorInvalidDevice);
    }
}

#[test]
fn manual_work_stays_in_flight() {
    let (instance, api) = manual();
    let (stream, event) = (stream(&api), event(&api));
    let (_, function) = function(&api);
    // SAFETY: the handles are alive.
    unsafe {
        assert_eq!(api.hipEventQuery(event), OK, "never recorded");
        assert_eq!(launch(&api, function, stream), OK);
        assert_eq!(api.hipEventRecord(event, stream), OK);
        assert_eq!(api.hipEventQuery(event), NOT_READY);
        assert_eq!(api.hipStreamQuery(stream), NOT_READY);
        instance.complete();
        assert_eq!(api.hipEventQuery(event), OK);
        assert_eq!(api.hipStreamQuery(stream), OK);
        assert_eq!(launch(&api, function, stream), OK);
        assert_eq!(api.hipEventQuery(event), OK, "recorded before");
        assert_eq!(api.hipStreamQuery(stream), NOT_READY);
    }
}

#[test]
fn freeing_waits_for_manual_work() {
    let (instance, api) = manual();
    let stream = stream(&api);
    let (_, function) = function(&api);
    let mut address = ptr::null_mut();
    // SAFETY: the pointer is ours.
    assert_eq!(unsafe { api.hipMalloc(&mut address, 64) }, OK);
    assert_eq!(launch(&api, function, stream), OK);
    let address = address.expose_provenance();
    std::thread::scope(|scope| {
        let freeing = scope.spawn(|| {
            // SAFETY: allocated above, freed once.
            unsafe { api.hipFree(ptr::with_exposed_provenance_mut(address)) }
        });
        // The call is counted before it waits.
        while instance.count("hipFree") == 0 {
            std::thread::yield_now();
        }
        assert_eq!(instance.live().allocations, 1);
        instance.complete();
        assert_eq!(freeing.join().expect("the thread ends well"), OK);
    });
    assert_eq!(instance.live().allocations, 0);
}

unsafe extern "C" fn count_up(data: *mut c_void) {
    // SAFETY: the tests hand in a counter that outlives the call.
    unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn host_functions_run_when_their_turn_comes() {
    let counter = AtomicU32::new(0);
    let data = ptr::from_ref(&counter).cast_mut().cast();
    let (_, api) = null();
    // SAFETY: the counter outlives the work.
    assert_eq!(unsafe { api.hipLaunchHostFunc(stream(&api), Some(count_up), data) }, OK);
    assert_eq!(counter.load(Ordering::Relaxed), 1);

    let (instance, api) = manual();
    let stream = stream(&api);
    // SAFETY: the counter outlives the work.
    assert_eq!(unsafe { api.hipLaunchHostFunc(stream, Some(count_up), data) }, OK);
    assert_eq!(counter.load(Ordering::Relaxed), 1);
    // SAFETY: the stream is alive.
    assert_eq!(unsafe { api.hipStreamQuery(stream) }, NOT_READY);
    instance.complete();
    assert_eq!(counter.load(Ordering::Relaxed), 2);
    // SAFETY: the stream is alive.
    assert_eq!(unsafe { api.hipStreamQuery(stream) }, OK);
}

#[test]
fn the_last_error_sticks_per_thread_until_it_is_taken() {
    let (_, api) = null();
    // SAFETY: these take no pointers.
    unsafe {
        assert_eq!(api.hipSetDevice(7), hipError_t::hipErrorInvalidDevice);
        let elsewhere = std::thread::scope(|scope| scope.spawn(|| api.hipGetLastError()).join());
        assert_eq!(elsewhere.expect("the thread ends well"), OK);
        assert_eq!(api.hipPeekAtLastError(), hipError_t::hipErrorInvalidDevice);
        assert_eq!(api.hipGetLastError(), hipError_t::hipErrorInvalidDevice);
        assert_eq!(api.hipGetLastError(), OK);
    }
}

#[test]
fn an_absent_function_is_not_supported_and_costs_its_feature() {
    let without = vec!["hipLaunchHostFunc".to_owned(), "hipGetDevicePropertiesR0600".to_owned()];
    let instance = Instance::new(Options { without, ..Options::default() });
    let api = instance.api();
    assert!(!api.has(Feature::HostCall));
    assert!(!api.has(Feature::ModernProperties));
    assert!(api.missing().contains(&"hipLaunchHostFunc"));
    assert!(api.entries().missing_required().is_empty(), "the older properties serve");
    // SAFETY: no function is called.
    let status = unsafe { api.hipLaunchHostFunc(ptr::null_mut(), Some(count_up), ptr::null_mut()) };
    assert_eq!(status, hipError_t::hipErrorNotSupported);
    assert_eq!(instance.count("hipLaunchHostFunc"), 0);
}

#[test]
fn both_properties_tell_the_architecture() {
    let instance = Instance::new(Options { arch: "gfx1100".to_owned(), ..Options::default() });
    let api = instance.api();
    let mut modern = hipDeviceProp_tR0600::default();
    let mut old = hipDeviceProp_tR0000::default();
    // SAFETY: the pointers are ours, each to the layout that its function fills.
    unsafe {
        assert_eq!(api.hipGetDevicePropertiesR0600(&mut modern, 0), OK);
        assert_eq!(api.hipGetDeviceProperties(&mut old, 0), OK);
    }
    let text = |name: &[c_char]| {
        name.iter().take_while(|c| **c != 0).map(|c| char::from(*c as u8)).collect::<String>()
    };
    assert_eq!(text(&modern.gcnArchName), "gfx1100");
    assert_eq!(text(&old.gcnArchName), "gfx1100");
    assert_eq!((modern.warpSize, old.warpSize), (32, 32));
}

#[test]
fn what_is_destroyed_is_gone() {
    let (instance, api) = null();
    let (stream, event, (module, _)) = (stream(&api), event(&api), function(&api));
    let live = instance.live();
    assert_eq!((live.streams, live.events, live.modules), (1, 1, 1));
    // SAFETY: each object is released once.
    unsafe {
        assert_eq!(api.hipStreamDestroy(stream), OK);
        assert_eq!(api.hipEventDestroy(event), OK);
        assert_eq!(api.hipModuleUnload(module), OK);
    }
    assert!(instance.live().is_empty());
}

#[test]
fn a_kernel_with_a_time_holds_up_its_own_stream_only() {
    let instance = Instance::new(Options { kernel: "3600s".parse().unwrap(), ..Options::default() });
    let api = instance.api();
    let (streams, events) =
        ([stream(&api), stream(&api), stream(&api)], [event(&api), event(&api), event(&api)]);
    let (_, function) = function(&api);
    assert_eq!(launch(&api, function, streams[0]), OK);
    // SAFETY: the handles are ours; they stay, as their destruction would wait for the kernel.
    unsafe {
        assert_eq!(api.hipEventRecord(events[0], streams[0]), OK);
        assert_eq!(api.hipStreamWaitEvent(streams[1], events[0], 0), OK);
        for (event, stream) in events.iter().zip(streams).skip(1) {
            assert_eq!(api.hipEventRecord(*event, stream), OK);
        }
        let queried = events.map(|event| api.hipEventQuery(event));
        assert_eq!(
            queried,
            [NOT_READY, NOT_READY, OK],
            "the kernel, a stream that waits for it, and another one"
        );
    }
}

#[test]
fn a_wait_returns_when_the_kernels_are_complete() {
    let instance = Instance::new(Options { kernel: "100us".parse().unwrap(), ..Options::default() });
    let api = instance.api();
    let (stream, event) = (stream(&api), event(&api));
    let (module, function) = function(&api);
    let start = std::time::Instant::now();
    for _ in 0..5 {
        assert_eq!(launch(&api, function, stream), OK);
    }
    // SAFETY: the handles are ours, and each is destroyed once.
    unsafe {
        assert_eq!(api.hipEventRecord(event, stream), OK);
        assert_eq!(api.hipEventSynchronize(event), OK);
        assert_eq!(api.hipEventQuery(event), OK);
        assert!(start.elapsed() >= std::time::Duration::from_micros(500), "kernels of a stream take turns");
        assert_eq!(api.hipModuleUnload(module), OK);
        assert_eq!(api.hipEventDestroy(event), OK);
        assert_eq!(api.hipStreamDestroy(stream), OK);
    }
    assert!(instance.live().is_empty());
}

#[test]
fn a_kernel_s_time_is_a_number_with_its_unit() {
    use windlass_hip_sys::null::KernelTime;

    let time = |text: &str| text.parse::<KernelTime>();
    assert_eq!(time("1ms"), time("1000us"));
    assert_eq!(time("0ns"), Ok(KernelTime::NONE));
    for wrong in ["", "1", "ms", "-1ms", "1.5ms", "1h", "3601s", "99999999999999999999s"] {
        assert_eq!(time(wrong), Err(KernelTime::SYNTAX), "{wrong}");
    }
}
