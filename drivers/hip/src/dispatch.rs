// SPDX-License-Identifier: MIT OR Apache-2.0
//! A submitted dispatch: its launch, and before that a copy of its workgroup count if only device memory has it.

use windlass_hal::{Error, FunctionInfo, Result, WorkgroupCount, driver};

use crate::{
    call::Function,
    executable::Executable,
    submission::{NewPiece, Resume, Submission, Work},
    workgroup_count,
};

/// Enqueues the launch, or the copy of its workgroup count. Returns where the next piece begins, if one is needed.
pub(crate) fn enqueue(piece: &NewPiece<'_>, submission: &Submission) -> Result<Option<Resume>> {
    let Work::Dispatch { executable, function, workgroup_count: count, workgroup_size, dynamic_local_memory } =
        &submission.work
    else {
        return Err(Error::internal("a dispatch that is none"));
    };
    let NewPiece { stream, limits, start, waits_completed, ref counts } = *piece;
    let (executable, function) = (executable.as_ref(), *function);
    let grid = match count {
        WorkgroupCount::Direct(grid) => *grid,
        indirect => {
            let count = indirect.buffer(&[]).ok_or_else(|| Error::internal("a count without a buffer"))?;
            if start.known == 0 && !(waits_completed && counts.copy_on_host(0, &count)?) {
                stream.copy(counts.address(0)?, count.device_address(), workgroup_count::SIZE)?;
                return Ok(Some(Resume { step: 0, known: 1 }));
            }
            let grid = counts.get(0)?;
            let info = function_info(executable, function)?;
            let context = || format!("indirect count {grid:?}");
            match workgroup_count::checked(grid, info, *workgroup_size, limits, context)? {
                Some(grid) => grid,
                None => return Ok(None),
            }
        }
    };
    let function = functions_of(executable, function)?[stream.gpu.index];
    stream.launch(function, grid, *workgroup_size, *dynamic_local_memory, &submission.arguments)?;
    Ok(None)
}

/// A kernel of an executable of this device, once for each GPU.
pub(crate) fn functions_of(executable: &dyn driver::RawExecutable, index: u32) -> Result<&[Function]> {
    executable
        .as_any()
        .downcast_ref::<Executable>()
        .and_then(|executable| executable.functions_of(index))
        .ok_or_else(|| Error::internal("a function of another driver reached the HIP driver"))
}

/// The description of a kernel.
pub(crate) fn function_info(executable: &dyn driver::RawExecutable, index: u32) -> Result<&FunctionInfo> {
    executable
        .functions()
        .get(index as usize)
        .ok_or_else(|| Error::internal("a function without a description"))
}
