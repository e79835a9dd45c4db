// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random legal programs, and a sequential model that predicts every byte and every status.
//!
//! A [`Program`] is the script of one client thread on a device: it submits operations with waits and signals,
//! signals and fails semaphores from the host, waits, and reads and writes mapped memory. It is plain data. It prints
//! as text that [`FromStr`](std::str::FromStr) parses again.
//!
//! Programs are legal by construction. The generator decides on operations in one sequential order and tracks all
//! accesses to memory. It gives each operation the waits that its hazards need, and further waits only if the dice
//! say so. The number of semaphores decides between one chain and nearly parallel work. Then submissions move forward
//! in time as far as the program stays legal: consumers before their producers, and before the host signals that they
//! wait for. Semaphores order all conflicting accesses, so one sequential run in any legal order predicts every byte.
//! [`Program`] knows such an order.
//!
//! A program with injected failures has several outcomes, because a failure of the host may come before or after an
//! in-flight signal. The model then states of each operation whether it runs, fails or may do either. The device
//! shows which of them happened, and the bytes are predicted from that. The model also states which injected failures
//! each failure can be.
//!
//! The physical devices of a device are the ranks of one channel. A group of a collective operation is one operation of
//! a program, and all groups follow each other.
//!
//! A device may also fail operations for reasons of its own: see [`Bench::run_unreliable`].
//!
//! [`Bench`] runs programs on a device and compares. [`search`] generates, runs and shrinks many of them.
//! [`Program::planted`] removes needed edges, to test whether a device or tool notices.

mod access;
mod bench;
mod build;
mod fate;
mod model;
mod observed;
mod order;
mod planted;
mod ranks;
mod recipe;
mod search;
mod text;

pub use bench::Bench;
pub use observed::Discrepancy;
pub use planted::Plant;
pub use recipe::{Density, Mix};
pub use search::{Found, search, search_with};

/// The script of one client thread on a device. See the [module's text](self).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Whether failures are injected. Then a wait of the host orders nothing beyond its own points.
    pub(crate) failing: bool,
    pub(crate) buffers: Vec<BufferSpec>,
    pub(crate) lists: Vec<List>,
    /// The steps in the order in which the client takes them.
    pub(crate) steps: Vec<ClientStep>,
}

/// The most steps of a program. A set of steps is one word.
pub(crate) const MOST_STEPS: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferSpec {
    pub(crate) kind: BufferKind,
    /// The bytes, a multiple of four.
    pub(crate) size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferKind {
    /// Device memory that exists from the beginning.
    Device,
    /// The same, mapped by the host.
    Host,
    /// Device memory that exists between an alloca and a dealloca.
    Transient,
    /// A file.
    File,
}

/// Some bytes of a buffer or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) buffer: u32,
    pub(crate) offset: u32,
    pub(crate) length: u32,
}

/// Bytes that a command of a list names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    Direct(Range),
    /// A part of the range that the table binds. `buffer` is the slot.
    Slot(Range),
}

/// An access to device memory, on a queue or in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work<R> {
    Fill {
        target: R,
        value: u32,
        /// The bytes of the pattern: 1, 2 or 4.
        size: u32,
    },
    Update {
        target: R,
        /// The seed of the bytes.
        seed: u8,
    },
    Copy {
        source: R,
        target: R,
    },
    /// A dispatch that multiplies each word by `factor` and adds `addend`.
    MultiplyAdd {
        target: R,
        factor: u32,
        addend: u32,
    },
    /// A dispatch of `times` work-items that each add one to a word. Two such dispatches need no order.
    Increment {
        target: R,
        times: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List {
    /// The number of slots of its table, each of [`SLOT`] bytes.
    pub(crate) slots: u32,
    pub(crate) commands: Vec<Command>,
}

/// The bytes that a list needs in each slot.
pub(crate) const SLOT: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Barrier,
    /// The first half of a split barrier, by the number of its event. Each event is signalled once.
    Signal(u32),
    /// The second half.
    Wait(u32),
    Work(Work<Reference>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) semaphore: u32,
    pub(crate) value: u64,
}

/// A step of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClientStep {
    /// Submits an operation.
    Submit(Submission),
    /// Signals a semaphore from the host.
    Signal(Point),
    /// Fails a semaphore from the host. The number tells this failure from others.
    Fail { semaphore: u32, cause: u8 },
    /// Blocks until all points are reached, or one has failed.
    Wait(Vec<Point>),
    /// Blocks until an operation has run or failed, and accesses no memory any more.
    Join(u32),
    /// Reads mapped memory.
    Read(Range),
    /// Writes mapped memory.
    Write { target: Range, seed: u8 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submission {
    /// The operation's number. The numbers are an order in which the operations could run one after the other.
    pub(crate) number: u32,
    /// The queues that may take it.
    pub(crate) affinity: u64,
    pub(crate) waits: Vec<Point>,
    pub(crate) signals: Vec<Point>,
    pub(crate) operation: Operation,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Barrier,
    Alloca(u32),
    Dealloca(u32),
    Work(Work<Range>),
    /// From a file to memory.
    Read {
        file: Range,
        target: Range,
    },
    /// From memory to a file.
    Write {
        source: Range,
        file: Range,
    },
    /// A host call that may write mapped memory, and may return an error.
    HostCall {
        write: Option<(Range, u8)>,
        fail: Option<u8>,
    },
    Execute {
        list: u32,
        table: Vec<Range>,
    },
    /// A group of one collective operation, which all ranks of the device carry out together.
    Collective {
        kind: CollectiveKind,
        /// Whether each rank's part is in a command buffer of its own.
        recorded: bool,
        /// The source and the target of each rank.
        parts: Vec<(Range, Range)>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectiveKind {
    /// Each target gets the sums of the bytes of all sources.
    Sum,
    /// Each target gets the source of the rank before its own, around a ring.
    Ring,
}

impl Program {
    /// The step that submits operation `number`.
    pub(crate) fn submission(&self, number: u32) -> Option<(usize, &Submission)> {
        self.submissions().find(|(_, submission)| submission.number == number)
    }

    /// Every submission, with the index of its step.
    pub(crate) fn submissions(&self) -> impl Iterator<Item = (usize, &Submission)> {
        self.steps.iter().enumerate().filter_map(|(index, step)| match step {
            ClientStep::Submit(submission) => Some((index, submission)),
            _ => None,
        })
    }

    /// The number of semaphores.
    pub(crate) fn semaphores(&self) -> usize {
        let points = |step: &ClientStep| match step {
            ClientStep::Submit(submission) => {
                submission.waits.iter().chain(&submission.signals).copied().collect()
            }
            ClientStep::Signal(point) => vec![*point],
            ClientStep::Fail { semaphore, .. } => vec![Point { semaphore: *semaphore, value: 0 }],
            ClientStep::Wait(points) => points.clone(),
            ClientStep::Join(_) | ClientStep::Read(_) | ClientStep::Write { .. } => Vec::new(),
        };
        let greatest = self.steps.iter().flat_map(points).map(|point| point.semaphore).max();
        greatest.map_or(0, |greatest| greatest as usize + 1)
    }
}

impl ClientStep {
    /// Whether the client's thread takes the step itself, rather than the device.
    pub(crate) fn is_of_the_host(&self) -> bool {
        !matches!(self, Self::Submit(_))
    }
}

/// The bytes of a seed.
pub(crate) fn bytes_of(seed: u8, length: u32) -> Vec<u8> {
    (0..length).map(|index| seed.wrapping_mul(37).wrapping_add((index as u8).wrapping_mul(101)) | 1).collect()
}
