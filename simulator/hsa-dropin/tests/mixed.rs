// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine whose GPUs are of two parts: each agent has its own facts, instruction set and code.

mod common;

use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};

use common::*;
use hsa_runtime64 as hsa;
use windlass_codeobject::{File, Options};
use windlass_simulator::hsa::Status;
use windlass_simulator::hsa::abi::*;

const BUNDLE: &[u8] = include_bytes!("../../../cts/kernels/bundles/vector_add.ccob");
const TARGETS: [&str; 2] = ["gfx942:sramecc+:xnack-", "gfx908:sramecc+:xnack-"];

fn start() {
    machine("gfx942,gfx908?memory=1G");
}

/// The code object for a target.
fn code_for(target: &str) -> Vec<u8> {
    let file = File::parse(BUNDLE, &Options::default()).unwrap();
    let bundle = &file.bundles()[0];
    let best = bundle.select(&target.parse().unwrap(), &Options::default()).best;
    bundle.image(best.unwrap()).unwrap().to_vec()
}

fn number(agent: Agent, attribute: u32) -> u32 {
    let mut value = 0_u32;
    // SAFETY: a local, as large as the attribute.
    ok(unsafe { hsa::hsa_agent_get_info(agent, attribute, (&raw mut value).cast()) });
    value
}

fn isa_of(agent: Agent) -> Isa {
    unsafe extern "C" fn note(isa: Isa, found: *mut c_void) -> Status {
        // SAFETY: the local that is passed below.
        unsafe { *found.cast::<Isa>() = isa };
        Status::SUCCESS
    }
    let mut found = Isa::default();
    // SAFETY: the local outlives the call.
    ok(unsafe { hsa::hsa_agent_iterate_isas(agent, Some(note), (&raw mut found).cast()) });
    found
}

#[test]
fn each_agent_reports_its_own_part() {
    start();
    let names = [0, 1].map(|index| {
        let mut name = [0_u8; 64];
        // SAFETY: the buffer has the length of names.
        ok(unsafe { hsa::hsa_agent_get_info(gpu(index), 0, name.as_mut_ptr().cast()) });
        CStr::from_bytes_until_nul(&name).unwrap().to_str().unwrap().to_owned()
    });
    assert_eq!(names, ["gfx942", "gfx908"]);
    // Compute units, waves of one, and the clock.
    assert_eq!([0, 1].map(|index| number(gpu(index), 0xa002)), [304, 120]);
    assert_eq!([0, 1].map(|index| number(gpu(index), 0xa00a)), [32, 40]);
    assert_eq!([0, 1].map(|index| number(gpu(index), 0xa003)), [2100, 1502]);
    let caches = [0, 1].map(|index| {
        let mut sizes = [9_u32; 4];
        // SAFETY: the attribute has four numbers.
        ok(unsafe { hsa::hsa_agent_get_info(gpu(index), 18, sizes.as_mut_ptr().cast()) });
        sizes
    });
    assert_eq!(caches, [[32 << 10, 4 << 20, 256 << 20, 0], [16 << 10, 8 << 20, 0, 0]]);
    for (index, words) in [(0, 10), (1, 4)] {
        let (queue, mut mask) = (Queue::new(gpu(index), 64), [0_u32; 10]);
        // SAFETY: a live queue, and as many bits as words.
        ok(unsafe { hsa::hsa_amd_queue_cu_get_mask(queue.0, 32 * words, mask.as_mut_ptr()) });
        let units: u32 = mask.iter().map(|word| word.count_ones()).sum();
        assert_eq!(units, number(gpu(index), 0xa002));
    }
}

#[test]
fn an_instruction_set_is_that_of_its_agents() {
    start();
    let isas = [0, 1].map(|index| isa_of(gpu(index)));
    assert_ne!(isas[0], isas[1]);
    for (isa, target) in isas.into_iter().zip(TARGETS) {
        let name = CString::new(format!("amdgcn-amd-amdhsa--{target}")).unwrap();
        let (mut found, mut told) = (Isa::default(), [0_u8; 64]);
        // SAFETY: a string that ends in zero, locals, and a buffer that is longer than the name.
        unsafe {
            ok(hsa::hsa_isa_from_name(name.as_ptr(), &mut found));
            ok(hsa::hsa_isa_get_info_alt(isa, 1, told.as_mut_ptr().cast()));
        }
        assert_eq!(found, isa);
        assert_eq!(CStr::from_bytes_until_nul(&told).unwrap(), &*name);
    }
    let mut found = Isa::default();
    let absent = c"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-".as_ptr();
    // SAFETY: as above.
    assert_eq!(unsafe { hsa::hsa_isa_from_name(absent, &mut found) }, Status::INVALID_ISA_NAME);
    for (code, agent) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let mut result = code != agent;
        // SAFETY: a local.
        ok(unsafe { hsa::hsa_isa_compatible(isas[code], isas[agent], &mut result) });
        assert_eq!(result, code == agent);
    }
}

#[test]
fn a_kernel_runs_on_the_agent_that_its_code_is_for() {
    start();
    for (index, target) in TARGETS.into_iter().enumerate() {
        let gpu = gpu(index);
        let (queue, code) = (Queue::new(gpu, 64), Code::load(gpu, &code_for(target)));
        let [a, b, sum] = [(); 3].map(|()| device_memory(gpu, 256));
        upload(a, &1.5_f32.to_le_bytes().repeat(64));
        upload(b, &2_f32.to_le_bytes().repeat(64));
        let [first, second, out] = [a, b, sum].map(|memory| (memory as u64).to_le_bytes());
        let arguments = arguments(&packed(&[&first, &second, &out, &64_u32.to_le_bytes()]), 64, 64);
        let (kernel, completion) = (code.kernel("vector_add"), signal(1));
        queue.dispatch(Dispatch { kernel, workgroup: 64, grid: 64, arguments, header: FENCES, completion });
        wait(completion);
        assert_eq!(download(sum, 256), 3.5_f32.to_le_bytes().repeat(64), "{target}");
    }
}

#[test]
fn code_for_the_other_agent_is_refused() {
    start();
    for (index, target) in [(0, TARGETS[1]), (1, TARGETS[0])] {
        let (elf, mut reader, mut executable) =
            (code_for(target), CodeObjectReader::default(), Executable::default());
        // SAFETY: the size is that of the bytes; all else are locals and live handles.
        unsafe {
            ok(hsa::hsa_code_object_reader_create_from_memory(elf.as_ptr().cast(), elf.len(), &mut reader));
            ok(hsa::hsa_executable_create_alt(1, 0, null(), &mut executable));
            let load = hsa::hsa_executable_load_agent_code_object;
            let refused = load(executable, gpu(index), reader, null(), null_mut());
            assert_eq!(refused, Status::INCOMPATIBLE_ARGUMENTS, "{target}");
            ok(load(executable, gpu(1 - index), reader, null(), null_mut()));
        }
    }
}
