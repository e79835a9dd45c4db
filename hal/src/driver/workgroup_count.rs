// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workgroup count of a dispatch: numbers, or the range that holds them.

use crate::{
    driver::{buffer_ref::BufferRef, range::Buffer},
    words::error::{Error, Result},
};

/// The size of a workgroup count in memory, in bytes.
pub(crate) const PARAMETERS_SIZE: u64 = 12;

/// The range that holds the workgroup count of a dispatch: three 32-bit numbers, x, y and z, at a multiple of 4 bytes.
/// The buffer needs [`BufferUsage::DISPATCH_INDIRECT_PARAMETERS`](crate::BufferUsage::DISPATCH_INDIRECT_PARAMETERS).
///
/// The two forms differ in the moment of reading. A count with a zero in it launches nothing. A count that exceeds the
/// limits of the device fails the signals of its submission with `OUT_OF_RANGE`, which names the command and the count.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum IndirectParameters {
    /// The count is read when the waits of the submission are reached, before any of its commands starts. Writes by
    /// commands of the same command buffer are not seen. This form is cheaper where the host has to read the count.
    Static(BufferRef),
    /// The count is read when all commands that the dispatch is ordered behind have completed. So commands before a
    /// barrier, or before the signal of an awaited event, may write the count.
    Dynamic(BufferRef),
}

impl IndirectParameters {
    /// The range of the count.
    pub fn range(&self) -> &BufferRef {
        match self {
            Self::Static(range) | Self::Dynamic(range) => range,
        }
    }

    /// The same with a range of exactly twelve bytes. `OUT_OF_RANGE` where there are fewer.
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

/// The workgroup count of a canonical dispatch.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum WorkgroupCount {
    /// Workgroups in x, y, z. None is zero, and the device can launch them.
    Direct([u32; 3]),
    /// The driver reads the twelve bytes of the range and checks them with
    /// [`Limits::check_workgroups`](crate::Limits::check_workgroups).
    Indirect(Box<IndirectParameters>),
}

impl WorkgroupCount {
    /// The borrowed form, which recorded dispatches have.
    pub fn as_ref(&self) -> WorkgroupCountRef<'_> {
        match self {
            Self::Direct(count) => WorkgroupCountRef::Direct(*count),
            Self::Indirect(parameters) => WorkgroupCountRef::Indirect(parameters),
        }
    }

    /// The buffer that holds the count, in a submission with these bindings. `None` for a direct count, and for a range
    /// that does not exist.
    pub fn buffer(&self, bindings: &[Buffer]) -> Option<Buffer> {
        self.as_ref().buffer(bindings)
    }
}

/// The workgroup count of a dispatch, borrowed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum WorkgroupCountRef<'a> {
    /// As [`WorkgroupCount::Direct`].
    Direct([u32; 3]),
    /// As [`WorkgroupCount::Indirect`].
    Indirect(&'a IndirectParameters),
}

impl WorkgroupCountRef<'_> {
    /// The numbers, if they are known.
    pub(crate) fn direct(self) -> Option<[u32; 3]> {
        match self {
            Self::Direct(count) => Some(count),
            Self::Indirect(_) => None,
        }
    }

    /// The owned form.
    pub fn to_owned(&self) -> WorkgroupCount {
        match *self {
            Self::Direct(count) => WorkgroupCount::Direct(count),
            Self::Indirect(parameters) => WorkgroupCount::Indirect(Box::new(parameters.clone())),
        }
    }

    /// The buffer that holds the count, in a submission with these bindings. `None` for a direct count, and for a range
    /// that does not exist.
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
