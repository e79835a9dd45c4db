// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues under a seed: unordered work runs in another order, and in the same order again under the same
//! seed.

mod common;

use std::collections::BTreeSet;
use std::process::Command;

use common::*;
use windlass_simulator::hsa::abi::Signal;

/// The variable that makes this program run as the client of one seed.
const CLIENT: &str = "WINDLASS_TEST_CLIENT";

/// Two queues append to one log, which gives the order.
fn client() {
    let gpu = gpu(0);
    let code = Code::load(gpu, ORDER);
    let log = device_memory(gpu, 256);
    upload(log, &[0; 256]);
    let queues = [Queue::new(gpu, 64), Queue::new(gpu, 64)];
    let done: Vec<Signal> = (0..16_u32)
        .map(|number| {
            let done = signal(1);
            let explicit =
                packed(&[&(log as u64).to_le_bytes(), &16_u32.to_le_bytes(), &number.to_le_bytes()]);
            let arguments = arguments(&explicit, 1, 1);
            let kernel = code.kernel("append");
            let header = BARRIER | FENCES;
            let queue = &queues[number as usize % 2];
            queue.dispatch(Dispatch { kernel, workgroup: 1, grid: 1, arguments, header, completion: done });
            done
        })
        .collect();
    done.into_iter().for_each(wait);
    let words = words(&download(log, 256));
    let order: Vec<String> = words.iter().skip(1).take(16).map(ToString::to_string).collect();
    let path = std::env::var(CLIENT).unwrap();
    std::fs::write(path, order.join(" ")).unwrap();
}

/// The output of the client under a seed.
fn under(seed: u64, number: u32) -> String {
    let folder = std::env::temp_dir();
    let path = folder.join(format!("windlass-hsa-schedule-{}-{seed}-{number}", std::process::id()));
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "one_seed_is_one_order", "--nocapture"])
        .env(CLIENT, &path)
        .env("WINDLASS_SIM", format!("gfx942?memory=256M&seed={seed}"))
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    let order = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    order
}

#[test]
fn one_seed_is_one_order() {
    if std::env::var_os(CLIENT).is_some() {
        machine(&std::env::var("WINDLASS_SIM").unwrap());
        return client();
    }
    let mut orders = BTreeSet::new();
    for seed in 1..=8 {
        let first = under(seed, 1);
        assert_eq!(first, under(seed, 2), "seed {seed}");
        let numbers: Vec<u32> = first.split(' ').map(|word| word.parse().unwrap()).collect();
        for queue in 0..2 {
            let own: Vec<u32> = numbers.iter().copied().filter(|number| number % 2 == queue).collect();
            assert!(own.is_sorted(), "seed {seed}: a queue ran out of its order: {first}");
        }
        orders.insert(first);
    }
    assert!(orders.len() > 2, "eight seeds gave {} orders", orders.len());
}
