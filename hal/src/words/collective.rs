// SPDX-License-Identifier: MIT OR Apache-2.0
//! Communication between devices: the names of channels, and the kinds of collective operations.

use std::{fmt, time::Duration};

use crate::words::queue_affinity::QueueAffinity;

/// The bytes of a [`ChannelId`].
const ID_BYTES: usize = 128;

/// The name of a channel, which all of its ranks share. One rank asks its device for a new one
/// ([`Device::channel_id`](crate::Device::channel_id)), and sends the bytes to the others by any means: through a file, a
/// socket, MPI.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChannelId([u8; ID_BYTES]);

impl ChannelId {
    /// The number of bytes.
    pub const BYTES: usize = ID_BYTES;

    /// The identity of these bytes, which come from [`bytes`](Self::bytes) of another rank.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes to send to the other ranks.
    pub const fn bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl fmt::Debug for ChannelId {
    /// Its first bytes, in hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChannelId(")?;
        self.0.iter().take(16).try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("..)")
    }
}

/// One rank of a channel. See [`Device::create_channel`](crate::Device::create_channel).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChannelParams {
    /// The name that all ranks share.
    pub id: ChannelId,
    /// The rank of this side, below `count`.
    pub rank: u32,
    /// The number of ranks, the same for all of them.
    pub count: u32,
    /// The queues that may run the operations. They belong to one physical device, or the first of them decides. The
    /// default is all queues.
    pub affinity: QueueAffinity,
    /// The longest time that the other ranks may take to join the channel, and the longest time that each group may then
    /// run, from its start on this rank to its end. The default is ten minutes.
    pub timeout: Duration,
}

impl ChannelParams {
    /// A rank of a channel, with the defaults for the rest.
    pub const fn new(id: ChannelId, rank: u32, count: u32) -> Self {
        Self { id, rank, count, affinity: QueueAffinity::ANY, timeout: Duration::from_secs(600) }
    }

    /// The same with these queues.
    pub const fn with_affinity(self, affinity: QueueAffinity) -> Self {
        Self { affinity, ..self }
    }

    /// The same with this timeout.
    pub const fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }
}

/// How the elements of all ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// Their sum. Integers wrap around.
    Sum,
    /// Their product. Integers wrap around.
    Product,
    /// The smallest of them.
    Minimum,
    /// The largest of them.
    Maximum,
    /// Their sum divided by the number of ranks. The sum of integers wraps around, and its quotient is cut to an integer.
    Average,
}

impl Reduction {
    /// All reductions.
    pub const ALL: [Self; 5] = [Self::Sum, Self::Product, Self::Minimum, Self::Maximum, Self::Average];
}

/// The kind of a collective operation, with its other ranks. See [`Collective`](crate::Collective).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CollectiveKind {
    /// Each rank gets the elements of all ranks, by rank.
    AllGather,
    /// Each rank gets the reduction over all ranks.
    AllReduce(Reduction),
    /// Each rank sends its part n to rank n.
    AllToAll,
    /// Each rank gets the elements of one rank.
    Broadcast {
        /// The rank whose elements the others get.
        root: u32,
    },
    /// One rank gets the reduction over all ranks.
    Reduce {
        /// The rank that gets the result.
        root: u32,
        /// The reduction.
        reduction: Reduction,
    },
    /// Rank n gets part n of the reduction over all ranks.
    ReduceScatter(Reduction),
    /// Sends elements to a rank.
    Send {
        /// The rank that receives them.
        to: u32,
    },
    /// Receives elements from a rank.
    Recv {
        /// The rank that sends them.
        from: u32,
    },
    /// Sends to one rank and receives from another at the same time.
    SendRecv {
        /// The rank that receives. `None` sends nothing.
        to: Option<u32>,
        /// The rank that sends. `None` receives zeros.
        from: Option<u32>,
    },
}

impl CollectiveKind {
    /// The name as IREE spells it, such as `all_reduce`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllGather => "all_gather",
            Self::AllReduce(_) => "all_reduce",
            Self::AllToAll => "all_to_all",
            Self::Broadcast { .. } => "broadcast",
            Self::Reduce { .. } => "reduce",
            Self::ReduceScatter(_) => "reduce_scatter",
            Self::Send { .. } => "send",
            Self::Recv { .. } => "recv",
            Self::SendRecv { .. } => "send_recv",
        }
    }

    /// The reduction, if it has one.
    pub const fn reduction(self) -> Option<Reduction> {
        match self {
            Self::AllReduce(reduction) | Self::Reduce { reduction, .. } | Self::ReduceScatter(reduction) => {
                Some(reduction)
            }
            _ => None,
        }
    }
}
