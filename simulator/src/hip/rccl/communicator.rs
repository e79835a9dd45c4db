// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of communicators, and their reductions with factors.

use std::ffi::c_void;

use windlass_hip_sys::rccl::*;

use super::frame::{Answer, member, put, rccl, seat, wrong};
use crate::hip::boundary::call::Call;
use crate::hip::collectives::member::Factor;

pub(super) unsafe extern "C" fn ncclCommFinalize(comm: ncclComm_t) -> ncclResult_t {
    rccl!(ncclCommFinalize, |call| {
        let member = member(call, comm)?;
        seat(&member)?;
        if !member.finalize() {
            return super::frame::misuse("the communicator was finalized before");
        }
        Ok(())
    })
}

fn remove(call: &Call, comm: ncclComm_t) -> Answer<std::sync::Arc<crate::hip::collectives::member::Member>> {
    let member = member(call, comm)?;
    call.runtime.collectives.members.remove(comm as u64);
    Ok(member)
}

pub(super) unsafe extern "C" fn ncclCommDestroy(comm: ncclComm_t) -> ncclResult_t {
    rccl!(ncclCommDestroy, |call| {
        if comm.is_null() {
            return Ok(());
        }
        let member = remove(call, comm)?;
        // Other ranks must not wait for one that will not come.
        if member.seat().is_none() {
            member.abort();
            call.runtime.scheduler.notice();
        }
        Ok(())
    })
}

pub(super) unsafe extern "C" fn ncclCommAbort(comm: ncclComm_t) -> ncclResult_t {
    rccl!(ncclCommAbort, |call| {
        if comm.is_null() {
            return Ok(());
        }
        remove(call, comm)?.abort();
        call.runtime.scheduler.notice();
        Ok(())
    })
}

pub(super) unsafe extern "C" fn ncclRedOpCreatePreMulSum(
    op: *mut ncclRedOp_t,
    scalar: *mut c_void,
    datatype: ncclDataType_t,
    residence: ncclScalarResidence_t,
    comm: ncclComm_t,
) -> ncclResult_t {
    rccl!(ncclRedOpCreatePreMulSum, |call| {
        let member = member(call, comm)?;
        seat(&member)?;
        let Some(size) = datatype.size() else {
            return wrong(format!("{datatype:?} is no type of elements"));
        };
        if scalar.is_null() {
            return wrong("the pointer to the scalar is null");
        }
        let factor = match residence {
            ncclScalarResidence_t::ncclScalarDevice => Factor::At(scalar as u64),
            ncclScalarResidence_t::ncclScalarHostImmediate => {
                let read = call.get_bytes(scalar.cast_const(), size).map_err(super::frame::hip)?;
                let mut bytes = [0; 8];
                bytes.iter_mut().zip(read).for_each(|(to, byte)| *to = byte);
                Factor::Given(bytes)
            }
            other => return wrong(format!("{other:?} is no residence of a scalar")),
        };
        if op.is_null() {
            return wrong("the pointer to the reduction is null");
        }
        let number = member.add_factor(datatype, factor);
        put(call, op, ncclRedOp_t(ncclRedOp_t::ncclNumOps + number as u32), "to the reduction")
    })
}

pub(super) unsafe extern "C" fn ncclRedOpDestroy(op: ncclRedOp_t, comm: ncclComm_t) -> ncclResult_t {
    rccl!(ncclRedOpDestroy, |call| {
        let member = member(call, comm)?;
        match op.0.checked_sub(ncclRedOp_t::ncclNumOps) {
            Some(number) if member.remove_factor(number as usize) => Ok(()),
            _ => wrong(format!(
                "{op:?} is no reduction that ncclRedOpCreatePreMulSum made for this communicator"
            )),
        }
    })
}
