// SPDX-License-Identifier: MIT OR Apache-2.0
//! A call through the table allocates nothing, and neither does the null HIP's counting of it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

use windlass_hip_sys::bindings::*;
use windlass_hip_sys::null::{Instance, Options};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn launching_recording_and_asking_allocate_nothing() {
    let instance = Instance::new(Options::default());
    let api = instance.api();
    let (mut stream, mut event) = (ptr::null_mut(), ptr::null_mut());
    let (mut module, mut function) = (ptr::null_mut(), ptr::null_mut());
    let submit = |stream, event, function| {
        // SAFETY: the handles are alive; the null HIP reads no arguments.
        unsafe {
            api.hipSetDevice(0);
            api.hipModuleLaunchKernel(
                function,
                1,
                1,
                1,
                64,
                1,
                1,
                0,
                stream,
                ptr::null_mut(),
                ptr::null_mut(),
            );
            api.hipEventRecord(event, stream);
            assert_eq!(api.hipEventQuery(event), hipError_t::hipSuccess);
        }
    };
    // SAFETY: the pointers are ours; the null HIP does not read the image.
    unsafe {
        api.hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking);
        api.hipEventCreateWithFlags(&mut event, hipEventDisableTiming);
        api.hipModuleLoadData(&mut module, b"any".as_ptr().cast());
        api.hipModuleGetFunction(&mut function, module, c"kernel".as_ptr());
    }
    let before = ALLOCATIONS.get();
    for _ in 0..100 {
        submit(stream, event, function);
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
    assert_eq!(instance.count("hipModuleLaunchKernel"), 100);
    drop(Box::new(1));
    assert_eq!(ALLOCATIONS.get() - before, 1, "the counter counts");
}
