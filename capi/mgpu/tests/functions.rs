// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exported functions, called as generated code calls them: through the shared library, without MLIR.
#![allow(unsafe_code, clippy::print_stdout, clippy::print_stderr)]
#![cfg(target_os = "linux")]

mod common;

use std::{
    ffi::c_void,
    ptr,
    sync::atomic::{AtomicU32, Ordering},
};

use common::{Dense, Library, NULL, child, in_child, kernel, library};

#[test]
fn copies_kernels_and_fills_run_in_the_order_of_a_stream() {
    let mgpu = library();
    let n = 1000_usize;
    let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..n).map(|i| 2.0 * i as f32).collect();
    let mut sum = vec![0_f32; n];
    let stream = mgpu.stream();
    let [da, db, dc] = [(); 3].map(|()| mgpu.alloc(4 * n, stream));
    mgpu.copy(da, a.as_ptr(), 4 * n, stream);
    mgpu.copy(db, b.as_ptr(), 4 * n, stream);
    let module = mgpu.load(kernel("vector_add"));
    let add = mgpu.function(module, c"vector_add");
    mgpu.launch(add, 4, 256, stream, &[&da, &db, &dc, &(n as i32)]);
    // As generated code does: the work keeps the code and the memory.
    mgpu.unload(module);
    mgpu.copy(sum.as_mut_ptr(), dc, 4 * n, stream);
    for memory in [da, db, dc] {
        mgpu.free(memory, stream);
    }
    mgpu.synchronize(stream);
    mgpu.destroy_stream(stream);
    assert!(sum.iter().enumerate().all(|(i, sum)| *sum == 3.0 * i as f32));
}

#[test]
fn fills_of_two_and_four_bytes_stay_within_their_words() {
    let mgpu = library();
    let stream = mgpu.stream();
    let memory = mgpu.alloc(64, stream);
    let mut bytes = [1_u8; 64];
    mgpu.fill32(memory, 0x0403_0201, 16, stream);
    mgpu.fill16(memory.wrapping_byte_add(6), 0xbbaa, 3, stream);
    mgpu.copy(bytes.as_mut_ptr(), memory, 64, stream);
    mgpu.synchronize(stream);
    let mut expected = [1, 2, 3, 4].repeat(16);
    expected[6..12].copy_from_slice(&[0xaa, 0xbb, 0xaa, 0xbb, 0xaa, 0xbb]);
    assert_eq!(bytes[..], expected);
    mgpu.free(memory, stream);
    mgpu.destroy_stream(stream);
}

/// A kernel holds one stream, and only another stream ends it. So nothing here may wait for the device, and the second
/// stream must not wait for the first.
#[test]
fn calls_return_while_the_stream_is_held() {
    let Some(mgpu) = in_orders("calls_return_while_the_stream_is_held") else { return };
    let (held, free) = (mgpu.stream(), mgpu.stream());
    let [flag, seen] = [(); 2].map(|()| mgpu.alloc(4, NULL));
    mgpu.fill32(flag, 0, 1, free);
    mgpu.synchronize(free);
    let module = mgpu.load(kernel("spin"));
    let (wait, set) = (mgpu.function(module, c"spin_until"), mgpu.function(module, c"set_flag"));
    mgpu.launch(wait, 1, 1, held, &[&flag, &7_u32, &seen]);
    // A round trip through the host behind the kernel: the bytes must be those of the time of the copy, not of the call.
    let mut passed = 0_u32;
    let mut back = 0_u32;
    let other = mgpu.alloc(4, held);
    mgpu.copy(&raw mut passed, seen, 4, held);
    mgpu.copy(other, &raw const passed, 4, held);
    mgpu.copy(&raw mut back, other, 4, held);
    let done = mgpu.event();
    mgpu.record(done, held);
    // Freed behind all of this, and unloaded in the middle of it.
    mgpu.free(other, held);
    mgpu.unload(module);
    let after = mgpu.stream();
    mgpu.wait_event(after, done);
    mgpu.destroy_event(done);
    let marker = mgpu.alloc(4, after);
    mgpu.copy(marker, &raw const back, 4, after);
    let again = mgpu.load(kernel("spin"));
    assert_ne!(mgpu.function(again, c"set_flag"), set, "handles are never used twice");
    mgpu.launch(mgpu.function(again, c"set_flag"), 1, 1, free, &[&flag, &7_u32]);
    let mut last = 0_u32;
    mgpu.copy(&raw mut last, marker, 4, after);
    mgpu.synchronize(after);
    assert_eq!((passed, back, last), (7, 7, 7));
    mgpu.destroy_stream(held);
    // The null stream follows all streams, destroyed ones too.
    let mut through_null = 0_u32;
    mgpu.copy(&raw mut through_null, seen, 4, NULL);
    mgpu.synchronize(NULL);
    assert_eq!(through_null, 7);
}

/// In a process of its own, the library. Else runs the test in several such processes, under different orders of work.
/// Streams take the queues in turns, so only there a test knows which streams have a queue of their own.
fn in_orders(test: &str) -> Option<&'static Library> {
    let library = in_child(test);
    if library.is_none() {
        let seeds = (1..=6).map(|seed| format!("hip-sim://gfx942?seed={seed}"));
        for uri in std::iter::once("hip-sim://gfx942".to_owned()).chain(seeds) {
            child(test, &[("WINDLASS_DEVICE", &uri)]).succeeds();
        }
    }
    library
}

/// A kernel that waits until the host writes to memory that both share.
struct Held<'a> {
    mgpu: &'a Library,
    stream: *mut c_void,
    flag: *mut u32,
}

impl<'a> Held<'a> {
    fn new(mgpu: &'a Library) -> Self {
        let stream = mgpu.stream();
        let flag = mgpu.alloc_shared(4, stream).cast::<u32>();
        // SAFETY: nothing else uses the flag yet.
        unsafe { flag.write(0) };
        let seen = mgpu.alloc(4, stream);
        let module = mgpu.load(kernel("spin"));
        mgpu.launch(mgpu.function(module, c"spin_until_host"), 1, 1, stream, &[&flag, &1_u32, &seen]);
        mgpu.unload(module);
        Self { mgpu, stream, flag }
    }

    /// Lets the kernel end, and waits for the stream.
    fn release(self) {
        // SAFETY: the kernel reads the flag atomically.
        unsafe { AtomicU32::from_ptr(self.flag) }.store(1, Ordering::Release);
        self.mgpu.synchronize(self.stream);
        self.mgpu.destroy_stream(self.stream);
    }
}

#[test]
fn the_null_stream_follows_all_streams_and_precedes_later_work() {
    let Some(mgpu) = in_orders("the_null_stream_follows_all_streams_and_precedes_later_work") else { return };
    let (before, after) = (Held::new(mgpu), mgpu.stream());
    let [first, second] = [(); 2].map(|()| mgpu.alloc(4, NULL));
    mgpu.fill32(first, 3, 1, before.stream);
    // Behind the held stream, although nothing says so.
    mgpu.copy(second, first, 4, NULL);
    // Behind the null stream.
    let mut word = 0_u32;
    mgpu.copy(&raw mut word, second, 4, after);
    before.release();
    mgpu.synchronize(after);
    assert_eq!(word, 3);
}

#[test]
fn freed_memory_is_not_given_out_while_work_of_any_stream_uses_it() {
    let Some(mgpu) = in_orders("freed_memory_is_not_given_out_while_work_of_any_stream_uses_it") else {
        return;
    };
    let (held, other) = (Held::new(mgpu), mgpu.stream());
    let freed = mgpu.alloc(1 << 16, other);
    mgpu.fill32(freed, 7, 1 << 14, held.stream);
    // On a stream that knows nothing of the fill.
    mgpu.free(freed, other);
    let mut words = vec![0_u32; 1 << 14];
    let news = [(); 4].map(|()| mgpu.alloc(1 << 16, other));
    for new in news {
        mgpu.fill32(new, 9, 1 << 14, other);
    }
    mgpu.synchronize(other);
    held.release();
    for new in news {
        mgpu.copy(words.as_mut_ptr(), new, 1 << 16, other);
        mgpu.synchronize(other);
        assert!(words.iter().all(|word| *word == 9));
    }
}

#[test]
fn a_module_starts_with_new_global_variables_each_time() {
    let mgpu = library();
    let stream = mgpu.stream();
    let memory = mgpu.alloc(4, stream);
    let mut counts = [0_u32; 3];
    for count in &mut counts {
        let module = mgpu.load(kernel("globals"));
        mgpu.launch(mgpu.function(module, c"use_globals"), 1, 1, stream, &[&memory, &1_i32]);
        mgpu.launch(mgpu.function(module, c"read_counter"), 1, 1, stream, &[&memory]);
        mgpu.unload(module);
        mgpu.copy(&raw mut *count, memory, 4, stream);
    }
    mgpu.synchronize(stream);
    // The counter starts at 7.
    assert_eq!(counts, [8; 3]);
}

#[test]
fn an_event_marks_the_work_of_its_recording() {
    let mgpu = library();
    let (first, second) = (mgpu.stream(), mgpu.stream());
    let event = mgpu.event();
    // Nothing was recorded: these return.
    mgpu.wait_event(second, event);
    mgpu.synchronize_event(event);
    let memory = mgpu.alloc(4 << 20, first);
    for round in 1..=20_u32 {
        mgpu.fill32(memory, round, 1 << 20, first);
        mgpu.record(event, first);
        mgpu.wait_event(second, event);
        let mut words = vec![0_u32; 1 << 20];
        mgpu.copy(words.as_mut_ptr(), memory, 4 << 20, second);
        mgpu.record(event, second);
        mgpu.wait_event(first, event);
        mgpu.synchronize_event(event);
        assert!(words.iter().all(|word| *word == round), "round {round}");
    }
    for stream in [first, second] {
        mgpu.destroy_stream(stream);
    }
    mgpu.destroy_event(event);
}

#[test]
fn kernels_use_registered_and_shared_memory_in_place() {
    const TEST: &str = "kernels_use_registered_and_shared_memory_in_place";
    let Some(mgpu) = in_child(TEST) else {
        // Some GPUs know the host's memory by an address of their own.
        for uri in ["hip-sim://gfx942", "hip-sim://gfx942?lock=apart"] {
            child(TEST, &[("WINDLASS_DEVICE", uri)]).succeeds();
        }
        return;
    };
    let n = 4096_usize;
    let stream = mgpu.stream();
    let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let mut b = vec![1_f32; n];
    let shared = mgpu.alloc_shared(4 * n, stream).cast::<f32>();
    mgpu.register(a.as_ptr(), 4 * n);
    let descriptor =
        Dense { allocated: NULL, aligned: b.as_mut_ptr(), offset: 0, sizes: [4, 1024], strides: [1024, 1] };
    mgpu.register_memref(2, &descriptor, 4);
    let view = mgpu.device_memref(b.as_mut_ptr(), n);
    assert_eq!((view.offset, view.size, view.stride), (0, n as i64, 1));
    let module = mgpu.load(kernel("vector_add"));
    let add = mgpu.function(module, c"vector_add");
    mgpu.launch(add, 16, 256, stream, &[&a.as_ptr(), &b.as_ptr(), &shared, &(n as i32)]);
    mgpu.launch(add, 16, 256, stream, &[&a.as_ptr(), &shared, &view.aligned, &(n as i32)]);
    // Copies know both addresses.
    let mut copied = [0_f32; 2];
    mgpu.copy(&raw mut copied[0], view.aligned.wrapping_byte_add(4), 4, stream);
    mgpu.copy(&raw mut copied[1], a.as_ptr().wrapping_add(3), 4, stream);
    // Waits for the kernels.
    mgpu.unregister(a.as_ptr());
    mgpu.unregister_memref(2, &descriptor, 4);
    for (i, b) in b.iter().enumerate() {
        // SAFETY: the kernels are done.
        assert_eq!((unsafe { *shared.add(i) }, *b), (i as f32 + 1.0, 2.0 * i as f32 + 1.0));
    }
    mgpu.synchronize(stream);
    assert_eq!(copied, [3.0, 3.0]);
    mgpu.free(shared.cast(), stream);
    mgpu.destroy_stream(stream);
}

/// Over `hip://`, for which the simulated HIP's library stands in.
#[test]
fn copies_know_memory_of_other_libraries() {
    const TEST: &str = "copies_know_memory_of_other_libraries";
    let Some(hip) = common::drop_in() else {
        eprintln!("skipped: the drop-in library is not built; `cargo test --workspace` builds it");
        return;
    };
    let Some(mgpu) = in_child(TEST) else {
        return child(TEST, &[("WINDLASS_DEVICE", &format!("hip://?library={}", hip.display()))]).succeeds();
    };
    let mut foreign: *mut c_void = NULL;
    // SAFETY: hipMalloc has this type, and the library stays loaded.
    unsafe {
        let hip = libloading::Library::new(hip).unwrap();
        let malloc: unsafe extern "C" fn(*mut *mut c_void, usize) -> i32 = *hip.get("hipMalloc").unwrap();
        assert_eq!(malloc(&raw mut foreign, 64), 0);
        std::mem::forget(hip);
    }
    let stream = mgpu.stream();
    let (given, mut found) = ([5_u32; 16], [0_u32; 16]);
    mgpu.copy(foreign, given.as_ptr(), 64, stream);
    mgpu.fill32(foreign.wrapping_byte_add(4), 6, 2, stream);
    mgpu.copy(found.as_mut_ptr(), foreign, 64, stream);
    mgpu.synchronize(stream);
    assert_eq!(found[..4], [5, 6, 6, 5]);
}

#[test]
fn nothing_is_no_failure() {
    let mgpu = library();
    let stream = mgpu.stream();
    assert!(mgpu.alloc(0, stream).is_null());
    mgpu.free(NULL, stream);
    mgpu.copy::<u8, u8>(ptr::null_mut(), ptr::null(), 0, stream);
    mgpu.fill32(NULL, 1, 0, stream);
    let empty =
        Dense { allocated: NULL, aligned: ptr::null_mut(), offset: 0, sizes: [0, 4], strides: [4, 1] };
    mgpu.register_memref(2, &empty, 4);
    mgpu.unregister_memref(2, &empty, 4);
    let module = mgpu.load(kernel("vector_add"));
    let add = mgpu.function(module, c"vector_add");
    mgpu.launch(add, 0, 256, stream, &[&NULL, &NULL, &NULL, &0_i32]);
    mgpu.unload(module);
    mgpu.synchronize(stream);
    mgpu.destroy_stream(stream);
}

#[test]
fn many_threads_use_streams_of_their_own_and_a_common_one() {
    let mgpu = library();
    let common = mgpu.stream() as usize;
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            scope.spawn(move || {
                let common = ptr::without_provenance_mut(common);
                for round in 0..25 {
                    let own = mgpu.stream();
                    let memory = mgpu.alloc(4 * 256, own);
                    let event = mgpu.event();
                    let mut words = [0_u32; 256];
                    mgpu.fill32(memory, thread * 100 + round, 256, own);
                    mgpu.record(event, own);
                    mgpu.wait_event(common, event);
                    mgpu.copy(words.as_mut_ptr(), memory, 4 * 256, common);
                    mgpu.synchronize(common);
                    assert_eq!(words, [thread * 100 + round; 256]);
                    mgpu.free(memory, own);
                    mgpu.destroy_event(event);
                    mgpu.destroy_stream(own);
                }
            });
        }
    });
}

#[test]
fn memory_that_was_freed_serves_again() {
    // 64 MiB of memory, and 40 allocations of 24 MiB.
    let Some(mgpu) = in_child("memory_that_was_freed_serves_again") else {
        let run = child(
            "memory_that_was_freed_serves_again",
            &[("WINDLASS_DEVICE", "hip-sim://gfx942?memory=64M")],
        );
        return run.succeeds();
    };
    let stream = mgpu.stream();
    for round in 0..40_u32 {
        let memory = mgpu.alloc(24 << 20, stream);
        mgpu.fill32(memory, round, 6 << 20, stream);
        let mut word = 0_u32;
        mgpu.copy(&raw mut word, memory.wrapping_byte_add((24 << 20) - 4), 4, stream);
        mgpu.free(memory, stream);
        if round % 8 == 7 {
            mgpu.synchronize(stream);
            assert_eq!(word, round);
        }
    }
}

#[test]
fn a_process_may_end_with_work_in_flight() {
    const TEST: &str = "a_process_may_end_with_work_in_flight";
    if let Some(mgpu) = in_child(TEST) {
        let stream = mgpu.stream();
        let memory = mgpu.alloc(8, stream);
        mgpu.fill32(memory, 0, 2, stream);
        let module = mgpu.load(kernel("spin"));
        // It never ends.
        let seen = memory.wrapping_byte_add(4);
        mgpu.launch(mgpu.function(module, c"spin_until"), 1, 1, stream, &[&memory, &1_u32, &seen]);
        let mut word = 0_u32;
        mgpu.copy(&raw mut word, memory, 4, stream);
        return;
    }
    for _ in 0..3 {
        child(TEST, &[]).succeeds();
    }
}

#[test]
fn streams_and_memory_lie_on_the_gpu_that_a_thread_chose() {
    const TEST: &str = "streams_and_memory_lie_on_the_gpu_that_a_thread_chose";
    let Some(mgpu) = in_child(TEST) else {
        return child(TEST, &[("WINDLASS_DEVICE", "hip-sim://gfx942?devices=2")]).succeeds();
    };
    for gpu in [1, 0] {
        mgpu.set_default_device(gpu);
        let stream = mgpu.stream();
        let memory = mgpu.alloc(4096, stream);
        let mut words = [0_u32; 1024];
        mgpu.fill32(memory, gpu as u32 + 9, 1024, stream);
        mgpu.copy(words.as_mut_ptr(), memory, 4096, stream);
        mgpu.synchronize(stream);
        assert_eq!(words, [gpu as u32 + 9; 1024]);
    }
}

#[test]
fn a_machine_without_a_gpu_runs_on_a_simulated_one_and_says_so() {
    const TEST: &str = "a_machine_without_a_gpu_runs_on_a_simulated_one_and_says_so";
    if let Some(mgpu) = in_child(TEST) {
        return mgpu.destroy_stream(mgpu.stream());
    }
    if facade_lists_a_gpu() {
        return;
    }
    let run = child(TEST, &[("WINDLASS_DEVICE", "")]);
    run.succeeds();
    assert!(run.error.contains("no real GPU") && run.error.contains("Simulated"), "{run:?}");
    let run = child(TEST, &[("WINDLASS_DEVICE", "nowhere://")]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.error.contains("mgpuStreamCreate() failed: ") && run.error.contains("nowhere"), "{run:?}");
}

fn facade_lists_a_gpu() -> bool {
    std::path::Path::new("/dev/kfd").exists()
}

#[test]
fn mlirs_functions_are_exported_and_no_others() {
    let mut exported = common::exported();
    exported.sort_unstable();
    let mut wanted = [
        "EventCreate",
        "EventDestroy",
        "EventRecord",
        "EventSynchronize",
        "LaunchKernel",
        "MemAlloc",
        "MemFree",
        "MemGetDeviceMemRef1dFloat",
        "MemGetDeviceMemRef1dInt32",
        "MemHostRegister",
        "MemHostRegisterMemRef",
        "MemHostUnregister",
        "MemHostUnregisterMemRef",
        "Memcpy",
        "Memset16",
        "Memset32",
        "ModuleGetFunction",
        "ModuleLoad",
        "ModuleLoadJIT",
        "ModuleUnload",
        "SetDefaultDevice",
        "StreamCreate",
        "StreamDestroy",
        "StreamSynchronize",
        "StreamWaitEvent",
    ]
    .map(|name| format!("mgpu{name}"));
    wanted.sort_unstable();
    assert_eq!(exported, wanted);
}
