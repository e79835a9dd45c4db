// SPDX-License-Identifier: MIT OR Apache-2.0
//! Launches with events around them, and launches that a structure describes.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

const SERVICES: &[u8] = include_bytes!("../services/services.gfx942.co");

fn extent(x: u32) -> dim3 {
    dim3 { x, y: 1, z: 1 }
}

/// The kernel that tells whether its launch was cooperative, and of how many workgroups, in two words of 8 bytes.
struct Scene {
    machine: Machine,
    function: hipFunction_t,
    out: *mut c_void,
}

impl Scene {
    fn new() -> Self {
        let machine = Machine::new("gfx942?units=2");
        let function = machine.function(machine.load(SERVICES), c"is_cooperative");
        let out = machine.upload(&[9_u64; 2]);
        Self { machine, function, out }
    }

    /// The symbol of the kernel, for which its handle does.
    fn symbol(&self) -> *const c_void {
        self.function.cast()
    }

    /// The kernel's messages, and nothing the next time.
    fn told(&self) -> [u64; 2] {
        ok!(self.machine, hipDeviceSynchronize());
        let told = self.machine.download::<u64>(self.out, 2);
        ok!(self.machine, hipMemset(self.out, 9, 16));
        // The streams of the launches do not wait for the null stream.
        ok!(self.machine, hipDeviceSynchronize());
        [told[0], told[1]]
    }

    fn by_config(&self, config: &hipLaunchConfig_t) -> hipError_t {
        let mut out = self.out;
        let mut each: [*mut c_void; 1] = [(&raw mut out).cast()];
        hip!(self.machine, hipLaunchKernelExC(config, self.symbol(), each.as_mut_ptr()))
    }

    fn by_driver(&self, config: &HIP_LAUNCH_CONFIG) -> hipError_t {
        let mut out = self.out;
        let mut each: [*mut c_void; 1] = [(&raw mut out).cast()];
        hip!(self.machine, hipDrvLaunchKernelEx(config, self.function, each.as_mut_ptr(), null_mut()))
    }
}

/// Attributes of a launch, each with an int.
fn attributes<const N: usize>(values: [(hipLaunchAttributeID, i32); N]) -> [hipLaunchAttribute; N] {
    values.map(|(id, value)| {
        let mut attribute = hipLaunchAttribute { id, ..Default::default() };
        attribute.__bindgen_anon_1.val = hipLaunchAttributeValue { cooperative: value };
        attribute
    })
}

const COOPERATIVE: hipLaunchAttributeID = hipLaunchAttributeID::hipLaunchAttributeCooperative;

/// Both structures, for one work-item in each workgroup.
fn configs(groups: u32, attributes: &mut [hipLaunchAttribute]) -> (hipLaunchConfig_t, HIP_LAUNCH_CONFIG) {
    let (attrs, count) = (attributes.as_mut_ptr(), attributes.len() as u32);
    let config = hipLaunchConfig_t {
        gridDim: extent(groups),
        blockDim: extent(1),
        dynamicSmemBytes: 0,
        stream: null_mut(),
        attrs,
        numAttrs: count,
    };
    let driver = HIP_LAUNCH_CONFIG {
        gridDimX: groups,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        hStream: null_mut(),
        attrs,
        numAttrs: count,
    };
    (config, driver)
}

#[test]
fn a_launch_is_cooperative_where_an_attribute_says_so() {
    let scene = Scene::new();
    let [once, off, late] =
        [[(COOPERATIVE, 1); 2], [(COOPERATIVE, 0); 2], [(COOPERATIVE, 0), (COOPERATIVE, 1)]];
    for (values, count, told) in [(once, 0, [0, 0]), (once, 1, [1, 3]), (off, 2, [0, 0]), (late, 2, [1, 3])] {
        let mut attributes = attributes(values);
        let (config, driver) = configs(3, &mut attributes[..count]);
        assert_eq!(scene.by_config(&config), hipError_t::hipSuccess);
        assert_eq!(scene.told(), told);
        assert_eq!(scene.by_driver(&driver), hipError_t::hipSuccess);
        assert_eq!(scene.told(), told);
    }
    // Two compute units hold 64 waves. Without the attribute there is no such limit.
    let mut attributes = attributes(once);
    for (groups, count, status) in [
        (64, 1, hipError_t::hipSuccess),
        (65, 1, hipError_t::hipErrorCooperativeLaunchTooLarge),
        (65, 0, hipError_t::hipSuccess),
    ] {
        let (config, driver) = configs(groups, &mut attributes[..count]);
        assert_eq!([scene.by_config(&config), scene.by_driver(&driver)], [status; 2], "{groups} {count}");
    }
    assert_eq!(scene.told(), [0, 0]);
}

#[test]
fn a_launch_by_structure_that_cannot_be_is_refused() {
    let scene = Scene::new();
    let machine = &scene.machine;
    let (config, driver) = configs(1, &mut []);
    // Nothing at all.
    let (symbol, function) = (scene.symbol(), scene.function);
    let (nobody, nothing) = (null_mut::<*mut c_void>(), null_mut::<*mut c_void>());
    fails!(hipErrorInvalidConfiguration, machine, hipLaunchKernelExC(null(), symbol, nobody));
    fails!(hipErrorInvalidDeviceFunction, machine, hipLaunchKernelExC(&config, null(), nobody));
    fails!(hipErrorInvalidValue, machine, hipLaunchKernelExC(&config, symbol, nobody));
    fails!(hipErrorInvalidValue, machine, hipDrvLaunchKernelEx(null(), function, nobody, nothing));
    fails!(hipErrorInvalidHandle, machine, hipDrvLaunchKernelEx(&driver, null_mut(), nobody, nothing));
    fails!(hipErrorInvalidValue, machine, hipDrvLaunchKernelEx(&driver, function, nobody, nothing));
    // No work-items, and too many.
    for (groups, items) in [(0, 1), (1, 0), (1, 1025)] {
        let config = hipLaunchConfig_t { gridDim: extent(groups), blockDim: extent(items), ..config };
        let driver = HIP_LAUNCH_CONFIG { gridDimX: groups, blockDimX: items, ..driver };
        let statuses = [scene.by_config(&config), scene.by_driver(&driver)];
        assert_eq!(statuses, [hipError_t::hipErrorInvalidConfiguration; 2], "{groups} {items}");
    }
    // More LDS than there is.
    let config_of = |bytes| hipLaunchConfig_t { dynamicSmemBytes: bytes, ..config };
    assert_eq!(scene.by_config(&config_of(64 << 10)), hipError_t::hipSuccess);
    assert_eq!(scene.by_config(&config_of((64 << 10) + 1)), hipError_t::hipErrorInvalidValue);
    assert_eq!(scene.by_config(&config_of(usize::MAX)), hipError_t::hipErrorInvalidValue);
    // An attribute that these GPUs do not have, and none where there should be one.
    let mut unknown = attributes([(hipLaunchAttributeID::hipLaunchAttributePriority, 1)]);
    let (with_unknown, driver_with_unknown) = configs(1, &mut unknown);
    assert_eq!(scene.by_config(&with_unknown), hipError_t::hipErrorInvalidValue);
    let reason = machine.api.diagnose().unwrap();
    assert!(reason.contains("hipLaunchKernelExC") && reason.contains("attribute 8"), "{reason}");
    assert_eq!(scene.by_driver(&driver_with_unknown), hipError_t::hipErrorInvalidValue);
    let none = hipLaunchConfig_t { attrs: null_mut(), numAttrs: 1, ..config };
    assert_eq!(scene.by_config(&none), hipError_t::hipErrorInvalidValue);
    // A stream that is gone.
    let gone = machine.stream();
    ok!(machine, hipStreamDestroy(gone));
    assert_eq!(
        scene.by_config(&hipLaunchConfig_t { stream: gone, ..config }),
        hipError_t::hipErrorInvalidValue
    );
    let on_none = HIP_LAUNCH_CONFIG { hStream: gone, ..driver };
    assert_eq!(scene.by_driver(&on_none), hipError_t::hipErrorContextIsDestroyed);
    assert_eq!(scene.told(), [0, 0], "the one launch that was right");
}

#[test]
fn events_are_recorded_around_a_launch() {
    let scene = Scene::new();
    let machine = &scene.machine;
    let (stream, start, stop) = (machine.stream(), machine.event(), machine.event());
    let launch = |(groups, items), lds, (stream, start, stop)| {
        let mut out = scene.out;
        let mut each: [*mut c_void; 1] = [(&raw mut out).cast()];
        let (grid, block, each) = (extent(groups), extent(items), each.as_mut_ptr());
        hip!(machine, hipExtLaunchKernel(scene.symbol(), grid, block, each, lds, stream, start, stop, 0))
    };
    let gate = machine.gate(stream);
    assert_eq!(launch((2, 1), 0, (stream, start, stop)), hipError_t::hipSuccess);
    for event in [start, stop] {
        fails!(hipErrorNotReady, machine, hipEventQuery(event));
    }
    drop(gate);
    ok!(machine, hipEventSynchronize(stop));
    let mut milliseconds = -1.0;
    ok!(machine, hipEventElapsedTime(&mut milliseconds, start, stop));
    assert!(milliseconds >= 0.0, "{milliseconds}");
    assert_eq!(scene.told(), [0, 0]);
    let none = null_mut();
    assert_eq!(launch((1, 1), 0, (stream, none, none)), hipError_t::hipSuccess, "without events");
    assert_eq!(scene.told(), [0, 0]);

    let (gone, event) = (machine.stream(), machine.event());
    ok!(machine, hipStreamDestroy(gone));
    ok!(machine, hipEventDestroy(event));
    for (shape, lds, place) in [
        ((1, 1), (64 << 10) + 1, (stream, none, none)),
        ((1, 1), usize::MAX, (stream, none, none)),
        ((1, 1), 0, (gone, none, none)),
        ((1, 1), 0, (stream, event, none)),
        ((1, 1), 0, (stream, none, event)),
    ] {
        assert_eq!(launch(shape, lds, place), hipError_t::hipErrorInvalidValue, "{lds} {place:?}");
    }
    for shape in [(0, 1), (1, 0), (1, 1025)] {
        let status = launch(shape, 0, (stream, none, none));
        assert_eq!(status, hipError_t::hipErrorInvalidConfiguration, "{shape:?}");
    }
    let (one, nobody) = (extent(1), null_mut::<*mut c_void>());
    for unknown in [null(), (&raw const one).cast::<c_void>()] {
        fails!(
            hipErrorInvalidDeviceFunction,
            machine,
            hipExtLaunchKernel(unknown, one, one, nobody, 0, stream, none, none, 0)
        );
    }
    assert_eq!(scene.told(), [9 * 0x0101_0101_0101_0101; 2], "nothing was launched");
}
