// SPDX-License-Identifier: MIT OR Apache-2.0
//! Questions about communicators, and the version.

use std::ffi::c_int;

use windlass_hip_sys::rccl::*;

use super::frame::{member, put, rccl, seat};

/// The RCCL that ROCm of a version has.
pub(super) fn version_of(hip: (u32, u32)) -> c_int {
    match hip {
        (..=5, ..=3) | (..=4, _) => 21_104,
        (5, 4) => 21_204,
        (5, 5) => 21_501,
        (5, 6) => 21_504,
        (5, _) => 21_701,
        (6, 0) => 21_803,
        (6, 1) => 21_806,
        (6, 2) => 22_005,
        (6, 3) => 22_105,
        (6, _) => 22_203,
        (7, 0) => 22_606,
        _ => 22_707,
    }
}

pub(super) unsafe extern "C" fn ncclGetVersion(version: *mut c_int) -> ncclResult_t {
    rccl!(ncclGetVersion, |call| put(call, version, version_of(call.runtime.options.hip), "to the version"))
}

pub(super) unsafe extern "C" fn ncclCommGetAsyncError(
    comm: ncclComm_t,
    error: *mut ncclResult_t,
) -> ncclResult_t {
    rccl!(ncclCommGetAsyncError, |call| {
        let member = member(call, comm)?;
        let result = match (member.trouble(), member.seat()) {
            (Some(trouble), _) => {
                super::words::note(trouble.words.clone());
                trouble.result
            }
            (None, Some(_)) => ncclResult_t::ncclSuccess,
            (None, None) => ncclResult_t::ncclInProgress,
        };
        put(call, error, result, "to the error")
    })
}

pub(super) unsafe extern "C" fn ncclCommCount(comm: ncclComm_t, count: *mut c_int) -> ncclResult_t {
    rccl!(ncclCommCount, |call| {
        let member = member(call, comm)?;
        put(call, count, seat(&member)?.clique.ranks as c_int, "to the count")
    })
}

pub(super) unsafe extern "C" fn ncclCommUserRank(comm: ncclComm_t, rank: *mut c_int) -> ncclResult_t {
    rccl!(ncclCommUserRank, |call| {
        let member = member(call, comm)?;
        put(call, rank, seat(&member)?.rank as c_int, "to the rank")
    })
}

pub(super) unsafe extern "C" fn ncclCommCuDevice(comm: ncclComm_t, device: *mut c_int) -> ncclResult_t {
    rccl!(ncclCommCuDevice, |call| {
        let member = member(call, comm)?;
        put(call, device, member.device as c_int, "to the device")
    })
}
