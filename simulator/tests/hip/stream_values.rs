// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waits for words of memory, and writes of them, in stream order.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::common::{Block, Log, Machine};
use windlass_hip_sys::bindings::*;

const GTE: u32 = hipStreamWaitValueGte;
const EQ: u32 = hipStreamWaitValueEq;
const AND: u32 = hipStreamWaitValueAnd;
const NOR: u32 = hipStreamWaitValueNor;

/// `hipMallocSignalMemory`.
const SIGNAL: u32 = 2;

/// A word that the host and all streams reach.
struct Word(*mut c_void);

impl Word {
    fn new(machine: &Machine, value: u64) -> Self {
        let mut pointer = null_mut();
        ok!(machine, hipExtMallocWithFlags(&mut pointer, 8, SIGNAL));
        let word = Self(pointer);
        word.set(value);
        word
    }

    fn atomic(&self) -> &AtomicU64 {
        // SAFETY: memory of 8 bytes that the tests never free while they use it, and that everybody uses by atomics.
        unsafe { AtomicU64::from_ptr(self.0.cast()) }
    }

    fn set(&self, value: u64) {
        self.atomic().store(value, SeqCst);
    }

    fn get(&self) -> u64 {
        self.atomic().load(SeqCst)
    }
}

/// Waits by the host until `done` says so. Calls of HIP in between let work run under a seed.
fn until(machine: &Machine, done: impl Fn() -> bool) {
    while !done() {
        let _ = hip!(machine, hipDeviceGet(&mut 0, 0));
        std::thread::yield_now();
    }
}

#[test]
fn a_stream_waits_until_the_host_writes_the_word() {
    for options in ["", "gfx942?seed=1", "gfx942?seed=2"] {
        let machine = Machine::new(options);
        let (stream, other) = (machine.stream(), machine.stream());
        let (word, log) = (Word::new(&machine, 6), Log::default());
        ok!(machine, hipStreamWaitValue64(stream, word.0, 7, GTE, u64::MAX));
        machine.log_on(stream, &log, "behind");
        machine.log_on(other, &log, "beside");
        ok!(machine, hipStreamSynchronize(other));
        assert_eq!(log.words(), ["beside"], "{options}: other streams go on");
        fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
        word.set(8);
        ok!(machine, hipStreamSynchronize(stream));
        assert_eq!(log.words(), ["beside", "behind"], "{options}");
    }
}

#[test]
fn a_write_of_another_stream_ends_the_wait_in_the_order_of_that_stream() {
    for seed in 0..20 {
        let machine = Machine::new(&format!("gfx942?seed={seed}&hardware_queues=0"));
        let (waits, writes) = (machine.stream(), machine.stream());
        let (word, log) = (Word::new(&machine, 0), Log::default());
        ok!(machine, hipStreamWaitValue32(waits, word.0, 5, EQ, u32::MAX));
        machine.log_on(waits, &log, "after");
        machine.log_on(writes, &log, "before");
        ok!(machine, hipStreamWriteValue32(writes, word.0, 5, 0));
        ok!(machine, hipStreamSynchronize(waits));
        assert_eq!(log.words(), ["before", "after"], "seed {seed}");
    }
}

#[test]
fn each_comparison_holds_as_hip_says() {
    // Each has a word for which it does not hold, and one for which it does.
    for (flags, value, mask, no, yes) in [
        (GTE, 7, 0xff, 0xf06, 0xf07),
        (EQ, 7, 0x0f, 0x78, 0x87),
        (AND, 0x30, 0xf0, 0x0f, 0x10),
        (NOR, 0x05, 0x0f, 0x0a, 0x08),
    ] {
        let machine = Machine::new("");
        let stream = machine.stream();
        let word = Word::new(&machine, no);
        ok!(machine, hipStreamWaitValue64(stream, word.0, value, flags, mask));
        fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
        word.set(yes);
        ok!(machine, hipStreamSynchronize(stream));
        word.set(no);
        ok!(machine, hipStreamWaitValue32(stream, word.0, value as u32, flags, mask as u32));
        fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
        word.set(yes);
        ok!(machine, hipStreamSynchronize(stream));
    }
}

#[test]
fn the_word_counts_when_the_stream_comes_to_it() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let word = Word::new(&machine, 1);
    let gate = machine.gate(stream);
    ok!(machine, hipStreamWriteValue64(stream, word.0, 2, 0));
    // It holds now, and not any more when the stream is here.
    ok!(machine, hipStreamWaitValue64(stream, word.0, 1, EQ, u64::MAX));
    drop(gate);
    until(&machine, || word.get() == 2);
    fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
    word.set(1);
    ok!(machine, hipStreamSynchronize(stream));
}

#[test]
fn a_write_of_32_bits_leaves_the_rest() {
    let machine = Machine::new("");
    let word = Word::new(&machine, u64::MAX);
    // The flags of a write are reserved.
    ok!(machine, hipStreamWriteValue32(null_mut(), word.0, 7, 1));
    ok!(machine, hipStreamSynchronize(null_mut()));
    assert_eq!(word.get(), 0xffff_ffff_0000_0007);
    // Device memory and pinned memory have words too.
    let device = machine.upload(&[1_u64, 2]);
    ok!(machine, hipStreamWriteValue64(null_mut(), device.wrapping_byte_add(8), 9, 0));
    assert_eq!(machine.download::<u64>(device, 2), [1, 9]);
}

#[test]
fn no_word_is_refused() {
    let machine = Machine::new("");
    let (stream, word) = (machine.stream(), Word::new(&machine, 0));
    let mut own = 0_u64;
    let own = (&raw mut own).cast();
    for pointer in [null_mut(), own, word.0.wrapping_byte_add(1), word.0.wrapping_byte_add(8)] {
        fails!(hipErrorInvalidValue, machine, hipStreamWaitValue64(stream, pointer, 0, GTE, 1));
        fails!(hipErrorInvalidValue, machine, hipStreamWriteValue32(stream, pointer, 0, 0));
    }
    fails!(hipErrorInvalidValue, machine, hipStreamWaitValue32(stream, word.0, 0, 4, 1));
    ok!(machine, hipStreamSynchronize(stream));
    let mut can = 0;
    let attribute = hipDeviceAttribute_t::hipDeviceAttributeCanUseStreamWaitValue;
    ok!(machine, hipDeviceGetAttribute(&mut can, attribute, 0));
    assert_eq!(can, 1);
}

#[test]
fn a_capture_holds_no_words() {
    let machine = Machine::new("");
    let (stream, word) = (machine.stream(), Word::new(&machine, 0));
    let mode = hipStreamCaptureMode::hipStreamCaptureModeThreadLocal;
    ok!(machine, hipStreamBeginCapture(stream, mode));
    fails!(hipErrorStreamCaptureUnsupported, machine, hipStreamWriteValue64(stream, word.0, 1, 0));
    assert_eq!(word.get(), 0);
}

#[test]
fn a_failed_device_ends_the_wait() {
    let machine = Machine::new("?faults=sticky");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles/faults.ccob");
    let module = machine.load(&std::fs::read(path).unwrap());
    let write_at = machine.function(module, c"write_at");
    let (stream, other) = (machine.stream(), machine.stream());
    let word = Word::new(&machine, 0);
    ok!(machine, hipStreamWaitValue64(stream, word.0, 1, GTE, u64::MAX));
    let words = machine.upload(&[0_u32; 16]);
    let arguments = Block::default().pointer(words).bytes(&16_i64.to_le_bytes()).u32(7).done();
    assert_eq!(machine.launch(write_at, 1, 1, other, &arguments), hipError_t::hipSuccess);
    fails!(hipErrorIllegalAddress, machine, hipStreamSynchronize(other));
    fails!(hipErrorIllegalAddress, machine, hipStreamSynchronize(stream));
}
