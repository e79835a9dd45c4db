// SPDX-License-Identifier: MIT OR Apache-2.0
//! A profile as Chrome's trace events, which Perfetto shows.
//!
//! A device is a process of the viewer. It has rows for its queues, with arrows from work that reached a value to work that
//! waited for it; a row for submissions, one for each thread that ran host calls, and counters of memory. Commands and
//! debug groups lie within the bar of their operation. The times are those of the device where the driver told them.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    io::{self, Write},
    sync::Mutex,
};

use super::events::{self, Arguments, Row, Text};
use crate::words::{
    buffer_params::MemoryType,
    profile::{
        CommandRecord, HostCallRecord, MemoryEvent, MemoryRecord, OperationRecord, ProfileChunk,
        ProfileRecord, ProfileSink, ProfiledDevice,
    },
    sync::lock_std,
};

/// A sink that writes JSON for <https://ui.perfetto.dev> and `chrome://tracing` while the profile runs. One trace may serve
/// profiles of several devices. [`finish`](Self::finish) completes the file.
pub struct ProfileTrace(Mutex<TraceState>);

struct TraceState {
    output: Box<dyn Write + Send>,
    failure: Option<io::Error>,
    is_empty: bool,
    finished: bool,
    processes: Vec<Process>,
    /// For each semaphore, the ends of the work that signalled its values.
    signals: HashMap<u64, BTreeMap<u64, (Row, u64)>>,
    /// How many ends there are.
    ends: usize,
    arrows: u64,
    dropped: u64,
}

/// The rows of one device.
struct Process {
    uri: String,
    /// The end of the last slice in each row.
    rows: BTreeMap<u64, u64>,
    /// The bytes that buffers hold: of the device, and of the host.
    used: [i64; 2],
    reserved: [i64; 2],
}

/// The most ends of work that are kept for arrows. The oldest go first.
const MOST_ENDS: usize = 1 << 16;

/// The row of submissions.
const SUBMISSIONS: u64 = 0;
/// Rows of a queue: the first for operations one after the other, the others for those that overlap it.
const ROWS_PER_QUEUE: u64 = 1000;
/// The number of a queue that nobody told.
const ANY_QUEUE: u64 = 65;
/// The first row of threads.
const THREADS: u64 = 1_000_000;

impl ProfileTrace {
    /// A trace that is written to `output`, in many small pieces.
    pub fn new(output: impl Write + Send + 'static) -> Self {
        Self(Mutex::new(TraceState {
            output: Box::new(output),
            failure: None,
            is_empty: true,
            finished: false,
            processes: Vec::new(),
            signals: HashMap::new(),
            ends: 0,
            arrows: 0,
            dropped: 0,
        }))
    }

    /// Completes the JSON, and returns the first error of the output. Later records are ignored.
    pub fn finish(&self) -> io::Result<()> {
        let mut state = lock_std(&self.0);
        if !std::mem::replace(&mut state.finished, true) {
            if state.is_empty {
                state.begin();
            }
            let tail = format!("\n],\"otherData\":{{\"lost records\":{}}}}}\n", state.dropped);
            state.write(&tail);
            if let Err(error) = state.output.flush() {
                state.failure.get_or_insert(error);
            }
        }
        match state.failure.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl ProfileSink for ProfileTrace {
    fn records(&self, chunk: ProfileChunk) {
        let mut state = lock_std(&self.0);
        if state.finished {
            return;
        }
        state.dropped += chunk.dropped;
        let process = state.process(&chunk.device);
        let mut commands = Vec::new();
        for record in chunk.records {
            match record {
                // They come before the record of their operation.
                ProfileRecord::Command(command) => commands.push(command),
                ProfileRecord::Operation(operation) => {
                    state.operation(process, &operation, &commands);
                    commands.clear();
                }
                ProfileRecord::HostCall(call) => state.host_call(process, &call),
                ProfileRecord::Memory(memory) => state.memory(process, &memory),
            }
        }
    }
}

impl TraceState {
    fn write(&mut self, text: &str) {
        if self.failure.is_none()
            && let Err(error) = self.output.write_all(text.as_bytes())
        {
            self.failure = Some(error);
        }
    }

    fn begin(&mut self) {
        self.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    }

    fn event(&mut self, event: &str) {
        if std::mem::replace(&mut self.is_empty, false) {
            self.begin();
            self.write("\n");
        } else {
            self.write(",\n");
        }
        self.write(event);
    }

    /// The number of a device's process, from 1.
    fn process(&mut self, device: &ProfiledDevice) -> usize {
        if let Some(index) = self.processes.iter().position(|process| process.uri == device.uri) {
            return index + 1;
        }
        let process = self.processes.len() + 1;
        let uri = device.uri.clone();
        self.processes.push(Process { uri, rows: BTreeMap::new(), used: [0; 2], reserved: [0; 2] });
        let note = if device.simulated { ", simulated: no times of a GPU" } else { "" };
        let name = format!("{} ({}{note})", device.uri, device.name);
        let row = Row { process, thread: SUBMISSIONS };
        self.event(&events::name("process_name", row, &name));
        process
    }

    /// Makes a row known to the viewer.
    fn row(&mut self, row: Row, name: &str) {
        let rows = &mut self.processes[row.process - 1].rows;
        if rows.contains_key(&row.thread) {
            return;
        }
        rows.insert(row.thread, 0);
        self.event(&events::name("thread_name", row, name));
        self.event(&events::place(row));
    }

    /// A row of a queue that is free from `begun` on, which it is until `ended` no more.
    fn free_row(&mut self, process: usize, queue: Option<u32>, begun: u64, ended: u64) -> Row {
        let first = (queue.map_or(ANY_QUEUE, u64::from) + 1) * ROWS_PER_QUEUE;
        let rows = &self.processes[process - 1].rows;
        let is_free = |thread: &u64| rows.get(thread).is_none_or(|end| *end <= begun);
        let last = first + ROWS_PER_QUEUE - 1;
        let thread = (first..last).find(is_free).unwrap_or(last);
        let name = queue.map_or_else(|| "any queue".to_owned(), |queue| format!("queue {queue}"));
        let row = Row { process, thread };
        self.row(row, &if thread == first { name } else { format!("{name}, overlapping") });
        self.processes[process - 1].rows.insert(thread, ended);
        row
    }

    fn operation(&mut self, process: usize, record: &OperationRecord, commands: &[CommandRecord]) {
        let label = record.function().unwrap_or(record.operation);
        let submissions = Row { process, thread: SUBMISSIONS };
        self.row(submissions, "submissions");
        let mut number = Arguments::default();
        number.add("submission", record.submission);
        self.event(&events::instant(submissions, &format!("submit {label}"), record.submitted, &number));
        let issued = record.issued.unwrap_or(record.submitted);
        let (begun, ended) = match (record.device, record.retired) {
            (Some(time), _) => (time.begun, time.ended.max(time.begun)),
            (None, Some(retired)) => (issued, retired.max(issued)),
            (None, None) => (issued, issued),
        };
        let row = self.free_row(process, record.queue, begun, ended);
        self.event(&events::slice(row, label, begun, ended, &describe(record)));
        for command in commands {
            if let Some(time) = command.device {
                let name = command.name.as_deref().unwrap_or(command.kind.name());
                let (begun, ended) = (time.begun.clamp(begun, ended), time.ended.clamp(begun, ended));
                self.event(&events::slice(row, name, begun, ended, &describe_command(command)));
            }
        }
        self.arrows_to(record, row, begun);
        if record.retired.is_some() && record.failure.is_none() {
            // Within the slice, so that the viewer finds it.
            let tail = ended.saturating_sub(1).max(begun);
            for point in record.signals() {
                let values = self.signals.entry(point.semaphore).or_default();
                self.ends += usize::from(values.insert(point.value, (row, tail)).is_none());
            }
            if self.ends > MOST_ENDS {
                self.forget_ends();
            }
        }
    }

    /// Draws an arrow from the work that reached each value that an operation waited for.
    fn arrows_to(&mut self, record: &OperationRecord, row: Row, begun: u64) {
        for wait in record.waits() {
            let signalled = self.signals.get(&wait.semaphore);
            let by = signalled.and_then(|values| values.range(wait.value..).next().map(|(_, end)| *end));
            if let Some((from, at)) = by {
                self.arrows += 1;
                let number = self.arrows;
                self.event(&events::arrow(false, number, from, at));
                self.event(&events::arrow(true, number, row, begun));
            }
        }
    }

    /// Keeps the newer half of the ends of each semaphore.
    fn forget_ends(&mut self) {
        self.signals.retain(|_, values| {
            let half = values.keys().nth(values.len().div_ceil(2)).copied();
            *values = half.map(|half| values.split_off(&half)).unwrap_or_default();
            !values.is_empty()
        });
        self.ends = self.signals.values().map(BTreeMap::len).sum();
    }

    fn host_call(&mut self, process: usize, record: &HostCallRecord) {
        let row = Row { process, thread: THREADS + record.thread };
        self.row(row, &format!("host calls on thread {}", record.thread));
        let mut arguments = Arguments::default();
        arguments.add("submission", record.submission);
        let failure = record.failure.as_ref().map(ToString::to_string);
        arguments.add_some("error", failure.as_deref().map(Text));
        self.event(&events::slice(row, "host call", record.time.begun, record.time.ended, &arguments));
    }

    fn memory(&mut self, process: usize, record: &MemoryRecord) {
        let state = &mut self.processes[process - 1];
        let kind = usize::from(record.memory_type.contains(MemoryType::HOST_VISIBLE));
        let bytes = record.bytes as i64;
        match record.event {
            MemoryEvent::Allocate | MemoryEvent::Import => state.used[kind] += bytes,
            MemoryEvent::Free | MemoryEvent::Release => state.used[kind] -= bytes,
            MemoryEvent::Reserve => state.reserved[kind] += bytes,
            MemoryEvent::Unreserve => state.reserved[kind] -= bytes,
        }
        let mut values = Arguments::default();
        values.add("used", state.used[kind]).add("reserved", state.reserved[kind]);
        let name = ["device memory since the begin", "host memory since the begin"][kind];
        let row = Row { process, thread: SUBMISSIONS };
        self.event(&events::counter(row, name, record.at, &values));
    }
}

fn describe(record: &OperationRecord) -> Arguments {
    let points = |points: &[crate::words::profile::ProfilePoint]| {
        let texts: Vec<_> =
            points.iter().map(|point| format!("{}@{}", point.semaphore, point.value)).collect();
        texts.join(" ")
    };
    let mut arguments = Arguments::default();
    arguments.add("operation", Text(record.operation)).add("submission", record.submission);
    arguments.add("submitted", record.submitted).add_some("issued", record.issued);
    arguments.add_some("retired", record.retired).add_some("gpu", record.gpu);
    arguments.add("time", if record.device.is_some() { "\"device\"" } else { "\"host\"" });
    arguments.add_some("bytes", record.bytes).add_some("commands", record.commands);
    let count = record.workgroup_count.map(|count| format!("{count:?}"));
    let size = record.workgroup_size.map(|size| format!("{size:?}"));
    arguments.add_some("workgroup_count", count).add_some("workgroup_size", size);
    arguments.add("waits", Text(&points(record.waits()))).add("signals", Text(&points(record.signals())));
    let failure = record.failure.as_ref().map(ToString::to_string);
    arguments.add_some("error", failure.as_deref().map(Text));
    if record.retired.is_none() {
        arguments.add("unfinished", true);
    }
    arguments
}

fn describe_command(record: &CommandRecord) -> Arguments {
    let mut arguments = Arguments::default();
    arguments.add("command", record.index).add("kind", Text(record.kind.name()));
    arguments.add_some("bytes", record.bytes);
    let count = record.workgroup_count.map(|count| format!("{count:?}"));
    let size = record.workgroup_size.map(|size| format!("{size:?}"));
    arguments.add_some("workgroup_count", count).add_some("workgroup_size", size);
    arguments
}

impl Drop for ProfileTrace {
    /// Completes the JSON, if nobody has.
    fn drop(&mut self) {
        if let Err(error) = self.finish() {
            tracing::error!(target: "windlass::device", %error, "a trace is incomplete");
        }
    }
}

impl fmt::Debug for ProfileTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProfileTrace")
    }
}
