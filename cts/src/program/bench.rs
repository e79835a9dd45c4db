// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs programs on a device: acts as the program's client, and reads all memory in the end.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use windlass_hal::{
    Argument, Buffer, BufferParams, BufferRef, Code, CommandBuffer, Deadline, Device, DispatchConfig, Error,
    File, Function, HostCallFlags, Pattern, Queue, QueueAffinity, Recorder, Result, Semaphore, WaitPolicy,
    wait_all,
};

use super::{
    BufferKind, ClientStep, Command, List, Mix, Operation, Point, Program, Range, Reference, Submission,
    Work, bytes_of,
    model::initial,
    observed::{Discrepancy, Expectation, Observed, injected},
    order::Illegal,
    ranks::Ranks,
};
use crate::{
    file_in_memory::FileInMemory,
    kernels::{self, Kernels},
    outcome::{Outcome, Stop},
};

/// A device with the objects that programs need on it. One bench runs any number of programs, one after the other.
#[derive(Debug)]
pub struct Bench {
    device: Device,
    /// `multiply_add` and `increment`, if the device runs kernels.
    functions: Option<[Function; 2]>,
    ranks: Option<Ranks>,
    limit: Duration,
}

impl Bench {
    /// Prepares a device. A program that takes longer than `limit` counts as hung.
    pub fn new(device: Device, kernels: &[Kernels], limit: Duration) -> Outcome<Self> {
        let functions = match Mix::for_device(device.info()).dispatches {
            false => None,
            true => match kernels::load(kernels, &device, &kernels::ORDER) {
                Ok(order) => Some([order.function("multiply_add")?, order.function("increment")?]),
                Err(Stop::Skip(_)) => None,
                Err(stop) => return Err(stop),
            },
        };
        let ranks = Ranks::new(&device, limit)?;
        Ok(Self { device, functions, ranks, limit })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The mix of operations that programs for this device may contain, without failures.
    pub fn mix(&self) -> Mix {
        let mut mix = Mix::for_device(self.device.info());
        mix.dispatches &= self.functions.is_some();
        mix.ranks = self.ranks.as_ref().map_or(0, Ranks::count);
        mix
    }

    /// Runs a legal program and compares the outcome with the model's prediction.
    ///
    /// # Errors
    /// The first difference. An illegal program is an error too.
    pub fn run(&self, program: &Program) -> Result<(), Discrepancy> {
        self.run_as(program, program)
    }

    /// Runs a program that lacks some edge, and compares the outcome with the prediction for the whole program.
    ///
    /// # Errors
    /// The first difference.
    pub fn run_as(&self, program: &Program, whole: &Program) -> Result<(), Discrepancy> {
        let expectation = Expectation::new(whole, false).map_err(illegal)?;
        expectation.compare(&self.observe(program, &expectation, None)?)
    }

    /// Runs a legal program while the device may fail or refuse any operation for reasons of its own. A failure must
    /// fail the operations that wait for it. Operations that succeed must have the predicted effect. Nothing may
    /// hang. The function calls `faults(true)` before the first step and `faults(false)` after the last, and the
    /// device may fail operations in between. If the device is lost afterwards, only statuses are compared. A program
    /// that is not of a [mix with failures](Mix::with_failures) is refused, because its order depends on host waits
    /// that must not fail.
    ///
    /// # Errors
    /// The first difference.
    pub fn run_unreliable(&self, program: &Program, faults: impl Fn(bool)) -> Result<(), Discrepancy> {
        if !program.failing {
            return Err(illegal("its waits stand for more than themselves".to_owned()));
        }
        let expectation = Expectation::new(program, true).map_err(illegal)?;
        expectation.compare(&self.observe(program, &expectation, Some(&faults))?)
    }

    fn observe(
        &self,
        program: &Program,
        expectation: &Expectation<'_>,
        faults: Option<&dyn Fn(bool)>,
    ) -> Result<Observed, Discrepancy> {
        let deadline = Deadline::from(Instant::now() + self.limit);
        let stuck = |what: &str, error: &Error| Discrepancy::stuck(format!("{what}: {error}"));
        let mut run = Run::new(self, program, expectation, deadline)
            .map_err(|error| stuck("before the first step", &error))?;
        run.unreliable = faults.is_some();
        let may_fail = |may| faults.iter().for_each(|faults| faults(may));
        may_fail(true);
        for (index, step) in program.steps.iter().enumerate() {
            run.step(index, step).map_err(|error| stuck(&format!("step {index}"), &error))?;
        }
        run.wait_for_ends().map_err(|error| stuck("behind the last step", &error))?;
        may_fail(false);
        run.look().map_err(|error| stuck("in the end", &error))
    }
}

fn illegal(reason: Illegal) -> Discrepancy {
    Discrepancy::new(format!("the program is not legal: {reason}"))
}

/// A running program.
struct Run<'a> {
    bench: &'a Bench,
    program: &'a Program,
    expectation: &'a Expectation<'a>,
    deadline: Deadline,
    buffers: Vec<Option<Buffer>>,
    files: Vec<Option<FileInMemory>>,
    semaphores: Vec<Semaphore>,
    /// One semaphore for each operation, which tells how the operation ended.
    ends: Vec<Semaphore>,
    called: Vec<Arc<AtomicBool>>,
    lists: Vec<Option<CommandBuffer>>,
    observed: Observed,
    /// Whether the device may fail operations for reasons of its own.
    unreliable: bool,
}

impl<'a> Run<'a> {
    fn new(
        bench: &'a Bench,
        program: &'a Program,
        expectation: &'a Expectation<'a>,
        deadline: Deadline,
    ) -> Result<Self> {
        let operations = program.submissions().map(|(_, submission)| submission.number as usize + 1).max();
        let operations = operations.unwrap_or(0);
        let mut run = Self {
            bench,
            program,
            expectation,
            deadline,
            buffers: Vec::new(),
            files: Vec::new(),
            semaphores: (0..program.semaphores()).map(|_| Semaphore::new(0)).collect(),
            ends: (0..operations).map(|_| Semaphore::new(0)).collect(),
            called: (0..operations).map(|_| Arc::default()).collect(),
            lists: program.lists.iter().map(|_| None).collect(),
            observed: Observed::default(),
            unreliable: false,
        };
        let mut there = Vec::new();
        let queue = bench.device.queue(0)?;
        for (index, spec) in program.buffers.iter().enumerate() {
            let bytes = initial(index, spec.size);
            let (buffer, file) = match spec.kind {
                BufferKind::Device => {
                    let (buffer, done) =
                        (bench.device.allocate_device(spec.size.into())?, Semaphore::new(0).at(1));
                    queue.update(&[], std::slice::from_ref(&done), &bytes, &buffer)?;
                    there.push(done);
                    (Some(buffer), None)
                }
                BufferKind::Host => {
                    let buffer = bench.device.allocate(&BufferParams::host(), spec.size.into())?;
                    buffer.map()?.write(0, &bytes)?;
                    (Some(buffer), None)
                }
                BufferKind::Transient => (None, None),
                BufferKind::File => (None, Some(FileInMemory::new(bytes))),
            };
            run.buffers.push(buffer);
            run.files.push(file);
        }
        wait_all(&there, deadline, WaitPolicy::default())?;
        Ok(run)
    }

    fn step(&mut self, index: usize, step: &ClientStep) -> Result<()> {
        match step {
            ClientStep::Submit(submission) => match self.submit(submission) {
                // The signals of a refused submission will never be reached.
                Err(error) if self.unreliable => {
                    let signals = self.signals(submission);
                    signals.iter().for_each(|signal| signal.semaphore.fail(error.clone()));
                }
                result => result?,
            },
            ClientStep::Signal(point) => self.semaphores[point.semaphore as usize].signal(point.value)?,
            ClientStep::Fail { semaphore, cause } => {
                self.semaphores[*semaphore as usize].fail(injected(*cause))
            }
            ClientStep::Wait(points) => {
                let result = wait_all(&self.points(points), self.deadline, WaitPolicy::default());
                self.observed.waits.push((index, not_late(result)?));
            }
            ClientStep::Join(number) => {
                let end = self.ends[*number as usize].wait_blocking(1, self.deadline);
                // The outcomes are checked after the last step.
                let _ = not_late(end)?;
            }
            ClientStep::Read(range) => {
                let mut bytes = vec![0; range.length as usize];
                self.buffer(range.buffer)?.map()?.read(range.offset.into(), &mut bytes)?;
                self.observed.reads.push((index, bytes));
            }
            ClientStep::Write { target, seed } => {
                let bytes = bytes_of(*seed, target.length);
                self.buffer(target.buffer)?.map()?.write(target.offset.into(), &bytes)?;
            }
        }
        Ok(())
    }

    fn submit(&mut self, submission: &Submission) -> Result<()> {
        let queue = self.queue(submission.affinity)?;
        let waits = self.points(&submission.waits);
        let signals = self.signals(submission);
        match &submission.operation {
            Operation::Barrier => queue.barrier(&waits, &signals),
            Operation::Alloca(index) => {
                let size = self.program.buffers[*index as usize].size;
                let buffer = queue.alloca(&waits, &signals, &BufferParams::device(), size.into())?;
                self.buffers[*index as usize] = Some(buffer);
                Ok(())
            }
            Operation::Dealloca(index) => queue.dealloca(&waits, &signals, self.buffer(*index)?),
            Operation::Work(work) => self.work(&queue, &waits, &signals, work),
            Operation::Read { file, target } => {
                queue.read(&waits, &signals, &self.file(file)?, file.offset.into(), &self.part(target)?)
            }
            Operation::Write { source, file } => {
                queue.write(&waits, &signals, &self.part(source)?, &self.file(file)?, file.offset.into())
            }
            Operation::HostCall { write, fail } => {
                let target = match write {
                    Some((range, seed)) => Some((self.part(range)?.map()?, bytes_of(*seed, range.length))),
                    None => None,
                };
                let (called, fail) = (self.called[submission.number as usize].clone(), *fail);
                queue.host_call(&waits, &signals, HostCallFlags::NONE, move |_| {
                    called.store(true, Ordering::Release);
                    target.map_or(Ok(()), |(mapping, bytes)| mapping.write(0, &bytes))?;
                    fail.map_or(Ok(()), |cause| Err(injected(cause)))
                })
            }
            Operation::Execute { list, table } => {
                let table = table.iter().map(|range| self.part(range)).collect::<Result<Vec<_>>>()?;
                let commands = self.list(*list as usize)?;
                queue.execute(&waits, &signals, &commands, table)
            }
            Operation::Collective { kind, recorded, parts } => {
                let part = |(source, target)| Ok((self.part(source)?, self.part(target)?));
                let parts = parts.iter().map(|(source, target)| part((source, target)));
                let parts = parts.collect::<Result<Vec<_>>>()?;
                let ranks = self.bench.ranks.as_ref();
                let ranks = ranks.ok_or_else(|| Error::unimplemented("the bench has no channel"))?;
                ranks.submit(&queue, &waits, &signals, (*kind, *recorded), &parts)
            }
        }
    }

    fn work(
        &self,
        queue: &Queue,
        waits: &[windlass_hal::Point],
        signals: &[windlass_hal::Point],
        work: &Work<Range>,
    ) -> Result<()> {
        match work {
            Work::Fill { target, value, size } => {
                queue.fill(waits, signals, &self.part(target)?, pattern(*value, *size))
            }
            Work::Update { target, seed } => {
                queue.update(waits, signals, &bytes_of(*seed, target.length), &self.part(target)?)
            }
            Work::Copy { source, target } => {
                queue.copy(waits, signals, &self.part(source)?, &self.part(target)?)
            }
            Work::MultiplyAdd { target, factor, addend } => {
                let words = (target.length / 4) as i32;
                let target = self.part(target)?;
                let arguments = [target.arg(), words.into(), (*factor).into(), (*addend).into()];
                queue.dispatch(waits, signals, self.function(0)?, over(words), &arguments)
            }
            Work::Increment { target, times } => {
                let target = self.part(target)?;
                queue.dispatch(waits, signals, self.function(1)?, one_group(*times), &[target.arg()])
            }
        }
    }

    /// The recording of a list. It is made once.
    fn list(&mut self, index: usize) -> Result<CommandBuffer> {
        if let Some(known) = &self.lists[index] {
            return Ok(known.clone());
        }
        let list: &List = &self.program.lists[index];
        let mut recorder = self.bench.device.record_with_slots(list.slots)?;
        let mut events = HashMap::new();
        for command in &list.commands {
            match command {
                Command::Barrier => recorder.barrier(),
                Command::Signal(number) => {
                    let event = recorder.event();
                    recorder.signal_event(event)?;
                    events.insert(*number, event);
                }
                Command::Wait(number) => {
                    let signalled: Vec<_> = events.get(number).copied().into_iter().collect();
                    recorder.wait_events(&signalled)?;
                }
                Command::Work(work) => self.record(&mut recorder, work)?,
            }
        }
        let commands = recorder.finish()?;
        self.lists[index] = Some(commands.clone());
        Ok(commands)
    }

    fn record(&self, recorder: &mut Recorder, work: &Work<Reference>) -> Result<()> {
        match work {
            Work::Fill { target, value, size } => {
                recorder.fill(self.reference(target)?, pattern(*value, *size))
            }
            Work::Update { target, seed } => {
                let target = self.reference(target)?;
                recorder.update(&bytes_of(*seed, target.len() as u32), target)
            }
            Work::Copy { source, target } => recorder.copy(self.reference(source)?, self.reference(target)?),
            Work::MultiplyAdd { target, factor, addend } => {
                let target = self.reference(target)?;
                let words = (target.len() / 4) as i32;
                let arguments = [argument(&target), words.into(), (*factor).into(), (*addend).into()];
                recorder.dispatch(self.function(0)?, over(words), &arguments)
            }
            Work::Increment { target, times } => {
                let target = self.reference(target)?;
                recorder.dispatch(self.function(1)?, one_group(*times), &[argument(&target)])
            }
        }
    }

    fn wait_for_ends(&mut self) -> Result<()> {
        for end in &self.ends {
            self.observed.ends.push(not_late(end.wait_blocking(1, self.deadline))?);
        }
        self.observed.called = self.called.iter().map(|called| called.load(Ordering::Acquire)).collect();
        self.observed.semaphores = self.semaphores.iter().map(Semaphore::query).collect();
        Ok(())
    }

    /// Reads all statuses and all memory.
    fn look(mut self) -> Result<Observed> {
        let staging = match not_late(self.staging())? {
            Err(_) if self.unreliable => {
                self.observed.lost = true;
                return Ok(self.observed);
            }
            staging => staging?,
        };
        let mapping = staging.map()?;
        let mut at = 0;
        for (index, spec) in self.program.buffers.iter().enumerate() {
            let mut bytes = vec![0; spec.size as usize];
            let survives = self.survives(index);
            let bytes = match spec.kind {
                BufferKind::File => self.files[index].as_ref().map(FileInMemory::bytes),
                BufferKind::Host => {
                    self.buffer(index as u32)?.map()?.read(0, &mut bytes)?;
                    Some(bytes)
                }
                BufferKind::Device | BufferKind::Transient if survives => {
                    mapping.read(at, &mut bytes)?;
                    at += u64::from(spec.size);
                    Some(bytes)
                }
                BufferKind::Device | BufferKind::Transient => None,
            };
            self.observed.memory.push(bytes);
        }
        Ok(self.observed)
    }

    /// Host memory with the bytes of all existing device buffers, one after the other.
    fn staging(&self) -> Result<Buffer> {
        let sizes = self.program.buffers.iter().map(|spec| u64::from(spec.size));
        let staging = self.bench.device.allocate(&BufferParams::host(), sizes.sum())?;
        let (queue, mut there, mut at) = (self.bench.device.queue(0)?, Vec::new(), 0);
        for (index, spec) in self.program.buffers.iter().enumerate() {
            let of_the_device = matches!(spec.kind, BufferKind::Device | BufferKind::Transient);
            if !of_the_device || !self.survives(index) {
                continue;
            }
            let done = Semaphore::new(0).at(1);
            let target = staging.subspan(at, spec.size.into())?;
            queue.copy(&[], std::slice::from_ref(&done), self.buffer(index as u32)?, &target)?;
            there.push(done);
            at += u64::from(spec.size);
        }
        wait_all(&there, self.deadline, WaitPolicy::default())?;
        Ok(staging)
    }

    fn survives(&self, buffer: usize) -> bool {
        self.expectation.survives(buffer, &self.observed.ends)
    }

    /// The signals of an operation, with its own semaphore in `ends`.
    fn signals(&self, submission: &Submission) -> Vec<windlass_hal::Point> {
        let mut signals = self.points(&submission.signals);
        signals.push(self.ends[submission.number as usize].at(1));
        signals
    }

    fn queue(&self, affinity: u64) -> Result<Queue> {
        let queues = self.bench.device.limits().queues.min(64);
        let existing = affinity & (u64::MAX >> (64 - queues));
        match existing {
            0 => self.bench.device.queue(affinity.trailing_zeros() % queues),
            bits => self.bench.device.queue_of(QueueAffinity::from_bits(bits)),
        }
    }

    fn points(&self, points: &[Point]) -> Vec<windlass_hal::Point> {
        points.iter().map(|point| self.semaphores[point.semaphore as usize].at(point.value)).collect()
    }

    fn buffer(&self, index: u32) -> Result<&Buffer> {
        self.buffers[index as usize]
            .as_ref()
            .ok_or_else(|| Error::internal(format!("buffer {index} has no memory at this step")))
    }

    fn part(&self, range: &Range) -> Result<Buffer> {
        self.buffer(range.buffer)?.subspan(range.offset.into(), range.length.into())
    }

    fn file(&self, range: &Range) -> Result<File> {
        let file = self.files[range.buffer as usize].clone();
        file.map(File::new).ok_or_else(|| Error::internal(format!("buffer {} is no file", range.buffer)))
    }

    fn reference(&self, reference: &Reference) -> Result<BufferRef> {
        Ok(match reference {
            Reference::Direct(range) => BufferRef::from(self.part(range)?),
            Reference::Slot(part) => BufferRef::slot(part.buffer, part.offset.into(), part.length.into()),
        })
    }

    fn function(&self, index: usize) -> Result<&Function> {
        let functions = self.bench.functions.as_ref();
        functions
            .map(|functions| &functions[index])
            .ok_or_else(|| Error::unimplemented("the bench has no kernels"))
    }
}

/// Returns the outcome of a wait, or fails if the wait exceeded its deadline.
fn not_late<T>(result: Result<T>) -> Result<Result<T>> {
    match result {
        Err(error) if error.code() == Code::DeadlineExceeded => Err(error),
        other => Ok(other),
    }
}

fn pattern(value: u32, size: u32) -> Pattern {
    match size {
        1 => Pattern::from(value as u8),
        2 => Pattern::from(value as u16),
        _ => Pattern::from(value),
    }
}

fn argument(reference: &BufferRef) -> Argument<'_> {
    match reference {
        BufferRef::Direct(buffer) => buffer.arg(),
        BufferRef::Slot { slot, offset, length } => {
            Argument::Slot { slot: *slot, offset: *offset, length: *length }
        }
    }
}

fn over(words: i32) -> DispatchConfig {
    DispatchConfig::new([words.unsigned_abs().div_ceil(64), 1, 1]).workgroup_size([64, 1, 1])
}

fn one_group(items: u32) -> DispatchConfig {
    DispatchConfig::new([1, 1, 1]).workgroup_size([items, 1, 1])
}
