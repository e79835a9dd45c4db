// SPDX-License-Identifier: MIT OR Apache-2.0
//! Waiting for signals.

use std::time::{Duration, Instant};

use crate::hsa::abi::Signal;
use crate::hsa::call::{Call, hsa_value};
use crate::hsa::signal::{Awaited, Comparison};
use crate::hsa::status::{Outcome, Status};
use crate::packet::Condition;

/// Checks of a signal before the thread gives up its turn, if the client asks for an active wait.
const ACTIVE_LOOKS: u32 = 200;

/// The end of a wait of this many ticks, which are nanoseconds; `None` if it lasts for ever.
fn deadline(ticks: u64) -> Option<Instant> {
    Instant::now().checked_add(Duration::from_nanos(ticks)).filter(|_| ticks != u64::MAX)
}

fn wait(
    call: &Call,
    signal: Signal,
    (condition, value): (u32, i64),
    timeout: u64,
    state: u32,
) -> Outcome<i64> {
    let signal = call.runtime.signals.get(signal)?;
    let awaited = Awaited { signal, until: Comparison::new(condition, value)? };
    if state == 1 && call.runtime.scheduler.schedule.is_none() {
        for _ in 0..ACTIVE_LOOKS {
            if awaited.holds() {
                break;
            }
            std::hint::spin_loop();
        }
    }
    call.runtime.scheduler.wait_until(&|| awaited.holds(), deadline(timeout))?;
    Ok(awaited.signal.load())
}

macro_rules! waits {
    ($($name:ident)*) => {$(
        pub unsafe extern "C" fn $name(
            signal: Signal,
            condition: u32,
            value: i64,
            timeout: u64,
            state: u32,
        ) -> i64 {
            hsa_value!($name, 0, |call| wait(call, signal, (condition, value), timeout, state))
        }
    )*};
}

waits! { hsa_signal_wait_scacquire hsa_signal_wait_relaxed hsa_signal_wait_acquire }

/// The signals of a list with the condition of each. Null handles are skipped.
fn awaited(
    call: &Call,
    count: u32,
    (signals, conditions, values): (*const Signal, *const u32, *const i64),
) -> Outcome<Vec<(usize, Awaited)>> {
    let (signals, conditions, values) =
        (call.list(signals, count)?, call.list(conditions, count)?, call.list(values, count)?);
    let each = signals.into_iter().zip(conditions).zip(values).enumerate();
    each.filter(|(_, ((signal, _), _))| signal.handle != 0)
        .map(|(index, ((signal, condition), value))| {
            let signal = call.runtime.signals.get(signal)?;
            Ok((index, Awaited { signal, until: Comparison::new(condition, value)? }))
        })
        .collect()
}

/// Waits for one of several signals. Returns its index in the list, or `u32::MAX` if no condition held in
/// time.
pub unsafe extern "C" fn hsa_amd_signal_wait_any(
    count: u32,
    signals: *mut Signal,
    conditions: *mut u32,
    values: *mut i64,
    timeout: u64,
    _state: u32,
    satisfying: *mut i64,
) -> u32 {
    hsa_value!(hsa_amd_signal_wait_any, u32::MAX, |call| {
        let awaited = awaited(call, count, (signals, conditions, values))?;
        if awaited.is_empty() {
            return call.refuse(Status::INVALID_ARGUMENT, "there is no signal to wait for");
        }
        let found = || awaited.iter().find(|(_, one)| one.holds());
        call.runtime.scheduler.wait_until(&|| found().is_some(), deadline(timeout))?;
        let Some((index, one)) = found() else { return Ok(u32::MAX) };
        if !satisfying.is_null() {
            call.put(satisfying, one.signal.load())?;
        }
        Ok(*index as u32)
    })
}

/// Waits for all of several signals. Returns zero, or `u32::MAX` if a condition did not hold in time.
pub unsafe extern "C" fn hsa_amd_signal_wait_all(
    count: u32,
    signals: *mut Signal,
    conditions: *mut u32,
    values: *mut i64,
    timeout: u64,
    _state: u32,
    satisfying: *mut i64,
) -> u32 {
    hsa_value!(hsa_amd_signal_wait_all, u32::MAX, |call| {
        let awaited = awaited(call, count, (signals, conditions, values))?;
        let all = || awaited.iter().all(|(_, one)| one.holds());
        if !call.runtime.scheduler.wait_until(&all, deadline(timeout))? {
            return Ok(u32::MAX);
        }
        if !satisfying.is_null() {
            for (index, one) in &awaited {
                call.put(satisfying.wrapping_add(*index), one.signal.load())?;
            }
        }
        Ok(0)
    })
}
