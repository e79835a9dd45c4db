// SPDX-License-Identifier: MIT OR Apache-2.0
//! User objects, which graphs keep alive. A handle of no object is no error, as in HIP.

use std::ffi::{c_int, c_uint, c_void};

use windlass_hip_sys::bindings::{hipError_t, hipGraph_t, hipHostFn_t, hipUserObject_t};

use super::graph::graph;
use crate::hip::words::code::{Code, Outcome};

/// hipUserObjectNoDestructorSync: nothing waits for the client's function.
const NO_DESTRUCTOR_SYNC: c_uint = 1;
/// hipGraphUserObjectMove: the graph takes references of the client's over.
const MOVE: c_uint = 1;

/// The number of references that a call adds or removes.
fn references(count: c_uint) -> Outcome<u64> {
    c_int::try_from(count).ok().filter(|count| *count > 0).ok_or(Code::INVALID_VALUE)?;
    Ok(count.into())
}

pub(in crate::hip) unsafe extern "C" fn hipUserObjectCreate(
    made: *mut hipUserObject_t,
    data: *mut c_void,
    destroy: hipHostFn_t,
    count: c_uint,
    flags: c_uint,
) -> hipError_t {
    hip!(hipUserObjectCreate, |call| {
        let destroy = destroy.filter(|_| !made.is_null() && flags == NO_DESTRUCTOR_SYNC);
        let (destroy, count) = (destroy.ok_or(Code::INVALID_VALUE)?, references(count)?);
        // SAFETY: HIP calls the function once, with the datum, and the client vouches for both.
        let handle = unsafe { call.runtime.graphs.objects.insert(destroy, data, count) };
        call.put(made, handle.ok_or(Code::OUT_OF_MEMORY)? as hipUserObject_t)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipUserObjectRelease(
    object: hipUserObject_t,
    count: c_uint,
) -> hipError_t {
    hip!(hipUserObjectRelease, |call| {
        let count = references(count)?;
        if object.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        call.runtime.scheduler.outside(|| call.runtime.graphs.objects.release(object as u64, count));
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipUserObjectRetain(
    object: hipUserObject_t,
    count: c_uint,
) -> hipError_t {
    hip!(hipUserObjectRetain, |call| {
        let count = references(count)?;
        if object.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        call.runtime.graphs.objects.retain(object as u64, count);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphRetainUserObject(
    handle: hipGraph_t,
    object: hipUserObject_t,
    count: c_uint,
    flags: c_uint,
) -> hipError_t {
    hip!(hipGraphRetainUserObject, |call| {
        let count = references(count)?;
        if object.is_null() || flags & !MOVE != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let (graph, objects, object) = (graph(call, handle)?, &call.runtime.graphs.objects, object as u64);
        let exists = if flags == MOVE { objects.count(object) > 0 } else { objects.retain(object, count) };
        if exists {
            graph.refer(object, count as i64);
        }
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGraphReleaseUserObject(
    handle: hipGraph_t,
    object: hipUserObject_t,
    count: c_uint,
) -> hipError_t {
    hip!(hipGraphReleaseUserObject, |call| {
        let count = references(count)?;
        if object.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let (graph, objects, object) = (graph(call, handle)?, &call.runtime.graphs.objects, object as u64);
        if graph.has_object(object) && objects.count(object) >= count {
            graph.refer(object, -(count as i64));
            call.runtime.scheduler.outside(|| objects.release(object, count));
        }
        Ok(())
    })
}
