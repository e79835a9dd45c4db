// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals. Each operation has the strictest memory order of its variants.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use crate::hsa::abi::{Agent, AsyncFunction, EventHandler, Signal, SignalHandler};
use crate::hsa::call::{Call, hsa, hsa_value};
use crate::hsa::signal::{Comparison, SignalRef, SignalUse};
use crate::hsa::status::{Outcome, Status};

use super::memory::agents_of;

pub unsafe extern "C" fn hsa_signal_create(
    value: i64,
    count: u32,
    consumers: *const Agent,
    signal: *mut Signal,
) -> Status {
    hsa!(hsa_signal_create, |call| create(call, value, (count, consumers), 0, signal))
}

pub unsafe extern "C" fn hsa_amd_signal_create(
    value: i64,
    count: u32,
    consumers: *const Agent,
    attributes: u64,
    signal: *mut Signal,
) -> Status {
    hsa!(hsa_amd_signal_create, |call| create(call, value, (count, consumers), attributes, signal))
}

fn create(
    call: &Call,
    value: i64,
    (count, consumers): (u32, *const Agent),
    attributes: u64,
    signal: *mut Signal,
) -> Outcome<()> {
    /// The known attributes: only for GPUs, and shared between processes.
    const KNOWN: u64 = SHARED | 1;
    const SHARED: u64 = 2;
    if attributes & !KNOWN != 0 {
        return Err(Status::INVALID_ARGUMENT);
    }
    if signal.is_null() || (consumers.is_null() && count > 0) {
        return Err(Status::INVALID_ARGUMENT);
    }
    let consumers = agents_of(call, consumers, count)?;
    if consumers.iter().enumerate().any(|(index, one)| consumers[..index].contains(one)) {
        return Err(Status::INVALID_ARGUMENT);
    }
    let made = call.runtime.signals.create(value, SignalUse::User)?;
    if attributes & SHARED != 0 {
        call.runtime.signals.make_sharable(&made);
    }
    call.put(signal, made.handle())
}

pub unsafe extern "C" fn hsa_signal_destroy(signal: Signal) -> Status {
    hsa!(hsa_signal_destroy, |call| {
        if signal.handle == 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        let signal = call.runtime.signals.get(signal)?;
        if call.runtime.queues.own(&signal) {
            return call.refuse(Status::INVALID_SIGNAL, "the signals of a queue go with it");
        }
        call.runtime.signals.destroy(&signal);
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_signal_value_pointer(signal: Signal, pointer: *mut *mut i64) -> Status {
    hsa!(hsa_amd_signal_value_pointer, |call| {
        let signal = call.runtime.signals.get(signal)?;
        call.put(pointer, signal.value_address() as *mut i64)
    })
}

pub unsafe extern "C" fn hsa_amd_signal_async_handler(
    signal: Signal,
    condition: u32,
    value: i64,
    handler: Option<SignalHandler>,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_amd_signal_async_handler, |call| {
        let handler = handler.ok_or(Status::INVALID_ARGUMENT)?;
        let until = Comparison::new(condition, value)?;
        // Without a signal ROCr calls the handler once, soon.
        let signal = call.runtime.signals.get(signal)?;
        call.runtime.handle_signal(signal, until, handler, data)
    })
}

pub unsafe extern "C" fn hsa_amd_async_function(
    function: Option<AsyncFunction>,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_amd_async_function, |call| {
        call.runtime.call_soon(function.ok_or(Status::INVALID_ARGUMENT)?, data)
    })
}

pub unsafe extern "C" fn hsa_amd_register_system_event_handler(
    handler: Option<EventHandler>,
    data: *mut c_void,
) -> Status {
    hsa!(hsa_amd_register_system_event_handler, |call| {
        call.runtime.handlers.handle_events(handler.ok_or(Status::INVALID_ARGUMENT)?, data);
        Ok(())
    })
}

/// Changes a signal, and wakes its waiters. A store to a doorbell submits packets to its queue instead.
fn change<T>(call: &Call, signal: Signal, operation: impl FnOnce(&SignalRef) -> T) -> Outcome<T> {
    let signal = call.runtime.signals.get(signal)?;
    let result = operation(&signal);
    if signal.is_doorbell() {
        if let Some(queue) = call.runtime.queues.of_doorbell(&signal) {
            call.runtime.ring(&queue, signal.load());
        }
    } else {
        call.runtime.scheduler.notice();
    }
    Ok(result)
}

macro_rules! loads {
    ($($name:ident)*) => {$(
        pub unsafe extern "C" fn $name(signal: Signal) -> i64 {
            hsa_value!($name, 0, |call| Ok(call.runtime.signals.get(signal)?.load()))
        }
    )*};
}

macro_rules! stores {
    ($($name:ident)*) => {$(
        pub unsafe extern "C" fn $name(signal: Signal, value: i64) {
            hsa_value!($name, (), |call| {
                change(call, signal, |signal| signal.value().store(value, Ordering::SeqCst))
            })
        }
    )*};
}

macro_rules! updates {
    ($operation:ident: $($name:ident)*) => {$(
        pub unsafe extern "C" fn $name(signal: Signal, value: i64) {
            hsa_value!($name, (), |call| {
                change(call, signal, |signal| { signal.value().$operation(value, Ordering::SeqCst); })
            })
        }
    )*};
}

macro_rules! exchanges {
    ($($name:ident)*) => {$(
        pub unsafe extern "C" fn $name(signal: Signal, value: i64) -> i64 {
            hsa_value!($name, 0, |call| {
                change(call, signal, |signal| signal.value().swap(value, Ordering::SeqCst))
            })
        }
    )*};
}

macro_rules! compare_and_swaps {
    ($($name:ident)*) => {$(
        pub unsafe extern "C" fn $name(signal: Signal, expected: i64, value: i64) -> i64 {
            hsa_value!($name, 0, |call| {
                change(call, signal, |signal| {
                    let swapped =
                        signal.value().compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst);
                    swapped.unwrap_or_else(|found| found)
                })
            })
        }
    )*};
}

loads! { hsa_signal_load_relaxed hsa_signal_load_scacquire hsa_signal_load_acquire }

stores! {
    hsa_signal_store_relaxed hsa_signal_store_screlease hsa_signal_store_release
    hsa_signal_silent_store_relaxed hsa_signal_silent_store_screlease
}

exchanges! {
    hsa_signal_exchange_scacq_screl hsa_signal_exchange_acq_rel hsa_signal_exchange_scacquire
    hsa_signal_exchange_acquire hsa_signal_exchange_relaxed hsa_signal_exchange_screlease
    hsa_signal_exchange_release
}

compare_and_swaps! {
    hsa_signal_cas_scacq_screl hsa_signal_cas_acq_rel hsa_signal_cas_scacquire hsa_signal_cas_acquire
    hsa_signal_cas_relaxed hsa_signal_cas_screlease hsa_signal_cas_release
}

updates! { fetch_add:
    hsa_signal_add_scacq_screl hsa_signal_add_acq_rel hsa_signal_add_scacquire hsa_signal_add_acquire
    hsa_signal_add_relaxed hsa_signal_add_screlease hsa_signal_add_release
}

updates! { fetch_sub:
    hsa_signal_subtract_scacq_screl hsa_signal_subtract_acq_rel hsa_signal_subtract_scacquire
    hsa_signal_subtract_acquire hsa_signal_subtract_relaxed hsa_signal_subtract_screlease
    hsa_signal_subtract_release
}

updates! { fetch_and:
    hsa_signal_and_scacq_screl hsa_signal_and_acq_rel hsa_signal_and_scacquire hsa_signal_and_acquire
    hsa_signal_and_relaxed hsa_signal_and_screlease hsa_signal_and_release
}

updates! { fetch_or:
    hsa_signal_or_scacq_screl hsa_signal_or_acq_rel hsa_signal_or_scacquire hsa_signal_or_acquire
    hsa_signal_or_relaxed hsa_signal_or_screlease hsa_signal_or_release
}

updates! { fetch_xor:
    hsa_signal_xor_scacq_screl hsa_signal_xor_acq_rel hsa_signal_xor_scacquire hsa_signal_xor_acquire
    hsa_signal_xor_relaxed hsa_signal_xor_screlease hsa_signal_xor_release
}
