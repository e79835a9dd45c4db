// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies of boxes of bytes, described by structs.

use std::ffi::c_void;

use windlass_hip_sys::bindings::{
    HIP_MEMCPY3D, hipArray_t, hipError_t, hipMemcpy3DParms, hipMemcpy3DPeerParms, hipMemoryType,
    hipPitchedPtr, hipPos, hipStream_t,
};

use super::copy::direction;
use super::copy::{Return, queue};
use crate::hip::boundary::call::Call;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::packet::{CopyCall, Direction, Rows};

/// One side of a copy: the start of its memory, the place of the box in it, and the distances of rows and planes.
pub(super) struct Side {
    pub(super) base: u64,
    /// Bytes, rows, planes.
    pub(super) at: [usize; 3],
    /// Bytes from row to row.
    pub(super) pitch: usize,
    /// Rows from plane to plane.
    pub(super) height: usize,
}

impl Side {
    /// A place in memory with rows at a pitch, for boxes of this width in bytes.
    ///
    /// # Errors
    /// `INVALID_VALUE` without memory, and for a box beyond the pitch or a negative one; `INVALID_PITCH_VALUE` for a pitch below
    /// the width of the memory's rows (clr, hip_memory.cpp, `ihipMemcpy3D_validate`).
    fn pitched(pointer: hipPitchedPtr, at: hipPos, width: usize) -> Outcome<Self> {
        if pointer.ptr.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        if pointer.pitch < pointer.xsize {
            return Err(Code::INVALID_PITCH_VALUE);
        }
        let is_within = at.x.checked_add(width).is_some_and(|end| end <= pointer.pitch);
        if !is_within || pointer.pitch >= i32::MAX as usize {
            return Err(Code::INVALID_VALUE);
        }
        Ok(Self {
            base: pointer.ptr as u64,
            at: [at.x, at.y, at.z],
            pitch: pointer.pitch,
            height: pointer.ysize,
        })
    }

    /// The address of the box and its rows. `extent` is in bytes, rows and planes.
    pub(super) fn place(&self, extent: [usize; 3]) -> Outcome<(u64, Rows)> {
        let [x, y, z] = self.at.map(|at| at as u64);
        let [width, rows, planes] = extent.map(|extent| extent as u64);
        // Without a pitch the rows are packed, without a height the planes.
        let pitch = if self.pitch == 0 {
            x.checked_add(width).ok_or(Code::INVALID_VALUE)?
        } else {
            self.pitch as u64
        };
        let height = if self.height == 0 {
            y.checked_add(rows).ok_or(Code::INVALID_VALUE)?
        } else {
            self.height as u64
        };
        // A box may begin within a row and end in the next one, as in AMD's runtime.
        if width > pitch || rows > height {
            return Err(Code::INVALID_VALUE);
        }
        let plane = pitch.checked_mul(height).ok_or(Code::INVALID_VALUE)?;
        let within = |count: u64, size: u64| count.checked_mul(size).ok_or(Code::INVALID_VALUE);
        let offset =
            within(z, plane)?.checked_add(within(y, pitch)?).and_then(|offset| offset.checked_add(x));
        let address = offset.and_then(|offset| self.base.checked_add(offset)).ok_or(Code::INVALID_VALUE)?;
        Ok((address, Rows::new(width, rows, pitch)?.in_planes(planes, plane)?))
    }
}

pub(super) fn refuse_arrays<T>(call: &Call) -> Outcome<T> {
    explain(format!("{}: the simulated GPU has no arrays", call.name));
    Err(Code::NOT_SUPPORTED)
}

/// The copy that the runtime API's struct describes. Without arrays its positions and widths are in bytes.
pub(super) fn of_runtime(call: &Call, copy: *const hipMemcpy3DParms) -> Outcome<CopyCall> {
    let copy = call.get(copy)?;
    if !copy.srcArray.is_null() || !copy.dstArray.is_null() {
        return refuse_arrays(call);
    }
    let extent = [copy.extent.width, copy.extent.height, copy.extent.depth];
    Ok(CopyCall {
        to: Side::pitched(copy.dstPtr, copy.dstPos, extent[0])?.place(extent)?,
        from: Side::pitched(copy.srcPtr, copy.srcPos, extent[0])?.place(extent)?,
        direction: direction(copy.kind.0)?,
    })
}

/// The copy between two devices that a struct describes.
fn of_peers(call: &Call, copy: *const hipMemcpy3DPeerParms) -> Outcome<CopyCall> {
    let copy = call.get(copy)?;
    call.device_at(copy.srcDevice)?;
    call.device_at(copy.dstDevice)?;
    if !copy.srcArray.is_null() || !copy.dstArray.is_null() {
        return refuse_arrays(call);
    }
    let extent = [copy.extent.width, copy.extent.height, copy.extent.depth];
    Ok(CopyCall {
        to: Side::pitched(copy.dstPtr, copy.dstPos, extent[0])?.place(extent)?,
        from: Side::pitched(copy.srcPtr, copy.srcPos, extent[0])?.place(extent)?,
        direction: Direction::Any,
    })
}

/// The copy that the driver API's struct describes.
pub(super) fn of_driver(call: &Call, copy: *const HIP_MEMCPY3D) -> Outcome<CopyCall> {
    let copy = call.get(copy)?;
    let base = |kind: hipMemoryType, host: *const c_void, device: *mut c_void, array: hipArray_t| {
        match super::pointer::newest_kind(call, kind) {
            hipMemoryType::hipMemoryTypeHost => Ok((host as u64, false)),
            hipMemoryType::hipMemoryTypeDevice
            | hipMemoryType::hipMemoryTypeManaged
            | hipMemoryType::hipMemoryTypeUnified => Ok((device as u64, true)),
            hipMemoryType::hipMemoryTypeArray if !array.is_null() => refuse_arrays(call),
            _ => Err(Code::INVALID_VALUE),
        }
    };
    let (to, to_device) = base(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray)?;
    let (from, from_device) = base(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray)?;
    let extent = [copy.WidthInBytes, copy.Height, copy.Depth];
    let to = Side {
        base: to,
        at: [copy.dstXInBytes, copy.dstY, copy.dstZ],
        pitch: copy.dstPitch,
        height: copy.dstHeight,
    };
    let from = Side {
        base: from,
        at: [copy.srcXInBytes, copy.srcY, copy.srcZ],
        pitch: copy.srcPitch,
        height: copy.srcHeight,
    };
    let direction = match (from_device, to_device) {
        (false, false) => Direction::HostToHost,
        (false, true) => Direction::HostToDevice,
        (true, false) => Direction::DeviceToHost,
        (true, true) => Direction::DeviceToDevice,
    };
    Ok(CopyCall { to: to.place(extent)?, from: from.place(extent)?, direction })
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpy3D(copy: *const hipMemcpy3DParms) -> hipError_t {
    hip!(hipMemcpy3D, |call| queue(call, std::ptr::null_mut(), of_runtime(call, copy)?, Return::WhenDone))
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpy3DAsync(
    copy: *const hipMemcpy3DParms,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpy3DAsync, |call| queue(call, stream, of_runtime(call, copy)?, Return::WhenQueued))
}

pub(in crate::hip) unsafe extern "C" fn hipDrvMemcpy3D(copy: *const HIP_MEMCPY3D) -> hipError_t {
    hip!(hipDrvMemcpy3D, |call| queue(call, std::ptr::null_mut(), of_driver(call, copy)?, Return::WhenDone))
}

pub(in crate::hip) unsafe extern "C" fn hipDrvMemcpy3DAsync(
    copy: *const HIP_MEMCPY3D,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipDrvMemcpy3DAsync, |call| queue(call, stream, of_driver(call, copy)?, Return::WhenQueued))
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpy3DPeer(copy: *mut hipMemcpy3DPeerParms) -> hipError_t {
    hip!(hipMemcpy3DPeer, |call| {
        queue(call, std::ptr::null_mut(), of_peers(call, copy)?, Return::WhenDone)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemcpy3DPeerAsync(
    copy: *mut hipMemcpy3DPeerParms,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMemcpy3DPeerAsync, |call| queue(call, stream, of_peers(call, copy)?, Return::WhenQueued))
}
