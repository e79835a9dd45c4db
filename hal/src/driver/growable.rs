// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of a driver that grows in place: reserved addresses with memory behind their first part.

use std::{any::Any, sync::Arc};

use crate::{driver::RawBuffer, order::edge::Domain, words::error::Result};

/// Reserved addresses, with memory behind the first [`size`](Self::size) bytes. The kit's
/// [`Growable`](crate::growable::Growable) implements it over a driver's
/// [`AddressSpace`](crate::growable::AddressSpace).
///
/// Any thread may call each method, several at once.
///
/// # Safety
/// Fronts rely on [`domain`](Self::domain), [`device_address`](Self::device_address) and [`capacity`](Self::capacity),
/// which never change, and on the buffers: the memory behind a [`buffer`](Self::buffer) stays where it is until that
/// buffer is dropped, whatever happens to this object. A wrapper that forwards the calls must keep the wrapped object.
#[allow(unsafe_code)]
pub unsafe trait RawGrowable: Any + Send + Sync {
    /// The device that owns the addresses.
    fn domain(&self) -> Domain;

    /// The first address.
    fn device_address(&self) -> u64;

    /// The reserved bytes, a multiple of [`granularity`](Self::granularity).
    fn capacity(&self) -> u64;

    /// The bytes of the pages that memory comes in.
    fn granularity(&self) -> u64;

    /// The bytes that have memory, from the first address on: a multiple of [`granularity`](Self::granularity).
    fn size(&self) -> u64;

    /// Puts memory behind the first `size` bytes at least, which are not more than the capacity. Memory that is there
    /// stays with its contents, and new memory has undefined contents. `RESOURCE_EXHAUSTED` names the size and the free
    /// bytes, and changes nothing.
    fn grow_to(&self, size: u64) -> Result<()>;

    /// Gives back memory behind the first `size` bytes, as far as its pages allow, and once no buffer holds it. Never
    /// waits for work.
    fn shrink_to(&self, size: u64) -> Result<()>;

    /// A range that has memory, as an allocation. It keeps its pages. `OUT_OF_RANGE` where a part has no memory, because
    /// another thread may have given it back since the front looked.
    fn buffer(self: Arc<Self>, offset: u64, length: u64) -> Result<Arc<dyn RawBuffer>>;
}
