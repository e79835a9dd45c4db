// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events: points of streams.

use std::{
    ffi::c_void,
    ptr,
    sync::{Arc, Mutex},
};

use facade::Point;

use crate::{
    boundary::call,
    handles::{Kind, Table},
    order::stream_of,
    stream::{Stream, lock},
};

/// An event: the point that its last recording marked, with the stream. Empty without a recording, and where all work
/// was done.
#[derive(Default)]
struct Event(Mutex<Option<(Arc<Stream>, Point)>>);

impl Kind for Event {
    const NAME: &'static str = "event";
    const TAG: usize = 0x52;
    fn table() -> &'static Table<Self> {
        static TABLE: Table<Event> = Table::new();
        &TABLE
    }
}

/// Makes an event.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuEventCreate() -> *mut c_void {
    call(ptr::null_mut(), || "mgpuEventCreate()", || Ok(Event::table().insert(Arc::default())))
}

/// Ends an event. Streams that wait for it go on waiting.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuEventDestroy(event: *mut c_void) {
    call((), || format!("mgpuEventDestroy({event:p})"), || Event::table().remove(event).map(drop));
}

/// Marks the end of the work that a stream has now.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuEventRecord(event: *mut c_void, stream: *mut c_void) {
    call(
        (),
        || format!("mgpuEventRecord({event:p}, {stream:p})"),
        || {
            let event = Event::table().get(event)?;
            let stream = stream_of(stream)?;
            let point = stream.mark()?;
            *lock(&event.0) = point.map(|point| (stream, point));
            Ok(())
        },
    );
}

/// Blocks until the work that the event marks is done. An event without a recording marks none.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuEventSynchronize(event: *mut c_void) {
    call(
        (),
        || format!("mgpuEventSynchronize({event:p})"),
        || {
            let marked = lock(&Event::table().get(event)?.0).clone();
            if let Some((stream, point)) = marked {
                stream.wait_for(&point);
            }
            Ok(())
        },
    );
}

/// Lets the later work of a stream wait for the work that the event marks now, without the host.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuStreamWaitEvent(stream: *mut c_void, event: *mut c_void) {
    call(
        (),
        || format!("mgpuStreamWaitEvent({stream:p}, {event:p})"),
        || {
            let stream = stream_of(stream)?;
            let marked = lock(&Event::table().get(event)?.0).clone();
            if let Some((other, point)) = marked
                && !stream.same(&other)
            {
                stream.join(point);
            }
            Ok(())
        },
    );
}
