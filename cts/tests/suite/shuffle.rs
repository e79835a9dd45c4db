// SPDX-License-Identifier: MIT OR Apache-2.0
//! `shuffle://` uses every freedom of order and no more, is reproducible, and never hangs.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use windlass_cts::shuffle;
use windlass_hal::{
    Buffer, BufferParams, Code, Device, HostCallFlags, Operation, Queue, Registry, Semaphore, WaitPolicy,
    wait_all,
};

use crate::wrapped::{Wrapped, null, pass};

/// A patience that only a hang exhausts.
const PATIENCE: Duration = Duration::from_secs(60);

/// The null device, recording the patterns of its fills.
fn recorder(fills: &Arc<Mutex<Vec<u32>>>) -> Arc<Wrapped> {
    let fills = fills.clone();
    Arc::new(Wrapped::new(move |raw, affinity, waits, signals, operation| {
        if let Operation::Fill { pattern, .. } = &operation {
            fills.lock().unwrap().push(pattern.value());
        }
        pass(raw, affinity, waits, signals, operation)
    }))
}

fn registry() -> Registry {
    let mut drivers = Registry::new();
    windlass_null::register(&mut drivers);
    let inner = shuffle::Driver::new(drivers.clone());
    drivers.register(Arc::new(inner));
    let mut registry = drivers.clone();
    registry.register(Arc::new(shuffle::Driver::new(drivers)));
    registry
}

/// A shuffled null device whose own thread never interferes, and the fills that reach the wrapped device.
fn shuffled(seed: u64) -> (Device, Arc<Mutex<Vec<u32>>>) {
    let fills = Arc::default();
    (Device::from_driver(shuffle::Device::with_patience(recorder(&fills), seed, PATIENCE)), fills)
}

fn parts(device: &Device) -> (Queue, Buffer) {
    (device.queue(0).unwrap(), device.allocate(&BufferParams::host(), 64).unwrap())
}

/// The order in which forty fills reach the wrapped device. Some are in chains, some free, with a wait in the middle.
fn order_of(seed: u64) -> Vec<u32> {
    let (device, fills) = shuffled(seed);
    let (queue, buffer) = parts(&device);
    let chains: Vec<_> = (0..4).map(|_| Semaphore::new(0)).collect();
    for index in 0..40_u32 {
        let (chain, value) = (&chains[index as usize % 4], u64::from(index / 4));
        let waits = if index % 3 == 0 { vec![] } else { vec![chain.at(value)] };
        queue.fill(&waits, &[chain.at(value + 1)], &buffer, index).unwrap();
        if index == 20 {
            chains[0].wait_blocking(5, PATIENCE).unwrap();
        }
    }
    let ends: Vec<_> = chains.iter().map(|chain| chain.at(10)).collect();
    wait_all(&ends, PATIENCE, WaitPolicy::default()).unwrap();
    device.drain(PATIENCE).unwrap();
    fills.lock().unwrap().clone()
}

#[test]
fn a_seed_repeats_its_order_and_another_seed_has_another() {
    let orders: BTreeSet<_> = (0..10).map(order_of).collect();
    assert_eq!(orders.len(), 10, "ten seeds, ten orders of forty fills");
    for seed in 0..10 {
        let order = order_of(seed);
        assert_eq!(order, order_of(seed), "seed {seed}");
        assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), 40, "every fill is handed on, once");
    }
}

#[test]
fn three_independent_submissions_run_in_each_of_six_orders() {
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        let (device, fills) = shuffled(seed);
        let (queue, buffer) = parts(&device);
        let ends: Vec<_> = (0..3).map(|_| Semaphore::new(0).at(1)).collect();
        for (end, value) in ends.iter().zip(0_u32..) {
            queue.fill(&[], std::slice::from_ref(end), &buffer, value).unwrap();
        }
        wait_all(&ends, PATIENCE, WaitPolicy::default()).unwrap();
        seen.insert(fills.lock().unwrap().clone());
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
}

/// The values of a cell after two fills in one command buffer, over a hundred seeds.
fn last_of_two(separate: impl Fn(&mut windlass_hal::Recorder)) -> BTreeSet<u8> {
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        let (device, _) = shuffled(seed);
        let (queue, buffer) = parts(&device);
        let mut recorder = device.record().unwrap();
        recorder.fill(&buffer, 1_u8).unwrap();
        separate(&mut recorder);
        recorder.fill(&buffer, 2_u8).unwrap();
        let (commands, done) = (recorder.finish().unwrap(), Semaphore::new(0));
        queue.execute(&[], &[done.at(1)], &commands, []).unwrap();
        done.wait_blocking(1, PATIENCE).unwrap();
        seen.insert(buffer.map().unwrap().to_vec()[0]);
    }
    seen
}

#[test]
fn commands_are_permuted_between_barriers_and_not_across_them() {
    assert_eq!(last_of_two(|_| {}), BTreeSet::from([1, 2]));
    assert_eq!(last_of_two(|recorder| recorder.barrier()), BTreeSet::from([2]));
    let event = last_of_two(|recorder| {
        let event = recorder.event();
        recorder.signal_event(event).unwrap();
        recorder.wait_events(&[event]).unwrap();
    });
    assert_eq!(event, BTreeSet::from([2]), "an event orders as a barrier does");
    let no_event = last_of_two(|recorder| {
        let (early, late) = (recorder.event(), recorder.event());
        recorder.signal_event(late).unwrap();
        recorder.signal_event(early).unwrap();
    });
    assert_eq!(no_event, BTreeSet::from([1, 2]), "an event that nobody waits for orders nothing");
}

#[test]
fn signals_are_withheld_from_work_that_has_run() {
    let withheld = (0..100).any(|seed| {
        let (device, fills) = shuffled(seed);
        let (queue, buffer) = parts(&device);
        let (first, second) = (Semaphore::new(0), Semaphore::new(0));
        queue.fill(&[], &[first.at(1)], &buffer, 1_u8).unwrap();
        queue.fill(&[], &[second.at(1)], &buffer, 2_u8).unwrap();
        second.wait_blocking(1, PATIENCE).unwrap();
        let ran = fills.lock().unwrap().contains(&1);
        ran && first.query().unwrap() == 0
    });
    assert!(withheld, "no seed shows work that has run and is not signalled yet");
}

#[test]
fn memory_is_written_over_outside_of_its_time() {
    let contents = |edge: bool| -> BTreeSet<u8> {
        let read = |seed| {
            let (device, _) = shuffled(seed);
            let (queue, _) = parts(&device);
            let (there, done) = (Semaphore::new(0), Semaphore::new(0));
            let buffer = queue.alloca(&[], &[there.at(1)], &BufferParams::host(), 64).unwrap();
            let waits = if edge { vec![there.at(1)] } else { vec![] };
            queue.fill(&waits, &[done.at(1)], &buffer, 1_u8).unwrap();
            wait_all(&[there.at(1), done.at(1)], PATIENCE, WaitPolicy::default()).unwrap();
            buffer.map().unwrap().to_vec()[0]
        };
        (0..50).map(read).collect()
    };
    assert_eq!(contents(true), BTreeSet::from([1]));
    assert_eq!(contents(false).len(), 2, "a fill before the alloca does not last");
}

#[test]
fn work_is_handed_on_although_nobody_waits_for_its_signals() {
    let device = registry().open("shuffle://?seed=3&patience=1&over=null://").unwrap();
    let queue = device.queue(0).unwrap();
    for round in 0..20 {
        let (sender, receiver) = mpsc::channel();
        let order = Semaphore::new(0);
        let say = |text: &'static str| {
            let sender = sender.clone();
            move |_: &mut windlass_hal::HostCallContext| {
                sender.send(text).unwrap_or_default();
                Ok(())
            }
        };
        queue.host_call(&[order.at(1)], &[], HostCallFlags::NONE, say("second")).unwrap();
        queue.host_call(&[], &[order.at(1)], HostCallFlags::NONE, say("first")).unwrap();
        let said = [receiver.recv_timeout(PATIENCE).unwrap(), receiver.recv_timeout(PATIENCE).unwrap()];
        assert_eq!(said, ["first", "second"], "round {round}");
    }
}

#[test]
fn closing_ends_everything_that_is_held_back() {
    for seed in 0..50 {
        let (device, fills) = shuffled(seed);
        let (queue, buffer) = parts(&device);
        let (gate, free, bound) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
        queue.fill(&[], &[free.at(1)], &buffer, 1_u8).unwrap();
        queue.fill(&[free.at(1)], &[free.at(2)], &buffer, 2_u8).unwrap();
        queue.fill(&[gate.at(1)], &[bound.at(1)], &buffer, 3_u8).unwrap();
        device.close();
        free.wait_blocking(2, PATIENCE).unwrap();
        assert_eq!(bound.wait_blocking(1, PATIENCE).unwrap_err().code(), Code::Cancelled);
        assert_eq!(queue.barrier(&[], &[]).unwrap_err().code(), Code::Cancelled);
        assert_eq!(fills.lock().unwrap().len(), 3, "seed {seed}");
        assert_eq!(gate.waiter_count(), 0);
    }
}

#[test]
fn a_late_refusal_fails_the_signals() {
    // A device that is closed directly, not through the wrapper, refuses work that is handed on later.
    let raw = null();
    for seed in 0..20 {
        let device = Device::from_driver(shuffle::Device::with_patience(raw.clone(), seed, PATIENCE));
        let (queue, buffer) = parts(&device);
        raw.close();
        let done = Semaphore::new(0);
        if queue.fill(&[], &[done.at(1)], &buffer, 1_u8).is_ok() {
            assert_eq!(done.wait_blocking(1, PATIENCE).unwrap_err().code(), Code::Cancelled, "seed {seed}");
        }
    }
}

#[test]
fn a_reseeded_device_repeats_its_choices() {
    let fills = Arc::<Mutex<Vec<u32>>>::default();
    let shuffled = shuffle::Device::with_patience(recorder(&fills), 1, PATIENCE);
    let device = Device::from_driver(shuffled.clone());
    let (queue, buffer) = parts(&device);
    let orders = [7, 8, 7].map(|seed| {
        shuffled.reseed(seed);
        fills.lock().unwrap().clear();
        let done: Vec<_> = (0..20).map(|_| Semaphore::new(0).at(1)).collect();
        for (done, value) in done.iter().zip(0_u32..) {
            queue.fill(&[], std::slice::from_ref(done), &buffer, value).unwrap();
        }
        wait_all(&done, PATIENCE, WaitPolicy::default()).unwrap();
        fills.lock().unwrap().clone()
    });
    assert_eq!(orders[0], orders[2]);
    assert_ne!(orders[0], orders[1]);
}

#[test]
fn uris() {
    let registry = registry();
    let open = |uri: &str| registry.open(uri).map(|device| device.info().uri.clone());
    let refused = |uri: &str| open(uri).unwrap_err();
    assert_eq!(open("shuffle://?seed=9&over=null://").unwrap(), "shuffle://?seed=9&over=null://");
    assert_eq!(
        open("shuffle://?over=null://?memory=64").unwrap(),
        "shuffle://?seed=1&over=null://?memory=64"
    );
    assert!(open("shuffle://?seed=1&over=shuffle://?seed=2&over=null://").is_ok(), "a shuffle of a shuffle");
    assert_eq!(refused("shuffle://?seed=9").code(), Code::InvalidArgument);
    assert!(refused("shuffle://").to_string().contains("over="));
    assert_eq!(refused("shuffle://?colour=red&over=null://").code(), Code::InvalidArgument);
    assert_eq!(refused("shuffle://?over=null://?colour=red").code(), Code::InvalidArgument);
    assert_eq!(refused("shuffle://?over=nobody://").code(), Code::NotFound);
    assert_eq!(refused("shuffle://0?over=null://").code(), Code::NotFound);
}
