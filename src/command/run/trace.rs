// SPDX-License-Identifier: MIT OR Apache-2.0
//! `--trace`: a device that records submissions, written as Chrome's trace events.
//!
//! The device is wrapped. Every submission signals one additional semaphore, and a thread waits for it and for the
//! wait list. Times are thus those that the host observes: an operation begins when its last wait is seen to be
//! reached, and ends when its signal is. Nothing else of the submission changes.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    task::{Context, Poll, Wake, Waker},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use crate::{Device, Error, OperationRef, Point, QueueAffinity, Result, Semaphore, Wait, driver};
use serde_json::{Value, json};

/// How long the end of the trace waits for unfinished operations.
const PATIENCE: Duration = Duration::from_secs(1);

/// A trace in progress.
pub(crate) struct Trace {
    device: Device,
    title: String,
    recorder: Arc<Recorder>,
    watcher: Option<JoinHandle<Vec<Span>>>,
}

impl Trace {
    /// Begins to trace a device. Only submissions through [`device`](Self::device) are recorded.
    pub(crate) fn start(device: &Device) -> Self {
        let recorder =
            Arc::new(Recorder { start: Instant::now(), state: Mutex::default(), changed: Condvar::new() });
        let traced = Traced { inner: device.raw(), recorder: recorder.clone() };
        let for_thread = recorder.clone();
        // Without the thread the trace stays empty, and the run goes on.
        let watcher =
            std::thread::Builder::new().name("windlass-trace".into()).spawn(move || watch(&for_thread)).ok();
        let info = device.info();
        let simulated = if info.simulated { ", simulated: no times of a GPU" } else { "" };
        Self {
            device: Device::from_driver(Arc::new(traced)),
            title: format!("{} ({}{simulated})", info.uri, info.name),
            recorder,
            watcher,
        }
    }

    /// The traced device.
    pub(crate) fn device(&self) -> Device {
        self.device.clone()
    }

    /// Ends the trace and gives its JSON.
    pub(crate) fn finish(self) -> String {
        self.recorder.lock().closing = Some(Instant::now() + PATIENCE);
        self.recorder.changed.notify_all();
        let spans = self.watcher.and_then(|watcher| watcher.join().ok()).unwrap_or_default();
        render(&self.title, spans)
    }
}

/// One operation. Times are relative to the start of the trace.
struct Span {
    queue: Option<u32>,
    operation: &'static str,
    detail: String,
    submitted: Duration,
    accepted: Duration,
    /// The latest time among the submission and the waits reached so far.
    ready: Duration,
    begun: Option<Duration>,
    ended: Option<Duration>,
    error: Option<Error>,
}

struct Recorder {
    start: Instant,
    state: Mutex<TraceState>,
    changed: Condvar,
}

#[derive(Default)]
struct TraceState {
    incoming: Vec<Watched>,
    woken: bool,
    /// The deadline for unfinished operations, set at the end of the trace.
    closing: Option<Instant>,
}

/// An operation in flight.
struct Watched {
    span: Span,
    waits: Vec<Awaited>,
    end: Awaited,
}

/// A point of a timeline, and the time when it was reached.
struct Awaited {
    wait: Wait,
    stamp: Arc<Stamp>,
}

/// Takes the time on the waking thread, because the watching thread may run late.
struct Stamp {
    at: OnceLock<Duration>,
    recorder: Arc<Recorder>,
}

impl Wake for Stamp {
    fn wake(self: Arc<Self>) {
        self.at.get_or_init(|| self.recorder.start.elapsed());
        self.recorder.lock().woken = true;
        self.recorder.changed.notify_all();
    }
}

impl Awaited {
    fn new(wait: Wait, recorder: &Arc<Recorder>) -> Self {
        Self { wait, stamp: Arc::new(Stamp { at: OnceLock::new(), recorder: recorder.clone() }) }
    }

    /// The time when the point was reached, and whether by a failure; `None` before that.
    fn poll(&mut self) -> Option<(Duration, Option<Error>)> {
        let waker = Waker::from(self.stamp.clone());
        match Pin::new(&mut self.wait).poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => None,
            Poll::Ready(result) => {
                let now = || self.stamp.recorder.start.elapsed();
                Some((*self.stamp.at.get_or_init(now), result.err()))
            }
        }
    }
}

impl Recorder {
    fn lock(&self) -> MutexGuard<'_, TraceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Polls the operations in flight until the trace ends.
fn watch(recorder: &Arc<Recorder>) -> Vec<Span> {
    let (mut watched, mut done) = (Vec::<Watched>::new(), Vec::new());
    loop {
        let mut rest = Vec::with_capacity(watched.len());
        for mut operation in watched {
            match operation.advance() {
                true => done.push(operation.span),
                false => rest.push(operation),
            }
        }
        watched = rest;
        let mut state = recorder.lock();
        loop {
            if state.woken || !state.incoming.is_empty() {
                state.woken = false;
                watched.append(&mut state.incoming);
                break;
            }
            let left = state.closing.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero() || watched.is_empty()) {
                done.extend(watched.into_iter().map(|operation| operation.span));
                return done;
            }
            state = match left {
                None => recorder.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    recorder.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl Watched {
    /// Records the changes since the last poll. Returns whether the operation has ended.
    fn advance(&mut self) -> bool {
        let begun = &mut self.span.ready;
        self.waits.retain_mut(|wait| match wait.poll() {
            None => true,
            Some((at, _)) => {
                *begun = at.max(*begun);
                false
            }
        });
        if self.waits.is_empty() {
            self.span.begun.get_or_insert(self.span.ready);
        }
        match self.end.poll() {
            None => false,
            Some((at, error)) => {
                (self.span.ended, self.span.error) = (Some(at), error);
                true
            }
        }
    }
}

/// The wrapper.
struct Traced {
    inner: Arc<dyn driver::RawDevice>,
    recorder: Arc<Recorder>,
}

// SAFETY: an operation is handed on as it came, with one more signal.
unsafe impl driver::Wrapper for Traced {
    fn inner(&self) -> &dyn driver::RawDevice {
        &*self.inner
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        let end = Semaphore::new(0);
        let recorder = &self.recorder;
        let bits = affinity.bits();
        let submitted = recorder.start.elapsed();
        let span = Span {
            queue: (bits.count_ones() == 1).then(|| bits.trailing_zeros()),
            operation: operation.name(),
            detail: describe(&operation),
            submitted,
            accepted: submitted,
            ready: submitted,
            begun: None,
            ended: None,
            error: None,
        };
        let waited = waits.iter().map(|point| Awaited::new(point.semaphore.wait(point.value), recorder));
        let mut watched = Watched { span, waits: waited.collect(), end: Awaited::new(end.wait(1), recorder) };
        // Watched before the submission, so that no change is missed.
        watched.advance();
        // In front, so that no operation that waits for another signal is seen to begin before this one is seen to
        // end.
        let signals: Vec<_> = [end.at(1)].into_iter().chain(signals.iter().cloned()).collect();
        // SAFETY: the operation is passed on unchanged.
        unsafe { self.inner.submit(affinity, waits, &signals, operation)? };
        watched.span.accepted = recorder.start.elapsed();
        recorder.lock().incoming.push(watched);
        recorder.changed.notify_all();
        Ok(())
    }
}

/// A short description of an operation.
fn describe(operation: &OperationRef<'_>) -> String {
    match operation {
        OperationRef::Dispatch(dispatch) => {
            let functions = dispatch.executable.functions();
            functions
                .get(dispatch.function as usize)
                .map(|function| function.name.clone())
                .unwrap_or_default()
        }
        OperationRef::Execute { command_buffer, .. } => {
            format!("{} commands", command_buffer.list().commands().len())
        }
        OperationRef::Fill { target, .. }
        | OperationRef::Update { target, .. }
        | OperationRef::Copy { target, .. } => {
            format!("{} bytes", target.len())
        }
        _ => String::new(),
    }
}

/// The row of the thread that submits.
const HOST_ROW: u64 = 0;
/// The rows of one queue: the first for operations in order, the others for those that overlap it.
const ROWS_PER_QUEUE: u64 = 1000;

/// Chrome's trace events: a row for each queue, and one for the calls that submit.
fn render(title: &str, mut spans: Vec<Span>) -> String {
    spans.sort_by_key(|span| span.begun.unwrap_or(span.submitted));
    let mut rows: Vec<(u64, String)> = vec![(HOST_ROW, "host: submissions".to_owned())];
    let mut events = Vec::new();
    // The end of each row so far. Events that overlap within a row would hide each other.
    let mut ends: Vec<(u64, Duration)> = Vec::new();
    for span in &spans {
        let begun = span.begun.unwrap_or(span.submitted);
        let ended = span.ended.unwrap_or(begun).max(begun);
        let (first, name) = match span.queue {
            Some(queue) => ((u64::from(queue) + 1) * ROWS_PER_QUEUE, format!("queue {queue}")),
            None => (65 * ROWS_PER_QUEUE, "any queue".to_owned()),
        };
        let busy = |row: u64| ends.iter().any(|(known, end)| *known == row && *end > begun);
        let row =
            (first..first + ROWS_PER_QUEUE - 1).find(|row| !busy(*row)).unwrap_or(first + ROWS_PER_QUEUE - 1);
        match ends.iter_mut().find(|(known, _)| *known == row) {
            Some((_, end)) => *end = ended,
            None => {
                ends.push((row, ended));
                rows.push((row, if row == first { name } else { format!("{name}, overlapping") }));
            }
        }
        let label = if span.operation == "queue_dispatch" { span.detail.as_str() } else { span.operation };
        let mut arguments = json!({
            "operation": span.operation,
            "detail": span.detail,
            "submitted_us": micros(span.submitted),
        });
        if let (Some(error), Value::Object(arguments)) = (&span.error, &mut arguments) {
            arguments.insert("error".to_owned(), error.to_string().into());
        }
        if let (None, Value::Object(arguments)) = (&span.ended, &mut arguments) {
            arguments.insert("unfinished".to_owned(), true.into());
        }
        events.push(slice(row, label, begun, ended, arguments));
        events.push(slice(HOST_ROW, &format!("submit {label}"), span.submitted, span.accepted, json!({})));
    }
    let mut all = vec![json!({ "ph": "M", "name": "process_name", "pid": 1, "args": { "name": title } })];
    for (row, name) in rows {
        all.push(json!({ "ph": "M", "name": "thread_name", "pid": 1, "tid": row, "args": { "name": name } }));
        all.push(json!({ "ph": "M", "name": "thread_sort_index", "pid": 1, "tid": row, "args": { "sort_index": row } }));
    }
    all.append(&mut events);
    json!({ "displayTimeUnit": "ns", "traceEvents": all }).to_string()
}

fn slice(row: u64, name: &str, begin: Duration, end: Duration, arguments: Value) -> Value {
    json!({
        "ph": "X", "pid": 1, "tid": row, "name": name, "cat": "windlass",
        "ts": micros(begin), "dur": micros(end.saturating_sub(begin)), "args": arguments,
    })
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[cfg(all(test, feature = "null"))]
mod tests {
    use super::*;

    fn events(text: &str, kind: &str) -> Vec<Value> {
        let all: Value = serde_json::from_str(text).unwrap();
        all["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == kind).cloned().collect()
    }

    #[test]
    fn each_operation_is_on_the_row_of_its_queue() {
        let device = crate::open("null://").unwrap();
        let trace = Trace::start(&device);
        let traced = trace.device();
        let (first, second) = (traced.queue(0).unwrap(), traced.queue(1).unwrap());
        let buffer = traced.allocate_device(16).unwrap();
        let timeline = Semaphore::new(0);
        second.fill(&[timeline.at(1)], &[timeline.at(2)], &buffer, 7_u32).unwrap();
        first.update(&[], &[timeline.at(1)], &[1; 16], &buffer).unwrap();
        let bytes =
            second.download(&[timeline.at(2)], &buffer).unwrap().wait(crate::Deadline::NEVER).unwrap();
        assert_eq!(bytes[..4], 7_u32.to_le_bytes(), "a trace changes nothing");
        let text = trace.finish();
        let rows: Vec<_> = events(&text, "M")
            .iter()
            .filter_map(|event| event["args"]["name"].as_str().map(str::to_owned))
            .collect();
        assert!(rows.contains(&"queue 0".to_owned()) && rows.contains(&"queue 1".to_owned()), "{rows:?}");
        let slices: Vec<_> =
            events(&text, "X").into_iter().filter(|event| event["tid"] != HOST_ROW).collect();
        // A download is an alloca of staging memory and a copy.
        assert_eq!(slices.len(), 4, "{text}");
        let on = |name: &str| {
            slices.iter().find(|event| event["name"] == name).map(|event| event["tid"].clone()).unwrap()
        };
        assert_eq!(on("queue_update"), ROWS_PER_QUEUE);
        assert_eq!(on("queue_fill"), 2 * ROWS_PER_QUEUE);
    }

    #[test]
    fn what_never_ends_is_marked_and_does_not_hold_the_trace_up() {
        let device = crate::open("null://").unwrap();
        let trace = Trace::start(&device);
        let never = Semaphore::new(0);
        trace.device().queue(0).unwrap().barrier(&[never.at(1)], &[]).unwrap();
        let failed = Semaphore::new(0);
        trace.device().queue(0).unwrap().barrier(&[failed.at(1)], &[]).unwrap();
        failed.fail(Error::aborted("on purpose"));
        let slices = events(&trace.finish(), "X");
        assert!(slices.iter().any(|event| event["args"]["unfinished"] == true), "{slices:?}");
        assert!(
            slices.iter().any(|event| event["args"]["error"].to_string().contains("on purpose")),
            "{slices:?}"
        );
    }
}
