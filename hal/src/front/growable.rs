// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers that grow in place.

use std::{fmt, ops::Range, sync::Arc};

use crate::{
    driver::{self, range::Buffer},
    front::device::Device,
    words::{
        buffer_params::{BufferParams, BufferUsage, MemoryType, check_params},
        error::{Error, Result, ResultExt},
        fork::{self, Kept},
        info::Feature,
    },
};

impl Device {
    /// Reserves `capacity` bytes of device addresses, rounded up to whole [granules](GrowableBuffer::granularity). The
    /// addresses have no memory yet: [`GrowableBuffer::grow_to`] puts memory behind the first part of them.
    ///
    /// The host cannot map such memory, so parameters of memory that the host sees are `INVALID_ARGUMENT`, and so is a
    /// capacity of 0. `RESOURCE_EXHAUSTED` if the device has no addresses for the capacity. `UNIMPLEMENTED` where the
    /// device declares the lack of [`Feature::VirtualMemory`].
    pub fn reserve_growable(&self, params: &BufferParams, capacity: u64) -> Result<GrowableBuffer> {
        check_params(params)?;
        fork::check()?;
        if let Some(lack) = self.info().lacks.iter().find(|lack| lack.feature == Feature::VirtualMemory) {
            return Err(Error::unimplemented(format!(
                "this device has no buffers that grow: {}",
                lack.reason
            )));
        }
        if params.memory_type.0 & MemoryType::HOST_VISIBLE.0 == MemoryType::HOST_VISIBLE.0
            || params.usage.contains(BufferUsage::MAPPING)
        {
            return Err(Error::invalid_argument(
                "the host cannot map a buffer that grows: use the parameters of device memory",
            ));
        }
        if capacity == 0 {
            return Err(Error::invalid_argument("a buffer that grows to 0 bytes at most"));
        }
        let raw = self.open.raw.reserve_growable(params, capacity);
        let raw = raw.context(|| format!("reserving {capacity} bytes of addresses"))?;
        Ok(GrowableBuffer { raw: raw.into(), params: *params })
    }
}

/// Memory that grows in place: reserved device addresses with memory behind their first part. The addresses never
/// change, and growing keeps all contents. From [`Device::reserve_growable`].
///
/// [`buffer`](Self::buffer) makes buffers of the part that has memory. A buffer keeps its pages: work in flight may use
/// it while another thread grows or shrinks the memory, or drops this object. Clones are handles of the same memory, and
/// may be used on any thread.
#[derive(Clone)]
pub struct GrowableBuffer {
    raw: Kept<Arc<dyn driver::RawGrowable>>,
    params: BufferParams,
}

impl GrowableBuffer {
    /// The bytes that have memory, counted from the first address: a multiple of [`granularity`](Self::granularity).
    pub fn size(&self) -> u64 {
        if fork::is_child() { 0 } else { self.raw.size() }
    }

    /// The reserved bytes: the greatest [`size`](Self::size).
    pub fn capacity(&self) -> u64 {
        self.raw.capacity()
    }

    /// The bytes of the pages that memory comes in. Sizes are rounded up to multiples of it.
    pub fn granularity(&self) -> u64 {
        self.raw.granularity()
    }

    /// The first address for device code. It never changes.
    pub fn device_address(&self) -> u64 {
        self.raw.device_address()
    }

    /// The parameters of the memory.
    pub fn params(&self) -> BufferParams {
        self.params
    }

    /// Puts memory behind the first `size` bytes, rounded up to whole granules. Does nothing where they have memory. The
    /// contents of new memory are undefined.
    ///
    /// `OUT_OF_RANGE` above the capacity. `RESOURCE_EXHAUSTED` if memory is short; nothing has changed then. As an
    /// allocation, it may block for a few seconds at most, until the system has taken idle memory back.
    pub fn grow_to(&self, size: u64) -> Result<()> {
        fork::check()?;
        let capacity = self.capacity();
        if size > capacity {
            return Err(Error::out_of_range(format!(
                "{size} bytes of a buffer that grows to {capacity}; reserve more addresses"
            )));
        }
        self.raw.grow_to(size).context(|| format!("growing memory to {size} bytes"))
    }

    /// Gives memory behind the first `size` bytes back to the system. The memory goes in the pieces in which it came, so
    /// [`size`](Self::size) may stay above `size`, and a buffer that was made of a piece keeps it until it is dropped. Does
    /// nothing where the memory is smaller already. Never waits for work.
    pub fn shrink_to(&self, size: u64) -> Result<()> {
        fork::check()?;
        self.raw.shrink_to(size).context(|| format!("shrinking memory to {size} bytes"))
    }

    /// A buffer of these bytes. `OUT_OF_RANGE` if a part has no memory, `INVALID_ARGUMENT` if the range ends before it
    /// begins. The buffer stays as it is when the memory grows; make a new one to reach the new part.
    pub fn buffer(&self, range: Range<u64>) -> Result<Buffer> {
        fork::check()?;
        let Some(length) = range.end.checked_sub(range.start) else {
            return Err(Error::invalid_argument(format!("the range {range:?} ends before it begins")));
        };
        let size = self.size();
        if range.end > size {
            return Err(Error::out_of_range(format!(
                "bytes {range:?} of memory that has grown to {size} bytes"
            )));
        }
        let raw = Arc::clone(&self.raw).buffer(range.start, length)?;
        Ok(Buffer::from_driver(raw, self.params))
    }
}

impl fmt::Debug for GrowableBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, size, capacity) = (self.device_address(), self.size(), self.capacity());
        write!(f, "GrowableBuffer({address:#x}, {size} of {capacity} bytes)")
    }
}
