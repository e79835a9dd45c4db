// SPDX-License-Identifier: MIT OR Apache-2.0
//! The first queries of clients: those of `rocminfo` 5.2 to 6.4, and Mojo's, with the answers that follow
//! from the part. The simulated HIP gives the same answers for the same part.

mod common;

use std::ffi::{CStr, c_void};
use std::process::Command;

use common::*;
use hsa_runtime64 as hsa;
use windlass_hip_sys::bindings::hipDeviceProp_tR0600;
use windlass_simulator::Simulator;
use windlass_simulator::hsa::Status;
use windlass_simulator::hsa::abi::*;

/// The variable that names the machine of this process.
const MACHINE: &str = "WINDLASS_TEST_MACHINE";

/// A part and the figures of its hardware sheet.
struct Facts {
    machine: &'static str,
    name: &'static str,
    isa: &'static str,
    units: u32,
    /// Compute units of a multiprocessor in HIP.
    paired: u32,
    simds: u32,
    lanes: u32,
    /// Waves in flight on a compute unit.
    waves: u32,
    clock: u32,
    chip: u32,
    caches: [u32; 4],
    memory: u64,
}

const ALL: [Facts; 4] = [
    Facts {
        machine: "gfx942?devices=2&memory=1G",
        name: "gfx942",
        isa: "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
        units: 304,
        paired: 1,
        simds: 4,
        lanes: 64,
        waves: 32,
        clock: 2100,
        chip: 0x74a1,
        caches: [32 << 10, 4 << 20, 256 << 20, 0],
        memory: 1 << 30,
    },
    Facts {
        machine: "gfx90a?devices=2&memory=2G&units=104",
        name: "gfx90a",
        isa: "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
        units: 104,
        paired: 1,
        simds: 4,
        lanes: 64,
        waves: 32,
        clock: 1700,
        chip: 0x7408,
        caches: [16 << 10, 8 << 20, 0, 0],
        memory: 2 << 30,
    },
    Facts {
        machine: "gfx900?devices=2&memory=1G",
        name: "gfx900",
        isa: "amdgcn-amd-amdhsa--gfx900:xnack-",
        units: 64,
        paired: 1,
        simds: 4,
        lanes: 64,
        waves: 40,
        clock: 1500,
        chip: 0x6860,
        caches: [16 << 10, 4 << 20, 0, 0],
        memory: 1 << 30,
    },
    Facts {
        machine: "gfx1100?devices=2&memory=1G",
        name: "gfx1100",
        isa: "amdgcn-amd-amdhsa--gfx1100",
        units: 96,
        paired: 2,
        simds: 2,
        lanes: 32,
        waves: 32,
        clock: 2304,
        chip: 0x744c,
        caches: [32 << 10, 6 << 20, 96 << 20, 0],
        memory: 1 << 30,
    },
];

/// The facts of this process's machine. Without one, starts a process for each machine and returns `None`.
fn facts(test: &str) -> Option<&'static Facts> {
    if let Ok(machine) = std::env::var(MACHINE) {
        let facts = ALL.iter().find(|facts| facts.machine == machine).unwrap();
        common::machine(facts.machine);
        return Some(facts);
    }
    for facts in &ALL {
        let ran = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(MACHINE, facts.machine)
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}: {}", facts.name, String::from_utf8_lossy(&ran.stderr));
    }
    None
}

/// An attribute whose type accepts any bytes.
fn answer<T: Copy>(ask: impl FnOnce(*mut c_void) -> Status) -> T {
    // As long as the longest answer; bytes behind the answer must not change.
    let mut room = [0xee_u8; 256];
    ok(ask(room.as_mut_ptr().cast()));
    // SAFETY: the types below are numbers and arrays of them, no longer than the buffer.
    let value = unsafe { room.as_ptr().cast::<T>().read_unaligned() };
    assert!(room[size_of::<T>()..].iter().all(|byte| *byte == 0xee), "the answer is longer than its type");
    value
}

fn text<const N: usize>(bytes: [u8; N]) -> String {
    CStr::from_bytes_until_nul(&bytes).unwrap().to_str().unwrap().to_owned()
}

fn of_agent<T: Copy>(agent: Agent, attribute: u32) -> T {
    // SAFETY: the buffer is large enough.
    answer(|to| unsafe { hsa::hsa_agent_get_info(agent, attribute, to) })
}

fn of_system<T: Copy>(attribute: u32) -> T {
    // SAFETY: as above.
    answer(|to| unsafe { hsa::hsa_system_get_info(attribute, to) })
}

fn of_pool<T: Copy>(pool: MemoryPool, attribute: u32) -> T {
    // SAFETY: as above.
    answer(|to| unsafe { hsa::hsa_amd_memory_pool_get_info(pool, attribute, to) })
}

fn of_isa<T: Copy>(isa: Isa, attribute: u32) -> T {
    // SAFETY: as above.
    answer(|to| unsafe { hsa::hsa_isa_get_info_alt(isa, attribute, to) })
}

fn of_cache<T: Copy>(cache: Cache, attribute: u32) -> T {
    // SAFETY: as above.
    answer(|to| unsafe { hsa::hsa_cache_get_info(cache, attribute, to) })
}

#[test]
fn rocminfo_gets_an_answer_to_each_of_its_queries() {
    let Some(facts) = facts("rocminfo_gets_an_answer_to_each_of_its_queries") else { return };
    // The system.
    assert_eq!((of_system::<u16>(0), of_system::<u16>(1)), (1, 1));
    assert!(of_system::<u16>(0x207) >= 1);
    let _: u16 = of_system(0x208);
    assert_eq!(of_system::<u64>(3), 1_000_000_000);
    assert_eq!(of_system::<u64>(4), u64::MAX);
    assert_eq!((of_system::<u32>(5), of_system::<u32>(6)), (0, 1), "little-endian and large");
    // No waits in hardware, no DMA buffers, no retries of faults, but virtual memory.
    assert_eq!([0x203, 0x204, 0x206, 0x205].map(of_system::<u8>), [0, 0, 0, 1]);

    let agents = agents();
    assert_eq!(agents.len(), 3);
    for (node, agent) in agents.into_iter().enumerate() {
        let is_gpu = node > 0;
        let number = |attribute| of_agent::<u32>(agent, attribute);
        assert_eq!(text(of_agent::<[u8; 64]>(agent, 0)), if is_gpu { facts.name } else { "CPU of the host" });
        let uuid = if is_gpu { format!("GPU-51ed{node:012x}") } else { "CPU-XX".to_owned() };
        assert_eq!(text(of_agent::<[u8; 21]>(agent, 0xa011)), uuid);
        assert_eq!(text(of_agent::<[u8; 64]>(agent, 1)), if is_gpu { "AMD" } else { "CPU" });
        assert!(text(of_agent::<[u8; 64]>(agent, 0xa009)).contains(if is_gpu { facts.name } else { "CPU" }));
        // Feature, profile, rounding, queues, node, type.
        assert_eq!([2, 4, 5].map(number), if is_gpu { [1, 0, 2] } else { [0, 1, 2] });
        assert_eq!([12, 13, 14].map(number), if is_gpu { [128, 64, 131_072] } else { [0; 3] });
        assert_eq!([15, 16, 17].map(number), [0, node as u32, u32::from(is_gpu)]);
        let caches: [u32; 4] = of_agent(agent, 18);
        assert_eq!(caches, if is_gpu { facts.caches } else { [32 << 10, 0, 0, 0] });
        assert_eq!(number(0xa000), if is_gpu { facts.chip } else { 0 });
        assert_eq!(number(0xa001), if is_gpu { 128 } else { 64 });
        assert_eq!(number(0xa003), if is_gpu { facts.clock } else { 0 });
        assert_eq!((number(0xa004), number(0xa006)), (node as u32, (node as u32) << 8));
        if is_gpu {
            assert_eq!(number(0xa002), facts.units);
        } else {
            assert!(number(0xa002) > 0);
        }
        assert_eq!(number(0xa00b), if is_gpu { facts.simds } else { 0 });
        // Watch points, engines, arrays, revision, the version of the driver's interface.
        for attribute in [0xa005, 0xa00c, 0xa00d, 0xa012, 0xa110] {
            let _ = number(attribute);
        }
        assert_eq!(of_agent::<u8>(agent, 0xa013), 0, "the host reaches no memory of a GPU");
        assert_eq!(of_agent::<[u8; 8]>(agent, 0xa114), [0; 8], "no APU");
        if is_gpu {
            assert_eq!(of_agent::<u8>(agent, 24), 1);
            assert_eq!([6, 8, 10, 11].map(number), [facts.lanes, 1024, u32::MAX, 32]);
            assert_eq!(of_agent::<[u16; 3]>(agent, 7), [1024; 3]);
            assert_eq!(of_agent::<[u32; 3]>(agent, 9), [u32::MAX; 3]);
            assert_eq!(number(0xa00a), facts.waves);
            assert!(number(0xa108) > 0 && number(0xa109) > 0, "versions of microcode");
        }
        pools_are_told_of(agent, is_gpu, facts);
        isas_are_told_of(agent, is_gpu, facts);
        caches_are_told_of(agent, &caches);
    }
}

fn pools_are_told_of(agent: Agent, is_gpu: bool, facts: &Facts) {
    const FINE: u32 = 2;
    const COARSE: u32 = 4;
    let pools = pools(agent);
    let flags: Vec<u32> = pools.iter().map(|pool| of_pool(*pool, 1)).collect();
    assert_eq!(flags, if is_gpu { [COARSE, FINE, 0] } else { [FINE, FINE | 1, COARSE] });
    for pool in pools {
        let is_group = of_pool::<u32>(pool, 0) == 3;
        let size = if is_group {
            64 << 10
        } else if is_gpu {
            facts.memory
        } else {
            64 << 30
        };
        assert_eq!(of_pool::<u64>(pool, 2), size);
        assert_eq!(of_pool::<u8>(pool, 5) != 0, !is_group, "whether it gives memory");
        let granule = if is_group { 0 } else { 4096 };
        assert_eq!([6, 18, 7].map(|attribute| of_pool::<u64>(pool, attribute)), [granule; 3]);
        assert_eq!(of_pool::<u8>(pool, 15) != 0, !is_gpu, "whether all reach it");
    }
}

fn isas_are_told_of(agent: Agent, is_gpu: bool, facts: &Facts) {
    unsafe extern "C" fn note(isa: Isa, isas: *mut c_void) -> Status {
        // SAFETY: the vector that is passed below.
        unsafe { &mut *isas.cast::<Vec<Isa>>() }.push(isa);
        Status::SUCCESS
    }
    let mut isas: Vec<Isa> = Vec::new();
    // SAFETY: the vector outlives the call.
    ok(unsafe { hsa::hsa_agent_iterate_isas(agent, Some(note), (&raw mut isas).cast()) });
    assert_eq!(isas.len(), usize::from(is_gpu));
    for isa in isas {
        assert_eq!(of_isa::<u32>(isa, 0) as usize, facts.isa.len() + 1);
        let mut name = [0_u8; 64];
        // SAFETY: the buffer has the reported number of bytes.
        ok(unsafe { hsa::hsa_isa_get_info_alt(isa, 1, name.as_mut_ptr().cast()) });
        assert_eq!(text(name), facts.isa);
        // Models: small, large. Profiles: base, full. Rounding: default, zero, near.
        assert_eq!([5, 6].map(|attribute| of_isa::<[u8; 2]>(isa, attribute)), [[0, 1], [1, 0]]);
        assert_eq!([7, 8].map(|attribute| of_isa::<[u8; 3]>(isa, attribute)), [[0, 0, 1]; 2]);
        assert_eq!(of_isa::<u8>(isa, 9), 1);
        assert_eq!(of_isa::<[u16; 3]>(isa, 12), [1024; 3]);
        assert_eq!([13, 17].map(|attribute| of_isa::<u32>(isa, attribute)), [1024, 32]);
        assert_eq!(of_isa::<[u32; 3]>(isa, 14), [u32::MAX; 3]);
        assert_eq!(of_isa::<u64>(isa, 16), u64::from(u32::MAX));
        assert_eq!(of_agent::<u64>(agent, 19), isa.handle);
    }
}

fn caches_are_told_of(agent: Agent, sizes: &[u32; 4]) {
    unsafe extern "C" fn note(cache: Cache, caches: *mut c_void) -> Status {
        // SAFETY: the vector that is passed below.
        unsafe { &mut *caches.cast::<Vec<Cache>>() }.push(cache);
        Status::SUCCESS
    }
    let mut caches: Vec<Cache> = Vec::new();
    // SAFETY: the vector outlives the call.
    ok(unsafe { hsa::hsa_agent_iterate_caches(agent, Some(note), (&raw mut caches).cast()) });
    let told: Vec<u32> = caches.iter().map(|cache| of_cache(*cache, 3)).collect();
    let expected: Vec<u32> = sizes.iter().copied().filter(|size| *size > 0).collect();
    assert_eq!(told, expected);
    for (level, cache) in (1_u8..).zip(caches) {
        assert_eq!(of_cache::<u8>(cache, 2), level);
        assert_eq!(of_cache::<u32>(cache, 0), 3);
        assert_eq!(text(of_cache::<[u8; 3]>(cache, 1)), format!("L{level}"));
    }
    let mut size = 0_u32;
    // SAFETY: a local.
    let none = unsafe { hsa::hsa_cache_get_info(Cache { handle: agent.handle }, 3, (&raw mut size).cast()) };
    assert_eq!(none, Status::INVALID_CACHE);
}

/// HIP keeps each number of images in 32 bits, and HIP 5.2 reports pitches if there are handles of writable
/// images.
#[test]
fn numbers_of_images_fit_into_32_bits() {
    let Some(facts) = facts("numbers_of_images_fit_into_32_bits") else { return };
    let agent = gpu(1);
    let number = |attribute| of_agent::<u32>(agent, attribute);
    let longest = |attribute| -> [u32; 3] {
        // SAFETY: the buffer is large enough.
        answer(|to| unsafe { hsa::hsa_amd_image_get_info_max_dim(agent, attribute, to) })
    };
    // gfx942 has no image instructions. Numbers of handles to read, to write, and of samplers; sides; depth;
    // elements of a buffer.
    let (handles, side, depth, buffer) = match facts.name {
        "gfx942" => ([0; 3], 0, 0, 0),
        _ => ([128, 64, 16], 16_384, 8192, u32::MAX),
    };
    assert_eq!([0x3009, 0x300a, 0x300b].map(number), handles);
    assert_eq!([0x3000, 0x3001].map(number), [side; 2]);
    assert_eq!(number(0x3002), buffer);
    for area in 0x3003..=0x3006 {
        assert_eq!(of_agent::<[u32; 2]>(agent, area), [side; 2]);
    }
    assert_eq!(of_agent::<[u32; 3]>(agent, 0x3007), [side, side, depth]);
    assert_eq!(longest(0x3007), [side, side, depth]);
    assert_eq!(number(0x3008), depth);
    assert!(number(0x300c).is_power_of_two());
}

/// Mojo starts and ends the runtime, lists agents, and looks for the one at the address of
/// `hipDeviceGetPCIBusId`.
#[test]
fn mojo_finds_the_agent_of_a_hip_device() {
    let Some(facts) = facts("mojo_finds_the_agent_of_a_hip_device") else { return };
    // SAFETY: it has no arguments.
    ok(unsafe { hsa::hsa_init() });
    let hip = Simulator::new(facts.machine.parse().unwrap()).unwrap().api();
    for device in 0..2 {
        let mut text = [0_i8; 32];
        // SAFETY: the buffer has the stated size.
        let told = unsafe { hip.hipDeviceGetPCIBusId(text.as_mut_ptr().cast(), 32, device) };
        assert_eq!(told.0, 0);
        let place: String =
            text.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8 as char).collect();
        let found: Vec<Agent> = agents()
            .into_iter()
            .filter(|agent| of_agent::<u32>(*agent, 17) == 1)
            .filter(|agent| {
                let (domain, place_of) = (of_agent::<u32>(*agent, 0xa00f), of_agent::<u32>(*agent, 0xa006));
                let (bus, device, function) = (place_of >> 8, place_of >> 3 & 31, place_of & 7);
                format!("{domain:04x}:{bus:02x}:{device:02x}.{function}") == place
            })
            .collect();
        assert_eq!(found, [gpu(device as usize)], "{place}");
    }
    // SAFETY: it has no arguments.
    ok(unsafe { hsa::hsa_shut_down() });
}

#[test]
fn the_simulated_hip_says_the_same() {
    let Some(facts) = facts("the_simulated_hip_says_the_same") else { return };
    let hip = Simulator::new(facts.machine.parse().unwrap()).unwrap().api();
    let mut hip_says = hipDeviceProp_tR0600::default();
    // SAFETY: a local.
    assert_eq!(unsafe { hip.hipGetDevicePropertiesR0600(&mut hip_says, 1) }.0, 0);
    let agent = gpu(1);
    let number = |attribute| of_agent::<u32>(agent, attribute) as i32;
    let of_text = |text: &[std::ffi::c_char]| -> String {
        text.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8 as char).collect()
    };
    assert_eq!(text(of_agent::<[u8; 64]>(agent, 0xa009)), of_text(&hip_says.name));
    assert_eq!(facts.isa, format!("amdgcn-amd-amdhsa--{}", of_text(&hip_says.gcnArchName)));
    assert_eq!(text(of_agent::<[u8; 21]>(agent, 0xa011)), format!("GPU-{}", of_text(&hip_says.uuid.bytes)));
    assert_eq!(number(0xa002), hip_says.multiProcessorCount * facts.paired as i32);
    assert_eq!(number(0xa003), hip_says.clockRate / 1000);
    assert_eq!(number(0xa008), hip_says.memoryClockRate / 1000);
    assert_eq!(number(0xa007), hip_says.memoryBusWidth);
    assert_eq!(number(6), hip_says.warpSize);
    assert_eq!(number(8), hip_says.maxThreadsPerBlock);
    assert_eq!(number(6) * number(0xa00a), hip_says.maxThreadsPerMultiProcessor);
    assert_eq!(of_agent::<[u32; 4]>(agent, 18)[1] as i32, hip_says.l2CacheSize);
    assert_eq!(of_pool::<u64>(pools(agent)[2], 2), hip_says.sharedMemPerBlock as u64);
    assert_eq!(of_pool::<u64>(pools(agent)[0], 2), hip_says.totalGlobalMem as u64);
    assert_eq!(number(0xa006) >> 8, hip_says.pciBusID);
}
