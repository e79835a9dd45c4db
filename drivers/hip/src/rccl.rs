// SPDX-License-Identifier: MIT OR Apache-2.0
//! RCCL's calls, with errors of the HAL. A communicator is not blocking: a call that other ranks must answer begins, and
//! [`Communicator::state`] tells of its end.
//!
//! The unsafe calls here are sound because a communicator is used by one thread at a time, is not used after it was given
//! up, and works on memory that the submission or the line of the channel keeps until RCCL's work has ended.

use std::{
    ffi::{CStr, c_void},
    mem, ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

use windlass_hal::{
    Buffer, ChannelId, Code, Collective, CollectiveKind, ElementType, Error, Pattern, Reduction, Result,
};
use windlass_hip_sys::rccl::{
    NCCL_SPLIT_NOCOLOR, Rccl, ncclComm, ncclComm_t, ncclConfig_t, ncclDataType_t, ncclRedOp_t, ncclResult_t,
    ncclUniqueId,
};

use crate::{call::StreamHandle, stream::Stream};

/// A communicator of RCCL. Give it up with [`abort`](Self::abort) or [`destroy`](Self::destroy).
pub(crate) struct Communicator {
    rccl: Rccl,
    place: Place,
    rank: u32,
    count: u32,
}

/// The stage of what a communicator was asked for last.
pub(crate) enum Stage {
    /// Other ranks have not answered.
    Running,
    Done,
}

/// A new name for communicators.
pub(crate) fn channel_id(rccl: &Rccl) -> Result<ChannelId> {
    let mut id = ncclUniqueId::default();
    // SAFETY: a pointer to a local.
    check(rccl, "ncclGetUniqueId", unsafe { rccl.ncclGetUniqueId(&mut id) })?;
    Ok(ChannelId::from_bytes(id.internal.map(|byte| byte as u8)))
}

impl Communicator {
    /// Begins to join. The GPU is current.
    pub(crate) fn join(rccl: &Rccl, id: &ChannelId, rank: u32, count: u32) -> Result<Self> {
        let mut version = 0;
        // SAFETY: a pointer to a local.
        check(rccl, "ncclGetVersion", unsafe { rccl.ncclGetVersion(&mut version) })?;
        let mut config = ncclConfig_t::undefined(version);
        config.blocking = 0;
        let (internal, place) = (id.bytes().map(|byte| byte as _), Place::default());
        // SAFETY: the place is in a box, which is kept until the communicator is given up.
        let begun = unsafe {
            rccl.ncclCommInitRankConfig(
                place.pointer(),
                count as i32,
                ncclUniqueId { internal },
                rank as i32,
                &mut config,
            )
        };
        let begun = begun.ok_or_else(|| without_config(rccl))?;
        let joined = Self { rccl: rccl.clone(), place, rank, count };
        match joined.check("ncclCommInitRankConfig", begun) {
            Ok(()) => Ok(joined),
            Err(error) => {
                if !joined.comm().is_null() {
                    joined.abort();
                }
                Err(error)
            }
        }
    }

    /// Begins a split. The second is the place of the new communicator, which [`split_off`](Self::split_off) takes over
    /// when the split has ended. The GPU is current.
    pub(crate) fn split(&self, membership: Option<(u32, u32)>, place: &Place) -> Result<()> {
        let (color, key) =
            membership.map_or((NCCL_SPLIT_NOCOLOR, 0), |(color, rank)| (color as i32, rank as i32));
        // SAFETY: the place is in a box, where it stays until the split has ended or its communicator was aborted.
        let begun =
            unsafe { self.rccl.ncclCommSplit(self.comm(), color, key, place.pointer(), ptr::null_mut()) };
        self.check("ncclCommSplit", begun.ok_or_else(|| without_split(&self.rccl))?)
    }

    /// The communicator that a split has made.
    pub(crate) fn split_off(&self, place: Place, rank: u32, count: u32) -> Result<Self> {
        if place.comm().is_null() {
            return Err(Error::internal("ncclCommSplit made no communicator"));
        }
        Ok(Self { rccl: self.rccl.clone(), place, rank, count })
    }

    /// Checks that RCCL counts the ranks as the program does. Joined communicators only.
    pub(crate) fn check_ranks(&self) -> Result<()> {
        let (mut rank, mut count) = (0, 0);
        // SAFETY: a pointer to a local, here and below.
        self.check("ncclCommUserRank", unsafe { self.rccl.ncclCommUserRank(self.comm(), &mut rank) })?;
        // SAFETY: as above.
        self.check("ncclCommCount", unsafe { self.rccl.ncclCommCount(self.comm(), &mut count) })?;
        if (rank, count) != (self.rank as i32, self.count as i32) {
            return Err(Error::invalid_argument(format!(
                "a channel was split with rank {} of {}, and among the ranks of its color it is rank {rank} of {count}: \
                 each rank passes its number and the count within its color",
                self.rank, self.count
            )));
        }
        Ok(())
    }

    /// Whether the last call has ended, or how this rank or another one failed.
    pub(crate) fn stage(&self) -> Result<Stage> {
        let mut result = ncclResult_t::ncclSuccess;
        // SAFETY: a pointer to a local.
        let asked = unsafe { self.rccl.ncclCommGetAsyncError(self.comm(), &mut result) };
        self.check("ncclCommGetAsyncError", asked)?;
        if result == ncclResult_t::ncclInProgress {
            return Ok(Stage::Running);
        }
        check(&self.rccl, "the work of RCCL", result)?;
        Ok(Stage::Done)
    }

    /// Begins to put a group into a stream. `zeros` are the bytes of fills that HIP gets wrong. The GPU is current.
    pub(crate) fn begin_group(
        &self,
        stream: Stream<'_>,
        operations: &[Collective],
        zeros: Option<&Buffer>,
    ) -> Result<()> {
        let zeros = zeros.map(Buffer::device_address);
        for target in operations.iter().filter_map(zeroed) {
            stream.fill(target.device_address(), target.len(), zero(), zeros)?;
        }
        let stream = stream.handle;
        // SAFETY: no arguments.
        self.check("ncclGroupStart", unsafe { self.rccl.ncclGroupStart() })?;
        let called = operations.iter().try_for_each(|operation| {
            self.call(stream, operation).map_err(|error| error.context(operation.kind.name()))
        });
        // SAFETY: a group was started on this thread.
        let ended = self.check("ncclGroupEnd", unsafe { self.rccl.ncclGroupEnd() });
        called.and(ended)
    }

    fn call(&self, stream: StreamHandle, operation: &Collective) -> Result<()> {
        let (rccl, comm, stream) = (&self.rccl, self.comm(), stream.raw());
        let address = |buffer: &Option<Buffer>| {
            buffer.as_ref().map_or(ptr::null_mut(), |buffer| buffer.device_address() as *mut c_void)
        };
        let bytes = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, |buffer| buffer.len() as usize);
        let (from, to) = (address(&operation.source), address(&operation.target));
        let (gives, gets) = (bytes(&operation.source), bytes(&operation.target));
        let size = operation.element.size();
        // Elements that only move count as bytes.
        let byte = ncclDataType_t::ncclUint8;
        let send = |at: *const c_void, length: usize, peer: u32| {
            // SAFETY: a range of the submission's, here and in the calls below.
            self.check("ncclSend", unsafe { rccl.ncclSend(at, length, byte, peer as i32, comm, stream) })
        };
        let recv = |at: *mut c_void, length: usize, peer: u32| {
            // SAFETY: as above.
            self.check("ncclRecv", unsafe { rccl.ncclRecv(at, length, byte, peer as i32, comm, stream) })
        };
        match operation.kind {
            // SAFETY: as above.
            CollectiveKind::AllGather => self
                .check("ncclAllGather", unsafe { rccl.ncclAllGather(from, to, gives, byte, comm, stream) }),
            CollectiveKind::AllReduce(reduction) => {
                let (datatype, op) = (datatype(operation.element)?, op(reduction)?);
                // SAFETY: as above.
                self.check("ncclAllReduce", unsafe {
                    rccl.ncclAllReduce(from, to, gives / size, datatype, op, comm, stream)
                })
            }
            CollectiveKind::AllToAll => {
                let part = gives / self.count.max(1) as usize;
                // SAFETY: as above.
                match unsafe { rccl.ncclAllToAll(from, to, part, byte, comm, stream) } {
                    Some(result) => self.check("ncclAllToAll", result),
                    None => (0..self.count).try_for_each(|peer| {
                        let offset = peer as usize * part;
                        send(from.wrapping_byte_add(offset), part, peer)?;
                        recv(to.wrapping_byte_add(offset), part, peer)
                    }),
                }
            }
            CollectiveKind::Broadcast { root } => {
                // Ranks other than the root give nothing, and RCCL does not read their source.
                let from = if from.is_null() { to } else { from };
                // SAFETY: as above.
                self.check("ncclBroadcast", unsafe {
                    rccl.ncclBroadcast(from, to, gets, byte, root as i32, comm, stream)
                })
            }
            CollectiveKind::Reduce { root, reduction } => {
                let (datatype, op) = (datatype(operation.element)?, op(reduction)?);
                // Only the root has a target, and RCCL writes no other one.
                let to = if to.is_null() { from } else { to };
                // SAFETY: as above.
                self.check("ncclReduce", unsafe {
                    rccl.ncclReduce(from, to, gives / size, datatype, op, root as i32, comm, stream)
                })
            }
            CollectiveKind::ReduceScatter(reduction) => {
                let (datatype, op) = (datatype(operation.element)?, op(reduction)?);
                // SAFETY: as above.
                self.check("ncclReduceScatter", unsafe {
                    rccl.ncclReduceScatter(from, to, gets / size, datatype, op, comm, stream)
                })
            }
            CollectiveKind::Send { to: peer } => send(from, gives, peer),
            CollectiveKind::Recv { from: peer } => recv(to, gets, peer),
            CollectiveKind::SendRecv { to: receiver, from: sender } => {
                receiver.map_or(Ok(()), |peer| send(from, gives, peer))?;
                sender.map_or(Ok(()), |peer| recv(to, gets, peer))
            }
            other => Err(unknown(other.name())),
        }
    }

    /// Ends all work of this rank, also work that waits for other ranks, and gives the communicator up.
    pub(crate) fn abort(self) {
        if self.comm().is_null() || self.rccl.has_ended() {
            // A thread of RCCL may still write it.
            mem::forget(self.place);
        } else {
            // SAFETY: the owner gives the handle up.
            let result = unsafe { self.rccl.ncclCommAbort(self.comm()) };
            tracing::debug!(target: "windlass::hip", rank = self.rank, %result, "communicator aborted");
        }
    }

    /// Begins to leave, after which [`stage`](Self::stage) tells when [`destroy`](Self::destroy) need not wait.
    pub(crate) fn finalize(&self) -> Result<()> {
        // SAFETY: the owner uses the handle for nothing but its release from here on.
        let begun = unsafe { self.rccl.ncclCommFinalize(self.comm()) };
        begun.map_or(Ok(()), |begun| self.check("ncclCommFinalize", begun))
    }

    /// Gives the communicator up after its work has ended.
    pub(crate) fn destroy(self) {
        if !self.rccl.has_ended() {
            // SAFETY: the owner gives the handle up.
            let result = unsafe { self.rccl.ncclCommDestroy(self.comm()) };
            tracing::debug!(target: "windlass::hip", rank = self.rank, %result, "communicator destroyed");
        }
    }

    fn comm(&self) -> ncclComm_t {
        self.place.comm()
    }

    fn check(&self, call: &str, result: ncclResult_t) -> Result<()> {
        check(&self.rccl, call, result)
    }
}

fn without_config(rccl: &Rccl) -> Error {
    Error::unavailable(format!(
        "{} lacks ncclCommInitRankConfig: install RCCL 2.14 or later, which ROCm 5.5 brings",
        rccl.origin()
    ))
}

fn without_split(rccl: &Rccl) -> Error {
    Error::unavailable(format!(
        "{} lacks ncclCommSplit: install RCCL 2.18 or later, or create each channel by an id of its own",
        rccl.origin()
    ))
}

/// Whether RCCL can join channels without blocking.
pub(crate) fn check_joins(rccl: &Rccl) -> Result<()> {
    rccl.functions().ncclCommInitRankConfig.map(drop).ok_or_else(|| without_config(rccl))
}

/// Whether RCCL can split channels.
pub(crate) fn check_splits(rccl: &Rccl) -> Result<()> {
    rccl.functions().ncclCommSplit.map(drop).ok_or_else(|| without_split(rccl))
}

/// The place that RCCL writes a communicator to, maybe on a thread of its own.
#[derive(Default)]
pub(crate) struct Place(Box<AtomicPtr<ncclComm>>);

impl Place {
    fn pointer(&self) -> *mut ncclComm_t {
        self.0.as_ptr()
    }

    fn comm(&self) -> ncclComm_t {
        self.0.load(Ordering::Acquire)
    }

    /// Gives up the communicator of a split that has failed.
    pub(crate) fn abort(self, rccl: &Rccl) {
        Communicator { rccl: rccl.clone(), place: self, rank: 0, count: 0 }.abort();
    }
}

/// The target of an operation that receives from nobody. Zeros are no operation of RCCL.
pub(crate) fn zeroed<Range>(operation: &Collective<Range>) -> Option<&Range> {
    match operation.kind {
        CollectiveKind::SendRecv { from: None, .. } => operation.target.as_ref(),
        _ => None,
    }
}

/// The pattern of [`zeroed`] targets.
pub(crate) fn zero() -> Pattern {
    Pattern::from(0_u8)
}

/// `UNIMPLEMENTED` for an operation that RCCL does not have.
pub(crate) fn check_known<Range>(operation: &Collective<Range>) -> Result<()> {
    match operation.kind.reduction() {
        Some(reduction) => datatype(operation.element).and(op(reduction)).map(drop),
        None => Ok(()),
    }
}

fn datatype(element: ElementType) -> Result<ncclDataType_t> {
    Ok(match element {
        ElementType::Sint8 => ncclDataType_t::ncclInt8,
        ElementType::Uint8 => ncclDataType_t::ncclUint8,
        ElementType::Sint32 => ncclDataType_t::ncclInt32,
        ElementType::Uint32 => ncclDataType_t::ncclUint32,
        ElementType::Sint64 => ncclDataType_t::ncclInt64,
        ElementType::Uint64 => ncclDataType_t::ncclUint64,
        ElementType::Float16 => ncclDataType_t::ncclFloat16,
        ElementType::Float32 => ncclDataType_t::ncclFloat32,
        ElementType::Float64 => ncclDataType_t::ncclFloat64,
        ElementType::Bfloat16 => ncclDataType_t::ncclBfloat16,
        other => {
            return Err(Error::unimplemented(format!(
                "a reduction of {}: RCCL has none for this type; reduce a wider one",
                other.name()
            )));
        }
    })
}

fn op(reduction: Reduction) -> Result<ncclRedOp_t> {
    Ok(match reduction {
        Reduction::Sum => ncclRedOp_t::ncclSum,
        Reduction::Product => ncclRedOp_t::ncclProd,
        Reduction::Minimum => ncclRedOp_t::ncclMin,
        Reduction::Maximum => ncclRedOp_t::ncclMax,
        Reduction::Average => ncclRedOp_t::ncclAvg,
        other => return Err(unknown(&format!("{other:?}"))),
    })
}

fn unknown(what: &str) -> Error {
    Error::unimplemented(format!("the HIP driver does not know the collective {what}"))
}

/// The error of a call. A call that has begun and not ended is none.
fn check(rccl: &Rccl, call: &str, result: ncclResult_t) -> Result<()> {
    let code = match result {
        ncclResult_t::ncclSuccess | ncclResult_t::ncclInProgress => return Ok(()),
        _ if rccl.has_ended() => Code::FailedPrecondition,
        ncclResult_t::ncclInvalidArgument => Code::InvalidArgument,
        ncclResult_t::ncclInvalidUsage => Code::FailedPrecondition,
        // A rank that ends takes its sockets along.
        ncclResult_t::ncclRemoteError | ncclResult_t::ncclSystemError => Code::Aborted,
        _ => Code::Internal,
    };
    // SAFETY: any number is an argument.
    let words = unsafe { rccl.ncclGetErrorString(result) };
    let words = match words.is_null() {
        true => String::new(),
        // SAFETY: RCCL answers a C string that stays in place.
        false => format!(", {}", unsafe { CStr::from_ptr(words) }.to_string_lossy()),
    };
    let more = rccl.last_error().map(|more| format!(": {more}")).unwrap_or_default();
    Err(Error::new(code, format!("{call} returned {result}{words}{more} ({})", rccl.origin())))
}
