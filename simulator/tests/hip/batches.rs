// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies in batches, copies of boxes between devices, fills of rows of wide elements.

use std::ffi::c_void;
use std::ptr::null_mut;

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

/// A batch of copies of device memory.
struct Batch {
    to: Vec<*mut c_void>,
    from: Vec<*mut c_void>,
    sizes: Vec<usize>,
    attributes: Vec<hipMemcpyAttributes>,
    firsts: Vec<usize>,
    failed: usize,
}

impl Batch {
    fn new(machine: &Machine, count: usize) -> Self {
        let memory = |value: u8| machine.upload(&[value; 16]);
        let order = hipMemcpySrcAccessOrder::hipMemcpySrcAccessOrderStream;
        Self {
            to: (0..count).map(|_| memory(0)).collect(),
            from: (0..count).map(|index| memory(index as u8 + 1)).collect(),
            sizes: vec![16; count],
            attributes: vec![hipMemcpyAttributes { srcAccessOrder: order, ..Default::default() }],
            firsts: vec![0],
            failed: 5,
        }
    }

    fn copy(&mut self, machine: &Machine, stream: hipStream_t) -> hipError_t {
        let (count, attributes) = (self.sizes.len(), self.attributes.len());
        let [to, from] = [&mut self.to, &mut self.from].map(|list| list.as_mut_ptr());
        let [sizes, firsts] = [&mut self.sizes, &mut self.firsts].map(|list| list.as_mut_ptr());
        let (kinds, failed) = (self.attributes.as_mut_ptr(), &raw mut self.failed);
        hip!(machine, hipMemcpyBatchAsync(to, from, sizes, count, kinds, firsts, attributes, failed, stream))
    }

    fn arrived(&self, machine: &Machine) -> Vec<u8> {
        self.to.iter().map(|to| machine.download::<u8>(*to, 16)[15]).collect()
    }
}

#[test]
fn a_batch_copies_in_the_order_of_its_stream() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let mut batch = Batch::new(&machine, 3);
    let gate = machine.gate(stream);
    assert_eq!(batch.copy(&machine, stream), hipError_t::hipSuccess);
    assert_eq!(batch.failed, usize::MAX);
    assert_eq!(batch.arrived(&machine), [0; 3]);
    drop(gate);
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(batch.arrived(&machine), [1, 2, 3]);
    // Also of host memory, and without attributes.
    let mut host = [9_u8; 16];
    batch.from[1] = host.as_mut_ptr().cast();
    batch.attributes.clear();
    assert_eq!(batch.copy(&machine, stream), hipError_t::hipSuccess);
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(batch.arrived(&machine), [1, 9, 3]);
}

#[test]
fn a_batch_with_a_wrong_copy_copies_nothing_and_names_it() {
    let machine = Machine::new("");
    let stream = machine.stream();
    let refused = |change: fn(&mut Batch)| {
        let mut batch = Batch::new(&machine, 3);
        change(&mut batch);
        assert_eq!(batch.copy(&machine, stream), hipError_t::hipErrorInvalidValue);
        ok!(machine, hipStreamSynchronize(stream));
        assert_eq!(batch.arrived(&machine), [0; 3]);
        batch.failed
    };
    assert_eq!(refused(|batch| batch.sizes[1] = 0), 1);
    assert_eq!(refused(|batch| batch.sizes[2] = 17), 2, "more than the memory has");
    // Attributes begin at the first copy, go up, and name an order.
    assert_eq!(refused(|batch| batch.firsts[0] = 1), 5);
    let twice = |batch: &mut Batch, second: usize| {
        batch.firsts.push(second);
        batch.attributes.extend_from_within(..);
    };
    for second in [0, 3] {
        let mut batch = Batch::new(&machine, 3);
        twice(&mut batch, second);
        assert_eq!(batch.copy(&machine, stream), hipError_t::hipErrorInvalidValue, "from copy {second} on");
    }
    let none = hipMemcpySrcAccessOrder::hipMemcpySrcAccessOrderInvalid;
    let mut batch = Batch::new(&machine, 3);
    batch.attributes[0].srcAccessOrder = none;
    assert_eq!(batch.copy(&machine, stream), hipError_t::hipErrorInvalidValue);
    let mut batch = Batch::new(&machine, 3);
    twice(&mut batch, 2);
    assert_eq!(batch.copy(&machine, stream), hipError_t::hipSuccess);
    assert_eq!(batch.copy(&machine, 3 as hipStream_t), hipError_t::hipErrorInvalidHandle);
    batch.sizes.clear();
    assert_eq!(batch.copy(&machine, stream), hipError_t::hipErrorInvalidValue, "no copy");
    // No batch is captured.
    ok!(machine, hipStreamSynchronize(stream));
    let mut batch = Batch::new(&machine, 3);
    ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
    assert_eq!(batch.copy(&machine, stream), hipError_t::hipErrorStreamCaptureUnsupported);
}

fn operand(ptr: *mut c_void, row: usize) -> hipMemcpy3DOperand {
    let ptr = hipMemcpy3DOperand__bindgen_ty_1__bindgen_ty_1 {
        ptr,
        rowLength: row,
        layerHeight: 2,
        locHint: hipMemLocation::default(),
    };
    let op = hipMemcpy3DOperand__bindgen_ty_1 { ptr };
    hipMemcpy3DOperand { type_: hipMemcpy3DOperandType::hipMemcpyOperandTypePointer, op }
}

#[test]
fn a_batch_of_boxes_stops_at_the_first_wrong_one() {
    let machine = Machine::new("");
    let from = machine.upload(&std::array::from_fn::<u8, 64, _>(|index| index as u8));
    let to = [0; 2].map(|_| machine.upload(&[0_u8; 16]));
    let one = |to: *mut c_void| hipMemcpy3DBatchOp {
        src: operand(from, 16),
        dst: operand(to, 4),
        extent: hipExtent { width: 4, height: 2, depth: 2 },
        srcAccessOrder: hipMemcpySrcAccessOrder::hipMemcpySrcAccessOrderStream,
        flags: 0,
    };
    let mut list = [one(to[0]), one(null_mut()), one(to[1])];
    let mut failed = 9;
    let null_stream = null_mut();
    fails!(
        hipErrorInvalidValue,
        machine,
        hipMemcpy3DBatchAsync(3, list.as_mut_ptr(), &mut failed, 0, null_stream)
    );
    assert_eq!(failed, 1);
    let rows = [0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35, 48, 49, 50, 51];
    assert_eq!(machine.download::<u8>(to[0], 16), rows);
    assert_eq!(machine.download::<u8>(to[1], 16), [0; 16]);
    list[1] = list[2];
    ok!(machine, hipMemcpy3DBatchAsync(3, list.as_mut_ptr(), &mut failed, 0, null_stream));
    assert_eq!(failed, usize::MAX);
    assert_eq!(machine.download::<u8>(to[1], 16), rows);
    fails!(
        hipErrorInvalidValue,
        machine,
        hipMemcpy3DBatchAsync(3, list.as_mut_ptr(), &mut failed, 1, null_stream)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipMemcpy3DBatchAsync(0, list.as_mut_ptr(), &mut failed, 0, null_stream)
    );
    list[0].src.type_ = hipMemcpy3DOperandType::hipMemcpyOperandTypeArray;
    fails!(
        hipErrorNotSupported,
        machine,
        hipMemcpy3DBatchAsync(1, list.as_mut_ptr(), &mut failed, 0, null_stream)
    );
}

#[test]
fn boxes_are_copied_between_devices() {
    let machine = Machine::new("gfx942?devices=2");
    let from = machine.upload(&std::array::from_fn::<u8, 64, _>(|index| index as u8));
    ok!(machine, hipSetDevice(1));
    let to = machine.upload(&[0_u8; 8]);
    let side = |ptr, pitch| hipPitchedPtr { ptr, pitch, xsize: pitch, ysize: 2 };
    let mut copy = hipMemcpy3DPeerParms {
        srcPtr: side(from, 16),
        srcPos: hipPos { x: 1, y: 0, z: 0 },
        srcDevice: 0,
        dstPtr: side(to, 2),
        dstDevice: 1,
        extent: hipExtent { width: 2, height: 2, depth: 2 },
        ..Default::default()
    };
    ok!(machine, hipMemcpy3DPeer(&mut copy));
    assert_eq!(machine.download::<u8>(to, 8), [1, 2, 17, 18, 33, 34, 49, 50]);
    let stream = machine.stream();
    copy.srcPos.x = 3;
    ok!(machine, hipMemcpy3DPeerAsync(&mut copy, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u8>(to, 8), [3, 4, 19, 20, 35, 36, 51, 52]);
    for wrong in [2, -1] {
        let mut copy = hipMemcpy3DPeerParms { dstDevice: wrong, ..copy };
        fails!(hipErrorInvalidDevice, machine, hipMemcpy3DPeer(&mut copy));
        fails!(hipErrorInvalidDevice, machine, hipMemcpy3DPeerAsync(&mut copy, stream));
    }
    fails!(hipErrorInvalidValue, machine, hipMemcpy3DPeer(null_mut()));
}

#[test]
fn rows_are_filled_with_elements_of_each_width() {
    let machine = Machine::new("");
    let memory = machine.upload(&[0_u8; 32]);
    let start = memory.wrapping_byte_add(4);
    // Two rows of two elements, sixteen bytes apart.
    let (stream, pitch) = (machine.stream(), 16);
    let filled = || {
        ok!(machine, hipStreamSynchronize(stream));
        let bytes = machine.download::<u8>(memory, 32);
        ok!(machine, hipMemset(memory, 0, 32));
        ok!(machine, hipDeviceSynchronize());
        bytes
    };
    let rows = |row: &[u8]| {
        let mut bytes = vec![0; 32];
        bytes[4..4 + row.len()].copy_from_slice(row);
        bytes[20..20 + row.len()].copy_from_slice(row);
        bytes
    };
    ok!(machine, hipMemsetD2D8(start, pitch, 0x12, 2, 2));
    assert_eq!(filled(), rows(&[0x12; 2]));
    ok!(machine, hipMemsetD2D16(start, pitch, 0x1234, 2, 2));
    assert_eq!(filled(), rows(&[0x34, 0x12, 0x34, 0x12]));
    ok!(machine, hipMemsetD2D32(start, pitch, 0x1234_5678, 2, 2));
    assert_eq!(filled(), rows(&[0x78, 0x56, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12]));
    ok!(machine, hipMemsetD2D8Async(start, pitch, 0x12, 2, 2, stream));
    assert_eq!(filled(), rows(&[0x12; 2]));
    ok!(machine, hipMemsetD2D16Async(start, pitch, 0x1234, 2, 2, stream));
    assert_eq!(filled(), rows(&[0x34, 0x12, 0x34, 0x12]));
    ok!(machine, hipMemsetD2D32Async(start, pitch, 0x1234_5678, 2, 2, stream));
    assert_eq!(filled(), rows(&[0x78, 0x56, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12]));
    // A row that ends behind the memory, one that is longer than the pitch, and none.
    fails!(hipErrorInvalidValue, machine, hipMemsetD2D32(start, pitch, 1, 4, 2));
    fails!(hipErrorInvalidValue, machine, hipMemsetD2D16(start, 2, 1, 2, 2));
    fails!(hipErrorInvalidValue, machine, hipMemsetD2D8(null_mut(), pitch, 1, 2, 2));
    ok!(machine, hipMemsetD2D32(start, pitch, 1, 0, 2));
    assert_eq!(filled(), [0; 32]);
}

#[test]
fn batches_have_their_version() {
    let machine = Machine::new("gfx942?hip=7.0");
    for name in ["hipMemcpyBatchAsync", "hipMemsetD2D8", "hipStreamGetId"] {
        assert!(machine.api.missing().contains(&name), "{name}");
    }
}
