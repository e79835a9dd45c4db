// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds a legal program from a recipe: every operation gets the waits that its hazards need.

use super::{
    BufferKind, BufferSpec, ClientStep, CollectiveKind, Command, List, Operation, Point, Program, Range,
    Reference, SLOT, Submission, Work,
    access::{are_apart, conflict},
    order::{Set, contains, single},
    recipe::{Density, Dice, Mix, Recipe},
};

/// Builds the program of a recipe.
pub(super) fn build(recipe: &Recipe, mix: Mix) -> Program {
    let mut builder = Builder::new(recipe, mix);
    for bytes in &recipe.steps {
        if builder.program.steps.len() + 8 > super::MOST_STEPS {
            break;
        }
        builder.step(&mut Dice::new(bytes));
    }
    builder.finish(recipe)
}

/// The kinds of steps. Their weights in the dice are in [`Builder::kinds`].
#[derive(Clone, Copy)]
enum StepKind {
    Fill,
    Update,
    Copy,
    MultiplyAdd,
    Increment,
    Barrier,
    Alloca,
    Dealloca,
    Execute,
    ReadFile,
    WriteFile,
    HostCall,
    HostSignal,
    HostWait,
    HostRead,
    HostWrite,
    Fail,
    Collective,
}

struct Builder {
    program: Program,
    mix: Mix,
    kinds: Vec<StepKind>,
    /// For each step so far, the steps that happen before it.
    before: Vec<Set>,
    /// The semaphores that are timelines, each with its last signal.
    chains: Vec<Option<Point>>,
    /// The number of eighths of all operations that signal a new semaphore instead of a timeline.
    loose: usize,
    semaphores: u32,
    /// The allocated transient buffers, each with the signal of its alloca.
    alive: Vec<(u32, Point)>,
    fresh: Vec<u32>,
    operations: u32,
    /// The newest group of a collective operation.
    last_group: Option<Point>,
    causes: u8,
    queues: u32,
}

impl Builder {
    fn new(recipe: &Recipe, mix: Mix) -> Self {
        let (chains, loose) = match mix.density {
            Density::Chain => (1, 0),
            Density::Parallel => (0, 8),
            Density::Mixed => {
                [(1, 0), (2, 1), (4, 2), (3, 4), (1, 6), (0, 8)][usize::from(recipe.header[0]) % 6]
            }
        };
        let mut buffers = vec![BufferSpec { kind: BufferKind::Device, size: 64 }];
        for [kind, size] in &recipe.buffers {
            let kinds = [
                BufferKind::Device,
                BufferKind::Host,
                BufferKind::Transient,
                BufferKind::Host,
                BufferKind::Transient,
                BufferKind::File,
            ];
            let kind = match kinds[usize::from(*kind) % kinds.len()] {
                BufferKind::Transient if !mix.transients => BufferKind::Device,
                BufferKind::File if !mix.files => BufferKind::Device,
                kind => kind,
            };
            buffers.push(BufferSpec { kind, size: SLOT + 4 * u32::from(size % 40) });
        }
        let fresh = (0..buffers.len() as u32)
            .filter(|buffer| buffers[*buffer as usize].kind == BufferKind::Transient);
        let mut builder = Self {
            mix,
            kinds: kinds(mix),
            before: Vec::new(),
            chains: vec![None; chains],
            loose,
            semaphores: chains as u32,
            alive: Vec::new(),
            fresh: fresh.collect(),
            operations: 0,
            last_group: None,
            causes: 0,
            queues: 1 + u32::from(recipe.header[1] % 4),
            program: Program { failing: mix.failures, buffers, ..Program::default() },
        };
        if mix.lists {
            for commands in &recipe.lists {
                let list = builder.list(commands);
                builder.program.lists.push(list);
            }
        }
        builder
    }

    /// Moves submissions to the front as far as the program stays legal.
    fn finish(mut self, recipe: &Recipe) -> Program {
        let early: Vec<(u32, usize)> = recipe
            .steps
            .iter()
            .zip(0..)
            .filter_map(|(bytes, number)| {
                let mut dice = Dice::new(&bytes[16..]);
                dice.once_in(3).then(|| (number, 1 + dice.below(12)))
            })
            .collect();
        for (number, places) in early {
            let Some((from, _)) = self.program.submission(number) else { continue };
            let to = from.saturating_sub(places);
            self.program.steps[to..=from].rotate_right(1);
            let legal = self.program.order().is_ok_and(|order| self.program.races(&order).is_empty());
            if !legal {
                self.program.steps[to..=from].rotate_left(1);
            }
        }
        self.program
    }

    fn step(&mut self, dice: &mut Dice<'_>) {
        let kind = dice.pick(&self.kinds).unwrap_or(StepKind::Fill);
        let operation = match kind {
            StepKind::HostSignal => return self.host_signal(),
            StepKind::HostWait => return self.host_wait(dice),
            StepKind::HostRead | StepKind::HostWrite => return self.host_access(kind, dice),
            StepKind::Fail => return self.fail(dice),
            kind => self.operation(kind, dice),
        };
        self.submit(operation, dice);
    }

    fn operation(&mut self, kind: StepKind, dice: &mut Dice<'_>) -> Operation {
        match kind {
            StepKind::Barrier => Operation::Barrier,
            StepKind::Alloca if !self.fresh.is_empty() => {
                let at = dice.below(self.fresh.len());
                Operation::Alloca(self.fresh.swap_remove(at))
            }
            StepKind::Dealloca if !self.alive.is_empty() => {
                let at = dice.below(self.alive.len());
                Operation::Dealloca(self.alive[at].0)
            }
            StepKind::ReadFile | StepKind::WriteFile => self.file(kind, dice),
            StepKind::HostCall => {
                let fail = (self.mix.failures && dice.once_in(3)).then(|| self.cause());
                let write =
                    self.range(dice, 1, |kind| kind == BufferKind::Host).map(|range| (range, dice.byte()));
                Operation::HostCall { write, fail }
            }
            StepKind::Execute if !self.program.lists.is_empty() => self.execute(dice),
            StepKind::Collective => self.collective(dice),
            kind => {
                let ranges = |dice: &mut Dice<'_>, align| {
                    let first = self.range(dice, align, |kind| kind != BufferKind::File);
                    first.unwrap_or(Range { buffer: 0, offset: 0, length: SLOT })
                };
                Operation::Work(work(kind, dice, ranges, apart))
            }
        }
    }

    fn file(&self, kind: StepKind, dice: &mut Dice<'_>) -> Operation {
        let file = self.range(dice, 1, |kind| kind == BufferKind::File);
        let memory = self.range(dice, 1, |kind| kind != BufferKind::File);
        let (Some(file), Some(memory)) = (file, memory) else { return Operation::Barrier };
        let length = file.length.min(memory.length);
        let (file, memory) = (Range { length, ..file }, Range { length, ..memory });
        match kind {
            StepKind::ReadFile => Operation::Read { file, target: memory },
            _ => Operation::Write { source: memory, file },
        }
    }

    /// A group of a collective operation. A barrier if the dice give targets that overlap.
    fn collective(&self, dice: &mut Dice<'_>) -> Operation {
        let kind = dice.pick(&[CollectiveKind::Sum, CollectiveKind::Ring]).unwrap_or(CollectiveKind::Sum);
        let recorded = dice.once_in(2);
        let range = |dice: &mut Dice<'_>| {
            let range = self.range(dice, 1, |kind| kind != BufferKind::File);
            range.unwrap_or(Range { buffer: 0, offset: 0, length: SLOT })
        };
        let mut parts: Vec<_> = (0..self.mix.ranks).map(|_| (range(dice), range(dice))).collect();
        let length = parts.iter().flat_map(|(source, target)| [source.length, target.length]).min();
        for (source, target) in &mut parts {
            // From the end of the source and the beginning of the target, so that they seldom overlap.
            source.offset += source.length - length.unwrap_or(0);
            (source.length, target.length) = (length.unwrap_or(0), length.unwrap_or(0));
        }
        if are_apart(&parts) { Operation::Collective { kind, recorded, parts } } else { Operation::Barrier }
    }

    /// A command buffer with a table. `None` if the dice bind it so that its commands conflict.
    fn execute(&self, dice: &mut Dice<'_>) -> Operation {
        let index = dice.below(self.program.lists.len());
        let list = &self.program.lists[index];
        let bind = |dice: &mut Dice<'_>| {
            let bound = self.range(dice, 4, |kind| kind != BufferKind::File);
            let bound = bound.unwrap_or(Range { buffer: 0, offset: 0, length: SLOT });
            let last = self.program.buffers[bound.buffer as usize].size - SLOT;
            Range { offset: bound.offset.min(last), length: SLOT, ..bound }
        };
        let table: Vec<Range> = (0..list.slots).map(|_| bind(dice)).collect();
        let copies_overlap = list
            .runs(&table)
            .flatten()
            .any(|work| matches!(work, Work::Copy { source, target } if source.overlaps(&target)));
        if copies_overlap || list.races(&table) {
            return Operation::Barrier;
        }
        Operation::Execute { list: index as u32, table }
    }

    /// A list, with barriers where its commands need them for every table.
    fn list(&self, commands: &[[u8; 10]]) -> List {
        let mut list = List { slots: 0, commands: Vec::new() };
        for bytes in commands {
            let mut dice = Dice::new(bytes);
            let kinds = if self.mix.dispatches {
                [StepKind::Fill, StepKind::Copy, StepKind::MultiplyAdd, StepKind::Update, StepKind::Increment]
            } else {
                [StepKind::Fill, StepKind::Copy, StepKind::Update, StepKind::Fill, StepKind::Copy]
            };
            let kind = dice.pick(&kinds).unwrap_or(StepKind::Fill);
            if dice.once_in(5) {
                list.commands.push(Command::Barrier);
            }
            // Slots are numbered after all buffers, so that their ranges differ from those of buffers.
            let slots = self.program.buffers.len() as u32;
            let ranges = |dice: &mut Dice<'_>, align| {
                let slot = dice.byte();
                if slot.is_multiple_of(2) {
                    let (offset, length) = part(dice, SLOT, align);
                    return Range { buffer: slots + u32::from(slot / 2 % 3), offset, length };
                }
                let direct =
                    self.range(dice, align, |kind| matches!(kind, BufferKind::Device | BufferKind::Host));
                direct.unwrap_or(Range { buffer: 0, offset: 0, length: SLOT })
            };
            let work = work(kind, &mut dice, ranges, apart);
            let slot = |range: &Range| match range.buffer.checked_sub(slots) {
                Some(slot) => Reference::Slot(Range { buffer: slot, ..*range }),
                None => Reference::Direct(*range),
            };
            let symbolic = |reference: &Reference| match reference {
                Reference::Direct(range) => *range,
                Reference::Slot(range) => Range { buffer: slots + range.buffer, ..*range },
            };
            let in_the_way = |place: &usize| match &list.commands[*place] {
                Command::Work(other) => {
                    !list.ordered(*place, list.commands.len())
                        && conflict(&other.map(symbolic).accesses(), &work.accesses())
                }
                _ => false,
            };
            if let Some(place) = (0..list.commands.len()).rev().find(in_the_way) {
                if dice.once_in(3) {
                    // The commands between the halves may run at any time.
                    let event = list.events();
                    let first_half = place + 1 + dice.below(list.commands.len() - place);
                    list.commands.insert(first_half, Command::Signal(event));
                    list.commands.push(Command::Wait(event));
                } else {
                    list.commands.push(Command::Barrier);
                }
            }
            let used =
                work.accesses().into_iter().filter_map(|access| access.range.buffer.checked_sub(slots));
            list.slots = used.map(|slot| slot + 1).fold(list.slots, u32::max);
            list.commands.push(Command::Work(work.map(slot)));
        }
        list
    }

    /// Some bytes of a buffer that exists now and has a fitting kind.
    fn range(&self, dice: &mut Dice<'_>, align: u32, fits: impl Fn(BufferKind) -> bool) -> Option<Range> {
        let exists = |buffer: u32, kind: BufferKind| {
            kind != BufferKind::Transient || self.alive.iter().any(|(alive, _)| *alive == buffer)
        };
        let buffers: Vec<u32> = (0..)
            .zip(&self.program.buffers)
            .filter(|(buffer, spec)| fits(spec.kind) && exists(*buffer, spec.kind))
            .map(|(buffer, _)| buffer)
            .collect();
        let buffer = dice.pick(&buffers)?;
        let (offset, length) = part(dice, self.program.buffers[buffer as usize].size, align);
        Some(Range { buffer, offset, length })
    }

    /// Submits an operation after everything that it must follow.
    fn submit(&mut self, operation: Operation, dice: &mut Dice<'_>) {
        let accesses = self.program.accesses_of(&operation);
        let mut waits = Vec::new();
        if self.mix.failures {
            // Without its alloca the operation would fail, not only run too early.
            let needed = self.program.transients(&operation);
            waits.extend(
                self.alive.iter().filter(|(buffer, _)| needed.contains(buffer)).map(|(_, point)| *point),
            );
        }
        let is_group = matches!(operation, Operation::Collective { .. });
        waits.extend(self.last_group.filter(|last| is_group && !waits.contains(last)));
        for _ in 0..dice.below(8).saturating_sub(5) {
            let points = self.points();
            waits.extend(dice.pick(&points).filter(|point| !waits.contains(point)));
        }
        let loose = self.chains.is_empty() || dice.below(8) < self.loose;
        let mut signals = Vec::new();
        if loose {
            signals.push(self.new_point());
        } else {
            let chain = dice.below(self.chains.len());
            let last = self.chains[chain];
            waits.extend(last.filter(|last| !waits.contains(last)));
            let value = last.map_or(0, |last| last.value) + 1 + dice.below(3) as u64;
            signals.push(Point { semaphore: chain as u32, value });
            self.chains[chain] = signals.last().copied();
        }
        if dice.once_in(8) {
            signals.push(self.new_point());
        }
        if is_group {
            self.last_group = signals.first().copied();
        }
        let number = self.operations;
        self.operations += 1;
        let affinity = match dice.byte() {
            any if any % 5 == 4 => u64::from(any / 5).max(1) & ((1 << self.queues) - 1) | 1,
            queue => 1 << (u32::from(queue) % self.queues),
        };
        match operation {
            Operation::Alloca(buffer) => self.alive.push((buffer, signals[0])),
            Operation::Dealloca(buffer) => self.alive.retain(|(alive, _)| *alive != buffer),
            _ => {}
        }
        let index = self.program.steps.len();
        self.program.steps.push(ClientStep::Submit(Submission {
            number,
            affinity,
            waits,
            signals,
            operation,
        }));
        let mut known = self.happens_before(index);
        for earlier in (0..index).rev() {
            let step = &self.program.steps[earlier];
            if contains(known, earlier) || !conflict(&accesses, &self.program.accesses(step)) {
                continue;
            }
            let ClientStep::Submit(earlier) = step else { continue };
            let point = dice.pick(&earlier.signals).unwrap_or(earlier.signals[0]);
            if let ClientStep::Submit(submission) = &mut self.program.steps[index] {
                submission.waits.push(point);
            }
            known = self.happens_before(index);
        }
        self.before.push(known);
    }

    /// Adds a step of the client after everything that the step must follow.
    fn host(&mut self, step: ClientStep) {
        let index = self.program.steps.len();
        self.program.steps.push(step);
        let known = self.happens_before(index);
        self.before.push(known);
    }

    fn happens_before(&self, index: usize) -> Set {
        let (_, ordering) = self.program.waits_for(index).unwrap_or_default();
        self.program.closure(index, ordering, &self.before)
    }

    fn host_signal(&mut self) {
        let point = self.new_point();
        self.host(ClientStep::Signal(point));
    }

    fn host_wait(&mut self, dice: &mut Dice<'_>) {
        let points = self.points();
        let count = 1 + dice.below(3);
        let mut chosen: Vec<Point> = (0..count).filter_map(|_| dice.pick(&points)).collect();
        chosen.dedup();
        if !chosen.is_empty() {
            self.host(ClientStep::Wait(chosen));
        }
    }

    fn host_access(&mut self, kind: StepKind, dice: &mut Dice<'_>) {
        let Some(range) = self.range(dice, 1, |kind| kind == BufferKind::Host) else { return };
        let step = match kind {
            StepKind::HostRead => ClientStep::Read(range),
            _ => ClientStep::Write { target: range, seed: dice.byte() },
        };
        let accesses = self.program.accesses(&step);
        if self.program.steps.len() + self.operations as usize + 2 > super::MOST_STEPS {
            return;
        }
        let host = self.program.steps.iter().rposition(ClientStep::is_of_the_host);
        let mut known = host.map_or(0, |host| single(host) | self.before[host]);
        let mut points = Vec::new();
        for earlier in (0..self.program.steps.len()).rev() {
            let ClientStep::Submit(submission) = &self.program.steps[earlier] else { continue };
            if contains(known, earlier)
                || !conflict(&accesses, &self.program.accesses(&self.program.steps[earlier]))
            {
                continue;
            }
            if self.mix.failures {
                known |= single(earlier);
                let join = ClientStep::Join(submission.number);
                self.host(join);
            } else {
                known |= single(earlier) | self.before[earlier];
                points.extend(dice.pick(&submission.signals));
            }
        }
        if !points.is_empty() {
            self.host(ClientStep::Wait(points));
        }
        self.host(step);
    }

    fn fail(&mut self, dice: &mut Dice<'_>) {
        let semaphore = match dice.below(self.semaphores as usize + 1) as u32 {
            new if new == self.semaphores => self.new_point().semaphore,
            known => known,
        };
        let cause = self.cause();
        self.host(ClientStep::Fail { semaphore, cause });
    }

    fn cause(&mut self) -> u8 {
        self.causes += 1;
        self.causes
    }

    fn new_point(&mut self) -> Point {
        self.semaphores += 1;
        Point { semaphore: self.semaphores - 1, value: 1 }
    }

    /// All points that some step signals.
    fn points(&self) -> Vec<Point> {
        let signals = |step: &ClientStep| match step {
            ClientStep::Submit(submission) => submission.signals.clone(),
            ClientStep::Signal(point) => vec![*point],
            _ => Vec::new(),
        };
        self.program.steps.iter().flat_map(signals).collect()
    }
}

fn kinds(mix: Mix) -> Vec<StepKind> {
    let mut kinds = vec![
        StepKind::Fill,
        StepKind::Copy,
        StepKind::Update,
        StepKind::Copy,
        StepKind::Copy,
        StepKind::Fill,
        StepKind::Copy,
    ];
    let mut add = |when: bool, more: &[StepKind]| kinds.extend(more.iter().filter(|_| when));
    add(
        mix.dispatches,
        &[StepKind::MultiplyAdd, StepKind::MultiplyAdd, StepKind::MultiplyAdd, StepKind::Increment],
    );
    add(mix.transients, &[StepKind::Alloca, StepKind::Alloca, StepKind::Dealloca]);
    add(mix.lists, &[StepKind::Execute, StepKind::Execute, StepKind::Execute]);
    add(mix.files, &[StepKind::ReadFile, StepKind::WriteFile]);
    add(mix.host_calls, &[StepKind::HostCall, StepKind::HostCall]);
    add(
        true,
        &[
            StepKind::Barrier,
            StepKind::HostSignal,
            StepKind::HostWait,
            StepKind::HostRead,
            StepKind::HostRead,
            StepKind::HostWrite,
        ],
    );
    add(mix.failures, &[StepKind::Fail, StepKind::Fail, StepKind::Fail]);
    let has_groups = mix.ranks == 1 || (mix.ranks > 1 && !mix.failures);
    add(has_groups, &[StepKind::Collective, StepKind::Collective, StepKind::Collective]);
    kinds
}

/// A part of `size` bytes that begins and ends at a multiple of `align`. Zeros of the dice give all bytes.
fn part(dice: &mut Dice<'_>, size: u32, align: u32) -> (u32, u32) {
    let (units, shape) = (size / align, dice.byte());
    if shape.is_multiple_of(4) {
        return (0, units * align);
    }
    let start = u32::from(shape) * 7 % units;
    let length = 1 + dice.below((units - start) as usize) as u32;
    (start * align, length * align)
}

/// Work of some kind, on ranges of a given alignment.
fn work(
    kind: StepKind,
    dice: &mut Dice<'_>,
    range: impl Fn(&mut Dice<'_>, u32) -> Range,
    apart: impl Fn(Range, Range) -> (Range, Range),
) -> Work<Range> {
    match kind {
        StepKind::Update => Work::Update { target: range(dice, 1), seed: dice.byte() },
        StepKind::Copy => {
            let (source, target) = apart(range(dice, 1), range(dice, 1));
            Work::Copy { source, target }
        }
        StepKind::MultiplyAdd => {
            let target = range(dice, 4);
            Work::MultiplyAdd {
                target,
                factor: 3 + 2 * u32::from(dice.byte()),
                addend: 1 + u32::from(dice.byte()),
            }
        }
        StepKind::Increment => {
            let target = range(dice, 4);
            Work::Increment { target: Range { length: 4, ..target }, times: 1 + u32::from(dice.byte() % 16) }
        }
        _ => {
            let size = [1, 2, 4][dice.below(3)];
            let target = range(dice, size);
            let value = u32::from_le_bytes([dice.byte(), dice.byte(), dice.byte(), 0x5a]);
            Work::Fill { target, value: value & (u32::MAX >> (32 - 8 * size)), size }
        }
    }
}

/// Two ranges of one length that do not overlap.
fn apart(source: Range, target: Range) -> (Range, Range) {
    let length = source.length.min(target.length);
    let (source, target) = (Range { length, ..source }, Range { length, ..target });
    if !source.overlaps(&target) {
        return (source, target);
    }
    let (start, half) = match source.offset.min(target.offset) {
        // A single byte and its neighbour.
        start if length < 2 => (start.saturating_sub(1), 1),
        start => (start, length / 2),
    };
    let source = Range { offset: start, length: half, ..source };
    (source, Range { offset: start + half, ..source })
}
