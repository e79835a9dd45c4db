// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code that each target gets, and the reasons why it gets none.

use std::fs;

use serde_json::Value;

use super::made::{bundle_for, bundle_of};
use super::{Folder, VECTOR_ADD, audit, file, report, verdicts};
use crate::support::windlass;

#[test]
fn a_table_tells_what_each_target_gets() {
    let finished = audit(&[VECTOR_ADD], "gfx942,gfx1100,gfx1250");
    assert_eq!(finished.code, Some(1));
    let lines: Vec<Vec<&str>> =
        finished.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["file", "stored", "unpacked", "gfx942", "gfx1100", "gfx1250"]);
    assert_eq!(
        lines[1],
        [VECTOR_ADD, "4.7", "kB", "90.9", "kB", "exact", "4.9", "kB", "exact", "4.4", "kB", "none"]
    );
    assert!(
        finished.stdout.contains(
            "gfx1250: no code in bundle 0; it is for gfx10-1-generic, gfx10-3-generic, gfx1030, gfx11-generic, gfx1100, gfx12-generic, gfx1201, \
             gfx9-4-generic, gfx900, gfx906, gfx908, gfx90a, gfx942"
        )
    );
    assert!(finished.stderr.contains("no code for gfx1250 in 1 file"), "{}", finished.stderr);
    let (code, report) = report(&[VECTOR_ADD], "gfx942,gfx1100");
    assert_eq!(code, Some(0));
    let file = file(&report, "vector_add.ccob");
    assert_eq!(file["stored_size"], fs::metadata(VECTOR_ADD).unwrap().len());
    let has = [
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
        "gfx942",
    ];
    assert_eq!(file["has"], serde_json::json!(has));
    assert_eq!((&file["targets"][0]["size"], &file["targets"][1]["size"]), (&4928.into(), &4352.into()));
    assert_eq!((&file["targets"][0]["kernels"], &file["bundles"]), (&1.into(), &1.into()));
}

#[test]
fn generic_code_and_modes_of_features_are_told() {
    let (code, generic) = report(&["cts/kernels/bundles/vector_add.generic.ccob"], "gfx1100,gfx1101,gfx1031");
    assert_eq!(code, Some(0));
    assert_eq!(verdicts(file(&generic, ".ccob")), ["exact", "generic", "generic"]);
    let features = "cts/kernels/bundles/vector_add.features.ccob";
    let (code, modes) = report(&[features], "gfx90a,gfx942,gfx942:xnack-,gfx942:sramecc+:xnack-");
    assert_eq!(code, Some(0), "one mode of each is served: {modes:#}");
    let targets = &file(&modes, ".ccob")["targets"];
    assert_eq!(verdicts(file(&modes, ".ccob")), ["exact"; 4]);
    assert_eq!([0, 1, 2, 3].map(|index| &targets[index]["fit"]), ["exact"; 4]);
    for (index, only) in [(0, vec![]), (1, vec!["sramecc+:xnack-"]), (2, vec!["sramecc+"]), (3, vec![])] {
        assert_eq!(targets[index]["only"], serde_json::json!(only));
    }
    assert_eq!(targets[0]["size"], 2 * 4160, "both modes of gfx90a have code of their own");
    let part = audit(&[features], "gfx942");
    assert_eq!(part.code, Some(0));
    assert!(part.stdout.contains("exact for sramecc+:xnack- only"), "{}", part.stdout);
    assert!(part.stdout.contains("gfx942: no code for sramecc+:xnack+, sramecc-:xnack+"), "{}", part.stdout);
    let finished = audit(&[features], "gfx942:xnack+");
    assert_eq!(finished.code, Some(1));
    assert!(finished.stdout.contains("needs xnack-"), "{}", finished.stdout);
}

#[test]
fn compatible_families_count_where_they_are_asked_for() {
    let folder = Folder::new();
    let path = folder.extract(VECTOR_ADD, "gfx1100", "code");
    let mut bytes = fs::read(&path).unwrap();
    // The processor in the ELF's flags becomes gfx1030.
    assert_eq!(bytes[48], 0x41);
    bytes[48] = 0x36;
    folder.put("code", &bytes);
    let finished = audit(&[&path], "gfx1031");
    assert_eq!(finished.code, Some(1));
    assert!(finished.stdout.contains("--compat counts gfx1030"), "{}", finished.stdout);
    for arguments in [&["--targets", "gfx1031,compat"][..], &["--targets", "gfx1031", "--compat"]] {
        let finished = windlass([&["audit", "--json", &path][..], arguments].concat());
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        let report: Value = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!((verdicts(file(&report, "code")), &report["compat"]), (vec!["compatible"], &true.into()));
    }
}

#[test]
fn modes_of_compatible_code_are_asked_for_as_well() {
    let folder = Folder::new();
    let path = folder.extract(VECTOR_ADD, "gfx1100", "code");
    let mut bytes = fs::read(&path).unwrap();
    // The flags say gfx900:xnack-.
    bytes[48..50].copy_from_slice(&[0x2c, 0x02]);
    let bundle = bundle_of(&["hipv4-amdgcn-amd-amdhsa--gfx900:xnack-".to_owned()], &bytes);
    for path in [folder.put("code", &bytes), folder.put("code.hipfb", &bundle)] {
        let (code, compat) = report(&[&path], "gfx906,gfx906:xnack-,compat");
        let file = &compat["files"][0];
        assert_eq!((code, verdicts(file)), (Some(0), vec!["compatible"; 2]), "{compat:#}");
        assert_eq!(file["targets"][0]["only"], serde_json::json!(["xnack-"]));
        let strict = audit(&[&path], "gfx906");
        assert_eq!(strict.code, Some(1));
        assert!(strict.stdout.contains("--compat counts "), "{}", strict.stdout);
        assert_eq!(report(&[&path], "gfx906:xnack+,compat").0, Some(1));
        assert_eq!(report(&[&path], "gfx908,compat").0, Some(1));
    }
}

#[test]
fn what_cannot_be_loaded_serves_nobody() {
    let folder = Folder::new();
    let path = folder.extract(VECTOR_ADD, "gfx942", "code");
    let mut bytes = fs::read(&path).unwrap();
    // The section headers lie behind the end of the file.
    bytes[40..48].copy_from_slice(&0xffff_fff0_u64.to_le_bytes());
    folder.put("code", &bytes);
    let (code, damaged) = report(&[&path], "gfx942");
    assert_eq!((code, verdicts(file(&damaged, "code"))), (Some(1), vec!["none"]), "{damaged:#}");
    let problem = damaged["files"][0]["problems"][0].as_str().unwrap();
    assert!(problem.contains("cut short"), "{problem}");
}

#[test]
fn files_for_one_target_each_count_as_one() {
    let folder = Folder::new();
    for target in ["gfx942", "gfx90a"] {
        folder.extract(VECTOR_ADD, target, &format!("library/add_{target}.co"));
    }
    let features = "cts/kernels/bundles/vector_add.features.ccob";
    folder.extract(features, "gfx90a:xnack+", "library/tuned_gfx90a-xnack+.co");
    folder.extract(features, "gfx90a:xnack-", "library/tuned_gfx90a-xnack-.co");
    folder.extract(VECTOR_ADD, "gfx942", "library/tuned_gfx942.co");
    folder.extract(VECTOR_ADD, "gfx942", "library/nameless.co");
    let (code, report) = report(&[folder.path()], "gfx942,gfx90a");
    assert_eq!(code, Some(1));
    assert_eq!(report["files"].as_array().unwrap().len(), 3, "{report:#}");
    let add = file(&report, "library/add_*.co");
    assert_eq!((&add["files"], verdicts(add)), (&2.into(), vec!["exact", "exact"]));
    let tuned = file(&report, "library/tuned_*.co");
    assert_eq!((&tuned["files"], verdicts(tuned)), (&3.into(), vec!["exact", "exact"]));
    assert_eq!(tuned["targets"][1]["only"], serde_json::json!([]));
    assert_eq!(verdicts(file(&report, "library/nameless.co")), ["exact", "none"]);
}

#[test]
fn a_target_in_the_name_of_the_searched_folder_says_nothing_about_its_files() {
    let folder = Folder::new();
    let paths: Vec<_> = ["gfx942", "gfx90a"]
        .map(|target| folder.extract(VECTOR_ADD, target, &format!("for_gfx942/{target}/add_{target}.co")))
        .into();
    let searched = format!("{}/for_gfx942", folder.path());
    for named in [vec![&searched], paths.iter().collect()] {
        let named: Vec<_> = named.into_iter().map(String::as_str).collect();
        let (code, report) = report(&named, "gfx942,gfx90a");
        assert_eq!(code, Some(0), "{report:#}");
        let add = file(&report, "for_gfx942/*/add_*.co");
        assert_eq!((&add["files"], verdicts(add)), (&2.into(), vec!["exact", "exact"]));
    }
}

#[test]
fn kernels_that_only_some_targets_have_are_named() {
    let folder = Folder::new();
    let gfx90a = folder.extract(VECTOR_ADD, "gfx90a", "gfx90a.co");
    let bundle = folder.put("mixed.hipfb", b"");
    let saxpy = "cts/kernels/bundles/saxpy.gfx942.co";
    let finished = windlass(["bundle", saxpy, &gfx90a, "-o", &bundle]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let (code, report) = report(&[&bundle], "gfx942,gfx90a");
    assert_eq!(code, Some(0), "each target has code: {report:#}");
    let targets = &file(&report, "mixed.hipfb")["targets"];
    assert_eq!(targets[0]["missing_kernels"], serde_json::json!(["vector_add"]));
    assert!(targets[1]["missing_kernels"].as_array().unwrap().contains(&"saxpy".into()));
    let text = audit(&[&bundle], "gfx942,gfx90a").stdout;
    assert!(text.contains("gfx942 lacks 1 kernel of another target: `vector_add`"), "{text}");
}

#[test]
fn bundles_that_serve_fewer_targets_than_others_are_told() {
    let folder = Folder::new();
    let row =
        [fs::read(VECTOR_ADD).unwrap(), fs::read("cts/kernels/bundles/vector_add.generic.ccob").unwrap()];
    let path = folder.put("row.hip_fatbin", &row.concat());
    let (code, report) = report(&[&path], "gfx1100,gfx942");
    assert_eq!(code, Some(1));
    let file = file(&report, "row.hip_fatbin");
    assert_eq!((verdicts(file), &file["bundles"]), (vec!["exact", "none"], &2.into()));
    assert_eq!(file["targets"][1]["served"], 1);
    assert_eq!(file["targets"][1]["unserved"][0]["bundle"], "bundle 1");
    let text = audit(&[&path], "gfx1100,gfx942").stdout;
    assert!(text.contains("none in 1 of 2  4.9 kB"), "{text}");
}

#[test]
fn modes_are_those_of_ids_and_of_flags() {
    const ON: u8 = 3;
    const OFF: u8 = 2;
    let folder = Folder::new();
    for (id, flags, target, verdict, only, reason) in [
        ("gfx942", ON, "gfx942", "exact", "xnack+", "gfx942:xnack+ needs xnack+, the GPU runs gfx942:xnack-"),
        ("gfx942", ON, "gfx942:xnack+", "exact", "", ""),
        ("gfx942:xnack-", OFF, "gfx942", "exact", "xnack-", ""),
        ("gfx942:xnack-", OFF, "gfx942:xnack-", "exact", "", ""),
        (
            "gfx942:xnack-",
            ON,
            "gfx942",
            "none",
            "",
            "its id says gfx942:xnack-, but its ELF is for gfx942:xnack+",
        ),
    ] {
        let mut image = fs::read("cts/kernels/bundles/saxpy.gfx942.co").unwrap();
        image[49] = image[49] & !3 | flags;
        let path = folder.put("code.hipfb", &bundle_of(&[format!("hipv4-amdgcn-amd-amdhsa--{id}")], &image));
        let (code, report) = report(&[&path], target);
        let got = &file(&report, "code.hipfb")["targets"][0];
        assert_eq!((code, &got["verdict"]), (Some(i32::from(verdict == "none")), &verdict.into()), "{got:#}");
        let expected = if only.is_empty() { vec![] } else { vec![only] };
        assert_eq!(got["only"], serde_json::json!(expected), "{got:#}");
        let reasons = got["unserved"][0]["reasons"].as_array().map_or(&[][..], Vec::as_slice);
        let shown = reasons.first().and_then(Value::as_str).unwrap_or_default();
        assert!(shown.ends_with(reason) && shown.is_empty() == reason.is_empty(), "{got:#}");
    }
    // A mode counts only if every bundle serves it.
    let [plus, minus] = [("xnack+", ON), ("xnack-", OFF)].map(|(feature, flags)| {
        let mut image = fs::read("cts/kernels/bundles/saxpy.gfx942.co").unwrap();
        image[49] = image[49] & !3 | flags;
        bundle_of(&[format!("hipv4-amdgcn-amd-amdhsa--gfx942:{feature}")], &image)
    });
    let mut row = plus;
    row.resize(row.len().next_multiple_of(4096), 0);
    let row = folder.put("row.hip_fatbin", &[row, minus].concat());
    let finished = audit(&[&row], "gfx942");
    assert_eq!(finished.code, Some(1));
    assert!(finished.stdout.contains("none: no mode in all bundles"), "{}", finished.stdout);
}

#[test]
fn code_without_metadata_serves_nobody() {
    let folder = Folder::new();
    let mut image = fs::read("cts/kernels/bundles/saxpy.gfx942.co").unwrap();
    let note = image.windows(7).position(|window| window == b"AMDGPU\0").unwrap();
    image[note] = b'X';
    let path = folder.put("silent.co", &image);
    let (code, report) = report(&[&path], "gfx942");
    let file = file(&report, "silent.co");
    assert_eq!((code, verdicts(file)), (Some(1), vec!["none"]), "{file:#}");
    for shown in [&file["problems"][0], &file["targets"][0]["unserved"][0]["reasons"][0]] {
        assert!(shown.as_str().unwrap().contains("no kernel metadata"), "{file:#}");
    }
}

#[test]
fn code_that_is_none_for_a_gpu_yet_is_not_passed_over() {
    let folder = Folder::new();
    folder.put("a.ccob", &fs::read(VECTOR_ADD).unwrap());
    folder.put("cuda.hipfb", &bundle_for("hip-nvptx64-nvidia-cuda--sm_90"));
    let (code, report_of_others) = report(&[folder.path()], "gfx942");
    assert_eq!(code, Some(0), "code for others is no matter: {report_of_others:#}");
    folder.put("spirv.hipfb", &bundle_for("hip-spirv64-amd-amdhsa--amdgcnspirv"));
    folder.put("odd.hipfb", &bundle_for("hip-amdgcn-amd-amdhsa--gfx942:xnack"));
    let (code, whole) = report(&[folder.path()], "gfx942");
    assert_eq!(code, Some(1));
    let spirv = file(&whole, "spirv.hipfb");
    assert_eq!(verdicts(spirv), ["none"]);
    let reason = spirv["targets"][0]["unserved"][0]["reasons"][0].as_str().unwrap();
    assert!(reason.contains("must first be compiled"), "{reason}");
    let problem = file(&whole, "odd.hipfb")["problems"][0].as_str().unwrap();
    assert!(problem.contains("gfx942:xnack: its id is not understood"), "{problem}");
    let text = audit(&[folder.path()], "gfx942").stdout;
    assert!(text.contains("it is for no GPU as it is"), "{text}");
    let row = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().trim_end().to_owned();
    assert!(row("a.ccob ").ends_with("4.9 kB") && row("odd.hipfb ").ends_with(" ?"), "{text}");
}

#[test]
fn targets_may_be_ids_of_entries_and_slips_are_warned_of() {
    for id in
        ["hipv4-amdgcn-amd-amdhsa--gfx942", "hip-amdgcn-amd-amdhsa--gfx942", "amdgcn-amd-amdhsa--gfx942"]
    {
        let finished = audit(&[VECTOR_ADD], id);
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{id}");
        let shown = windlass(["inspect", VECTOR_ADD, "--target", id]).stdout;
        assert!(shown.contains("target gfx942\n"), "{shown}");
    }
    for arguments in
        [["audit", VECTOR_ADD, "--targets", "gfx9O2"], ["inspect", VECTOR_ADD, "--target", "gfx9O2"]]
    {
        let finished = windlass(arguments);
        assert!(finished.stderr.starts_with("warning: --target"), "{}", finished.stderr);
        assert!(finished.stderr.contains("gfx9O2 is an unknown processor"), "{}", finished.stderr);
        assert!(finished.stdout.contains("gfx9O2"), "{}", finished.stdout);
    }
    assert_eq!(audit(&[VECTOR_ADD], "hip-spirv64-amd-amdhsa--amdgcnspirv").code, Some(2));
}

#[test]
fn what_is_wrong_on_the_command_line() {
    let folder = Folder::new();
    let text = folder.put("text", b"no code");
    for (paths, targets, words) in [
        (&["no/such/path"][..], "gfx942", "no/such/path"),
        (&[VECTOR_ADD], "mi300", "gfx942:sramecc+:xnack-"),
        (&[VECTOR_ADD], "gfx942:xnack", "xnack"),
        (&[VECTOR_ADD], "compat", "at least one GPU"),
        (&[VECTOR_ADD], "gfx942,", "--targets"),
        (&[&text], "gfx942", "there is no AMD GPU code in the file"),
        (&[], "gfx942", "PATH"),
    ] {
        let finished = audit(paths, targets);
        assert_eq!(finished.code, Some(2), "{paths:?} {targets}: {}", finished.stderr);
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    assert_eq!(windlass(["audit", VECTOR_ADD]).code, Some(2));
}

#[test]
fn generic_code_beside_exact_code_is_not_counted() {
    let folder = Folder::new();
    let generic = "cts/kernels/bundles/vector_add.generic.ccob";
    for target in ["gfx1100", "gfx11-generic"] {
        folder.extract(generic, target, &format!("k.{target}.co"));
    }
    let (code, report) = report(&[folder.path()], "gfx1100,gfx1101");
    let file = file(&report, "k.*.co");
    assert_eq!((code, verdicts(file)), (Some(0), vec!["exact", "generic"]), "{report:#}");
    let each = fs::metadata(folder.0.join("k.gfx1100.co")).unwrap().len();
    for target in [0, 1] {
        assert_eq!(file["targets"][target]["size"], each, "{report:#}");
    }
}
