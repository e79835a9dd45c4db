// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs as text, one step on a line. The printed text can be parsed again.
//!
//! ```text
//! buffer 0 device 64
//! buffer 1 transient 128
//! list 0 slots 1
//! . fill $0+0:16 2 0x1234
//! . barrier
//! . copy $0+0:16 0+16:16
//! . signal 0
//! . fill 0+0:16 1 0x7
//! . wait 0
//! . update 0+16:16 3
//! submit 0 on 0x1 waits signals 0@1 do alloca 1
//! submit 1 on 0x2 waits 0@1 signals 1@1 do execute 0 table 1+0:32
//! submit 2 on 0x1 waits 1@1 signals 2@1 do all_reduce 1+0:16>0+0:16
//! wait 1@1
//! ```
//!
//! A collective operation has the source and the target of each rank. A range is `buffer+offset:length`, with `$`
//! before the number of a slot; a point is `semaphore@value`.

use std::{
    fmt::{self, Display},
    str::{FromStr, SplitAsciiWhitespace},
};

use windlass_hal::Error;

use super::{
    BufferKind, BufferSpec, ClientStep, CollectiveKind, Command, List, Operation, Point, Program, Range,
    Reference, Submission, Work, access::are_apart, observed::Expectation,
};

impl Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.failing {
            writeln!(f, "failing")?;
        }
        for (index, spec) in self.buffers.iter().enumerate() {
            let kind = KINDS.iter().find(|(kind, _)| *kind == spec.kind).map_or("", |(_, name)| name);
            writeln!(f, "buffer {index} {kind} {}", spec.size)?;
        }
        for (index, list) in self.lists.iter().enumerate() {
            writeln!(f, "list {index} slots {}", list.slots)?;
            for command in &list.commands {
                match command {
                    Command::Barrier => writeln!(f, ". barrier")?,
                    Command::Signal(event) => writeln!(f, ". signal {event}")?,
                    Command::Wait(event) => writeln!(f, ". wait {event}")?,
                    Command::Work(work) => writeln!(f, ". {work}")?,
                }
            }
        }
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

const KINDS: [(BufferKind, &str); 4] = [
    (BufferKind::Device, "device"),
    (BufferKind::Host, "host"),
    (BufferKind::Transient, "transient"),
    (BufferKind::File, "file"),
];

impl Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}:{}", self.buffer, self.offset, self.length)
    }
}

impl Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Direct(range) => range.fmt(f),
            Self::Slot(range) => write!(f, "${range}"),
        }
    }
}

impl Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.semaphore, self.value)
    }
}

impl<R: Display> Display for Work<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fill { target, value, size } => write!(f, "fill {target} {size} {value:#x}"),
            Self::Update { target, seed } => write!(f, "update {target} {seed}"),
            Self::Copy { source, target } => write!(f, "copy {source} {target}"),
            Self::MultiplyAdd { target, factor, addend } => {
                write!(f, "multiply_add {target} {factor} {addend}")
            }
            Self::Increment { target, times } => write!(f, "increment {target} {times}"),
        }
    }
}

fn points(f: &mut fmt::Formatter<'_>, name: &str, points: &[Point]) -> fmt::Result {
    f.write_str(name)?;
    points.iter().try_for_each(|point| write!(f, " {point}"))
}

impl Display for ClientStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submit(submission) => {
                write!(f, "submit {} on {:#x} ", submission.number, submission.affinity)?;
                points(f, "waits", &submission.waits)?;
                points(f, " signals", &submission.signals)?;
                write!(f, " do {}", submission.operation)
            }
            Self::Signal(point) => write!(f, "signal {point}"),
            Self::Fail { semaphore, cause } => write!(f, "fail {semaphore} {cause}"),
            Self::Wait(list) => points(f, "wait", list),
            Self::Join(number) => write!(f, "join {number}"),
            Self::Read(range) => write!(f, "read {range}"),
            Self::Write { target, seed } => write!(f, "write {target} {seed}"),
        }
    }
}

impl Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Barrier => write!(f, "barrier"),
            Self::Alloca(buffer) => write!(f, "alloca {buffer}"),
            Self::Dealloca(buffer) => write!(f, "dealloca {buffer}"),
            Self::Work(work) => work.fmt(f),
            Self::Read { file, target } => write!(f, "read {file} {target}"),
            Self::Write { source, file } => write!(f, "write {source} {file}"),
            Self::HostCall { write, fail } => {
                write!(f, "host_call")?;
                write.iter().try_for_each(|(target, seed)| write!(f, " write {target} {seed}"))?;
                fail.iter().try_for_each(|cause| write!(f, " fail {cause}"))
            }
            Self::Execute { list, table } => {
                write!(f, "execute {list} table")?;
                table.iter().try_for_each(|range| write!(f, " {range}"))
            }
            Self::Collective { kind, recorded, parts } => {
                let how = if *recorded { " recorded" } else { "" };
                write!(f, "{kind}{how}")?;
                parts.iter().try_for_each(|(source, target)| write!(f, " {source}>{target}"))
            }
        }
    }
}

impl Display for CollectiveKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sum => "all_reduce",
            Self::Ring => "ring",
        })
    }
}

impl FromStr for Program {
    type Err = Error;

    /// Parses the text of [`Display`]. `INVALID_ARGUMENT` names the wrong line, or gives the reason why the program
    /// is illegal.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut program = Self::default();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let mut words = Words(line.split_ascii_whitespace());
            let read = read_line(&mut program, &mut words);
            if read.is_none() || words.0.next().is_some() {
                return Err(Error::invalid_argument(format!("line {} of a program: `{line}`", number + 1)));
            }
        }
        check(&program).map_err(|why| Error::invalid_argument(format!("the program is not legal: {why}")))?;
        Ok(program)
    }
}

/// The greatest number of a semaphore and the greatest size of a buffer in bytes. Both are far above the needs of
/// programs.
const MOST_SEMAPHORES: u32 = 1000;
const MOST_BYTES: u32 = 1 << 20;

/// Checks that everything that a program names exists and is in order.
fn check(program: &Program) -> Result<(), String> {
    if program.semaphores() > MOST_SEMAPHORES as usize {
        return Err(format!("more than {MOST_SEMAPHORES} semaphores"));
    }
    if program.buffers.iter().any(|spec| spec.size > MOST_BYTES) {
        return Err(format!("a buffer of more than {MOST_BYTES} bytes"));
    }
    let mut numbers: Vec<u32> = program.submissions().map(|(_, submission)| submission.number).collect();
    numbers.sort_unstable();
    if (0..).zip(&numbers).any(|(expected, number)| expected != *number) {
        return Err("operations must be numbered from 0, each once".to_owned());
    }
    program.lists.iter().try_for_each(check_events)?;
    for (_, submission) in program.submissions() {
        check_names(program, &submission.operation)
            .map_err(|why| format!("{why}, in operation {}", submission.number))?;
    }
    let fits = |range: &Range| {
        let end = range.offset.checked_add(range.length);
        program.buffers.get(range.buffer as usize).is_some_and(|spec| end.is_some_and(|end| end <= spec.size))
    };
    for step in &program.steps {
        if let Some(access) = program.accesses(step).iter().find(|access| !fits(&access.range)) {
            return Err(format!("{} lies outside of its buffer, in `{step}`", access.range));
        }
    }
    Expectation::new(program, false).map(drop)
}

/// Checks that each event is signalled once, and waited for only after that.
fn check_events(list: &List) -> Result<(), String> {
    for (place, command) in list.commands.iter().enumerate() {
        let (event, wanted) = match command {
            Command::Signal(event) => (event, false),
            Command::Wait(event) => (event, true),
            _ => continue,
        };
        if list.commands[..place].contains(&Command::Signal(*event)) != wanted {
            return Err(format!("event {event} is signalled twice, or waited for too early"));
        }
    }
    Ok(())
}

fn check_names(program: &Program, operation: &Operation) -> Result<(), String> {
    match operation {
        Operation::Alloca(buffer) | Operation::Dealloca(buffer) => {
            let spec =
                program.buffers.get(*buffer as usize).filter(|spec| spec.kind == BufferKind::Transient);
            spec.map(|_| ()).ok_or_else(|| format!("there is no transient buffer {buffer}"))
        }
        Operation::Execute { list, table } => {
            let list = program.lists.get(*list as usize).ok_or_else(|| format!("there is no list {list}"))?;
            let unbound = |reference: &Reference| matches!(reference, Reference::Slot(part) if part.buffer as usize >= table.len());
            let works = list.commands.iter().filter_map(|command| match command {
                Command::Work(work) => Some(work),
                _ => None,
            });
            match works.flat_map(Work::ranges).find(unbound) {
                Some(reference) => Err(format!("nothing is bound for {reference}")),
                None => Ok(()),
            }
        }
        Operation::Collective { parts, .. } if !are_apart(parts) => {
            Err("the ranges of a collective operation overlap, or have several lengths".to_owned())
        }
        _ => Ok(()),
    }
}

struct Words<'a>(SplitAsciiWhitespace<'a>);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    fn number<T: FromStr>(&mut self) -> Option<T> {
        self.next()?.parse().ok()
    }

    fn hex(&mut self) -> Option<u64> {
        u64::from_str_radix(self.next()?.strip_prefix("0x")?, 16).ok()
    }

    fn expect(&mut self, word: &str) -> Option<()> {
        (self.next()? == word).then_some(())
    }

    fn range(&mut self) -> Option<Range> {
        range(self.next()?)
    }

    /// The points up to the next word, or to the end.
    fn points(&mut self) -> Option<Vec<Point>> {
        let mut points = Vec::new();
        while let Some((semaphore, value)) = self.0.clone().next().and_then(|word| word.split_once('@')) {
            self.next();
            points.push(Point { semaphore: semaphore.parse().ok()?, value: value.parse().ok()? });
        }
        Some(points)
    }
}

fn range(text: &str) -> Option<Range> {
    let (buffer, rest) = text.split_once('+')?;
    let (offset, length) = rest.split_once(':')?;
    Some(Range { buffer: buffer.parse().ok()?, offset: offset.parse().ok()?, length: length.parse().ok()? })
}

fn reference(text: &str) -> Option<Reference> {
    match text.strip_prefix('$') {
        Some(slot) => range(slot).map(Reference::Slot),
        None => range(text).map(Reference::Direct),
    }
}

fn read_line(program: &mut Program, words: &mut Words<'_>) -> Option<()> {
    match words.next()? {
        "failing" => program.failing = true,
        "buffer" => {
            (words.number::<usize>()? == program.buffers.len()).then_some(())?;
            let name = words.next()?;
            let kind = KINDS.iter().find(|(_, known)| *known == name)?.0;
            program.buffers.push(BufferSpec { kind, size: words.number()? });
        }
        "list" => {
            (words.number::<usize>()? == program.lists.len()).then_some(())?;
            words.expect("slots")?;
            program.lists.push(List { slots: words.number()?, commands: Vec::new() });
        }
        "." => {
            let command = match words.next()? {
                "barrier" => Command::Barrier,
                "signal" => Command::Signal(words.number()?),
                "wait" => Command::Wait(words.number()?),
                name => Command::Work(work(name, words, reference)?),
            };
            program.lists.last_mut()?.commands.push(command);
        }
        name => program.steps.push(step(name, words)?),
    }
    Some(())
}

fn step(name: &str, words: &mut Words<'_>) -> Option<ClientStep> {
    Some(match name {
        "submit" => {
            let number = words.number()?;
            words.expect("on")?;
            let affinity = words.hex()?;
            words.expect("waits")?;
            let waits = words.points()?;
            words.expect("signals")?;
            let signals = words.points()?;
            words.expect("do")?;
            let operation = operation(words)?;
            ClientStep::Submit(Submission { number, affinity, waits, signals, operation })
        }
        "signal" => ClientStep::Signal(words.points()?.pop()?),
        "fail" => ClientStep::Fail { semaphore: words.number()?, cause: words.number()? },
        "wait" => ClientStep::Wait(words.points()?),
        "join" => ClientStep::Join(words.number()?),
        "read" => ClientStep::Read(words.range()?),
        "write" => ClientStep::Write { target: words.range()?, seed: words.number()? },
        _ => return None,
    })
}

fn operation(words: &mut Words<'_>) -> Option<Operation> {
    Some(match words.next()? {
        "barrier" => Operation::Barrier,
        "alloca" => Operation::Alloca(words.number()?),
        "dealloca" => Operation::Dealloca(words.number()?),
        "read" => Operation::Read { file: words.range()?, target: words.range()? },
        "write" => Operation::Write { source: words.range()?, file: words.range()? },
        "host_call" => {
            let (mut write, mut fail) = (None, None);
            while let Some(word) = words.next() {
                match word {
                    "write" => write = Some((words.range()?, words.number()?)),
                    "fail" => fail = Some(words.number()?),
                    _ => return None,
                }
            }
            Operation::HostCall { write, fail }
        }
        "execute" => {
            let list = words.number()?;
            words.expect("table")?;
            let table = words.0.by_ref().map(range).collect::<Option<_>>()?;
            Operation::Execute { list, table }
        }
        name @ ("all_reduce" | "ring") => {
            let kind = if name == "ring" { CollectiveKind::Ring } else { CollectiveKind::Sum };
            let recorded = words.0.clone().next() == Some("recorded");
            if recorded {
                words.next();
            }
            let part = |word: &str| {
                let (source, target) = word.split_once('>')?;
                Some((range(source)?, range(target)?))
            };
            let parts = words.0.by_ref().map(part).collect::<Option<_>>()?;
            Operation::Collective { kind, recorded, parts }
        }
        name => Operation::Work(work(name, words, range)?),
    })
}

fn work<R>(name: &str, words: &mut Words<'_>, range: impl Fn(&str) -> Option<R>) -> Option<Work<R>> {
    Some(match name {
        "fill" => {
            let (target, size) = (range(words.next()?)?, words.number()?);
            matches!(size, 1 | 2 | 4).then_some(())?;
            Work::Fill { target, size, value: words.hex()? as u32 }
        }
        "update" => Work::Update { target: range(words.next()?)?, seed: words.number()? },
        "copy" => Work::Copy { source: range(words.next()?)?, target: range(words.next()?)? },
        "multiply_add" => {
            let target = range(words.next()?)?;
            Work::MultiplyAdd { target, factor: words.number()?, addend: words.number()? }
        }
        "increment" => Work::Increment { target: range(words.next()?)?, times: words.number()? },
        _ => return None,
    })
}
