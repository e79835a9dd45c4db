// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite over the drivers of the facade.

use windlass_cts::{Exit, Kernels, Level, Options};

fn conforms(device: &str) {
    let (exit, text) = run(device, Level::Full);
    assert_eq!(exit, Exit::Passed, "{text}");
    assert!(text.contains("running"), "{text}");
}

/// The expected result of a run, and words of its output.
fn run(device: &str, level: Level) -> (Exit, String) {
    let mut options = Options::new(device);
    options.level = level;
    options.require = true;
    options.kernels = vec![Kernels::new(windlass_local::FORMAT, windlass_local::conformance::find)];
    let (mut report, mut messages) = (Vec::new(), Vec::new());
    let exit = windlass_cts::main_with(
        windlass::registry(),
        &windlass_cts::cases(),
        options,
        &mut report,
        &mut messages,
    );
    report.extend(messages);
    (exit, String::from_utf8_lossy(&report).into_owned())
}

#[test]
fn the_simulated_gpu_conforms() {
    conforms("hip-sim://gfx942");
}

/// The instructions and the private memory differ; the suite's contracts on HIP hold as well.
#[test]
fn another_simulated_part_conforms() {
    conforms("hip-sim://gfx90a?hip=5.2");
}

/// Their instructions are mostly those of gfx90a. gfx908 has accumulation registers apart, and gfx900 no dot products.
#[test]
fn older_simulated_parts_conform() {
    conforms("hip-sim://gfx908");
    for part in ["gfx906?hip=5.2", "gfx900"] {
        let (exit, text) = run(&format!("hip-sim://{part}"), Level::Smoke);
        assert_eq!(exit, Exit::Passed, "{text}");
    }
}

/// Their waves have 32 lanes, and their instructions are those of other families.
#[test]
fn simulated_gpus_of_other_families_conform() {
    for part in ["gfx1100", "gfx1030", "gfx1010", "gfx1201"] {
        conforms(&format!("hip-sim://{part}"));
    }
    // These run the code for generic targets.
    for part in ["gfx950", "gfx1102", "gfx1151", "gfx1031", "gfx1012", "gfx1200"] {
        let (exit, text) = run(&format!("hip-sim://{part}"), Level::Smoke);
        assert_eq!(exit, Exit::Passed, "{text}");
        assert!(!text.contains("kernels are built for"), "{text}");
    }
}

/// Each GPU gets the code of its own part, on a device of both and alone.
#[test]
fn gpus_of_two_parts_conform() {
    conforms("hip-sim://gfx90a,gfx942");
    for device in 0..2 {
        let (exit, text) = run(&format!("hip-sim://gfx908,gfx90a:xnack+?device={device}"), Level::Smoke);
        assert_eq!(exit, Exit::Passed, "{text}");
    }
}

#[test]
fn a_simulated_gpu_with_a_seed_conforms() {
    conforms("hip-sim://gfx942?seed=7");
}

/// In AMD's runtime streams share hardware queues. Here all streams share one, so a waiting stream blocks all work
/// behind it.
#[test]
fn streams_that_share_one_hardware_queue_conform() {
    conforms("hip-sim://gfx942?hardware_queues=1&queues=16");
    for seed in 1..=3 {
        let device = format!("hip-sim://gfx942?hardware_queues=1&queues=16&seed={seed}");
        let (exit, text) = run(&device, Level::Smoke);
        assert_eq!(exit, Exit::Passed, "{text}");
    }
}

/// A driver that passes the host's address of imported memory to kernels works only if the addresses are equal.
#[test]
fn registered_memory_at_another_address_conforms() {
    conforms("hip-sim://gfx942?lock=apart");
}

/// The oldest version that runs all of the suite's kernels for gfx942, one of each later major version, and one
/// without the functions that the driver can do without. The newest is the default.
#[test]
fn every_version_of_hip_conforms() {
    conforms("hip-sim://gfx942?hip=5.7");
    for options in ["hip=6.2", "hip=7.0", "without=hipLaunchHostFunc"] {
        let (exit, text) = run(&format!("hip-sim://gfx942?{options}"), Level::Smoke);
        assert_eq!(exit, Exit::Passed, "{text}");
    }
}

/// AMD's HIP 5.2 does not know gfx942, so no kernels are built for such a machine.
#[test]
fn a_hip_that_reads_none_of_the_kernels_skips_what_needs_them_and_says_why() {
    let (exit, text) = run("hip-sim://gfx942?hip=5.2", Level::Smoke);
    assert_eq!(exit, Exit::Passed, "{text}");
    for part in ["code objects v5", "the device takes hsaco-v4", "HIP 5.2.21153", "-mcode-object-version"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
}

#[test]
fn a_machine_without_a_gpu_is_unavailable_in_the_words_of_its_version() {
    for (version, status) in [("5.2", "hipErrorInvalidDevice"), ("7.0", "hipErrorNoDevice")] {
        let error = windlass::open(&format!("hip-sim://gfx942?devices=0&hip={version}")).err().unwrap();
        assert_eq!(error.code(), windlass::Code::Unavailable, "{error}");
        assert!(error.to_string().contains(status), "{error}");
    }
}

/// A recorder changes nothing: each case has the same verdict over it.
#[test]
fn a_recorded_gpu_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let recorded =
        |name: &str, over: &str| format!("record://?file={}&over={over}", folder.path().join(name).display());
    conforms(&recorded("gpu", "hip-sim://gfx942"));
    let shuffled = recorded("shuffled", "hip-sim://gfx942?devices=2");
    let (exit, text) = run(&format!("shuffle://?seed=3&over={shuffled}"), Level::Smoke);
    assert_eq!(exit, Exit::Passed, "{text}");
}

#[test]
fn the_null_device_conforms() {
    conforms("null://");
}

#[test]
fn two_simulated_gpus_as_one_device_conform() {
    conforms("hip-sim://gfx942?devices=2");
}

#[test]
fn the_local_device_conforms() {
    for device in ["local://", "local://?threads=1", "local://?threads=0"] {
        conforms(device);
    }
}

#[test]
fn shuffled_devices_conform() {
    // Even seeds run one operation at a time.
    for (seed, device) in [
        (11, "null://"),
        (12, "null://"),
        (11, "local://?threads=0"),
        (12, "local://?threads=3"),
        (11, "hip-sim://gfx942?devices=2"),
        (12, "hip-sim://gfx942?devices=2"),
    ] {
        conforms(&format!("shuffle://?seed={seed}&over={device}"));
    }
}

#[test]
fn orders_at_the_hal_times_orders_at_hip_conform() {
    for seed in 1..=8 {
        let (exit, text) =
            run(&format!("shuffle://?seed={seed}&over=hip-sim://gfx942?seed={seed}"), Level::Smoke);
        assert_eq!(exit, Exit::Passed, "{text}");
    }
    let schedules = windlass_simulator::schedules();
    assert!(schedules.distinct > 8 && schedules.distinct <= schedules.runs, "{schedules}");
}

#[test]
fn failing_calls_are_reported_and_nothing_hangs() {
    // At once, as most of the time is waiting.
    let injected: usize = std::thread::scope(|scope| {
        let run_of = |seed: u32| {
            let (_, text) = run(&format!("hip-sim://gfx942?seed={seed}&fail=*~0.01"), Level::Smoke);
            assert!(!text.contains("DEADLINE_EXCEEDED") && !text.contains("panicked"), "seed {seed}: {text}");
            text.matches("because the option fail=*~0.01 says so").count()
        };
        let runs: Vec<_> = (1..=6).map(|seed| scope.spawn(move || run_of(seed))).collect();
        runs.into_iter().map(|run| run.join().expect("a run of the suite")).sum()
    });
    assert!(injected > 10, "{injected} cases met one");
}
