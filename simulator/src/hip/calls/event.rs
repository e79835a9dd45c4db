// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events.

use std::ffi::c_uint;
use std::sync::Arc;

use windlass_hip_sys::bindings::{hipError_t, hipEvent_t, hipStream_t};

use crate::hip::boundary::call::Call;
use crate::hip::boundary::target::Target;
use crate::hip::graphs::operation::Operation;
use crate::hip::objects::event::{DISABLE_TIMING, Event, INTERPROCESS, Mark, Recording};
use crate::hip::objects::shared_event::SharedEvent;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::item::Work;
use crate::memory::Memory;
use crate::packet::Role;

/// Blocking sync, no timing, interprocess; and AMD's own: no fence, release to device, release to system.
const FLAGS: u32 = 0x1 | DISABLE_TIMING | INTERPROCESS | NO_FENCE | 0x4000_0000 | 0x8000_0000;
/// HIP 5 lacks this flag.
const NO_FENCE: u32 = 0x2000_0000;

fn create(call: &Call, event: *mut hipEvent_t, flags: c_uint) -> Outcome<()> {
    let both_releases = flags & 0xc000_0000 == 0xc000_0000;
    let timed_interprocess = flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS;
    let known = if call.is_since(6) { FLAGS } else { FLAGS & !NO_FENCE };
    if event.is_null() {
        return Err(Code::INVALID_HANDLE);
    }
    if flags & !known != 0 || both_releases || timed_interprocess {
        return Err(Code::INVALID_VALUE);
    }
    let device = call.device()?.index;
    // On other systems than Linux such an event is of this process alone.
    let made = if flags & INTERPROCESS == 0 || !Memory::HAS_PHYSICAL {
        Event::new(device, flags)
    } else {
        let shared = SharedEvent::new().map_err(|reason| {
            explain(format!("{}: {reason}", call.name));
            Code::OUT_OF_MEMORY
        })?;
        Event::sharing(device, flags, shared)
    };
    let made = Arc::new(made);
    let handle = call.runtime.events.insert(made).ok_or(Code::OUT_OF_MEMORY)?;
    call.put(event, handle.get() as hipEvent_t)
}

pub(super) fn find(call: &Call, event: hipEvent_t) -> Outcome<Arc<Event>> {
    call.runtime.events.get(event as u64).ok_or(Code::INVALID_HANDLE)
}

/// Records an event. In a capture it stands for a place in the graph; an `external` one is recorded by the graph.
pub(super) fn record(call: &Call, event: hipEvent_t, stream: hipStream_t, external: bool) -> Outcome<()> {
    let (event, handle) = (find(call, event)?, event as u64);
    let target = call.target(stream)?;
    let (Target::Run(stream) | Target::Record(_, stream)) = &target;
    if stream.device != event.device {
        return Err(Code::INVALID_HANDLE);
    }
    if let Target::Record(capture, stream) = &target {
        return match external {
            true => capture.add(stream, Operation::Record(event, handle)),
            false => capture.record(stream, &event),
        };
    }
    event.record(|| {
        let mark = Arc::new(Mark::on(stream));
        let point = call.runtime.enqueue(stream, Work::Stamp(mark.clone()), &[])?;
        Ok(Recording { point, mark, is_on_stream: stream.role != Role::Null })
    })
}

/// Whether the latest recording of any process is reached.
fn is_reached_anywhere(shared: &Arc<SharedEvent>) -> bool {
    shared.latest().is_none_or(|latest| latest.is_over())
}

/// Waits for the latest recording of any process.
fn wait_anywhere(call: &Call, event: &Event) -> Outcome<()> {
    let Some(edge) = event.edge() else { return Ok(()) };
    // A queue of its own waits, and the scheduler does all other work meanwhile.
    let queue = call.runtime.create_stream(event.device, Role::NonBlocking, 0);
    let point = call.runtime.enqueue(&queue, Work::Nothing, &[edge]);
    let waited = point.and_then(|point| Ok(call.runtime.scheduler.wait(&[point])?));
    call.runtime.scheduler.close_queue(&queue);
    waited
}

pub(in crate::hip) unsafe extern "C" fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t {
    hip!(hipEventCreate, |call| create(call, event, 0))
}

pub(in crate::hip) unsafe extern "C" fn hipEventCreateWithFlags(
    event: *mut hipEvent_t,
    flags: c_uint,
) -> hipError_t {
    hip!(hipEventCreateWithFlags, |call| create(call, event, flags))
}

pub(in crate::hip) unsafe extern "C" fn hipEventDestroy(event: hipEvent_t) -> hipError_t {
    // A recording in a stream outlives its event.
    hip!(hipEventDestroy, |call| match call.runtime.events.remove(event as u64) {
        Some(_) => Ok(()),
        None if event.is_null() => Err(Code::INVALID_HANDLE),
        None => Err(Code::CONTEXT_IS_DESTROYED),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t {
    hip!(hipEventRecord, |call| record(call, event, stream, false))
}

pub(in crate::hip) unsafe extern "C" fn hipEventRecordWithFlags(
    event: hipEvent_t,
    stream: hipStream_t,
    flags: c_uint,
) -> hipError_t {
    // 1 is hipEventRecordExternal.
    hip!(hipEventRecordWithFlags, |call| match flags {
        0 | 1 => record(call, event, stream, flags == 1),
        _ => Err(Code::INVALID_VALUE),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipEventQuery(event: hipEvent_t) -> hipError_t {
    hip!(hipEventQuery, |call| {
        let event = find(call, event)?;
        if let Some(place) = event.captured() {
            return call.runtime.captures.refuse_question(&place, call.name);
        }
        let recording = event.recording();
        let reached = match event.shared() {
            Some(shared) => is_reached_anywhere(shared),
            None => recording.as_ref().is_none_or(|recording| recording.point.is_reached()),
        };
        call.runtime.machine.device(event.device)?.check()?;
        if !reached {
            return Err(Code::NOT_READY);
        }
        recording.map_or(Ok(()), |recording| recording.check())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipEventSynchronize(event: hipEvent_t) -> hipError_t {
    hip!(hipEventSynchronize, |call| {
        let event = find(call, event)?;
        if let Some(place) = event.captured() {
            return call.runtime.captures.refuse_question(&place, call.name);
        }
        let recording = event.recording();
        if call.is_since(6) && recording.as_ref().is_some_and(|recording| recording.is_on_stream) {
            call.outside_captures()?;
        }
        if event.shared().is_some() {
            wait_anywhere(call, &event)?;
        }
        if let Some(recording) = &recording {
            call.runtime.scheduler.wait(std::slice::from_ref(&recording.point))?;
            call.runtime.release_pools(event.device);
        }
        call.runtime.machine.device(event.device)?.check()?;
        recording.map_or(Ok(()), |recording| recording.check())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipEventElapsedTime(
    ms: *mut f32,
    start: hipEvent_t,
    stop: hipEvent_t,
) -> hipError_t {
    hip!(hipEventElapsedTime, |call| {
        if ms.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let (start, stop) = (find(call, start)?, find(call, stop)?);
        if start.device != stop.device {
            explain(
                "the time between events of two devices is unknown: record both on streams of one".to_owned(),
            );
            return Err(Code::INVALID_HANDLE);
        }
        call.runtime.machine.device(start.device)?.check()?;
        call.put(ms, start.milliseconds_until(&stop)?)
    })
}
