// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chrome's trace events as text.

use std::fmt::{self, Display, Write};

/// A JSON string.
pub(super) struct Text<'a>(pub(super) &'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(f, "\\{letter}")?,
                control if control < ' ' => write!(f, "\\u{:04x}", control as u32)?,
                letter => f.write_char(letter)?,
            }
        }
        f.write_char('"')
    }
}

/// Nanoseconds, as the microseconds of an event.
#[derive(Clone, Copy)]
pub(super) struct Micros(pub(super) u64);

impl Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// The row of a viewer: a process and a thread, which stand for a device and one of its rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Row {
    pub(super) process: usize,
    pub(super) thread: u64,
}

impl Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"pid\":{},\"tid\":{}", self.process, self.thread)
    }
}

/// The members of a JSON object that is being written.
#[derive(Default)]
pub(super) struct Arguments(String);

impl Arguments {
    /// Adds a member whose value is JSON.
    pub(super) fn add(&mut self, name: &str, value: impl Display) -> &mut Self {
        let comma = if self.0.is_empty() { "" } else { "," };
        let _ = write!(self.0, "{comma}\"{name}\":{value}");
        self
    }

    /// Adds a member if there is a value.
    pub(super) fn add_some(&mut self, name: &str, value: Option<impl Display>) -> &mut Self {
        if let Some(value) = value {
            self.add(name, value);
        }
        self
    }
}

/// A slice: a bar from one time to another.
pub(super) fn slice(row: Row, name: &str, begun: u64, ended: u64, arguments: &Arguments) -> String {
    let (at, length) = (Micros(begun), Micros(ended.saturating_sub(begun)));
    format!(
        "{{\"ph\":\"X\",{row},\"name\":{},\"ts\":{at},\"dur\":{length},\"args\":{{{}}}}}",
        Text(name),
        arguments.0
    )
}

/// A moment.
pub(super) fn instant(row: Row, name: &str, at: u64, arguments: &Arguments) -> String {
    let at = Micros(at);
    format!(
        "{{\"ph\":\"i\",\"s\":\"t\",{row},\"name\":{},\"ts\":{at},\"args\":{{{}}}}}",
        Text(name),
        arguments.0
    )
}

/// One end of an arrow between two slices that enclose the times.
pub(super) fn arrow(is_head: bool, number: u64, row: Row, at: u64) -> String {
    let end = if is_head { "\"ph\":\"f\",\"bp\":\"e\"" } else { "\"ph\":\"s\"" };
    format!("{{{end},\"id\":{number},\"name\":\"edge\",\"cat\":\"edge\",{row},\"ts\":{}}}", Micros(at))
}

/// The values of counters at a time.
pub(super) fn counter(row: Row, name: &str, at: u64, values: &Arguments) -> String {
    format!("{{\"ph\":\"C\",{row},\"name\":{},\"ts\":{},\"args\":{{{}}}}}", Text(name), Micros(at), values.0)
}

/// The name of a process (`process_name`) or a thread (`thread_name`).
pub(super) fn name(of: &str, row: Row, name: &str) -> String {
    format!("{{\"ph\":\"M\",\"name\":\"{of}\",{row},\"args\":{{\"name\":{}}}}}", Text(name))
}

/// The place of a thread among those of its process.
pub(super) fn place(row: Row) -> String {
    format!(
        "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",{row},\"args\":{{\"sort_index\":{}}}}}",
        row.thread
    )
}
