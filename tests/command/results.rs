// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results of a run: prints, files, checks, traces, and repetition.

use std::fs;

use crate::support::{DEVICE, Finished, command, finish, scratch, windlass};

fn negate(extra: &[&str]) -> Finished {
    let words = ["run", "cts/kernels/bundles/entries.ccob", "--kernel", "negate", "--device", DEVICE];
    let rest =
        ["--grid", "1", "--block", "64", "--arg", "2x3xf32=iota", "--arg", "2x3xf32=9", "--arg", "i32=6"];
    windlass(words.iter().chain(&rest).chain(extra))
}

#[test]
fn prints_are_the_text_of_iree_in_the_order_asked_for() {
    let finished = negate(&["--print", "1", "--print", "0"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.stdout, "2x3xf32=[-0 -1 -2][-3 -4 -5]\n2x3xf32=[0 1 2][3 4 5]\n");
}

#[test]
fn files_are_npy_or_raw_and_can_be_read_again() {
    let (npy, raw) = (scratch("npy"), scratch("bin"));
    let outs = [format!("1={}", npy.display()), format!("1={}", raw.display())];
    let finished = negate(&["--out", &outs[0], "--out", &outs[1]]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let expected: Vec<u8> = (0..6).flat_map(|value| (-(value as f32)).to_le_bytes()).collect();
    assert_eq!(fs::read(&raw).unwrap(), expected);
    let file = fs::read(&npy).unwrap();
    assert!(file.starts_with(b"\x93NUMPY\x01\x00"), "the file is one of NumPy's");
    assert!(file.ends_with(&expected));
    let header = String::from_utf8_lossy(&file[10..128]).into_owned();
    assert!(header.contains("'descr': '<f4'") && header.contains("'shape': (2, 3)"), "{header}");

    for expected in [format!("1=@{}", npy.display()), format!("1=2x3xf32=@{}", raw.display())] {
        let finished = negate(&["--expect", &expected]);
        assert_eq!(finished.code, Some(0), "{expected}: {}", finished.stderr);
    }
    // A file of another shape or length is refused.
    for wrong in [format!("1=6xf32=@{}", npy.display()), format!("1=7xf32=@{}", raw.display())] {
        let finished = negate(&["--expect", &wrong]);
        assert_eq!(finished.code, Some(2), "{wrong}: {}", finished.stderr);
    }
    let _ = (fs::remove_file(npy), fs::remove_file(raw));
}

#[test]
fn a_wrong_expectation_fails_and_shows_where() {
    let finished = negate(&["--expect", "1=2x3xf32=[0 -1 -2][-3.5 -4 -5]", "--print", "1"]);
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("1 of 6 elements differ"), "{}", finished.stderr);
    assert!(finished.stderr.contains("[1,0] is -3.0, expected -3.5"), "{}", finished.stderr);
    assert_eq!(
        finished.stdout, "2x3xf32=[-0 -1 -2][-3 -4 -5]\n",
        "wrong results are printed as right ones are"
    );
    let finished = negate(&["--expect", "1=2x3xf32=[0 -1 -2][-3.5 -4 -5]", "--tolerance", "0,0.5"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}

#[test]
fn every_wrong_argument_is_shown() {
    let finished = negate(&["--expect", "0=2x3xf32=1", "--expect", "1=2x3xf32=2"]);
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("argument 0: 5 of 6"), "{}", finished.stderr);
    assert!(finished.stderr.contains("argument 1: 6 of 6"), "{}", finished.stderr);
}

#[test]
fn repetitions_start_from_the_same_contents() {
    // saxpy adds to y, so the second run must not start from the first run's result.
    let words =
        ["run", "cts/kernels/bundles/saxpy.ccob", "--kernel", "saxpy", "--device", DEVICE, "--grid", "1"];
    let rest =
        ["--block", "64", "--arg", "f32=2", "--arg", "64xf32=3", "--arg", "64xf32=1", "--arg", "i32=64"];
    let finished = windlass(words.iter().chain(&rest).chain(&["--repeat", "5", "--expect", "2=64xf32=7"]));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("5 runs") && finished.stderr.contains("simulated"),
        "{}",
        finished.stderr
    );
    assert_eq!(finished.stdout, "");
}

#[test]
fn traces_have_a_row_for_the_queue_and_a_slice_for_the_kernel() {
    let path = scratch("json");
    let name = path.display().to_string();
    let finished = negate(&["--trace", &name, "--repeat", "3", "--expect", "1=2x3xf32=[0 -1 -2][-3 -4 -5]"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let trace: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let queue = events
        .iter()
        .find(|event| event["name"] == "thread_name" && event["args"]["name"] == "queue 0")
        .expect("a row for queue 0");
    let kernels: Vec<_> =
        events.iter().filter(|event| event["name"] == "negate" && event["tid"] == queue["tid"]).collect();
    assert_eq!(kernels.len(), 3, "one slice for each dispatch");
    for kernel in kernels {
        assert_eq!(kernel["ph"], "X");
        assert!(kernel["ts"].as_f64().unwrap() >= kernel["args"]["submitted_us"].as_f64().unwrap());
    }
    let process = events.iter().find(|event| event["name"] == "process_name").unwrap();
    assert!(process["args"]["name"].as_str().unwrap().contains("simulated"), "{process}");
    let _ = fs::remove_file(path);
}

#[test]
fn a_profile_has_the_kernels_time_and_a_table_says_that_it_is_simulated() {
    let path = scratch("json");
    let name = path.display().to_string();
    let finished = negate(&["--profile", &name, "--repeat", "3"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let trace: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let kernels = |event: &&serde_json::Value| event["ph"] == "X" && event["name"] == "negate";
    let slices: Vec<_> = trace["traceEvents"].as_array().unwrap().iter().filter(kernels).collect();
    assert_eq!(slices.len(), 3, "one slice for each dispatch");
    assert!(slices.iter().all(|slice| slice["args"]["time"] == "device"), "{slices:?}");
    let row = finished.stderr.lines().find(|line| line.starts_with("queue_dispatch")).expect("a row");
    assert!(row.contains("negate") && row.contains("device (simulated)"), "{row}");
    assert!(finished.stderr.contains("simulated: no times of a GPU"), "{}", finished.stderr);
    let _ = fs::remove_file(path);
}

#[test]
fn a_failed_run_leaves_a_trace_that_says_so() {
    let path = scratch("json");
    let name = path.display().to_string();
    let words =
        ["run", "cts/kernels/bundles/faults.ccob", "--kernel", "write_at", "--device", DEVICE, "--grid", "1"];
    let rest =
        ["--block", "1", "--arg", "4xi32", "--arg", "i64=100000000", "--arg", "i32=1", "--trace", &name];
    let finished = windlass(words.iter().chain(&rest));
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    assert!(finished.stderr.contains("write_at"), "{}", finished.stderr);
    let trace = fs::read_to_string(&path).unwrap();
    assert!(trace.contains("\"error\""), "{trace}");
    let _ = fs::remove_file(path);
}

#[test]
fn random_contents_are_the_same_everywhere() {
    let words =
        ["run", "cts/kernels/bundles/entries.ccob", "--kernel", "twice", "--device", DEVICE, "--grid", "1"];
    let rest =
        ["--block", "64", "--arg", "4xf32=random:7", "--arg", "4xf32", "--arg", "i32=4", "--print", "0"];
    let finished = windlass(words.iter().chain(&rest));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.stdout, "4xf32=0.38983 0.0167882 0.900761 0.58293\n");
}

#[test]
fn the_device_may_come_from_the_environment() {
    let words =
        ["run", "cts/kernels/bundles/entries.ccob", "--kernel", "empty", "--grid", "1", "--block", "64"];
    let mut named = command();
    named.args(words).env("WINDLASS_DEVICE", DEVICE);
    let finished = finish(&mut named);
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
    let mut simulated = command();
    simulated.args(words).env("WINDLASS_DEVICE", "hip-sim://").env("WINDLASS_SIM", "gfx942?devices=65");
    let finished = finish(&mut simulated);
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
    assert!(finished.stderr.contains("WINDLASS_SIM"), "{}", finished.stderr);
}

#[test]
fn an_announced_simulation_stands_in_where_there_is_no_gpu() {
    let words =
        ["run", "cts/kernels/bundles/entries.ccob", "--kernel", "empty", "--grid", "1", "--block", "64"];
    if windlass(["devices", "--json"]).stdout.contains("\"real_gpu\": true") {
        eprintln!("skipped: this machine has a GPU");
        return;
    }
    let finished = windlass(words);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    assert!(finished.stderr.contains("simulated") && finished.stderr.contains("hip-sim://gfx942"));
}

#[test]
fn logs_go_to_standard_error_when_asked_for() {
    let mut run = command();
    run.args([
        "run",
        "cts/kernels/bundles/entries.ccob",
        "--kernel",
        "empty",
        "--device",
        DEVICE,
        "--grid",
        "1",
    ]);
    run.args(["--block", "64"]).env("WINDLASS_LOG", "windlass::hip=trace");
    let finished = finish(&mut run);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), ""));
    assert!(finished.stderr.contains("hipModuleLaunchKernel("), "{}", finished.stderr);
}
