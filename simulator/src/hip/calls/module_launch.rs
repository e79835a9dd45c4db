// SPDX-License-Identifier: MIT OR Apache-2.0
//! Launches by AMD's extension, which libraries of assembly use: sizes in work-items, of which the last workgroups may have
//! fewer, and events around the kernel.

use std::ffi::c_void;

use windlass_hip_sys::bindings::{hipError_t, hipEvent_t, hipFunction_t, hipStream_t};

use super::event;
use super::launch::{Arguments, check_shape, launch, lds};
use super::module::function;
use crate::hip::boundary::call::Call;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::launch::Shape;

/// The parameters of a launch besides its function.
struct Extended {
    work_items: [u32; 3],
    block: [u32; 3],
    dynamic_lds: usize,
    stream: hipStream_t,
    arguments: Arguments,
    start: hipEvent_t,
    stop: hipEvent_t,
}

impl Extended {
    fn launch(self, call: &Call, handle: hipFunction_t) -> Outcome<()> {
        let Self { work_items, block, dynamic_lds, stream, arguments, start, stop } = self;
        let function = function(call, handle)?;
        let shape = Shape::of_work_items(work_items, block, lds(dynamic_lds)).map_err(|code| {
            let is_configuration = !call.is_since(7) && !work_items.contains(&0);
            if is_configuration { Code::INVALID_CONFIGURATION } else { code }
        })?;
        // The kernel must allow workgroups of the size that the client states, also where all work-items are fewer.
        check_shape(call, &Shape::new([1; 3], block, lds(dynamic_lds)), &function.kernel)?;
        let divides = work_items.iter().zip(shape.block).all(|(items, block)| items % block == 0);
        if !divides && function.kernel.description().uniform_workgroup_size {
            explain(format!(
                "kernel {} was compiled for whole workgroups, which {work_items:?} work-items are not with workgroups of \
                 {block:?}: round up, or compile with -fno-offload-uniform-block",
                function.kernel.name()
            ));
            return Err(Code::INVALID_VALUE);
        }
        // An event that is none must not leave the kernel launched.
        for event in [start, stop].into_iter().filter(|event| !event.is_null()) {
            event::find(call, event)?;
        }
        if !start.is_null() {
            event::record(call, start, stream, false)?;
        }
        launch(call, (&function, handle as u64), shape, arguments, stream)?;
        if !stop.is_null() {
            event::record(call, stop, stream, false)?;
        }
        Ok(())
    }
}

pub(in crate::hip) unsafe extern "C" fn hipExtModuleLaunchKernel(
    handle: hipFunction_t,
    items_x: u32,
    items_y: u32,
    items_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    dynamic_lds: usize,
    stream: hipStream_t,
    each: *mut *mut c_void,
    block: *mut *mut c_void,
    start: hipEvent_t,
    stop: hipEvent_t,
    _flags: u32,
) -> hipError_t {
    hip!(hipExtModuleLaunchKernel, |call| {
        let (work_items, arguments) = ([items_x, items_y, items_z], Arguments { each, block });
        let block = [block_x, block_y, block_z];
        Extended { work_items, block, dynamic_lds, stream, arguments, start, stop }.launch(call, handle)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipHccModuleLaunchKernel(
    handle: hipFunction_t,
    items_x: u32,
    items_y: u32,
    items_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    dynamic_lds: usize,
    stream: hipStream_t,
    each: *mut *mut c_void,
    block: *mut *mut c_void,
    start: hipEvent_t,
    stop: hipEvent_t,
) -> hipError_t {
    hip!(hipHccModuleLaunchKernel, |call| {
        let (work_items, arguments) = ([items_x, items_y, items_z], Arguments { each, block });
        let block = [block_x, block_y, block_z];
        Extended { work_items, block, dynamic_lds, stream, arguments, start, stop }.launch(call, handle)
    })
}
