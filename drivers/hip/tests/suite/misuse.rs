// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mistakes of callers: each is an error that names it, and changes nothing.

use std::sync::Arc;

use windlass_hal::{
    Argument, BindingTable, Buffer, BufferParams, BufferRef, BufferUsage, Code, Deadline, Device,
    DispatchConfig, File, Function, Point, Queue, QueueAffinity, Recorder, Result, Semaphore,
};
use windlass_hip_sys::null::Instance;

use crate::common::{SOON, VECTOR_ADD, code, grid, open, vector_add};

const SIZE: u64 = 4096;

struct Bench {
    instance: Arc<Instance>,
    device: Device,
    queue: Queue,
    buffer: Buffer,
    other: Buffer,
    function: Function,
    foreign_device: Device,
    foreign: Buffer,
    done: Semaphore,
}

impl Bench {
    fn new() -> Self {
        let (instance, device) = open();
        let (_, foreign_device) = open();
        let memory = |device: &Device| device.allocate_device(SIZE).expect("memory");
        Self {
            queue: device.queue(0).expect("a queue"),
            buffer: memory(&device),
            other: memory(&device),
            function: vector_add(&device),
            foreign: memory(&foreign_device),
            foreign_device,
            done: Semaphore::new(0),
            instance,
            device,
        }
    }

    fn with_usage(&self, usage: BufferUsage) -> Buffer {
        self.device.allocate(&BufferParams::device().with_usage(usage), SIZE).expect("memory")
    }

    fn part(&self, offset: u64, length: u64) -> Buffer {
        self.buffer.subspan(offset, length).expect("in bounds")
    }

    /// The attempt is refused with `expected` and `words` in its message, HIP is not called, and nothing is signalled.
    #[track_caller]
    fn refuse(&self, expected: Code, words: &str, attempt: impl FnOnce(&Queue, &[Point]) -> Result<()>) {
        let before = (self.instance.calls(), self.device.statistics());
        let error = attempt(&self.queue, &[self.done.at(1)]).expect_err("a mistake");
        assert_eq!(error.code(), expected, "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(self.done.query().expect("untouched"), 0);
        assert_eq!((self.instance.calls(), self.device.statistics()), before);
    }

    fn dispatch(
        &self,
        queue: &Queue,
        signals: &[Point],
        config: DispatchConfig,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        queue.dispatch(&[], signals, &self.function, config, arguments)
    }

    fn arguments(&self) -> [Argument<'_>; 4] {
        [self.buffer.arg(), self.buffer.arg(), self.other.arg(), 1024_i32.into()]
    }
}

#[test]
fn objects_of_another_device_are_refused() {
    let bench = Bench::new();
    let words = "another device";
    let refuse = |attempt: &dyn Fn(&Queue, &[Point]) -> Result<()>| {
        bench.refuse(Code::InvalidArgument, words, attempt);
    };
    refuse(&|queue, signals| queue.fill(&[], signals, &bench.foreign, 0_u8));
    refuse(&|queue, signals| queue.update(&[], signals, &[0; SIZE as usize], &bench.foreign));
    refuse(&|queue, signals| queue.copy(&[], signals, &bench.foreign, &bench.buffer));
    refuse(&|queue, signals| queue.copy(&[], signals, &bench.buffer, &bench.foreign));
    refuse(&|queue, signals| queue.dealloca(&[], signals, &bench.foreign));
    refuse(&|queue, signals| {
        let mut arguments = bench.arguments();
        arguments[1] = bench.foreign.arg();
        bench.dispatch(queue, signals, grid(), &arguments)
    });
    let function = vector_add(&bench.foreign_device);
    refuse(&|queue, signals| queue.dispatch(&[], signals, &function, grid(), &bench.arguments()));
    let commands = bench.foreign_device.record().and_then(Recorder::finish).expect("records");
    refuse(&|queue, signals| queue.execute(&[], signals, &commands, []));
    let mut recorder = bench.device.record_with_slots(1).expect("a recorder");
    recorder.fill(BufferRef::slot(0, 0, 4), 0_u8).expect("records");
    let commands = recorder.finish().expect("records");
    refuse(&|queue, signals| queue.execute(&[], signals, &commands, [bench.foreign.clone()]));
}

#[test]
fn ranges_that_do_not_fit_are_refused() {
    let bench = Bench::new();
    for (offset, length) in [(0, SIZE + 1), (SIZE, 1), (SIZE + 1, 0), (1, u64::MAX), (u64::MAX, 1)] {
        assert_eq!(bench.buffer.subspan(offset, length).expect_err("outside").code(), Code::OutOfRange);
    }
    let nested = bench.part(100, 50);
    assert_eq!(nested.subspan(0, 51).expect_err("outside its parent").code(), Code::OutOfRange);
    assert_eq!(nested.subspan(50, 0).expect("empty").device_address(), bench.buffer.device_address() + 150);
    bench.refuse(Code::InvalidArgument, "same length", |queue, signals| {
        queue.copy(&[], signals, &bench.part(0, 8), &bench.other)
    });
    bench.refuse(Code::InvalidArgument, "same length", |queue, signals| {
        queue.update(&[], signals, &[0; 3], &bench.part(0, 4))
    });
    for (from, to, length) in [(0, 0, 4), (0, 3, 4), (3, 0, 4), (0, 1, 2048), (8, 7, 2)] {
        bench.refuse(Code::InvalidArgument, "overlap", |queue, signals| {
            queue.copy(&[], signals, &bench.part(from, length), &bench.part(to, length))
        });
    }
    for (length, offset) in [(3, 0), (4, 1), (4, 2), (6, 0)] {
        bench.refuse(Code::InvalidArgument, "multiple of 4", |queue, signals| {
            queue.fill(&[], signals, &bench.part(offset, length), 0_u32)
        });
    }
    bench.refuse(Code::InvalidArgument, "multiple of 2", |queue, signals| {
        queue.fill(&[], signals, &bench.part(1, 2), 0_u16)
    });
    // Side by side is no overlap, and an empty range fits everywhere.
    let done = Semaphore::new(0);
    bench.queue.copy(&[], &[done.at(1)], &bench.part(0, 4), &bench.part(4, 4)).expect("side by side");
    bench.queue.copy(&[done.at(1)], &[done.at(2)], &bench.part(3, 0), &bench.part(3, 0)).expect("empty");
    bench.queue.fill(&[done.at(2)], &[done.at(3)], &bench.part(1, 0), 0_u8).expect("empty");
    bench.queue.update(&[done.at(3)], &[done.at(4)], &[], &bench.part(SIZE, 0)).expect("empty");
    assert_eq!(code(done.wait_blocking(4, SOON)), None);
    assert_eq!(bench.instance.count("hipMemcpyAsync"), 1, "nothing to do is not asked of HIP");
    assert_eq!(bench.instance.count("hipMemsetD8Async"), 0);
}

#[test]
fn usage_that_was_not_asked_for_is_refused() {
    let bench = Bench::new();
    let source = bench.with_usage(BufferUsage::TRANSFER_SOURCE);
    let target = bench.with_usage(BufferUsage::TRANSFER_TARGET);
    let refuse = |attempt: &dyn Fn(&Queue, &[Point]) -> Result<()>| {
        bench.refuse(Code::InvalidArgument, "usage", attempt);
    };
    refuse(&|queue, signals| queue.fill(&[], signals, &source, 0_u8));
    refuse(&|queue, signals| queue.update(&[], signals, &[0; SIZE as usize], &source));
    refuse(&|queue, signals| queue.copy(&[], signals, &target, &bench.buffer));
    refuse(&|queue, signals| queue.copy(&[], signals, &bench.buffer, &source));
    refuse(&|queue, signals| {
        let arguments = [source.arg(), bench.buffer.arg(), bench.buffer.arg(), 1024_i32.into()];
        bench.dispatch(queue, signals, grid(), &arguments)
    });
    assert_eq!(bench.queue.download(&[], &target).expect_err("no source").code(), Code::InvalidArgument);
    assert_eq!(bench.buffer.map().expect_err("not mappable").code(), Code::FailedPrecondition);
    let mapping =
        bench.device.allocate(&BufferParams::host(), 8).and_then(|buffer| buffer.map()).expect("maps");
    for (offset, length) in [(0, 9), (8, 1), (u64::MAX, 1), (9, 0)] {
        let mut bytes = vec![0; length];
        assert_eq!(mapping.read(offset, &mut bytes).expect_err("outside").code(), Code::OutOfRange);
        assert_eq!(mapping.write(offset, &bytes).expect_err("outside").code(), Code::OutOfRange);
    }
    mapping.read(8, &mut []).expect("nothing, at the end");
}

#[test]
fn values_that_no_semaphore_has_are_refused() {
    let bench = Bench::new();
    let above = Semaphore::MAX_VALUE + 1;
    let timeline = Semaphore::new(0);
    for value in [above, u64::MAX] {
        bench.refuse(Code::OutOfRange, "payload", |queue, signals| {
            queue.barrier(&[timeline.at(value)], signals)
        });
        bench.refuse(Code::OutOfRange, "payload", |queue, signals| {
            queue.barrier(&[], &[signals[0].clone(), timeline.at(value)])
        });
        assert_eq!(timeline.signal(value).expect_err("too much").code(), Code::OutOfRange);
        assert_eq!(timeline.wait_blocking(value, SOON).expect_err("for ever").code(), Code::OutOfRange);
        assert_eq!(pollster::block_on(timeline.wait(value)).expect_err("for ever").code(), Code::OutOfRange);
    }
    assert_eq!(timeline.query().expect("untouched"), 0);
    bench.queue.barrier(&[], &[timeline.at(Semaphore::MAX_VALUE)]).expect("the greatest value");
    assert_eq!(code(timeline.wait_blocking(Semaphore::MAX_VALUE, SOON)), None);
    assert_eq!(
        windlass_hal::wait_any(&[], Deadline::NEVER, Default::default()).expect_err("for ever").code(),
        Code::InvalidArgument
    );
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let bench = Bench::new();
    let limits = bench.device.limits().clone();
    let config = |count: [u32; 3], size: [u32; 3]| DispatchConfig::new(count).workgroup_size(size);
    let [x, y, z] = limits.max_workgroup_count;
    let cases = [
        (Code::InvalidArgument, "work-item", config([1, 1, 1], [0, 1, 1])),
        (Code::InvalidArgument, "work-item", config([1, 1, 1], [64, 1, 0])),
        (Code::OutOfRange, "work-items", config([1, 1, 1], [limits.max_workgroup_threads + 1, 1, 1])),
        (Code::OutOfRange, "work-items", config([1, 1, 1], [32, 32, 2])),
        (Code::OutOfRange, "work-items", config([1, 1, 1], [u32::MAX; 3])),
        (Code::OutOfRange, "workgroups", config([x.saturating_add(1), 1, 1], [1, 1, 1])),
        (Code::OutOfRange, "in y", config([1, y.saturating_add(1), 1], [1, 1, 1])),
        (Code::OutOfRange, "in z", config([1, 1, z.saturating_add(1)], [1, 1, 1])),
        (Code::OutOfRange, "2^32", config([1 << 23, 1, 1], [1024, 1, 1])),
        (Code::OutOfRange, "local memory", grid().dynamic_local_memory(limits.max_local_memory + 1)),
        (Code::OutOfRange, "local memory", grid().dynamic_local_memory(u32::MAX)),
    ];
    for (expected, words, config) in cases {
        bench.refuse(expected, words, |queue, signals| {
            bench.dispatch(queue, signals, config, &bench.arguments())
        });
    }
    if bench.function.info().workgroup_size.is_none() {
        bench.refuse(Code::InvalidArgument, "workgroup_size", |queue, signals| {
            bench.dispatch(queue, signals, DispatchConfig::new([1; 3]), &bench.arguments())
        });
    }
    // A grid without workgroups is a barrier; its arguments are still checked.
    let done = Semaphore::new(0);
    let empty = config([4, 0, 1], [64, 1, 1]);
    bench.dispatch(&bench.queue, &[done.at(1)], empty, &bench.arguments()).expect("nothing to launch");
    assert_eq!(code(done.wait_blocking(1, SOON)), None);
    assert_eq!(bench.instance.count("hipModuleLaunchKernel"), 0);
    bench.refuse(Code::InvalidArgument, "takes 4", |queue, signals| {
        bench.dispatch(queue, signals, empty, &[])
    });
}

#[test]
fn arguments_that_do_not_match_the_kernel_are_refused() {
    let bench = Bench::new();
    let [a, b, c, n] = bench.arguments();
    let slot = Argument::Slot { slot: 0, offset: 0, length: 4 };
    let cases: [(&str, Vec<Argument<'_>>); 9] = [
        ("takes 4 arguments and was given 0", vec![]),
        ("takes 4 arguments and was given 3", vec![a, b, c]),
        ("takes 4 arguments and was given 5", vec![a, b, c, n, n]),
        ("argument 0", vec![n, b, c, n]),
        ("argument 3", vec![a, b, c, a]),
        ("exactly 4 bytes, not 8 bytes", vec![a, b, c, 1024_i64.into()]),
        ("exactly 4 bytes, not 3 bytes", vec![a, b, c, Argument::Bytes(&[0; 3])]),
        ("not null", vec![a, b, c, Argument::Null]),
        ("only command buffers have binding tables", vec![slot, b, c, n]),
    ];
    for (words, arguments) in cases {
        bench.refuse(Code::InvalidArgument, words, |queue, signals| {
            bench.dispatch(queue, signals, grid(), &arguments)
        });
    }
    bench
        .dispatch(&bench.queue, &[], grid(), &[Argument::Null, b, c, Argument::Bytes(&[0; 4])])
        .expect("legal");
    let block = vec![0; bench.function.info().argument_size as usize];
    let raw = grid().raw_arguments();
    let cases: [(&str, Vec<Argument<'_>>); 4] = [
        ("not a block", vec![]),
        ("not a block", vec![a]),
        ("the block has", vec![Argument::Bytes(&block[1..])]),
        ("argument 1 is no buffer", vec![Argument::Bytes(&block), n]),
    ];
    for (words, arguments) in cases {
        bench.refuse(Code::InvalidArgument, words, |queue, signals| {
            bench.dispatch(queue, signals, raw, &arguments)
        });
    }
    bench.dispatch(&bench.queue, &[], raw, &[Argument::Bytes(&block), a]).expect("legal");
}

#[test]
fn tables_that_do_not_serve_a_command_buffer_are_refused() {
    let bench = Bench::new();
    let mut recorder = bench.device.record_with_slots(3).expect("a recorder");
    recorder.fill(BufferRef::slot(0, 4, 4), 0_u32).expect("records");
    recorder.barrier();
    recorder.copy(BufferRef::slot(0, 0, 64), BufferRef::slot(1, 64, 64)).expect("records");
    let commands = recorder.finish().expect("records");
    let whole = |buffer: &Buffer| buffer.subspan(0, SIZE).expect("in bounds");
    let (buffer, other) = (whole(&bench.buffer), whole(&bench.other));
    let source = bench.with_usage(BufferUsage::TRANSFER_SOURCE);
    let cases: [(Code, &str, Vec<Buffer>); 8] = [
        (Code::InvalidArgument, "slot 0 is used", vec![]),
        (Code::InvalidArgument, "slot 1 is used", vec![buffer.clone()]),
        (Code::InvalidArgument, "4 bindings", vec![buffer.clone(); 4]),
        (Code::OutOfRange, "slot 0 is bound to 63 bytes", vec![bench.part(0, 63), other.clone()]),
        (Code::OutOfRange, "slot 1 is bound to 127 bytes", vec![other.clone(), bench.part(0, 127)]),
        (Code::InvalidArgument, "slot 0 is bound at", vec![bench.part(2, 64), other.clone()]),
        (Code::InvalidArgument, "usage", vec![buffer.clone(), source]),
        (Code::InvalidArgument, "overlap", vec![bench.part(64, 64), buffer.clone()]),
    ];
    for (expected, words, bindings) in cases {
        bench.refuse(expected, words, |queue, signals| {
            queue.execute(&[], signals, &commands, bindings.clone())
        });
        bench.refuse(expected, words, |queue, signals| {
            queue.execute(&[], signals, &commands, BindingTable::from(&bindings[..]))
        });
    }
    let done = Semaphore::new(0);
    bench.queue.execute(&[], &[done.at(1)], &commands, [bench.part(0, 64), other]).expect("serves");
    bench
        .queue
        .execute(&[done.at(1)], &[done.at(2)], &commands, [buffer.clone(), buffer])
        .expect("side by side");
    assert_eq!(code(done.wait_blocking(2, SOON)), None);
}

#[test]
fn a_recording_call_that_fails_records_nothing() {
    let bench = Bench::new();
    let mut recorder = bench.device.record_with_slots(3).expect("a recorder");
    recorder.fill(BufferRef::slot(2, 0, 8), 0_u8).expect("records");
    let beyond = BufferRef::slot(3, 0, 4);
    let slot = |slot, offset, length| BufferRef::slot(slot, offset, length);
    let source = bench.with_usage(BufferUsage::TRANSFER_SOURCE);
    let [a, b, c, n] = bench.arguments();
    let far = Argument::Slot { slot: 1, offset: 0, length: 1 << 40 };
    let missing = Argument::Slot { slot: 3, offset: 0, length: 4 };
    let refusals = [
        recorder.fill(beyond.clone(), 0_u8),
        recorder.fill(slot(0, 1, 4), 0_u32),
        recorder.fill(slot(0, 0, 3), 0_u16),
        recorder.fill(slot(0, u64::MAX, 4), 0_u8),
        recorder.fill(&source, 0_u8),
        recorder.fill(&bench.foreign, 0_u8),
        recorder.update(&[0; 4], slot(0, 0, 5)),
        recorder.update(&[0; 4], slot(0, u64::MAX - 2, 4)),
        recorder.copy(slot(0, 0, 1 << 30), beyond.clone()),
        recorder.copy(slot(0, 0, SIZE), &source),
        recorder.copy(&bench.buffer, &bench.buffer),
        recorder.dispatch(&bench.function, grid(), &[far, missing, c, n]),
        recorder.dispatch(&bench.function, grid(), &[far, b, bench.foreign.arg(), n]),
        recorder.dispatch(&bench.function, grid(), &[far, far, far, Argument::Null]),
        recorder.dispatch(&bench.function, grid(), &[a]),
        recorder.dispatch(&bench.function, DispatchConfig::new([1; 3]).workgroup_size([0; 3]), &[a, b, c, n]),
        recorder.end_debug_group(),
    ];
    for (index, refusal) in refusals.into_iter().enumerate() {
        refusal.expect_err(&format!("mistake {index}"));
    }
    // Nor do empty operations.
    let empty = DispatchConfig::new([0, 1, 1]).workgroup_size([64, 1, 1]);
    recorder.dispatch(&bench.function, empty, &[far, far, far, n]).expect("nothing to launch");
    recorder.copy(slot(0, 8, 0), slot(1, 8, 0)).expect("nothing to copy");
    recorder.fill(slot(1, 8, 0), 0_u8).expect("nothing to fill");
    recorder.update(&[], slot(1, 8, 0)).expect("nothing to write");
    let commands = recorder.finish().expect("records");
    let list = commands.list();
    assert_eq!(list.commands().len(), 1, "{:?}", list.commands());
    assert_eq!((list.size(), list.data().len()), (48, 0), "one header");
    assert_eq!((list.functions().len(), list.buffers().len()), (0, 0), "objects of refused commands");
    let used: Vec<_> = list.slots().iter().map(|slot| (slot.used, slot.length)).collect();
    assert_eq!(used, [(false, 0), (false, 0), (true, 8)]);
}

#[test]
fn a_recording_with_an_open_group_does_not_finish() {
    let bench = Bench::new();
    let mut recorder = bench.device.record().expect("a recorder");
    recorder.begin_debug_group("outer");
    recorder.begin_debug_group("inner");
    recorder.end_debug_group().expect("one is open");
    assert_eq!(recorder.finish().expect_err("one is left").code(), Code::FailedPrecondition);
    assert_eq!(bench.device.record_with_slots(u32::MAX).expect_err("too many").code(), Code::OutOfRange);
}

#[test]
fn queues_that_do_not_exist_are_refused() {
    let bench = Bench::new();
    let queues = bench.device.limits().queues;
    for index in [queues, 63, 64, u32::MAX] {
        assert_eq!(bench.device.queue(index).expect_err("no such queue").code(), Code::OutOfRange);
    }
    let none = QueueAffinity::from_bits(1 << queues);
    assert_eq!(bench.device.queue_of(none).expect_err("none of these").code(), Code::OutOfRange);
    let some = bench.device.queue_of(QueueAffinity::from_bits(0b1010 | 1 << 63)).expect("some of these");
    assert_eq!(some.affinity().bits(), 0b1010);
    let timeline = Semaphore::new(0);
    for value in 0..100 {
        some.fill(&[timeline.at(value)], &[timeline.at(value + 1)], &bench.buffer, 0_u8).expect("submits");
    }
    assert_eq!(code(timeline.wait_blocking(100, SOON)), None);
}

#[test]
fn files_that_are_no_code_are_refused() {
    let bench = Bench::new();
    let cut = &VECTOR_ADD[..VECTOR_ADD.len() / 2];
    for bytes in [&[][..], b"not a code object", &VECTOR_ADD[1..], cut, &[0; 4096]] {
        // SAFETY: nothing of it is loaded or run.
        let error = unsafe { bench.device.load_executable(bytes) }.expect_err("no code");
        assert!(matches!(error.code(), Code::InvalidArgument | Code::NotFound), "{error}");
    }
    // SAFETY: the project's own kernel, which the null HIP does not run.
    let executable = unsafe { bench.device.load_executable(VECTOR_ADD) }.expect("loads");
    let error = executable.function("vector_sub").expect_err("no such kernel");
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.message().contains("`vector_add`"), "{error}");
    assert_eq!(executable.global("nothing").expect_err("no such global").code(), Code::NotFound);
    assert_eq!(executable.global("nul\0").expect_err("no name").code(), Code::NotFound);
}

#[test]
fn a_file_that_is_too_short_fails_the_signals() {
    struct Short;
    impl windlass_hal::file::Storage for Short {
        fn read_at(&self, _offset: u64, _bytes: &mut [u8]) -> std::io::Result<()> {
            Err(std::io::ErrorKind::UnexpectedEof.into())
        }
        fn write_at(&self, _offset: u64, _bytes: &[u8]) -> std::io::Result<()> {
            Err(std::io::ErrorKind::PermissionDenied.into())
        }
    }
    let bench = Bench::new();
    let file = File::new(Short);
    let [read, written] = [(); 2].map(|()| Semaphore::new(0));
    bench.queue.read(&[], &[read.at(1)], &file, 7, &bench.buffer).expect("submits");
    bench.queue.write(&[], &[written.at(1)], &bench.buffer, &file, 7).expect("submits");
    assert_eq!(code(read.wait_blocking(1, SOON)), Some(Code::OutOfRange));
    assert_eq!(code(written.wait_blocking(1, SOON)), Some(Code::PermissionDenied));
    assert_eq!(bench.instance.count("hipMemcpyAsync"), 1, "what was not read is not copied");
}
