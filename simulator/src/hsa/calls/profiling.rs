// SPDX-License-Identifier: MIT OR Apache-2.0
//! The times at which packets and copies began and ended. A tick is a nanosecond, on every agent and on the
//! host.

use crate::hsa::abi::{Agent, HsaQueue, ProfilingTime, Signal};
use crate::hsa::call::{Call, hsa};
use crate::hsa::status::{Outcome, Status};

pub unsafe extern "C" fn hsa_amd_profiling_set_profiler_enabled(queue: *mut HsaQueue, enable: i32) -> Status {
    hsa!(hsa_amd_profiling_set_profiler_enabled, |call| {
        call.runtime.queues.get(queue)?.set_profiling(enable != 0);
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_profiling_async_copy_enable(_enable: bool) -> Status {
    // Copies are always timed.
    hsa!(hsa_amd_profiling_async_copy_enable, |_call| Ok(()))
}

pub unsafe extern "C" fn hsa_amd_profiling_get_dispatch_time(
    agent: Agent,
    signal: Signal,
    time: *mut ProfilingTime,
) -> Status {
    hsa!(hsa_amd_profiling_get_dispatch_time, |call| {
        call.runtime.gpu(agent)?;
        put(call, signal, time)
    })
}

pub unsafe extern "C" fn hsa_amd_profiling_get_async_copy_time(
    signal: Signal,
    time: *mut ProfilingTime,
) -> Status {
    hsa!(hsa_amd_profiling_get_async_copy_time, |call| put(call, signal, time))
}

fn put(call: &Call, signal: Signal, time: *mut ProfilingTime) -> Outcome<()> {
    let (start, end) = call.runtime.signals.get(signal)?.times();
    call.put(time, ProfilingTime { start, end })
}

pub unsafe extern "C" fn hsa_amd_profiling_convert_tick_to_system_domain(
    agent: Agent,
    tick: u64,
    system: *mut u64,
) -> Status {
    hsa!(hsa_amd_profiling_convert_tick_to_system_domain, |call| {
        call.runtime.gpu(agent)?;
        call.put(system, tick)
    })
}
