// SPDX-License-Identifier: MIT OR Apache-2.0
//! `inspect` on files of every kind.

use std::fs;

use serde_json::Value;

use crate::support::{Finished, fixture, scratch, windlass};

const FAT: &str = "cts/kernels/bundles/vector_add.ccob";
const LIBRARY: &str = "cts/kernels/bundles/libkernels.so";

fn inspect(arguments: &[&str]) -> Finished {
    let finished = windlass([&["inspect"], arguments].concat());
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    finished
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&inspect(&[arguments, &["--json"]].concat()).stdout).expect("JSON")
}

/// The text about a fixture for one target, so that it does not depend on devices.
fn fixture_text(name: &str, arguments: &[&str]) -> Option<String> {
    let file = fixture(name)?.display().to_string();
    Some(inspect(&[&[file.as_str(), "--target", "gfx942:sramecc+:xnack-"], arguments].concat()).stdout)
}

#[test]
fn targets_need_no_device_and_get_a_verdict_on_every_entry() {
    let arguments = [FAT, "--target", "gfx942:sramecc+:xnack-", "--target", "gfx1250"];
    let report = json(&arguments);
    assert_eq!(report["devices"].as_array().unwrap().len(), 0, "devices are not looked for");
    let [first, second] = report["targets"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!(first["target"], "gfx942:sramecc+:xnack-");
    assert_eq!(first["choices"][0]["entry"], 14);
    assert_eq!(first["choices"][0]["verdicts"].as_array().unwrap().len(), 15);
    assert_eq!(second["choices"][0]["entry"], Value::Null);
    let text = inspect(&arguments).stdout;
    assert!(text.contains("of bundle 0 it gets entry 14: exact gfx942"), "{text}");
    assert!(text.contains("entry 6: refused: gfx1100 is another processor than gfx942"), "{text}");
    assert!(text.contains("target gfx1250\n  of bundle 0 it gets nothing"), "{text}");
    assert!(!text.contains("device "), "{text}");
    let wrong = windlass(["inspect", FAT, "--target", "mi300"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("--target"), "{}", wrong.stderr);
}

#[test]
fn compressed_bundles_have_a_ratio_and_a_time_and_others_have_not() {
    let bundle = &json(&[FAT, "--target", "gfx942"])["bundles"][0];
    let (stored, unpacked) =
        (bundle["stored_size"].as_f64().unwrap(), bundle["unpacked_size"].as_f64().unwrap());
    assert!((bundle["ratio"].as_f64().unwrap() - unpacked / stored).abs() < 1e-9);
    assert!(bundle["decode_ms"].as_f64().unwrap() > 0.0);
    let text = inspect(&[FAT, "--target", "gfx942"]).stdout;
    assert!(
        text.contains(&format!("unpacks to {unpacked} bytes (ratio {:.2}) in ", unpacked / stored)),
        "{text}"
    );
    let plain = &json(&["cts/kernels/bundles/vector_add.gfx942.co", "--target", "gfx942"])["bundles"][0];
    assert_eq!((&plain["ratio"], &plain["decode_ms"]), (&Value::Null, &Value::Null));
}

#[test]
fn what_entries_have_in_common_is_shown_once() {
    let text = inspect(&[FAT, "--target", "gfx942"]).stdout;
    // Once for the hosts and once for the GPUs.
    assert_eq!(text.matches("vector_add(").count(), 2, "{text}");
    assert!(text.contains("1 kernel of entries 0, 1"), "{text}");
    assert!(text.contains("1 kernel of entries 2 to 14"), "{text}");
    assert!(text.contains("wave 32 or 64"), "{text}");
    let all = inspect(&[FAT, "--target", "gfx942", "--all"]).stdout;
    assert_eq!(all.matches("vector_add(").count(), 15, "{all}");
}

#[test]
fn kernels_for_the_host_are_told_like_those_for_gpus() {
    let report = json(&[FAT, "--target", "gfx942"]);
    let entries = &report["bundles"][0]["entries"];
    assert_eq!(entries[0]["content"], "shared object for x86_64");
    assert_eq!(entries[1]["content"], "shared object for aarch64");
    let (host, gpu) = (&entries[0]["kernels"][0], &entries[14]["kernels"][0]);
    assert_eq!((&host["name"], &host["vgprs"]), (&gpu["name"], &Value::Null));
    let places = |kernel: &Value| {
        let arguments = kernel["arguments"].as_array().unwrap().iter();
        arguments.map(|a| (a["kind"].clone(), a["offset"].clone(), a["size"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(places(host), places(gpu));
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let text = inspect(&[FAT, "--device", "local://"]).stdout;
        assert!(text.contains("of bundle 0 it gets entry 0: exact x86_64"), "{text}");
        assert!(text.contains("entry 1: refused: it is for aarch64"), "{text}");
        assert!(text.contains("entry 14: refused: it is for gfx942"), "{text}");
    }
}

#[test]
fn what_the_simulated_gpu_does_not_execute_is_said() {
    const CODE: &str = "cts/kernels/bundles/vector_add.gfx942.co";
    let text = inspect(&[CODE, "--target", "gfx942"]).stdout;
    assert!(text.contains("the simulated GPU executes every instruction of entry 0"), "{text}");
    let fat = json(&[FAT, "--target", "gfx942"]);
    let told: Vec<&Value> = fat["bundles"][0]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["not_simulated"])
        .collect();
    let (simulated, others) = (Value::Array(Vec::new()), Value::Null);
    let expected: Vec<&Value> = (0..15).map(|entry| if entry < 2 { &others } else { &simulated }).collect();
    assert_eq!(told, expected, "all are simulated but the hosts");

    // The kernel's first instructions become s_cbranch_g_fork, which no compiler emits.
    let mut code = fs::read(CODE).unwrap();
    let object = windlass_codeobject::CodeObject::parse(&code).unwrap();
    let entry = object.kernels()[0].entry_address;
    let segment = object.segments().iter().find(|segment| segment.executable).unwrap();
    let place = usize::try_from(entry - segment.address + segment.offset).unwrap();
    code[place..place + 8].copy_from_slice(&[0x00, 0x02, 0x80, 0x94, 0x02, 0x04, 0x80, 0x94]);
    let file = scratch("co");
    fs::write(&file, code).unwrap();
    let file = file.to_str().unwrap();
    let text = inspect(&[file, "--target", "gfx942"]).stdout;
    let line = format!(
        "s_cbranch_g_fork s[0:1], s[2:3] (not implemented) in vector_add at {entry:#x}, 2 of the kind"
    );
    assert!(
        text.contains("the simulated GPU does not execute, of entry 0:") && text.contains(&line),
        "{text}"
    );
    let report = json(&[file, "--target", "gfx942"]);
    let [found] = report["bundles"][0]["entries"][0]["not_simulated"].as_array().unwrap().as_slice() else {
        panic!("{report}")
    };
    assert_eq!(
        (&found["symbol"], &found["address"], &found["count"]),
        (&"vector_add".into(), &entry.into(), &2.into())
    );
}

#[test]
fn columns_stand_below_each_other() {
    let text = inspect(&[LIBRARY, "--target", "gfx942"]).stdout;
    let lines: Vec<&str> = text.lines().collect();
    let mut rows = 0;
    for (index, heading) in lines.iter().enumerate().filter(|(_, line)| line.contains("entry  id")) {
        let column = heading.find("content").unwrap();
        for line in &lines[index + 1..] {
            if line.get(..7).is_none_or(|number| number.trim().parse::<u32>().is_err()) {
                break;
            }
            assert!(matches!(line.as_bytes()[column - 1..], [b' ', b'c' | b'e' | b'E' | b's', ..]), "{text}");
            rows += 1;
        }
    }
    assert!(rows >= 4, "two bundles of an entry for the host and more: {text}");
}

#[test]
fn two_thousand_kernels_make_a_summary() {
    let Some(text) = fixture_text("fatbin/many2000.compressed.hipfb", &[]) else { return };
    assert!(text.lines().count() < 60, "{} lines", text.lines().count());
    assert!(text.contains("2000 kernels of entries 1 to 3"), "{text}");
    assert!(text.contains("... and 1988 more kernels; --all shows them"), "{text}");
    let all = fixture_text("fatbin/many2000.compressed.hipfb", &["--all"]).unwrap();
    assert_eq!(all.matches("kern_01999(").count(), 3);
    let report: Value =
        serde_json::from_str(&fixture_text("fatbin/many2000.compressed.hipfb", &["--json"]).unwrap())
            .unwrap();
    assert_eq!(report["bundles"][0]["entries"][1]["kernels"].as_array().unwrap().len(), 2000, "JSON has all");
}

#[test]
fn symbols_beside_kernels_are_named() {
    let Some(text) = fixture_text("clang/initfini.gfx942.co", &[]) else { return };
    assert!(text.contains("amdgcn.device.init() runs when the code is loaded"), "{text}");
    assert!(text.contains("undefined symbols of entry 0: __cxa_atexit"), "{text}");
    assert!(text.contains("device functions of entry 0: "), "{text}");
    let all = fixture_text("clang/symbols.gfx942.co", &["--all"]).unwrap();
    assert!(all.contains("function dev_fib at 0x"), "{all}");
    assert!(all.contains("variable g_counter at 0x"), "{all}");
    let text = fixture_text("iree/gfx942/mm.vmfb", &[]).unwrap();
    assert!(text.contains("IREE executable (HIP1) over bundle 0: 3 exports"), "{text}");
    assert!(text.contains("256,1,1   read indirect, read indirect, indirect"), "{text}");
    assert!(text.contains("(#0: buffer (read), #1: buffer (read), #2: buffer (write))"), "{text}");
}

#[test]
fn what_is_no_code_object_is_called_by_its_name() {
    let Some(path) = fixture("fatbin/text.bundle.ll") else { return };
    let refused = windlass(["inspect", &path.display().to_string()]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(
        refused.stderr.contains("a text bundle") && refused.stderr.contains("compile"),
        "{}",
        refused.stderr
    );
    let text = fixture_text("kpack/test_zstd.kpack", &[]).unwrap();
    assert!(text.contains("bundle 1 (bin/hiptest)"), "{text}");
    let text = fixture_text("clang/fatobjs.a", &[]).unwrap();
    assert!(text.contains("bundle 0 (vadd.z.o)") && text.contains("bundle 1 (matmul.o)"), "{text}");

    let (spirv, bitcode, out) = (scratch("spv"), scratch("bc"), scratch("hipfb"));
    fs::write(&spirv, b"\x03\x02\x23\x07....").unwrap();
    fs::write(&bitcode, b"BC\xc0\xde....").unwrap();
    let finished = windlass([
        "bundle",
        "--unchecked",
        "-o",
        &out.display().to_string(),
        &format!("hip-spirv64-amd-amdhsa--amdgcnspirv={}", spirv.display()),
        &format!("hip-amdgcn-amd-amdhsa--gfx906={}", bitcode.display()),
    ]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let report = json(&[&out.display().to_string(), "--target", "gfx906"]);
    let contents: Vec<&str> =
        (0..3).map(|entry| report["bundles"][0]["entries"][entry]["content"].as_str().unwrap()).collect();
    assert_eq!(contents, ["empty", "SPIR-V", "LLVM bitcode"]);
    for path in [spirv, bitcode, out] {
        let _ = fs::remove_file(path);
    }
}

#[test]
fn compatible_code_is_chosen_on_request() {
    let Some(file) = fixture("clang/vadd.gfx1030.co") else { return };
    let file = file.display().to_string();
    let entry = |arguments: &[&str]| {
        let report = json(&[&[file.as_str(), "--target", "gfx1031"], arguments].concat());
        report["targets"][0]["choices"][0]["entry"].clone()
    };
    assert_eq!(entry(&[]), Value::Null);
    assert!(inspect(&[&file, "--target", "gfx1031"]).stdout.contains("allow it with --compat"));
    assert_eq!(entry(&["--compat"]), 0);
}

/// An offload bundle whose entries for gfx942 have these places.
fn bundle_with(places: &[(usize, usize)], image: &[u8]) -> Vec<u8> {
    let id = b"hipv4-amdgcn-amd-amdhsa--gfx942";
    let start = (32 + places.len() * (24 + id.len())).next_multiple_of(4096);
    let mut bytes = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bytes.extend((places.len() as u64).to_le_bytes());
    for (from, size) in places {
        bytes.extend([start + from, *size, id.len()].map(|number| (number as u64).to_le_bytes()).concat());
        bytes.extend(id);
    }
    bytes.resize(start, 0);
    bytes.extend(image);
    bytes
}

#[test]
fn bytes_of_several_entries_are_read_and_told_once() {
    let image = fs::read("cts/kernels/bundles/saxpy.gfx942.co").unwrap();
    let size = image.len();
    let path = scratch("hipfb");
    fs::write(&path, bundle_with(&[(0, size), (0, size), (64, size - 64), (0, size)], &image)).unwrap();
    let file = path.to_str().unwrap();
    let inspect = |more: &[&str]| {
        let finished = windlass([&["inspect", file, "--target", "gfx942"], more].concat());
        assert_eq!(finished.code, Some(1), "one entry is not read: {}", finished.stderr);
        finished
    };
    let report: Value = serde_json::from_str(&inspect(&["--json"]).stdout).expect("JSON");
    let [first, second, third, fourth] = report["bundles"][0]["entries"].as_array().unwrap().as_slice()
    else {
        panic!("{report:#}")
    };
    assert_eq!((&first["same_as"], first["kernels"].as_array().is_some()), (&Value::Null, true), "{first:#}");
    for same in [second, fourth] {
        assert_eq!((&same["same_as"], &same["content"]), (&0.into(), &first["content"]));
        assert_eq!(same.get("kernels"), None, "{same:#}");
    }
    assert!(
        third["problems"][0].as_str().unwrap().contains("it shares bytes with other entries"),
        "{third:#}"
    );
    let text = inspect(&[]).stdout;
    assert!(text.contains("of entries 0, 1, 3"), "{text}");
    let all = inspect(&["--all"]).stdout;
    assert!(all.contains("entry 3, hipv4-amdgcn-amd-amdhsa--gfx942: the same bytes as entry 0"), "{all}");
    let _ = fs::remove_file(path);
}

#[cfg(target_os = "linux")]
#[test]
fn thousands_of_entries_with_the_same_bytes_take_the_memory_of_one() {
    let Some(library) = fixture("fatbin/libbitsandbytes_rocm64.hip_fatbin") else { return };
    let code = scratch("co");
    let taken =
        windlass(["extract", library.to_str().unwrap(), "--target", "gfx942", "-o", code.to_str().unwrap()]);
    assert_eq!(taken.code, Some(0), "{}", taken.stderr);
    let image = fs::read(&code).unwrap();
    let path = scratch("hipfb");
    fs::write(&path, bundle_with(&vec![(0, image.len()); 4000], &image)).unwrap();
    for form in ["--json", "--all"] {
        // The limit covers the whole address space, most of which is the program and its libraries.
        let limited = ["-c", "ulimit -v 600000 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_windlass")];
        let mut command = std::process::Command::new("sh");
        command.args(limited).args(["inspect", path.to_str().unwrap(), "--target", "gfx942", form]);
        let finished = crate::support::finish(&mut command);
        assert_eq!(finished.code, Some(0), "{form}: {}", finished.stderr);
        assert!(finished.stdout.len() < 8 << 20, "{form}: {} bytes", finished.stdout.len());
    }
    for file in [code, path] {
        let _ = fs::remove_file(file);
    }
}
