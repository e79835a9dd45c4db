// SPDX-License-Identifier: MIT OR Apache-2.0
//! `bundle`, and `extract` from its output.

use std::{fs, path::PathBuf};

use windlass_codeobject::{File, Options};

use crate::audit::made::kpack_for;
use crate::support::{Finished, fixture, scratch, windlass};

const GFX942: &str = "cts/kernels/bundles/vector_add.gfx942.co";
const FAT: &str = "cts/kernels/bundles/vector_add.ccob";
const LIBRARY: &str = "cts/kernels/bundles/libkernels.so";

/// A file of one test, deleted on drop.
struct Output(PathBuf);

impl Output {
    fn new(ending: &str) -> Self {
        Self(scratch(ending))
    }

    fn name(&self) -> String {
        self.0.display().to_string()
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.0).expect("the output is there")
    }

    /// The ids and sizes of the entries.
    fn entries(&self) -> Vec<(String, u64)> {
        let bytes = self.bytes();
        let file = File::parse(&bytes, &Options::default()).expect("what was written can be read");
        assert_eq!(file.bundles().len(), 1);
        file.bundles()[0].entries().iter().map(|entry| (entry.id_text(), entry.size())).collect()
    }

    /// Extracts an entry.
    fn extract(&self, arguments: &[&str]) -> Vec<u8> {
        extract(&self.name(), arguments)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn extract(file: &str, arguments: &[&str]) -> Vec<u8> {
    let image = Output::new("image");
    let finished = windlass([&["extract", file, "-o", &image.name()], arguments].concat());
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    image.bytes()
}

fn bundle(output: &Output, arguments: &[&str]) -> Finished {
    windlass([&["bundle", "-o", &output.name()], arguments].concat())
}

fn bundled(arguments: &[&str]) -> Output {
    let output = Output::new("hipfb");
    let finished = bundle(&output, arguments);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), ""), "{}", finished.stderr);
    output
}

#[test]
fn code_objects_become_a_bundle_that_each_target_is_found_in() {
    let gfx1100 = Output::new("co");
    fs::write(&gfx1100.0, extract(FAT, &["--target", "gfx1100"])).unwrap();
    for options in [
        &[][..],
        &["--compress", "zstd"],
        &["--compress", "zstd", "--level", "19", "--ccob-version", "3"],
        &["--compress", "zlib", "--level", "9", "--ccob-version", "1"],
        &["--align", "1", "--no-host"],
    ] {
        let output = bundled(&[&[GFX942, &gfx1100.name()], options].concat());
        let ids: Vec<String> = output.entries().into_iter().map(|(id, _)| id).collect();
        let code = ["hipv4-amdgcn-amd-amdhsa--gfx942", "hipv4-amdgcn-amd-amdhsa--gfx1100"];
        let host = (!options.contains(&"--no-host")).then_some("host-x86_64-unknown-linux-gnu-");
        assert_eq!(ids, host.into_iter().chain(code).collect::<Vec<_>>());
        assert!(output.extract(&["--target", "gfx942"]) == fs::read(GFX942).unwrap());
        assert!(output.extract(&["--target", "gfx1100"]) == gfx1100.bytes());
        let again = bundled(&[&[GFX942, &gfx1100.name()], options].concat());
        assert!(again.bytes() == output.bytes(), "the same inputs give the same bytes");
    }
}

#[test]
fn what_was_written_is_told() {
    let output = Output::new("hipfb");
    let finished = bundle(&output, &["--compress", "zstd", GFX942]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let size = fs::metadata(GFX942).unwrap().len();
    for words in [
        "compressed offload bundle (CCOB v2, zstd)".to_owned(),
        format!("{size} bytes  hipv4-amdgcn-amd-amdhsa--gfx942"),
        "host-x86_64-unknown-linux-gnu-".to_owned(),
        format!("{size} bytes of code in {} bytes (ratio ", output.bytes().len()),
    ] {
        assert!(finished.stderr.contains(&words), "{words}: {}", finished.stderr);
    }
}

#[test]
fn the_entries_of_bundles_are_taken_over() {
    let plain = bundled(&[FAT]);
    let entries = plain.entries();
    assert_eq!(entries.len(), 15, "two hosts and thirteen targets: {entries:?}");
    assert!(entries.iter().all(|(_, size)| *size > 0), "{entries:?}");
    let packed = bundled(&["--compress", "zstd", &plain.name()]);
    assert_eq!(packed.entries(), entries);
    assert!(packed.bytes().len() < plain.bytes().len());
    assert!(bundled(&[&packed.name()]).bytes() == plain.bytes(), "packing loses nothing");
    let one = bundled(&["--bundle", "1", "--host-triple", "aarch64-unknown-linux-gnu-", LIBRARY]);
    assert_eq!(one.entries()[0], ("host-aarch64-unknown-linux-gnu-".to_owned(), 0));
}

#[test]
fn files_are_what_the_user_says_they_are() {
    let text = Output::new("txt");
    fs::write(&text.0, "not code").unwrap();
    let name = text.name();
    let spirv = format!("hip-spirv64-amd-amdhsa--amdgcnspirv={name}");
    let host = format!("host-x86_64-unknown-linux={name}");
    let code = format!("gfx942={GFX942}");
    let output = bundled(&["--unchecked", &code, &spirv, "--entry", &host]);
    let ids: Vec<String> = output.entries().into_iter().map(|(id, _)| id).collect();
    let expected = [
        "hipv4-amdgcn-amd-amdhsa--gfx942",
        "hip-spirv64-amd-amdhsa--amdgcnspirv",
        "host-x86_64-unknown-linux",
    ];
    assert_eq!(ids, expected);
    for arguments in [["--entry", "1"], ["--id", "hip-spirv64-amd-amdhsa--amdgcnspirv"]] {
        assert_eq!(output.extract(&arguments), b"not code", "{arguments:?}");
    }
    let again = bundled(&[&output.name()]);
    assert!(again.bytes() == output.bytes(), "what a bundle holds is taken over as it is");
}

#[test]
fn mistakes_write_nothing_and_keep_what_was_there() {
    let text = Output::new("txt");
    fs::write(&text.0, "not code").unwrap();
    let name = text.name();
    let wrong_target = format!("gfx1100={GFX942}");
    let wrong_id = format!("hip-amdgcn-amd-amdhsa--gfx942:xnack={GFX942}");
    let unknown = format!("hip-spirv64-amd-amdhsa--amdgcnspirv={name}");
    for (arguments, words) in [
        (&[][..], "required"),
        (&[GFX942, GFX942], "the same target"),
        (&[GFX942, FAT], "the first of them is from"),
        (&["--bundle", "2", LIBRARY], "2 bundles, numbered from 0"),
        (&[&wrong_target], "its ELF is for gfx942"),
        (&[&wrong_id], "neither + nor -"),
        (&[&unknown], "--unchecked"),
        (&["--entry", GFX942], "ID=FILE"),
        (&[&name], "no AMD GPU code"),
        (&["no/such/file"], "cannot read"),
        (&["--align", "3", GFX942], "power of two"),
        (&["--level", "3", GFX942], "--compress"),
        (&["--ccob-version", "3", GFX942], "--compress"),
        (&["--compress", "zstd", "--level", "99", GFX942], "1 to 22"),
        (&["--compress", "zlib", "--level", "-1", GFX942], "0 to 9"),
        (&["--ccob-version", "4", GFX942], "4"),
        (&["--host-triple", "x", GFX942], "three fields"),
    ] {
        let output = Output::new("hipfb");
        fs::write(&output.0, "what was there").unwrap();
        let finished = bundle(&output, arguments);
        assert_eq!(finished.code, Some(2), "{arguments:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(words), "{arguments:?}: {}", finished.stderr);
        assert_eq!(output.bytes(), b"what was there", "{arguments:?}");
    }
    let nowhere = windlass(["bundle", "-o", "no/such/folder/out", GFX942]);
    assert_eq!(nowhere.code, Some(1), "{}", nowhere.stderr);
    assert!(nowhere.stderr.contains("cannot write no/such/folder/out"), "{}", nowhere.stderr);
}

#[test]
fn one_bundle_of_a_file_with_several_can_be_packed_again() {
    let Some(file) = fixture("fatbin/libbitsandbytes_rocm71.hip_fatbin") else { return };
    let name = file.display().to_string();
    let output = Output::new("hipfb");
    let finished = bundle(&output, &[&name]);
    assert_eq!(finished.code, Some(2));
    assert!(finished.stderr.contains("--bundle N"), "{}", finished.stderr);
    let packed = bundled(&["--bundle", "0", "--compress", "zstd", "--ccob-version", "3", &name]);
    let theirs = fs::read(&file).unwrap();
    let theirs = File::parse(&theirs, &Options::default()).unwrap();
    let ours = packed.bytes();
    let ours = File::parse(&ours, &Options::default()).unwrap();
    let (theirs, ours) = (&theirs.bundles()[0], &ours.bundles()[0]);
    assert_eq!(ours.entries(), theirs.entries());
    assert_eq!(ours.hash(), theirs.hash(), "unpacked, they are equal");
    // Another version of the compressor may give a slightly different size.
    assert!(ours.stored_size() < theirs.stored_size() * 11 / 10);
}

#[test]
fn an_uncompressed_bundle_of_clang_is_written_again_byte_for_byte() {
    for (name, align) in [("fatbin/symbols.hipfb", "4096"), ("fatbin/vadd.hipkind.align1.hipfb", "1")] {
        let Some(file) = fixture(name) else { return };
        let output = bundled(&["--align", align, &file.display().to_string()]);
        assert!(output.bytes() == fs::read(&file).unwrap(), "{name}");
    }
}

#[test]
fn code_of_a_compatible_processor_is_extracted_on_request() {
    let Some(file) = fixture("clang/vadd.gfx1030.co") else { return };
    let (name, output) = (file.display().to_string(), Output::new("co"));
    let arguments = ["extract", &name, "--target", "gfx1031", "-o", &output.name()];
    let finished = windlass(arguments);
    assert_eq!(finished.code, Some(2));
    assert!(finished.stderr.contains("--compat"), "{}", finished.stderr);
    let finished = windlass([&arguments[..], &["--compat"]].concat());
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.contains("another processor"), "{}", finished.stderr);
    assert!(output.bytes() == fs::read(&file).unwrap());
}

#[cfg(unix)]
#[test]
fn outputs_that_are_no_plain_files_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    let (file, link) = (Output::new("hipfb"), Output::new("link"));
    fs::write(&file.0, "old").unwrap();
    fs::set_permissions(&file.0, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file.0, &link.0).unwrap();
    let finished = bundle(&link, &[GFX942]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(fs::symlink_metadata(&link.0).unwrap().is_symlink());
    assert_eq!(file.entries().len(), 2, "what the link leads to is written");
    assert_eq!(fs::metadata(&file.0).unwrap().permissions().mode() & 0o777, 0o640);
    let finished = windlass(["bundle", "-o", "/dev/null", GFX942]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn the_modes_that_an_archive_states_are_not_dropped() {
    // A kpack archive that states gfx942:xnack+ for code whose flags leave the mode open.
    let image = fs::read(GFX942).unwrap();
    let archive = Output::new("kpack");
    fs::write(&archive.0, kpack_for("gfx942:xnack+", "lib/a.so", &image)).unwrap();
    let out = Output::new("hipfb");
    let refused = windlass(["bundle", &archive.name(), "-o", &out.name()]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("its ELF is for gfx942") && refused.stderr.contains("--unchecked"));
    let written = windlass(["bundle", &archive.name(), "--unchecked", "-o", &out.name()]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    assert_eq!(out.entries()[1].0, "hipv4-amdgcn-amd-amdhsa--gfx942:xnack+");
    // If the archive states no mode, the flags count.
    fs::write(&archive.0, kpack_for("gfx942", "lib/a.so", &image)).unwrap();
    assert_eq!(windlass(["bundle", &archive.name(), "-o", &out.name()]).code, Some(0));
    assert_eq!(out.entries()[1].0, "hipv4-amdgcn-amd-amdhsa--gfx942");
}
