// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools: which memory they keep and give again, and memory of graphs.

use std::ffi::c_void;
use std::ptr::null_mut;

use crate::common::{Block, Machine};
use windlass_hip_sys::bindings::*;

/// A pool of device 0 that may take `most` bytes; 0 for no limit.
fn pool(machine: &Machine, most: usize) -> hipMemPool_t {
    // SAFETY: the structure has only numbers and pointers, for which zero is valid.
    let mut props: hipMemPoolProps = unsafe { std::mem::zeroed() };
    props.allocType = hipMemAllocationType::hipMemAllocationTypePinned;
    props.location.type_ = hipMemLocationType::hipMemLocationTypeDevice;
    props.maxSize = most;
    let mut pool = null_mut();
    ok!(machine, hipMemPoolCreate(&mut pool, &props));
    pool
}

fn take(machine: &Machine, pool: hipMemPool_t, size: usize, stream: hipStream_t) -> *mut c_void {
    let mut memory = null_mut();
    ok!(machine, hipMallocFromPoolAsync(&mut memory, size, pool, stream));
    memory
}

/// Used and reserved bytes of a pool, each now and at most.
fn counts(machine: &Machine, pool: hipMemPool_t) -> [u64; 4] {
    [
        hipMemPoolAttr::hipMemPoolAttrUsedMemCurrent,
        hipMemPoolAttr::hipMemPoolAttrUsedMemHigh,
        hipMemPoolAttr::hipMemPoolAttrReservedMemCurrent,
        hipMemPoolAttr::hipMemPoolAttrReservedMemHigh,
    ]
    .map(|attribute| {
        let mut bytes = 0_u64;
        ok!(machine, hipMemPoolGetAttribute(pool, attribute, (&raw mut bytes).cast()));
        bytes
    })
}

fn set_threshold(machine: &Machine, pool: hipMemPool_t, mut bytes: u64) {
    let attribute = hipMemPoolAttr::hipMemPoolAttrReleaseThreshold;
    ok!(machine, hipMemPoolSetAttribute(pool, attribute, (&raw mut bytes).cast()));
}

fn free_bytes(machine: &Machine) -> usize {
    let (mut free, mut total) = (0, 0);
    ok!(machine, hipMemGetInfo(&mut free, &mut total));
    free
}

#[test]
fn the_next_allocation_of_a_stream_takes_what_the_stream_freed() {
    for options in ["?hip=7.1", "?seed=1"] {
        let machine = Machine::new(options);
        let pool = pool(&machine, 0);
        let (stream, other) = (machine.stream(), machine.stream());
        let gate = machine.gate(stream);
        let first = take(&machine, pool, 4096, stream);
        ok!(machine, hipMemsetD32Async(first, 1, 1024, stream));
        ok!(machine, hipFreeAsync(first, stream));
        // The other stream could use it before this one is done with it.
        let elsewhere = take(&machine, pool, 4096, other);
        assert_ne!(elsewhere, first);
        assert_ne!(take(&machine, pool, 8192, stream), first, "another size");
        let again = take(&machine, pool, 4096, stream);
        assert_eq!(again, first);
        ok!(machine, hipMemsetD32Async(again, 2, 1024, stream));
        drop(gate);
        ok!(machine, hipStreamSynchronize(stream));
        assert_eq!(machine.download::<u32>(again, 1024), [2; 1024]);
        assert_eq!(counts(&machine, pool), [16384, 16384, 16384, 16384]);
        ok!(machine, hipFreeAsync(again, stream));
        fails!(hipErrorInvalidValue, machine, hipFreeAsync(again, stream));
        ok!(machine, hipDeviceSynchronize());
        assert_eq!(machine.simulator.last_fault(), None);
    }
}

#[test]
fn a_pool_keeps_memory_up_to_its_threshold() {
    let machine = Machine::new("?hip=7.1");
    let pool = pool(&machine, 0);
    let stream = machine.stream();
    let before = free_bytes(&machine);
    let memory = take(&machine, pool, 4096, stream);
    ok!(machine, hipFreeAsync(memory, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(counts(&machine, pool), [0, 4096, 0, 4096]);
    assert_eq!(free_bytes(&machine), before);

    set_threshold(&machine, pool, 10_000);
    let all = [4096, 4096, 4096].map(|size| take(&machine, pool, size, stream));
    for memory in all {
        ok!(machine, hipFreeAsync(memory, stream));
    }
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(counts(&machine, pool)[..3], [0, 12288, 8192]);
    assert_eq!(free_bytes(&machine), before - 8192);
    // Any stream may have it now.
    let again = take(&machine, pool, 4096, machine.stream());
    assert!(all.contains(&again));
    assert_eq!(counts(&machine, pool)[..3], [4096, 12288, 8192]);
    ok!(machine, hipMemPoolTrimTo(pool, 0));
    assert_eq!(counts(&machine, pool)[..3], [4096, 12288, 4096]);
    assert_eq!(free_bytes(&machine), before - 4096);
    ok!(machine, hipFree(again));
    ok!(machine, hipMemPoolDestroy(pool));
    assert_eq!(free_bytes(&machine), before);
}

#[test]
fn memory_that_hip_free_frees_is_kept_up_to_the_threshold_too() {
    let machine = Machine::new("?hip=7.1");
    let (pool, stream) = (pool(&machine, 0), machine.stream());
    for (threshold, kept) in [(0, 0), (8192, 4096), (4095, 0)] {
        set_threshold(&machine, pool, threshold);
        let memory = take(&machine, pool, 4096, stream);
        ok!(machine, hipFree(memory));
        let [used, _, reserved, _] = counts(&machine, pool);
        assert_eq!((used, reserved), (0, kept), "{threshold}");
        fails!(hipErrorInvalidValue, machine, hipFree(memory));
        let again = take(&machine, pool, 4096, stream);
        assert!(kept == 0 || again == memory);
        ok!(machine, hipFreeAsync(again, stream));
        ok!(machine, hipStreamSynchronize(stream));
        ok!(machine, hipMemPoolTrimTo(pool, 0));
    }
}

#[test]
fn memory_that_a_pool_keeps_is_not_accessible() {
    let machine = Machine::new("?hip=7.1");
    let pool = pool(&machine, 0);
    set_threshold(&machine, pool, u64::MAX);
    let stream = machine.stream();
    let memory = take(&machine, pool, 4096, stream);
    ok!(machine, hipFreeAsync(memory, stream));
    ok!(machine, hipStreamSynchronize(stream));
    fails!(hipErrorInvalidValue, machine, hipMemset(memory, 0, 4096));
    let mut attributes = hipPointerAttribute_t::default();
    ok!(machine, hipPointerGetAttributes(&mut attributes, memory));
    assert_eq!(attributes.type_, hipMemoryType::hipMemoryTypeUnregistered);
    let module = machine.load(include_bytes!("../../../cts/kernels/bundles/faults.ccob"));
    let function = machine.function(module, c"write_at");
    let arguments = Block::default().pointer(memory).bytes(&0_i64.to_le_bytes()).u32(7).done();
    assert_eq!(machine.launch(function, 1, 1, stream, &arguments), hipError_t::hipSuccess);
    fails!(hipErrorIllegalAddress, machine, hipStreamSynchronize(stream));
    let report = machine.simulator.last_fault().unwrap();
    assert!(report.contains("which was freed by hipFreeAsync"), "{report}");
    // It is there again once it has an owner.
    assert_eq!(take(&machine, pool, 4096, stream), memory);
    ok!(machine, hipMemset(memory, 0, 4096));
}

#[test]
fn a_pool_takes_no_more_than_its_limit() {
    let machine = Machine::new("?hip=7.1");
    let pool = pool(&machine, 10_000);
    let stream = machine.stream();
    let memory = take(&machine, pool, 8192, stream);
    let mut more = null_mut();
    fails!(hipErrorOutOfMemory, machine, hipMallocFromPoolAsync(&mut more, 4096, pool, stream));
    assert!(more.is_null());
    let reason = machine.api.diagnose().unwrap();
    assert!(reason.contains("the pool may take 10000 bytes"), "{reason}");
    ok!(machine, hipFreeAsync(memory, stream));
    ok!(machine, hipStreamSynchronize(stream));
    take(&machine, pool, 4096, stream);
    assert_eq!(counts(&machine, pool)[0], 4096);
}

#[test]
fn memory_that_a_pool_keeps_is_given_where_no_other_is_left() {
    let machine = Machine::new("?memory=1M");
    let pool = pool(&machine, 0);
    set_threshold(&machine, pool, u64::MAX);
    let stream = machine.stream();
    let memory = take(&machine, pool, 700 << 10, stream);
    ok!(machine, hipFreeAsync(memory, stream));
    ok!(machine, hipStreamSynchronize(stream));
    take(&machine, pool, 600 << 10, stream);
    assert_eq!(counts(&machine, pool)[2], 600 << 10);
}

#[test]
fn allocations_in_a_capture_are_nodes() {
    for options in ["?hip=7.1", "?seed=2"] {
        let machine = Machine::new(options);
        let before = free_bytes(&machine);
        let stream = machine.stream();
        let mut back = [0_u32; 16];
        ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeGlobal));
        let mut memory = null_mut();
        ok!(machine, hipMallocAsync(&mut memory, 64, stream));
        ok!(machine, hipMemsetD32Async(memory, 5, 16, stream));
        ok!(machine, hipMemcpyDtoHAsync(back.as_mut_ptr().cast(), memory, 64, stream));
        ok!(machine, hipFreeAsync(memory, stream));
        let (mut graph, mut exec) = (null_mut(), null_mut());
        ok!(machine, hipStreamEndCapture(stream, &mut graph));
        let mut nodes = [null_mut(); 4];
        let mut count = 4;
        ok!(machine, hipGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
        let kinds = nodes.map(|node| {
            let mut kind = hipGraphNodeType(99);
            ok!(machine, hipGraphNodeGetType(node, &mut kind));
            kind
        });
        assert_eq!((count, kinds[0]), (4, hipGraphNodeType::hipGraphNodeTypeMemAlloc));
        assert_eq!(kinds[3], hipGraphNodeType::hipGraphNodeTypeMemFree);
        ok!(machine, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
        for _ in 0..3 {
            back = [0; 16];
            ok!(machine, hipGraphLaunch(exec, stream));
            ok!(machine, hipStreamSynchronize(stream));
            assert_eq!(back, [5; 16]);
            fails!(hipErrorInvalidValue, machine, hipMemset(memory, 0, 64));
        }
        assert_eq!(machine.simulator.last_fault(), None);
        ok!(machine, hipGraphExecDestroy(exec));
        ok!(machine, hipGraphDestroy(graph));
        ok!(machine, hipDeviceGraphMemTrim(0));
        assert_eq!(free_bytes(&machine), before);
    }
}

#[test]
fn memory_of_a_graph_outlives_its_launch_until_it_is_freed() {
    let machine = Machine::new("?hip=7.1");
    let before = free_bytes(&machine);
    let stream = machine.stream();
    ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeGlobal));
    let mut memory = null_mut();
    ok!(machine, hipMallocAsync(&mut memory, 64, stream));
    ok!(machine, hipMemsetD32Async(memory, 5, 16, stream));
    let (mut graph, mut exec) = (null_mut(), null_mut());
    ok!(machine, hipStreamEndCapture(stream, &mut graph));
    ok!(machine, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    for by_stream in [true, false, true] {
        ok!(machine, hipGraphLaunch(exec, stream));
        ok!(machine, hipStreamSynchronize(stream));
        assert_eq!(machine.download::<u32>(memory, 16), [5; 16]);
        match by_stream {
            true => ok!(machine, hipFreeAsync(memory, stream)),
            false => ok!(machine, hipFree(memory)),
        }
        ok!(machine, hipStreamSynchronize(stream));
        fails!(hipErrorInvalidValue, machine, hipMemset(memory, 0, 64));
    }
    ok!(machine, hipGraphExecDestroy(exec));
    ok!(machine, hipGraphDestroy(graph));
    ok!(machine, hipDeviceGraphMemTrim(0));
    assert_eq!(free_bytes(&machine), before);
    // A graph frees no other memory.
    let other = machine.malloc(64);
    ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeGlobal));
    fails!(hipErrorInvalidValue, machine, hipFreeAsync(other, stream));
    ok!(machine, hipStreamEndCapture(stream, &mut graph));
}

#[test]
fn a_full_pool_gives_up_what_it_keeps() {
    let machine = Machine::new("?hip=7.1");
    let pool = pool(&machine, 8192);
    set_threshold(&machine, pool, u64::MAX);
    let stream = machine.stream();
    for memory in [(); 2].map(|()| take(&machine, pool, 4096, stream)) {
        ok!(machine, hipFreeAsync(memory, stream));
    }
    ok!(machine, hipStreamSynchronize(stream));
    let memory = take(&machine, pool, 8192, stream);
    ok!(machine, hipMemset(memory, 0, 8192));
}

#[test]
fn memory_whose_free_a_failure_skipped_is_gone_after_a_reset() {
    let machine = Machine::new("?hip=7.1&faults=sticky");
    let module = machine.load(include_bytes!("../../../cts/kernels/bundles/faults.ccob"));
    let function = machine.function(module, c"write_at");
    let mut memory = null_mut();
    ok!(machine, hipMallocAsync(&mut memory, 4096, null_mut()));
    let stray = Block::default().pointer(null_mut()).bytes(&64_i64.to_le_bytes()).u32(7).done();
    assert_eq!(machine.launch(function, 1, 1, null_mut(), &stray), hipError_t::hipSuccess);
    let _ = hip!(machine, hipFreeAsync(memory, null_mut()));
    fails!(hipErrorIllegalAddress, machine, hipDeviceSynchronize());
    ok!(machine, hipDeviceReset());
    let mut next = null_mut();
    ok!(machine, hipMallocAsync(&mut next, 4096, null_mut()));
    ok!(machine, hipMemset(next, 1, 4096));
    ok!(machine, hipFreeAsync(next, null_mut()));
    ok!(machine, hipDeviceSynchronize());
}

#[test]
fn a_device_that_runs_short_takes_what_any_of_its_pools_keeps() {
    let machine = Machine::new("gfx942?hip=7.1&memory=64M");
    let (first, second) = (pool(&machine, 0), pool(&machine, 0));
    let stream = machine.stream();
    let keep = || {
        for pool in [first, second] {
            set_threshold(&machine, pool, u64::MAX);
            let memory = take(&machine, pool, 24 << 20, stream);
            ok!(machine, hipFreeAsync(memory, stream));
            ok!(machine, hipStreamSynchronize(stream));
        }
        assert_eq!(free_bytes(&machine), 16 << 20);
    };
    keep();
    let memory = machine.malloc(40 << 20);
    assert_eq!(free_bytes(&machine), 0, "one of the pools keeps what is not needed");
    ok!(machine, hipFree(memory));
    keep();
    // Another pool's memory serves a pool too, and memory without addresses.
    let third = pool(&machine, 0);
    let memory = take(&machine, third, 64 << 20, stream);
    ok!(machine, hipFreeAsync(memory, stream));
    ok!(machine, hipStreamSynchronize(stream));
    ok!(machine, hipMemPoolDestroy(third));
    keep();
    let mut memory = null_mut();
    fails!(hipErrorOutOfMemory, machine, hipMalloc(&mut memory, 65 << 20));
}

#[test]
fn reads_of_what_the_former_owner_of_memory_wrote_are_told_of() {
    let machine = Machine::new("gfx942?hip=7.1&uninitialised=report");
    let module = machine.load(include_bytes!("../../../cts/kernels/bundles/saxpy.ccob"));
    let function = machine.function(module, c"saxpy");
    let (pool, stream) = (pool(&machine, 0), machine.stream());
    let out = machine.upload(&[0_f32; 64]);
    let read = |memory: *mut c_void| {
        let arguments = Block::default().f32(1.0).pointer(memory).pointer(out).u32(64).done();
        assert_eq!(machine.launch(function, 1, 64, stream, &arguments), hipError_t::hipSuccess);
        ok!(machine, hipStreamSynchronize(stream));
        machine.simulator.take_findings().len()
    };
    let memory = take(&machine, pool, 256, stream);
    ok!(machine, hipMemsetAsync(memory, 0, 256, stream));
    assert_eq!(read(memory), 0);
    // The next owner has the memory before the stream has reached the free.
    let gate = machine.gate(stream);
    ok!(machine, hipMemsetAsync(memory, 0, 256, stream));
    ok!(machine, hipFreeAsync(memory, stream));
    assert_eq!(take(&machine, pool, 256, stream), memory);
    drop(gate);
    assert_eq!(read(memory), 1);
}

/// Memory of a graph is given back once, whichever of its free and the end of its graph comes first.
#[test]
fn memory_of_a_graph_is_given_back_while_its_graph_ends() {
    let machine = Machine::new("?hip=7.1");
    let stream = machine.stream();
    let before = free_bytes(&machine);
    for _ in 0..200 {
        let (mut memory, mut graph, mut exec) = (null_mut(), null_mut(), null_mut());
        ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeGlobal));
        ok!(machine, hipMallocAsync(&mut memory, 4096, stream));
        ok!(machine, hipStreamEndCapture(stream, &mut graph));
        ok!(machine, hipGraphInstantiate(&mut exec, graph, null_mut(), null_mut(), 0));
        ok!(machine, hipGraphLaunch(exec, stream));
        ok!(machine, hipStreamSynchronize(stream));
        let [exec, graph, memory] = [exec as usize, graph as usize, memory as usize];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                ok!(machine, hipGraphExecDestroy(exec as hipGraphExec_t));
                ok!(machine, hipGraphDestroy(graph as hipGraph_t));
            });
            scope.spawn(|| ok!(machine, hipFree(memory as *mut c_void)));
        });
        // The device keeps memory for graphs until then.
        ok!(machine, hipDeviceGraphMemTrim(0));
        assert_eq!(free_bytes(&machine), before);
    }
}

#[test]
fn a_device_takes_memory_from_the_pool_that_it_is_given() {
    let machine = Machine::new("gfx942?devices=2");
    let (own, stream) = (pool(&machine, 0), machine.stream());
    let current = |device| {
        let mut pool = null_mut();
        ok!(machine, hipDeviceGetMemPool(&mut pool, device));
        pool
    };
    let mut default = null_mut();
    ok!(machine, hipDeviceGetDefaultMemPool(&mut default, 0));
    assert_eq!(current(0), default);
    assert_ne!(current(1), default);
    ok!(machine, hipDeviceSetMemPool(0, own));
    assert_eq!(current(0), own);
    let mut memory = null_mut();
    ok!(machine, hipMallocAsync(&mut memory, 4096, stream));
    assert_eq!((counts(&machine, own)[0], counts(&machine, default)[0]), (4096, 0));

    fails!(hipErrorInvalidDevice, machine, hipDeviceSetMemPool(1, own));
    for device in [-1, 2] {
        fails!(hipErrorInvalidValue, machine, hipDeviceSetMemPool(device, own));
        fails!(hipErrorInvalidValue, machine, hipDeviceGetMemPool(&mut default, device));
    }
    fails!(hipErrorInvalidValue, machine, hipDeviceSetMemPool(0, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipDeviceGetMemPool(null_mut(), 0));
    assert_eq!(current(0), own, "none of these had an effect");
    // A device whose pool is gone has its first one.
    ok!(machine, hipMemPoolDestroy(own));
    assert_eq!(current(0), default);
}

#[test]
fn a_pool_that_is_gone_is_given_to_no_device() {
    let machine = Machine::new("");
    let pool = pool(&machine, 0);
    ok!(machine, hipMemPoolDestroy(pool));
    fails!(hipErrorInvalidValue, machine, hipDeviceSetMemPool(0, pool));
}

#[test]
fn memory_that_there_is_not_does_not_count() {
    let machine = Machine::new("");
    let (pool, stream) = (pool(&machine, 0), machine.stream());
    take(&machine, pool, 64, stream);
    let before = counts(&machine, pool);
    for size in [1 << 50, usize::MAX, usize::MAX - 63] {
        fails!(hipErrorOutOfMemory, machine, hipMallocFromPoolAsync(&mut null_mut(), size, pool, stream));
        assert_eq!(counts(&machine, pool), before, "{size}");
    }
}

#[test]
fn high_marks_begin_again_and_switches_are_one_or_zero() {
    let machine = Machine::new("");
    let (pool, stream) = (pool(&machine, 0), machine.stream());
    take(&machine, pool, 64, stream);
    let set = |attribute, mut value: u64| {
        hip!(machine, hipMemPoolSetAttribute(pool, attribute, (&raw mut value).cast()))
    };
    for mark in [hipMemPoolAttr::hipMemPoolAttrUsedMemHigh, hipMemPoolAttr::hipMemPoolAttrReservedMemHigh] {
        assert_eq!(set(mark, 1), hipError_t::hipErrorInvalidValue);
        assert_eq!(set(mark, 0), hipError_t::hipSuccess);
    }
    assert_eq!(counts(&machine, pool), [64, 0, 64, 0]);
    take(&machine, pool, 64, stream);
    assert_eq!(counts(&machine, pool), [128; 4]);
    let switch = hipMemPoolAttr::hipMemPoolReuseAllowOpportunistic;
    for (given, told) in [(0, 0), (5, 1)] {
        assert_eq!(set(switch, given), hipError_t::hipSuccess);
        let mut value = 9_u32;
        ok!(machine, hipMemPoolGetAttribute(pool, switch, (&raw mut value).cast()));
        assert_eq!(value, told);
    }
}

#[test]
fn a_pool_tells_the_access_that_was_asked_for() {
    let machine = Machine::new("gfx942?devices=3");
    let pool = pool(&machine, 0);
    let place = |device| hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeDevice, id: device };
    let wish = |device, flags| hipMemAccessDesc { location: place(device), flags: hipMemAccessFlags(flags) };
    let set =
        |wishes: &[hipMemAccessDesc]| hip!(machine, hipMemPoolSetAccess(pool, wishes.as_ptr(), wishes.len()));
    let access = || {
        [0, 1, 2].map(|device| {
            let mut flags = hipMemAccessFlags(9);
            ok!(machine, hipMemPoolGetAccess(&mut flags, pool, &mut place(device)));
            flags.0
        })
    };
    assert_eq!(access(), [3, 0, 0]);
    assert_eq!(set(&[wish(1, 3), wish(2, 1)]), hipError_t::hipSuccess);
    assert_eq!(access(), [3, 3, 1]);
    assert_eq!(set(&[wish(1, 2), wish(0, 1)]), hipError_t::hipSuccess);
    assert_eq!(access(), [3, 2, 1], "its own device keeps all access");
    assert_eq!(set(&[]), hipError_t::hipSuccess);

    let host = hipMemLocation { type_: hipMemLocationType::hipMemLocationTypeHost, id: 0 };
    let for_host = hipMemAccessDesc { location: host, flags: hipMemAccessFlags(3) };
    for (wrong, status) in [
        (wish(0, 0), hipError_t::hipErrorInvalidDevice),
        (wish(2, 0), hipError_t::hipErrorInvalidDevice),
        (wish(3, 3), hipError_t::hipErrorInvalidDevice),
        (wish(-1, 3), hipError_t::hipErrorInvalidDevice),
        (wish(1, 4), hipError_t::hipErrorInvalidValue),
        (for_host, hipError_t::hipErrorInvalidValue),
    ] {
        // The right one in front has no effect then.
        assert_eq!(set(&[wish(1, 3), wrong]), status, "{wrong:?}");
    }
    assert_eq!(set(&[wish(1, 3); 4]), hipError_t::hipErrorInvalidDevice, "more than there are devices");
    assert_eq!(access(), [3, 2, 1]);
    fails!(hipErrorInvalidValue, machine, hipMemPoolSetAccess(pool, std::ptr::null(), 1));
    fails!(hipErrorInvalidValue, machine, hipMemPoolSetAccess(null_mut(), &wish(1, 3), 1));
    let mut flags = hipMemAccessFlags(9);
    for device in [-1, 3] {
        fails!(hipErrorInvalidValue, machine, hipMemPoolGetAccess(&mut flags, pool, &mut place(device)));
    }
    fails!(hipErrorInvalidValue, machine, hipMemPoolGetAccess(&mut flags, pool, &mut { host }));
    fails!(hipErrorInvalidValue, machine, hipMemPoolGetAccess(&mut flags, null_mut(), &mut place(0)));
    fails!(hipErrorInvalidValue, machine, hipMemPoolGetAccess(null_mut(), pool, &mut place(0)));
    fails!(hipErrorInvalidValue, machine, hipMemPoolGetAccess(&mut flags, pool, null_mut()));
    assert_eq!(flags.0, 9);
}
