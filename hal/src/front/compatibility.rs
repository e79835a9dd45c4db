// SPDX-License-Identifier: MIT OR Apache-2.0
//! Heaps: the kinds of memory that a device allocates, and what a buffer in them can be used for.

use crate::{
    front::device::Device,
    words::{
        buffer_params::{BufferParams, BufferUsage, MemoryType, check_params},
        flags::flags,
        heap::Heap,
        info::Feature,
    },
};

flags! {
    /// What can be done with buffers of some parameters, with IREE's numeric values.
    pub struct Compatibility: u32 {
        /// The device allocates them.
        ALLOCATABLE = 1 << 0;
        /// Host or device memory of somebody else can become one.
        IMPORTABLE = 1 << 1;
        /// Others can use them by their address.
        EXPORTABLE = 1 << 2;
        /// Queues can fill, update and copy them.
        QUEUE_TRANSFER = 1 << 10;
        /// Dispatches can use them.
        QUEUE_DISPATCH = 1 << 11;
        /// They are not where they were wished to be.
        LOW_PERFORMANCE = 1 << 20;
    }
}

impl Device {
    /// The kinds of memory that the device allocates, the best for dispatches first.
    pub fn heaps(&self) -> &[Heap] {
        &self.limits().heaps
    }

    /// What can be done with a buffer of `size` bytes. Nothing is allocated: there may be no memory for it now.
    pub fn compatibility(&self, params: &BufferParams, size: u64) -> Compatibility {
        let best = |heap: &&Heap| heap.memory_type.contains(params.memory_type);
        let mut heaps = self.heaps().iter().filter(|heap| heap.serves(params));
        let Some(heap) = heaps.clone().find(best).or_else(|| heaps.next()) else {
            return Compatibility::NONE;
        };
        // A heap that is full is no reason to look for another: the parameters say which one.
        if check_params(params).is_err() || size > heap.max_size {
            return Compatibility::NONE;
        }
        let lacks = |feature| self.lacks(feature);
        let import = match params.memory_type.contains(MemoryType::HOST_VISIBLE) {
            true => Feature::ImportHost,
            false => Feature::ImportDevice,
        };
        let dispatched = params.usage.0
            & (BufferUsage::DISPATCH_STORAGE.0 | BufferUsage::DISPATCH_INDIRECT_PARAMETERS.0)
            != 0;
        let mut compatibility = Compatibility::ALLOCATABLE | Compatibility::EXPORTABLE;
        for (flag, holds) in [
            (Compatibility::IMPORTABLE, !lacks(import)),
            (Compatibility::QUEUE_TRANSFER, params.usage.0 & BufferUsage::TRANSFER.0 != 0),
            (Compatibility::QUEUE_DISPATCH, dispatched && !lacks(Feature::Dispatch)),
            (Compatibility::LOW_PERFORMANCE, !best(&heap)),
        ] {
            if holds {
                compatibility = compatibility | flag;
            }
        }
        compatibility
    }
}
