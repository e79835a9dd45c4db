// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handle of a pool.

use std::{fmt, sync::Arc};

use super::{params::PoolParams, placed::Placed, slabs::Slabs, statistics::PoolStatistics};
use crate::{
    driver::{self, allocator::SlabSource},
    order::edge::Domain,
    words::{
        buffer_params::BufferParams,
        error::{Error, Result},
        fork::{self, Kept},
        queue_affinity::QueueAffinity,
    },
};

/// A pool: separate memory of a device with a strategy, a size and a limit of its own. Clones are handles of the same
/// pool, and may be used on any thread.
///
/// [`Queue::alloca_from`](crate::Queue::alloca_from) takes memory from it, and a dealloca gives it back. A pool lives
/// as long as a handle or a buffer of it. Its memory then goes back to the device. It does not keep the device open.
#[derive(Clone)]
pub struct Pool {
    pub(crate) slabs: Kept<Arc<Slabs>>,
    source: Arc<dyn SlabSource>,
    domain: Domain,
}

impl Pool {
    pub(crate) fn new(device: &dyn driver::RawDevice, params: PoolParams) -> Result<Self> {
        let slabs = Arc::new(Slabs::new(params, device.limits().allocation_alignment)?);
        Ok(Self { slabs: slabs.into(), source: device.memory(), domain: device.domain() })
    }

    /// The parameters of the pool.
    pub fn params(&self) -> &PoolParams {
        self.slabs.params()
    }

    /// The present counts; zeros in a forked child.
    pub fn statistics(&self) -> PoolStatistics {
        if fork::is_child() {
            return PoolStatistics::default();
        }
        self.slabs.statistics()
    }

    /// Returns slabs to the device that hold no buffer and that no work uses. Never waits. Slabs with work in flight
    /// stay for the next trim.
    pub fn trim(&self) {
        if !fork::is_child() {
            self.slabs.trim(self.source.as_ref());
        }
    }

    pub(crate) fn domain(&self) -> Domain {
        self.domain
    }

    /// Takes memory for a buffer in the order of a queue.
    pub(crate) fn acquire(
        &self,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<Placed>> {
        let own = &self.params().memory;
        if !own.memory_type.contains(params.memory_type) || !own.usage.contains(params.usage) {
            return Err(Error::invalid_argument(format!(
                "{:?} for {:?} from a pool of {:?} for {:?}; create the pool with_memory that its buffers need",
                params.memory_type, params.usage, own.memory_type, own.usage
            )));
        }
        let reach = self.slabs.reach(Some(affinity));
        self.slabs.acquire(&self.source, size, params.min_alignment, reach)?.memory()
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("params", self.params()).finish_non_exhaustive()
    }
}
