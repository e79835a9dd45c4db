// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory and events of other processes. Each has a simulator of its own, on one machine.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use windlass_hip_sys::bindings::{
    hipError_t, hipEvent_t, hipIpcEventHandle_t, hipIpcMemHandle_t, hipMemAllocationHandleType,
    hipMemGenericAllocationHandle_t, hipMemPool_t, hipMemPoolPtrExportData,
};

use super::pool::FILE_DESCRIPTOR;
use super::{event, pool};
use crate::hip::boundary::call::Call;
use crate::hip::hardware::ledger::Origin;
use crate::hip::objects::event::{DISABLE_TIMING, Event, INTERPROCESS};
use crate::hip::objects::pool::Pool;
use crate::hip::objects::shared_event::SharedEvent;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::memory::sharing::{Content, SharedFile, TICKET, Ticket};

/// No descriptor is as large, and no address as small.
const DESCRIPTORS: usize = 1 << 16;

/// The ticket in a handle.
///
/// # Errors
/// `INVALID_VALUE` for bytes that are none.
fn ticket_of(call: &Call, bytes: [u8; TICKET]) -> Outcome<Ticket> {
    Ticket::from_bytes(&bytes).ok_or_else(|| {
        explain(format!("{}: the handle is damaged, or was not made by a simulated GPU", call.name));
        Code::INVALID_VALUE
    })
}

/// Refuses a ticket of this process, as AMD's HIP does.
fn of_another_process(call: &Call, ticket: &Ticket) -> Outcome<()> {
    if ticket.process != std::process::id() {
        return Ok(());
    }
    explain(format!("{}: the handle is of this process, which has the object already", call.name));
    Err(Code::INVALID_CONTEXT)
}

/// The ticket of device memory, for an address in it.
fn export(call: &Call, pointer: *const c_void) -> Outcome<Ticket> {
    let machine = &call.runtime.machine;
    let holding = machine.ledger.find(pointer as u64).ok_or(Code::INVALID_DEVICE_POINTER)?;
    if holding.managed || !matches!(holding.origin, Origin::Device | Origin::Pool) {
        explain(format!("{}: {pointer:?} is no device memory of this process", call.name));
        return Err(Code::INVALID_DEVICE_POINTER);
    }
    // The bytes move once, so nothing may write them meanwhile.
    let moved = call.runtime.scheduler.while_idle(|| machine.memory.export(holding.base))?;
    let Some(file) = moved else {
        explain(format!(
            "{}: other threads keep the devices busy, and the memory is not shared yet",
            call.name
        ));
        return Err(Code::OUT_OF_MEMORY);
    };
    let file = file.map_err(|error| {
        explain(format!("{}: {error}", call.name));
        Code::INVALID_VALUE
    })?;
    Ok(file.ticket(holding.size, pointer as u64 - holding.base, holding.device))
}

pub(in crate::hip) unsafe extern "C" fn hipIpcGetMemHandle(
    handle: *mut hipIpcMemHandle_t,
    pointer: *mut c_void,
) -> hipError_t {
    hip!(hipIpcGetMemHandle, |call| {
        if handle.is_null() || pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let ticket = export(call, pointer)?;
        call.put(handle.cast::<[u8; TICKET]>(), ticket.to_bytes())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipIpcOpenMemHandle(
    pointer: *mut *mut c_void,
    handle: hipIpcMemHandle_t,
    flags: c_uint,
) -> hipError_t {
    /// hipIpcMemLazyEnablePeerAccess.
    const LAZY: c_uint = 1;
    hip!(hipIpcOpenMemHandle, |call| {
        if pointer.is_null() || flags != LAZY {
            return Err(Code::INVALID_VALUE);
        }
        let ticket = ticket_of(call, handle.reserved.map(|byte| byte as u8))?;
        of_another_process(call, &ticket)?;
        if ticket.device as usize >= call.runtime.machine.devices.len() {
            return Err(Code::INVALID_VALUE);
        }
        let device = call.device()?.index;
        let machine = &call.runtime.machine;
        let place = (&*machine.memory, &machine.ledger);
        let address = machine.imports.open(place, device, ticket, None, call.describe())?;
        call.put(pointer, address as *mut c_void)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipIpcCloseMemHandle(pointer: *mut c_void) -> hipError_t {
    hip!(hipIpcCloseMemHandle, |call| {
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let machine = &call.runtime.machine;
        let holding = machine.ledger.find(pointer as u64).ok_or(Code::INVALID_HANDLE)?;
        let imported = holding.origin == Origin::Imported && holding.pool.is_none();
        if !imported || holding.base != pointer as u64 {
            return Err(Code::INVALID_HANDLE);
        }
        for device in &machine.devices {
            call.runtime.synchronize(device.index)?;
        }
        let place = (&*machine.memory, &machine.ledger);
        let closed = machine.imports.close(place, pointer as u64, call.describe());
        closed.map(|_| ()).ok_or(Code::INVALID_HANDLE)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipIpcGetEventHandle(
    handle: *mut hipIpcEventHandle_t,
    wanted: hipEvent_t,
) -> hipError_t {
    hip!(hipIpcGetEventHandle, |call| {
        if handle.is_null() || wanted.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let event = event::find(call, wanted)?;
        let Some(shared) = event.shared() else {
            explain(
                "hipIpcGetEventHandle: the event is of this process alone: create it with hipEventInterprocess and \
                 hipEventDisableTiming"
                    .to_owned(),
            );
            return Err(Code::INVALID_CONFIGURATION);
        };
        call.put(handle.cast::<[u8; TICKET]>(), shared.ticket(event.device).to_bytes())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipIpcOpenEventHandle(
    opened: *mut hipEvent_t,
    handle: hipIpcEventHandle_t,
) -> hipError_t {
    hip!(hipIpcOpenEventHandle, |call| {
        if opened.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let ticket = ticket_of(call, handle.reserved.map(|byte| byte as u8))?;
        of_another_process(call, &ticket)?;
        let device = call.device()?.index;
        let shared = SharedEvent::open(&ticket).map_err(|reason| {
            explain(format!("hipIpcOpenEventHandle: {reason}"));
            Code::INVALID_VALUE
        })?;
        let made = Event::sharing(device, DISABLE_TIMING | INTERPROCESS, shared);
        let handle = call.runtime.events.insert(Arc::new(made)).ok_or(Code::OUT_OF_MEMORY)?;
        call.put(opened, handle.get() as hipEvent_t)
    })
}

/// Gives a descriptor to the client. It is closed if there is no place for it.
fn give(call: &Call, place: *mut c_void, file: &SharedFile) -> Outcome<()> {
    if place.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let descriptor = file.descriptor().map_err(|reason| {
        explain(format!("{}: {reason}", call.name));
        Code::INVALID_VALUE
    })?;
    call.put(place.cast::<c_int>(), descriptor)
}

pub(in crate::hip) unsafe extern "C" fn hipMemExportToShareableHandle(
    place: *mut c_void,
    handle: hipMemGenericAllocationHandle_t,
    kind: hipMemAllocationHandleType,
    flags: u64,
) -> hipError_t {
    hip!(hipMemExportToShareableHandle, |call| {
        let memory = super::virtual_memory::virtual_memory(call)?;
        if flags != 0 || handle.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let physical = memory.physical(handle as u64)?;
        let bytes: &crate::memory::Physical = (*physical).as_ref();
        let file = bytes.shared().filter(|_| physical.shared_as == kind.0 && kind.0 == FILE_DESCRIPTOR);
        give(call, place, file.ok_or(Code::INVALID_VALUE)?)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemImportFromShareableHandle(
    handle: *mut hipMemGenericAllocationHandle_t,
    shared: *mut c_void,
    kind: hipMemAllocationHandleType,
) -> hipError_t {
    hip!(hipMemImportFromShareableHandle, |call| {
        let memory = super::virtual_memory::virtual_memory(call)?;
        if handle.is_null() || shared.is_null() || kind.0 != FILE_DESCRIPTOR {
            return Err(Code::INVALID_VALUE);
        }
        // HIP's documentation passes the descriptor itself, and versions of AMD's HIP a pointer to it.
        let descriptor = match shared as usize {
            small @ ..DESCRIPTORS => small as c_int,
            _ => call.get(shared.cast::<c_int>())?,
        };
        let device = call.device()?.index;
        let file = SharedFile::from_descriptor(Content::Memory, descriptor).map_err(|reason| {
            explain(format!("hipMemImportFromShareableHandle: {reason}"));
            Code::INVALID_VALUE
        })?;
        call.put(handle, memory.import(device, file)? as hipMemGenericAllocationHandle_t)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPoolExportToShareableHandle(
    place: *mut c_void,
    handle: hipMemPool_t,
    kind: hipMemAllocationHandleType,
    flags: c_uint,
) -> hipError_t {
    hip!(hipMemPoolExportToShareableHandle, |call| {
        if place.is_null() || handle.is_null() || flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let pool = pool::find(call, handle)?;
        let file = pool.shared.as_ref().filter(|_| kind.0 == FILE_DESCRIPTOR);
        give(call, place, file.ok_or(Code::INVALID_VALUE)?)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPoolImportFromShareableHandle(
    imported: *mut hipMemPool_t,
    shared: *mut c_void,
    kind: hipMemAllocationHandleType,
    flags: c_uint,
) -> hipError_t {
    hip!(hipMemPoolImportFromShareableHandle, |call| {
        if imported.is_null() || shared.is_null() || flags != 0 || kind.0 != FILE_DESCRIPTOR {
            return Err(Code::INVALID_VALUE);
        }
        let descriptor = c_int::try_from(shared as usize).map_err(|_| Code::OUT_OF_MEMORY)?;
        let file = SharedFile::from_descriptor(Content::Pool, descriptor).map_err(|reason| {
            explain(format!("hipMemPoolImportFromShareableHandle: {reason}"));
            Code::OUT_OF_MEMORY
        })?;
        // As in AMD's HIP, the pool is of the first device, and can be exported again.
        let made = Pool::new(0, false, 0).shared_by(Some(file));
        let handle = call.runtime.pools.insert(Arc::new(made)).ok_or(Code::OUT_OF_MEMORY)?;
        call.put(imported, handle.get() as hipMemPool_t)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPoolExportPointer(
    data: *mut hipMemPoolPtrExportData,
    pointer: *mut c_void,
) -> hipError_t {
    hip!(hipMemPoolExportPointer, |call| {
        if data.is_null() || pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let ticket = export(call, pointer).map_err(|_| Code::OUT_OF_MEMORY)?;
        call.put(data.cast::<[u8; TICKET]>(), ticket.to_bytes())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPoolImportPointer(
    pointer: *mut *mut c_void,
    handle: hipMemPool_t,
    data: *mut hipMemPoolPtrExportData,
) -> hipError_t {
    hip!(hipMemPoolImportPointer, |call| {
        if pointer.is_null() || handle.is_null() || data.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let pool = pool::find(call, handle)?;
        let ticket =
            ticket_of(call, call.get(data.cast::<[u8; TICKET]>())?).map_err(|_| Code::OUT_OF_MEMORY)?;
        let (machine, device) = (&call.runtime.machine, pool.device);
        let place = (&*machine.memory, &machine.ledger);
        let opened = machine.imports.open(place, device, ticket, Some(pool), call.describe());
        call.put(pointer, opened.map_err(|_| Code::OUT_OF_MEMORY)? as *mut c_void)
    })
}
