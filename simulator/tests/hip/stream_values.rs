// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waits for words of memory, and writes of them, in stream order.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::{null, null_mut};
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
        let mut attributes = hipPointerAttribute_t::default();
        ok!(machine, hipPointerGetAttributes(&mut attributes, pointer));
        assert_eq!((attributes.type_, attributes.hostPointer), (hipMemoryType::hipMemoryTypeHost, pointer));
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

/// One operation of a batch.
fn operation(
    kind: hipStreamBatchMemOpType,
    word: &Word,
    value: u64,
    flags: u32,
) -> hipStreamBatchMemOpParams {
    let mut parameters = hipStreamBatchMemOpParams::default();
    parameters.waitValue = hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t {
        operation: kind,
        address: word.0,
        __bindgen_anon_1: hipStreamBatchMemOpParams_union_hipStreamMemOpWaitValueParams_t__bindgen_ty_1 {
            value64: value,
        },
        flags,
        alias: null_mut(),
    };
    parameters
}

const WAIT_32: hipStreamBatchMemOpType = hipStreamBatchMemOpType::hipStreamMemOpWaitValue32;
const WAIT_64: hipStreamBatchMemOpType = hipStreamBatchMemOpType::hipStreamMemOpWaitValue64;
const WRITE_32: hipStreamBatchMemOpType = hipStreamBatchMemOpType::hipStreamMemOpWriteValue32;
const WRITE_64: hipStreamBatchMemOpType = hipStreamBatchMemOpType::hipStreamMemOpWriteValue64;

#[test]
fn a_batch_waits_and_writes_in_its_order() {
    for options in ["", "gfx942?seed=3"] {
        let machine = Machine::new(options);
        let stream = machine.stream();
        let [first, second, third] = [(); 3].map(|()| Word::new(&machine, u64::MAX << 32));
        let mut list = [
            operation(WRITE_64, &first, 1, 0),
            operation(WAIT_32, &second, 5, EQ),
            operation(WRITE_32, &third, 7 << 32 | 9, 0),
            operation(WAIT_64, &first, 2, GTE),
            operation(WRITE_64, &second, 11, 0),
        ];
        ok!(machine, hipStreamBatchMemOp(stream, 5, list.as_mut_ptr(), 0));
        until(&machine, || first.get() == 1);
        fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
        assert_eq!(third.get(), u64::MAX << 32, "the wait before is not over");
        second.set(5);
        until(&machine, || third.get() == u64::MAX << 32 | 9);
        first.set(2);
        ok!(machine, hipStreamSynchronize(stream));
        assert_eq!(second.get(), 11);
    }
}

#[test]
fn a_batch_writes_words_of_both_sizes() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let [first, second, third] = [(); 3].map(|()| Word::new(&machine, u64::MAX << 32));
    let mut list = [
        operation(WRITE_64, &first, 1, 0),
        operation(WAIT_32, &second, 0, EQ),
        operation(WRITE_32, &third, 7 << 32 | 9, 0),
    ];
    ok!(machine, hipStreamBatchMemOp(stream, 3, list.as_mut_ptr(), 0));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!([&first, &second, &third].map(Word::get), [1, u64::MAX << 32, u64::MAX << 32 | 9]);
}

/// A graph whose only node is a batch.
fn batch_node(
    machine: &Machine,
    list: &mut [hipStreamBatchMemOpParams],
) -> (hipGraph_t, hipGraphNode_t, hipBatchMemOpNodeParams) {
    let (mut context, mut graph, mut node) = (null_mut(), null_mut(), null_mut());
    ok!(machine, hipDevicePrimaryCtxRetain(&mut context, 0));
    let given = hipBatchMemOpNodeParams {
        ctx: context,
        count: list.len() as u32,
        paramArray: list.as_mut_ptr(),
        flags: 0,
    };
    ok!(machine, hipGraphCreate(&mut graph, 0));
    ok!(machine, hipGraphAddBatchMemOpNode(&mut node, graph, null(), 0, &given));
    (graph, node, given)
}

#[test]
fn a_batch_can_be_a_node() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let [first, second] = [(); 2].map(|()| Word::new(&machine, 0));
    let mut list = [operation(WRITE_64, &first, 1, 0), operation(WRITE_64, &second, 3, 0)];
    let (graph, node, mut given) = batch_node(&machine, &mut list);
    let mut kind = hipGraphNodeType::hipGraphNodeTypeCount;
    ok!(machine, hipGraphNodeGetType(node, &mut kind));
    assert_eq!(kind, hipGraphNodeType::hipGraphNodeTypeBatchMemOp);
    let mut told = hipBatchMemOpNodeParams::default();
    ok!(machine, hipGraphBatchMemOpNodeGetParams(node, &mut told));
    assert_eq!((told.ctx, told.count, told.flags), (given.ctx, 2, 0));
    // SAFETY: the list has two entries, the second of which is a write.
    assert_eq!(unsafe { told.paramArray.add(1).read().writeValue.address }, second.0);

    let mut exec = null_mut();
    ok!(machine, hipGraphInstantiate(&mut exec, graph, null_mut(), null_mut(), 0));
    let run = || {
        ok!(machine, hipGraphLaunch(exec, stream));
        ok!(machine, hipStreamSynchronize(stream));
        let values = [first.get(), second.get()];
        first.set(0);
        second.set(0);
        values
    };
    assert_eq!(run(), [1, 3]);
    // A shorter list, which the lent one makes too.
    given.count = 1;
    given.paramArray = told.paramArray.wrapping_add(1);
    ok!(machine, hipGraphExecBatchMemOpNodeSetParams(exec, node, &given));
    assert_eq!(run(), [0, 3]);
    ok!(machine, hipGraphBatchMemOpNodeSetParams(node, &mut given));
    ok!(machine, hipGraphBatchMemOpNodeGetParams(node, &mut told));
    assert_eq!(told.count, 1);
}

#[test]
fn the_batch_of_a_node_waits_in_its_order() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let [first, second] = [(); 2].map(|()| Word::new(&machine, 0));
    let mut list = [
        operation(WRITE_64, &second, 1, 0),
        operation(WAIT_64, &first, 1, GTE),
        operation(WRITE_64, &second, 3, 0),
    ];
    let (graph, ..) = batch_node(&machine, &mut list);
    let mut exec = null_mut();
    ok!(machine, hipGraphInstantiate(&mut exec, graph, null_mut(), null_mut(), 0));
    ok!(machine, hipGraphLaunch(exec, stream));
    until(&machine, || second.get() != 0);
    fails!(hipErrorNotReady, machine, hipStreamQuery(stream));
    assert_eq!(second.get(), 1);
    first.set(1);
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(second.get(), 3);
}

#[test]
fn wrong_batches_are_no_nodes() {
    let machine = Machine::new("");
    let word = Word::new(&machine, 0);
    let mut list = [operation(WRITE_64, &word, 1, 0)];
    let (graph, mut node, mut given) = batch_node(&machine, &mut list);
    let mut exec = null_mut();
    ok!(machine, hipGraphInstantiate(&mut exec, graph, null_mut(), null_mut(), 0));
    for wrong in [
        hipBatchMemOpNodeParams { ctx: null_mut(), ..given },
        hipBatchMemOpNodeParams { count: 0, ..given },
        hipBatchMemOpNodeParams { count: 257, ..given },
        hipBatchMemOpNodeParams { paramArray: null_mut(), ..given },
        hipBatchMemOpNodeParams { flags: 1, ..given },
    ] {
        fails!(hipErrorInvalidValue, machine, hipGraphExecBatchMemOpNodeSetParams(exec, node, &wrong));
        fails!(hipErrorInvalidValue, machine, hipGraphAddBatchMemOpNode(&mut node, graph, null(), 0, &wrong));
    }
    let (mut empty, mut told) = (null_mut(), hipBatchMemOpNodeParams::default());
    ok!(machine, hipGraphAddEmptyNode(&mut empty, graph, null(), 0));
    fails!(hipErrorInvalidValue, machine, hipGraphBatchMemOpNodeGetParams(empty, &mut told));
    fails!(hipErrorInvalidValue, machine, hipGraphBatchMemOpNodeSetParams(empty, &mut given));
}

#[test]
fn a_batch_is_a_list_without_flags_on_a_stream() {
    let machine = Machine::new("");
    let (stream, word) = (machine.stream(), Word::new(&machine, 0));
    let mut list = [operation(WRITE_64, &word, 1, 0)];
    let list = list.as_mut_ptr();
    for (count, list, flags) in [(257, list, 0), (1, list, 1), (1, null_mut(), 0)] {
        fails!(hipErrorInvalidValue, machine, hipStreamBatchMemOp(stream, count, list, flags));
    }
    let no_stream = std::ptr::without_provenance_mut(3);
    fails!(hipErrorContextIsDestroyed, machine, hipStreamBatchMemOp(no_stream, 1, list, 0));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(word.get(), 0);
}

#[test]
fn wrong_batches_are_refused_whole() {
    let machine = Machine::new("");
    let (stream, word) = (machine.stream(), Word::new(&machine, 0));
    let batch = |second, count| {
        let mut list = [operation(WRITE_64, &word, 1, 0), second];
        hip!(machine, hipStreamBatchMemOp(stream, count, list.as_mut_ptr(), 0))
    };
    let right = operation(WRITE_64, &word, 1, 0);
    let stray = Word(std::ptr::without_provenance_mut(8));
    for (second, count) in [
        (right, 0),
        (operation(hipStreamBatchMemOpType::hipStreamMemOpBarrier, &word, 0, 0), 2),
        (operation(hipStreamBatchMemOpType::hipStreamMemOpFlushRemoteWrites, &word, 0, 0), 2),
        (operation(WAIT_64, &word, 0, 4), 2),
        (operation(WRITE_64, &stray, 0, 0), 2),
    ] {
        assert_eq!(batch(second, count), hipError_t::hipErrorInvalidValue);
    }
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(word.get(), 0, "nothing of a refused batch takes place");
}
