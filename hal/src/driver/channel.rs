// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rank's side of a channel between devices, as a driver keeps it.

use std::{any::Any, fmt, sync::Arc};

use crate::{
    order::edge::Domain,
    words::{error::Result, queue_affinity::QueueAffinity},
};

/// A rank's side of a channel, from [`RawDevice::create_channel`](super::RawDevice::create_channel).
///
/// The ranks join in the background. A group that is submitted before that waits for the join, and holds up neither the
/// submitting thread, nor other work, nor [`RawDevice::drain`](super::RawDevice::drain). A join or a group that another
/// rank keeps from its end fails with `ABORTED` after the timeout of the channel, and the channel with it: all groups
/// after it fail with the same error.
pub trait RawChannel: Any + Send + Sync {
    /// The device that made it.
    fn domain(&self) -> Domain;

    /// The rank of this side.
    fn rank(&self) -> u32;

    /// The number of ranks.
    fn count(&self) -> u32;

    /// The queues that may run its groups.
    fn affinity(&self) -> QueueAffinity;

    /// Takes part in a split, behind the groups that were issued before. `membership` has the color, and the rank and the
    /// count within the new channel of that color, which was checked to be a rank below the count. `None` takes part
    /// without becoming a member, and returns `None`.
    fn split(self: Arc<Self>, membership: Option<(u32, u32, u32)>) -> Result<Option<Arc<dyn RawChannel>>>;

    /// Lets the driver find its own type again.
    fn as_any(&self) -> &dyn Any;
}

impl fmt::Debug for dyn RawChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawChannel(rank {} of {})", self.rank(), self.count())
    }
}
