// SPDX-License-Identifier: MIT OR Apache-2.0
//! `devices`, `inspect`, `extract` and `help`.

use std::{fs, thread};

use serde_json::Value;

use crate::support::{command, finish, fixture, scratch, windlass};

fn json(arguments: &[&str]) -> Value {
    let finished = windlass(arguments);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    serde_json::from_str(&finished.stdout).expect("JSON on standard output")
}

#[test]
fn every_source_is_listed_and_simulated_ones_say_so() {
    let sources = json(&["devices", "--json"]);
    let source = |scheme: &str| {
        let sources = sources.as_array().unwrap();
        sources
            .iter()
            .find(|source| source["scheme"] == scheme)
            .unwrap_or_else(|| panic!("{scheme} in {sources:?}"))
    };
    let simulated = &source("hip-sim")["devices"][0];
    assert_eq!((&simulated["simulated"], &simulated["real_gpu"]), (&true.into(), &false.into()));
    assert!(simulated["architecture"].as_str().unwrap().starts_with("gfx942"));
    assert!(source("hip-null")["devices"][0]["library"].as_str().is_some());
    let real = source("hip");
    assert!(real["problem"].is_string() || real["devices"][0]["real_gpu"] == true, "{real}");
    let text = windlass(["devices"]).stdout;
    assert!(text.contains("*simulated*") && text.contains("hip-sim://"), "{text}");
}

#[test]
fn a_hip_call_that_hangs_is_named_and_the_other_drivers_answer() {
    let check = |(machine, options, call, words): (&str, &[&str], &str, &str)| {
        let mut devices = command();
        devices.args(["devices", "--timeout", "4"]).args(options).env("WINDLASS_SIM", machine);
        let finished = finish(&mut devices);
        assert_eq!(finished.code, Some(5), "{}{}", finished.stdout, finished.stderr);
        for text in [&finished.stdout, &finished.stderr] {
            assert!(
                text.contains(call) && text.contains("does not return") && text.contains(words),
                "{text}"
            );
        }
        assert!(finished.stdout.contains("null://  Null device"), "{}", finished.stdout);
    };
    // Both wait for their deadline most of the time.
    thread::scope(|scope| {
        let listing = "gfx942?delay=hipGetDeviceCount:600s";
        scope.spawn(move || check((listing, &[], "hipGetDeviceCount(", "no answer within 4 s")));
        let checking = "gfx942?delay=hipModuleLaunchKernel:600s";
        scope.spawn(move || {
            check((checking, &["--check"], "hipModuleLaunchKernel(", "the check of hip-sim://0"));
        });
    });
}

#[test]
fn a_check_runs_a_kernel_on_each_device() {
    let check = |machine: &str, options: &[&str]| {
        finish(command().args(["devices", "--check"]).args(options).env("WINDLASS_SIM", machine))
    };
    let finished = check("gfx942?devices=2", &["--json"]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let sources: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let verdict = |uri: &str| {
        let devices =
            sources.as_array().unwrap().iter().flat_map(|source| source["devices"].as_array().unwrap());
        let mut found = devices.filter(|device| device["uri"] == uri);
        found.next().unwrap_or_else(|| panic!("{uri} in {sources:#}"))["check"]["verdict"].clone()
    };
    let verdicts = ["hip-sim://0", "hip-sim://1", "hip-null://0", "null://"].map(verdict);
    assert_eq!(verdicts, ["right", "right", "not_checked", "not_checked"]);
    // A failure on one device does not end the checks.
    let finished = check("gfx942?devices=2&fail=hipModuleLaunchKernel", &[]);
    assert_eq!(finished.code, Some(1), "{}", finished.stdout);
    assert_eq!(finished.stdout.matches("WRONG: ").count(), 2, "{}", finished.stdout);
    assert!(finished.stdout.contains("hipModuleLaunchKernel"), "{}", finished.stdout);
    assert!(finished.stderr.contains("--check: hip-sim://0, hip-sim://1"), "{}", finished.stderr);
}

#[test]
fn a_check_fails_what_cannot_be_opened_to_be_checked() {
    for (name, value, words) in [
        ("WINDLASS_SIM", "garbage", "--check: hip-sim:// has no device to check"),
        ("WINDLASS_SIM", "gfx942?fail=hipInit", "--check: hip-sim:// has no device to check"),
        (
            "WINDLASS_HIP_LIBRARY",
            "/no/such/libamdhip64.so",
            "--check: WINDLASS_HIP_LIBRARY names /no/such/libamdhip64.so, and no device of it can be checked",
        ),
    ] {
        let finished = finish(command().args(["devices", "--check"]).env(name, value));
        assert_eq!(finished.code, Some(1), "{value}: {}", finished.stderr);
        assert!(finished.stderr.contains(words), "{value}: {}", finished.stderr);
        assert_eq!(finish(command().arg("devices").env(name, value)).code, Some(0));
    }
}

#[test]
fn a_simulated_gpu_is_no_gpu_that_can_be_required() {
    let finished = windlass(["devices", "--require", "gfx1"]);
    assert_eq!(finished.code, Some(3), "{}", finished.stderr);
    if !windlass(["devices", "--json"]).stdout.contains("\"real_gpu\": true") {
        let finished = windlass(["devices", "--require", "gfx942"]);
        assert_eq!(finished.code, Some(3), "{}", finished.stderr);
        assert!(finished.stderr.contains("does not count"), "{}", finished.stderr);
    }
    let finished = windlass(["devices", "--require", "mi300"]);
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
    assert!(finished.stderr.contains("gfx942:sramecc+:xnack-"), "{}", finished.stderr);
}

#[test]
fn a_file_is_shown_with_what_each_device_would_get() {
    let report =
        json(&["inspect", "cts/kernels/bundles/vector_add.ccob", "--device", "hip-sim://gfx942", "--json"]);
    let bundle = &report["bundles"][0];
    assert_eq!(bundle["stored_size"], fs::metadata("cts/kernels/bundles/vector_add.ccob").unwrap().len());
    assert!(bundle["unpacked_size"].as_u64() > bundle["stored_size"].as_u64());
    let targets: Vec<_> =
        bundle["entries"].as_array().unwrap().iter().filter_map(|entry| entry["target"].as_str()).collect();
    assert_eq!(
        targets,
        [
            "gfx10-1-generic",
            "gfx10-3-generic",
            "gfx1030",
            "gfx11-generic",
            "gfx1100",
            "gfx12-generic",
            "gfx1201",
            "gfx9-4-generic",
            "gfx900",
            "gfx906",
            "gfx908",
            "gfx90a",
            "gfx942"
        ]
    );
    let kernel = &bundle["entries"][14]["kernels"][0];
    assert_eq!(kernel["name"], "vector_add");
    let kinds: Vec<_> = kernel["arguments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| argument["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["buffer", "buffer", "buffer", "value"]);
    let device = &report["devices"][0];
    assert_eq!((&device["choices"][0]["entry"], &device["simulated"]), (&14.into(), &true.into()));
    assert!(device["choices"][0]["verdicts"][6].as_str().unwrap().contains("another processor"));

    let text =
        windlass(["inspect", "cts/kernels/bundles/libkernels.so", "--device", "hip-sim://gfx942"]).stdout;
    assert!(text.contains("bundle 0") && text.contains("bundle 1") && text.contains("saxpy_f64("), "{text}");
    assert!(text.contains("*simulated*") && text.contains("gets entry"), "{text}");
}

#[test]
fn real_libraries_are_shown_whole() {
    for (name, targets, bundles) in [
        ("fatbin/libbitsandbytes_rocm64.hip_fatbin", 14, 2),
        ("fatbin/libbitsandbytes_rocm71.hip_fatbin", 15, 2),
    ] {
        let Some(file) = fixture(name) else { return };
        let report =
            json(&["inspect", &file.display().to_string(), "--device", "hip-sim://gfx942", "--json"]);
        assert_eq!(report["problems"].as_array().unwrap().len(), 0, "{}", report["problems"]);
        assert_eq!(report["bundles"].as_array().unwrap().len(), bundles);
        for bundle in report["bundles"].as_array().unwrap() {
            let entries: Vec<_> = bundle["entries"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|entry| entry["target"].is_string())
                .collect();
            assert_eq!(entries.len(), targets, "{name}");
            for entry in entries {
                let kernels = entry["kernels"].as_array().unwrap();
                assert!(!kernels.is_empty(), "{name}: {}", entry["id"]);
                let some_argument = |kernel: &Value| !kernel["arguments"].as_array().unwrap().is_empty();
                assert!(kernels.iter().all(some_argument), "{name}: {}", entry["id"]);
            }
        }
    }
}

#[test]
fn what_is_extracted_is_a_file_that_runs() {
    let path = scratch("hsaco");
    let name = path.display().to_string();
    let finished =
        windlass(["extract", "cts/kernels/bundles/vector_add.ccob", "--target", "gfx942", "-o", &name]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), ""), "{}", finished.stderr);
    let report = json(&["inspect", &name, "--device", "hip-sim://gfx942", "--json"]);
    assert_eq!(
        (&report["kind"], &report["devices"][0]["choices"][0]["entry"]),
        (&"code object".into(), &0.into())
    );
    assert_eq!(fs::read(&path).unwrap(), fs::read("cts/kernels/bundles/vector_add.gfx942.co").unwrap());
    let _ = fs::remove_file(path);
}

#[test]
fn the_bundle_to_extract_from_can_be_chosen() {
    let path = scratch("hsaco");
    let name = path.display().to_string();
    let extract = |bundle: &str| {
        windlass([
            "extract",
            "cts/kernels/bundles/libkernels.so",
            "--target",
            "gfx942",
            "--bundle",
            bundle,
            "-o",
            &name,
        ])
    };
    for (bundle, kernel) in [("0", "vector_add"), ("1", "saxpy")] {
        assert_eq!(extract(bundle).code, Some(0));
        let report = json(&["inspect", &name, "--device", "hip-sim://gfx942", "--json"]);
        assert_eq!(report["bundles"][0]["entries"][0]["kernels"][0]["name"], kernel);
    }
    let _ = fs::remove_file(&path);
    let finished = extract("2");
    assert_eq!(finished.code, Some(2));
    assert!(finished.stderr.contains("2 bundles, numbered from 0"), "{}", finished.stderr);
    for (target, words) in [("gfx1250", "another processor"), ("mi300", "gfx942:sramecc+:xnack-")] {
        let finished =
            windlass(["extract", "cts/kernels/bundles/libkernels.so", "--target", target, "-o", &name]);
        assert_eq!(finished.code, Some(2));
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    assert!(!path.exists(), "what fails writes nothing");
}

#[test]
fn help_is_on_standard_output() {
    for arguments in [&["help"][..], &["help", "run"], &["run", "--help"], &["--help"], &["help", "cts"]] {
        let finished = windlass(arguments);
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        assert!(finished.stdout.contains("Usage: windlass"), "{}", finished.stdout);
    }
    assert!(windlass(["help", "cts"]).stdout.contains("--isolate"), "the options of the runner");
    let finished = windlass(["help", "environment"]);
    assert_eq!(finished.code, Some(0));
    for name in [
        "WINDLASS_DEVICE",
        "WINDLASS_HIP_LIBRARY",
        "WINDLASS_LOG",
        "WINDLASS_SIM",
        "WINDLASS_FIXTURES",
        "HIP_VISIBLE_DEVICES",
        "ROCM_PATH",
    ] {
        assert!(finished.stdout.contains(name), "{name}");
    }
    let finished = windlass(["--version"]);
    assert!(
        finished.stdout.starts_with(concat!("windlass ", env!("CARGO_PKG_VERSION"))),
        "{}",
        finished.stdout
    );
}
