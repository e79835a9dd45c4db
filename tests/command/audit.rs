// SPDX-License-Identifier: MIT OR Apache-2.0
//! `audit`: what files, folders and wheels have for each target.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::support::{Finished, fixture, scratch, windlass};

const BUNDLES: &str = "cts/kernels/bundles";
const VECTOR_ADD: &str = "cts/kernels/bundles/vector_add.ccob";

/// A folder of one test alone, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = scratch("audit");
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    /// The code object for a target out of a file, as a file.
    fn extract(&self, from: &str, target: &str, name: &str) -> String {
        let path = self.put(name, b"");
        let finished = windlass(["extract", from, "--target", target, "-o", &path]);
        assert_eq!(finished.code, Some(0), "{}", finished.stderr);
        path
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn audit(paths: &[&str], targets: &str) -> Finished {
    windlass([&["audit", "--targets", targets][..], paths].concat())
}

fn report(paths: &[&str], targets: &str) -> (Option<i32>, Value) {
    let finished = windlass([&["audit", "--json", "--targets", targets][..], paths].concat());
    let report = serde_json::from_str(&finished.stdout);
    (finished.code, report.unwrap_or_else(|error| panic!("{error}: {}", finished.stderr)))
}

/// The report on the file whose path ends so.
fn file<'r>(report: &'r Value, ending: &str) -> &'r Value {
    let files = report["files"].as_array().unwrap();
    let found = files.iter().find(|file| file["path"].as_str().unwrap().ends_with(ending));
    found.unwrap_or_else(|| panic!("{ending} in {report:#}"))
}

fn verdicts(file: &Value) -> Vec<&str> {
    file["targets"].as_array().unwrap().iter().map(|target| target["verdict"].as_str().unwrap()).collect()
}

#[test]
fn a_table_tells_what_each_target_gets() {
    let finished = audit(&[VECTOR_ADD], "gfx942,gfx1100,gfx1031");
    assert_eq!(finished.code, Some(1));
    let lines: Vec<Vec<&str>> =
        finished.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["file", "stored", "unpacked", "gfx942", "gfx1100", "gfx1031"]);
    assert_eq!(
        lines[1],
        [VECTOR_ADD, "1.9", "kB", "25.4", "kB", "exact", "4.9", "kB", "exact", "4.4", "kB", "none"]
    );
    assert!(finished.stdout.contains("gfx1031: no code in bundle 0; it is for gfx1100, gfx90a, gfx942"));
    assert!(finished.stderr.contains("no code for gfx1031 in 1 file"), "{}", finished.stderr);
    let (code, report) = report(&[VECTOR_ADD], "gfx942,gfx1100");
    assert_eq!(code, Some(0));
    let file = file(&report, "vector_add.ccob");
    assert_eq!(file["stored_size"], fs::metadata(VECTOR_ADD).unwrap().len());
    assert_eq!(file["has"], serde_json::json!(["gfx1100", "gfx90a", "gfx942"]));
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
    assert_eq!(targets[0]["size"], 2 * 4928, "both modes of gfx90a have code of their own");
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

/// A zip file with its members deflated.
fn wheel(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut out);
    for (name, bytes) in files {
        let method = rawzip::CompressionMethod::DEFLATE;
        let (mut entry, config) = archive.new_file(name).compression_method(method).start().unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast());
        let mut writer = config.wrap(encoder);
        writer.write_all(bytes).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    out
}

#[test]
fn wheels_are_looked_into() {
    let folder = Folder::new();
    let library = fs::read("cts/kernels/bundles/libkernels.so").unwrap();
    let [gfx942, gfx90a] =
        ["gfx942", "gfx90a"].map(|target| fs::read(folder.extract(VECTOR_ADD, target, "code")).unwrap());
    fs::remove_file(folder.0.join("code")).unwrap();
    let members: [(&str, &[u8]); 4] = [
        ("pkg/__init__.py", b"import os\n"),
        ("pkg/lib/libkernels.so", &library),
        ("pkg/kernels/add_gfx942.hsaco", &gfx942),
        ("pkg/kernels/add_gfx90a.hsaco", &gfx90a),
    ];
    let mut bytes = wheel(&members);
    folder.put("pkg-1.0-py3-none-linux_x86_64.whl", &bytes);
    let (code, whole) = report(&[folder.path()], "gfx942,gfx90a");
    assert_eq!(code, Some(1), "one bundle of the library has no code for gfx90a");
    assert_eq!(whole["files"].as_array().unwrap().len(), 2);
    let library = file(&whole, ".whl(pkg/lib/libkernels.so)");
    assert_eq!((&library["bundles"], verdicts(library)), (&2.into(), vec!["exact", "none"]));
    let add = file(&whole, ".whl(pkg/kernels/add_*.hsaco)");
    assert_eq!((&add["files"], verdicts(add)), (&2.into(), vec!["exact", "exact"]));
    // The other commands unpack it as well.
    let path = folder.0.join("pkg-1.0-py3-none-linux_x86_64.whl").display().to_string();
    let shown = windlass(["inspect", &path, "--target", "gfx942"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(
        shown.stdout.contains("pkg/lib/libkernels.so") && shown.stdout.contains("saxpy"),
        "{}",
        shown.stdout
    );
    let out = scratch("hsaco").display().to_string();
    let taken = windlass(["extract", &path, "--target", "gfx90a", "--bundle", "3", "-o", &out]);
    assert_eq!(taken.code, Some(0), "{}", taken.stderr);
    assert_eq!(fs::read(&out).unwrap(), gfx90a);
    let _ = fs::remove_file(out);
    // A damaged member is no member that passes.
    let at = bytes.windows(9).position(|window| window == b"add_gfx94").unwrap() + 60;
    bytes[at..at + 200].fill(0xff);
    folder.put("pkg-1.0-py3-none-linux_x86_64.whl", &bytes);
    let (code, damaged) = report(&[folder.path()], "gfx942,gfx90a");
    assert_eq!(code, Some(1));
    assert!(damaged["problems"][0]["path"].as_str().unwrap().contains("add_gfx942.hsaco"), "{damaged:#}");
}

#[test]
fn applications_of_python_are_looked_into_whatever_their_names() {
    let folder = Folder::new();
    let code = fs::read("cts/kernels/bundles/saxpy.gfx942.co").unwrap();
    let script = b"#!/usr/bin/env python3\n";
    folder.put("tool", &[&script[..], &wheel(&[("kernels/saxpy.co", &code)])].concat());
    folder.put("plain", script);
    let (exit, whole) = report(&[folder.path()], "gfx90a");
    assert_eq!((exit, whole["problems"].as_array().map(Vec::len)), (Some(1), Some(0)), "{whole:#}");
    assert_eq!(verdicts(file(&whole, "tool(kernels/saxpy.co)")), ["none"]);
}

/// A kpack archive with one code object for gfx942.
fn kpack(binary: &str, image: &[u8]) -> Vec<u8> {
    let mut bytes = b"KPAK\x01\0\0\0".to_vec();
    bytes.resize(64, 0);
    bytes.extend(image);
    let toc = bytes.len() as u64;
    bytes[8..16].copy_from_slice(&toc.to_le_bytes());
    let string = |text: &str| [&[0xa0 | text.len() as u8], text.as_bytes()].concat();
    bytes.push(0x82);
    for part in ["toc", binary, "gfx942", "ordinal"] {
        bytes.extend(string(part));
        bytes.push(if part == "ordinal" { 0 } else { 0x81 });
    }
    bytes.extend([string("blobs"), vec![0x91, 0x82], string("offset"), vec![64], string("size")].concat());
    bytes.push(0xce);
    bytes.extend((image.len() as u32).to_be_bytes());
    bytes
}

/// A host ELF that says that its code is in a kpack archive.
fn split_library(name: &str, search: &str) -> Vec<u8> {
    let string = |text: &str| [&[0xa0 | text.len() as u8], text.as_bytes()].concat();
    let paths = [string("kpack_search_paths"), vec![0x91], string(search)].concat();
    let marker = [vec![0x82], string("kernel_name"), string(name), paths].concat();
    let names = b"\0.shstrtab\0.rocm_kpack_ref\0";
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(64, 0);
    let table = (64 + marker.len() + names.len()) as u64;
    for (at, half) in [(16, 3), (18, 62), (52, 64), (58, 64), (60, 3), (62, 1)] {
        bytes[at..at + 2].copy_from_slice(&u16::to_le_bytes(half));
    }
    bytes[40..48].copy_from_slice(&table.to_le_bytes());
    bytes.extend([&marker[..], names].concat());
    let sections = [(0, 0, 0, 0), (1, 3, 64 + marker.len(), names.len()), (11, 1, 64, marker.len())];
    for (name, kind, offset, size) in sections {
        bytes.extend([name, kind].map(u32::to_le_bytes).concat());
        bytes.extend([0, 0, offset as u64, size as u64, 0, 1, 0].map(u64::to_le_bytes).concat());
    }
    bytes
}

#[test]
fn libraries_and_their_kpack_archives_may_come_in_two_wheels() {
    let folder = Folder::new();
    let image = fs::read(folder.extract(VECTOR_ADD, "gfx942", "code")).unwrap();
    fs::remove_file(folder.0.join("code")).unwrap();
    let library = split_library("lib/liba.so", "../.kpack/a_@GFXARCH@.kpack");
    let archive = kpack("lib/liba.so#0", &image);
    // As it is installed, and as a wheel alone.
    folder.put("installed/lib/liba.so.1", &library);
    folder.put("installed/.kpack/a_gfx942.kpack", &archive);
    let (code, installed) = report(&[folder.path()], "gfx942");
    assert_eq!((code, installed["problems"].as_array().unwrap().len()), (Some(0), 0), "{installed:#}");
    assert_eq!(verdicts(file(&installed, "liba.so.1")), ["exact"]);
    assert_eq!(verdicts(file(&installed, "a_gfx942.kpack")), ["exact"]);
    fs::remove_dir_all(folder.0.join("installed")).unwrap();
    folder.put("host.whl", &wheel(&[("sdk/lib/liba.so.1", &library)]));
    let (code, alone) = report(&[folder.path()], "gfx942");
    assert_eq!(code, Some(1));
    assert!(alone["problems"][0]["problem"].as_str().unwrap().contains("a_@GFXARCH@.kpack"), "{alone:#}");
    folder.put("device-gfx942.whl", &wheel(&[("sdk/.kpack/a_gfx942.kpack", &archive)]));
    let (code, both) = report(&[folder.path()], "gfx942");
    assert_eq!(code, Some(0), "{both:#}");
    assert_eq!(verdicts(file(&both, "(sdk/.kpack/a_gfx942.kpack)")), ["exact"]);
}

/// An LLVM offload binary of version 1 for one image.
fn offload_binary(arch: &str, image: &[u8]) -> Vec<u8> {
    let strings = ["triple", "amdgcn-amd-amdhsa", "arch", arch].map(|text| format!("{text}\0"));
    let mut places = strings.iter().scan(104_u64, |next, text| {
        let place = *next;
        *next += text.len() as u64;
        Some(place)
    });
    let [triple, triple_value, arch, arch_value] = [(); 4].map(|()| places.next().unwrap());
    let image_at = 104 + strings.concat().len().next_multiple_of(8) as u64;
    let size = image_at + image.len().next_multiple_of(8) as u64;
    let mut bytes = b"\x10\xff\x10\xad\x01\0\0\0".to_vec();
    bytes.extend([size, 32, 40].map(u64::to_le_bytes).concat());
    // An object for HIP.
    bytes.extend([1, 0, 4, 0, 0, 0, 0, 0]);
    let entry = [72, 2, image_at, image.len() as u64, triple, triple_value, arch, arch_value];
    bytes.extend(entry.map(u64::to_le_bytes).concat());
    bytes.extend(strings.concat().into_bytes());
    bytes.resize(image_at as usize, 0);
    bytes.extend(image);
    bytes.resize(size as usize, 0);
    bytes
}

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let member = |(name, content): &(&str, &[u8])| {
        let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, content.len());
        [header.as_bytes(), content, &b"\n"[..content.len() % 2]].concat()
    };
    [b"!<arch>\n".to_vec(), members.iter().flat_map(member).collect()].concat()
}

/// Code of `vector_add` for gfx942 and gfx1100, and of other kernels for gfx942.
fn images(folder: &Folder) -> [Vec<u8>; 3] {
    let [gfx942, gfx1100] =
        ["gfx942", "gfx1100"].map(|target| fs::read(folder.extract(VECTOR_ADD, target, "code")).unwrap());
    fs::remove_file(folder.0.join("code")).unwrap();
    [gfx942, gfx1100, fs::read("cts/kernels/bundles/saxpy.gfx942.co").unwrap()]
}

#[test]
fn offload_binaries_in_a_row_are_told_apart_by_their_sources() {
    let folder = Folder::new();
    let [gfx942, gfx1100, other] = images(&folder);
    let [gfx942, gfx1100, other] = [("gfx942", &gfx942), ("gfx1100", &gfx1100), ("gfx942", &other)]
        .map(|(target, image)| offload_binary(target, image));
    let row = folder.put("row.bin", &[&gfx942[..], &gfx1100].concat());
    let (code, one) = report(&[&row], "gfx942,gfx1100");
    assert_eq!((code, &one["files"][0]["bundles"]), (Some(0), &1.into()), "{one:#}");
    // The second source is for gfx942 alone, wherever it lies, and whether the first is for it or not.
    for (parts, targets) in [
        (&[&gfx942, &gfx1100, &other][..], "gfx942,gfx1100"),
        (&[&other, &gfx942, &gfx1100], "gfx1100"),
        (&[&gfx1100, &other], "gfx1100"),
        (&[&gfx942, &gfx1100, &gfx942], "gfx1100"),
    ] {
        let parts: Vec<&[u8]> = parts.iter().map(|part| &part[..]).collect();
        let row = folder.put("row.bin", &parts.concat());
        let (code, two) = report(&[&row], targets);
        assert_eq!((code, &two["files"][0]["bundles"]), (Some(1), &2.into()), "{two:#}");
        let targets = two["files"][0]["targets"].as_array().unwrap();
        let gfx1100 = targets.iter().find(|target| target["target"] == "gfx1100").unwrap();
        assert_eq!((&gfx1100["verdict"], &gfx1100["served"]), (&"none".into(), &1.into()), "{two:#}");
    }
    let text = audit(&[&row], "gfx942,gfx1100").stdout;
    assert!(
        text.contains("gfx1100: no code in bundle 2; it is for") && text.contains("none in 1 of 2"),
        "{text}"
    );
}

#[test]
fn members_of_one_name_are_members_of_their_own() {
    let folder = Folder::new();
    let [_, gfx1100, other] = images(&folder);
    let binaries = [offload_binary("gfx1100", &gfx1100), offload_binary("gfx942", &other)];
    for [first, second] in [&[gfx1100, other], &binaries] {
        let path = folder.put("n.a", &archive(&[("k.bin/", first), ("k.bin/", second)]));
        let (code, report) = report(&[&path], "gfx942,gfx1100");
        assert_eq!((code, &report["files"][0]["bundles"]), (Some(1), &2.into()), "{report:#}");
        assert_eq!(verdicts(file(&report, "n.a")), ["none", "none"]);
        assert_eq!(report["files"][0]["targets"][1]["unserved"][0]["bundle"], "k.bin, bundle 1");
    }
}

/// An offload bundle with an entry of no bytes under an id.
fn bundle_for(id: &str) -> Vec<u8> {
    let numbers = [1, 0, 0, id.len() as u64].map(u64::to_le_bytes).concat();
    [b"__CLANG_OFFLOAD_BUNDLE__", &numbers[..], id.as_bytes()].concat()
}

/// An offload bundle with an image under each of the ids, the same bytes for all.
pub(crate) fn bundle_of(ids: &[String], image: &[u8]) -> Vec<u8> {
    let table: usize = ids.iter().map(|id| 24 + id.len()).sum();
    let start = (32 + table).next_multiple_of(4096);
    let mut bytes = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bytes.extend((ids.len() as u64).to_le_bytes());
    for id in ids {
        bytes.extend([start, image.len(), id.len()].map(|number| (number as u64).to_le_bytes()).concat());
        bytes.extend(id.as_bytes());
    }
    bytes.resize(start, 0);
    bytes.extend(image);
    bytes
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
    // A mode that one bundle serves and another does not is not served.
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
fn packages_are_named() {
    let folder = Folder::new();
    folder.put("a.ccob", &fs::read(VECTOR_ADD).unwrap());
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    folder.put("without a name", &tar);
    folder.put("b.tar.gz", b"\x1f\x8b\x08");
    folder.put("c.TGZ", b"\x1f\x8b\x08");
    folder.put("notes.gz", b"\x1f\x8b\x08");
    let inner: [(&str, &[u8]); 2] = [("metadata.json", b"{}"), ("pkg-d.tar.zst", b"(\xb5/\xfd")];
    folder.put("d.conda", &wheel(&inner));
    folder.put("e.zip", &wheel(&inner));
    let (code, report) = report(&[folder.path()], "gfx942");
    assert_eq!(code, Some(0), "{report:#}");
    let notes = report["notes"].as_array().unwrap().iter();
    let notes: Vec<(&str, &str)> =
        notes.map(|note| (note["path"].as_str().unwrap(), note["problem"].as_str().unwrap())).collect();
    let expected = [
        ("b.tar.gz", "tar -xf"),
        ("c.TGZ", "tar -xf"),
        ("d.conda", "cph extract"),
        ("e.zip(pkg-d.tar.zst)", "tar -xf"),
        ("without a name", "tar -xf"),
    ];
    assert_eq!(notes.len(), expected.len(), "{notes:?}");
    for ((path, note), (name, tool)) in notes.iter().zip(expected) {
        assert!(path.ends_with(name) && note.contains(tool), "{path}: {note}");
    }
}

#[test]
fn long_rows_of_offload_binaries_are_matched() {
    let folder = Folder::new();
    let [gfx942, gfx1100, other] = images(&folder);
    let [gfx942, gfx1100, other] = [("gfx942", &gfx942), ("gfx1100", &gfx1100), ("gfx942", &other)]
        .map(|(target, image)| offload_binary(target, image));
    // A hundred sources with one kernel for two GPUs, and one with another kernel for one.
    let row = [gfx942.repeat(100), gfx1100.repeat(100), other].concat();
    let (code, report) = report(&[&folder.put("row.bin", &row)], "gfx942,gfx1100");
    let file = file(&report, "row.bin");
    assert_eq!((code, &file["bundles"]), (Some(1), &101.into()));
    assert_eq!((&file["targets"][0]["served"], &file["targets"][1]["served"]), (&101.into(), &100.into()));
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
fn files_in_files_are_looked_into_or_said() {
    let folder = Folder::new();
    let library = fs::read("cts/kernels/bundles/libkernels.so").unwrap();
    let inner = wheel(&[("pkg/libkernels.so", &library)]);
    folder.put("outer.whl", &wheel(&[("inner.whl", &inner), ("data.npz", &wheel(&[("a.npy", b"numbers")]))]));
    folder.put("front.whl", &[b"#!/bin/sh\n".to_vec(), inner].concat());
    let (code, nested) = report(&[folder.path()], "gfx942");
    assert_eq!(
        (code, &nested["looked_at"], &nested["members"]),
        (Some(0), &5.into(), &3.into()),
        "{nested:#}"
    );
    assert_eq!(verdicts(file(&nested, "outer.whl(inner.whl)")), ["exact"]);
    assert_eq!(verdicts(file(&nested, "front.whl(pkg/libkernels.so)")), ["exact"]);
    let text = audit(&[folder.path()], "gfx942").stdout;
    assert!(text.ends_with("2 files with GPU code; 5 looked at, 3 members of wheels among them\n"), "{text}");
    folder.put("x.deb", &archive(&[("debian-binary/", b"2.0\n")]));
    let (code, noted) = report(&[folder.path()], "gfx942");
    assert_eq!(code, Some(0));
    assert!(noted["notes"][0]["problem"].as_str().unwrap().contains("dpkg-deb"), "{noted:#}");
    folder.put("thin.a", b"!<thin>\n");
    let (code, thin) = report(&[folder.path()], "gfx942");
    assert_eq!(code, Some(1));
    assert!(thin["problems"][0]["problem"].as_str().unwrap().contains("a thin archive"), "{thin:#}");
    fs::remove_file(folder.0.join("thin.a")).unwrap();
    folder.put("no.whl", b"this is no wheel");
    assert_eq!(audit(&[folder.path()], "gfx942").code, Some(1));
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
        assert!(
            finished.stderr.contains("gfx9O2 is no processor that this program knows"),
            "{}",
            finished.stderr
        );
        assert!(finished.stdout.contains("gfx9O2"), "{}", finished.stdout);
    }
    assert_eq!(audit(&[VECTOR_ADD], "hip-spirv64-amd-amdhsa--amdgcnspirv").code, Some(2));
}

#[test]
fn folders_are_walked_and_odd_files_do_no_harm() {
    let folder = Folder::new();
    fs::copy(VECTOR_ADD, folder.0.join("a.ccob")).unwrap();
    let whole = fs::read(VECTOR_ADD).unwrap();
    folder.put("deep/er/cut.ccob", &whole[..whole.len() - 100]);
    folder.put("deep/text.so", b"this is no library");
    folder.put("deep/empty.so", b"");
    folder.put("deep/elf32", b"\x7fELF\x01\x01\x01\0");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".", folder.0.join("deep/loop")).unwrap();
        std::os::unix::fs::symlink("nowhere", folder.0.join("deep/dangling")).unwrap();
        std::os::unix::fs::symlink("a.ccob", folder.0.join("again.ccob")).unwrap();
        // Who opened it would wait for a writer that never comes.
        let pipe = folder.0.join("deep/pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()));
    }
    let (code, report) = report(&[folder.path()], "gfx942");
    assert_eq!(code, Some(1), "the damaged file counts");
    assert_eq!(report["files"].as_array().unwrap().len(), 1, "{report:#}");
    assert_eq!(verdicts(file(&report, "a.ccob")), ["exact"]);
    let [problem] = &report["problems"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert!(problem["path"].as_str().unwrap().ends_with("deep/er/cut.ccob"));
    assert!(problem["problem"].as_str().unwrap().contains("cut short"));
    let text = audit(&[folder.path()], "gfx942").stdout;
    assert!(text.contains("cut.ccob\n  cannot be judged: "), "{text}");
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
fn the_committed_kernels_are_all_judged() {
    let (code, report) = report(&[BUNDLES], "gfx942");
    assert_eq!(code, Some(1), "two of them have no code for gfx942");
    let files = report["files"].as_array().unwrap();
    let judged: u64 = files.iter().map(|file| file["files"].as_u64().unwrap()).sum();
    assert_eq!(judged as usize, fs::read_dir(BUNDLES).unwrap().count());
    assert_eq!(report["problems"], serde_json::json!([]));
}

#[test]
fn real_libraries_are_judged() {
    let Some(path) = fixture("fatbin/libbitsandbytes_rocm64.hip_fatbin") else { return };
    let path = path.to_str().unwrap();
    let (code, strict) = report(&[path], "gfx1031,gfx1100,gfx942");
    assert_eq!(code, Some(1));
    assert_eq!(verdicts(file(&strict, "hip_fatbin")), ["none", "exact", "exact"]);
    let (code, compat) = report(&[path], "gfx1031,gfx1100,gfx942,compat");
    assert_eq!(code, Some(0));
    assert_eq!(verdicts(file(&compat, "hip_fatbin")), ["compatible", "exact", "exact"]);
    assert_eq!(compat["files"][0]["targets"][0]["kernels"], 175);
    let fixtures = Path::new(path).ancestors().nth(2).unwrap();
    let (code, hostile) = report(&[fixtures.join("hostile").to_str().unwrap()], "gfx942");
    assert_eq!(code, Some(1));
    assert!(hostile["problems"].as_array().unwrap().len() > 20);
    let (_, kpack) = report(&[fixtures.join("kpack").to_str().unwrap()], "gfx1100");
    let zstd = file(&kpack, "test_zstd.kpack");
    assert_eq!((&zstd["bundles"], verdicts(zstd)), (&2.into(), vec!["none"]));
    assert!(zstd["targets"][0]["unserved"][0]["reasons"][0].as_str().unwrap().contains("no 64-bit"));
}
