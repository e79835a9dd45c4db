// SPDX-License-Identifier: MIT OR Apache-2.0
//! One rank's side of a channel: the handle, over the line that does its work.

use std::{any::Any, sync::Arc};

use windlass_hal::{ChannelParams, Error, QueueAffinity, Result, driver, edge::Domain};
use windlass_hip_sys::rccl::Rccl;

use crate::{
    gpu::Gpu,
    line::{Line, Membership, Owner, Start},
    submission::Submission,
};

/// A rank of a channel. It keeps its device open, and leaves the channel when it is dropped.
pub(crate) struct Channel {
    owner: Arc<dyn Owner>,
    domain: Domain,
    line: Arc<Line>,
    rank: u32,
    count: u32,
    affinity: QueueAffinity,
}

impl Channel {
    /// Begins to join. `affinity` is the queues of the GPU.
    pub(crate) fn join(
        owner: Arc<dyn Owner>,
        domain: Domain,
        gpu: Arc<Gpu>,
        rccl: Rccl,
        params: &ChannelParams,
        affinity: QueueAffinity,
    ) -> Self {
        let (rank, count) = (params.rank, params.count);
        let line = Line::new(gpu, rccl, Start::Join { id: params.id, rank, count }, params.timeout);
        owner.add(&line);
        line.run();
        Self { owner, domain, line, rank, count, affinity }
    }

    /// Hands a group over, which is issued once the channel is joined.
    pub(crate) fn push(&self, submission: Box<Submission>) {
        self.line.push(submission, &self.owner);
    }
}

impl driver::RawChannel for Channel {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn count(&self) -> u32 {
        self.count
    }

    fn affinity(&self) -> QueueAffinity {
        self.affinity
    }

    fn split(
        self: Arc<Self>,
        membership: Option<(u32, u32, u32)>,
    ) -> Result<Option<Arc<dyn driver::RawChannel>>> {
        let membership = membership.map(|(color, rank, count)| Membership { color, rank, count });
        let child = self.line.split(membership)?;
        let Some((child, Membership { rank, count, .. })) = child.zip(membership) else { return Ok(None) };
        self.owner.add(&child);
        Ok(Some(Arc::new(Self {
            owner: self.owner.clone(),
            domain: self.domain,
            line: child,
            rank,
            count,
            affinity: self.affinity,
        })))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.line.leave();
    }
}

/// The driver's channel behind the HAL's.
pub(crate) fn of(channel: &Arc<dyn driver::RawChannel>) -> Result<&Channel> {
    channel.as_any().downcast_ref().ok_or_else(|| Error::internal("a channel of another driver"))
}
