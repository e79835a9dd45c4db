// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams, events and host functions.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::entry::{INVALID_VALUE, Outcome, current_device, entry_points, finish, put};
use crate::bindings::*;
use crate::null::call::Call;
use crate::null::calls::Function;
use crate::null::work::{Event, Stream, UserData};

const INVALID_HANDLE: hipError_t = hipError_t::hipErrorInvalidHandle;

/// # Safety
///
/// `target` is null or valid for a write.
unsafe fn create_stream(
    call: &Call<'_>,
    target: *mut hipStream_t,
    flags: c_uint,
    priority: c_int,
) -> Outcome {
    if target.is_null() || flags > hipStreamNonBlocking {
        return Err(INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { put(target, Stream::new(current_device(call), flags, priority).into_handle()) }?;
    call.instance.streams.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// # Safety
///
/// `target` is null or valid for a write.
unsafe fn create_event(call: &Call<'_>, target: *mut hipEvent_t, flags: c_uint) -> Outcome {
    if target.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { put(target, Event::new(flags).into_handle()) }?;
    call.instance.events.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// The position of a stream's latest work. The null stream waits for every other.
///
/// # Safety
///
/// The handle is valid.
unsafe fn position_of(call: &Call<'_>, stream: hipStream_t) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { Stream::from_handle(stream) }.map_or_else(|| call.instance.timeline.latest(), Stream::position)
}

/// # Safety
///
/// Both handles are valid.
unsafe fn record(call: &Call<'_>, event: hipEvent_t, stream: hipStream_t) -> Outcome {
    // SAFETY: as the caller promises.
    let event = unsafe { Event::from_handle(event) }?;
    // SAFETY: as the caller promises.
    let position = call.instance.timeline.enqueue(unsafe { Stream::from_handle(stream) });
    if event.flags & hipEventDisableTiming == 0 {
        *event.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
    event.record(position);
    Ok(())
}

/// The recording time of a completed event.
///
/// # Safety
///
/// The handle is valid.
unsafe fn time_of(call: &Call<'_>, event: hipEvent_t) -> Result<Instant, hipError_t> {
    // SAFETY: as the caller promises.
    let event = unsafe { Event::from_handle(event) }?;
    let recorded = *event.recorded.lock().unwrap_or_else(PoisonError::into_inner);
    let recorded = recorded.ok_or(INVALID_HANDLE)?;
    call.instance.timeline.query(event.position())?;
    Ok(recorded)
}

entry_points! {
    fill:
    fn hipStreamCreate(call, target: *mut hipStream_t) {
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { create_stream(&call, target, hipStreamDefault, 0) }
    }
    fn hipStreamCreateWithFlags(call, target: *mut hipStream_t, flags: c_uint) {
        // SAFETY: as above.
        unsafe { create_stream(&call, target, flags, 0) }
    }
    fn hipStreamCreateWithPriority(call, target: *mut hipStream_t, flags: c_uint, priority: c_int) {
        // SAFETY: as above.
        unsafe { create_stream(&call, target, flags, priority) }
    }
    fn hipStreamDestroy(call, stream: hipStream_t) {
        if stream.addr() <= 2 {
            return Err(INVALID_HANDLE);
        }
        // SAFETY: the caller's stream, which it gives up.
        drop(unsafe { Box::from_raw(stream.cast::<Stream>()) });
        call.instance.streams.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
    fn hipStreamQuery(call, stream: hipStream_t) {
        // SAFETY: the caller's stream.
        call.instance.timeline.query(unsafe { position_of(&call, stream) })
    }
    fn hipStreamSynchronize(call, stream: hipStream_t) {
        // SAFETY: the caller's stream.
        call.instance.timeline.wait(unsafe { position_of(&call, stream) });
        Ok(())
    }
    fn hipStreamWaitEvent(call, stream: hipStream_t, event: hipEvent_t, _flags: c_uint) {
        // SAFETY: the caller's event and stream.
        unsafe {
            let position = Event::from_handle(event)?.position();
            if let Some(stream) = Stream::from_handle(stream) {
                stream.advance(position);
            }
        }
        Ok(())
    }
    fn hipStreamGetFlags(call, stream: hipStream_t, flags: *mut c_uint) {
        // SAFETY: the caller's stream and pointer.
        unsafe { put(flags, Stream::from_handle(stream).map_or(hipStreamDefault, |stream| stream.flags)) }
    }
    fn hipStreamGetPriority(call, stream: hipStream_t, priority: *mut c_int) {
        // SAFETY: the caller's stream and pointer.
        unsafe { put(priority, Stream::from_handle(stream).map_or(0, |stream| stream.priority)) }
    }
    fn hipStreamGetDevice(call, stream: hipStream_t, device: *mut hipDevice_t) {
        // SAFETY: the caller's stream and pointer.
        unsafe { put(device, Stream::from_handle(stream).map_or(current_device(&call), |stream| stream.device)) }
    }
    fn hipLaunchHostFunc(call, stream: hipStream_t, function: hipHostFn_t, data: *mut c_void) {
        let function = function.ok_or(INVALID_VALUE)?;
        let data = UserData(data);
        // SAFETY: the caller's stream, which is alive until the work on it is complete.
        let stream = unsafe { Stream::from_handle(stream) };
        call.instance.timeline.host_call(stream, Box::new(move || {
            let UserData(data) = { data };
            // SAFETY: the caller's function with its own data.
            unsafe { function(data) }
        }));
        Ok(())
    }
    fn hipEventCreate(call, target: *mut hipEvent_t) {
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { create_event(&call, target, hipEventDefault) }
    }
    fn hipEventCreateWithFlags(call, target: *mut hipEvent_t, flags: c_uint) {
        // SAFETY: as above.
        unsafe { create_event(&call, target, flags) }
    }
    fn hipEventDestroy(call, event: hipEvent_t) {
        if event.is_null() {
            return Err(INVALID_HANDLE);
        }
        // SAFETY: the caller's event, which it gives up.
        drop(unsafe { Box::from_raw(event.cast::<Event>()) });
        call.instance.events.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }
    fn hipEventRecord(call, event: hipEvent_t, stream: hipStream_t) {
        // SAFETY: the caller's event and stream.
        unsafe { record(&call, event, stream) }
    }
    fn hipEventRecordWithFlags(call, event: hipEvent_t, stream: hipStream_t, _flags: c_uint) {
        // SAFETY: the caller's event and stream.
        unsafe { record(&call, event, stream) }
    }
    fn hipEventQuery(call, event: hipEvent_t) {
        // SAFETY: the caller's event.
        call.instance.timeline.query(unsafe { Event::from_handle(event) }?.position())
    }
    fn hipEventSynchronize(call, event: hipEvent_t) {
        // SAFETY: the caller's event.
        call.instance.timeline.wait(unsafe { Event::from_handle(event) }?.position());
        Ok(())
    }
    fn hipEventElapsedTime(call, milliseconds: *mut f32, start: hipEvent_t, stop: hipEvent_t) {
        // SAFETY: the caller's events.
        let (start, stop) = unsafe { (time_of(&call, start)?, time_of(&call, stop)?) };
        // SAFETY: the caller's pointer, as HIP documents it.
        unsafe { put(milliseconds, stop.saturating_duration_since(start).as_secs_f32() * 1000.0) }
    }
}
