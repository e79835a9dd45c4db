// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a recipe to a legal program: every operation gets the waits that its hazards need.

use super::{
    BufferSpec, Command, Kind, List, Operation, Point, Program, Range, Reference, SLOT, Step, Submission,
    Work,
    access::conflict,
    order::{Set, contains, single},
    recipe::{Density, Dice, Mix, Recipe},
};

/// Makes the program of a recipe.
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

/// What a step can be, in the weights of the dice.
#[derive(Clone, Copy)]
enum What {
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
}

struct Builder {
    program: Program,
    mix: Mix,
    kinds: Vec<What>,
    /// Of each step so far, what happens before it.
    before: Vec<Set>,
    /// The semaphores that are timelines, each with its last signal.
    chains: Vec<Option<Point>>,
    /// How often out of eight an operation signals a semaphore of its own instead.
    loose: usize,
    semaphores: u32,
    /// Transient buffers that are allocated, with the signal of the alloca.
    alive: Vec<(u32, Point)>,
    fresh: Vec<u32>,
    operations: u32,
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
        let mut buffers = vec![BufferSpec { kind: Kind::Device, size: 64 }];
        for [kind, size] in &recipe.buffers {
            let kinds = [Kind::Device, Kind::Host, Kind::Transient, Kind::Host, Kind::Transient, Kind::File];
            let kind = match kinds[usize::from(*kind) % kinds.len()] {
                Kind::Transient if !mix.transients => Kind::Device,
                Kind::File if !mix.files => Kind::Device,
                kind => kind,
            };
            buffers.push(BufferSpec { kind, size: SLOT + 4 * u32::from(size % 40) });
        }
        let fresh =
            (0..buffers.len() as u32).filter(|buffer| buffers[*buffer as usize].kind == Kind::Transient);
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

    /// Submissions move to the front as far as the program stays legal.
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
        let what = dice.pick(&self.kinds).unwrap_or(What::Fill);
        let operation = match what {
            What::HostSignal => return self.host_signal(),
            What::HostWait => return self.host_wait(dice),
            What::HostRead | What::HostWrite => return self.host_access(what, dice),
            What::Fail => return self.fail(dice),
            what => self.operation(what, dice),
        };
        self.submit(operation, dice);
    }

    fn operation(&mut self, what: What, dice: &mut Dice<'_>) -> Operation {
        match what {
            What::Barrier => Operation::Barrier,
            What::Alloca if !self.fresh.is_empty() => {
                let at = dice.below(self.fresh.len());
                Operation::Alloca(self.fresh.swap_remove(at))
            }
            What::Dealloca if !self.alive.is_empty() => {
                let at = dice.below(self.alive.len());
                Operation::Dealloca(self.alive[at].0)
            }
            What::ReadFile | What::WriteFile => self.file(what, dice),
            What::HostCall => {
                let fail = (self.mix.failures && dice.once_in(3)).then(|| self.cause());
                let write = self.range(dice, 1, |kind| kind == Kind::Host).map(|range| (range, dice.byte()));
                Operation::HostCall { write, fail }
            }
            What::Execute if !self.program.lists.is_empty() => self.execute(dice),
            what => {
                let ranges = |dice: &mut Dice<'_>, align| {
                    let first = self.range(dice, align, |kind| kind != Kind::File);
                    first.unwrap_or(Range { buffer: 0, offset: 0, length: SLOT })
                };
                Operation::Work(work(what, dice, ranges, apart))
            }
        }
    }

    fn file(&self, what: What, dice: &mut Dice<'_>) -> Operation {
        let file = self.range(dice, 1, |kind| kind == Kind::File);
        let memory = self.range(dice, 1, |kind| kind != Kind::File);
        let (Some(file), Some(memory)) = (file, memory) else { return Operation::Barrier };
        let length = file.length.min(memory.length);
        let (file, memory) = (Range { length, ..file }, Range { length, ..memory });
        match what {
            What::ReadFile => Operation::Read { file, target: memory },
            _ => Operation::Write { source: memory, file },
        }
    }

    /// A command buffer with a table; nothing where the dice bind it so that its commands get in each other's way.
    fn execute(&self, dice: &mut Dice<'_>) -> Operation {
        let index = dice.below(self.program.lists.len());
        let list = &self.program.lists[index];
        let bind = |dice: &mut Dice<'_>| {
            let bound = self.range(dice, 4, |kind| kind != Kind::File);
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

    /// A list, with barriers where its commands need them whatever the table is.
    fn list(&self, commands: &[[u8; 10]]) -> List {
        let mut list = List { slots: 0, commands: Vec::new() };
        for bytes in commands {
            let mut dice = Dice::new(bytes);
            let what = if self.mix.dispatches {
                [What::Fill, What::Copy, What::MultiplyAdd, What::Update, What::Increment]
            } else {
                [What::Fill, What::Copy, What::Update, What::Fill, What::Copy]
            };
            let what = dice.pick(&what).unwrap_or(What::Fill);
            if dice.once_in(5) {
                list.commands.push(Command::Barrier);
            }
            // Slots stand for buffers behind all others, so that ranges tell them apart.
            let slots = self.program.buffers.len() as u32;
            let ranges = |dice: &mut Dice<'_>, align| {
                let slot = dice.byte();
                if slot.is_multiple_of(2) {
                    let (offset, length) = part(dice, SLOT, align);
                    return Range { buffer: slots + u32::from(slot / 2 % 3), offset, length };
                }
                let direct = self.range(dice, align, |kind| matches!(kind, Kind::Device | Kind::Host));
                direct.unwrap_or(Range { buffer: 0, offset: 0, length: SLOT })
            };
            let work = work(what, &mut dice, ranges, apart);
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
                    // What lies between the halves may run at any time.
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

    /// Some bytes of a buffer that exists now and is of the right kind.
    fn range(&self, dice: &mut Dice<'_>, align: u32, fits: impl Fn(Kind) -> bool) -> Option<Range> {
        let exists = |buffer: u32, kind: Kind| {
            kind != Kind::Transient || self.alive.iter().any(|(alive, _)| *alive == buffer)
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

    /// Submits an operation behind everything that it must come after.
    fn submit(&mut self, operation: Operation, dice: &mut Dice<'_>) {
        let accesses = self.program.accesses_of(&operation);
        let mut waits = Vec::new();
        if self.mix.failures {
            // Without its alloca an operation must fail, and not only come later.
            let needed = self.program.transients(&operation);
            waits.extend(
                self.alive.iter().filter(|(buffer, _)| needed.contains(buffer)).map(|(_, point)| *point),
            );
        }
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
        self.program.steps.push(Step::Submit(Submission { number, affinity, waits, signals, operation }));
        let mut known = self.happens_before(index);
        for earlier in (0..index).rev() {
            let step = &self.program.steps[earlier];
            if contains(known, earlier) || !conflict(&accesses, &self.program.accesses(step)) {
                continue;
            }
            let Step::Submit(earlier) = step else { continue };
            let point = dice.pick(&earlier.signals).unwrap_or(earlier.signals[0]);
            if let Step::Submit(submission) = &mut self.program.steps[index] {
                submission.waits.push(point);
            }
            known = self.happens_before(index);
        }
        self.before.push(known);
    }

    /// A client's own step behind everything that it must come after.
    fn host(&mut self, step: Step) {
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
        self.host(Step::Signal(point));
    }

    fn host_wait(&mut self, dice: &mut Dice<'_>) {
        let points = self.points();
        let count = 1 + dice.below(3);
        let mut chosen: Vec<Point> = (0..count).filter_map(|_| dice.pick(&points)).collect();
        chosen.dedup();
        if !chosen.is_empty() {
            self.host(Step::Wait(chosen));
        }
    }

    fn host_access(&mut self, what: What, dice: &mut Dice<'_>) {
        let Some(range) = self.range(dice, 1, |kind| kind == Kind::Host) else { return };
        let step = match what {
            What::HostRead => Step::Read(range),
            _ => Step::Write { target: range, seed: dice.byte() },
        };
        let accesses = self.program.accesses(&step);
        if self.program.steps.len() + self.operations as usize + 2 > super::MOST_STEPS {
            return;
        }
        let host = self.program.steps.iter().rposition(Step::is_of_the_host);
        let mut known = host.map_or(0, |host| single(host) | self.before[host]);
        let mut points = Vec::new();
        for earlier in (0..self.program.steps.len()).rev() {
            let Step::Submit(submission) = &self.program.steps[earlier] else { continue };
            if contains(known, earlier)
                || !conflict(&accesses, &self.program.accesses(&self.program.steps[earlier]))
            {
                continue;
            }
            if self.mix.failures {
                known |= single(earlier);
                let join = Step::Join(submission.number);
                self.host(join);
            } else {
                known |= single(earlier) | self.before[earlier];
                points.extend(dice.pick(&submission.signals));
            }
        }
        if !points.is_empty() {
            self.host(Step::Wait(points));
        }
        self.host(step);
    }

    fn fail(&mut self, dice: &mut Dice<'_>) {
        let semaphore = match dice.below(self.semaphores as usize + 1) as u32 {
            new if new == self.semaphores => self.new_point().semaphore,
            known => known,
        };
        let cause = self.cause();
        self.host(Step::Fail { semaphore, cause });
    }

    fn cause(&mut self) -> u8 {
        self.causes += 1;
        self.causes
    }

    fn new_point(&mut self) -> Point {
        self.semaphores += 1;
        Point { semaphore: self.semaphores - 1, value: 1 }
    }

    /// Everything that somebody signals.
    fn points(&self) -> Vec<Point> {
        let signals = |step: &Step| match step {
            Step::Submit(submission) => submission.signals.clone(),
            Step::Signal(point) => vec![*point],
            _ => Vec::new(),
        };
        self.program.steps.iter().flat_map(signals).collect()
    }
}

fn kinds(mix: Mix) -> Vec<What> {
    let mut kinds =
        vec![What::Fill, What::Copy, What::Update, What::Copy, What::Copy, What::Fill, What::Copy];
    let mut add = |when: bool, what: &[What]| kinds.extend(what.iter().filter(|_| when));
    add(mix.dispatches, &[What::MultiplyAdd, What::MultiplyAdd, What::MultiplyAdd, What::Increment]);
    add(mix.transients, &[What::Alloca, What::Alloca, What::Dealloca]);
    add(mix.lists, &[What::Execute, What::Execute, What::Execute]);
    add(mix.files, &[What::ReadFile, What::WriteFile]);
    add(mix.host_calls, &[What::HostCall, What::HostCall]);
    add(
        true,
        &[What::Barrier, What::HostSignal, What::HostWait, What::HostRead, What::HostRead, What::HostWrite],
    );
    add(mix.failures, &[What::Fail, What::Fail, What::Fail]);
    kinds
}

/// A part of so many bytes that begins and ends at a multiple of `align`; all of them for zeros.
fn part(dice: &mut Dice<'_>, size: u32, align: u32) -> (u32, u32) {
    let (units, shape) = (size / align, dice.byte());
    if shape.is_multiple_of(4) {
        return (0, units * align);
    }
    let start = u32::from(shape) * 7 % units;
    let length = 1 + dice.below((units - start) as usize) as u32;
    (start * align, length * align)
}

/// Work of a kind, on ranges of a given alignment.
fn work(
    what: What,
    dice: &mut Dice<'_>,
    range: impl Fn(&mut Dice<'_>, u32) -> Range,
    apart: impl Fn(Range, Range) -> (Range, Range),
) -> Work<Range> {
    match what {
        What::Update => Work::Update { target: range(dice, 1), seed: dice.byte() },
        What::Copy => {
            let (source, target) = apart(range(dice, 1), range(dice, 1));
            Work::Copy { source, target }
        }
        What::MultiplyAdd => {
            let target = range(dice, 4);
            Work::MultiplyAdd {
                target,
                factor: 3 + 2 * u32::from(dice.byte()),
                addend: 1 + u32::from(dice.byte()),
            }
        }
        What::Increment => {
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
        // One byte: it and its neighbour.
        start if length < 2 => (start.saturating_sub(1), 1),
        start => (start, length / 2),
    };
    let source = Range { offset: start, length: half, ..source };
    (source, Range { offset: start + half, ..source })
}
