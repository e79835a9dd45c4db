// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log of a schedule: a file with one line for each entry, so that a run can be read, compared and
//! replayed.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::log_file;

/// First line of a log, in front of the seed.
const HEADER: &str = "windlass schedule 1 seed ";

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A thread, numbered in the order of first calls, called a function.
    Call { thread: u64, function: Cow<'static, str> },
    /// A thread that waited inside a call continued.
    Back { thread: u64 },
    /// Work advanced by a step while threads waited.
    Step,
    /// The host function of this number ended.
    Ended { function: u64 },
    /// This option, from 0 on, was chosen among `of`.
    Pick { option: usize, of: usize },
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { thread, function } => write!(f, "call {thread} {function}"),
            Self::Back { thread } => write!(f, "back {thread}"),
            Self::Step => write!(f, "step"),
            Self::Ended { function } => write!(f, "ended {function}"),
            Self::Pick { option, of } => write!(f, "{option}/{of}"),
        }
    }
}

impl Entry {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let first = words.next()?;
        let mut number = || words.next()?.parse().ok();
        let entry = match first {
            "call" => {
                let thread = number()?;
                Self::Call { thread, function: words.next()?.to_owned().into() }
            }
            "back" => Self::Back { thread: number()? },
            "step" => Self::Step,
            "ended" => Self::Ended { function: number()? },
            pick => {
                let (option, of) = pick.split_once('/')?;
                let (option, of) = (option.parse().ok()?, of.parse().ok()?);
                (option < of).then_some(Self::Pick { option, of })?
            }
        };
        words.next().is_none().then_some(entry)
    }
}

/// A log that is being written.
#[derive(Debug)]
pub(crate) struct Recorder {
    file: BufWriter<File>,
    failed: bool,
}

impl Recorder {
    pub(crate) fn create(path: &Path, seed: u64) -> Result<Self, String> {
        let say = |error| Self::unwritable(path, &error);
        let mut file = BufWriter::new(log_file::create(path).map_err(say)?);
        writeln!(file, "{HEADER}{seed}").map_err(say)?;
        Ok(Self { file, failed: false })
    }

    /// Whether [`create`](Self::create) can succeed, without doing it.
    pub(crate) fn check(path: &Path) -> Result<(), String> {
        log_file::check(path).map_err(|error| Self::unwritable(path, &error))
    }

    fn unwritable(path: &Path, error: &io::Error) -> String {
        format!("the schedule cannot be written to {}: {error} (option record=)", path.display())
    }

    pub(crate) fn write(&mut self, entry: &Entry) {
        // The log of a program that crashes must hold all entries until then.
        let flushed = matches!(entry, Entry::Call { .. });
        let written = writeln!(self.file, "{entry}");
        let written = written.and_then(|()| if flushed { self.file.flush() } else { Ok(()) });
        if let (Err(error), false) = (written, self.failed) {
            self.failed = true;
            tracing::error!(target: "windlass::sim", %error, "the schedule is not recorded any further");
        }
    }
}

/// A log that is being replayed.
#[derive(Debug)]
pub(crate) struct Replay {
    path: String,
    pub(crate) seed: u64,
    entries: Vec<Entry>,
    next: usize,
}

impl Replay {
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let say = |reason: &str| {
            format!("the schedule {} cannot be replayed: {reason} (option replay=)", path.display())
        };
        let found = std::fs::metadata(path).map_err(|error| say(&error.to_string()))?;
        if !found.is_file() {
            // A device may never end.
            return Err(say("it is not a regular file"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| say(&error.to_string()))?;
        let mut lines = text.lines();
        let seed = lines.next().and_then(|line| line.strip_prefix(HEADER)?.parse().ok());
        let seed = seed.ok_or_else(|| say("its first line is not that of a log of option record="))?;
        // A program that was stopped may have left half of a line.
        let whole = text.ends_with('\n');
        let mut entries = Vec::new();
        let mut lines = lines.enumerate().peekable();
        while let Some((index, line)) = lines.next() {
            match Entry::parse(line) {
                Some(entry) => entries.push(entry),
                None if !whole && lines.peek().is_none() => {}
                None => return Err(say(&format!("line {} is not an entry: {line:?}", index + 2))),
            }
        }
        Ok(Self { path: path.display().to_string(), seed, entries, next: 0 })
    }

    /// The next entry; `None` past the end.
    pub(crate) fn peek(&self) -> Option<&Entry> {
        self.entries.get(self.next)
    }

    pub(crate) fn advance(&mut self) {
        self.next += 1;
    }

    /// The message that another event than the next entry is about to happen.
    pub(crate) fn divergence(&self, instead: &str) -> String {
        let line = self.next + 2;
        let next = self.peek().map_or_else(|| "the end".to_owned(), Entry::to_string);
        format!("the replay of {} diverges at line {line}: it has {next:?}, but {instead}", self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_survive_a_round_trip() {
        for entry in [
            Entry::Call { thread: 3, function: "hipMalloc".into() },
            Entry::Back { thread: 0 },
            Entry::Step,
            Entry::Ended { function: 12 },
            Entry::Pick { option: 1, of: 2 },
        ] {
            assert_eq!(Entry::parse(&entry.to_string()), Some(entry));
        }
        for line in
            ["", "call", "call x hipFree", "call 1", "step 1", "2/2", "1/", "ended", "call 1 hipFree 2"]
        {
            assert_eq!(Entry::parse(line), None, "{line}");
        }
    }
}
