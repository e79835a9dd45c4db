// SPDX-License-Identifier: MIT OR Apache-2.0
//! The facts that the simulated GPU, the CPU and the null device tell of the machine: links, numbers, and the code's resources.

use windlass::{BufferParams, Device, LinkKind, Topology};
use windlass_codeobject::{BundleWriter, File, Options, WriteOptions};

const BUNDLE: &[u8] = include_bytes!("../../cts/kernels/bundles/vector_add.ccob");

fn open(uri: &str) -> Device {
    windlass::open(uri).expect(uri)
}

#[test]
fn two_simulated_gpus_have_a_link_as_hip_tells_it() {
    let topology = open("hip-sim://gfx942?devices=2").topology().unwrap();
    assert_eq!(topology.nodes.len(), 2);
    let addresses: Vec<_> = topology.nodes.iter().map(|node| node.pci_address.unwrap()).collect();
    assert_ne!(addresses[0], addresses[1]);
    for node in &topology.nodes {
        assert!(!node.is_host);
        assert_eq!(node.numa_node, None, "a simulated GPU is near no NUMA node of this machine");
    }
    for (from, to) in [(0, 1), (1, 0)] {
        let edge = topology.edge(from, to).unwrap();
        assert_eq!((edge.link, edge.hops), (LinkKind::Xgmi, Some(1)));
        assert_eq!((edge.peer_access, edge.native_atomics), (true, Some(true)));
    }
}

#[test]
fn devices_of_different_machines_meet_in_host_memory() {
    let (first, second) = (open("hip-sim://gfx942"), open("hip-sim://gfx942"));
    let (cpu, null) = (open("local://"), open("null://"));
    let topology = Topology::between(&[&first, &second, &cpu, &null]).unwrap();
    let link = |from, to| topology.edge(from, to).map(|edge| (edge.link, edge.peer_access)).unwrap();
    // The two have the same PCI address, each in a machine of its own.
    assert_eq!(topology.nodes[0].pci_address, topology.nodes[1].pci_address);
    assert_eq!(link(0, 1), (LinkKind::HostStaged, false));
    assert_eq!(link(1, 2), (LinkKind::HostStaged, false));
    assert_eq!(link(2, 3), (LinkKind::Same, true));
    assert!(topology.nodes[2].is_host);
}

#[test]
fn the_simulated_gpu_tells_what_hip_does() {
    let device = open("hip-sim://gfx942?units=12&memory=256M");
    let facts = device.facts(0).unwrap();
    assert_eq!((facts.compute_units, facts.wave_size), (Some(12), Some(64)));
    assert_eq!((facts.max_vector_registers, facts.compute_dies), (Some(512), Some(1)));
    assert_eq!(facts.local_memory_per_workgroup_bytes, Some(64 << 10));
    assert_eq!(facts.total_memory_bytes, Some(256 << 20));
    assert_eq!(facts.is_integrated, Some(false));
    assert!(facts.core_clock_khz.is_some() && facts.l2_cache_bytes.is_some(), "{facts:?}");
    assert_eq!(facts.l1_cache_bytes, None, "HIP does not tell it");
}

#[test]
fn the_gpus_of_a_mixed_machine_differ() {
    let both = open("hip-sim://gfx908,gfx942");
    let units = |gpu| both.facts(gpu).unwrap().compute_units;
    assert_eq!([units(0), units(1)], [Some(120), Some(304)]);
    assert_eq!(both.topology().unwrap().edge(0, 1).unwrap().link, LinkKind::Xgmi);
    for (index, target) in ["gfx908:sramecc+:xnack-", "gfx942:sramecc+:xnack-"].into_iter().enumerate() {
        let one = open(&format!("hip-sim://gfx908,gfx942?device={index}"));
        assert_eq!(one.info().architecture, target);
        assert_eq!(
            (one.limits().physical_devices, one.facts(0).unwrap().compute_units),
            (1, units(index as u32))
        );
    }
    assert_eq!(
        windlass::open("hip-sim://gfx908,gfx942?device=2").err().unwrap().code(),
        windlass::Code::NotFound
    );
    // Code for one of them runs where it is opened alone.
    let code = include_bytes!("../../cts/kernels/bundles/vector_add.gfx942.co");
    // SAFETY: the project's own kernel, which is not launched.
    let refused = unsafe { both.load_executable(code) }.err().unwrap();
    assert_eq!(refused.code(), windlass::Code::NotFound);
    assert!(refused.message().contains("gfx908"), "{refused}");
    // SAFETY: as above.
    unsafe { open("hip-sim://gfx908,gfx942?device=1").load_executable(code) }.unwrap();
}

/// A bundle for gfx942 and gfx908 whose second code has other metadata: the bytes behind a key.
fn bundle_with(bundle: &[u8], key: &[u8], before: &[u8], after: &[u8]) -> Vec<u8> {
    let file = File::parse(bundle, &Options::default()).unwrap();
    let image = |target: &str| {
        let selection = file.bundles()[0].select(&target.parse().unwrap(), &Options::default());
        file.bundles()[0].take_image(selection.best.unwrap()).unwrap().to_vec()
    };
    let (first, mut second) = (image("gfx942"), image("gfx908"));
    let entry = [key, before].concat();
    let at = second.windows(entry.len()).position(|bytes| bytes == entry).unwrap() + key.len();
    second[at..at + after.len()].copy_from_slice(after);
    let mut writer = BundleWriter::new();
    writer.add_code_object(&first).unwrap();
    writer.add_code_object(&second).unwrap();
    writer.write(&WriteOptions::default()).unwrap()
}

#[test]
fn a_kernel_of_a_mixed_device_has_the_limits_of_both_codes() {
    // 1024 and 96 as MessagePack.
    let (before, after) = (b"\xcd\x04\x00", b"\xcd\x00\x60");
    let bundle = bundle_with(BUNDLE, b".max_flat_workgroup_size", before, after);
    for uri in ["hip-sim://gfx942,gfx908", "hip-sim://gfx908,gfx942"] {
        // SAFETY: the project's own kernel, which is not launched.
        let executable = unsafe { open(uri).load_executable(&bundle) }.unwrap();
        let function = executable.function("vector_add").unwrap();
        assert_eq!(function.info().max_workgroup_threads, 96, "{uri}");
    }
}

#[test]
fn a_kernel_that_fixes_another_workgroup_size_for_each_gpu_is_no_kernel_of_both() {
    let fixed = include_bytes!("../../cts/kernels/bundles/fixed_block.ccob");
    let bundle = bundle_with(fixed, b".reqd_workgroup_size", b"\x93\x40\x02\x01", b"\x93\x20\x04\x01");
    // SAFETY: the project's own kernel, which is not launched.
    let refused = unsafe { open("hip-sim://gfx942,gfx908").load_executable(&bundle) }.err().unwrap();
    assert_eq!(refused.code(), windlass::Code::InvalidArgument);
    assert!(refused.message().contains("open the GPUs one by one"), "{refused}");
}

#[test]
fn a_list_of_gpus_that_is_wrong_is_refused_with_the_remedy() {
    for (uri, remedy) in [
        (
            "hip-sim://gfx942,gfx1250",
            "gfx942, gfx950, gfx90a, gfx908, gfx906, gfx900, gfx1100, gfx1101, gfx1102, gfx1103, gfx1150, gfx1151, gfx1030, gfx1031, gfx1032, gfx1010, gfx1011, gfx1012, gfx1201 and gfx1200",
        ),
        ("hip-sim://gfx942,", "empty target"),
        ("hip-sim://gfx908:xnack+", "\"gfx908\" alone is one"),
        ("hip-sim://gfx942,gfx90a?devices=4", "devices=2"),
    ] {
        let error = windlass::open(uri).err().unwrap();
        assert_eq!(error.code(), windlass::Code::InvalidArgument, "{uri}");
        assert!(error.message().contains(remedy), "{uri}: {error}");
    }
}

#[test]
fn the_cpu_counts_its_threads_and_its_budget() {
    let device = open("local://?threads=3&memory=1000000");
    let facts = device.facts(0).unwrap();
    assert_eq!((facts.compute_units, facts.wave_size), (Some(3), Some(1)));
    assert_eq!((facts.free_memory_bytes, facts.total_memory_bytes), (Some(1_000_000), Some(1_000_000)));
    let buffer = device.allocate_device(400_000).unwrap();
    assert!(device.facts(0).unwrap().free_memory_bytes.unwrap() <= 600_000);
    drop(buffer);
}

#[test]
fn the_resources_of_a_kernel_are_those_of_its_metadata() {
    let file = File::parse(BUNDLE, &Options::default()).unwrap();
    for (uri, target) in
        [("hip-sim://gfx942", "gfx942:sramecc+:xnack-"), ("hip-sim://gfx90a", "gfx90a:sramecc+:xnack-")]
    {
        // SAFETY: the project's own kernel, which is not launched.
        let executable = unsafe { open(uri).load_executable(BUNDLE) }.unwrap();
        let resources = executable.function("vector_add").unwrap().info().resources;
        let selection = file.bundles()[0].select(&target.parse().unwrap(), &Options::default());
        let image = file.bundles()[0].take_image(selection.best.unwrap()).unwrap();
        let code = image.code_object().unwrap();
        let kernel = code.kernels().iter().find(|kernel| kernel.name == "vector_add").unwrap();
        assert_eq!(resources.vector_registers, Some(kernel.vgpr_count), "{uri}");
        assert_eq!(resources.scalar_registers, Some(kernel.sgpr_count), "{uri}");
        assert_eq!(resources.accumulation_registers, kernel.agpr_count, "{uri}");
        assert_eq!(resources.private_memory_bytes, Some(kernel.private_segment_size), "{uri}");
        assert_eq!(resources.spilled_vector_registers, Some(0), "{uri}");
        assert_eq!((resources.wave_size, resources.dynamic_stack), (Some(64), Some(false)), "{uri}");
    }
}

#[test]
fn growing_memory_is_near_the_gpu_of_its_queues() {
    use windlass::{BufferParams, QueueAffinity};
    let device = open("hip-sim://gfx942?devices=2&memory=64M");
    let second = device.limits().physical_affinity(1).unwrap();
    let params = BufferParams::device().with_queue_affinity(second);
    let free = |gpu| device.facts(gpu).unwrap().free_memory_bytes.unwrap();
    let before = [free(0), free(1)];
    let growable = device.reserve_growable(&params, 1 << 30).unwrap();
    growable.grow_to(16 << 20).unwrap();
    assert_eq!([free(0), free(1)], [before[0], before[1] - (16 << 20)]);
    // It is the memory of every GPU of the device.
    let (buffer, done) = (growable.buffer(0..4096).unwrap(), windlass::Semaphore::new(0));
    let first = device.queue_of(QueueAffinity::queue(0)).unwrap();
    first.fill(&[], &[done.at(1)], &buffer, 7_u8).unwrap();
    let bytes = device.queue_of(second).unwrap().download(&[done.at(1)], &buffer).unwrap();
    assert_eq!(pollster::block_on(bytes).unwrap(), [7; 4096]);
}

/// HIP takes memory back on another thread, and the next growth or allocation may come before it has.
#[test]
fn memory_that_shrank_away_can_be_had_again_at_once() {
    let device = open("hip-sim://gfx942?memory=64M");
    let most = 48 << 20;
    for round in 0..100 {
        let growable = device.reserve_growable(&BufferParams::device(), most).unwrap();
        growable.grow_to(most).unwrap_or_else(|error| panic!("round {round}: {error}"));
        drop(growable);
        if round % 2 == 0 {
            let allocated = device.allocate_device(most);
            drop(allocated.unwrap_or_else(|error| panic!("after round {round}: {error}")));
            device.trim();
        }
    }
}
