// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory and signals that are shared by handles, within one process.

use std::ffi::c_void;

use crate::hsa::abi::{Agent, IpcHandle, Signal};
use crate::hsa::call::hsa;
use crate::hsa::status::Status;
use crate::hsa::ticket::{Shared, Ticket};

use super::memory::agents_of;

pub unsafe extern "C" fn hsa_amd_ipc_memory_create(
    pointer: *mut c_void,
    size: usize,
    handle: *mut IpcHandle,
) -> Status {
    hsa!(hsa_amd_ipc_memory_create, |call| {
        let ticket = call.runtime.holdings.share(pointer as u64, size as u64)?;
        call.put(handle, ticket.handle(Shared::Memory))
    })
}

pub unsafe extern "C" fn hsa_amd_ipc_memory_attach(
    handle: *const IpcHandle,
    size: usize,
    count: u32,
    agents: *const Agent,
    mapped: *mut *mut c_void,
) -> Status {
    hsa!(hsa_amd_ipc_memory_attach, |call| {
        let ticket = Ticket::read(call.name, call.read(handle)?, Shared::Memory)?;
        if mapped.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        let agents = agents_of(call, agents, count)?;
        let (holdings, by) = (&call.runtime.holdings, call.describe());
        let base = call.runtime.attachments.attach(holdings, ticket, size as u64, &agents, by)?;
        call.put(mapped, base as *mut c_void)
    })
}

pub unsafe extern "C" fn hsa_amd_ipc_memory_detach(mapped: *mut c_void) -> Status {
    hsa!(hsa_amd_ipc_memory_detach, |call| {
        call.runtime.attachments.detach(mapped as u64, call.describe())
    })
}

pub unsafe extern "C" fn hsa_amd_ipc_signal_create(signal: Signal, handle: *mut IpcHandle) -> Status {
    hsa!(hsa_amd_ipc_signal_create, |call| {
        let signals = &call.runtime.signals;
        let Some(ticket) = signals.share(&signals.get(signal)?) else {
            return call.refuse(
                Status::INVALID_ARGUMENT,
                "the signal was not made by hsa_amd_signal_create with HSA_AMD_SIGNAL_IPC",
            );
        };
        call.put(handle, ticket.handle(Shared::Signal))
    })
}

pub unsafe extern "C" fn hsa_amd_ipc_signal_attach(handle: *const IpcHandle, signal: *mut Signal) -> Status {
    hsa!(hsa_amd_ipc_signal_attach, |call| {
        let ticket = Ticket::read(call.name, call.read(handle)?, Shared::Signal)?;
        if signal.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        call.put(signal, call.runtime.signals.attach(ticket)?)
    })
}
