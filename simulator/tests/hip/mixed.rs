// SPDX-License-Identifier: MIT OR Apache-2.0
//! Machines whose GPUs are of several parts.

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::ptr::null_mut;

use crate::common::{Block, Machine};
use crate::kernels::{check_vector_add, file};
use crate::symbols::{name_kernel, register_file};
use windlass_hip_sys::bindings::*;

const ONE: dim3 = dim3 { x: 1, y: 1, z: 1 };

/// The target that a device reports.
fn target(machine: &Machine, device: i32) -> String {
    let mut properties = hipDeviceProp_tR0600::default();
    ok!(machine, hipGetDevicePropertiesR0600(&mut properties, device));
    // SAFETY: the call closed the text with a zero.
    unsafe { CStr::from_ptr(properties.gcnArchName.as_ptr()) }.to_str().unwrap().to_owned()
}

/// `vector_add` of 64 ones and a list, on a device's stream.
struct Sum {
    function: hipFunction_t,
    arguments: Vec<u8>,
    out: *mut c_void,
}

impl Sum {
    /// Loads the code and the ones on the current device.
    fn new(machine: &Machine, list: *mut c_void) -> Self {
        let function = machine.function(machine.load(&file("bundles/vector_add.ccob")), c"vector_add");
        let (ones, out) = (machine.upload(&[1_f32; 64]), machine.upload(&[0_f32; 64]));
        let arguments = Block::default().pointer(ones).pointer(list).pointer(out).u32(64).done();
        Self { function, arguments, out }
    }

    fn launch(&self, machine: &Machine, stream: hipStream_t) {
        let launched = machine.launch(self.function, 1, 64, stream, &self.arguments);
        assert_eq!(launched, hipError_t::hipSuccess);
    }
}

#[test]
fn each_device_reports_its_own_part() {
    let machine = Machine::new("gfx942,gfx908,gfx90a:xnack+?memory=1G");
    assert_eq!(
        [0, 1, 2].map(|device| target(&machine, device)),
        ["gfx942:sramecc+:xnack-", "gfx908:sramecc+:xnack-", "gfx90a:sramecc+:xnack+"]
    );
    let attribute = |wanted| {
        [0, 1, 2].map(|device| {
            let mut value = 0;
            ok!(machine, hipDeviceGetAttribute(&mut value, wanted, device));
            value
        })
    };
    assert_eq!(attribute(hipDeviceAttribute_t::hipDeviceAttributeMultiprocessorCount), [304, 120, 110]);
    let in_flight = hipDeviceAttribute_t::hipDeviceAttributeMaxThreadsPerMultiProcessor;
    assert_eq!(attribute(in_flight), [2048, 2560, 2048]);
    let capabilities = [0, 1, 2].map(|device| {
        let (mut major, mut minor) = (0, 0);
        ok!(machine, hipDeviceComputeCapability(&mut major, &mut minor, device));
        (major, minor)
    });
    assert_eq!(capabilities, [(9, 4), (9, 0), (9, 0)]);
    // The driver's answers too, whichever device is current.
    ok!(machine, hipSetDevice(1));
    let stream = machine.stream();
    ok!(machine, hipSetDevice(0));
    let mut mask = [0; 4];
    ok!(machine, hipExtStreamGetCUMask(stream, 4, mask.as_mut_ptr()));
    assert_eq!(mask, [u32::MAX, u32::MAX, u32::MAX, (1 << 24) - 1], "120 units");
}

#[test]
fn a_module_has_the_code_of_the_current_device() {
    let machine = Machine::new("gfx942,gfx908,gfx90a:xnack+,gfx906,gfx900");
    let bundle = file("bundles/vector_add.ccob");
    for device in 0..5 {
        ok!(machine, hipSetDevice(device));
        let container = target(&machine, device);
        check_vector_add(&machine, machine.load(&bundle), &container);
        let mut module = null_mut();
        let alone = file("bundles/vector_add.gfx942.co");
        let loaded = hip!(machine, hipModuleLoadData(&mut module, alone.as_ptr().cast()));
        if device == 0 {
            assert_eq!(loaded, hipError_t::hipSuccess);
        } else {
            assert_eq!(loaded, hipError_t::hipErrorNoBinaryForGpu, "{container}");
            machine.explains(&[&container, "hip-sim://gfx942"]);
        }
    }
}

#[test]
fn a_program_s_kernel_runs_on_the_devices_that_it_has_code_for() {
    let machine = Machine::new("gfx908,gfx942");
    let symbol_of = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles").join(name);
        name_kernel(&machine, register_file(&machine, &path), c"vector_add")
    };
    let launch = |symbol, device: i32| {
        ok!(machine, hipSetDevice(device));
        let mut pointers =
            [machine.upload(&[1.5_f32; 64]), machine.upload(&[2_f32; 64]), machine.malloc(256)];
        let mut count = 64_u32;
        let [left, right, out] = &mut pointers;
        let mut arguments: [*mut c_void; 4] = [
            (&raw mut *left).cast(),
            (&raw mut *right).cast(),
            (&raw mut *out).cast(),
            (&raw mut count).cast(),
        ];
        let block = dim3 { x: 64, ..ONE };
        let launched =
            hip!(machine, hipLaunchKernel(symbol, ONE, block, arguments.as_mut_ptr(), 0, null_mut()));
        launched.ok()?;
        ok!(machine, hipDeviceSynchronize());
        assert_eq!(machine.download::<f32>(pointers[2], 64), [3.5; 64]);
        Ok::<(), hipError_t>(())
    };
    let of_both = symbol_of("vector_add.hipfb");
    launch(of_both, 0).unwrap();
    launch(of_both, 1).unwrap();
    let of_one = symbol_of("vector_add.gfx942.co");
    launch(of_one, 1).unwrap();
    let refused = launch(of_one, 0);
    machine.explains(&["vector_add", "simulated gfx908", "--offload-arch=gfx908"]);
    assert_eq!(refused, Err(hipError_t::hipErrorNoBinaryForGpu));
}

#[test]
fn kernels_of_two_parts_pass_memory_on_by_copies_peer_access_and_graphs() {
    for options in ["gfx90a,gfx942", "gfx90a,gfx942?seed=5"] {
        let machine = Machine::new(options);
        let twos = machine.upload(&[2_f32; 64]);
        let first = Sum::new(&machine, twos);
        let (stream, graph_stream) = (machine.stream(), machine.stream());
        ok!(machine, hipSetDevice(1));
        ok!(machine, hipDeviceEnablePeerAccess(0, 0));
        let second = Sum::new(&machine, first.out);
        let (other, other_graph_stream) = (machine.stream(), machine.stream());
        // The second kernel reads the first one's memory.
        first.launch(&machine, stream);
        ok!(machine, hipStreamSynchronize(stream));
        second.launch(&machine, other);
        ok!(machine, hipStreamSynchronize(other));
        assert_eq!(machine.download::<f32>(second.out, 64), [4.0; 64], "{options}");
        // Its result becomes the list of the first.
        ok!(machine, hipMemcpyPeer(twos, 0, second.out, 1, 256));
        ok!(machine, hipDeviceSynchronize());

        let fork = machine.event();
        let mode = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;
        ok!(machine, hipStreamBeginCapture(other_graph_stream, mode));
        ok!(machine, hipEventRecord(fork, other_graph_stream));
        ok!(machine, hipSetDevice(0));
        let back = machine.event();
        ok!(machine, hipStreamWaitEvent(graph_stream, fork, 0));
        first.launch(&machine, graph_stream);
        ok!(machine, hipEventRecord(back, graph_stream));
        ok!(machine, hipSetDevice(1));
        ok!(machine, hipStreamWaitEvent(other_graph_stream, back, 0));
        second.launch(&machine, other_graph_stream);
        let (mut graph, mut exec) = (null_mut(), null_mut());
        ok!(machine, hipStreamEndCapture(other_graph_stream, &mut graph));
        ok!(machine, hipGraphInstantiate(&mut exec, graph, null_mut(), null_mut(), 0));
        ok!(machine, hipGraphLaunch(exec, other));
        ok!(machine, hipStreamSynchronize(other));
        // 4, which was copied, and one of each kernel.
        assert_eq!(machine.download::<f32>(second.out, 64), [6.0; 64], "{options}");
    }
}

#[test]
fn a_cooperative_launch_fills_the_units_of_its_own_device() {
    let machine = Machine::new("gfx942,gfx908");
    let list = machine.upload(&[0_f32; 64]);
    for (device, units) in [(0, 304), (1, 120)] {
        ok!(machine, hipSetDevice(device));
        ok!(machine, hipDeviceEnablePeerAccess(1 - device, 0));
        let sum = Sum::new(&machine, list);
        let (mut grid, mut block) = (0, 0);
        // A workgroup with all of the LDS has a unit for itself.
        let whole = 64 << 10;
        ok!(machine, hipModuleOccupancyMaxPotentialBlockSize(&mut grid, &mut block, sum.function, whole, 64));
        assert_eq!((grid, block), (units, 64));
        // The list has 64 elements, which are the first workgroup's.
        let mut arguments = sum.arguments.clone();
        let first = arguments.as_mut_ptr();
        let mut each = [0, 8, 16, 24].map(|at| first.wrapping_add(at).cast::<c_void>());
        let mut launch = |grid: i32| {
            hip!(
                machine,
                hipModuleLaunchCooperativeKernel(
                    sum.function,
                    grid as u32,
                    1,
                    1,
                    64,
                    1,
                    1,
                    whole as u32,
                    null_mut(),
                    each.as_mut_ptr()
                )
            )
        };
        assert_eq!(launch(units + 1), hipError_t::hipErrorCooperativeLaunchTooLarge);
        assert_eq!(launch(units), hipError_t::hipSuccess);
        ok!(machine, hipDeviceSynchronize());
        assert_eq!(machine.download::<f32>(sum.out, 64), [1.0; 64]);
    }
}

#[test]
fn the_device_that_fits_wishes_is_the_one_of_the_part_that_has_them() {
    let machine = Machine::new("gfx942,gfx908,gfx906");
    let chosen = |wish: &dyn Fn(&mut hipDeviceProp_tR0600)| {
        let mut wanted = hipDeviceProp_tR0600::default();
        wish(&mut wanted);
        let mut device = 9;
        ok!(machine, hipChooseDeviceR0600(&mut device, &wanted));
        device
    };
    assert_eq!(chosen(&|wanted| wanted.multiProcessorCount = 100), 0);
    assert_eq!(chosen(&|wanted| wanted.maxThreadsPerMultiProcessor = 2560), 1);
}
