// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shape and the arguments of a dispatch.

use std::ffi::c_void;

use facade::{Argument, BufferRef, DispatchConfig, Error, Result, ResultExt};
use smallvec::SmallVec;

use crate::{
    buffer::{argument_ref_of, windlass_buffer_ref_t},
    memory::{Growing, bytes, list, read_struct},
};

/// The parameters of a launch. windlass_dispatch_config makes one.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_dispatch_config_t {
    /// sizeof this struct.
    pub struct_size: usize,
    /// Workgroups in x, y, z.
    pub workgroup_count: [u32; 3],
    /// Work-items of a workgroup in x, y, z; zeros if the code fixes them.
    pub workgroup_size: [u32; 3],
    /// Bytes of local memory (LDS) in addition to the function's own.
    pub dynamic_local_memory: u32,
    /// A set of WINDLASS_DISPATCH_*.
    pub flags: u32,
}

/// The caller has packed the arguments into one block. The first argument is the block, with exactly the function's
/// argument_size bytes in its layout. The other arguments are the buffers whose addresses the block contains; the
/// submission keeps them alive.
pub const WINDLASS_DISPATCH_RAW_ARGUMENTS: u32 = 1 << 0;

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_dispatch_config_t {
    const NAME: &'static str = "windlass_dispatch_config_t";
}

/// One argument, for one explicit parameter of the function, in the function's order. windlass_arg_buffer,
/// windlass_arg_i32 and similar functions make one. The bytes that it points to are read before the call returns.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_argument_t {
    /// One of WINDLASS_ARGUMENT_*.
    pub kind: u32,
    /// Bytes of `value`: 1, 2, 4 or 8.
    pub value_size: u32,
    /// The range of a buffer or of a slot.
    pub range: windlass_buffer_ref_t,
    /// Bytes of exactly the parameter's size: numbers and structs by value, in the kernel's layout.
    pub bytes: *const c_void,
    /// The number of bytes.
    pub size: usize,
    /// A number, in the first bytes.
    pub value: [u8; 8],
}

/// The address of a range; slots only in command buffers.
pub const WINDLASS_ARGUMENT_RANGE: u32 = 1;
/// Bytes at a pointer.
pub const WINDLASS_ARGUMENT_BYTES: u32 = 2;
/// A number in the argument itself.
pub const WINDLASS_ARGUMENT_VALUE: u32 = 3;
/// A null address.
pub const WINDLASS_ARGUMENT_NULL: u32 = 4;

/// The launch parameters of the caller.
///
/// # Safety
/// As for [`read_struct`].
pub(crate) unsafe fn config_of(config: *const windlass_dispatch_config_t) -> Result<DispatchConfig> {
    // SAFETY: the same contract.
    let given = unsafe { read_struct(config) }?;
    let mut config =
        DispatchConfig::new(given.workgroup_count).dynamic_local_memory(given.dynamic_local_memory);
    config.workgroup_size = (given.workgroup_size != [0; 3]).then_some(given.workgroup_size);
    config.raw_arguments = given.flags & WINDLASS_DISPATCH_RAW_ARGUMENTS != 0;
    match given.flags & !WINDLASS_DISPATCH_RAW_ARGUMENTS {
        0 => Ok(config),
        unknown => Err(Error::invalid_argument(format!("a dispatch with the unknown flags {unknown:#x}"))),
    }
}

/// Arguments of the caller, with the ranges that they name.
pub(crate) struct Arguments<'a> {
    given: &'a [windlass_argument_t],
    /// The ranges among the arguments.
    ranges: SmallVec<[Option<BufferRef>; 8]>,
}

impl<'a> Arguments<'a> {
    /// # Safety
    /// As for [`list`].
    pub(crate) unsafe fn read(count: usize, arguments: *const windlass_argument_t) -> Result<Self> {
        // SAFETY: the same contract.
        let given = unsafe { list("arguments", count, arguments) }?;
        let range = |(index, argument): (usize, &windlass_argument_t)| match argument.kind {
            WINDLASS_ARGUMENT_RANGE => argument_ref_of("range", &argument.range)
                .map(Some)
                .context(|| format!("looking at argument {index}")),
            _ => Ok(None),
        };
        let ranges = given.iter().enumerate().map(range).collect::<Result<_>>()?;
        Ok(Self { given, ranges })
    }

    /// # Safety
    /// The bytes that arguments point to must not change while the result lives.
    pub(crate) unsafe fn packed(&self) -> Result<SmallVec<[Argument<'_>; 8]>> {
        let pairs = self.given.iter().zip(&self.ranges).enumerate();
        pairs
            .map(|(index, (argument, range))| {
                Ok(match (argument.kind, range) {
                    (_, Some(BufferRef::Direct(buffer))) => Argument::Buffer(buffer),
                    (_, Some(BufferRef::Slot { slot, offset, length })) => {
                        Argument::Slot { slot: *slot, offset: *offset, length: *length }
                    }
                    (WINDLASS_ARGUMENT_BYTES, _) => {
                        // SAFETY: the same contract.
                        let bytes = unsafe { bytes("bytes", argument.size, argument.bytes) };
                        Argument::Bytes(bytes.context(|| format!("looking at argument {index}"))?)
                    }
                    (WINDLASS_ARGUMENT_VALUE, _) if matches!(argument.value_size, 1 | 2 | 4 | 8) => {
                        Argument::Bytes(&argument.value[..argument.value_size as usize])
                    }
                    (WINDLASS_ARGUMENT_NULL, _) => Argument::Null,
                    (kind, _) => {
                        return Err(Error::invalid_argument(format!(
                            "argument {index} is of the unknown kind {kind}, or a value of {} bytes; windlass_arg_buffer and \
                             its like make one",
                            argument.value_size
                        )));
                    }
                })
            })
            .collect()
    }
}
