// SPDX-License-Identifier: MIT OR Apache-2.0
//! Launches on several devices by one call.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::null_mut;

use crate::common::Machine;
use crate::symbols::{name_kernel, register_file};
use windlass_hip_sys::bindings::*;

const SERVICES: &[u8] = include_bytes!("../services/services.gfx942.co");
/// `hipCooperativeLaunchMultiDeviceNoPreSync` and `NoPostSync`.
const NO_SYNC: u32 = 3;

/// The kernel `parts` on two devices, and what it works on.
struct Scene {
    machine: Machine,
    list: Vec<hipFunctionLaunchParams>,
    /// The pointers that the kernels take, and the list of each launch.
    pointers: Box<[*mut c_void; 2]>,
    arguments: Box<[*mut c_void; 2]>,
}

impl Scene {
    fn new(options: &str) -> Self {
        let machine = Machine::new(options);
        let memory = |machine: &Machine, count: usize| {
            let mut memory = null_mut();
            ok!(machine, hipMallocManaged(&mut memory, count * 4, 1));
            ok!(machine, hipMemset(memory, 0, count * 4));
            memory
        };
        let mut pointers = Box::new([memory(&machine, 2), memory(&machine, 16)]);
        ok!(machine, hipDeviceSynchronize());
        let arguments = Box::new([(&raw mut pointers[0]).cast(), (&raw mut pointers[1]).cast()]);
        let mut scene = Self { machine, list: Vec::new(), pointers, arguments };
        for device in [1, 0] {
            ok!(scene.machine, hipSetDevice(device));
            let function = scene.machine.function(scene.machine.load(SERVICES), c"parts");
            let stream = scene.machine.stream();
            scene.list.push(hipFunctionLaunchParams {
                function,
                gridDimX: 3 + device as u32,
                gridDimY: 1,
                gridDimZ: 1,
                blockDimX: 1,
                blockDimY: 1,
                blockDimZ: 1,
                sharedMemBytes: 0,
                hStream: stream,
                kernelParams: scene.arguments.as_mut_ptr(),
            });
        }
        scene
    }

    fn launch(&mut self, flags: u32) -> hipError_t {
        let (list, count) = (self.list.as_mut_ptr(), self.list.len() as u32);
        hip!(self.machine, hipModuleLaunchCooperativeKernelMultiDevice(list, count, flags))
    }

    fn out(&self) -> Vec<u32> {
        let mut out = vec![0_u32; 16];
        let to = out.as_mut_ptr().cast();
        ok!(self.machine, hipMemcpy(to, self.pointers[1], 64, hipMemcpyKind::hipMemcpyDefault));
        out
    }
}

#[test]
fn the_parts_of_a_grid_on_two_devices_wait_for_each_other() {
    for options in ["gfx942?devices=2", "gfx942?devices=2&threads=1", "gfx942?devices=2&seed=7"] {
        let mut scene = Scene::new(options);
        assert_eq!(scene.launch(0), hipError_t::hipSuccess, "{options}");
        // Four workgroups on the first device of the list and three on the second: 10 and 6.
        let out = scene.out();
        assert_eq!([out[0], out[8]], [16, 16], "{options}: both devices have the sums of both");
        assert_eq!([out[1], out[9]], [0, 4], "{options}: the work-items of the parts before");
        assert_eq!([out[2], out[10]], [7, 7], "{options}: the work-items of all");
    }
}

#[test]
fn a_launch_on_several_devices_waits_before_and_after_unless_told_otherwise() {
    let mut scene = Scene::new("gfx942?devices=2");
    let gate = scene.machine.gate(scene.list[1].hStream);
    assert_eq!(scene.launch(NO_SYNC), hipError_t::hipSuccess);
    fails!(hipErrorNotReady, scene.machine, hipStreamQuery(scene.list[0].hStream));
    drop(gate);
    for entry in &scene.list {
        ok!(scene.machine, hipStreamSynchronize(entry.hStream));
    }
    assert_eq!(scene.out()[0], 16);
}

#[test]
fn wrong_lists_launch_nothing_on_any_device() {
    let mut scene = Scene::new("gfx942?devices=2&units=2");
    let right = scene.list.clone();
    let refused = |scene: &mut Scene, change: fn(&mut Vec<hipFunctionLaunchParams>)| {
        scene.list = right.clone();
        change(&mut scene.list);
        scene.launch(NO_SYNC)
    };
    type E = hipError_t;
    assert_eq!(refused(&mut scene, |list| list.clear()), E::hipErrorInvalidValue);
    assert_eq!(refused(&mut scene, |list| list.extend_from_within(..1)), E::hipErrorInvalidValue);
    assert_eq!(refused(&mut scene, |list| list[1] = list[0]), E::hipErrorInvalidDevice, "one device");
    assert_eq!(refused(&mut scene, |list| list[1].hStream = null_mut()), E::hipErrorInvalidHandle);
    assert_eq!(refused(&mut scene, |list| list[1].blockDimY = 0), E::hipErrorInvalidConfiguration);
    let other = |list: &mut Vec<hipFunctionLaunchParams>| list[1].function = list[0].function;
    assert_eq!(refused(&mut scene, other), E::hipErrorInvalidDevice, "the code of the other device");
    // Two compute units hold 64 waves.
    let large = refused(&mut scene, |list| list[1].gridDimX = 65);
    assert_eq!(large, E::hipErrorCooperativeLaunchTooLarge);
    scene.list = right;
    assert_eq!(scene.launch(4), E::hipErrorInvalidValue);
    let nothing = hip!(scene.machine, hipModuleLaunchCooperativeKernelMultiDevice(null_mut(), 2, 0));
    assert_eq!(nothing, E::hipErrorInvalidValue);
    ok!(scene.machine, hipDeviceSynchronize());
    assert_eq!(scene.out(), [0; 16]);
    let mut attribute = 0;
    let ability = hipDeviceAttribute_t::hipDeviceAttributeCooperativeMultiDeviceLaunch;
    ok!(scene.machine, hipDeviceGetAttribute(&mut attribute, ability, 0));
    assert_eq!(attribute, 1);
}

#[test]
fn kernels_that_know_nothing_of_each_other_start_on_several_devices() {
    let scene = Scene::new("gfx942?devices=2");
    let machine = &scene.machine;
    let mut arguments = [0_u64; 2].map(|_| null_mut::<c_void>());
    let mut outs = [null_mut::<c_void>(); 2];
    let mut list = Vec::new();
    let services = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/services/services.gfx942.co");
    let kernel = name_kernel(machine, register_file(machine, &services), c"is_cooperative");
    for (index, entry) in scene.list.iter().enumerate() {
        ok!(machine, hipMallocManaged(&mut outs[index], 16, 1));
        ok!(machine, hipMemset(outs[index], 9, 16));
        arguments[index] = (&raw mut outs[index]).cast();
        list.push(hipLaunchParams {
            func: kernel.cast_mut(),
            gridDim: dim3 { x: 1, y: 1, z: 1 },
            blockDim: dim3 { x: 1, y: 1, z: 1 },
            args: &raw mut arguments[index],
            sharedMem: 0,
            stream: entry.hStream,
        });
    }
    // The streams of the launches do not wait for the null stream.
    ok!(machine, hipDeviceSynchronize());
    let streams = scene.list.iter().map(|entry| entry.hStream).collect::<Vec<_>>();
    let told = |list: &mut Vec<hipLaunchParams>, cooperative: bool| {
        let count = list.len() as i32;
        match cooperative {
            true => ok!(machine, hipLaunchCooperativeKernelMultiDevice(list.as_mut_ptr(), count, 0)),
            false => ok!(machine, hipExtLaunchMultiKernelMultiDevice(list.as_mut_ptr(), count, 0)),
        }
        for stream in &streams {
            ok!(machine, hipStreamSynchronize(*stream));
        }
        outs.map(|out| {
            let mut words = [0_u64; 2];
            let to = words.as_mut_ptr().cast();
            ok!(machine, hipMemcpy(to, out, 16, hipMemcpyKind::hipMemcpyDefault));
            words
        })
    };
    assert_eq!(told(&mut list, false), [[0, 0]; 2]);
    assert_eq!(told(&mut list, true), [[1, 1]; 2]);
    list[1].stream = 77 as hipStream_t;
    fails!(hipErrorInvalidValue, machine, hipExtLaunchMultiKernelMultiDevice(list.as_mut_ptr(), 2, 0));
    fails!(hipErrorInvalidValue, machine, hipExtLaunchMultiKernelMultiDevice(list.as_mut_ptr(), -1, 0));
}
