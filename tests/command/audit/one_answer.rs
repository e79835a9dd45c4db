// SPDX-License-Identifier: MIT OR Apache-2.0
//! The subcommands agree: on the meaning of a target's spelling, and on code that cannot be loaded.

use std::fs;

use serde_json::Value;

use super::{Folder, VECTOR_ADD};
use crate::support::{DEVICE, Finished, windlass};

const FEATURES: &str = "cts/kernels/bundles/vector_add.features.ccob";
const GENERIC: &str = "cts/kernels/bundles/vector_add.generic.ccob";
const SAXPY: &str = "cts/kernels/bundles/saxpy.gfx942.co";

/// The targets of a report, and for each target the modes with code: `all`, `none`, or a list.
fn answer(finished: &Finished, modes: impl Fn(&Value) -> String) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let targets = report.pointer("/files/0/targets").or(report.get("targets")).expect("targets");
    let label = |target: &Value| target["target"].as_str().expect("a name").to_owned();
    targets.as_array().expect("a list").iter().map(|target| (label(target), modes(target))).collect()
}

fn audited(target: &Value) -> String {
    let only: Vec<_> = target["only"].as_array().unwrap().iter().map(|mode| mode.as_str().unwrap()).collect();
    match (target["verdict"].as_str().unwrap(), &only[..]) {
        ("none", _) => "none".to_owned(),
        (_, []) => "all".to_owned(),
        (_, only) => only.join(" "),
    }
}

fn inspected(target: &Value) -> String {
    let choices = target["choices"].as_array().unwrap();
    let with: Vec<_> = choices.iter().filter(|choice| !choice["entry"].is_null()).collect();
    match with.len() {
        0 => "none".to_owned(),
        all if all == choices.len() => "all".to_owned(),
        _ => with.iter().map(|choice| choice["mode"].as_str().unwrap()).collect::<Vec<_>>().join(" "),
    }
}

#[test]
fn inspect_and_audit_give_one_answer_for_one_spelling() {
    for file in [VECTOR_ADD, FEATURES, GENERIC] {
        for spelling in [
            "gfx942",
            "gfx942:xnack-",
            "gfx942:xnack-:sramecc+",
            "gfx90a",
            "gfx90a:sramecc-",
            "gfx90a:xnack+",
            "gfx942,gfx90a",
            "gfx942,gfx942",
            "gfx1031,compat",
            "gfx11-generic",
            "gfx9-4-generic",
            "gfx1101",
            "gfx1999",
            "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-",
            "GFX942",
            "gfx942:XNACK-",
            "gfx942:xnack",
            "gfx942:xnack+:xnack-",
            "gfx942, gfx90a",
            "gfx942,",
            "compat",
            "mi300",
            "",
        ] {
            let audit = windlass(["audit", file, "--json", "--targets", spelling]);
            let inspect = windlass(["inspect", file, "--json", "--target", spelling]);
            let place = format!("{file}, `{spelling}`: {} {}", audit.stderr, inspect.stderr);
            if audit.code == Some(2) || inspect.code == Some(2) {
                assert_eq!((audit.code, inspect.code), (Some(2), Some(2)), "{place}");
                assert_eq!(audit.stderr.replace("--targets", "--target"), inspect.stderr, "{place}");
                continue;
            }
            assert_eq!(answer(&audit, audited), answer(&inspect, inspected), "{place}");
            let warned = |text: &str| text.contains("unknown processor");
            assert_eq!(warned(&audit.stderr), warned(&inspect.stderr), "{place}");
        }
    }
    let shown = windlass(["inspect", FEATURES, "--target", "gfx90a"]);
    for words in ["of bundle 0 with xnack+ it gets entry", "of bundle 0 with xnack- it gets entry"] {
        assert!(shown.stdout.contains(words), "{}", shown.stdout);
    }
}

#[test]
fn inspect_run_and_audit_agree_on_what_is_malformed() {
    let folder = Folder::new();
    let good = fs::read(SAXPY).unwrap();
    let first_segment = usize::from(u16::from_le_bytes([good[32], good[33]]));
    // The program header of the first segment to be loaded is the second.
    let header = first_segment + 56;
    for (name, place, bytes, reason) in [
        ("size", header + 0x20, u64::MAX >> 1, "the input is cut short or its sizes are wrong"),
        ("align", header + 0x30, 4112, "it is aligned to 4112 bytes"),
        ("address", header + 0x10, 1 << 40, "segment"),
    ] {
        let mut bad = good.clone();
        bad[place..place + 8].copy_from_slice(&bytes.to_le_bytes());
        let path = folder.put(&format!("{name}.co"), &bad);
        let inspect = windlass(["inspect", &path, "--target", "gfx942"]);
        assert_eq!(inspect.code, Some(1), "{name}: {}", inspect.stdout);
        assert!(inspect.stdout.contains("of bundle 0 it gets nothing"), "{name}: {}", inspect.stdout);
        assert!(inspect.stdout.contains("refused: it cannot be loaded: "), "{name}: {}", inspect.stdout);
        let run = ["run", &path, "--kernel", "saxpy", "--grid", "1", "--block", "1", "--device", DEVICE];
        let arguments = ["f32=1", "4xf32", "4xf32", "i32=4"].into_iter().flat_map(|spec| ["--arg", spec]);
        let run = windlass(run.into_iter().chain(arguments));
        assert_eq!(run.code, Some(2), "{name}: {}", run.stderr);
        let audit = windlass(["audit", &path, "--targets", "gfx942"]);
        assert_eq!(audit.code, Some(1), "{name}: {}", audit.stdout);
        for text in [&inspect.stdout, &run.stderr, &audit.stdout] {
            assert!(text.contains(reason), "{name}: {text}");
        }
    }
}

#[test]
fn a_version_has_one_label() {
    let folder = Folder::new();
    let mut code = fs::read("cts/kernels/bundles/vector_add.gfx942.co").unwrap();
    // The version of a code object is two more than this byte of its ELF header.
    code[8] = 4;
    let path = folder.put("new.co", &code);
    let shown = windlass(["inspect", &path, "--target", "gfx942"]).stdout;
    assert!(shown.contains("code object v6"), "{shown}");
    let old = "hip-sim://gfx942?hip=5.7";
    let refused = windlass(["run", &path, "--kernel", "vector_add", "--grid", "1", "--device", old]);
    assert!(refused.stderr.contains("up to v5, and this is a code object v6"), "{}", refused.stderr);
    let mut bundle = fs::read(VECTOR_ADD).unwrap();
    let shown = windlass(["inspect", VECTOR_ADD, "--target", "gfx942"]).stdout;
    assert!(shown.contains("(CCOB v"), "{shown}");
    bundle[4] = 9;
    let path = folder.put("new.ccob", &bundle);
    let refused = windlass(["inspect", &path]);
    assert!(refused.stderr.contains("(CCOB v9)"), "{}", refused.stderr);
}
