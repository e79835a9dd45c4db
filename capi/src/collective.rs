// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels between devices, and collective operations.

use std::{mem::MaybeUninit, ptr::NonNull, time::Duration};

use facade::{
    Channel, ChannelId, ChannelParams, Collective, ElementType, Error, QueueAffinity, Reduction, Result,
};

use crate::{
    boundary::{fallible, infallible},
    buffer::{WINDLASS_REF_SLOT, range_of, ref_of, windlass_buffer_ref_t},
    command_buffer::{record, windlass_recorder_t},
    device::windlass_device_t,
    element_type::{element_type_of, windlass_element_type_t},
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{Growing, give, list, out, read_struct},
    queue::windlass_queue_t,
    semaphore::{lists_of, windlass_point_t},
};

/// The name of a channel, which all of its ranks share. Send the bytes to the other ranks by any means.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_channel_id_t {
    /// The bytes.
    pub bytes: [u8; 128],
}

/// One rank of a channel.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_channel_params_t {
    /// sizeof this struct.
    pub struct_size: usize,
    /// The name that all ranks share.
    pub id: windlass_channel_id_t,
    /// The rank of this side, below `count`.
    pub rank: u32,
    /// The number of ranks, the same for all of them.
    pub count: u32,
    /// The queues that may run the operations, bit n for queue n; 0 means all. They belong to one physical device, or the
    /// first of them decides.
    pub affinity: u64,
    /// The longest time in nanoseconds that the other ranks may take to join the channel, and the longest time that each
    /// group may then run, from its start on this rank to its end. 0 is ten minutes.
    pub timeout_ns: u64,
}

// SAFETY: repr(C), and all zeros are valid.
unsafe impl Growing for windlass_channel_params_t {
    const NAME: &'static str = "windlass_channel_params_t";
}

/// One rank's side of a channel: several ranks, each a physical device in some process, that carry out collective
/// operations together. All ranks submit the groups and the splits of a channel in the same order, and groups of
/// different channels that share a physical device in one order on all ranks. The rank leaves the channel when the last
/// handle is released and no work uses it. The handle does not keep the device open: when that closes, groups that were
/// not issued fail.
pub struct windlass_channel_t(Shell<Channel>);
object!(windlass_channel_t, Channel, "channel");

/// Makes a new name for a channel. One rank asks for it, and all ranks pass it to windlass_channel_create. UNIMPLEMENTED
/// where the device lacks WINDLASS_FEATURE_COLLECTIVES, UNAVAILABLE where the library for it is not installed.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_channel_id(
    device: Option<NonNull<windlass_device_t>>,
    id: Option<&mut MaybeUninit<windlass_channel_id_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let name = used(device)?.device.channel_id()?;
        out("id", id)?.write(windlass_channel_id_t { bytes: *name.bytes() });
        Ok(())
    })
}

/// Makes the device a rank of a channel. Does not wait for the other ranks: they join in the background, and groups that
/// are submitted meanwhile wait for that. If a rank has not come after the timeout, these groups fail with ABORTED.
/// INVALID_ARGUMENT where the rank is not below the count. The caller owns the channel. All ranks of it, and of the channels
/// that are split from it, must submit groups that fit: one that sends more than another one expects may write over memory
/// of that rank.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_channel_create(
    device: Option<NonNull<windlass_device_t>>,
    params: *const windlass_channel_params_t,
    channel: Option<&mut MaybeUninit<Option<NonNull<windlass_channel_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(channel, || {
            // SAFETY: the contract in the header covers that of `read_struct`.
            let given = unsafe { read_struct(params) }?;
            let params = ChannelParams::new(ChannelId::from_bytes(given.id.bytes), given.rank, given.count)
                .with_affinity(QueueAffinity::from_bits(given.affinity));
            let params = match given.timeout_ns {
                0 => params,
                timeout => params.with_timeout(Duration::from_nanos(timeout)),
            };
            // SAFETY: the header has the same contract.
            unsafe { used(device)?.device.create_channel(&params) }
        })
    })
}

/// Adds a reference and returns the channel. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_channel_retain(
    channel: Option<NonNull<windlass_channel_t>>,
) -> Option<NonNull<windlass_channel_t>> {
    infallible(None, || handle::retain(channel).map(|()| channel))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_channel_release(channel: Option<NonNull<windlass_channel_t>>) {
    infallible((), || {
        handle::release(channel);
        Ok(())
    });
}

/// The rank of this side; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_channel_rank(channel: Option<NonNull<windlass_channel_t>>) -> u32 {
    infallible(0, || Ok(used(channel)?.rank()))
}

/// The number of ranks; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_channel_count(channel: Option<NonNull<windlass_channel_t>>) -> u32 {
    infallible(0, || Ok(used(channel)?.count()))
}

/// Splits the channel: the ranks that pass the same color become a channel of their own. All ranks of the channel take
/// part, each with a color, or by windlass_channel_sit_out. `rank` and `count` are those within the new channel: ranks of
/// one color pass the same count, and each another rank below it. The ranks join in the background, as for
/// windlass_channel_create. A color is at most INT32_MAX. The caller owns the new channel.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_channel_split(
    channel: Option<NonNull<windlass_channel_t>>,
    color: u32,
    rank: u32,
    count: u32,
    split: Option<&mut MaybeUninit<Option<NonNull<windlass_channel_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(split, || used(channel)?.split(color, rank, count)))
}

/// Takes part in a split of the other ranks, without a place in any of the new channels.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_channel_sit_out(
    channel: Option<NonNull<windlass_channel_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| used(channel)?.sit_out())
}

/// One of WINDLASS_REDUCTION_*.
pub type windlass_reduction_t = u32;

/// The sum. Integers wrap around.
pub const WINDLASS_REDUCTION_SUM: windlass_reduction_t = 1;
/// The product. Integers wrap around.
pub const WINDLASS_REDUCTION_PRODUCT: windlass_reduction_t = 2;
/// The smallest.
pub const WINDLASS_REDUCTION_MINIMUM: windlass_reduction_t = 3;
/// The largest.
pub const WINDLASS_REDUCTION_MAXIMUM: windlass_reduction_t = 4;
/// The sum divided by the number of ranks.
pub const WINDLASS_REDUCTION_AVERAGE: windlass_reduction_t = 5;

/// One of WINDLASS_COLLECTIVE_*.
pub type windlass_collective_kind_t = u32;

/// Each rank gets the sources of all ranks, by rank. The target has the bytes of the source for each rank.
pub const WINDLASS_COLLECTIVE_ALL_GATHER: windlass_collective_kind_t = 1;
/// Each rank gets the reduction over all ranks.
pub const WINDLASS_COLLECTIVE_ALL_REDUCE: windlass_collective_kind_t = 2;
/// Each rank sends part n of its source to rank n.
pub const WINDLASS_COLLECTIVE_ALL_TO_ALL: windlass_collective_kind_t = 3;
/// Each rank gets the source of rank `peer`; a root whose source has no buffer sends its target.
pub const WINDLASS_COLLECTIVE_BROADCAST: windlass_collective_kind_t = 4;
/// Rank `peer` gets the reduction over all ranks. Other ranks need no target.
pub const WINDLASS_COLLECTIVE_REDUCE: windlass_collective_kind_t = 5;
/// Rank n gets part n of the reduction. The source has the bytes of the target for each rank.
pub const WINDLASS_COLLECTIVE_REDUCE_SCATTER: windlass_collective_kind_t = 6;
/// Sends the source to rank `peer`. There is no target.
pub const WINDLASS_COLLECTIVE_SEND: windlass_collective_kind_t = 7;
/// Receives the target from rank `peer`. There is no source.
pub const WINDLASS_COLLECTIVE_RECV: windlass_collective_kind_t = 8;
/// Sends the source to rank `peer`, and receives the target from rank `from`. WINDLASS_NO_RANK as `peer` sends nothing,
/// and needs no source; as `from` it receives zeros.
pub const WINDLASS_COLLECTIVE_SEND_RECV: windlass_collective_kind_t = 9;

/// No rank, in a WINDLASS_COLLECTIVE_SEND_RECV.
pub const WINDLASS_NO_RANK: u32 = u32::MAX;

/// One collective operation, as this rank states it. The lengths of the ranges say how many elements move. A range that is no
/// slot and has no buffer is none.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_collective_t {
    /// The kind.
    pub kind: windlass_collective_kind_t,
    /// The type of the elements.
    pub element_type: windlass_element_type_t,
    /// The reduction, for kinds that have one; otherwise 0.
    pub reduction: windlass_reduction_t,
    /// The root, or the other rank.
    pub peer: u32,
    /// The other rank of a WINDLASS_COLLECTIVE_SEND_RECV; otherwise 0.
    pub from: u32,
    /// Zero.
    pub reserved: u32,
    /// The elements that this rank gives.
    pub source: windlass_buffer_ref_t,
    /// The place of the elements that this rank gets.
    pub target: windlass_buffer_ref_t,
}

/// Carries out a group of collective operations: they start together when the waits are reached, and when all of them
/// have completed on this rank, the signals are reached. Each other rank of the channel submits a group that fits.
/// INVALID_ARGUMENT for a rank that the channel does not have, and for lengths that do not fit each other or the elements.
/// Where another rank fails or does not come in time, the signals fail with ABORTED, and so do those of all later groups of
/// the channel; the device stays usable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_collective(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    channel: Option<NonNull<windlass_channel_t>>,
    operation_count: usize,
    operations: *const windlass_collective_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        // SAFETY: the contract in the header covers that of `list`.
        let operations = unsafe { list("operations", operation_count, operations) }?;
        let group: Vec<_> =
            operations.iter().map(|one| collective_of(one, range_of)).collect::<Result<_>>()?;
        used(queue)?.collective(&lists.waits, &lists.signals, &*used(channel)?, &group)
    })
}

/// Records a group of collective operations, as windlass_queue_collective carries one out. Its ranges may be slots. The groups
/// of a command buffer start in recorded order, also without a barrier between them. Each submission of the command buffer
/// submits its groups, and all ranks submit the groups of a channel in the same order. The command buffer runs on queues that
/// the channels of its groups have, so two ranks of one device have command buffers of their own. INVALID_ARGUMENT as for
/// windlass_queue_collective; windlass_recorder_finish returns UNIMPLEMENTED for a reduction that the device does not have. A
/// group that fails fails the submission, and later commands may have run then.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_recorder_collective(
    recorder: Option<NonNull<windlass_recorder_t>>,
    channel: Option<NonNull<windlass_channel_t>>,
    operation_count: usize,
    operations: *const windlass_collective_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `list`.
        let operations = unsafe { list("operations", operation_count, operations) }?;
        let group: Vec<_> = operations.iter().map(|one| collective_of(one, ref_of)).collect::<Result<_>>()?;
        let channel = used(channel)?;
        record(recorder, |recording| recording.recorder.collective(&channel, &group))
    })
}

fn reduction_of(number: windlass_reduction_t) -> Result<Reduction> {
    Ok(match number {
        WINDLASS_REDUCTION_SUM => Reduction::Sum,
        WINDLASS_REDUCTION_PRODUCT => Reduction::Product,
        WINDLASS_REDUCTION_MINIMUM => Reduction::Minimum,
        WINDLASS_REDUCTION_MAXIMUM => Reduction::Maximum,
        WINDLASS_REDUCTION_AVERAGE => Reduction::Average,
        other => {
            return Err(Error::invalid_argument(format!(
                "{other} is no reduction; use WINDLASS_REDUCTION_*"
            )));
        }
    })
}

/// An operation whose ranges `of` reads.
fn collective_of<Range: Clone>(
    given: &windlass_collective_t,
    of: impl Fn(&str, &windlass_buffer_ref_t) -> Result<Range>,
) -> Result<Collective<Range>> {
    if given.reserved != 0 {
        return Err(Error::invalid_argument("`reserved` of a collective is not zero"));
    }
    let element: ElementType = element_type_of(given.element_type)?;
    let range = |name: &str, reference: &windlass_buffer_ref_t| match (reference.buffer, reference.kind) {
        (None, kind) if kind != WINDLASS_REF_SLOT => Ok(None),
        _ => of(name, reference).map(Some),
    };
    let (source, target) = (range("source", &given.source)?, range("target", &given.target)?);
    let missing = |name: &str| Error::invalid_argument(format!("the `{name}` of a collective has no buffer"));
    let from = || source.as_ref().ok_or_else(|| missing("source"));
    let to = || target.as_ref().ok_or_else(|| missing("target"));
    let reduction = || reduction_of(given.reduction);
    let rank = |rank: u32| (rank != WINDLASS_NO_RANK).then_some(rank);
    Ok(match given.kind {
        WINDLASS_COLLECTIVE_ALL_GATHER => Collective::all_gather(element, from()?, to()?),
        WINDLASS_COLLECTIVE_ALL_REDUCE => Collective::all_reduce(reduction()?, element, from()?, to()?),
        WINDLASS_COLLECTIVE_ALL_TO_ALL => Collective::all_to_all(element, from()?, to()?),
        WINDLASS_COLLECTIVE_BROADCAST => Collective::broadcast(given.peer, element, source.as_ref(), to()?),
        WINDLASS_COLLECTIVE_REDUCE => {
            Collective::reduce(given.peer, reduction()?, element, from()?, target.as_ref())
        }
        WINDLASS_COLLECTIVE_REDUCE_SCATTER => {
            Collective::reduce_scatter(reduction()?, element, from()?, to()?)
        }
        WINDLASS_COLLECTIVE_SEND => Collective::send(given.peer, element, from()?),
        WINDLASS_COLLECTIVE_RECV => Collective::recv(given.peer, element, to()?),
        WINDLASS_COLLECTIVE_SEND_RECV => {
            let (receiver, sender) = (rank(given.peer), rank(given.from));
            let from = if receiver.is_none() && source.is_none() { to()? } else { from()? };
            Collective::send_recv(receiver, sender, element, from, to()?)
        }
        other => {
            return Err(Error::invalid_argument(format!(
                "{other} is no kind of collective; use WINDLASS_COLLECTIVE_*"
            )));
        }
    })
}
