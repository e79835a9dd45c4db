// SPDX-License-Identifier: MIT OR Apache-2.0
//! The named GPU and the GPU that does the work: selection by URI, descriptions, devices of several GPUs.
//!
//! A call for a GPU other than the thread's current one, here the first, takes two calls of `hipSetDevice`.

use std::sync::Arc;

use windlass_hal::{
    Buffer, BufferParams, Code, Device, LinkKind, QueueAffinity, Registry, Semaphore, Topology,
};
use windlass_hip_sys::{
    bindings::hipError_t,
    interposer::Interposer,
    null::{Instance, Options},
};

use crate::common::{SOON, open_with};

/// Four GPUs under the scheme `test`.
fn four() -> (Arc<Instance>, Registry) {
    let instance = Instance::new(Options { devices: 4, ..Options::default() });
    let mut registry = Registry::new();
    registry.register(windlass_hip::Driver::new("test", windlass_hip::table(instance.api())));
    (instance, registry)
}

/// The same, with an interposer that makes calls fail.
fn four_failing() -> (Arc<Interposer>, Registry) {
    let interposer = Interposer::new(Instance::new(Options { devices: 4, ..Options::default() }).api());
    let mut registry = Registry::new();
    registry.register(windlass_hip::Driver::new("test", windlass_hip::table(interposer.api())));
    (interposer, registry)
}

/// Two GPUs as one device of four queues each.
fn joined() -> (Arc<Instance>, Device) {
    let options = Options { devices: 2, ..Options::default() };
    open_with(options, "test://all")
}

fn refusal(registry: &Registry, uri: &str) -> (Code, String) {
    let error = registry.open(uri).expect_err(uri);
    (error.code(), error.to_string())
}

/// Memory near some queues.
fn memory(device: &Device, queues: u64) -> Buffer {
    let params = BufferParams::device().with_queue_affinity(QueueAffinity::from_bits(queues));
    device.allocate(&params, 64).expect("memory")
}

/// The number of `hipSetDevice` calls of eight fills on any of these queues.
fn switches(instance: &Instance, device: &Device, queues: u64, target: &Buffer) -> u64 {
    let queue = device.queue_of(QueueAffinity::from_bits(queues)).expect("queues");
    let done = Semaphore::new(0);
    instance.reset_counts();
    for value in 1..=8 {
        queue.fill(&[], &[done.at(value)], target, 1_u8).expect("submits");
    }
    let count = instance.count("hipSetDevice");
    done.wait_blocking(8, SOON).expect("completes");
    count
}

#[test]
fn each_is_found_by_its_identity() {
    let (_, registry) = four();
    let driver = registry.driver("test").expect("registered");
    assert!(driver.description().contains("null HIP"), "{}", driver.description());
    let found = driver.enumerate().expect("there are four");
    assert_eq!(found.len(), 4);
    for (ordinal, info) in found.iter().enumerate() {
        let uuid = info.uuid.as_deref().expect("the null HIP has identities");
        assert!(uuid.starts_with("GPU-") && info.uri == format!("test://{ordinal}"), "{info:?}");
        let by_uuid = registry.open(&format!("test://{uuid}")).expect("opens");
        let by_number = registry.open(&info.uri).expect("opens");
        assert_eq!((by_uuid.info().uuid.as_deref(), &by_uuid.info().name), (Some(uuid), &info.name));
        assert_eq!(by_number.info().uuid, info.uuid);
        assert_eq!(found.iter().filter(|other| other.uuid == info.uuid).count(), 1);
    }
    let (code, text) = refusal(&registry, "test://GPU-ffffffffffffffff");
    assert_eq!(code, Code::NotFound);
    assert!(found.iter().all(|info| text.contains(info.uuid.as_deref().unwrap_or("none"))), "{text}");
    assert_eq!(refusal(&registry, "test://4").0, Code::NotFound);
    assert_eq!(refusal(&registry, "test://1,2,1").0, Code::InvalidArgument);
}

#[test]
fn an_identity_that_hip_does_not_tell_is_none() {
    let (interposer, registry) = four_failing();
    assert!(registry.open("test://").expect("opens").info().uuid.is_some());
    interposer.fail_always("hipDeviceGetUuid", hipError_t::hipErrorNotSupported);
    assert_eq!(registry.open("test://").expect("opens").info().uuid, None);
}

#[test]
fn properties_are_read_in_their_older_layout_where_the_newer_is_not_to_be_had() {
    // Read first, because unread values are empty then.
    let (interposer, registry) = four_failing();
    interposer.fail_always("hipGetDevicePropertiesR0600", hipError_t::hipErrorNotSupported);
    let device = registry.open("test://").expect("opens");
    assert_eq!((device.info().architecture.as_str(), device.limits().total_memory), ("gfx942", 16 << 30));
}

#[test]
fn a_device_has_up_to_64_queues_in_all() {
    let (_, registry) = four();
    for (uri, queues) in
        [("test://?queues=64", 64), ("test://all?queues=16", 64), ("test://0,3?queues=5", 10)]
    {
        assert_eq!(registry.open(uri).expect(uri).limits().queues, queues);
    }
    for uri in
        ["test://?queues=65", "test://?queues=0", "test://all?queues=17", "test://all?queues=4294967295"]
    {
        assert_eq!(refusal(&registry, uri).0, Code::InvalidArgument, "{uri}");
    }
}

#[test]
fn what_is_free_is_said_where_memory_runs_out() {
    let options = Options { memory_bytes: 1 << 20, ..Options::default() };
    let (_instance, device) = open_with(options, "test://?slab=0");
    let error = device.allocate_device(1 << 21).expect_err("twice the memory");
    assert_eq!(error.code(), Code::ResourceExhausted);
    assert!(error.to_string().contains("1048576 of 1048576 bytes are free"), "{error}");
}

#[test]
fn a_gpu_that_cannot_reach_another_makes_no_device_with_it() {
    let (interposer, registry) = four_failing();
    registry.open("test://0,1").expect("they reach each other");
    assert!(interposer.count("hipDeviceEnablePeerAccess") >= 2, "each the other");
    interposer.fail_always("hipDeviceCanAccessPeer", hipError_t::hipErrorInvalidDevice);
    let (_, text) = refusal(&registry, "test://0,1");
    assert!(text.contains("hipDeviceCanAccessPeer"), "{text}");
}

#[test]
fn queues_are_shared_out_and_work_goes_where_its_memory_is() {
    let (instance, device) = joined();
    assert_eq!(device.limits().queues, 8);
    let (first, second) = (memory(&device, 0x0f), memory(&device, 0xf0));
    for queue in 0..4 {
        assert_eq!(
            switches(&instance, &device, 1 << queue, &first),
            0,
            "queue {queue} is one of the first GPU"
        );
        assert_eq!(
            switches(&instance, &device, 0x10 << queue, &first),
            16,
            "queue {} of the second",
            queue + 4
        );
    }
    let any = QueueAffinity::ANY.bits();
    assert_eq!(switches(&instance, &device, any, &first), 0);
    assert_eq!(switches(&instance, &device, any, &second), 16);
    assert_eq!(switches(&instance, &device, 0x0f, &second), 0, "the queues that are asked for come first");
}

#[test]
fn a_set_of_queues_is_kept_to_where_no_memory_decides() {
    let (instance, device) = joined();
    let anywhere = device.allocate(&BufferParams::host(), 64).expect("memory");
    for queues in [0x03, 0x0c, 0x09] {
        assert_eq!(switches(&instance, &device, queues, &anywhere), 0, "{queues:#x}");
        assert_eq!(switches(&instance, &device, queues << 4, &anywhere), 16, "{:#x}", queues << 4);
    }
}

#[test]
fn devices_of_one_hip_know_the_links_between_their_gpus() {
    let (_instance, registry) = four();
    let open = |uri| registry.open(uri).expect(uri);
    let (pair, second, stranger) = (open("test://0,1"), open("test://1"), four().1.open("test://1").unwrap());
    let topology = Topology::between(&[&pair, &second, &stranger]).expect("a topology");
    let addresses: Vec<_> = topology.nodes.iter().map(|node| node.pci_address.unwrap().to_string()).collect();
    assert_eq!(addresses, ["0000:01:00.0", "0000:02:00.0", "0000:02:00.0", "0000:02:00.0"]);
    let link = |from, to| topology.edge(from, to).map(|edge| (edge.link, edge.peer_access)).unwrap();
    // The null HIP tells no kind of link.
    assert_eq!(link(0, 1), (LinkKind::Unknown, true));
    assert_eq!(link(0, 2), (LinkKind::Unknown, true));
    assert_eq!(link(1, 2), (LinkKind::Same, true), "opened twice");
    assert_eq!(link(2, 1), (LinkKind::Same, true));
    // The same address in another HIP is another GPU.
    assert_eq!(link(2, 3), (LinkKind::HostStaged, false));
}
