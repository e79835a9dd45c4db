// SPDX-License-Identifier: MIT OR Apache-2.0
//! Carriers of code: wheels, archives, rows of offload binaries, folders.

use std::{fs, io::Write, path::Path, process::Stdio};

use super::made::{
    archive, hip1, images, kpack, kpack_for, offload_binary, offload_binary_for, split_library, stored, wheel,
};
use super::{BUNDLES, Folder, VECTOR_ADD, audit, file, report, verdicts};
use crate::support::{command, fixture, scratch, windlass};

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
    // A damaged member must not pass.
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

#[test]
fn libraries_and_their_kpack_archives_may_come_in_two_wheels() {
    let folder = Folder::new();
    let image = fs::read(folder.extract(VECTOR_ADD, "gfx942", "code")).unwrap();
    fs::remove_file(folder.0.join("code")).unwrap();
    let library = split_library("lib/liba.so", "../.kpack/a_@GFXARCH@.kpack");
    let archive = kpack("lib/liba.so#0", &image);
    // First as it is installed, then in a wheel of its own.
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

#[test]
fn no_name_of_a_bundle_stands_for_the_code_of_a_split_library() {
    let folder = Folder::new();
    folder.put("a.ccob", &fs::read(VECTOR_ADD).unwrap());
    folder.put("lib/liba.so", &split_library("bundle 0", "../.kpack/a_@GFXARCH@.kpack"));
    let (code, alone) = report(&[folder.path()], "gfx942");
    assert_eq!(code, Some(1), "{alone:#}");
    assert!(alone["problems"][0]["path"].as_str().unwrap().ends_with("liba.so"), "{alone:#}");
}

#[test]
fn a_zip_file_with_an_executable_of_iree_is_no_module_unless_all_its_code_is() {
    let folder = Folder::new();
    let [gfx942, gfx1100, _] = images(&folder);
    let [first, second] = [&gfx942, &gfx1100].map(|image| hip1(image));
    let module = [("module.fb", &b"vm"[..]), ("a.fb", &first), ("b.fb", &second)];
    let path = folder.put("both.vmfb", &stored(&module));
    let (code, both) = report(&[&path], "gfx942,gfx1100");
    assert_eq!((code, verdicts(file(&both, "both.vmfb"))), (Some(0), vec!["exact", "exact"]), "{both:#}");
    let mixed: [(&str, &[u8]); 3] = [("a.fb", &first), ("a.co", &gfx942), ("b.co", &gfx1100)];
    let mixed = stored(&mixed);
    let paths = [folder.put("mixed.zip", &mixed), folder.put("mixed.whl", &wheel(&[("mixed.zip", &mixed)]))];
    for path in paths {
        let (code, mixed) = report(&[&path], "gfx942,gfx1100");
        assert_eq!(code, Some(1), "{mixed:#}");
        for file in mixed["files"].as_array().unwrap() {
            assert!(verdicts(file).contains(&"none"), "{mixed:#}");
        }
    }
}

#[test]
fn offload_binaries_in_a_row_are_judged_by_source() {
    let folder = Folder::new();
    let [gfx942, gfx1100, other] = images(&folder);
    let [gfx942, gfx1100, other] = [("gfx942", &gfx942), ("gfx1100", &gfx1100), ("gfx942", &other)]
        .map(|(target, image)| offload_binary(target, image));
    let row = folder.put("row.bin", &[&gfx942[..], &gfx1100].concat());
    let (code, one) = report(&[&row], "gfx942,gfx1100");
    assert_eq!((code, &one["files"][0]["bundles"]), (Some(0), &1.into()), "{one:#}");
    let text = audit(&[&row], "gfx942,gfx90a").stdout;
    assert!(text.contains("gfx90a: no code in bundle 0; it is for gfx1100, gfx942"), "{text}");

    let cuda = offload_binary_for("nvptx64-nvidia-cuda", "sm_70", b"PTX");
    let row = folder.put("row.bin", &[&gfx942[..], &cuda, &gfx1100].concat());
    let (code, one) = report(&[&row], "gfx942,gfx1100");
    assert_eq!((code, &one["files"][0]["bundles"]), (Some(0), &1.into()), "{one:#}");

    // The second source is for gfx942 alone.
    for parts in [[&gfx942, &gfx1100, &other], [&gfx1100, &gfx942, &other], [&other, &gfx942, &gfx1100]] {
        let parts = parts.map(|part| &part[..]);
        let (code, two) = report(&[&folder.put("row.bin", &parts.concat())], "gfx942,gfx1100");
        assert_eq!((code, &two["files"][0]["bundles"]), (Some(1), &2.into()), "{two:#}");
        assert_eq!(verdicts(file(&two, "row.bin")), ["exact", "none"], "{two:#}");
    }
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

#[test]
fn packages_are_named() {
    let folder = Folder::new();
    folder.put("a.ccob", &fs::read(VECTOR_ADD).unwrap());
    let mut tar = vec![0; 512];
    tar[257..262].copy_from_slice(b"ustar");
    folder.put("without a name", &tar);
    folder.put("b.tar.gz", b"\x1f\x8b\x08");
    folder.put("c.TGZ", b"\x1f\x8b\x08");
    let inner: [(&str, &[u8]); 2] = [("metadata.json", b"{}"), ("pkg-d.tar.zst", b"(\xb5/\xfd")];
    folder.put("d.conda", &wheel(&inner));
    folder.put("e.zip", &wheel(&inner));
    let (code, report) = report(&[folder.path()], "gfx942");
    assert_eq!(code, Some(1), "files that are not examined may hold code: {report:#}");
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
fn files_in_files_are_looked_into_or_said() {
    let folder = Folder::new();
    let library = fs::read("cts/kernels/bundles/libkernels.so").unwrap();
    let inner = wheel(&[("pkg/libkernels.so", &library)]);
    folder.put("outer.whl", &wheel(&[("inner.whl", &inner), ("data.npz", &wheel(&[("a.npy", b"numbers")]))]));
    folder.put("front.whl", &[b"#!/bin/sh\n".to_vec(), inner].concat());
    let (code, nested) = report(&[folder.path()], "gfx942");
    assert_eq!(
        (code, &nested["looked_at"], &nested["members"]),
        (Some(0), &7.into(), &5.into()),
        "{nested:#}"
    );
    assert_eq!(verdicts(file(&nested, "outer.whl(inner.whl(pkg/libkernels.so))")), ["exact"]);
    assert_eq!(verdicts(file(&nested, "front.whl(pkg/libkernels.so)")), ["exact"]);
    let text = audit(&[folder.path()], "gfx942").stdout;
    assert!(text.ends_with("2 files with GPU code; 7 looked at, 5 members of wheels among them\n"), "{text}");
    folder.put("x.deb", &archive(&[("debian-binary/", b"2.0\n")]));
    let (code, noted) = report(&[folder.path()], "gfx942");
    assert_eq!(code, Some(1));
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
fn a_zip_file_is_judged_by_its_members_wherever_it_lies() {
    let folder = Folder::new();
    let [gfx942, gfx1100, _] = images(&folder);
    let [first, second] = [("gfx942", &gfx942), ("gfx1100", &gfx1100)]
        .map(|(arch, image)| kpack_for(arch, "lib/liba.so#0", image));
    let members: [(&str, &[u8]); 3] = [
        (".kpack/a_gfx942.kpack", &first),
        (".kpack/a_gfx1100.kpack", &second),
        ("lib/liba.so", &split_library("lib/liba.so", "../.kpack/a_@GFXARCH@.kpack")),
    ];
    let script = b"#!/usr/bin/env python3\n";
    for zip in [wheel(&members), stored(&members)] {
        let application = [&script[..], &zip].concat();
        for (name, bytes) in [
            ("a.whl", zip.clone()),
            ("b.whl", wheel(&[("a.whl", &zip)])),
            ("c.whl", stored(&[("d.whl", &wheel(&[("a.whl", &zip)]))])),
            ("application", application.clone()),
            ("e.whl", wheel(&[("application", &application)])),
            ("other", [&[0x55; 100_000][..], &zip].concat()),
        ] {
            let path = folder.put("one/x", &bytes);
            let named = folder.0.join("one").join(name);
            fs::rename(path, &named).unwrap();
            let (code, report) = report(&[named.to_str().unwrap()], "gfx942,gfx1100");
            assert_eq!((code, report["files"].as_array().unwrap().len()), (Some(0), 2), "{name}: {report:#}");
            for file in report["files"].as_array().unwrap() {
                assert_eq!(verdicts(file), ["exact"; 2], "{name}: {report:#}");
            }
            let shown = windlass(["inspect", named.to_str().unwrap()]);
            assert_eq!(shown.code, Some(0), "{name}: {}", shown.stderr);
            fs::remove_file(named).unwrap();
        }
    }
}

#[test]
fn zip_files_that_cannot_be_judged_are_named() {
    let folder = Folder::new();
    let code = fs::read(VECTOR_ADD).unwrap();
    let good = folder.put("a.ccob", &code);
    let zip = stored(&[("a.ccob", &code), ("b.ccob", &code)]);
    // Both rows of the directory lead to one member.
    let mut damaged = zip.clone();
    let rows: Vec<usize> = (0..zip.len() - 4).filter(|at| zip[*at..].starts_with(b"PK\x01\x02")).collect();
    damaged.copy_within(rows[0] + 42..rows[0] + 46, rows[1] + 42);
    let script = b"#!/usr/bin/env python3\n";
    let application = [&script[..], &damaged].concat();
    let mut checksum = zip.clone();
    let at = zip.windows(4).position(|window| window == b"CCOB").unwrap();
    checksum[at + code.len() - 1] ^= 1;
    let mut deep = zip.clone();
    for _ in 0..6 {
        deep = stored(&[("d.zip", &deep)]);
    }
    let program = [&fs::read("cts/kernels/bundles/libkernels.so").unwrap()[..], &zip].concat();
    for (name, bytes, words) in [
        ("tool", application.clone(), "directory of the zip file"),
        ("tool.whl", wheel(&[("tool", &application)]), "directory of the zip file"),
        ("crc.zip", checksum.clone(), "checksum"),
        ("crc.whl", wheel(&[("crc.zip", &checksum)]), "checksum"),
        ("deep.zip", deep, "deep in zip files"),
        ("program", program.clone(), "zip file behind"),
        ("program.whl", wheel(&[("program", &program)]), "zip file behind"),
    ] {
        let path = folder.put(name, &bytes);
        let finished = audit(&[&path, &good], "gfx942");
        assert_eq!(finished.code, Some(1), "{name}: {}", finished.stdout);
        let text = finished.stdout.to_lowercase();
        assert!(text.contains(words) && text.contains(name), "{name}: {}", finished.stdout);
    }
    // Like `unzip`, the command writes damaged bytes and reports failure.
    let image = fs::read("cts/kernels/bundles/saxpy.gfx942.co").unwrap();
    let mut zip = stored(&[("a.co", &image), ("b.co", &image)]);
    let at = zip.windows(4).position(|window| window == b"\x7fELF").unwrap();
    zip[at + image.len() - 1] ^= 1;
    let (path, out) = (folder.put("elf.zip", &zip), folder.0.join("out").display().to_string());
    let taken = windlass(["extract", &path, "--target", "gfx942", "-o", &out]);
    assert_eq!((taken.code, fs::read(&out).unwrap().len()), (Some(1), image.len()), "{}", taken.stderr);
    assert!(taken.stderr.contains("a.co") && taken.stderr.contains("hecksum"), "{}", taken.stderr);
    let taken = windlass(["extract", &path, "--target", "gfx942", "--bundle", "1", "-o", &out]);
    assert_eq!(taken.code, Some(0), "{}", taken.stderr);
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
        // Opening it would wait for a writer.
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
fn a_named_file_without_code_is_named() {
    let folder = Folder::new();
    let empty = folder.put("empty.co", b"");
    let text = folder.put("notes.txt", b"of somebody");
    let finished = audit(&[VECTOR_ADD, &empty, &text], "gfx942");
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    for path in [&empty, &text] {
        let line = format!("{path}\n  has no AMD GPU code");
        assert!(finished.stdout.contains(&line), "{line}: {}", finished.stdout);
    }
    assert!(finished.stderr.contains("2 named files without GPU code"), "{}", finished.stderr);
    let (code, report) = report(&[VECTOR_ADD, &empty], "gfx942");
    assert_eq!((code, report["without_code"].as_array().unwrap().len()), (Some(1), 1), "{report:#}");
    // Most files of a folder have none.
    fs::copy(VECTOR_ADD, folder.0.join("a.ccob")).unwrap();
    assert_eq!(audit(&[folder.path()], "gfx942").code, Some(0));
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

#[test]
#[cfg(unix)]
fn pipes_are_read_once() {
    let code = fs::read("cts/kernels/bundles/saxpy.gfx942.co").unwrap();
    for (content, verdict) in
        [(&code, Some("exact")), (&wheel(&[("a.co", &code)]), Some("exact")), (&vec![7; 600], None)]
    {
        let mut audit = command();
        audit.args(["audit", "--json", "--targets", "gfx942", "/dev/stdin"]);
        let mut audit =
            audit.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        audit.stdin.take().unwrap().write_all(content).unwrap();
        let output = audit.wait_with_output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["problems"].as_array().map(Vec::len), Some(0), "{report:#}");
        assert_eq!(report["files"][0]["targets"][0]["verdict"].as_str(), verdict, "{report:#}");
        assert_eq!(output.status.code(), Some(if verdict.is_some() { 0 } else { 2 }));
    }
}
