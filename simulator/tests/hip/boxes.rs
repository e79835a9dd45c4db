// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies of boxes in the order of a stream.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

/// Pinned memory with zeros.
fn pinned(machine: &Machine, size: usize) -> *mut u8 {
    let mut memory = null_mut();
    ok!(machine, hipHostMalloc(&mut memory, size, 0));
    // SAFETY: fresh memory of this size.
    unsafe { memory.cast::<u8>().write_bytes(0, size) };
    memory.cast()
}

/// The copy of a box of 2 by 3 by 2 bytes from one corner of 4 by 5 by 3 bytes to the other.
fn parameters(to: *mut c_void, from: *mut c_void, kind: hipMemcpyKind) -> hipMemcpy3DParms {
    let pitched = |pointer| hipPitchedPtr { ptr: pointer, pitch: 4, xsize: 4, ysize: 5 };
    hipMemcpy3DParms {
        srcPtr: pitched(from),
        srcPos: hipPos { x: 2, y: 2, z: 1 },
        dstPtr: pitched(to),
        extent: hipExtent { width: 2, height: 3, depth: 2 },
        kind,
        ..Default::default()
    }
}

/// The places of that box, within each of the 60 bytes: where from, where to.
fn places() -> impl Iterator<Item = (usize, usize)> {
    let all = (0..2).flat_map(|z| (0..3).flat_map(move |y| (0..2).map(move |x| (x, y, z))));
    all.map(|(x, y, z)| ((z + 1) * 20 + (y + 2) * 4 + x + 2, z * 20 + y * 4 + x))
}

#[test]
fn a_box_is_copied_when_the_stream_gets_there() {
    let machine = Machine::new("");
    let (stream, device) = (machine.stream(), machine.upload(&[0xff_u8; 60]));
    let source = pinned(&machine, 60);
    let copy = parameters(device, source.cast(), hipMemcpyKind::hipMemcpyHostToDevice);
    let gate = machine.gate(stream);
    ok!(machine, hipMemcpy3DAsync(&copy, stream));
    // No other stream has it either.
    ok!(machine, hipStreamSynchronize(null_mut()));
    for index in 0..60 {
        // SAFETY: within the 60 bytes, which nothing reads before the gate opens.
        unsafe { source.add(index).write(index as u8) };
    }
    drop(gate);
    ok!(machine, hipStreamSynchronize(stream));
    let mut expected = [0xff_u8; 60];
    for (from, to) in places() {
        expected[to] = from as u8;
    }
    assert_eq!(machine.download::<u8>(device, 60), expected);
}

#[test]
fn the_driver_s_copy_of_a_box_is_in_the_order_of_its_stream_too() {
    let machine = Machine::new("");
    let (stream, device) = (machine.stream(), machine.upload(&[0_u8; 60]));
    let target = pinned(&machine, 60);
    let copy = HIP_MEMCPY3D {
        srcXInBytes: 2,
        srcY: 2,
        srcZ: 1,
        srcMemoryType: hipMemoryType::hipMemoryTypeDevice,
        srcDevice: device,
        srcPitch: 4,
        srcHeight: 5,
        dstMemoryType: hipMemoryType::hipMemoryTypeHost,
        dstHost: target.cast(),
        dstPitch: 4,
        dstHeight: 5,
        WidthInBytes: 2,
        Height: 3,
        Depth: 2,
        ..Default::default()
    };
    let gate = machine.gate(stream);
    ok!(machine, hipMemsetAsync(device, 5, 60, stream));
    ok!(machine, hipDrvMemcpy3DAsync(&copy, stream));
    drop(gate);
    ok!(machine, hipStreamSynchronize(stream));
    let mut expected = [0_u8; 60];
    for (_, to) in places() {
        expected[to] = 5;
    }
    // SAFETY: the stream is done with it.
    assert_eq!(unsafe { std::slice::from_raw_parts(target, 60) }, expected);

    let gone = machine.stream();
    ok!(machine, hipStreamDestroy(gone));
    fails!(hipErrorContextIsDestroyed, machine, hipDrvMemcpy3DAsync(&copy, gone));
    fails!(hipErrorInvalidValue, machine, hipDrvMemcpy3DAsync(null(), stream));
    for (wrong, status) in [
        (HIP_MEMCPY3D { WidthInBytes: 3, ..copy }, hipError_t::hipErrorInvalidValue),
        (HIP_MEMCPY3D { Depth: 3, ..copy }, hipError_t::hipErrorInvalidValue),
        (HIP_MEMCPY3D { srcDevice: null_mut(), ..copy }, hipError_t::hipErrorInvalidValue),
        (
            HIP_MEMCPY3D { srcMemoryType: hipMemoryType::hipMemoryTypeArray, ..copy },
            hipError_t::hipErrorInvalidValue,
        ),
        (HIP_MEMCPY3D { Height: 0, ..copy }, hipError_t::hipSuccess),
    ] {
        assert_eq!(hip!(machine, hipDrvMemcpy3DAsync(&wrong, stream)), status);
    }
    ok!(machine, hipStreamSynchronize(stream));
}

#[test]
fn a_box_of_an_unknown_kind_of_memory_is_refused() {
    let machine = Machine::new("");
    let (stream, device) = (machine.stream(), machine.upload(&[0_u8; 60]));
    let copy = HIP_MEMCPY3D {
        srcMemoryType: hipMemoryType(99),
        srcDevice: device,
        dstMemoryType: hipMemoryType::hipMemoryTypeDevice,
        dstDevice: device,
        WidthInBytes: 2,
        Height: 1,
        Depth: 1,
        ..Default::default()
    };
    fails!(hipErrorInvalidValue, machine, hipDrvMemcpy3DAsync(&copy, stream));
}

/// As in AMD's runtime only the extents of a box are compared with the pitch and the height, not the place where it begins.
#[test]
fn a_box_may_begin_within_a_row() {
    let machine = Machine::new("");
    let bytes: Vec<u8> = (0..60).collect();
    let (from, to) = (machine.upload(&bytes), machine.upload(&[0xff_u8; 16]));
    let whole = HIP_MEMCPY3D {
        srcMemoryType: hipMemoryType::hipMemoryTypeDevice,
        srcDevice: from,
        srcPitch: 4,
        srcHeight: 2,
        dstMemoryType: hipMemoryType::hipMemoryTypeDevice,
        dstDevice: to,
        WidthInBytes: 4,
        Height: 2,
        Depth: 2,
        ..Default::default()
    };
    for (x, y) in [(0, 0), (1, 0), (0, 1), (3, 1)] {
        let copy = HIP_MEMCPY3D { srcXInBytes: x, srcY: y, ..whole };
        ok!(machine, hipDrvMemcpy3D(&copy));
        let start = 4 * y + x;
        assert_eq!(machine.download::<u8>(to, 16), bytes[start..start + 16]);
    }
    for wrong in [
        HIP_MEMCPY3D { WidthInBytes: 5, Height: 1, Depth: 1, ..whole },
        HIP_MEMCPY3D { Height: 3, Depth: 1, ..whole },
    ] {
        fails!(hipErrorInvalidValue, machine, hipDrvMemcpy3D(&wrong));
    }
}

#[test]
fn copies_of_boxes_that_mean_nothing_are_refused_before_they_are_queued() {
    let machine = Machine::new("");
    let (stream, device) = (machine.stream(), machine.upload(&[1_u8; 60]));
    let other = machine.upload(&[2_u8; 60]);
    let right = parameters(device, other, hipMemcpyKind::hipMemcpyDeviceToDevice);
    let extent = |width, height, depth| hipExtent { width, height, depth };
    let with_pitch = |pitch, xsize| hipMemcpy3DParms {
        srcPtr: hipPitchedPtr { pitch, xsize, ..right.srcPtr },
        extent: extent(2, 1, 1),
        ..right
    };
    fails!(hipErrorInvalidValue, machine, hipMemcpy3DAsync(null(), stream));
    for (wrong, status) in [
        (hipMemcpy3DParms { extent: extent(3, 3, 2), ..right }, hipError_t::hipErrorInvalidValue),
        (hipMemcpy3DParms { extent: extent(2, 4, 2), ..right }, hipError_t::hipErrorInvalidValue),
        (hipMemcpy3DParms { extent: extent(2, 3, 3), ..right }, hipError_t::hipErrorInvalidValue),
        (hipMemcpy3DParms { extent: extent(usize::MAX, 3, 2), ..right }, hipError_t::hipErrorInvalidValue),
        (hipMemcpy3DParms { kind: hipMemcpyKind(9), ..right }, hipError_t::hipErrorInvalidMemcpyDirection),
        (hipMemcpy3DParms { extent: extent(0, 3, 2), ..right }, hipError_t::hipSuccess),
        // One row is at a pitch too.
        (hipMemcpy3DParms { extent: extent(3, 1, 1), ..right }, hipError_t::hipErrorInvalidValue),
        (with_pitch(0, 4), hipError_t::hipErrorInvalidPitchValue),
        (with_pitch(3, 4), hipError_t::hipErrorInvalidPitchValue),
        (with_pitch(3, 0), hipError_t::hipErrorInvalidValue),
        (hipMemcpy3DParms::default(), hipError_t::hipErrorInvalidValue),
    ] {
        assert_eq!(hip!(machine, hipMemcpy3DAsync(&wrong, stream)), status);
    }
    let gone = machine.stream();
    ok!(machine, hipStreamDestroy(gone));
    fails!(hipErrorContextIsDestroyed, machine, hipMemcpy3DAsync(&right, gone));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u8>(device, 60), [1; 60]);
}
