// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running a kernel over a grid, one workgroup after the other.

use std::cell::Cell;

use windlass_hal::{Code, Error, Result, driver, panics};

use crate::{
    arguments::Arguments,
    entry::{Entry, WorkgroupRecord},
    executable::Executable,
    workgroup::Workgroup,
};

/// The alignment of local memory in bytes.
const LOCAL_ALIGNMENT: usize = 64;

/// A dispatch, submitted or recorded. The front has checked its shape.
pub(crate) struct Launch<'a> {
    pub(crate) executable: &'a dyn driver::Executable,
    pub(crate) function: u32,
    pub(crate) workgroup_count: [u32; 3],
    pub(crate) workgroup_size: [u32; 3],
    pub(crate) dynamic_local_memory: u32,
    pub(crate) arguments: &'a [u8],
}

/// Calls the kernel for each workgroup, x fastest. The first error or panic ends the dispatch and names the workgroup.
pub(crate) fn run(launch: &Launch<'_>) -> Result<()> {
    let executable: &Executable = launch
        .executable
        .as_any()
        .downcast_ref()
        .ok_or_else(|| Error::internal("the executable is none of the local device"))?;
    let functions = driver::Executable::functions(executable);
    let (Some(function), Some(entry)) =
        (functions.get(launch.function as usize), executable.entry(launch.function))
    else {
        return Err(Error::internal(format!("the executable has no function {}", launch.function)));
    };
    let bytes = function.static_local_memory as usize + launch.dynamic_local_memory as usize;
    let mut local = LocalMemory::new(bytes)?;
    let at = Cell::new([0; 3]);
    let grid = || {
        let [width, height, depth] = launch.workgroup_count;
        for z in 0..depth {
            for y in 0..height {
                for x in 0..width {
                    at.set([x, y, z]);
                    match entry {
                        Entry::Rust(code) => code(&mut Workgroup {
                            arguments: Arguments {
                                function,
                                block: launch.arguments,
                                globals: executable.variables(),
                            },
                            id: [x, y, z],
                            count: launch.workgroup_count,
                            size: launch.workgroup_size,
                            local_memory: local.bytes(),
                        })?,
                        Entry::Native(kernel) => {
                            let memory = local.bytes();
                            let record = WorkgroupRecord {
                                record_size: size_of::<WorkgroupRecord>() as u32,
                                local_memory_size: memory.len() as u32,
                                workgroup_id: [x, y, z],
                                workgroup_count: launch.workgroup_count,
                                workgroup_size: launch.workgroup_size,
                                reserved: 0,
                                local_memory: memory.as_mut_ptr().cast(),
                            };
                            // SAFETY: the executable keeps the code loaded, and whoever loaded it vouches for it.
                            let status = unsafe { kernel(launch.arguments.as_ptr().cast(), &record) };
                            if status != 0 {
                                return Err(Error::new(
                                    Code::from_number(status as u32).unwrap_or(Code::Unknown),
                                    format!("the kernel returned {status}"),
                                ));
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    };
    panics::caught(grid)
        .unwrap_or_else(|text| Err(Error::aborted(format!("`{}` panicked: {text}", function.name))))
        .map_err(|error| error.context(format!("running `{}`, workgroup {:?}", function.name, at.get())))
}

/// Bytes at an aligned address, for the workgroups of one dispatch.
struct LocalMemory {
    bytes: Vec<u8>,
    size: usize,
}

impl LocalMemory {
    fn new(size: usize) -> Result<Self> {
        let mut bytes = Vec::new();
        if size > 0 {
            let total = size + LOCAL_ALIGNMENT;
            bytes.try_reserve_exact(total).map_err(|_| {
                Error::resource_exhausted(format!("the host has no {size} bytes of local memory"))
            })?;
            bytes.resize(total, 0xcd);
        }
        Ok(Self { bytes, size })
    }

    fn bytes(&mut self) -> &mut [u8] {
        let start = self.bytes.as_ptr().addr().wrapping_neg() % LOCAL_ALIGNMENT;
        self.bytes.get_mut(start..start + self.size).unwrap_or_default()
    }
}
