// SPDX-License-Identifier: MIT OR Apache-2.0
//! Launches: the arguments by their addresses become the block that the kernel reads.
#![allow(unsafe_code)]

use std::{ffi::c_void, ptr};

use facade::{Argument, DispatchConfig, Error, FunctionInfo, Result};
use smallvec::SmallVec;

use crate::{boundary::call, handles::Kind, memory, module::Kernel, order::stream_of, stream::Work};

/// Launches a kernel in the order of a stream, with the addresses of its `count` arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuLaunchKernel(
    function: *mut c_void,
    grid_x: isize,
    grid_y: isize,
    grid_z: isize,
    block_x: isize,
    block_y: isize,
    block_z: isize,
    local_memory: i32,
    stream: *mut c_void,
    arguments: *const *const c_void,
    extra: *const *const c_void,
    count: usize,
) {
    let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    let attempt = || {
        let kernel = Kernel::table().get(function);
        let name = kernel.map_or_else(|_| format!("{function:p}"), |kernel| format!("`{}`", kernel.0.name()));
        format!(
            "mgpuLaunchKernel({name}, grid {grid:?}, block {block:?}, {local_memory} bytes of local memory, \
             {stream:p}, {count} arguments)"
        )
    };
    call((), attempt, || {
        let function = Kernel::table().get(function)?.0.clone();
        let stream = stream_of(stream)?;
        if !extra.is_null() {
            return Err(Error::unimplemented("arguments in `extra`; pass the address of each argument"));
        }
        let (workgroups, size) = (extent("grid", grid)?, extent("block", block)?);
        let local_memory = u32::try_from(local_memory)
            .map_err(|_| Error::invalid_argument(format!("{local_memory} bytes of local memory")))?;
        // The launch keeps no memory: memory is freed behind the work of all streams.
        // SAFETY: the program passes the address of each argument of the kernel.
        let packed = unsafe { pack(function.info(), arguments, count) }?;
        let config = DispatchConfig::new(workgroups)
            .workgroup_size(size)
            .dynamic_local_memory(local_memory)
            .raw_arguments();
        stream.submit(Work::Launch(function.clone(), workgroups, size), |queue, waits, signals| {
            queue.dispatch(waits, signals, &function, config, &[Argument::Bytes(&packed)])
        })
    });
}

fn extent(what: &str, given: [isize; 3]) -> Result<[u32; 3]> {
    let mut extent = [0; 3];
    for (number, given) in extent.iter_mut().zip(given) {
        *number = u32::try_from(given)
            .map_err(|_| Error::out_of_range(format!("a {what} of {given} in one dimension")))?;
    }
    Ok(extent)
}

/// The block of the arguments.
///
/// # Safety
/// `arguments` leads to `count` addresses, each of a value as large as the kernel's parameter.
unsafe fn pack(
    info: &FunctionInfo,
    arguments: *const *const c_void,
    count: usize,
) -> Result<SmallVec<[u8; 256]>> {
    if count != info.parameters.len() {
        return Err(Error::invalid_argument(format!(
            "the kernel has {} parameters, and the launch passes {count}: {}; MLIR 19 and later pass the number",
            info.parameters.len(),
            info.signature()
        )));
    }
    if arguments.is_null() && count > 0 {
        return Err(Error::invalid_argument("the list of arguments is null"));
    }
    let mut block: SmallVec<[u8; 256]> = SmallVec::from_elem(0, info.argument_size as usize);
    for (index, parameter) in info.parameters.iter().enumerate() {
        // SAFETY: index < count.
        let value = unsafe { *arguments.add(index) }.cast::<u8>();
        let (at, size) = (parameter.offset as usize, parameter.size as usize);
        let place = block.get_mut(at..).and_then(|rest| rest.get_mut(..size));
        let (Some(place), false) = (place, value.is_null()) else {
            return Err(Error::invalid_argument(format!("argument {index} of {} is null", info.signature())));
        };
        // SAFETY: the argument has the size of the parameter, and `place` too.
        unsafe { ptr::copy_nonoverlapping(value, place.as_mut_ptr(), size) };
        // MLIR's pointers are generic, which the code's metadata calls values.
        if let Ok(word) = <&mut [u8; 8]>::try_from(place) {
            *word = memory::translated(u64::from_le_bytes(*word)).to_le_bytes();
        }
    }
    Ok(block)
}
