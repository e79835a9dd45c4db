// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many workgroups a dispatch launches: numbers, or a place in memory that holds them.

use crate::{
    driver::{buffer_ref::BufferRef, range::Buffer},
    words::error::{Error, Result},
};

/// Bytes of a workgroup count in memory.
pub(crate) const PARAMETERS_SIZE: u64 = 12;

/// Where a dispatch finds its workgroup count: three numbers of 32 bits, x, y and z, at a multiple of 4 bytes, in a
/// buffer with [`BufferUsage::DISPATCH_INDIRECT_PARAMETERS`](crate::BufferUsage::DISPATCH_INDIRECT_PARAMETERS).
///
/// The two forms differ in when the numbers are read. A count with a zero in it launches nothing. One that the device
/// cannot take fails the signals of its submission with `OUT_OF_RANGE`, naming the command and the count.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum IndirectParameters {
    /// Read when the waits of the submission are reached, before any of its commands starts. What commands of the same
    /// command buffer write there is not seen. Cheaper where the host has to know the count.
    Static(BufferRef),
    /// Read when everything that the command is ordered behind has completed: commands before a barrier, or before the
    /// signal of an event that was waited for, may write the numbers.
    Dynamic(BufferRef),
}

impl IndirectParameters {
    /// The twelve bytes.
    pub fn range(&self) -> &BufferRef {
        match self {
            Self::Static(range) | Self::Dynamic(range) => range,
        }
    }

    /// The same, cut to twelve bytes; `OUT_OF_RANGE` where there are fewer.
    pub(crate) fn canonical(&self) -> Result<Self> {
        let range = self.range();
        if range.len() < PARAMETERS_SIZE {
            return Err(Error::out_of_range(format!(
                "indirect parameters need {PARAMETERS_SIZE} bytes and were given {}",
                range.len()
            )));
        }
        let range = match range {
            BufferRef::Direct(buffer) => BufferRef::Direct(buffer.subspan(0, PARAMETERS_SIZE)?),
            BufferRef::Slot { slot, offset, .. } => BufferRef::slot(*slot, *offset, PARAMETERS_SIZE),
        };
        Ok(match self {
            Self::Static(_) => Self::Static(range),
            Self::Dynamic(_) => Self::Dynamic(range),
        })
    }
}

/// How many workgroups a canonical dispatch launches.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WorkgroupCount {
    /// This many in x, y, z; none is zero, and the device can take them.
    Direct([u32; 3]),
    /// As many as twelve bytes say, which the driver reads, and checks with
    /// [`Limits::check_workgroups`](crate::Limits::check_workgroups).
    Indirect(Box<IndirectParameters>),
}

impl WorkgroupCount {
    /// The buffer that holds the count, in a submission with these bindings. `None` for a direct count, and for a
    /// range that is not there.
    pub fn buffer(&self, bindings: &[Buffer]) -> Option<Buffer> {
        match self {
            Self::Direct(_) => None,
            Self::Indirect(parameters) => match parameters.range() {
                BufferRef::Direct(buffer) => Some(buffer.clone()),
                BufferRef::Slot { slot, offset, length } => {
                    bindings.get(*slot as usize)?.subspan(*offset, *length).ok()
                }
            },
        }
    }
}
