// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels that fail on request. Kernels that leave their buffers on purpose have no twin, because nothing would stop
//! them.

use crate::LibraryBuilder;
use windlass_hal::Error;

use super::items::kernel;

pub(super) fn all(library: LibraryBuilder) -> LibraryBuilder {
    let trap_if = kernel("trap_if", |group| {
        if group.arguments.value::<u32>(1)? != 0 {
            return Err(Error::aborted("the kernel trapped"));
        }
        // SAFETY: the buffer holds one word.
        unsafe { group.arguments.buffer::<u32>(0)?.store(0, 1) };
        Ok(())
    });
    library.kernel(trap_if.buffer("out").value::<u32>("condition"))
}
