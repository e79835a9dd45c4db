// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels of the library, and groups on them.

use std::{any::Any, sync::Arc};

use windlass_hal::{
    ChannelId, ChannelParams, Collective, CollectiveKind, Error, QueueAffinity, Reduction, Result, driver,
    edge::Domain,
};

use crate::{
    api::{self, Handle, api, check, sized},
    bindings::*,
};

/// A rank of a channel.
pub(crate) struct Channel {
    domain: Domain,
    affinity: QueueAffinity,
    handle: Handle<windlass_channel_t>,
}

impl Channel {
    pub(crate) fn name(device: &Handle<windlass_device_t>) -> Result<ChannelId> {
        let mut id = windlass_channel_id_t { bytes: [0; ChannelId::BYTES] };
        // SAFETY: a handle and a local.
        check(unsafe { api().windlass_device_channel_id(device.get(), &mut id) })?;
        Ok(ChannelId::from_bytes(id.bytes))
    }

    pub(crate) fn create(
        domain: Domain,
        device: &Handle<windlass_device_t>,
        given: &ChannelParams,
    ) -> Result<Self> {
        let mut params = sized!(windlass_channel_params_t);
        params.id.bytes = *given.id.bytes();
        params.rank = given.rank;
        params.count = given.count;
        params.affinity = given.affinity.bits();
        params.timeout_ns = given.timeout.as_nanos() as u64;
        // SAFETY: the struct states its size.
        let handle = Handle::from(api::channel, |channel| unsafe {
            api().windlass_channel_create(device.get(), &params, channel)
        })?;
        Ok(Self { domain, affinity: given.affinity, handle })
    }
}

impl driver::RawChannel for Channel {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn rank(&self) -> u32 {
        // SAFETY: a handle, here and below.
        unsafe { api().windlass_channel_rank(self.handle.get()) }
    }

    fn count(&self) -> u32 {
        // SAFETY: as above.
        unsafe { api().windlass_channel_count(self.handle.get()) }
    }

    fn affinity(&self) -> QueueAffinity {
        self.affinity
    }

    fn split(
        self: Arc<Self>,
        membership: Option<(u32, u32, u32)>,
    ) -> Result<Option<Arc<dyn driver::RawChannel>>> {
        let Some((color, rank, count)) = membership else {
            // SAFETY: as above.
            return check(unsafe { api().windlass_channel_sit_out(self.handle.get()) }).map(|()| None);
        };
        // SAFETY: a handle and a local.
        let handle = Handle::from(api::channel, |split| unsafe {
            api().windlass_channel_split(self.handle.get(), color, rank, count, split)
        })?;
        Ok(Some(Arc::new(Self { domain: self.domain, affinity: self.affinity, handle })))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The library's channel behind the HAL's.
pub(crate) fn of(channel: &dyn driver::RawChannel) -> Result<*mut windlass_channel_t> {
    let channel = channel.as_any().downcast_ref::<Channel>();
    channel.map(|channel| channel.handle.get()).ok_or_else(|| Error::internal("a channel of another driver"))
}

/// An operation of a group for the library.
pub(crate) fn collective_of<Range>(
    operation: &Collective<Range>,
    range_of: impl Fn(&Range) -> Result<windlass_buffer_ref_t>,
) -> Result<windlass_collective_t> {
    let range = |range: &Option<Range>| match range {
        Some(range) => range_of(range),
        None => Ok(windlass_buffer_ref_t::default()),
    };
    let mut given = windlass_collective_t {
        element_type: operation.element as u32,
        source: range(&operation.source)?,
        target: range(&operation.target)?,
        ..windlass_collective_t::default()
    };
    if let Some(reduction) = operation.kind.reduction() {
        given.reduction = match reduction {
            Reduction::Sum => WINDLASS_REDUCTION_SUM,
            Reduction::Product => WINDLASS_REDUCTION_PRODUCT,
            Reduction::Minimum => WINDLASS_REDUCTION_MINIMUM,
            Reduction::Maximum => WINDLASS_REDUCTION_MAXIMUM,
            Reduction::Average => WINDLASS_REDUCTION_AVERAGE,
            other => return Err(Error::internal(format!("{other:?} is not in the header"))),
        };
    }
    (given.kind, given.peer) = match operation.kind {
        CollectiveKind::AllGather => (WINDLASS_COLLECTIVE_ALL_GATHER, 0),
        CollectiveKind::AllReduce(_) => (WINDLASS_COLLECTIVE_ALL_REDUCE, 0),
        CollectiveKind::AllToAll => (WINDLASS_COLLECTIVE_ALL_TO_ALL, 0),
        CollectiveKind::Broadcast { root } => (WINDLASS_COLLECTIVE_BROADCAST, root),
        CollectiveKind::Reduce { root, .. } => (WINDLASS_COLLECTIVE_REDUCE, root),
        CollectiveKind::ReduceScatter(_) => (WINDLASS_COLLECTIVE_REDUCE_SCATTER, 0),
        CollectiveKind::Send { to } => (WINDLASS_COLLECTIVE_SEND, to),
        CollectiveKind::Recv { from } => (WINDLASS_COLLECTIVE_RECV, from),
        CollectiveKind::SendRecv { to, from } => {
            given.from = from.unwrap_or(WINDLASS_NO_RANK);
            (WINDLASS_COLLECTIVE_SEND_RECV, to.unwrap_or(WINDLASS_NO_RANK))
        }
        other => return Err(Error::internal(format!("{} is not in the header", other.name()))),
    };
    Ok(given)
}
