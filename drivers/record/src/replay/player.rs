// SPDX-License-Identifier: MIT OR Apache-2.0
//! The player: it walks the events of a recording and does on a device what the program did.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    sync::PoisonError,
    time::{Duration, Instant},
};

use windlass_hal::{
    Buffer, Code, Deadline, Device, Error, Feature, File, Point, Queue, QueueAffinity, Result, ResultExt,
    Semaphore,
};

use super::{
    check::Fate,
    files::{Recorded, Written, assembled},
    memory::{self, Expected},
    objects::{Configured, Objects, all, error_of, named, params_of, pattern_of},
    options::{Difference, Order, ReplayOptions, Replayed},
    recording::Recording,
};
use crate::format::event::{At, Ended, Event, Launch, Origin, Submission, Work};

/// The differences that a result lists.
const LISTED: usize = 16;

/// A recording on a device. It may run several times, one after the other; code is loaded once, and buffers that live as
/// long as the recording are made once.
pub struct Player<'a> {
    recording: &'a Recording,
    device: Device,
    objects: Objects,
}

/// One run.
struct Run<'a, 'b> {
    recording: &'a Recording,
    device: &'b Device,
    objects: &'b mut Objects,
    options: &'b ReplayOptions,
    operations: HashMap<u32, Running>,
    /// Operations whose end was met and not awaited.
    unawaited: Vec<u32>,
    expected: Expected,
    /// The last bytes of buffers whose memory goes in the order of a queue: the buffer, its copy, and when it is there.
    leaving: Vec<(u32, Buffer, Semaphore)>,
    result: Replayed,
    begun: Option<Instant>,
}

/// An operation that was submitted.
struct Running {
    done: Semaphore,
    /// The signals that the player gives when it has seen the end.
    held: Option<Vec<Point>>,
    /// Whether its work is the player's, and its end the recorded one.
    scripted: bool,
    written: Option<Written>,
    buffers: Vec<u32>,
}

impl<'a> Player<'a> {
    /// Prepares a replay.
    ///
    /// # Safety
    /// A replay runs the code in the recording, with the recorded arguments. The caller vouches for both, as for
    /// [`Device::load_executable`]. On a device of the host, that code is host code.
    #[allow(unsafe_code)]
    pub unsafe fn new(recording: &'a Recording, device: &Device) -> Self {
        Self { recording, device: device.clone(), objects: Objects::default() }
    }

    /// Runs the recording. An error means that the run has stopped: the device refuses something that the recorded device
    /// took, lacks memory or code, or was lost.
    pub fn run(&mut self, options: &ReplayOptions) -> Result<Replayed> {
        self.objects.clear_semaphores();
        let passing = |number: &u32| self.recording.passing.contains(number);
        self.objects.buffers.retain(|number, _| !passing(number));
        self.objects.reserved.clear();
        let mut run = Run {
            recording: self.recording,
            device: &self.device,
            objects: &mut self.objects,
            options,
            operations: HashMap::new(),
            unawaited: Vec::new(),
            expected: Expected::default(),
            leaving: Vec::new(),
            result: Replayed::default(),
            begun: None,
        };
        for (index, (at, event)) in self.recording.events.iter().enumerate() {
            run.event(index, event).context(|| format!("replaying the event at byte {at}"))?;
        }
        run.finish()
    }
}

impl Run<'_, '_> {
    fn event(&mut self, index: usize, event: &Event) -> Result<()> {
        match event {
            Event::Buffer { buffer, origin, params, size } => {
                let params = params_of(params, origin, self.recording.shared.contains(buffer));
                self.appear(*buffer, origin, params, *size)
            }
            Event::BufferGone { buffer } => self.go(*buffer),
            Event::Executable { executable, parts } => self.load(*executable, parts),
            Event::List { list, slots, commands } => {
                let lives = |buffer: &u32| !self.recording.passing.contains(buffer);
                if self.objects.lists.contains_key(list) && named(commands).iter().all(lives) {
                    return Ok(());
                }
                let made = self.objects.record(self.recording, self.device, *slots, commands)?;
                self.objects.lists.insert(*list, made);
                Ok(())
            }
            Event::Submit { submission } => {
                let number = submission.operation;
                self.submit(submission).context(|| format!("submitting operation {number}"))
            }
            Event::Refused { .. } | Event::Contents { .. } | Event::Closed {} => Ok(()),
            Event::Began { operation } => match self.operations.get(operation) {
                Some(running) => self.wait(&running.done),
                None => Ok(()),
            },
            Event::Ended { ended } => self.end(index, ended),
            Event::HostWrite { buffer, changes } => {
                self.settle_users(&[*buffer])?;
                let Some(memory) = self.objects.buffers.get(buffer) else { return Ok(()) };
                for (offset, bytes) in self.expected.apply(self.recording, *buffer, memory, changes)? {
                    memory::write(self.device, memory, offset, &bytes)?;
                }
                Ok(())
            }
            Event::HostSignal { at } => self.objects.semaphore(at.semaphore).signal(at.value),
            Event::HostFail { semaphore, failure } => {
                self.objects.semaphore(*semaphore).fail(error_of(failure));
                Ok(())
            }
        }
    }

    fn appear(
        &mut self,
        number: u32,
        origin: &Origin,
        params: windlass_hal::BufferParams,
        size: u64,
    ) -> Result<()> {
        if let Origin::Reserved {} = origin {
            self.objects.reserved.insert(number, (params, size));
            return Ok(());
        }
        let made = match (self.objects.buffers.get(&number), origin) {
            (Some(kept), _) => kept.clone(),
            (None, Origin::Alias { of, offset }) => self.objects.buffer(*of)?.subspan(*offset, size)?,
            (None, Origin::Global { executable, name, affinity }) => {
                let executable = self.objects.executables.get(executable);
                let executable =
                    executable.ok_or_else(|| Error::internal("a variable of code that is not loaded"))?;
                executable.global_on(name, self.queues(*affinity)).or_else(|_| executable.global(name))?
            }
            (None, _) => self.device.allocate(&params, size)?,
        };
        if !matches!(origin, Origin::Alias { .. } | Origin::Global { .. }) {
            if let Some(bytes) = self.recording.contents.get(&number) {
                memory::write(self.device, &made, 0, &self.recording.data.get(bytes)?)?;
            } else if made.params().usage.contains(windlass_hal::BufferUsage::MAPPING) {
                memory::clear(self.device, &made)?;
            }
        }
        self.objects.buffers.insert(number, made);
        Ok(())
    }

    fn go(&mut self, number: u32) -> Result<()> {
        if self.options.dump.is_some() && self.objects.buffers.contains_key(&number) {
            self.settle_users(&[number])?;
            self.dump(number)?;
        }
        self.objects.buffers.remove(&number);
        self.expected.forget(number);
        Ok(())
    }

    #[allow(unsafe_code)]
    fn load(&mut self, number: u32, parts: &[crate::format::coding::Bytes]) -> Result<()> {
        if self.objects.executables.contains_key(&number) {
            return Ok(());
        }
        let parts = all(self.recording, parts)?;
        let parts: Vec<_> = parts.iter().map(Vec::as_slice).collect();
        // SAFETY: the caller of `Player::new` vouches for the code.
        let executable =
            unsafe { self.device.load_linked(&parts) }.context(|| format!("loading executable {number}"))?;
        self.objects.executables.insert(number, executable);
        Ok(())
    }

    /// The recorded queues that this device has too, or one in their place.
    fn queues(&self, affinity: u64) -> QueueAffinity {
        let queues = self.device.limits().queues.clamp(1, 64);
        let own = if queues == 64 { u64::MAX } else { (1 << queues) - 1 };
        match affinity & own {
            0 => QueueAffinity::queue(affinity.trailing_zeros() % queues),
            some => QueueAffinity::from_bits(some),
        }
    }

    fn lacks(&self, feature: Feature) -> bool {
        self.device.info().lacks.iter().any(|lack| lack.feature == feature)
    }

    fn points(&mut self, points: &[At]) -> Vec<Point> {
        points.iter().map(|at| self.objects.semaphore(at.semaphore).at(at.value)).collect()
    }

    fn submit(&mut self, submission: &Submission) -> Result<()> {
        let number = submission.operation;
        let ended = match self.recording.fates.get(&number) {
            Some(Fate::Ends(index)) => match &self.recording.events[*index].1 {
                Event::Ended { ended } => Some(ended),
                _ => None,
            },
            Some(Fate::Open) => None,
            Some(Fate::Left) | None => return Ok(()),
        };
        self.begun.get_or_insert_with(Instant::now);
        let (waits, signals) = (self.points(&submission.waits), self.points(&submission.signals));
        let queue = self.device.queue_of(self.queues(submission.affinity))?;
        let failed = ended.is_some_and(|ended| ended.failure.is_some());
        let scripted = match submission.work {
            Work::HostCall {} => true,
            Work::Read { .. } => failed || ended.is_none(),
            Work::Write { .. } => failed || ended.is_none() || self.lacks(Feature::Files),
            _ => false,
        };
        let compares = ended.is_some_and(|ended| !ended.readbacks.is_empty()) && !self.options.unchecked;
        let done = Semaphore::new(0);
        let mut given = vec![done.at(1)];
        // Where a semaphore fails, its values up to there decide which operations fail. So they come in the recorded order.
        let fails = submission.signals.iter().any(|at| self.recording.failing.contains(&at.semaphore));
        // The bytes that an operation left are compared at its recorded end. Work that had not begun then, and that no edge
        // orders, may share them: kernels that add to one word, or that name more than they write.
        let in_order = ended.is_some() && self.options.order == Order::Program && !self.options.unchecked;
        let held = (scripted || compares || fails || in_order).then(|| signals.clone());
        if held.is_none() {
            given.extend(signals);
        }
        let mut running = Running {
            done,
            held,
            scripted: scripted && failed,
            written: None,
            buffers: self.used(&submission.work),
        };
        match scripted {
            true => queue.barrier(&waits, &given)?,
            false => self.work(&queue, &waits, &given, &submission.work, ended, &mut running)?,
        }
        self.operations.insert(number, running);
        self.result.operations += 1;
        Ok(())
    }

    fn work(
        &mut self,
        queue: &Queue,
        waits: &[Point],
        signals: &[Point],
        work: &Work,
        ended: Option<&Ended>,
        running: &mut Running,
    ) -> Result<()> {
        let data = &self.recording.data;
        match work {
            Work::Barrier {} | Work::HostCall {} => queue.barrier(waits, signals),
            Work::Alloca { buffer } => self.alloca(queue, waits, signals, *buffer),
            Work::Dealloca { buffer } => self.dealloca(queue, waits, signals, *buffer),
            Work::Fill { target, pattern, size } => {
                queue.fill(waits, signals, &self.objects.range(target)?, pattern_of(*pattern, *size))
            }
            Work::Update { source, target } => {
                queue.update(waits, signals, &data.get(source)?, &self.objects.range(target)?)
            }
            Work::Copy { source, target } => {
                queue.copy(waits, signals, &self.objects.range(source)?, &self.objects.range(target)?)
            }
            Work::Read { offset, target } => {
                let target = self.objects.range(target)?;
                let mut pieces = Vec::new();
                for piece in ended.iter().flat_map(|ended| &ended.pieces) {
                    pieces.push((piece.offset, data.get(&piece.bytes)?));
                }
                if self.lacks(Feature::Files) {
                    let bytes = assembled(&pieces, *offset, target.len() as usize);
                    return queue.update(waits, signals, &bytes, &target);
                }
                queue.read(waits, signals, &File::new(Recorded(pieces)), *offset, &target)
            }
            Work::Write { source, offset } => {
                let written = Written::default();
                running.written = Some(written.clone());
                queue.write(waits, signals, &self.objects.range(source)?, &File::new(written), *offset)
            }
            Work::Dispatch { launch } => self.dispatch(queue, waits, signals, launch),
            Work::Execute { list, bindings } => {
                let bindings =
                    bindings.iter().map(|range| self.objects.range(range)).collect::<Result<Vec<_>>>()?;
                let list = self.objects.lists.get(list);
                let list = list.ok_or_else(|| Error::internal("a command buffer that was not recorded"))?;
                queue.execute(waits, signals, list, bindings)
            }
        }
    }

    fn dispatch(&self, queue: &Queue, waits: &[Point], signals: &[Point], launch: &Launch) -> Result<()> {
        self.objects.launch(self.recording, launch, |function, configured, arguments| match configured {
            Configured::Direct(config) => queue.dispatch(waits, signals, function, config, arguments),
            Configured::Indirect(config) => {
                queue.dispatch_indirect(waits, signals, function, config, arguments)
            }
        })
    }

    /// Mapped memory begins as zeros, as the recorder's copy of it does.
    fn alloca(&mut self, queue: &Queue, waits: &[Point], signals: &[Point], number: u32) -> Result<()> {
        let Some((params, size)) = self.objects.reserved.get(&number).copied() else {
            return queue.barrier(waits, signals);
        };
        let is_mapped = params.usage.contains(windlass_hal::BufferUsage::MAPPING) && size > 0;
        let buffer = if self.lacks(Feature::Alloca) {
            let buffer = self.device.allocate(&params, size)?;
            if is_mapped {
                memory::clear(self.device, &buffer)?;
            }
            queue.barrier(waits, signals)?;
            buffer
        } else if is_mapped {
            let there = [Semaphore::new(0).at(1)];
            let buffer = queue.alloca(waits, &there, &params, size)?;
            queue.fill(&there, signals, &buffer, 0_u8)?;
            buffer
        } else {
            queue.alloca(waits, signals, &params, size)?
        };
        self.objects.buffers.insert(number, buffer);
        Ok(())
    }

    fn dealloca(&mut self, queue: &Queue, waits: &[Point], signals: &[Point], number: u32) -> Result<()> {
        let buffer = self.objects.buffer(number)?.clone();
        let is_whole = buffer.offset() == 0 && buffer.len() == buffer.raw().size();
        let is_barrier =
            !self.recording.passing.contains(&number) || !self.recording.allocated.contains(&number);
        if is_barrier || !is_whole || self.lacks(Feature::Alloca) {
            return queue.barrier(waits, signals);
        }
        let mut waits = waits.to_vec();
        if self.options.dump.is_some() && !buffer.is_empty() {
            let copied = Semaphore::new(0);
            let copy = self.device.allocate(&windlass_hal::BufferParams::host(), buffer.len())?;
            queue.copy(&waits, &[copied.at(1)], &buffer, &copy)?;
            waits.push(copied.at(1));
            self.leaving.push((number, copy, copied));
        }
        queue.dealloca(&waits, signals, &buffer)
    }

    /// The buffers that work uses.
    fn used(&self, work: &Work) -> Vec<u32> {
        match work {
            Work::Barrier {} | Work::HostCall {} => Vec::new(),
            Work::Alloca { buffer } | Work::Dealloca { buffer } => vec![*buffer],
            Work::Fill { target, .. } | Work::Update { target, .. } | Work::Read { target, .. } => {
                vec![target.buffer]
            }
            Work::Write { source, .. } => vec![source.buffer],
            Work::Copy { source, target } => vec![source.buffer, target.buffer],
            Work::Dispatch { launch } => {
                named(&[crate::format::event::Command::Dispatch { launch: launch.clone() }])
            }
            Work::Execute { list, bindings } => {
                let mut buffers = self.recording.named.get(list).cloned().unwrap_or_default();
                buffers.extend(bindings.iter().map(|range| range.buffer));
                buffers
            }
        }
    }

    fn wait(&self, done: &Semaphore) -> Result<()> {
        match done.wait_blocking(1, self.deadline()) {
            Err(error) if error.code() == Code::DeadlineExceeded => Err(error),
            _ => Ok(()),
        }
    }

    fn deadline(&self) -> Deadline {
        self.options.limit.map_or(Deadline::NEVER, Deadline::after)
    }

    /// Waits for operations whose end was met and that use one of these buffers.
    fn settle_users(&mut self, buffers: &[u32]) -> Result<()> {
        for number in std::mem::take(&mut self.unawaited) {
            match self.operations.get(&number) {
                Some(running) if running.buffers.iter().any(|buffer| buffers.contains(buffer)) => {
                    self.wait(&running.done)?;
                }
                Some(_) => self.unawaited.push(number),
                None => {}
            }
        }
        Ok(())
    }

    /// The recorded end of an operation.
    fn end(&mut self, index: usize, ended: &Ended) -> Result<()> {
        match self.recording.fates.get(&ended.operation) {
            Some(Fate::Ends(of)) if *of == index => {}
            _ => return self.end_of_left(ended),
        }
        let Some(running) = self.operations.get(&ended.operation) else { return Ok(()) };
        if running.held.is_none() && self.options.order == Order::Waits {
            self.unawaited.push(ended.operation);
            return Ok(());
        }
        let readbacks: Vec<_> = ended.readbacks.iter().map(|readback| readback.buffer).collect();
        self.settle_users(&readbacks)?;
        self.settle(ended)
    }

    /// An operation that does not run fails its signals.
    fn end_of_left(&mut self, ended: &Ended) -> Result<()> {
        let Some(failure) = &ended.failure else { return Ok(()) };
        let submitted = self.recording.submissions.get(&ended.operation);
        let submitted = submitted.and_then(|index| match &self.recording.events[*index].1 {
            Event::Submit { submission } => Some(submission),
            _ => None,
        });
        for signal in submitted.into_iter().flat_map(|submission| &submission.signals) {
            self.objects.semaphore(signal.semaphore).fail(error_of(failure));
        }
        Ok(())
    }

    /// Waits for an operation, compares its results, and gives its held signals.
    fn settle(&mut self, ended: &Ended) -> Result<()> {
        let number = ended.operation;
        let Some(running) = self.operations.get(&number) else { return Ok(()) };
        self.wait(&running.done)?;
        let replayed = running.done.query().err();
        let (held, scripted, written) = (running.held.clone(), running.scripted, running.written.clone());
        let recorded = ended.failure.as_ref();
        if replayed.is_some() != recorded.is_some() && !scripted {
            self.differ(Difference::End {
                operation: number,
                recorded: recorded.map(|failure| failure.message.clone()),
                replayed: replayed.as_ref().map(Error::to_string),
            });
        }
        if replayed.is_none() && recorded.is_none() && !self.options.unchecked {
            self.compare(ended, written)?;
        }
        let failure = replayed.or_else(|| recorded.map(error_of));
        for signal in held.into_iter().flatten() {
            match &failure {
                None => signal.semaphore.signal(signal.value)?,
                Some(error) => signal.semaphore.fail(error.clone()),
            }
        }
        Ok(())
    }

    fn compare(&mut self, ended: &Ended, written: Option<Written>) -> Result<()> {
        for readback in &ended.readbacks {
            let Some(buffer) = self.objects.buffers.get(&readback.buffer) else { continue };
            let (compared, difference) =
                self.expected.compare(self.recording, self.device, ended.operation, readback, buffer)?;
            self.result.compared += compared;
            difference.into_iter().for_each(|difference| self.differ(difference));
        }
        if let Some(written) = written {
            let pieces = written.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for piece in &ended.pieces {
                let recorded = self.recording.data.get(&piece.bytes)?;
                let replayed = assembled(&pieces, piece.offset, recorded.len());
                self.result.compared += recorded.len() as u64;
                let difference = memory::first(ended.operation, None, piece.offset, &recorded, &replayed);
                difference.into_iter().for_each(|difference| self.differ(difference));
            }
        }
        Ok(())
    }

    fn differ(&mut self, difference: Difference) {
        self.result.differing += 1;
        if self.result.differences.len() < LISTED {
            self.result.differences.push(difference);
        }
    }

    /// Waits for all operations that ended in the recording.
    fn finish(mut self) -> Result<Replayed> {
        let recording = self.recording;
        for number in std::mem::take(&mut self.unawaited) {
            if let Some(Fate::Ends(index)) = recording.fates.get(&number)
                && let Event::Ended { ended } = &recording.events[*index].1
            {
                self.settle(ended)?;
            }
        }
        self.result.time = self.begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        if self.options.dump.is_some() {
            for (number, copy, copied) in std::mem::take(&mut self.leaving) {
                if copied.wait_blocking(1, Deadline::now()).is_ok() {
                    self.write(number, &memory::read(self.device, &copy, 0, copy.len())?)?;
                    self.objects.buffers.remove(&number);
                }
            }
            let mut numbers: Vec<_> = self.objects.buffers.keys().copied().collect();
            numbers.sort_unstable();
            for number in numbers {
                self.dump(number)?;
            }
        }
        Ok(self.result)
    }

    fn dump(&self, number: u32) -> Result<()> {
        let buffer = self.objects.buffer(number)?;
        self.write(number, &memory::read(self.device, buffer, 0, buffer.len())?)
    }

    fn write(&self, number: u32, bytes: &[u8]) -> Result<()> {
        let Some(folder) = &self.options.dump else { return Ok(()) };
        let path: &Path = &folder.join(format!("buffer-{number}.bin"));
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(path, bytes))
            .map_err(|error| Error::invalid_argument(format!("cannot write {}: {error}", path.display())))
    }
}

impl std::fmt::Debug for Player<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Player({} operations on {:?})", self.recording.operations(), self.device)
    }
}
