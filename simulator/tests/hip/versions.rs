// SPDX-License-Identifier: MIT OR Apache-2.0
//! Versions of HIP: their numbers, their functions, and their answers without a GPU.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use crate::common::Machine;
use windlass_hip_sys::bindings::*;
use windlass_hip_sys::{EntryPoints, Version};

/// The exports of Debian's libamdhip64-5.
const EXPORTS_OF_5_2: &str = include_str!("../../dropin/tests/hip-5.2-symbols.txt");

fn version(machine: &Machine) -> Version {
    let mut number = 0;
    ok!(machine, hipRuntimeGetVersion(&mut number));
    Version::from_number(number).unwrap()
}

#[test]
fn each_version_tells_its_number() {
    for (option, major, minor) in [("5.2", 5, 2), ("6.2", 6, 2), ("7.0", 7, 0)] {
        let machine = Machine::new(&format!("gfx942?hip={option}"));
        let told = version(&machine);
        assert_eq!((told.major, told.minor), (major, minor));
        assert_eq!(machine.api.origin().version, Some(told));
    }
}

#[test]
fn each_version_serves_the_driver() {
    for (version, has_new_properties) in [("5.2", false), ("6.2", true), ("7.1", true)] {
        let machine = Machine::new(&format!("gfx942?hip={version}"));
        let entries = machine.api.entries();
        assert_eq!(entries.missing_required(), [""; 0], "HIP {version}");
        assert_eq!(entries.address("hipGetDevicePropertiesR0600").is_some(), has_new_properties);
    }
}

#[test]
fn version_5_2_has_nothing_that_its_library_lacks() {
    let machine = Machine::new("gfx942?hip=5.2");
    let exported: Vec<&str> =
        EXPORTS_OF_5_2.lines().filter_map(|line| line.split_once(' ')).map(|(name, _)| name).collect();
    for name in EntryPoints::NAMES {
        let here = machine.api.entries().address(name).is_some();
        assert!(!here || exported.contains(name), "{name}");
    }
    assert!(machine.api.missing().contains(&"hipLaunchHostFunc"));
    // Functions that later versions have, and this one too, are not taken away by mistake.
    let newest = Machine::new("gfx942");
    for name in &exported {
        if newest.api.entries().address(name).is_some() {
            assert!(machine.api.entries().address(name).is_some(), "{name}");
        }
    }
}

#[test]
fn properties_have_the_layout_of_the_version() {
    let machine = Machine::new("gfx942?hip=5.2");
    let mut old = hipDeviceProp_tR0000::default();
    ok!(machine, hipGetDeviceProperties(&mut old, 0));
    assert_eq!(size_of_val(&old), 792);
    let mut new = hipDeviceProp_tR0600::default();
    fails!(hipErrorNotSupported, machine, hipGetDevicePropertiesR0600(&mut new, 0));

    let machine = Machine::new("gfx942?hip=6.2");
    ok!(machine, hipGetDevicePropertiesR0600(&mut new, 0));
    assert_eq!(size_of_val(&new), 1472);
    let name = |bytes: &[std::ffi::c_char]| -> Vec<u8> {
        bytes.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect()
    };
    assert_eq!(name(&new.gcnArchName), b"gfx942:sramecc+:xnack-");
    assert_eq!(name(&old.gcnArchName), name(&new.gcnArchName));
}

#[test]
fn properties_are_those_of_the_part() {
    let text = |bytes: &[std::ffi::c_char]| -> String {
        bytes.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8 as char).collect()
    };
    for (options, target, name, units, architecture, version) in [
        ("gfx942", "gfx942:sramecc+:xnack-", "Simulated MI300X (gfx942)", 304, 942, (9, 4)),
        ("gfx950", "gfx950:sramecc+:xnack-", "Simulated MI355X (gfx950)", 256, 950, (9, 5)),
        ("gfx90a", "gfx90a:sramecc+:xnack-", "Simulated MI250X (gfx90a)", 110, 910, (9, 0)),
        ("gfx908", "gfx908:sramecc+:xnack-", "Simulated MI100 (gfx908)", 120, 908, (9, 0)),
        ("gfx906", "gfx906:sramecc+:xnack-", "Simulated MI50 (gfx906)", 60, 906, (9, 0)),
        ("gfx900", "gfx900:xnack-", "Simulated MI25 (gfx900)", 64, 900, (9, 0)),
        ("gfx1100", "gfx1100", "Simulated RX 7900 XTX (gfx1100)", 48, 1100, (11, 0)),
        ("gfx1102", "gfx1102", "Simulated RX 7600 (gfx1102)", 16, 1102, (11, 0)),
        ("gfx1151", "gfx1151", "Simulated Radeon 8060S (gfx1151)", 20, 1151, (11, 5)),
        ("gfx1150", "gfx1150", "Simulated Radeon 890M (gfx1150)", 8, 1150, (11, 5)),
        ("gfx1030", "gfx1030", "Simulated RX 6900 XT (gfx1030)", 40, 1030, (10, 3)),
        ("gfx1010", "gfx1010:xnack-", "Simulated RX 5700 XT (gfx1010)", 20, 1010, (10, 1)),
        ("gfx1012", "gfx1012:xnack-", "Simulated RX 5500 XT (gfx1012)", 11, 1012, (10, 1)),
        ("gfx1201", "gfx1201", "Simulated RX 9070 XT (gfx1201)", 32, 1201, (12, 0)),
        ("gfx90a:xnack+", "gfx90a:sramecc+:xnack+", "Simulated MI250X (gfx90a)", 110, 910, (9, 0)),
        (
            "gfx90a:sramecc+:xnack-?units=8",
            "gfx90a:sramecc+:xnack-",
            "Simulated MI250X (gfx90a)",
            8,
            910,
            (9, 0),
        ),
    ] {
        let machine = Machine::new(options);
        let (mut new, mut old) = (hipDeviceProp_tR0600::default(), hipDeviceProp_tR0000::default());
        ok!(machine, hipGetDevicePropertiesR0600(&mut new, 0));
        ok!(machine, hipGetDevicePropertiesR0000(&mut old, 0));
        assert_eq!((text(&new.gcnArchName), text(&old.gcnArchName)), (target.into(), target.into()));
        assert_eq!((text(&new.name), text(&old.name)), (name.into(), name.into()));
        assert_eq!((new.multiProcessorCount, old.gcnArch), (units, architecture));
        assert_eq!((new.major, new.minor), version);
    }
}

#[test]
fn code_for_another_part_is_refused() {
    let machine = Machine::new("gfx90a");
    let image = include_bytes!("../../../cts/kernels/bundles/vector_add.gfx942.co");
    let mut module = null_mut();
    fails!(hipErrorNoBinaryForGpu, machine, hipModuleLoadData(&mut module, image.as_ptr().cast()));
}

/// The bundle has code for both modes of gfx90a, and for gfx942 in its usual one.
#[test]
fn a_machine_runs_the_code_of_its_mode() {
    let bundle = include_bytes!("../../../cts/kernels/bundles/vector_add.features.ccob");
    for (options, runs) in [
        ("gfx90a", true),
        ("gfx90a:xnack+", true),
        ("gfx942", true),
        ("gfx942:xnack+", false),
        ("gfx900", false),
    ] {
        let machine = Machine::new(options);
        let mut module = null_mut();
        let status = hip!(machine, hipModuleLoadData(&mut module, bundle.as_ptr().cast()));
        let expected = if runs { hipError_t::hipSuccess } else { hipError_t::hipErrorNoBinaryForGpu };
        assert_eq!(status, expected, "{options}");
    }
}

#[test]
fn absent_functions_are_in_no_table() {
    let machine = Machine::new("gfx942?without=hipLaunchHostFunc,hipMallocAsync");
    for name in ["hipLaunchHostFunc", "hipMallocAsync"] {
        assert!(machine.api.missing().contains(&name), "{name}");
        assert!(look_up(&machine, name, 710).is_none(), "{name}");
    }
    let mut memory = null_mut();
    fails!(hipErrorNotSupported, machine, hipMallocAsync(&mut memory, 16, null_mut()));
    assert!(look_up(&machine, "hipFreeAsync", 710).is_some());
}

fn look_up(machine: &Machine, name: &str, version: c_int) -> Option<*mut c_void> {
    let symbol = std::ffi::CString::new(name).unwrap();
    let mut function = null_mut();
    let mut found = hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SUCCESS;
    let status = hip!(machine, hipGetProcAddress(symbol.as_ptr(), &mut function, version, 0, &mut found));
    let here = status == hipError_t::hipSuccess;
    assert_eq!(here, found == hipDriverProcAddressQueryResult::HIP_GET_PROC_ADDRESS_SUCCESS);
    assert_eq!(here, !function.is_null());
    here.then_some(function)
}

#[test]
fn a_looked_up_function_has_the_layout_of_the_version_that_is_asked_for() {
    let machine = Machine::new("gfx942");
    let address = |name: &str| machine.api.entries().address(name).unwrap().cast_mut();
    for (version, name) in [
        (502, "hipGetDeviceProperties"),
        (50_221_153, "hipGetDeviceProperties"),
        (600, "hipGetDevicePropertiesR0600"),
        (710, "hipGetDevicePropertiesR0600"),
        (60_241_134, "hipGetDevicePropertiesR0600"),
    ] {
        assert_eq!(look_up(&machine, "hipGetDeviceProperties", version), Some(address(name)), "{version}");
    }
    assert_eq!(look_up(&machine, "hipNoSuchFunction", 710), None);
    // The functions for the thread's own stream are in the library. The plain ones in their place would be
    // wrong.
    let (name, mut function) = (c"hipMemcpy".as_ptr(), null_mut());
    fails!(hipErrorNotSupported, machine, hipGetProcAddress(name, &mut function, 710, 2, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipGetProcAddress(name, &mut function, 710, 3, null_mut()));
    fails!(hipErrorInvalidValue, machine, hipGetProcAddress(name, null_mut(), 710, 0, null_mut()));
    ok!(machine, hipGetProcAddress(name, &mut function, 710, 1, null_mut()));
    assert_eq!(function, address("hipMemcpy"));
}

/// The codes of a few calls, in this order, on a machine without a GPU.
fn answers(options: &str) -> [u32; 6] {
    let machine = Machine::new(options);
    let (mut number, mut device, mut count) = (0, 0, -1);
    let answers = [
        hip!(machine, hipRuntimeGetVersion(&mut number)),
        hip!(machine, hipInit(0)),
        hip!(machine, hipGetDeviceCount(&mut count)),
        hip!(machine, hipInit(0)),
        hip!(machine, hipGetDevice(&mut device)),
        hip!(machine, hipSetDevice(0)),
    ];
    assert_eq!(count, 0);
    answers.map(|status| status.0)
}

/// The answers of 5.2 are those of Debian's libamdhip64-5 on a machine without a GPU; the others follow AMD's
/// sources.
#[test]
fn without_a_gpu_each_version_says_so_in_its_own_way() {
    assert_eq!(answers("gfx942?devices=0&hip=5.2"), [0, 101, 100, 101, 101, 101]);
    assert_eq!(answers("gfx942?devices=0&hip=6.0"), [0, 101, 100, 100, 100, 100]);
    assert_eq!(answers("gfx942?devices=0&hip=6.2"), [0, 100, 100, 100, 100, 100]);
    assert_eq!(answers("gfx942?devices=0&hip=7.0"), [0, 100, 100, 100, 100, 100]);
}

#[test]
fn a_count_that_comes_first_keeps_the_failure_to_itself() {
    let machine = Machine::new("gfx942?devices=0&hip=6.0");
    let mut count = -1;
    fails!(hipErrorNoDevice, machine, hipGetDeviceCount(&mut count));
    fails!(hipErrorNoDevice, machine, hipInit(0));
}

/// AMD's HIP 5 fills without end if the range ends before the word in which it begins.
#[test]
fn small_fills_within_a_word_go_wrong_in_version_5() {
    for (hip, goes_wrong) in [("5.2", true), ("5.7", true), ("6.0", false), ("7.1", false)] {
        for (start, length, within) in [
            (1, 1, true),
            (1, 2, true),
            (3, 4, true),
            (5, 2, true),
            (1, 7, false),
            (1, 8, false),
            (5, 3, false),
            (8, 3, false),
            (0, 1, false),
        ] {
            let machine = Machine::new(&format!("gfx942?hip={hip}"));
            let memory = machine.upload(&[0_u8; 32]);
            let (address, stream) = (memory.wrapping_byte_add(start), machine.stream());
            ok!(machine, hipMemsetD8Async(address, 7, length, stream));
            if !(goes_wrong && within) {
                ok!(machine, hipStreamSynchronize(stream));
                let mut expected = [0_u8; 32];
                expected[start..start + length].fill(7);
                assert_eq!(
                    machine.download::<u8>(memory, 32),
                    expected,
                    "{length} bytes at {start}, HIP {hip}"
                );
                continue;
            }
            fails!(hipErrorIllegalAddress, machine, hipStreamSynchronize(stream));
            let report = machine.simulator.last_fault().unwrap();
            let says = report.contains("AMD's HIP 5 fills without end") && report.contains("by a copy");
            assert!(says, "{length} bytes at {start}, HIP {hip}: {report}");
            fails!(hipErrorIllegalAddress, machine, hipMemset(address, 7, length));
        }
        let machine = Machine::new(&format!("gfx942?hip={hip}"));
        let words = machine.upload(&[0_u16; 16]);
        ok!(machine, hipMemsetD16Async(words.wrapping_byte_add(2), 7, 3, null_mut()));
        ok!(machine, hipDeviceSynchronize());
        let ended = hip!(machine, hipMemsetD16(words.wrapping_byte_add(2), 7, 2));
        assert_eq!(ended == hipError_t::hipErrorIllegalAddress, goes_wrong, "HIP {hip}: {ended}");
    }
}

/// A code object of a version: one byte of the ELF header tells it.
fn code_object(version: u8) -> Vec<u8> {
    let mut code = include_bytes!("../../../cts/kernels/bundles/vector_add.gfx942.co").to_vec();
    code[8] = version - 2;
    code
}

#[test]
fn code_objects_are_read_up_to_the_newest_of_the_version() {
    for (hip, newest) in [("5.0", 4), ("5.2", 4), ("5.3", 5), ("5.7", 5), ("6.0", 6), ("7.1", 6)] {
        let machine = Machine::new(&format!("gfx942?hip={hip}"));
        for version in 4..=6 {
            let (code, mut module) = (code_object(version), null_mut());
            if version <= newest {
                ok!(machine, hipModuleLoadData(&mut module, code.as_ptr().cast()));
                continue;
            }
            let image = code.as_ptr().cast();
            fails!(hipErrorSharedObjectInitFailed, machine, hipModuleLoadData(&mut module, image));
            let reason = machine.api.diagnose().unwrap();
            for part in [
                format!("HIP {hip} reads code objects up to v{newest}"),
                format!("code object v{version}"),
                format!("-mcode-object-version={newest}"),
            ] {
                assert!(reason.contains(&part), "{part} is not in: {reason}");
            }
        }
    }
}

/// `.ci/hip-differences` compares every call with AMD's libraries; here is one of each kind.
#[test]
fn mistakes_are_answered_as_the_version_answers_them() {
    for (hip, stale_stream, null_module, beside_capture) in [
        ("5.2", hipError_t::hipErrorInvalidValue, hipError_t::hipErrorNotFound, hipError_t::hipSuccess),
        ("6.4", hipError_t::hipErrorInvalidHandle, hipError_t::hipErrorInvalidHandle, hipError_t::hipSuccess),
        (
            "7.1",
            hipError_t::hipErrorInvalidHandle,
            hipError_t::hipErrorInvalidHandle,
            hipError_t::hipErrorStreamCaptureImplicit,
        ),
    ] {
        let machine = Machine::new(&format!("gfx942?hip={hip}"));
        let gone = machine.stream();
        ok!(machine, hipStreamDestroy(gone));
        let mut memory = null_mut();
        assert_eq!(hip!(machine, hipMallocAsync(&mut memory, 64, gone)), stale_stream, "{hip}");
        assert_eq!(hip!(machine, hipModuleUnload(null_mut())), null_module, "{hip}");
        // Only 6 forgets this one.
        let event = machine.event();
        ok!(machine, hipEventDestroy(event));
        ok!(machine, hipGetDevice(&mut 0));
        hip!(machine, hipGetLastError());
        fails!(hipErrorContextIsDestroyed, machine, hipEventDestroy(event));
        let kept = hip!(machine, hipGetLastError()) != hipError_t::hipSuccess;
        assert_eq!(kept, hip != "6.4", "{hip}");
        // The null stream beside a capture.
        ok!(machine, hipMalloc(&mut memory, 64));
        let mut stream = null_mut();
        ok!(machine, hipStreamCreate(&mut stream));
        ok!(machine, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
        assert_eq!(hip!(machine, hipMemsetAsync(memory, 1, 64, null_mut())), beside_capture, "{hip}");
    }
}

/// Differences of versions: the functions they have, and the state they leave behind a refused call.
#[test]
fn versions_know_what_they_know() {
    for (hip, since_6) in [("5.2", false), ("6.4", true), ("7.1", true)] {
        let machine = Machine::new(&format!("gfx942?hip={hip}&devices=2"));
        let answer = |old: hipError_t, new: hipError_t| if since_6 { new } else { old };
        // hipStreamLegacy.
        let legacy = 1 as hipStream_t;
        let expected = answer(hipError_t::hipErrorContextIsDestroyed, hipError_t::hipSuccess);
        assert_eq!(hip!(machine, hipStreamSynchronize(legacy)), expected, "{hip}");
        // Without a place for the event the call is refused, and before HIP 7 the error is forgotten. The
        // error of wrong flags is kept.
        hip!(machine, hipGetLastError());
        fails!(hipErrorInvalidValue, machine, hipEventCreate(null_mut()));
        let kept = hip!(machine, hipGetLastError()) != hipError_t::hipSuccess;
        assert_eq!(kept, hip == "7.1", "{hip}");
        let mut event = null_mut();
        fails!(hipErrorInvalidValue, machine, hipEventCreateWithFlags(&mut event, 8));
        assert_eq!(hip!(machine, hipGetLastError()), hipError_t::hipErrorInvalidValue, "{hip}");
        // Grids that are too large.
        let function = machine.function(machine.load(&code_object(4)), c"vector_add");
        let expected = answer(hipError_t::hipErrorInvalidConfiguration, hipError_t::hipErrorInvalidValue);
        let wide = hip!(
            machine,
            hipModuleLaunchKernel(function, u32::MAX, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut())
        );
        assert_eq!(wide, expected, "{hip}");
        // Memory of no size.
        let mut memory = null_mut();
        let expected = answer(hipError_t::hipErrorInvalidValue, hipError_t::hipSuccess);
        assert_eq!(hip!(machine, hipMallocAsync(&mut memory, 0, null_mut())), expected, "{hip}");
        // The size of stacks, a step at a time.
        if since_6 {
            let mut size = 0;
            ok!(machine, hipDeviceSetLimit(hipLimit_t::hipLimitStackSize, 5000));
            ok!(machine, hipDeviceGetLimit(&mut size, hipLimit_t::hipLimitStackSize));
            assert_eq!(size, 5008, "{hip}");
            fails!(hipErrorInvalidValue, machine, hipDeviceSetLimit(hipLimit_t::hipLimitStackSize, 1 << 20));
            ok!(machine, hipSetDevice(1));
            ok!(machine, hipDeviceGetLimit(&mut size, hipLimit_t::hipLimitStackSize));
            assert_eq!(size, 1024, "{hip}");
        }
    }
}

/// A boolean attribute of a pointer takes one byte, and no other byte is written.
#[test]
fn truths_about_pointers_take_a_byte() {
    for hip in ["5.2", "6.4", "7.1"] {
        let machine = Machine::new(&format!("gfx942?hip={hip}"));
        let mut memory = null_mut();
        ok!(machine, hipMalloc(&mut memory, 64));
        for attribute in [
            hipPointer_attribute::HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS,
            hipPointer_attribute::HIP_POINTER_ATTRIBUTE_IS_MANAGED,
            hipPointer_attribute::HIP_POINTER_ATTRIBUTE_MAPPED,
        ] {
            let mut room = [0xa5_u8; 8];
            ok!(machine, hipPointerGetAttribute(room.as_mut_ptr().cast(), attribute, memory));
            assert!(room[0] <= 1, "{hip}: {room:?}");
            assert_eq!(room[1..], [0xa5; 7], "{hip}");
        }
    }
}
