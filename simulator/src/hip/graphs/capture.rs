// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stream capture: work that is recorded as a graph instead of being run.
//!
//! A capture starts on one stream. Another stream joins the capture by waiting for an event that was recorded in it. The
//! first stream must wait for each stream that joined before the capture ends. A call that a graph cannot hold is
//! refused and spoils the capture, as in HIP.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use super::graph::Graph;
use super::handles::GraphHandles;
use super::operation::Operation;
use crate::hip::objects::event::{CapturedPlace, Event};
use crate::hip::objects::stream::Stream;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::packet::Role;

/// `hipStreamCaptureModeRelaxed`: no call is refused beside the capture.
const RELAXED: u32 = 2;
/// `hipStreamCaptureModeThreadLocal`: unsafe calls are refused to the capturing thread only.
const THREAD_LOCAL: u32 = 1;

/// One capture under way.
pub(crate) struct Capture {
    /// The number of the capture, unique in its simulator.
    pub(crate) id: u64,
    mode: u32,
    thread: ThreadId,
    /// The stream on which the capture started and must end.
    origin: u64,
    graph: Arc<Graph>,
    pub(crate) graph_handle: u64,
    /// Whether the graph was the client's before the capture, and stays the client's.
    is_given: bool,
    handles: Arc<GraphHandles>,
    spoilt: AtomicBool,
    members: Mutex<BTreeMap<u64, Member>>,
    /// The nodes that something has to wait for: those of the capture, but for those that the client took from the nodes
    /// that a stream waits for.
    own: Mutex<BTreeSet<u64>>,
}

/// A graph of the client's that is captured into, and the nodes of it that the first captured nodes wait for.
pub(crate) struct Given {
    pub(crate) graph: Arc<Graph>,
    pub(crate) handle: u64,
    pub(crate) after: Vec<u64>,
}

/// A stream in a capture.
struct Member {
    stream: Arc<Stream>,
    /// The nodes that the stream's next node waits for.
    frontier: Vec<u64>,
}

/// The captures of a simulator.
pub(crate) struct Captures {
    handles: Arc<GraphHandles>,
    under_way: Mutex<Vec<Arc<Capture>>>,
    /// The length of `under_way`, to be read without the lock.
    count: AtomicUsize,
    latest: AtomicUsize,
}

impl Captures {
    /// No captures. Their graphs are entered into `handles`.
    pub(crate) fn new(handles: Arc<GraphHandles>) -> Self {
        Self { handles, under_way: Mutex::default(), count: AtomicUsize::new(0), latest: AtomicUsize::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Capture>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any stream is captured.
    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// The capture that a stream is in.
    pub(crate) fn of_stream(&self, stream: &Stream) -> Option<Arc<Capture>> {
        if !self.any() {
            return None;
        }
        self.lock().iter().find(|capture| capture.holds(stream)).cloned()
    }

    /// The capture under way that has a number.
    pub(crate) fn under_way(&self, id: u64) -> Option<Arc<Capture>> {
        self.lock().iter().find(|capture| capture.id == id).cloned()
    }

    /// Starts a capture, into a graph of the client's or a new one.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_UNSUPPORTED` for the null stream, `ILLEGAL_STATE` for a stream that is being captured,
    /// `INVALID_VALUE` for a graph that is captured into already or lacks the nodes.
    pub(crate) fn begin(&self, stream: &Arc<Stream>, mode: u32, given: Option<Given>) -> Outcome<()> {
        if mode > RELAXED {
            return Err(Code::INVALID_VALUE);
        }
        if stream.role == Role::Null {
            explain("the null stream cannot be captured".to_owned());
            return Err(Code::STREAM_CAPTURE_UNSUPPORTED);
        }
        let mut under_way = self.lock();
        if under_way.iter().any(|capture| capture.holds(stream)) {
            return Err(Code::ILLEGAL_STATE);
        }
        let is_given = given.is_some();
        let (graph, graph_handle, frontier) = match given {
            Some(Given { graph, handle, after }) => {
                let known = graph.nodes();
                if after.iter().any(|node| !known.contains(node)) || !graph.begin_capture() {
                    return Err(Code::INVALID_VALUE);
                }
                (graph, handle, after)
            }
            None => {
                let graph = Arc::new(Graph::for_capture(stream.device));
                let handle = self.handles.insert(graph.clone())?;
                (graph, handle, Vec::new())
            }
        };
        let member = Member { stream: stream.clone(), frontier };
        under_way.push(Arc::new(Capture {
            id: self.latest.fetch_add(1, Ordering::Relaxed) as u64 + 1,
            mode,
            thread: std::thread::current().id(),
            origin: stream.id,
            graph,
            graph_handle,
            is_given,
            handles: self.handles.clone(),
            spoilt: AtomicBool::new(false),
            members: Mutex::new(BTreeMap::from([(stream.id, member)])),
            own: Mutex::default(),
        }));
        self.count.store(under_way.len(), Ordering::Release);
        Ok(())
    }

    /// Ends a capture on the stream on which it started, and returns the handle of its graph.
    ///
    /// # Errors
    /// `ILLEGAL_STATE` for a stream that is not captured, `STREAM_CAPTURE_UNMATCHED` for a stream that joined,
    /// `STREAM_CAPTURE_WRONG_THREAD` unless the capture is relaxed or the thread's own; the capture goes on then.
    /// `STREAM_CAPTURE_INVALIDATED` and `STREAM_CAPTURE_UNJOINED` end the capture without a graph. A graph that was the
    /// client's before stays, with the nodes that were captured.
    pub(crate) fn end(&self, stream: &Stream) -> Outcome<u64> {
        let capture = self.of_stream(stream).ok_or(Code::ILLEGAL_STATE)?;
        if capture.origin != stream.id {
            return Err(Code::STREAM_CAPTURE_UNMATCHED);
        }
        if capture.mode != RELAXED && capture.thread != std::thread::current().id() {
            return Err(Code::STREAM_CAPTURE_WRONG_THREAD);
        }
        let joined = capture.is_joined();
        self.close(&capture);
        let outcome = match capture.check() {
            Ok(()) if joined => Ok(capture.graph_handle),
            Ok(()) => {
                explain("a stream that joined the capture was not waited for before its end".to_owned());
                Err(Code::STREAM_CAPTURE_UNJOINED)
            }
            Err(code) => Err(code),
        };
        match outcome {
            Ok(_) => capture.graph.end_capture(),
            Err(_) => self.give_up(&capture),
        }
        outcome
    }

    /// Ends a capture without success.
    fn give_up(&self, capture: &Capture) {
        match capture.is_given {
            true => capture.graph.end_capture(),
            false => {
                self.handles.discard(capture.graph_handle);
            }
        }
    }

    fn close(&self, capture: &Capture) {
        let mut under_way = self.lock();
        under_way.retain(|other| other.id != capture.id);
        self.count.store(under_way.len(), Ordering::Release);
    }

    /// Removes a stream that is about to be destroyed from its capture, and spoils the capture.
    pub(crate) fn leave(&self, stream: &Stream) {
        let Some(capture) = self.of_stream(stream) else { return };
        capture.spoil();
        if capture.origin == stream.id {
            self.close(&capture);
            self.give_up(&capture);
        } else {
            capture.members().remove(&stream.id);
        }
    }

    /// Has a stream wait for nodes of a capture. A stream that is in no capture joins this one.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_MERGE` for a stream of another capture; both captures are spoilt.
    pub(crate) fn join(&self, capture: &Capture, stream: &Arc<Stream>, nodes: &[u64]) -> Outcome<()> {
        capture.check()?;
        match self.of_stream(stream) {
            Some(other) if other.id != capture.id => {
                other.spoil();
                capture.spoil();
                return Err(Code::STREAM_CAPTURE_MERGE);
            }
            Some(_) => {}
            None if stream.role == Role::Null => {
                capture.spoil();
                return Err(Code::STREAM_CAPTURE_IMPLICIT);
            }
            None => {
                let member = Member { stream: stream.clone(), frontier: Vec::new() };
                capture.members().insert(stream.id, member);
            }
        }
        capture.set_frontier(stream, nodes.to_vec(), true)
    }

    /// Refuses a question about an event that was recorded in a capture: the event stands for no work.
    pub(crate) fn refuse_question<T>(&self, place: &CapturedPlace, name: &str) -> Outcome<T> {
        if let Some(capture) = self.under_way(place.capture) {
            capture.spoil();
        }
        explain(format!(
            "{name} was asked of an event that stands for a place in a graph: it was recorded in a capture"
        ));
        Err(Code::CAPTURED_EVENT)
    }

    /// Refuses work on the null stream while a blocking stream of the device is captured: the null stream would wait for
    /// work that does not run.
    pub(crate) fn check_null_stream(&self, device: usize) -> Outcome<()> {
        self.refuse(
            |capture| capture.holds_blocking_stream(device),
            Code::STREAM_CAPTURE_IMPLICIT,
            "the null stream waits for a stream that is captured",
        )
    }

    /// Refuses work that waits for the null stream while any stream is captured.
    pub(crate) fn check_none(&self) -> Outcome<()> {
        self.refuse(
            |_| true,
            Code::STREAM_CAPTURE_IMPLICIT,
            "HIP 6 lets no call wait for the null stream while a stream is captured: take an asynchronous one, on a stream",
        )
    }

    /// Whether a capture of a blocking stream bars the null stream of a device.
    pub(crate) fn bar_null_stream(&self, device: usize) -> bool {
        self.any()
            && self.lock().iter().any(|capture| !capture.is_spoilt() && capture.holds_blocking_stream(device))
    }

    /// Refuses to wait for a device while a stream of it is captured, or with `any` a stream of any device.
    pub(crate) fn check_device(&self, device: usize, any: bool) -> Outcome<()> {
        let concerns = |capture: &Capture| {
            any || capture.members().values().any(|member| member.stream.device == device)
        };
        self.refuse(
            concerns,
            Code::STREAM_CAPTURE_UNSUPPORTED,
            "a device cannot be waited for while a stream of it is captured",
        )
    }

    /// Refuses a call that HIP counts as unsafe beside a capture, in the calling thread's mode.
    pub(crate) fn check_unsafe(&self, thread_mode: u32) -> Outcome<()> {
        let thread = std::thread::current().id();
        let concerns = |capture: &Capture| {
            let own = capture.thread == thread && capture.mode != RELAXED;
            let global = capture.mode != RELAXED && capture.mode != THREAD_LOCAL;
            match thread_mode {
                RELAXED => false,
                THREAD_LOCAL => own,
                _ => own || global,
            }
        };
        self.refuse(
            concerns,
            Code::STREAM_CAPTURE_UNSUPPORTED,
            "the call is not allowed while a stream is captured, unless hipStreamCaptureModeRelaxed says so",
        )
    }

    fn refuse(&self, concerns: impl Fn(&Capture) -> bool, code: Code, reason: &str) -> Outcome<()> {
        if !self.any() {
            return Ok(());
        }
        let under_way = self.lock();
        let spoilt: Vec<_> = under_way.iter().filter(|capture| concerns(capture)).collect();
        if spoilt.is_empty() {
            return Ok(());
        }
        for capture in spoilt {
            capture.spoil();
        }
        explain(reason.to_owned());
        Err(code)
    }
}

impl Capture {
    fn members(&self) -> MutexGuard<'_, BTreeMap<u64, Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn own(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn holds(&self, stream: &Stream) -> bool {
        self.members().contains_key(&stream.id)
    }

    fn holds_blocking_stream(&self, device: usize) -> bool {
        let members = self.members();
        let mut streams = members.values().map(|member| &member.stream);
        streams.any(|stream| stream.device == device && stream.role == Role::Blocking)
    }

    fn spoil(&self) {
        self.spoilt.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_spoilt(&self) -> bool {
        self.spoilt.load(Ordering::Relaxed)
    }

    /// # Errors
    /// `STREAM_CAPTURE_INVALIDATED` for a spoilt capture.
    pub(crate) fn check(&self) -> Outcome<()> {
        if self.is_spoilt() { Err(Code::STREAM_CAPTURE_INVALIDATED) } else { Ok(()) }
    }

    /// Refuses a call on one of its streams that a graph cannot hold.
    pub(crate) fn refuse<T>(&self, name: &str) -> Outcome<T> {
        self.check()?;
        self.spoil();
        explain(format!("{name} cannot be captured: the stream was given to hipStreamBeginCapture"));
        Err(Code::STREAM_CAPTURE_UNSUPPORTED)
    }

    /// Refuses a wait for work outside of the capture.
    pub(crate) fn refuse_isolated<T>(&self) -> Outcome<T> {
        self.check()?;
        self.spoil();
        explain(
            "a captured stream cannot wait for an event that was recorded outside of its capture".to_owned(),
        );
        Err(Code::STREAM_CAPTURE_ISOLATION)
    }

    /// Records work of a stream.
    pub(crate) fn add(&self, stream: &Stream, operation: Operation) -> Outcome<()> {
        self.check()?;
        let mut members = self.members();
        let member = members.get_mut(&stream.id).ok_or(Code::ILLEGAL_STATE)?;
        let node = self.handles.add(&self.graph, operation, member.frontier.clone())?;
        self.own().insert(node);
        member.frontier = vec![node];
        Ok(())
    }

    /// Records an event: it stands for this place in the graph.
    pub(crate) fn record(&self, stream: &Stream, event: &Event) -> Outcome<()> {
        self.check()?;
        event.capture(CapturedPlace { capture: self.id, nodes: self.frontier(stream) });
        Ok(())
    }

    /// The level of the graph that is captured into.
    pub(crate) fn level(&self) -> usize {
        self.graph.level
    }

    /// The nodes that a stream's next node waits for.
    pub(crate) fn frontier(&self, stream: &Stream) -> Vec<u64> {
        self.members().get(&stream.id).map(|member| member.frontier.clone()).unwrap_or_default()
    }

    /// Replaces the nodes that a stream waits for, or adds to them.
    ///
    /// # Errors
    /// `INVALID_VALUE` for nodes of other graphs.
    pub(crate) fn set_frontier(&self, stream: &Stream, nodes: Vec<u64>, add: bool) -> Outcome<()> {
        self.check()?;
        let known = self.graph.nodes();
        if nodes.iter().any(|node| !known.contains(node)) {
            return Err(Code::INVALID_VALUE);
        }
        let mut members = self.members();
        let member = members.get_mut(&stream.id).ok_or(Code::ILLEGAL_STATE)?;
        if !add {
            let mut own = self.own();
            for gone in member.frontier.drain(..).filter(|node| !nodes.contains(node)) {
                own.remove(&gone);
            }
        }
        for node in nodes {
            if !member.frontier.contains(&node) {
                member.frontier.push(node);
            }
        }
        Ok(())
    }

    /// Whether the stream on which the capture started waits for all nodes that the capture made.
    fn is_joined(&self) -> bool {
        let edges = self.graph.edges();
        let members = self.members();
        let Some(origin) = members.get(&self.origin) else { return false };
        let awaited: BTreeSet<u64> = edges.into_iter().map(|(from, _)| from).collect();
        self.own().difference(&awaited).all(|node| origin.frontier.contains(node))
    }
}
