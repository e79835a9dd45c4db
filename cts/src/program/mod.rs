// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random legal programs, and a sequential model that predicts every byte and every status.
//!
//! A [`Program`] is what one client thread does with a device: it submits operations with waits and signals, signals and
//! fails semaphores from the host, waits, and reads and writes mapped memory. It is plain data, printed as text that
//! [`FromStr`](std::str::FromStr) reads again.
//!
//! Programs are legal by construction. The generator decides what happens in one order after the other, keeps track of who
//! touches which bytes, and gives each operation the waits that its hazards need, and no more unless the dice say so. How
//! many semaphores there are decides between one chain and work that is nearly all parallel. Submissions then move
//! forward in time as far as the program stays legal: consumers before their producers, and before the host signals that
//! they wait for. Since semaphores leave no freedom that a byte could show, one sequential run in any legal order
//! predicts every byte ([`Program`] knows such an order).
//!
//! With injected failures a program no longer has one outcome: a failure of the host may come before or after a signal
//! that is on its way. The model then says of each operation whether it runs, fails or may do either; the device says
//! which; and the bytes are predicted from that. Of each failure it is known which injected one it can be.
//!
//! A device may also fail what it likes, for reasons of its own: see [`Bench::run_unreliable`].
//!
//! [`Bench`] runs programs on a device and compares, [`search`] generates, runs and shrinks many of them, and
//! [`Program::planted`] takes needed edges away, to see whether somebody finds that out.

mod access;
mod bench;
mod build;
mod fate;
mod model;
mod observed;
mod order;
mod planted;
mod recipe;
mod search;
mod text;

pub use bench::Bench;
pub use observed::Discrepancy;
pub use planted::Plant;
pub use recipe::{Density, Mix};
pub use search::{Found, search, search_with};

/// What one client thread does with a device. See the [module's text](self).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Failures are injected: no wait of the host stands for more than itself.
    pub(crate) failing: bool,
    pub(crate) buffers: Vec<BufferSpec>,
    pub(crate) lists: Vec<List>,
    /// In the order in which the client does them.
    pub(crate) steps: Vec<Step>,
}

/// The most steps of a program: sets of them are one word.
pub(crate) const MOST_STEPS: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferSpec {
    pub(crate) kind: Kind,
    /// Bytes; a multiple of four.
    pub(crate) size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Device memory, there from the beginning.
    Device,
    /// The same, and the host maps it.
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
    /// A part of what the table holds; `buffer` is the slot.
    Slot(Range),
}

/// What touches device memory, on a queue or in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work<R> {
    Fill {
        target: R,
        value: u32,
        /// Bytes of the pattern: 1, 2 or 4.
        size: u32,
    },
    Update {
        target: R,
        /// Says which bytes.
        seed: u8,
    },
    Copy {
        source: R,
        target: R,
    },
    /// A dispatch: each word times `factor` plus `addend`.
    MultiplyAdd {
        target: R,
        factor: u32,
        addend: u32,
    },
    /// A dispatch: `times` work-items each add one to a word. Two of them need no order.
    Increment {
        target: R,
        times: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct List {
    /// Slots of its table, each of [`SLOT`] bytes.
    pub(crate) slots: u32,
    pub(crate) commands: Vec<Command>,
}

/// Bytes that a list needs in each slot.
pub(crate) const SLOT: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Barrier,
    /// The first half of a split barrier, by the number of its event; each event is signalled once.
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

/// What the client does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Submits an operation.
    Submit(Submission),
    /// Signals from the host.
    Signal(Point),
    /// Fails a semaphore from the host. The number tells this failure from others.
    Fail { semaphore: u32, cause: u8 },
    /// Blocks until all points are reached, or one has failed.
    Wait(Vec<Point>),
    /// Blocks until an operation has run or failed: it touches no memory any more.
    Join(u32),
    /// Reads mapped memory.
    Read(Range),
    /// Writes mapped memory.
    Write { target: Range, seed: u8 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submission {
    /// Operations are numbered in an order in which they could run one after the other.
    pub(crate) number: u32,
    /// Queues that may take it.
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
    /// A call that may write mapped memory, and may return an error.
    HostCall {
        write: Option<(Range, u8)>,
        fail: Option<u8>,
    },
    Execute {
        list: u32,
        table: Vec<Range>,
    },
}

impl Program {
    /// The step that submits operation `number`.
    pub(crate) fn submission(&self, number: u32) -> Option<(usize, &Submission)> {
        self.submissions().find(|(_, submission)| submission.number == number)
    }

    /// Every submission, with the index of its step.
    pub(crate) fn submissions(&self) -> impl Iterator<Item = (usize, &Submission)> {
        self.steps.iter().enumerate().filter_map(|(index, step)| match step {
            Step::Submit(submission) => Some((index, submission)),
            _ => None,
        })
    }

    /// How many semaphores there are.
    pub(crate) fn semaphores(&self) -> usize {
        let points = |step: &Step| match step {
            Step::Submit(submission) => submission.waits.iter().chain(&submission.signals).copied().collect(),
            Step::Signal(point) => vec![*point],
            Step::Fail { semaphore, .. } => vec![Point { semaphore: *semaphore, value: 0 }],
            Step::Wait(points) => points.clone(),
            Step::Join(_) | Step::Read(_) | Step::Write { .. } => Vec::new(),
        };
        let greatest = self.steps.iter().flat_map(points).map(|point| point.semaphore).max();
        greatest.map_or(0, |greatest| greatest as usize + 1)
    }
}

impl Step {
    /// Whether the client's thread does it, rather than the device.
    pub(crate) fn is_of_the_host(&self) -> bool {
        !matches!(self, Self::Submit(_))
    }
}

/// The bytes that a seed stands for.
pub(crate) fn bytes_of(seed: u8, length: u32) -> Vec<u8> {
    (0..length).map(|index| seed.wrapping_mul(37).wrapping_add((index as u8).wrapping_mul(101)) | 1).collect()
}
