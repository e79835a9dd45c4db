// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles: records of operations, commands, host calls and memory.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use windlass_hal::{
    Buffer, Code, CommandKind, CommandRecord, DebugGroup, Device, DispatchConfig, Error, HostCallFlags,
    MemoryEvent, Point, ProfileChunk, ProfileOptions, ProfileRecord, ProfileSink, Semaphore,
};

use super::{profile_notes::Notes, semaphore_thread::on_threads};
use crate::{
    check::{ensure, ensure_eq, names, refused, same_items},
    context::{Context, queue_of},
    kernels,
    outcome::{Outcome, Stop},
};

suite! { "profiling";
    #[smoke] records_each_operation_once: "Each submitted operation has one record with its name, queues, size, waits and signals.";
    operations_of_many_threads: "Of operations that several threads submit, each has one record, and none is lost.";
    times_are_ordered: "An operation is submitted, issued and retired in this order, and begins before it ends.";
    behind_an_edge: "An operation that waits for another one neither runs nor retires before that one.";
    retires_after_its_work: "An operation that has not run is not recorded as retired.";
    failed_work_is_told: "The record of work that failed, or whose wait failed, has the error.";
    refused_work_is_not_told: "A submission that is refused leaves no record.";
    flush_delivers_completed_work: "A flush hands the records of all completed operations to the sink.";
    end_tells_work_in_flight: "The end of a profile records work in flight as such.";
    nothing_after_the_end: "After the end of a profile its sink hears nothing.";
    one_after_another: "A second profile records only the operations submitted in it.";
    one_at_a_time: "A profile is refused while another one runs, and so are a flush and an end without one.";
    sink_may_use_the_device: "A sink may submit and allocate, and its own flush or end is refused.";
    sink_may_panic: "A panic of a sink stops neither work nor profile.";
    dispatches [Dispatch]: "The record of a dispatch names its function, count and size.";
    commands_are_told [CommandBuffers]: "On demand each command of a command buffer has a record before that of its submission.";
    groups_nest [CommandBuffers]: "A debug group has a record with its label and colour, and commands and groups name the group around them.";
    commands_run_within_their_operation [CommandBuffers]: "A command runs within the time of its operation, and a group encloses its commands.";
    host_calls [HostCalls]: "A host call has a record of its thread, its time and its error.";
    memory: "Allocations and their release are recorded with their bytes, unless the options say otherwise.";
}

/// A device of its own with a profile.
fn profiled(ctx: &Context, options: ProfileOptions) -> Outcome<(Device, Arc<Notes>)> {
    let (device, notes) = (ctx.open()?, Arc::new(Notes::default()));
    device.profiling_begin(options, notes.clone())?;
    Ok((device, notes))
}

fn of_operations() -> ProfileOptions {
    ProfileOptions::default().with_memory(false)
}

/// Ends the profile once a point is reached.
fn end_after(ctx: &Context, device: &Device, point: &Point) -> Outcome {
    ctx.wait(point)?;
    Ok(device.profiling_end()?)
}

fn records_each_operation_once(ctx: &Context) -> Outcome {
    let (device, notes) = profiled(ctx, of_operations())?;
    let (a, b) = (device.allocate_device(4096)?, device.allocate_device(1024)?);
    let queue = queue_of(&device, 1)?;
    let (step, other) = (Semaphore::new(0), Semaphore::new(0));
    queue.copy(&[step.at(3)], &[step.at(4), other.at(9)], &a.subspan(0, 1024)?, &b)?;
    queue.barrier(&[], &[step.at(1)])?;
    queue.fill(&[step.at(1)], &[step.at(2)], &a, 7_u32)?;
    queue.update(&[step.at(2)], &[step.at(3)], &[1; 16], &a.subspan(0, 16)?)?;
    queue.fill(&[step.at(4)], &[step.at(5)], &b, 7_u8)?;
    end_after(ctx, &device, &step.at(5))?;
    let told = notes.operations();
    let seen: Vec<_> = told.iter().map(|record| (record.operation, record.bytes)).collect();
    let expected = [
        ("queue_copy", Some(1024)),
        ("queue_barrier", None),
        ("queue_fill", Some(4096)),
        ("queue_update", Some(16)),
        ("queue_fill", Some(1024)),
    ];
    same_items(&seen, &expected, "the operations with their bytes")?;
    for record in &told {
        ensure!(record.retired.is_some(), "{} has ended and is told as in flight", record.operation);
        ensure!(record.failure.is_none(), "{} failed: {:?}", record.operation, record.failure);
        ensure_eq!(record.affinity, queue.affinity(), "the queues of {}", record.operation);
        if let Some(queue) = record.queue {
            ensure!(record.affinity.bits() >> queue & 1 == 1, "{} ran on queue {queue}", record.operation);
        }
    }
    let points = |points: &[windlass_hal::ProfilePoint]| -> Vec<_> {
        points.iter().map(|point| (point.semaphore, point.value)).collect()
    };
    ensure_eq!(points(told[0].waits()), [(step.id(), 3)], "the wait list of the copy");
    ensure_eq!(points(told[0].signals()), [(step.id(), 4), (other.id(), 9)], "the signal list of the copy");
    ensure_eq!(points(told[1].waits()), [], "the wait list of the barrier");
    Ok(())
}

fn operations_of_many_threads(ctx: &Context) -> Outcome {
    const THREADS: usize = 4;
    const EACH: usize = 200;
    let (device, notes) = profiled(ctx, of_operations())?;
    let done: Vec<_> = (0..THREADS).map(|_| Semaphore::new(0)).collect();
    let buffer = device.allocate_device(4)?;
    on_threads(THREADS, |thread| {
        let queue = queue_of(&device, thread as u32)?;
        for step in 0..EACH as u64 {
            let point = &done[thread];
            queue.fill(&[point.at(step)], &[point.at(step + 1)], &buffer, 1_u8)?;
        }
        ctx.wait(&done[thread].at(EACH as u64))
    })?;
    device.profiling_end()?;
    let mut signals = BTreeMap::<_, usize>::new();
    for record in notes.operations() {
        ensure!(record.retired.is_some(), "an operation that has ended is told as in flight");
        for signal in record.signals() {
            *signals.entry((signal.semaphore, signal.value)).or_default() += 1;
        }
    }
    ensure!(signals.values().all(|times| *times == 1), "an operation has several records");
    ensure_eq!(signals.len(), THREADS * EACH, "the operations with a record");
    Ok(())
}

/// A millisecond, in nanoseconds: the error of times of one device against each other. A driver may correct the device's
/// clock by as much between two operations.
const CORRECTION: u64 = 1_000_000;
/// Ten milliseconds: the error on a busy machine of the device's clock against the host's, and of two physical devices' clocks
/// against each other.
const CLOCKS: u64 = 10_000_000;

fn times_are_ordered(ctx: &Context) -> Outcome {
    let (device, notes) = profiled(ctx, of_operations())?;
    let (buffer, step, gate) = (device.allocate_device(1 << 16)?, Semaphore::new(0), Semaphore::new(0));
    for value in 0..50 {
        let waits = [step.at(value), gate.at(u64::from(value >= 25))];
        queue_of(&device, value as u32)?.fill(&waits, &[step.at(value + 1)], &buffer, value as u8)?;
    }
    gate.signal(1)?;
    end_after(ctx, &device, &step.at(50))?;
    for record in notes.operations() {
        let (Some(issued), Some(retired)) = (record.issued, record.retired) else {
            return Err(Stop::fail(format!("{} has ended and lacks a time: {record:?}", record.operation)));
        };
        ensure!(record.submitted <= issued, "issued {issued}, submitted {} later", record.submitted);
        ensure!(issued <= retired, "retired at {retired}, issued {issued} later");
        if let Some(ran) = record.device {
            // A simulated GPU may count steps in place of time.
            let clocks = if device.info().simulated { u64::MAX / 2 } else { CLOCKS };
            ensure!(ran.begun <= ran.ended, "it ran from {} to {}", ran.begun, ran.ended);
            ensure!(ran.begun + clocks >= record.submitted, "it ran at {} before its submission", ran.begun);
            ensure!(ran.ended <= retired + clocks, "it ended at {} after it retired", ran.ended);
        }
    }
    Ok(())
}

fn behind_an_edge(ctx: &Context) -> Outcome {
    let (device, notes) = profiled(ctx, of_operations())?;
    let (buffer, step) = (device.allocate_device(1 << 16)?, Semaphore::new(0));
    for value in 0..50 {
        queue_of(&device, value as u32)?.fill(
            &[step.at(value)],
            &[step.at(value + 1)],
            &buffer,
            value as u8,
        )?;
    }
    end_after(ctx, &device, &step.at(50))?;
    let told = notes.operations();
    ensure_eq!(told.len(), 50, "the operations with a record");
    for pair in told.windows(2) {
        let [first, then] = pair else { continue };
        // Two threads that retire at once read the clock in either order.
        let latest = then.retired.map(|at| at + CORRECTION);
        ensure!(first.retired <= latest, "an operation retired before the one that it waits for");
        let error = if first.gpu == then.gpu { CORRECTION } else { CLOCKS };
        if let (Some(first), Some(then)) = (first.device, then.device) {
            ensure!(
                first.ended <= then.begun + error,
                "an operation began at {}, and the one that it waits for ended at {}",
                then.begun,
                first.ended
            );
        }
    }
    Ok(())
}

fn retires_after_its_work(ctx: &Context) -> Outcome {
    let (device, notes) = profiled(ctx, of_operations())?;
    let (buffer, gate, done) = (device.allocate_device(64)?, Semaphore::new(0), Semaphore::new(0));
    queue_of(&device, 0)?.fill(&[gate.at(1)], &[done.at(1)], &buffer, 1_u8)?;
    device.profiling_flush()?;
    ensure_eq!(notes.operations().len(), 0, "the records of an operation whose wait is open");
    gate.signal(1)?;
    end_after(ctx, &device, &done.at(1))?;
    ensure_eq!(notes.operations().len(), 1, "the records of the operation");
    Ok(())
}

fn failed_work_is_told(ctx: &Context) -> Outcome {
    let (device, notes) = profiled(ctx, of_operations())?;
    let (buffer, bad, done) = (device.allocate_device(64)?, Semaphore::new(0), Semaphore::new(0));
    let queue = queue_of(&device, 0)?;
    queue.fill(&[bad.at(1)], &[done.at(1)], &buffer, 1_u8)?;
    // One more behind the failed one, and one without a failure.
    let after = Semaphore::new(0);
    queue.barrier(&[done.at(1)], &[after.at(1)])?;
    let fine = Semaphore::new(0);
    queue.fill(&[], &[fine.at(1)], &buffer, 1_u8)?;
    ctx.wait(&fine.at(1))?;
    bad.fail(Error::data_loss("on purpose"));
    ctx.wait_for_failure(&after.at(1))?;
    device.profiling_end()?;
    let told: Vec<_> = notes
        .operations()
        .into_iter()
        .map(|record| (record.failure.as_ref().map(Error::code), record.retired.is_some()))
        .collect();
    let lost = (Some(Code::DataLoss), true);
    ensure_eq!(
        told,
        [lost, lost, (None, true)],
        "the failures of the three operations, and whether they ended"
    );
    Ok(())
}

fn refused_work_is_not_told(ctx: &Context) -> Outcome {
    let (device, notes) = profiled(ctx, of_operations())?;
    let (queue, buffer) = (queue_of(&device, 0)?, device.allocate_device(64)?);
    device.close();
    let done = Semaphore::new(0);
    refused(queue.fill(&[], &[done.at(1)], &buffer, 1_u8), Code::Cancelled, "a fill on a closed device")?;
    device.profiling_end()?;
    ensure_eq!(notes.operations().len(), 0, "the records of refused operations");
    Ok(())
}

fn flush_delivers_completed_work(ctx: &Context) -> Outcome {
    let (device, notes) = profiled(ctx, of_operations())?;
    let (buffer, done) = (device.allocate_device(64)?, Semaphore::new(0));
    for value in 1..=10 {
        queue_of(&device, 0)?.fill(&[done.at(value - 1)], &[done.at(value)], &buffer, 1_u8)?;
        ctx.wait(&done.at(value))?;
        device.profiling_flush()?;
        ensure_eq!(notes.operations().len() as u64, value, "the records after a flush");
    }
    device.profiling_end()?;
    ensure_eq!(notes.operations().len(), 10, "the records after the end");
    Ok(())
}

fn end_tells_work_in_flight(ctx: &Context) -> Outcome {
    let (device, notes) = profiled(ctx, of_operations())?;
    let (buffer, gate, done) = (device.allocate_device(64)?, Semaphore::new(0), Semaphore::new(0));
    queue_of(&device, 0)?.fill(&[gate.at(1)], &[done.at(1)], &buffer, 1_u8)?;
    device.profiling_end()?;
    let told = notes.operations();
    ensure_eq!(told.len(), 1, "the records of an operation in flight");
    ensure_eq!(
        (told[0].issued, told[0].retired),
        (None, None),
        "the times of an operation whose wait is open"
    );
    gate.signal(1)?;
    ctx.wait(&done.at(1))
}

fn nothing_after_the_end(ctx: &Context) -> Outcome {
    let (device, notes) = profiled(ctx, ProfileOptions::default())?;
    let (buffer, gate, done) = (device.allocate_device(64)?, Semaphore::new(0), Semaphore::new(0));
    queue_of(&device, 0)?.fill(&[gate.at(1)], &[done.at(1)], &buffer, 1_u8)?;
    device.profiling_end()?;
    let told = notes.all().len();
    gate.signal(1)?;
    queue_of(&device, 1)?.fill(&[done.at(1)], &[done.at(2)], &buffer, 1_u8)?;
    ctx.wait(&done.at(2))?;
    drop(buffer);
    drop(device);
    ensure_eq!(notes.all().len(), told, "the records after the end");
    Ok(())
}

fn one_after_another(ctx: &Context) -> Outcome {
    let (device, first) = profiled(ctx, of_operations())?;
    let (buffer, gate, done) = (device.allocate_device(64)?, Semaphore::new(0), Semaphore::new(0));
    queue_of(&device, 0)?.fill(&[gate.at(1)], &[done.at(1)], &buffer, 1_u8)?;
    device.profiling_end()?;
    let second = Arc::new(Notes::default());
    device.profiling_begin(of_operations(), second.clone())?;
    queue_of(&device, 0)?.update(&[done.at(1)], &[done.at(2)], &[3; 64], &buffer)?;
    gate.signal(1)?;
    end_after(ctx, &device, &done.at(2))?;
    let names = |notes: &Notes| -> Vec<_> {
        notes.operations().iter().map(|record| (record.operation, record.retired.is_some())).collect()
    };
    ensure_eq!(names(&first), [("queue_fill", false)], "the operations of the first profile");
    ensure_eq!(names(&second), [("queue_update", true)], "the operations of the second profile");
    Ok(())
}

fn one_at_a_time(ctx: &Context) -> Outcome {
    let (device, notes) = (ctx.open()?, Arc::new(Notes::default()));
    refused(device.profiling_flush(), Code::FailedPrecondition, "a flush without a profile")?;
    refused(device.profiling_end(), Code::FailedPrecondition, "an end without a profile")?;
    device.profiling_begin(of_operations(), notes.clone())?;
    let again = device.clone().profiling_begin(of_operations(), notes.clone());
    names(&refused(again, Code::FailedPrecondition, "a second profile")?, "end it before")?;
    let other = ctx.open()?;
    other.profiling_begin(of_operations(), notes)?;
    other.profiling_end()?;
    device.profiling_end()?;
    refused(device.profiling_end(), Code::FailedPrecondition, "a second end")?;
    Ok(())
}

fn sink_may_use_the_device(ctx: &Context) -> Outcome {
    /// Submits and allocates in each call.
    struct Busy {
        device: Mutex<Option<Device>>,
        results: Mutex<Vec<Result<Option<Code>, Error>>>,
    }
    impl ProfileSink for Busy {
        fn records(&self, _: ProfileChunk) {
            let device = self.device.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let Some(device) = device else { return };
            let work = || {
                let buffer = device.allocate_device(64)?;
                device.queue(0)?.fill(&[], &[], &buffer, 1_u8)?;
                Ok(None)
            };
            let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push(work());
            for refusal in [device.profiling_flush(), device.profiling_end()] {
                results.push(Ok(refusal.err().map(|error| error.code())));
            }
        }
    }
    let device = ctx.open()?;
    let busy = Arc::new(Busy { device: Mutex::new(Some(device.clone())), results: Mutex::default() });
    device.profiling_begin(of_operations(), busy.clone())?;
    let (buffer, done) = (device.allocate_device(64)?, Semaphore::new(0));
    queue_of(&device, 0)?.fill(&[], &[done.at(1)], &buffer, 1_u8)?;
    ctx.wait(&done.at(1))?;
    device.profiling_flush()?;
    let results = std::mem::take(&mut *busy.results.lock().unwrap_or_else(PoisonError::into_inner));
    let seen = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    let expected = [None, Some(Code::FailedPrecondition), Some(Code::FailedPrecondition)];
    ensure!(seen.len() >= 3, "the sink was called {} times", seen.len() / 3);
    same_items(&seen[..3], &expected, "the results of work, a flush and an end in the sink")?;
    busy.device.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok(device.profiling_end()?)
}

fn sink_may_panic(ctx: &Context) -> Outcome {
    struct Panics(Notes);
    impl ProfileSink for Panics {
        fn records(&self, chunk: ProfileChunk) {
            self.0.records(chunk);
            // `resume_unwind` does not call the hook, which would print this intended panic.
            std::panic::resume_unwind(Box::new("a sink that panics on purpose"))
        }
    }
    let (device, sink) = (ctx.open()?, Arc::new(Panics(Notes::default())));
    device.profiling_begin(of_operations(), sink.clone())?;
    let (buffer, done) = (device.allocate_device(64)?, Semaphore::new(0));
    for value in 1..=600 {
        queue_of(&device, 0)?.fill(&[done.at(value - 1)], &[done.at(value)], &buffer, 1_u8)?;
    }
    end_after(ctx, &device, &done.at(600))?;
    ensure_eq!(sink.0.operations().len(), 600, "the records that the sink received");
    let weak: Weak<Panics> = Arc::downgrade(&sink);
    drop(sink);
    ensure!(weak.upgrade().is_none(), "the sink is kept after the end");
    Ok(())
}

fn dispatches(ctx: &Context) -> Outcome {
    let (device, notes) = profiled(ctx, of_operations())?;
    let executable = ctx.load_on(&device, &kernels::VECTOR_ADD)?;
    let function = executable.function("vector_add")?;
    let [a, b, c] = buffers(&device, 1024)?;
    let done = Semaphore::new(0);
    let queue = queue_of(&device, 0)?;
    let inputs = Semaphore::new(0);
    queue.fill(&[], &[inputs.at(1)], &a, 1.0_f32.to_bits())?;
    queue.fill(&[inputs.at(1)], &[inputs.at(2)], &b, 2.0_f32.to_bits())?;
    let config = DispatchConfig::new([4, 1, 1]).workgroup_size([64, 1, 1]);
    let arguments = [a.arg(), b.arg(), c.arg(), 256_i32.into()];
    queue.dispatch(&[inputs.at(2)], &[done.at(1)], &function, config, &arguments)?;
    end_after(ctx, &device, &done.at(1))?;
    let told: Vec<_> =
        notes.operations().into_iter().filter(|record| record.operation == "queue_dispatch").collect();
    ensure_eq!(told.len(), 1, "the records of one dispatch");
    ensure_eq!(told[0].function(), Some("vector_add"), "the function");
    ensure_eq!(told[0].workgroup_count, Some([4, 1, 1]), "the workgroup count");
    ensure_eq!(told[0].workgroup_size, Some([64, 1, 1]), "the workgroup size");
    Ok(())
}

fn buffers<const N: usize>(device: &Device, size: u64) -> Outcome<[Buffer; N]> {
    let made = (0..N).map(|_| device.allocate_device(size)).collect::<Result<Vec<_>, _>>()?;
    made.try_into().map_err(|_| Stop::fail("fewer buffers than asked for".to_owned()))
}

/// Two fills and a copy in groups, submitted twice.
fn grouped(ctx: &Context) -> Outcome<Arc<Notes>> {
    let (device, notes) = profiled(ctx, of_operations().with_commands(true))?;
    let [a, b] = buffers(&device, 4096)?;
    let mut recorder = device.record()?;
    recorder.begin_debug_group(DebugGroup::new("outer").color([1, 2, 3, 4]));
    recorder.fill(&a, 1_u8)?;
    recorder.barrier();
    recorder.begin_debug_group("inner");
    recorder.copy(&a, &b)?;
    recorder.end_debug_group()?;
    recorder.end_debug_group()?;
    recorder.barrier();
    recorder.update(&[5; 16], &b.subspan(0, 16)?)?;
    let commands = recorder.finish()?;
    let done = Semaphore::new(0);
    for value in 0..2 {
        queue_of(&device, 0)?.execute(&[done.at(value)], &[done.at(value + 1)], &commands, [])?;
    }
    end_after(ctx, &device, &done.at(2))?;
    Ok(notes)
}

fn commands_are_told(ctx: &Context) -> Outcome {
    let notes = grouped(ctx)?;
    let mut work = Vec::new();
    let mut ended = Vec::new();
    for record in notes.all() {
        match record {
            ProfileRecord::Command(command) => {
                ensure!(!ended.contains(&command.submission), "a command is told after its submission");
                work.push((command.submission, command.kind, command.bytes));
            }
            ProfileRecord::Operation(operation) => {
                ensure!(operation.commands >= Some(5), "a list of {:?} commands", operation.commands);
                ended.push(operation.submission);
            }
            _ => {}
        }
    }
    work.retain(|(_, kind, _)| *kind != CommandKind::Group);
    work.sort_by_key(|(submission, kind, _)| (*submission, kind.name()));
    ended.sort_unstable();
    let expected: Vec<_> = ended
        .iter()
        .flat_map(|submission| {
            [
                (*submission, CommandKind::Copy, Some(4096)),
                (*submission, CommandKind::Fill, Some(4096)),
                (*submission, CommandKind::Update, Some(16)),
            ]
        })
        .collect();
    ensure_eq!(ended.len(), 2, "the submissions");
    same_items(&work, &expected, "the commands of both submissions")
}

fn groups_nest(ctx: &Context) -> Outcome {
    let notes = grouped(ctx)?;
    let commands = notes.commands();
    for submission in notes.operations().iter().map(|operation| operation.submission) {
        let own: Vec<_> = commands.iter().filter(|command| command.submission == submission).collect();
        let named = |name: &str| own.iter().find(|command| command.name.as_deref() == Some(name));
        let of_kind =
            |kind| own.iter().find(|command| command.kind == kind).and_then(|command| command.group);
        let (Some(outer), Some(inner)) = (named("outer"), named("inner")) else {
            return Err(Stop::fail(format!("a group has no record: {own:#?}")));
        };
        ensure_eq!(outer.color, Some([1, 2, 3, 4]), "the colour of the outer group");
        ensure_eq!((outer.kind, inner.kind), (CommandKind::Group, CommandKind::Group), "the kinds of groups");
        ensure_eq!((outer.group, inner.group), (None, Some(outer.index)), "the groups around the groups");
        ensure_eq!(of_kind(CommandKind::Fill), Some(outer.index), "the group around the fill");
        ensure_eq!(of_kind(CommandKind::Copy), Some(inner.index), "the group around the copy");
        ensure_eq!(of_kind(CommandKind::Update), None, "the group around the update");
    }
    Ok(())
}

fn commands_run_within_their_operation(ctx: &Context) -> Outcome {
    let notes = grouped(ctx)?;
    let commands = notes.commands();
    ensure!(!commands.is_empty(), "no command has a record");
    for operation in notes.operations() {
        for command in commands.iter().filter(|command| command.submission == operation.submission) {
            let Some((outer, own)) = operation.device.zip(command.device) else { continue };
            ensure!(own.begun <= own.ended, "a command ran from {} to {}", own.begun, own.ended);
            let within = outer.begun <= own.begun + CORRECTION && own.ended <= outer.ended + CORRECTION;
            ensure!(within, "a command ran in {own:?}, and its operation in {outer:?}");
            let group = command.group.and_then(|group| {
                let around =
                    |other: &&CommandRecord| other.submission == command.submission && other.index == group;
                commands.iter().find(around)?.device
            });
            if let Some(group) = group {
                let within = group.begun <= own.begun && own.ended <= group.ended;
                ensure!(within, "a command ran in {own:?}, and its group in {group:?}");
            }
        }
    }
    Ok(())
}

fn host_calls(ctx: &Context) -> Outcome {
    let (device, notes) = profiled(ctx, of_operations())?;
    let queue = queue_of(&device, 0)?;
    let (good, bad, worse) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    queue.host_call(&[], &[good.at(1)], HostCallFlags::NONE, |_| Ok(()))?;
    ctx.wait(&good.at(1))?;
    queue.host_call(&[], &[bad.at(1)], HostCallFlags::NONE, |_| Err(Error::data_loss("on purpose")))?;
    ctx.wait_for_failure(&bad.at(1))?;
    queue.host_call(&[], &[worse.at(1)], HostCallFlags::NONE, |_| {
        std::panic::resume_unwind(Box::new("a host call that panics on purpose"))
    })?;
    ctx.wait_for_failure(&worse.at(1))?;
    // It settles its signals and runs on: a wait for them must find its record.
    let (early, gate) = (Semaphore::new(0), Semaphore::new(0));
    let (held, deadline) = (gate.clone(), ctx.deadline());
    queue.host_call(&[], &[early.at(1)], HostCallFlags::NONE, move |call| {
        call.defer()?.complete(Ok(()));
        held.wait_blocking(1, deadline)
    })?;
    ctx.wait(&early.at(1))?;
    let ended = device.profiling_end();
    gate.signal(1)?;
    ended?;
    let mut calls = Vec::new();
    for record in notes.all() {
        if let ProfileRecord::HostCall(call) = record {
            calls.push(call);
        }
    }
    calls.sort_by_key(|call| call.submission);
    let codes: Vec<_> = calls.iter().map(|call| call.failure.as_ref().map(Error::code)).collect();
    ensure_eq!(codes, [None, Some(Code::DataLoss), Some(Code::Aborted), None], "the failures of the calls");
    let operations = notes.operations();
    ensure_eq!(operations.len(), 4, "the operations");
    for (call, operation) in calls.iter().zip(&operations) {
        ensure_eq!(call.submission, operation.submission, "the submission of a call");
        ensure_eq!(
            operation.failure.as_ref().map(Error::code),
            call.failure.as_ref().map(Error::code),
            "the failure of the operation"
        );
        ensure!(call.thread > 0, "a call without a thread");
        let ends = Some(call.time.ended) <= operation.retired;
        ensure!(call.time.begun <= call.time.ended && ends, "a call ran in {:?}: {operation:?}", call.time);
        ensure!(operation.issued <= Some(call.time.begun), "a call ran before it was issued");
    }
    Ok(())
}

fn memory(ctx: &Context) -> Outcome {
    const BYTES: u64 = 3 << 16;
    let (device, notes) = profiled(ctx, ProfileOptions::default())?;
    drop(device.allocate_device(BYTES)?);
    device.trim();
    device.profiling_end()?;
    let mut sums = BTreeMap::<_, u64>::new();
    for record in notes.all() {
        if let ProfileRecord::Memory(memory) = record {
            *sums.entry(memory.event.name()).or_default() += memory.bytes;
        }
    }
    let sum = |event: MemoryEvent| sums.get(event.name()).copied().unwrap_or_default();
    ensure_eq!(sum(MemoryEvent::Allocate), BYTES, "the bytes that buffers received");
    ensure_eq!(sum(MemoryEvent::Free), BYTES, "the bytes that buffers gave back");
    ensure!(sum(MemoryEvent::Reserve) >= BYTES, "memory came from nowhere: {sums:?}");
    let silent = Arc::new(Notes::default());
    device.profiling_begin(of_operations(), silent.clone())?;
    drop(device.allocate_device(BYTES)?);
    device.profiling_end()?;
    ensure_eq!(silent.all().len(), 0, "the records of memory that nobody asked for");
    Ok(())
}
