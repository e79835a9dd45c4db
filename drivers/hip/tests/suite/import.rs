// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that the driver did not allocate: the calls of HIP, and the return to its owner.

use std::{
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU32, Ordering::SeqCst},
    },
};

use windlass_hal::{Buffer, BufferParams, Code, Device, Error, External, Feature, Result, Semaphore};
use windlass_hip_sys::{
    bindings::hipError_t,
    interposer::Interposer,
    null::{Instance, Options},
};

use crate::common::{SOON, eventually, nothing_leaks, open, open_manual, open_with};

const SIZE: usize = 4096;

/// The program's own memory, and the number of its releases.
#[derive(Clone)]
struct Loan {
    bytes: Arc<[AtomicU8]>,
    releases: Arc<AtomicU32>,
}

impl Loan {
    fn new() -> Self {
        Self { bytes: (0..SIZE).map(|_| AtomicU8::new(1)).collect(), releases: Arc::default() }
    }

    /// Imports the bytes from `start` on.
    fn lend(&self, device: &Device, start: usize, size: usize) -> Result<Buffer> {
        let (bytes, releases) = (self.bytes.clone(), self.releases.clone());
        let release = move || {
            drop(bytes);
            releases.fetch_add(1, SeqCst);
        };
        let pointer = NonNull::from(&self.bytes[start..start + size]).cast();
        // SAFETY: the release keeps the bytes, which are atomics; other imports of them are refused.
        unsafe { device.import_host_pointer(&BufferParams::host(), pointer, size as u64, release) }
    }

    fn releases(&self) -> u32 {
        self.releases.load(SeqCst)
    }
}

fn import_device(device: &Device, address: u64, size: u64) -> Result<Buffer> {
    // SAFETY: memory of the device that the test holds, or memory that no work uses.
    unsafe { device.import_device_address(&BufferParams::device(), address, size, || {}) }
}

#[track_caller]
fn refused(result: Result<Buffer>, code: Code, words: &str) -> Error {
    let error = result.expect_err("a mistake");
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(words), "{error}");
    error
}

fn registered(instance: &Instance) -> u64 {
    instance.count("hipHostRegister") - instance.count("hipHostUnregister")
}

#[test]
fn memory_is_registered_as_long_as_its_buffer() {
    let (instance, device) = open();
    let loan = Loan::new();
    let buffer = loan.lend(&device, 0, SIZE).expect("imported");
    assert_eq!(registered(&instance), 1);
    let part = buffer.subspan(64, 64).expect("in bounds");
    drop(buffer);
    assert_eq!((registered(&instance), loan.releases()), (1, 0));
    drop(part);
    eventually("the release", || loan.releases() == 1);
    assert_eq!(registered(&instance), 0);
    // The memory can be imported again.
    drop(loan.lend(&device, 0, SIZE).expect("imported again"));
    eventually("the second release", || loan.releases() == 2);
    drop(device);
    nothing_leaks(&instance);
}

#[test]
fn memory_can_be_imported_again_at_once() {
    let (instance, device) = open();
    let loan = Loan::new();
    for start in (0..100).map(|round| round % 2 * 64) {
        drop(loan.lend(&device, start, SIZE - 64).expect("imported"));
    }
    eventually("the releases", || loan.releases() == 100);
    drop(device);
    nothing_leaks(&instance);
}

#[test]
fn work_in_flight_keeps_the_memory() {
    let (instance, device) = open_manual();
    let (loan, done) = (Loan::new(), Semaphore::new(0));
    let buffer = loan.lend(&device, 0, SIZE).expect("imported");
    device.queue(0).expect("a queue").fill(&[], &[done.at(1)], &buffer, 2_u8).expect("submitted");
    drop(buffer);
    device.poll();
    assert_eq!((registered(&instance), loan.releases()), (1, 0));
    instance.complete();
    done.wait_blocking(1, SOON).expect("filled");
    eventually("the release", || {
        device.poll();
        loan.releases() == 1
    });
    assert!(loan.bytes.iter().all(|byte| byte.load(SeqCst) == 2));
    drop(device);
    nothing_leaks(&instance);
}

#[test]
fn memory_that_hip_knows_is_not_registered_again() {
    let (instance, device) = open();
    let loan = Loan::new();
    let whole = loan.lend(&device, 64, SIZE - 128).expect("imported");
    for (start, size) in [(64, SIZE - 128), (64, 1), (1024, 64), (0, 65), (SIZE - 65, 65)] {
        refused(loan.lend(&device, start, size), Code::AlreadyExists, "subspans");
    }
    // Pinned memory of another owner, here of another allocation.
    let pinned = device.allocate(&BufferParams::host(), 64).expect("host memory");
    let External::Host { pointer, size } = pinned.export_host_pointer().expect("mapped").memory() else {
        panic!("a host pointer");
    };
    // SAFETY: memory that outlives the refused attempt.
    let again = unsafe { device.import_host_pointer(&BufferParams::host(), pointer, size, || {}) };
    refused(again, Code::AlreadyExists, "device address");
    assert_eq!((registered(&instance), loan.releases()), (1, 0));
    drop(whole);
    eventually("the release", || loan.releases() == 1);
}

#[test]
fn an_address_must_be_of_this_device() {
    let (_instance, device) = open_with(Options { devices: 2, ..Options::default() }, "test://1");
    let (_other, stranger) = open();
    let mine = device.allocate_device(SIZE as u64).expect("memory");
    let whole = mine.device_address();
    let twin = import_device(&device, whole + 64, 64).expect("a part of it");
    assert_eq!((twin.device_address(), twin.len()), (whole + 64, 64));
    let foreign = stranger.allocate_device(64).expect("memory");
    refused(import_device(&device, foreign.device_address(), 64), Code::InvalidArgument, "does not know");
    let beyond = 1 << 40;
    refused(import_device(&device, whole, beyond), Code::InvalidArgument, "its allocation has");
}

#[test]
fn an_address_of_another_gpu_is_refused() {
    let instance = Instance::new(Options { devices: 2, ..Options::default() });
    let mut registry = windlass_hal::Registry::new();
    registry.register(windlass_hip::Driver::new("test", windlass_hip::table(instance.api())));
    let open = |uri| registry.open(uri).expect("the null HIP opens");
    let (first, second, both) = (open("test://0"), open("test://1"), open("test://0,1"));
    let memory = first.allocate_device(64).expect("memory");
    refused(import_device(&second, memory.device_address(), 64), Code::InvalidArgument, "belongs to GPU 0");
    import_device(&both, memory.device_address(), 64).expect("a GPU of this device");
    import_device(&first, memory.device_address(), 64).expect("this very GPU");
}

#[test]
fn what_the_library_cannot_is_a_declared_lack() {
    for (absent, host, device) in [
        ("hipHostRegister", true, false),
        ("hipHostUnregister", true, false),
        ("hipMemGetAddressRange", true, true),
        ("hipPointerGetAttributes", true, true),
    ] {
        let without = vec![absent.to_owned()];
        let (_instance, opened) = open_with(Options { without, ..Options::default() }, "test://");
        let lacks = |feature| opened.info().lacks.iter().any(|lack| lack.feature == feature);
        assert_eq!((lacks(Feature::ImportHost), lacks(Feature::ImportDevice)), (host, device), "{absent}");
        let loan = Loan::new();
        refused(loan.lend(&opened, 0, SIZE), Code::Unimplemented, absent);
        if device {
            refused(import_device(&opened, 4096, 64), Code::Unimplemented, absent);
        }
        assert_eq!(loan.releases(), 0);
    }
}

/// The device may write to it as long as the process runs.
#[test]
fn a_lost_device_keeps_what_it_was_lent() {
    let instance = Instance::new(Options::default());
    let interposer = Interposer::new(instance.api());
    let mut registry = windlass_hal::Registry::new();
    registry.register(windlass_hip::Driver::new("test", windlass_hip::table(interposer.api())));
    let device = registry.open("test://").expect("the null HIP opens");
    let (used, idle, done) = (Loan::new(), Loan::new(), Semaphore::new(0));
    let buffers = [&used, &idle].map(|loan| loan.lend(&device, 0, SIZE).expect("imported"));
    interposer.on_call(|call| (call.name == "hipMemsetD8Async").then_some(hipError_t::hipErrorUnknown));
    let _ = device.queue(0).expect("a queue").fill(&[], &[done.at(1)], &buffers[0], 2_u8);
    let error = done.wait_blocking(1, SOON).expect_err("lost");
    assert_eq!(error.code(), Code::DataLoss, "{error}");
    refused(Loan::new().lend(&device, 0, SIZE), Code::DataLoss, "lost");
    let memory = [&used, &idle].map(|loan| (Arc::downgrade(&loan.bytes), loan.releases.clone()));
    drop((buffers, device, used, idle));
    // Any release would have been queued before the last of these.
    for _ in 0..100 {
        let (passed, pass) = std::sync::mpsc::channel();
        windlass_hal::callback_pool::spawn(Box::new(move || passed.send(()).expect("the test waits")));
        pass.recv().expect("the pool runs");
    }
    assert_eq!(registered(&instance), 2);
    for (bytes, releases) in memory {
        assert_eq!(releases.load(SeqCst), 0);
        assert!(bytes.strong_count() > 0, "memory that the device may write to was freed");
    }
}
