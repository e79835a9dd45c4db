// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stream capture: work that is recorded as a graph instead of being run.
//!
//! A capture starts on one stream. Other streams join it by waiting for an event that was recorded in it, and must be
//! waited for in turn before it ends. What a graph cannot hold is refused, and spoils the capture, as in HIP.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use crate::packet::Role;

use super::call;
use super::code::{Code, Outcome};
use super::event::Event;
use super::graph::{Graph, Node};
use super::node::Operation;
use super::runtime::Runtime;
use super::stream::Stream;

/// `hipStreamCaptureModeRelaxed`: calls that a capture cannot hold are nobody's business.
const RELAXED: u32 = 2;
/// `hipStreamCaptureModeThreadLocal`: they are refused to the capturing thread only.
const THREAD_LOCAL: u32 = 1;

/// One capture under way.
#[derive(Debug)]
pub(crate) struct Capture {
    /// Unlike that of any other capture of the simulator.
    pub(crate) id: u64,
    mode: u32,
    thread: ThreadId,
    /// The stream that it started on, and must end on.
    origin: u64,
    pub(crate) graph: Arc<Graph>,
    pub(crate) graph_handle: u64,
    spoilt: AtomicBool,
    over: AtomicBool,
    members: Mutex<BTreeMap<u64, Member>>,
}

/// A stream in a capture.
#[derive(Debug)]
struct Member {
    stream: Arc<Stream>,
    /// The nodes that whatever comes next on the stream waits for.
    frontier: Vec<u64>,
}

/// The captures of a simulator.
#[derive(Debug, Default)]
pub(crate) struct Captures {
    under_way: Mutex<Vec<Arc<Capture>>>,
    /// How many they are, for those who only want to know whether there are any.
    count: AtomicUsize,
    latest: AtomicUsize,
}

impl Captures {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Capture>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a capture.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_UNSUPPORTED` for the null stream, `ILLEGAL_STATE` for a stream that is being captured.
    pub(crate) fn begin(&self, runtime: &Runtime, stream: &Arc<Stream>, mode: u32) -> Outcome<()> {
        if mode > RELAXED {
            return Err(Code::INVALID_VALUE);
        }
        if stream.role == Role::Null {
            call::explain("the null stream cannot be captured".to_owned());
            return Err(Code::STREAM_CAPTURE_UNSUPPORTED);
        }
        let mut under_way = self.lock();
        if stream.capture().is_some() {
            return Err(Code::ILLEGAL_STATE);
        }
        let graph = Arc::new(Graph::for_capture(stream.device));
        let graph_handle = runtime.graphs.insert(graph.clone()).ok_or(Code::OUT_OF_MEMORY)?.get();
        let member = Member { stream: stream.clone(), frontier: Vec::new() };
        let capture = Arc::new(Capture {
            id: self.latest.fetch_add(1, Ordering::Relaxed) as u64 + 1,
            mode,
            thread: std::thread::current().id(),
            origin: stream.id,
            graph,
            graph_handle,
            spoilt: AtomicBool::new(false),
            over: AtomicBool::new(false),
            members: Mutex::new(BTreeMap::from([(stream.id, member)])),
        });
        stream.set_capture(Some(capture.clone()));
        under_way.push(capture);
        self.count.store(under_way.len(), Ordering::Release);
        Ok(())
    }

    /// Ends a capture on the stream that it started on. The handle of its graph.
    ///
    /// # Errors
    /// `ILLEGAL_STATE` for a stream that is not captured, `STREAM_CAPTURE_UNMATCHED` for one that only joined,
    /// `STREAM_CAPTURE_WRONG_THREAD` unless the capture is relaxed or the thread's own; then it goes on.
    /// `STREAM_CAPTURE_INVALIDATED` and `STREAM_CAPTURE_UNJOINED` end it without a graph.
    pub(crate) fn end(&self, runtime: &Runtime, stream: &Stream) -> Outcome<u64> {
        let capture = stream.capture().ok_or(Code::ILLEGAL_STATE)?;
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
                call::explain(
                    "a stream that joined the capture was not waited for before its end".to_owned(),
                );
                Err(Code::STREAM_CAPTURE_UNJOINED)
            }
            Err(code) => Err(code),
        };
        match outcome {
            Ok(_) => capture.graph.end_capture(),
            Err(_) => {
                runtime.discard_graph(capture.graph_handle);
            }
        }
        outcome
    }

    fn close(&self, capture: &Arc<Capture>) {
        let mut under_way = self.lock();
        under_way.retain(|other| other.id != capture.id);
        self.count.store(under_way.len(), Ordering::Release);
        capture.over.store(true, Ordering::Release);
        for member in capture.members().values() {
            member.stream.set_capture(None);
        }
    }

    /// Takes a stream that is about to be destroyed out of its capture, which is spoilt by that.
    pub(crate) fn leave(&self, runtime: &Runtime, stream: &Stream) {
        let Some(capture) = stream.capture() else { return };
        capture.spoil();
        if capture.origin == stream.id {
            self.close(&capture);
            runtime.discard_graph(capture.graph_handle);
        } else {
            capture.members().remove(&stream.id);
            stream.set_capture(None);
        }
    }

    /// Whether anything is captured.
    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Refuses work on the null stream while a blocking stream of the device is captured: the null stream would have to
    /// wait for what does not run.
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

    /// Whether the null stream of a device may not be used, since a blocking stream is captured.
    pub(crate) fn bar_null_stream(&self, device: usize) -> bool {
        self.any()
            && self.lock().iter().any(|capture| !capture.is_spoilt() && capture.holds_blocking_stream(device))
    }

    /// Refuses to wait for a device one of whose streams is captured.
    ///
    /// With `any`, of any device.
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

    /// Refuses a call that a capture cannot hold and that some GPUs' runtimes cannot make beside one, in the calling
    /// thread's mode.
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
        call::explain(reason.to_owned());
        Err(code)
    }
}

impl Capture {
    fn members(&self) -> MutexGuard<'_, BTreeMap<u64, Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
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

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    pub(crate) fn check(&self) -> Outcome<()> {
        if self.is_spoilt() { Err(Code::STREAM_CAPTURE_INVALIDATED) } else { Ok(()) }
    }

    /// Refuses a call on one of its streams that a graph cannot hold.
    pub(crate) fn refuse<T>(&self, name: &str) -> Outcome<T> {
        self.check()?;
        self.spoil();
        call::explain(format!("{name} cannot be captured: the stream was given to hipStreamBeginCapture"));
        Err(Code::STREAM_CAPTURE_UNSUPPORTED)
    }

    /// Refuses a question about an event that was recorded in this capture, which stands for no work.
    pub(crate) fn refuse_question<T>(&self, name: &str) -> Outcome<T> {
        if !self.is_over() {
            self.spoil();
        }
        call::explain(format!(
            "{name} was asked of an event that stands for a place in a graph: it was recorded in a capture"
        ));
        Err(Code::CAPTURED_EVENT)
    }

    /// Records work of a stream.
    pub(crate) fn add(&self, runtime: &Runtime, stream: &Stream, operation: Operation) -> Outcome<()> {
        self.check()?;
        let mut members = self.members();
        let member = members.get_mut(&stream.id).ok_or(Code::ILLEGAL_STATE)?;
        let node = Arc::new(Node::new(&self.graph, operation));
        let handle = runtime.nodes.insert(node.clone()).ok_or(Code::OUT_OF_MEMORY)?.get();
        self.graph.add(handle, node, member.frontier.clone())?;
        member.frontier = vec![handle];
        Ok(())
    }

    /// What whatever comes next on a stream waits for.
    pub(crate) fn frontier(&self, stream: &Stream) -> Vec<u64> {
        self.members().get(&stream.id).map(|member| member.frontier.clone()).unwrap_or_default()
    }

    /// Replaces what a stream waits for, or adds to it.
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
            member.frontier.clear();
        }
        for node in nodes {
            if !member.frontier.contains(&node) {
                member.frontier.push(node);
            }
        }
        Ok(())
    }

    /// Has a stream, which joins where it is in no capture, wait for what an event was captured behind.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_MERGE` for a stream of another capture, which is spoilt as this one is.
    pub(crate) fn join(self: &Arc<Self>, stream: &Arc<Stream>, frontier: &[u64]) -> Outcome<()> {
        self.check()?;
        match stream.capture() {
            Some(other) if other.id != self.id => {
                other.spoil();
                self.spoil();
                return Err(Code::STREAM_CAPTURE_MERGE);
            }
            Some(_) => {}
            None if stream.role == Role::Null => {
                self.spoil();
                return Err(Code::STREAM_CAPTURE_IMPLICIT);
            }
            None => {
                let member = Member { stream: stream.clone(), frontier: Vec::new() };
                self.members().insert(stream.id, member);
                stream.set_capture(Some(self.clone()));
            }
        }
        self.set_frontier(stream, frontier.to_vec(), true)
    }

    /// Refuses a wait for work outside of the capture.
    pub(crate) fn refuse_isolated<T>(&self) -> Outcome<T> {
        self.check()?;
        self.spoil();
        call::explain(
            "a captured stream cannot wait for an event that was recorded outside of its capture".to_owned(),
        );
        Err(Code::STREAM_CAPTURE_ISOLATION)
    }

    /// Records an event: it stands for this place in the graph.
    pub(crate) fn record(self: &Arc<Self>, stream: &Stream, event: &Event) -> Outcome<()> {
        self.check()?;
        event.capture(self.clone(), self.frontier(stream));
        Ok(())
    }

    /// Whether the stream that the capture started on waits for all that was captured.
    fn is_joined(&self) -> bool {
        let edges = self.graph.edges();
        let members = self.members();
        let Some(origin) = members.get(&self.origin) else { return false };
        let is_last = |node: &u64| edges.iter().all(|(from, _)| from != node);
        self.graph.nodes().iter().filter(|node| is_last(node)).all(|node| origin.frontier.contains(node))
    }
}
