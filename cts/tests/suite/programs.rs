// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random programs: they are legal, can be printed and parsed again, and distinguish right devices from wrong ones.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use windlass_cts::{
    program::{Bench, Density, Found, Mix, Plant, Program, search, search_with},
    shuffle,
};
use windlass_hal::{
    Command, Device, Error, Notifications, Operation, Point, QueueAffinity, Result, Semaphore, driver,
};

use crate::wrapped::{Wrapped, null, pass};

const LIMIT: Duration = Duration::from_secs(60);

fn bench_of(raw: Arc<dyn driver::RawDevice>) -> Bench {
    Bench::new(Device::from_driver(raw), &[], LIMIT).unwrap()
}

fn shuffled(raw: Arc<dyn driver::RawDevice>, seed: u64) -> Bench {
    bench_of(shuffle::Device::with_patience(raw, seed, LIMIT))
}

fn everything() -> Mix {
    Mix::for_device(&windlass_hal::DeviceInfo::default())
}

fn on_two_ranks() -> Mix {
    let mut mix = everything();
    mix.ranks = 2;
    mix
}

#[test]
fn programs_are_legal_and_print_as_they_read() {
    for mix in [everything(), on_two_ranks(), everything().with_failures()] {
        for program in Program::random(1, mix).take(300) {
            let again: Program =
                program.to_string().parse().unwrap_or_else(|error| panic!("{error}\n{program}"));
            assert_eq!(again, program);
        }
    }
}

#[test]
fn a_seed_repeats_its_programs() {
    let programs = |seed| -> Vec<Program> { Program::random(seed, everything()).take(20).collect() };
    assert_eq!(programs(7), programs(7));
    assert_ne!(programs(7), programs(8));
}

#[test]
fn every_kind_of_step_comes_up() {
    let text: String = Program::random(1, everything().with_failures())
        .take(200)
        .chain(Program::random(1, everything()).take(200))
        .map(|program| program.to_string())
        .collect();
    for word in [
        "buffer 1 device",
        "buffer 1 host",
        "buffer 1 transient",
        "buffer 1 file",
        ". barrier",
        ". signal",
        ". wait",
        ". fill $",
        ". copy",
        ". update",
        ". multiply_add",
        ". increment",
        "do barrier",
        "do alloca",
        "do dealloca",
        "do fill",
        "do update",
        "do copy",
        "do multiply_add",
        "do increment",
        "do read",
        "do write",
        "do host_call",
        " fail ",
        "do execute",
        "do all_reduce",
        "do ring",
        " recorded ",
        "\nsignal",
        "\nfail",
        "\nwait",
        "\njoin",
        "\nread",
        "\nwrite",
        "\nfailing",
    ] {
        assert!(text.contains(word), "no program has `{word}`");
    }
}

#[test]
fn text_that_is_no_program_is_refused() {
    let refused = |text: &str, why: &str| {
        let error = text.parse::<Program>().unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    let two = "buffer 0 device 64\nsubmit 0 on 0x1 waits signals 0@1 do fill 0+0:64 1 0x1\n";
    assert!(two.parse::<Program>().is_ok());
    refused(&format!("{two}submit 1 on 0x1 waits signals 1@1 do fill 0+60:4 1 0x2"), "nothing orders");
    refused(&format!("{two}submit 1 on 0x1 waits signals 0@2 do barrier"), "not in order");
    refused(&format!("{two}submit 1 on 0x1 waits 0@2 signals 1@1 do barrier"), "nobody signals");
    refused(&format!("{two}submit 1 on 0x1 waits 1@1 signals 1@1 do barrier"), "circle");
    refused(&format!("{two}wait 1@1\nsubmit 1 on 0x1 waits signals 1@1 do barrier"), "circle");
    refused(&format!("{two}submit 1 on 0x1 waits 0@1 signals 1@1 do fill 0+32:64 1 0x2"), "outside");
    refused(&format!("{two}submit 1 on 0x1 waits 0@1 signals 1@1 do alloca 0"), "transient");
    refused(&format!("{two}submit 1 on 0x1 waits 0@1 signals 1@1 do execute 0 table"), "no list");
    refused(&format!("{two}submit 7 on 0x1 waits 0@1 signals 1@1 do barrier"), "numbered");
    refused(&format!("{two}signal 4000000000@1"), "semaphores");
    refused(&format!("{two}read 0+4294967295:4294967295"), "outside");
    refused(
        "buffer 0 device 64\nlist 0 slots 1\n. fill $0+0:4 1 0x1\nsubmit 0 on 0x1 waits signals do execute 0 table",
        "bound",
    );
    refused("list 0 slots 1\n. fill $0+0:4 3 0x1", "line 2");
    for nonsense in
        ["dance", "buffer 1 device 64", "submit 0 on 1 waits signals do barrier", "wait 0@1 0", "join x"]
    {
        refused(nonsense, "line 1");
    }
    let events = "buffer 0 device 64\nlist 0 slots 0\n. wait 0\n. signal 0";
    refused(events, "too early");
    let split = "buffer 0 device 64\nlist 0 slots 0\n. fill 0+0:4 1 0x1\n. signal 0\n. fill 0+8:4 1 0x1\n. wait 0\n\
        . fill 0+0:4 1 0x2\nsubmit 0 on 0x1 waits signals 0@1 do execute 0 table";
    assert!(split.parse::<Program>().is_ok());
    refused(&split.replace("0+8:4 1 0x1", "0+3:4 1 0x1"), "lacks a barrier");
    let groups = "buffer 0 device 64\nsubmit 0 on 0x1 waits signals 0@1 do ring 0+0:8>0+8:8 0+16:8>0+24:8\n";
    assert!(groups.parse::<Program>().is_ok());
    refused(&groups.replace("0+24:8", "0+12:8"), "overlap");
    refused(&groups.replace("0+24:8", "0+24:4"), "lengths");
    refused(&format!("{groups}submit 1 on 0x1 waits signals 1@1 do ring 0+32:8>0+40:8"), "orders the groups");
    let forgotten = "buffer 0 device 64\nlist 0 slots 0\n. fill 0+0:4 1 0x1\n. fill 0+0:4 1 0x2\n\
        submit 0 on 0x1 waits signals 0@1 do execute 0 table";
    refused(forgotten, "lacks a barrier");
}

#[test]
fn right_devices_run_programs_rightly() {
    for bench in [bench_of(null()), shuffled(null(), 1), shuffled(null(), 2)] {
        for mix in [bench.mix(), bench.mix().with_failures()] {
            for density in [Density::Mixed, Density::Chain, Density::Parallel] {
                search(&bench, 3, 60, mix.with_density(density)).unwrap_or_else(|found| panic!("{found}"));
            }
        }
    }
}

/// The finding of a search on a device that breaks a law.
fn found(raw: Wrapped, mix: fn(Mix) -> Mix) -> Found {
    // Shuffling makes the error show for every order of the client.
    let bench = shuffled(Arc::new(raw), 1);
    *search(&bench, 1, 500, mix(bench.mix())).expect_err("a wrong device was not found out")
}

/// The number of operations of a program.
fn operations(found: &Found) -> usize {
    found.program.to_string().lines().filter(|line| line.starts_with("submit")).count()
}

#[test]
fn a_device_that_ignores_waits_is_found_out_by_a_small_program() {
    let found = found(
        Wrapped::new(|raw, affinity, _, signals, operation| pass(raw, affinity, &[], signals, operation)),
        |mix| mix,
    );
    assert!(operations(&found) <= 3, "{found}");
    assert_eq!(found.program.to_string().parse::<Program>().unwrap(), found.program);
}

#[test]
fn a_device_that_loses_its_last_wait_is_found_out() {
    let few = |waits: &[Point]| waits[..waits.len().saturating_sub(1)].to_vec();
    found(
        Wrapped::new(move |raw, affinity, waits, signals, operation| {
            pass(raw, affinity, &few(waits), signals, operation)
        }),
        |mix| mix.with_density(Density::Parallel),
    );
}

#[test]
fn a_device_that_signals_too_early_is_found_out() {
    found(
        Wrapped::new(|raw, affinity, waits, signals, operation| {
            let mut notifications = Notifications::new();
            signals.iter().for_each(|point| point.semaphore.advance(point.value, &mut notifications));
            notifications.fire();
            pass(raw, affinity, waits, &[], operation)
        }),
        |mix| mix,
    );
}

#[test]
fn a_device_that_writes_a_byte_too_few_is_found_out() {
    let found = found(
        Wrapped::new(|raw, affinity, waits, signals, operation| {
            let operation = match operation {
                Operation::Copy { source, target } if target.len() % 8 == 7 => {
                    let length = target.len() - 1;
                    Operation::Copy { source: source.subspan(0, length)?, target: target.subspan(0, length)? }
                }
                other => other,
            };
            pass(raw, affinity, waits, signals, operation)
        }),
        |mix| mix,
    );
    assert_eq!(operations(&found), 1, "{found}");
    assert!(found.to_string().contains("1 bytes differ"), "{found}");
}

#[test]
fn a_device_that_forgets_barriers_is_found_out() {
    let found = found(
        Wrapped::recording(|list| {
            let kept: Vec<_> = list.commands().filter(|it| !matches!(it, Command::Barrier)).collect();
            list.edited(|_, edited| kept.into_iter().rev().try_for_each(|it| edited.push(it)))
                .expect("a list no longer than the given one")
        }),
        |mix| mix,
    );
    assert!(found.program.to_string().contains(". barrier"), "{found}");
}

#[test]
fn a_device_that_swallows_failures_is_found_out() {
    found(
        Wrapped::new(|raw, affinity, waits, signals, operation| {
            let live: Vec<_> = waits.iter().filter(|wait| wait.semaphore.query().is_ok()).cloned().collect();
            pass(raw, affinity, &live, signals, operation)
        }),
        Mix::with_failures,
    );
}

#[test]
fn a_device_that_reports_another_failure_is_found_out() {
    let found = found(
        Wrapped::new(|raw, affinity, waits, signals, operation| {
            if waits.iter().any(|wait| wait.semaphore.query().is_err()) {
                signals
                    .iter()
                    .for_each(|signal| signal.semaphore.fail(Error::internal("something went wrong")));
                return Ok(());
            }
            pass(raw, affinity, waits, signals, operation)
        }),
        Mix::with_failures,
    );
    assert!(found.to_string().contains("something went wrong"), "{found}");
}

/// A way in which a device fails an operation, other than refusing it.
type Fail = fn(&dyn driver::RawDevice, QueueAffinity, &[Point], &[Point], Operation) -> Result<()>;

/// The result of a search on a null device on which every fourth operation or so fails. Half of these are refused,
/// the others fail as `fail` does it.
fn search_unreliable(fail: Fail, count: u32) -> Result<(), Box<Found>> {
    let (faulty, submissions) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let raw = Wrapped::new({
        let (faulty, submissions) = (faulty.clone(), submissions.clone());
        move |raw, affinity, waits, signals, operation| {
            let number = submissions.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            match faulty.load(Ordering::Relaxed).then_some(number >> 61) {
                Some(0) => Err(Error::unavailable("no luck")),
                Some(1) => fail(raw, affinity, waits, signals, operation),
                _ => pass(raw, affinity, waits, signals, operation),
            }
        }
    });
    let bench = bench_of(Arc::new(raw));
    search_with(5, count, bench.mix().with_failures(), |program| {
        submissions.store(0, Ordering::Relaxed);
        bench.run_unreliable(program, |may| faulty.store(may, Ordering::Relaxed))
    })
}

fn fail_all(points: &[Point]) {
    points.iter().for_each(|point| point.semaphore.fail(Error::unavailable("no luck")));
}

#[test]
fn a_device_may_fail_what_it_likes_when_it_says_so() {
    let at_once: Fail = |_, _, _, signals, _| {
        fail_all(signals);
        Ok(())
    };
    // The failure may also come after all work is done.
    let in_the_end: Fail = |raw, affinity, waits, signals, operation| {
        let (ended, signals) = (Semaphore::new(0), signals.to_vec());
        pass(raw, affinity, waits, &[ended.at(1)], operation)?;
        std::thread::spawn(move || match ended.wait_blocking(1, LIMIT) {
            Ok(()) => fail_all(&signals),
            Err(error) => signals.iter().for_each(|signal| signal.semaphore.fail(error.clone())),
        });
        Ok(())
    };
    for fail in [at_once, in_the_end] {
        search_unreliable(fail, 200).unwrap_or_else(|found| panic!("{found}"));
    }
}

#[test]
fn a_device_that_fails_and_does_not_say_so_to_all_is_found_out() {
    let half_told: Fail = |_, _, _, signals, _| {
        let (last, others) = signals.split_last().unwrap();
        let mut notifications = Notifications::new();
        others.iter().for_each(|point| point.semaphore.advance(point.value, &mut notifications));
        notifications.fire();
        fail_all(std::slice::from_ref(last));
        Ok(())
    };
    let found = search_unreliable(half_told, 500).expect_err("some signals of failed work were reached");
    assert!(operations(&found) <= 6, "{found}");
}

#[test]
fn a_device_that_does_nothing_instead_of_failing_is_found_out() {
    let nothing: Fail =
        |raw, affinity, waits, signals, _| pass(raw, affinity, waits, signals, Operation::Barrier);
    search_unreliable(nothing, 500).expect_err("work that was not done counted as done");
}

#[test]
fn planted_errors_are_found_within_a_hundred_seeds() {
    let device = shuffle::Device::with_patience(null(), 1, LIMIT);
    let bench = bench_of(device.clone());
    let mut planted = Vec::new();
    for program in Program::random(11, bench.mix()).take(25) {
        planted
            .extend(program.planted(1).into_iter().map(|(plant, broken)| (plant, broken, program.clone())));
    }
    // The null device has no collectives.
    for plant in Plant::ALL.into_iter().filter(|plant| *plant != Plant::Collective) {
        let of_this_kind: Vec<_> = planted.iter().filter(|(kind, ..)| *kind == plant).take(6).collect();
        assert!(of_this_kind.len() >= 3, "too few programs to plant errors of the kind `{plant}` in");
        for (_, broken, whole) in of_this_kind {
            // The findings of odd seeds depend on the device's threads too.
            let found = (2..=100).step_by(2).any(|seed| {
                device.reseed(seed);
                bench.run_as(broken, whole).is_err()
            });
            assert!(found, "no seed finds the missing edge ({plant}) in\n{broken}");
            device.reseed(1);
            bench.run(whole).unwrap_or_else(|discrepancy| panic!("{discrepancy}\n{whole}"));
        }
    }
}
