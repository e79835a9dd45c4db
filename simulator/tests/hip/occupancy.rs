// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workgroups of a kernel, named by its handle, that fit into a compute unit.

use std::ffi::CStr;
use std::path::Path;
use std::ptr::null_mut;

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

fn kernel(machine: &Machine, file: &str, name: &CStr) -> hipFunction_t {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles").join(file);
    machine.function(machine.load(&std::fs::read(path).unwrap()), name)
}

fn vector_add(machine: &Machine) -> hipFunction_t {
    kernel(machine, "vector_add.ccob", c"vector_add")
}

#[test]
fn waves_and_lds_limit_the_workgroups_of_a_compute_unit() {
    let machine = Machine::new("");
    let function = vector_add(&machine);
    let resident = |size, lds| {
        let (mut blocks, mut with_flags) = (99, 99);
        ok!(machine, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, size, lds));
        for flags in [0, 1] {
            ok!(
                machine,
                hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                    &mut with_flags,
                    function,
                    size,
                    lds,
                    flags
                )
            );
            assert_eq!(with_flags, blocks);
        }
        blocks
    };
    // 32 waves of 64 work-items; a part of a wave takes a whole one.
    assert_eq!([1, 64, 65, 256, 1024].map(|size| resident(size, 0)), [32, 32, 16, 8, 2]);
    // 64 KiB of LDS.
    assert_eq!([32 << 10, 33 << 10, 64 << 10, (64 << 10) + 1].map(|lds| resident(64, lds)), [2, 1, 1, 0]);
    assert_eq!(resident(1025, 0), 0, "no workgroup is larger than 1024 work-items");
}

/// The numbers are those of AMD's HIP 6.4 for the same code.
#[test]
fn registers_limit_the_workgroups_of_a_compute_unit() {
    for (part, registers, blocks, (grid, block)) in [
        ("gfx942", 103, [16, 8, 4, 1], (912, 320)),
        ("gfx90a", 103, [16, 8, 4, 1], (330, 320)),
        ("gfx908", 63, [16, 8, 4, 1], (360, 320)),
        ("gfx906", 64, [16, 8, 4, 1], (180, 320)),
        ("gfx900", 64, [16, 8, 4, 1], (192, 320)),
        ("gfx1100", 102, [28, 18, 7, 1], (240, 320)),
        ("gfx1102", 102, [18, 12, 4, 1], (48, 320)),
        ("gfx1151", 102, [28, 18, 7, 1], (100, 320)),
        ("gfx1030", 102, [18, 12, 4, 1], (120, 320)),
    ] {
        let machine = Machine::new(part);
        let function = kernel(&machine, "scratch.ccob", c"permute_private");
        let (mut told, mut pair) = (0, (0, 0));
        let attribute = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_NUM_REGS;
        ok!(machine, hipFuncGetAttribute(&mut told, attribute, function));
        let resident = [64, 65, 256, 1024].map(|size| {
            let mut blocks = 99;
            ok!(machine, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, size, 0));
            blocks
        });
        ok!(machine, hipModuleOccupancyMaxPotentialBlockSize(&mut pair.0, &mut pair.1, function, 0, 300));
        assert_eq!((told, resident, pair), (registers, blocks, (grid, block)), "{part}");
    }
}

/// They are counted among the vector registers.
#[test]
fn accumulation_registers_count_once() {
    const KEY: &[u8] = b".agpr_count";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles/control.gfx942.co");
    let mut code = std::fs::read(path).unwrap();
    let machine = Machine::new("");
    let registers = |code: &[u8]| {
        let function = machine.function(machine.load(code), c"collatz");
        let mut told = 0;
        ok!(
            machine,
            hipFuncGetAttribute(&mut told, hipFunction_attribute::HIP_FUNC_ATTRIBUTE_NUM_REGS, function)
        );
        told
    };
    let before = registers(&code);
    let keys: Vec<_> =
        code.windows(KEY.len()).enumerate().filter(|(_, at)| *at == KEY).map(|(at, _)| at).collect();
    assert_eq!(keys.len(), 3, "a kernel has one");
    for at in keys {
        assert_eq!(std::mem::replace(&mut code[at + KEY.len()], 4), 0, "the kernel has none");
    }
    assert_eq!(registers(&code), before);
}

#[test]
fn the_largest_workgroup_and_the_grid_that_fills_the_device_are_told() {
    let machine = Machine::new("gfx942?units=10");
    let function = vector_add(&machine);
    let potential = |lds, limit| {
        let (mut grid, mut block, mut pair) = (99, 99, (99, 99));
        ok!(machine, hipModuleOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, lds, limit));
        for flags in [0, 1] {
            let (grid, block) = (&mut pair.0, &mut pair.1);
            ok!(
                machine,
                hipModuleOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, lds, limit, flags)
            );
        }
        assert_eq!(pair, (grid, block));
        pair
    };
    // No limit, and limits above the device's, are the device's.
    for limit in [0, -1, 1024, 1025, i32::MAX] {
        assert_eq!(potential(0, limit), (20, 1024), "{limit}");
    }
    assert_eq!(potential(0, 256), (80, 256));
    assert_eq!(potential(64 << 10, 256), (10, 256));
}

#[test]
fn questions_about_no_kernel_are_refused() {
    let machine = Machine::new("");
    let function = vector_add(&machine);
    let mut blocks = 7;
    for (handle, size) in [(function, 0), (function, -1), (null_mut(), 64)] {
        fails!(
            hipErrorInvalidValue,
            machine,
            hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, handle, size, 0)
        );
        fails!(
            hipErrorInvalidValue,
            machine,
            hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&mut blocks, handle, size, 0, 0)
        );
    }
    fails!(
        hipErrorInvalidValue,
        machine,
        hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(null_mut(), function, 64, 0)
    );
    for (out, flags) in [(null_mut(), 0), (&raw mut blocks, 2), (&raw mut blocks, u32::MAX)] {
        fails!(
            hipErrorInvalidValue,
            machine,
            hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, function, 64, 0, flags)
        );
    }
    blocks = 7;
    let mut block = 7;
    let (one, other) = (&raw mut blocks, &raw mut block);
    for (grid, size, handle) in
        [(null_mut(), other, function), (one, null_mut(), function), (one, other, null_mut())]
    {
        fails!(
            hipErrorInvalidValue,
            machine,
            hipModuleOccupancyMaxPotentialBlockSize(grid, size, handle, 0, 0)
        );
        fails!(
            hipErrorInvalidValue,
            machine,
            hipModuleOccupancyMaxPotentialBlockSizeWithFlags(grid, size, handle, 0, 0, 0)
        );
    }
    fails!(
        hipErrorInvalidValue,
        machine,
        hipModuleOccupancyMaxPotentialBlockSizeWithFlags(one, other, function, 0, 0, 2)
    );
    assert_eq!((blocks, block), (7, 7));
}
