// SPDX-License-Identifier: MIT OR Apache-2.0
//! The GPUs of a device: the knowledge about a device that its buffers, executables and queues need.

use std::{any::Any, ops::Deref, sync::Arc};

use windlass_hal::{Error, Limits, QueueAffinity, Result, edge::Domain};

use crate::{gpu::Gpu, hip::Hip};

/// Keeps a device open. Work in flight may hold no object of the device but one buffer or executable, and the device must
/// not close before that work has retired.
pub(crate) type KeepOpen = Arc<dyn Any + Send + Sync>;

/// The GPUs of one device, at least one. Each has an equal share of the device's queues.
pub(crate) struct Gpus {
    gpus: Box<[Arc<Gpu>]>,
    queues_per_gpu: usize,
    /// The first GPU's, for calls that concern the whole device. All GPUs of a device are lost together.
    pub(crate) hip: Hip,
    pub(crate) domain: Domain,
    pub(crate) limits: Limits,
}

impl Gpus {
    pub(crate) fn new(gpus: Vec<Gpu>, limits: Limits) -> Self {
        let gpus: Box<[_]> = gpus.into_iter().map(Arc::new).collect();
        Self {
            queues_per_gpu: (limits.queues as usize / gpus.len()).max(1),
            hip: gpus[0].hip.clone(),
            domain: Domain::unique(),
            limits,
            gpus,
        }
    }

    /// The GPU that a queue runs on.
    pub(crate) fn of_queue(&self, index: u32) -> &Arc<Gpu> {
        &self.gpus[(index as usize / self.queues_per_gpu).min(self.gpus.len() - 1)]
    }

    /// The GPU whose memory is nearest to a set of queues: that of the first queue in the set.
    pub(crate) fn nearest(&self, affinity: QueueAffinity) -> &Arc<Gpu> {
        let first = affinity.bits().trailing_zeros();
        if first < self.limits.queues { self.of_queue(first) } else { &self.gpus[0] }
    }

    /// The one GPU that has all queues of `affinity`. Each GPU has its own copy of a global variable.
    pub(crate) fn only(&self, affinity: QueueAffinity) -> Result<&Gpu> {
        let queues = self.limits.queues;
        let allowed = |index: &u32| *index < 64 && affinity.bits() >> index & 1 == 1;
        let mut gpus = (0..queues).filter(allowed).map(|index| self.of_queue(index).as_ref());
        let first = gpus.next().ok_or_else(|| {
            Error::out_of_range(format!("{affinity:?} names no queue of a device that has {queues}"))
        })?;
        if gpus.any(|other| other.index != first.index) {
            return Err(Error::failed_precondition(
                "each GPU of the device has a copy of its own: ask with the queues of one GPU, its `physical_affinity`",
            ));
        }
        Ok(first)
    }
}

impl Deref for Gpus {
    type Target = [Arc<Gpu>];

    #[inline]
    fn deref(&self) -> &[Arc<Gpu>] {
        &self.gpus
    }
}
