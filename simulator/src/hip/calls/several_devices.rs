// SPDX-License-Identifier: MIT OR Apache-2.0
//! Launches on several devices by one call. Cooperative ones are one grid, whose parts wait for each other.

use std::ffi::{c_int, c_uint};
use std::sync::Arc;

use windlass_hip_sys::bindings::{hipError_t, hipFunctionLaunchParams, hipLaunchParams, hipStream_t};

use super::launch::{Arguments, check_cooperative, extents, lds, prepare};
use super::module::{function, function_on};
use crate::hip::boundary::call::Call;
use crate::hip::objects::stream::Stream;
use crate::hip::programs::program::Function;
use crate::hip::services::grid_sync::{Part, Parts};
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::item::Work;
use crate::hip::work::launch::{Launch, Launched, Shape};

/// `hipCooperativeLaunchMultiDeviceNoPreSync`: the launch does not wait for the earlier work of the streams.
const NO_WAIT_BEFORE: c_uint = 1;
/// `hipCooperativeLaunchMultiDeviceNoPostSync`: the call does not wait for the launch.
const NO_WAIT_AFTER: c_uint = 2;

/// The launch on one device.
struct One {
    function: Arc<Function>,
    shape: Shape,
    arguments: Arguments,
    stream: Arc<Stream>,
}

/// The entries of a client's list, if there are no more than devices.
fn entries<T: Copy>(call: &Call, list: *const T, count: u64) -> Outcome<Vec<T>> {
    if list.is_null() || count == 0 || count > call.runtime.machine.devices.len() as u64 {
        return Err(Code::INVALID_VALUE);
    }
    (0..count as usize).map(|index| call.get(list.wrapping_add(index))).collect()
}

/// The stream of an entry. The null stream is refused, as in AMD's HIP.
fn stream_of(call: &Call, stream: hipStream_t) -> Outcome<Arc<Stream>> {
    if stream.is_null() {
        return Err(Code::INVALID_HANDLE);
    }
    call.working_stream(stream).map_err(|code| match code {
        Code::CONTEXT_IS_DESTROYED => Code::INVALID_VALUE,
        code => code,
    })
}

fn wait_for(call: &Call, launches: &[One]) -> Outcome<()> {
    let tails: Vec<_> = launches.iter().map(|one| call.runtime.scheduler.tail(&one.stream)).collect();
    Ok(call.runtime.scheduler.wait(&tails)?)
}

fn launch_all(call: &Call, launches: Vec<One>, flags: c_uint, cooperative: bool) -> Outcome<()> {
    if flags > NO_WAIT_BEFORE | NO_WAIT_AFTER {
        return Err(Code::INVALID_VALUE);
    }
    for (index, one) in launches.iter().enumerate() {
        if one.shape.block.contains(&0) {
            return Err(Code::INVALID_CONFIGURATION);
        }
        if launches.iter().take(index).any(|other| other.stream.device == one.stream.device) {
            explain(format!("{}: two of the streams belong to device {}", call.name, one.stream.device));
            return Err(Code::INVALID_DEVICE);
        }
        if one.stream.device != one.function.program.device {
            return Err(Code::INVALID_DEVICE);
        }
        call.runtime.machine.device(one.stream.device)?.check()?;
    }
    // A part that is not launched would leave the others waiting for it, so all are checked before.
    let mut prepared = Vec::new();
    for one in &launches {
        let shape = if cooperative { one.shape.cooperative() } else { one.shape };
        if cooperative {
            check_cooperative(call, &one.function, &shape)?;
        }
        // Only graphs ask for the name, and these launches are in none.
        prepared.push(prepare(call, (one.function.clone(), 0), shape, one.arguments)?);
    }
    let mut parts = Vec::new();
    if cooperative {
        let sizes: Vec<u64> = prepared.iter().map(|kernel| kernel.shape.all_work_items()).collect();
        let shared = Parts::new(&call.runtime.machine.memory, &sizes).map_err(|_| Code::OUT_OF_MEMORY)?;
        parts = Part::all(&shared);
    }
    if flags & NO_WAIT_BEFORE == 0 {
        wait_for(call, &launches)?;
    }
    let mut parts = parts.into_iter();
    for (one, kernel) in launches.iter().zip(prepared) {
        let by = Launched(call.name, Some(call.number));
        let mut launch = Launch::new(kernel.function.kernel.clone(), kernel.shape, kernel.arguments, by);
        if let Some(part) = parts.next() {
            launch = launch.part_of_grid(part);
        }
        call.runtime.enqueue(&one.stream, Work::Launch(Box::new(launch)), &[])?;
    }
    if flags & NO_WAIT_AFTER == 0 {
        wait_for(call, &launches)?;
        for one in &launches {
            call.runtime.machine.device(one.stream.device)?.check()?;
            one.stream.report()?;
        }
    }
    Ok(())
}

fn by_symbols(
    call: &Call,
    list: *const hipLaunchParams,
    count: c_int,
    flags: c_uint,
    cooperative: bool,
) -> Outcome<()> {
    let entries = entries(call, list, u64::try_from(count).unwrap_or(0))?;
    let one = |entry: &hipLaunchParams| {
        let stream = stream_of(call, entry.stream)?;
        Ok(One {
            function: function_on(call, entry.func, stream.device)
                .map_err(|_| Code::INVALID_DEVICE_FUNCTION)?,
            shape: Shape::new(extents(entry.gridDim), extents(entry.blockDim), lds(entry.sharedMem)),
            arguments: Arguments::each(entry.args),
            stream,
        })
    };
    let launches = entries.iter().map(one).collect::<Outcome<Vec<_>>>()?;
    launch_all(call, launches, flags, cooperative)
}

pub(in crate::hip) unsafe extern "C" fn hipLaunchCooperativeKernelMultiDevice(
    list: *mut hipLaunchParams,
    count: c_int,
    flags: c_uint,
) -> hipError_t {
    hip!(hipLaunchCooperativeKernelMultiDevice, |call| by_symbols(call, list, count, flags, true))
}

pub(in crate::hip) unsafe extern "C" fn hipExtLaunchMultiKernelMultiDevice(
    list: *mut hipLaunchParams,
    count: c_int,
    flags: c_uint,
) -> hipError_t {
    hip!(hipExtLaunchMultiKernelMultiDevice, |call| by_symbols(call, list, count, flags, false))
}

pub(in crate::hip) unsafe extern "C" fn hipModuleLaunchCooperativeKernelMultiDevice(
    list: *mut hipFunctionLaunchParams,
    count: c_uint,
    flags: c_uint,
) -> hipError_t {
    hip!(hipModuleLaunchCooperativeKernelMultiDevice, |call| {
        let entries = entries(call, list, count.into())?;
        let one = |entry: &hipFunctionLaunchParams| {
            let grid = [entry.gridDimX, entry.gridDimY, entry.gridDimZ];
            let block = [entry.blockDimX, entry.blockDimY, entry.blockDimZ];
            Ok(One {
                function: function(call, entry.function)?,
                shape: Shape::new(grid, block, entry.sharedMemBytes),
                arguments: Arguments::each(entry.kernelParams),
                stream: stream_of(call, entry.hStream)?,
            })
        };
        let launches = entries.iter().map(one).collect::<Outcome<Vec<_>>>()?;
        launch_all(call, launches, flags, true)
    })
}
