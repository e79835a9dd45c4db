// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compatibility: the possible uses of a buffer with given parameters on a device.

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
    /// The possible uses of buffers with given parameters, with IREE's numeric values.
    pub struct Compatibility: u32 {
        /// The device can allocate them.
        ALLOCATABLE = 1 << 0;
        /// Foreign host or device memory can be imported as such a buffer.
        IMPORTABLE = 1 << 1;
        /// Their addresses can be exported.
        EXPORTABLE = 1 << 2;
        /// Queues can fill, update and copy them.
        QUEUE_TRANSFER = 1 << 10;
        /// Dispatches can use them.
        QUEUE_DISPATCH = 1 << 11;
        /// They are in another memory than the parameters prefer.
        LOW_PERFORMANCE = 1 << 20;
    }
}

impl Device {
    /// The kinds of memory that the device allocates. The best for dispatches comes first.
    pub fn heaps(&self) -> &[Heap] {
        &self.limits().heaps
    }

    /// The possible uses of a buffer of `size` bytes. This allocates nothing, and does not tell whether there is memory
    /// now.
    pub fn compatibility(&self, params: &BufferParams, size: u64) -> Compatibility {
        let best = |heap: &&Heap| heap.memory_type.contains(params.memory_type);
        let mut heaps = self.heaps().iter().filter(|heap| heap.serves(params));
        let Some(heap) = heaps.clone().find(best).or_else(|| heaps.next()) else {
            return Compatibility::NONE;
        };
        // A size above the maximum of this heap does not lead to another heap, because the parameters choose the heap.
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
