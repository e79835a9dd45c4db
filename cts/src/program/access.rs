// SPDX-License-Identifier: MIT OR Apache-2.0
//! The accesses of a program to memory, and the pairs of accesses that conflict.

use super::{BufferKind, BufferSpec, ClientStep, Command, List, Operation, Program, Range, Reference, Work};

/// One access to a range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) range: Range,
    mode: Mode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Read,
    Write,
    /// Atomic additions, which commute with each other.
    Add,
}

impl Access {
    pub(super) fn writes(&self) -> bool {
        self.mode != Mode::Read
    }
}

impl Range {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.buffer == other.buffer
            && self.offset < other.offset.saturating_add(other.length)
            && other.offset < self.offset.saturating_add(self.length)
    }

    /// An access to a whole buffer.
    pub(super) fn whole(buffer: u32, spec: BufferSpec) -> Self {
        Self { buffer, offset: 0, length: spec.size }
    }
}

impl Reference {
    /// The bytes that the reference means with a table.
    pub(super) fn resolve(&self, table: &[Range]) -> Range {
        match self {
            Self::Direct(range) => *range,
            Self::Slot(part) => {
                let bound = table[part.buffer as usize];
                Range {
                    offset: bound.offset.saturating_add(part.offset),
                    length: part.length,
                    buffer: bound.buffer,
                }
            }
        }
    }
}

impl<R: Copy> Work<R> {
    /// The same work on other ranges.
    pub(super) fn map<S>(&self, f: impl Fn(&R) -> S) -> Work<S> {
        match self {
            Self::Fill { target, value, size } => {
                Work::Fill { target: f(target), value: *value, size: *size }
            }
            Self::Update { target, seed } => Work::Update { target: f(target), seed: *seed },
            Self::Copy { source, target } => Work::Copy { source: f(source), target: f(target) },
            Self::MultiplyAdd { target, factor, addend } => {
                Work::MultiplyAdd { target: f(target), factor: *factor, addend: *addend }
            }
            Self::Increment { target, times } => Work::Increment { target: f(target), times: *times },
        }
    }

    /// The ranges that the work reads or writes.
    pub(super) fn ranges(&self) -> Vec<R> {
        match self {
            Self::Copy { source, target } => vec![*source, *target],
            Self::Fill { target, .. }
            | Self::Update { target, .. }
            | Self::MultiplyAdd { target, .. }
            | Self::Increment { target, .. } => vec![*target],
        }
    }

    pub(super) fn is_dispatch(&self) -> bool {
        matches!(self, Self::MultiplyAdd { .. } | Self::Increment { .. })
    }
}

impl Work<Range> {
    pub(super) fn accesses(&self) -> Vec<Access> {
        match self {
            Self::Fill { target, .. } | Self::Update { target, .. } | Self::MultiplyAdd { target, .. } => {
                vec![write(*target)]
            }
            Self::Copy { source, target } => vec![read(*source), write(*target)],
            Self::Increment { target, .. } => vec![Access { range: *target, mode: Mode::Add }],
        }
    }
}

fn read(range: Range) -> Access {
    Access { range, mode: Mode::Read }
}

fn write(range: Range) -> Access {
    Access { range, mode: Mode::Write }
}

impl List {
    /// The work of the list with a table, in runs that end at barriers.
    pub(super) fn runs<'a>(&'a self, table: &'a [Range]) -> impl Iterator<Item = Vec<Work<Range>>> + 'a {
        self.commands.split(|command| *command == Command::Barrier).map(|run| {
            let work = |command: &Command| match command {
                Command::Barrier | Command::Signal(_) | Command::Wait(_) => None,
                Command::Work(work) => Some(work.map(|reference| reference.resolve(table))),
            };
            run.iter().filter_map(work).collect()
        })
    }

    /// Whether a barrier, or both halves of one, lie between two commands.
    pub(super) fn ordered(&self, first: usize, second: usize) -> bool {
        let between = &self.commands[first + 1..second];
        between.iter().enumerate().any(|(place, command)| match command {
            Command::Barrier => true,
            Command::Signal(event) => between[place..].contains(&Command::Wait(*event)),
            Command::Wait(_) | Command::Work(_) => false,
        })
    }

    /// Whether two of its commands that nothing orders conflict with this table.
    pub(super) fn races(&self, table: &[Range]) -> bool {
        let accesses = |place: usize| match &self.commands[place] {
            Command::Work(work) => work.map(|reference| reference.resolve(table)).accesses(),
            _ => Vec::new(),
        };
        (0..self.commands.len()).any(|second| {
            let mut others = (0..second).filter(|first| !self.ordered(*first, second));
            others.any(|first| conflict(&accesses(first), &accesses(second)))
        })
    }

    /// The number of events in the list.
    pub(super) fn events(&self) -> u32 {
        self.commands.iter().filter(|command| matches!(command, Command::Signal(_))).count() as u32
    }

    /// Whether the list has events.
    pub(super) fn has_events(&self) -> bool {
        self.commands.iter().any(|command| matches!(command, Command::Wait(_)))
    }
}

impl Program {
    /// The accesses of an operation.
    pub(super) fn accesses_of(&self, operation: &Operation) -> Vec<Access> {
        let whole = |buffer: u32| vec![write(Range::whole(buffer, self.buffers[buffer as usize]))];
        match operation {
            Operation::Barrier => Vec::new(),
            Operation::Alloca(buffer) | Operation::Dealloca(buffer) => whole(*buffer),
            Operation::Work(work) => work.accesses(),
            Operation::Read { file, target } => vec![read(*file), write(*target)],
            Operation::Write { source, file } => vec![read(*source), write(*file)],
            Operation::HostCall { write: target, .. } => {
                target.iter().map(|(range, _)| write(*range)).collect()
            }
            Operation::Execute { list, table } => {
                let list = &self.lists[*list as usize];
                list.runs(table).flatten().flat_map(|work| work.accesses()).collect()
            }
            Operation::Collective { parts, .. } => {
                parts.iter().flat_map(|(source, target)| [read(*source), write(*target)]).collect()
            }
        }
    }

    /// The accesses of a step.
    pub(super) fn accesses(&self, step: &ClientStep) -> Vec<Access> {
        match step {
            ClientStep::Submit(submission) => self.accesses_of(&submission.operation),
            ClientStep::Read(range) => vec![read(*range)],
            ClientStep::Write { target, .. } => vec![write(*target)],
            ClientStep::Signal(_) | ClientStep::Fail { .. } | ClientStep::Wait(_) | ClientStep::Join(_) => {
                Vec::new()
            }
        }
    }

    /// The transient buffers that must exist for an operation, whether or not it accesses them.
    pub(super) fn transients(&self, operation: &Operation) -> Vec<u32> {
        let bound: &[Range] = match operation {
            Operation::Execute { table, .. } => table,
            _ => &[],
        };
        let accesses = self.accesses_of(operation);
        let ranges = accesses.iter().map(|access| &access.range).chain(bound);
        let mut buffers: Vec<u32> = ranges.map(|range| range.buffer).collect();
        buffers.retain(|buffer| self.buffers[*buffer as usize].kind == BufferKind::Transient);
        buffers
    }
}

/// Whether the ranges of a group of a collective operation have one length, and no target shares bytes with another
/// range.
pub(super) fn are_apart(parts: &[(Range, Range)]) -> bool {
    let length = parts.first().map_or(0, |(source, _)| source.length);
    let fits = |(index, (source, target)): (usize, &(Range, Range))| {
        let mut others = parts.iter().enumerate();
        let free = others
            .all(|(other, (from, to))| !target.overlaps(from) && (other == index || !target.overlaps(to)));
        free && source.length == length && target.length == length
    };
    length > 0 && parts.iter().enumerate().all(fits)
}

/// Whether two sets of accesses conflict, so that their order matters.
pub(super) fn conflict(a: &[Access], b: &[Access]) -> bool {
    let both = |a: &Access, b: &Access| {
        let harmless = a.mode == b.mode && a.mode != Mode::Write;
        !harmless && a.range.overlaps(&b.range)
    };
    a.iter().any(|a| b.iter().any(|b| both(a, b)))
}
