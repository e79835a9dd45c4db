// SPDX-License-Identifier: MIT OR Apache-2.0
//! `bounds=page`: overruns within the last page of an allocation are reported, and harmless.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use crate::common::{Block, Machine};
use windlass_hip_sys::bindings::*;

struct Scene {
    machine: Machine,
    module: hipModule_t,
}

impl Scene {
    fn new(options: &str) -> Self {
        let machine = Machine::new(options);
        let module = machine.load(include_bytes!("../../../cts/kernels/bundles/faults.ccob"));
        Self { machine, module }
    }

    /// Runs a kernel that accesses the word of an index.
    fn run(&self, kernel: &CStr, memory: *mut c_void, index: i64) -> hipError_t {
        let out = self.machine.malloc(4);
        let function = self.machine.function(self.module, kernel);
        let block = Block::default().pointer(memory).bytes(&index.to_le_bytes());
        let arguments = match kernel == c"read_at" {
            true => block.pointer(out).done(),
            false => block.u32(7).done(),
        };
        assert_eq!(self.machine.launch(function, 1, 1, null_mut(), &arguments), hipError_t::hipSuccess);
        hip!(self.machine, hipDeviceSynchronize())
    }
}

#[test]
fn an_overrun_within_the_last_page_is_reported_once_for_a_kernel() {
    for options in ["?bounds=page", "?bounds=page&seed=1", "?bounds=page&uninitialised=report"] {
        let scene = Scene::new(options);
        let memory = scene.machine.upload(&[1_u32; 60]);
        for (kernel, access) in [
            (c"write_at", "write of 4 bytes"),
            (c"read_at", "read of 4 bytes"),
            (c"add_at", "atomic of 4 bytes"),
        ] {
            assert_eq!(scene.run(kernel, memory, 60), hipError_t::hipSuccess);
            assert_eq!(scene.run(kernel, memory, 1023), hipError_t::hipSuccess);
            let found = scene.machine.simulator.take_findings();
            assert_eq!(found.len(), 1, "{options}: {found:?}");
            let name = kernel.to_str().unwrap();
            for part in [name, access, "directly past the end of the 240-byte allocation", "bounds=page"] {
                assert!(found[0].contains(part), "{part}: {}", found[0]);
            }
            // Within its bounds there is nothing to tell, and past the page it is a fault.
            assert_eq!(scene.run(kernel, memory, 59), hipError_t::hipSuccess);
            assert_eq!(scene.run(kernel, memory, 1024), hipError_t::hipErrorIllegalAddress);
            assert!(scene.machine.simulator.take_findings().is_empty());
        }
        assert_eq!(scene.machine.download::<u32>(memory, 60)[58], 1);
    }
}

#[test]
fn bounds_are_exact_where_nobody_asks() {
    for options in ["?hip=7.1", "?bounds=exact"] {
        let scene = Scene::new(options);
        let memory = scene.machine.upload(&[1_u32; 60]);
        assert_eq!(scene.run(c"write_at", memory, 60), hipError_t::hipErrorIllegalAddress);
    }
}

#[test]
fn a_page_of_the_host_s_own_is_no_part_of_registered_memory() {
    let scene = Scene::new("?bounds=page");
    let mut host = vec![0_u32; 8192];
    let first = host.as_mut_ptr().addr().next_multiple_of(4096) - host.as_mut_ptr().addr();
    let registered: *mut c_void = host.as_mut_ptr().wrapping_byte_add(first).cast();
    ok!(scene.machine, hipHostRegister(registered, 64, 0));
    assert_eq!(scene.run(c"write_at", registered, 16), hipError_t::hipErrorIllegalAddress);
    assert_eq!(host[first / 4 + 16], 0);
}
