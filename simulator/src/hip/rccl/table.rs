// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of RCCL's functions that the simulator has.

use windlass_hip_sys::rccl::Functions;

use super::{collective, communicator, group, making, query, words};

/// RCCL's functions. On threads that selected no simulator they use the process's own, as
/// [`process_entries`](crate::hip::process_entries) do.
pub fn process_rccl() -> Functions {
    FUNCTIONS
}

/// The version that `ncclGetVersion` answers beside a version of HIP.
pub(crate) fn version_of(hip: (u32, u32)) -> i32 {
    query::version_of(hip)
}

const FUNCTIONS: Functions = Functions {
    ncclGetVersion: query::ncclGetVersion,
    ncclGetErrorString: words::ncclGetErrorString,
    ncclGetUniqueId: making::ncclGetUniqueId,
    ncclCommInitRank: making::ncclCommInitRank,
    ncclCommDestroy: communicator::ncclCommDestroy,
    ncclCommAbort: communicator::ncclCommAbort,
    ncclCommGetAsyncError: query::ncclCommGetAsyncError,
    ncclCommCount: query::ncclCommCount,
    ncclCommUserRank: query::ncclCommUserRank,
    ncclCommCuDevice: query::ncclCommCuDevice,
    ncclGroupStart: group::ncclGroupStart,
    ncclGroupEnd: group::ncclGroupEnd,
    ncclAllReduce: collective::ncclAllReduce,
    ncclBroadcast: collective::ncclBroadcast,
    ncclReduce: collective::ncclReduce,
    ncclAllGather: collective::ncclAllGather,
    ncclReduceScatter: collective::ncclReduceScatter,
    ncclSend: collective::ncclSend,
    ncclRecv: collective::ncclRecv,
    ncclGetLastError: Some(words::ncclGetLastError),
    ncclCommInitRankConfig: Some(making::ncclCommInitRankConfig),
    ncclCommInitAll: Some(making::ncclCommInitAll),
    ncclCommSplit: Some(making::ncclCommSplit),
    ncclCommFinalize: Some(communicator::ncclCommFinalize),
    ncclBcast: Some(collective::ncclBcast),
    ncclAllToAll: Some(collective::ncclAllToAll),
    ncclGather: Some(collective::ncclGather),
    ncclScatter: Some(collective::ncclScatter),
    ncclRedOpCreatePreMulSum: Some(communicator::ncclRedOpCreatePreMulSum),
    ncclRedOpDestroy: Some(communicator::ncclRedOpDestroy),
};
