// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running a kernel over a grid, or over a part of it.

use std::{cell::Cell, ops::Range};

use windlass_hal::{Code, Error, Result, driver, panics};

use crate::{
    arguments::Arguments,
    entry::{Entry, WorkgroupRecord},
    executable::Executable,
    local_memory,
    workgroup::Workgroup,
};

/// A dispatch, submitted or recorded. The front has checked its shape.
#[derive(Clone, Copy)]
pub(crate) struct Launch<'a> {
    pub(crate) executable: &'a dyn driver::RawExecutable,
    pub(crate) function: u32,
    pub(crate) workgroup_count: [u32; 3],
    pub(crate) workgroup_size: [u32; 3],
    pub(crate) dynamic_local_memory: u32,
    /// At a multiple of 16 bytes.
    pub(crate) arguments: &'a [u8],
}

/// How many workgroups a grid has.
pub(crate) fn workgroups(count: [u32; 3]) -> u64 {
    count.iter().fold(1, |all: u64, one| all.saturating_mul(u64::from(*one)))
}

/// The executable as this driver made it.
pub(crate) fn own(executable: &dyn driver::RawExecutable) -> Result<&Executable> {
    let executable = executable.as_any().downcast_ref();
    executable.ok_or_else(|| Error::internal("the executable is none of the local device"))
}

/// Calls the kernel for each workgroup of a stretch of the grid, x fastest. The first error or panic ends it and names
/// the workgroup.
pub(crate) fn run(launch: &Launch<'_>, stretch: Range<u64>) -> Result<()> {
    let executable = own(launch.executable)?;
    let functions = launch.executable.functions();
    let (Some(function), Some(entry)) =
        (functions.get(launch.function as usize), executable.entry(launch.function))
    else {
        return Err(Error::internal(format!("the executable has no function {}", launch.function)));
    };
    let bytes = function.static_local_memory as usize + launch.dynamic_local_memory as usize;
    let at = Cell::new([0; 3]);
    let run = |local: &mut [u8]| match entry {
        Entry::Rust(code) => {
            let arguments = Arguments { function, block: launch.arguments, globals: executable.variables() };
            let grid = || {
                for_each(launch.workgroup_count, stretch, |id| {
                    at.set(id);
                    code(&mut Workgroup {
                        arguments,
                        id,
                        count: launch.workgroup_count,
                        size: launch.workgroup_size,
                        local_memory: local,
                    })
                })
            };
            panics::caught(grid)
                .unwrap_or_else(|text| Err(Error::aborted(format!("`{}` panicked: {text}", function.name))))
        }
        Entry::Native(kernel) => {
            let mut record = WorkgroupRecord::new(launch.workgroup_count, launch.workgroup_size);
            record.set_local_memory(local);
            for_each(launch.workgroup_count, stretch, |id| {
                record.workgroup_id = id;
                // SAFETY: the executable keeps the code loaded, whoever loaded it vouches for it, and block and record are
                // there until it returns.
                let status = unsafe { kernel(launch.arguments.as_ptr().cast(), &record) };
                if status == 0 {
                    return Ok(());
                }
                at.set(id);
                Err(returned(status))
            })
        }
    };
    local_memory::with(bytes, run)
        .map_err(|error| error.context(format!("running `{}`, workgroup {:?}", function.name, at.get())))
}

/// The error of a kernel that did not return 0.
#[cold]
pub(crate) fn returned(status: i32) -> Error {
    let code = u32::try_from(status).ok().and_then(Code::from_number);
    Error::new(code.unwrap_or(Code::Unknown), format!("the kernel returned {status}"))
}

/// Calls `run` with the place of each workgroup of a stretch, until one fails.
#[inline]
fn for_each(
    [width, height, _]: [u32; 3],
    stretch: Range<u64>,
    mut run: impl FnMut([u32; 3]) -> Result<()>,
) -> Result<()> {
    let (x, rest) = (stretch.start % u64::from(width), stretch.start / u64::from(width));
    let mut id = [x as u32, (rest % u64::from(height)) as u32, (rest / u64::from(height)) as u32];
    for _ in stretch {
        run(id)?;
        id[0] += 1;
        if id[0] == width {
            id = [0, id[1] + 1, id[2]];
            if id[1] == height {
                id = [0, 0, id[2] + 1];
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_make_the_grid() {
        let count = [3, 2, 4];
        let places = |stretch| {
            let mut places = Vec::new();
            for_each(count, stretch, |id| {
                places.push(id);
                Ok(())
            })
            .unwrap();
            places
        };
        let whole = places(0..workgroups(count));
        let nested = (0..4).flat_map(|z| (0..2).flat_map(move |y| (0..3).map(move |x| [x, y, z])));
        assert_eq!(whole, nested.collect::<Vec<_>>());
        for piece in 1..25 {
            let pieces =
                (0..24).step_by(piece).flat_map(|from| places(from as u64..(from + piece).min(24) as u64));
            assert_eq!(pieces.collect::<Vec<_>>(), whole, "pieces of {piece}");
        }
    }
}
