// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels: the ranks of several devices that communicate.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    driver,
    front::device::Device,
    words::{
        collective::{ChannelId, ChannelParams},
        error::{Error, Result, ResultExt},
        fork::{self, Kept},
        info::Feature,
    },
};

/// The most ranks of a channel.
const MOST_RANKS: u32 = i32::MAX as u32;

impl Device {
    /// A new name for a channel. One rank asks for it, and all ranks pass it to [`create_channel`](Self::create_channel).
    ///
    /// `UNIMPLEMENTED` where the device declares the lack of [`Feature::Collectives`]. `UNAVAILABLE` where the library
    /// that the device needs for it is not installed; the error lists the places that were searched.
    pub fn channel_id(&self) -> Result<ChannelId> {
        self.has_collectives()?;
        self.open.raw.channel_id().context(|| "naming a channel".to_owned())
    }

    /// Makes this device a rank of a channel. Several ranks may be of one device, each with the queues of another
    /// processor ([`ChannelParams::affinity`]).
    ///
    /// This does not wait for the other ranks, and does not tell of their absence: the ranks join in the background, and
    /// groups that are submitted meanwhile wait for that. If a rank has not come after the timeout, these groups fail
    /// with `ABORTED`.
    ///
    /// # Safety
    ///
    /// The ranks of the channel, and of those that are split from it, submit groups that fit each other: in each, the same
    /// operations in the same order, with the same numbers of elements. No rank can check the others, and one that sends
    /// more than another one expects may write over memory of that rank.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` where the rank is not below the count, or the count or the timeout is 0. `UNIMPLEMENTED` and
    /// `UNAVAILABLE` are as for [`channel_id`](Self::channel_id).
    #[allow(unsafe_code)]
    pub unsafe fn create_channel(&self, params: &ChannelParams) -> Result<Channel> {
        self.has_collectives()?;
        check_rank(params.rank, params.count)?;
        if params.timeout == Duration::ZERO {
            return Err(Error::invalid_argument("a channel with a timeout of 0: no rank could join in time"));
        }
        let raw = self.open.raw.create_channel(params);
        let raw = raw.context(|| format!("joining a channel as rank {} of {}", params.rank, params.count))?;
        Ok(Channel { raw: raw.into() })
    }

    fn has_collectives(&self) -> Result<()> {
        fork::check()?;
        match self.info().lacks.iter().find(|lack| lack.feature == Feature::Collectives) {
            Some(lack) => {
                Err(Error::unimplemented(format!("this device has no collectives: {}", lack.reason)))
            }
            None => Ok(()),
        }
    }
}

fn check_rank(rank: u32, count: u32) -> Result<()> {
    if rank >= count || count > MOST_RANKS {
        return Err(Error::invalid_argument(format!(
            "rank {rank} of {count}: a rank is below the count, and the count is at most {MOST_RANKS}"
        )));
    }
    Ok(())
}

/// One rank's side of a channel: several ranks, each a processor of some device in some process, that carry out
/// [`Collective`](crate::Collective) operations together. From [`Device::create_channel`], for
/// [`Queue::collective`](crate::Queue::collective).
///
/// **All ranks submit the groups and the splits of a channel in the same order.** Groups of a channel start in the order in
/// which their waits are reached, so a program orders them by points where it has several in flight. It orders groups of
/// different channels too where these share a physical device, in one order on all ranks: each group holds a part of the
/// device until the other ranks have come.
///
/// Clones are handles of the same rank, and may be used on any thread. The rank leaves the channel when the last handle is
/// dropped and no work uses it.
#[derive(Clone)]
pub struct Channel {
    pub(super) raw: Kept<Arc<dyn driver::RawChannel>>,
}

impl Channel {
    /// The rank of this side.
    pub fn rank(&self) -> u32 {
        self.raw.rank()
    }

    /// The number of ranks.
    pub fn count(&self) -> u32 {
        self.raw.count()
    }

    /// Splits the channel: the ranks that pass the same color become a channel of their own. All ranks of this channel
    /// take part, each with a color, or by [`sit_out`](Self::sit_out). `rank` and `count` are those within the new
    /// channel, which the program knows: ranks of one color pass the same count, and each another rank below it.
    ///
    /// As for [`Device::create_channel`], the ranks join in the background. A count that is not the number of the ranks
    /// with this color fails the groups of the new channel with `INVALID_ARGUMENT`, and those of its other ranks with
    /// `ABORTED`. The new channel has the queues and the timeout of this one. `INVALID_ARGUMENT` for a color above `i32::MAX`, and for a rank that is not below the
    /// count.
    pub fn split(&self, color: u32, rank: u32, count: u32) -> Result<Channel> {
        fork::check()?;
        check_rank(rank, count)?;
        if color > i32::MAX as u32 || count > self.count() {
            return Err(Error::invalid_argument(format!(
                "a split of {} ranks with {count} of color {color}: a color is at most {}, and no channel has more ranks \
                 than that which it is split from",
                self.count(),
                i32::MAX
            )));
        }
        let split = Arc::clone(&self.raw).split(Some((color, rank, count)));
        let split = split.context(|| format!("splitting a channel of {} ranks", self.count()))?;
        let raw = split.ok_or_else(|| Error::internal("the driver gave a member of a split no channel"))?;
        Ok(Self { raw: raw.into() })
    }

    /// Takes part in a [`split`](Self::split) of the other ranks, without a place in any of the new channels.
    pub fn sit_out(&self) -> Result<()> {
        fork::check()?;
        let split = Arc::clone(&self.raw).split(None);
        split.map(drop).context(|| format!("splitting a channel of {} ranks", self.count()))
    }
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Channel(rank {} of {})", self.rank(), self.count())
    }
}
