// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs without races. Clocks say which work each stream has behind it; where an operation would race, the program
//! gets an event and a wait first.

use std::fmt;

/// The streams: the null stream, one that waits for it, and three that do not.
pub(super) const STREAMS: usize = 5;
pub(super) const NULL: usize = 0;
const BLOCKING: [usize; 2] = [NULL, 1];
/// The memories: of the device, of pools, of the host.
pub(super) const DEVICE: [usize; 3] = [0, 1, 2];
pub(super) const POOLED: [usize; 3] = [3, 4, 5];
pub(super) const PINNED: [usize; 2] = [6, 7];
pub(super) const MEMORIES: usize = 8;
pub(super) const EVENTS: usize = 6;
const STEPS: usize = 60;

/// The number of the latest operation of each stream that is done before.
type Clock = [u32; STREAMS];

/// Work on memory. Factors and sums do not commute, so each wrong order shows.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Fill {
        memory: usize,
        value: u32,
    },
    Kernel {
        memory: usize,
        factor: u32,
        sum: u32,
    },
    Copy {
        from: usize,
        to: usize,
    },
    /// A host function on pinned memory. Those in `behind` have run before it.
    Host {
        memory: usize,
        factor: u32,
        sum: u32,
        id: usize,
        behind: Vec<usize>,
    },
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Work(Work),
    Allocate(usize),
    Free(usize),
    Record(usize),
    Wait(usize),
    /// Two branches, captured and launched this often.
    Graph {
        branches: [Vec<Work>; 2],
        times: u32,
    },
    Query {
        event: usize,
        behind: Vec<usize>,
    },
    WaitForEvent {
        event: usize,
        behind: Vec<usize>,
    },
    WaitForStream {
        behind: Vec<usize>,
    },
    /// The host reads pinned memory that no work uses.
    Read(usize),
    Write {
        memory: usize,
        value: u32,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) stream: usize,
    pub(super) op: Op,
}

pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// The number of host functions.
    pub(super) functions: usize,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps
            .iter()
            .enumerate()
            .try_for_each(|(at, step)| writeln!(f, "{at:3} on stream {}: {:?}", step.stream, step.op))
    }
}

impl Work {
    /// The memory that it reads alone, and the memory that it writes.
    fn uses(&self) -> (Option<usize>, usize) {
        match *self {
            Self::Fill { memory, .. } | Self::Kernel { memory, .. } | Self::Host { memory, .. } => {
                (None, memory)
            }
            Self::Copy { from, to } => (Some(from), to),
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % end as u64) as usize
    }

    fn one<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())]
    }
}

/// The accesses of a memory that later ones must follow, as stream and number.
#[derive(Clone, Default)]
struct Accesses {
    write: Option<(usize, u32)>,
    reads: Vec<(usize, u32)>,
}

struct Generator {
    random: Random,
    steps: Vec<Step>,
    clocks: [Clock; STREAMS],
    numbers: Clock,
    /// The numbers of the latest work of the null stream and what it followed.
    null: Clock,
    host: Clock,
    events: [Option<Clock>; EVENTS],
    accesses: Vec<Accesses>,
    is_there: [bool; MEMORIES],
    /// The stream and the number of each host function.
    functions: Vec<(usize, u32)>,
}

fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

impl Program {
    pub(super) fn new(seed: u64) -> Self {
        let mut is_there = [true; MEMORIES];
        POOLED.iter().for_each(|memory| is_there[*memory] = false);
        let mut generator = Generator {
            random: Random(seed),
            steps: Vec::new(),
            clocks: [[0; STREAMS]; STREAMS],
            numbers: [0; STREAMS],
            null: [0; STREAMS],
            host: [0; STREAMS],
            events: [None; EVENTS],
            accesses: vec![Accesses::default(); MEMORIES],
            is_there,
            functions: Vec::new(),
        };
        while generator.steps.len() < STEPS {
            generator.step();
        }
        Self { steps: generator.steps, functions: generator.functions.len() }
    }
}

impl Generator {
    fn push(&mut self, stream: usize, op: Op) {
        self.steps.push(Step { stream, op });
    }

    /// The work that a new operation of a stream has behind it.
    fn before(&self, stream: usize) -> Clock {
        let mut clock = self.clocks[stream];
        if stream == NULL {
            BLOCKING.iter().for_each(|other| join(&mut clock, &self.clocks[*other]));
        } else if BLOCKING.contains(&stream) {
            join(&mut clock, &self.null);
        }
        clock
    }

    /// Counts an operation of a stream.
    fn advance(&mut self, stream: usize) -> u32 {
        let mut clock = self.before(stream);
        self.numbers[stream] += 1;
        clock[stream] = self.numbers[stream];
        self.clocks[stream] = clock;
        if stream == NULL {
            self.null = clock;
        }
        self.numbers[stream]
    }

    /// The host functions that a clock has behind it.
    fn behind(&self, clock: &Clock) -> Vec<usize> {
        let is_behind = |(_, (stream, number)): &(usize, &(usize, u32))| *number <= clock[*stream];
        self.functions.iter().enumerate().filter(is_behind).map(|(id, _)| id).collect()
    }

    /// The accesses with which an access would race.
    fn rivals(&self, clock: &Clock, memory: usize, writes: bool) -> Vec<(usize, u32)> {
        let Accesses { write, reads } = &self.accesses[memory];
        let reads = reads.iter().filter(|_| writes);
        write.iter().chain(reads).copied().filter(|(stream, number)| *number > clock[*stream]).collect()
    }

    /// Orders a stream behind the rivals of an access.
    fn order(&mut self, stream: usize, memory: usize, writes: bool) {
        while let Some((other, number)) = self.rivals(&self.before(stream), memory, writes).first().copied() {
            let fits = |event: &usize| self.events[*event].is_some_and(|clock| clock[other] >= number);
            let fitting: Vec<usize> = (0..EVENTS).filter(fits).collect();
            let event = if fitting.is_empty() {
                let event = self.random.below(EVENTS);
                self.record(other, event);
                event
            } else {
                self.random.one(&fitting)
            };
            self.wait(stream, event);
        }
    }

    fn record(&mut self, stream: usize, event: usize) {
        self.advance(stream);
        self.events[event] = Some(self.clocks[stream]);
        self.push(stream, Op::Record(event));
    }

    fn wait(&mut self, stream: usize, event: usize) {
        let Some(clock) = self.events[event] else { return };
        // A wait for an event that is reached is no work, so it need not follow the null stream.
        join(&mut self.clocks[stream], &clock);
        if stream == NULL {
            self.null = self.clocks[NULL];
        }
        self.push(stream, Op::Wait(event));
    }

    fn note(&mut self, memory: usize, writes: bool, access: (usize, u32)) {
        let accesses = &mut self.accesses[memory];
        if writes {
            *accesses = Accesses { write: Some(access), reads: Vec::new() };
        } else {
            accesses.reads.push(access);
        }
    }

    fn memories(&self, among: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..MEMORIES).filter(|memory| self.is_there[*memory] && among(*memory)).collect()
    }

    /// Random work on the memories.
    fn work(&mut self, memories: &[usize]) -> Work {
        let memory = self.random.one(memories);
        let (factor, sum) = (2 * self.random.below(50) as u32 + 3, self.random.below(1000) as u32 + 1);
        match self.random.below(4) {
            0 => Work::Fill { memory, value: sum },
            1 => {
                let from = self.random.one(memories);
                if from == memory {
                    Work::Fill { memory, value: factor }
                } else {
                    Work::Copy { from, to: memory }
                }
            }
            _ if PINNED.contains(&memory) => Work::Host { memory, factor, sum, id: 0, behind: Vec::new() },
            _ => Work::Kernel { memory, factor, sum },
        }
    }

    /// Adds work whose accesses follow their rivals.
    fn add_work(&mut self, stream: usize) {
        let memories = self.memories(|_| true);
        let mut work = self.work(&memories);
        let (read, written) = work.uses();
        read.into_iter().for_each(|read| self.order(stream, read, false));
        self.order(stream, written, true);
        if let Work::Host { id, behind, .. } = &mut work {
            *behind = self.behind(&self.before(stream));
            *id = self.functions.len();
        }
        let access = (stream, self.advance(stream));
        if let Work::Host { .. } = work {
            self.functions.push(access);
        }
        read.into_iter().for_each(|read| self.note(read, false, access));
        self.note(written, true, access);
        self.push(stream, Op::Work(work));
    }

    /// Adds a graph, each branch of which has memories of its own.
    fn add_graph(&mut self, stream: usize) {
        let halves =
            [0, 1].map(|half| self.memories(|memory| memory % 2 == half && !PINNED.contains(&memory)));
        let branches = halves.each_ref().map(|half| {
            let length = 1 + self.random.below(3);
            (0..length).map(|_| self.work(half)).collect::<Vec<_>>()
        });
        let works: Vec<Work> = branches.iter().flatten().cloned().collect();
        for work in &works {
            let (read, written) = work.uses();
            read.into_iter().for_each(|read| self.order(stream, read, false));
            self.order(stream, written, true);
        }
        let times = 1 + self.random.below(2) as u32;
        let access = (stream, self.advance(stream));
        for work in &works {
            let (read, written) = work.uses();
            read.into_iter().for_each(|read| self.note(read, false, access));
            self.note(written, true, access);
        }
        self.push(stream, Op::Graph { branches, times });
    }

    /// Allocates memory of a pool, or frees it.
    fn change(&mut self, stream: usize, memory: usize) {
        self.order(stream, memory, true);
        let access = (stream, self.advance(stream));
        self.note(memory, true, access);
        self.is_there[memory] = !self.is_there[memory];
        let op = if self.is_there[memory] { Op::Allocate(memory) } else { Op::Free(memory) };
        self.push(stream, op);
    }

    fn step(&mut self) {
        let stream = self.random.below(STREAMS);
        let event = self.random.below(EVENTS);
        match self.random.below(20) {
            0 | 1 => self.record(stream, event),
            2 => self.wait(stream, event),
            3 | 4 => {
                let memory = self.random.one(&POOLED);
                let was_there = self.is_there[memory];
                self.change(stream, memory);
                // A pool that gives memory too early is seen where the next allocation comes soon.
                let (other, next) = (self.random.below(STREAMS), self.random.one(&POOLED));
                if was_there && !self.is_there[next] {
                    self.change(other, next);
                }
            }
            5 => self.add_graph(stream),
            6 => {
                if let Some(clock) = self.events[event] {
                    let behind = self.behind(&clock);
                    self.push(stream, Op::Query { event, behind });
                }
            }
            7 => {
                if let Some(clock) = self.events[event] {
                    let behind = self.behind(&clock);
                    join(&mut self.host, &clock);
                    self.push(stream, Op::WaitForEvent { event, behind });
                }
            }
            8 => {
                // The host waits for the work of the stream, and new work would wait for more.
                let clock = self.clocks[stream];
                let behind = self.behind(&clock);
                join(&mut self.host, &clock);
                self.push(stream, Op::WaitForStream { behind });
            }
            9 | 10 => {
                let memory = self.random.one(&PINNED);
                let value = self.random.below(1000) as u32;
                if self.rivals(&self.host, memory, true).is_empty() && value.is_multiple_of(2) {
                    self.push(stream, Op::Write { memory, value });
                } else if self.rivals(&self.host, memory, false).is_empty() {
                    self.push(stream, Op::Read(memory));
                }
            }
            _ => self.add_work(stream),
        }
    }
}
