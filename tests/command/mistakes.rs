// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mistakes of users: each gets one clear message and the right exit code.

use std::fs;

use crate::audit::made::wheel;
use crate::support::{DEVICE, Finished, command, finish, fixture, scratch, windlass};

const VECTOR_ADD: &str = "cts/kernels/bundles/vector_add.ccob";

/// A run of vector_add with some options replaced or left out, and some added.
fn vector_add(change: &[(&str, &str)]) -> Finished {
    let mut options = vec![
        ("--kernel", "vector_add"),
        ("--device", DEVICE),
        ("--grid", "4"),
        ("--block", "256"),
        ("--arg", "1024xf32=1.5"),
        ("--arg", "1024xf32=2"),
        ("--arg", "1024xf32=0"),
        ("--arg", "i32=1024"),
    ];
    for (name, value) in change {
        match options.iter_mut().find(|(known, _)| known == name && *name != "--arg") {
            Some(option) => option.1 = value,
            None => options.push((name, value)),
        }
    }
    let words =
        options.iter().filter(|(_, value)| !value.is_empty()).flat_map(|(name, value)| [*name, *value]);
    windlass(["run", VECTOR_ADD].into_iter().chain(words))
}

/// The message is on standard error and contains these words; nothing else happens.
fn assert_says(finished: &Finished, code: i32, words: &[&str]) {
    assert_eq!(finished.code, Some(code), "{}", finished.stderr);
    assert_eq!(finished.stdout, "", "results are for standard output, messages are not");
    assert!(finished.stderr.starts_with("error: "), "{}", finished.stderr);
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    for word in words {
        assert!(finished.stderr.contains(word), "`{word}` is missing in: {}", finished.stderr);
    }
}

#[test]
fn a_run_that_is_right_says_so() {
    let finished = vector_add(&[("--expect", "2=1024xf32=3.5")]);
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(0), ""), "{}", finished.stderr);
    assert!(
        finished.stderr.starts_with("argument 2: all 1024 elements are as expected"),
        "{}",
        finished.stderr
    );
    let finished = vector_add(&[]);
    assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn a_kernel_runs_on_a_device_whose_gpus_need_other_code_each() {
    let finished = vector_add(&[("--device", "hip-sim://gfx908,gfx942"), ("--expect", "2=1024xf32=3.5")]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}

#[test]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn one_bundle_runs_on_the_host_too() {
    let finished = vector_add(&[("--device", "local://"), ("--expect", "2=1024xf32=3.5")]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.contains("all 1024 elements are as expected"), "{}", finished.stderr);
    let finished = vector_add(&[("--device", "local://"), ("--expect", "2=1024xf32=4")]);
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
}

#[test]
fn wrong_target() {
    let words =
        ["run", "cts/kernels/bundles/vector_add.generic.ccob", "--kernel", "vector_add", "--device", DEVICE];
    let finished = windlass(words.into_iter().chain(["--grid", "1", "--block", "64"]));
    assert_says(&finished, 2, &["no code for gfx942", "gfx9-generic", "gfx1100", "another processor"]);
}

#[test]
fn unknown_kernel() {
    assert_says(&vector_add(&[("--kernel", "vector_sub")]), 2, &["no kernel `vector_sub`", "`vector_add`"]);
}

#[test]
fn kernel_left_out_where_there_are_several() {
    let finished = windlass([
        "run",
        "cts/kernels/bundles/saxpy.ccob",
        "--device",
        DEVICE,
        "--grid",
        "1",
        "--block",
        "64",
    ]);
    assert_says(&finished, 2, &["--kernel", "`saxpy`", "`saxpy_f64`"]);
}

#[test]
fn too_few_and_too_many_arguments() {
    let signature = "vector_add(";
    let finished =
        windlass(["run", VECTOR_ADD, "--device", DEVICE, "--grid", "1", "--block", "64", "--arg", "null"]);
    assert_says(&finished, 2, &["takes 4 arguments", "has 1 by --arg", signature]);
    assert_says(&vector_add(&[("--arg", "i32=1")]), 2, &["takes 4 arguments", "has 5 by --arg", signature]);
}

#[test]
fn a_folder_for_inspect_leads_to_audit() {
    assert_says(
        &windlass(["inspect", "cts/kernels"]),
        2,
        &["cannot read cts/kernels: it is a folder", "`windlass audit`"],
    );
}

#[test]
fn a_negative_tolerance() {
    assert_says(&vector_add(&[("--tolerance", "-1,-1")]), 2, &["two numbers that are not negative"]);
}

#[test]
fn arguments_of_the_wrong_kind() {
    let run = |arguments: [&str; 4]| {
        let arguments = arguments.iter().flat_map(|spec| ["--arg", spec]);
        windlass(
            ["run", VECTOR_ADD, "--device", DEVICE, "--grid", "1", "--block", "64"]
                .into_iter()
                .chain(arguments),
        )
    };
    let finished = run(["f32=1", "1xf32", "1xf32", "i32=1"]);
    assert_says(&finished, 2, &["argument 0", "buffer or null", "1xi32=5"]);
    let finished = run(["1xf32", "1xf32", "1xf32", "i64=1"]);
    assert_says(&finished, 2, &["argument 3", "4 bytes, not of 8", "i32=5"]);
    let finished = run(["1xf32", "1xf32", "1xf32", "1xi32=1"]);
    assert_says(&finished, 2, &["argument 3", "not a pointer", "i32=5"]);
}

#[test]
fn block_too_large_missing_or_another_than_the_fixed_one() {
    assert_says(&vector_add(&[("--block", "2048")]), 2, &["2048 work-items", "at most 1024"]);
    assert_says(&vector_add(&[("--block", "64,64")]), 2, &["4096 work-items"]);
    assert_says(&vector_add(&[("--block", "")]), 2, &["--block X[,Y[,Z]]", "at most 1024"]);
    let finished = windlass([
        "run",
        "cts/kernels/bundles/fixed_block.ccob",
        "--kernel",
        "fixed_block",
        "--device",
        DEVICE,
        "--grid",
        "1",
        "--block",
        "128",
        "--arg",
        "128xi32",
        "--arg",
        "128xi32",
        "--arg",
        "i32=128",
    ]);
    assert_says(&finished, 2, &["[64, 2, 1]", "[128, 1, 1]"]);
}

#[test]
fn local_memory_that_no_workgroup_can_have() {
    assert_says(&vector_add(&[("--lds", "1000000")]), 2, &["1000000", "65536"]);
}

#[test]
fn buffer_too_small() {
    // The kernel gets a count of 1024 elements and room for 1000 in the last buffer.
    let words = ["run", VECTOR_ADD, "--device", DEVICE, "--grid", "4", "--block", "256"];
    let arguments =
        ["--arg", "1024xf32=1", "--arg", "1024xf32=2", "--arg", "1000xf32=0", "--arg", "i32=1024"];
    let finished = windlass(words.into_iter().chain(arguments));
    assert_says(&finished, 1, &["vector_add", "store", "lane", "0x"]);
}

#[test]
fn a_null_pointer_that_is_used() {
    let words = ["run", VECTOR_ADD, "--device", DEVICE, "--grid", "1", "--block", "64"];
    let arguments = ["--arg", "64xf32=1", "--arg", "null", "--arg", "64xf32=0", "--arg", "i32=64"];
    assert_says(&windlass(words.into_iter().chain(arguments)), 1, &["vector_add", "load", "lane"]);
}

#[test]
fn truncated_and_foreign_files() {
    let whole = fs::read(VECTOR_ADD).unwrap();
    let path = scratch("ccob");
    let name = path.display().to_string();
    for length in [whole.len() - 1, whole.len() / 2, 40, 10, 3] {
        fs::write(&path, &whole[..length]).unwrap();
        for words in [
            vec!["run", &name, "--device", DEVICE, "--grid", "1"],
            vec!["inspect", &name],
            vec!["extract", &name, "--target", "gfx942", "-o", "/dev/null"],
        ] {
            assert_says(&windlass(words), 2, &[&name, "offset"]);
        }
    }
    fs::write(&path, b"").unwrap();
    assert_says(&windlass(["inspect", &name]), 2, &[&name]);
    fs::write(&path, b"#!/bin/sh\n").unwrap();
    assert_says(&windlass(["inspect", &name]), 2, &["no AMD GPU code", "clang offload bundle"]);
    let _ = fs::remove_file(&path);
    assert_says(&windlass(["inspect", &name]), 2, &["cannot read", &name]);
    assert_says(&windlass(["inspect", "cts"]), 2, &["cannot read cts"]);
}

#[test]
fn a_file_without_code_is_a_wrong_input_and_no_absent_gpu() {
    let whole = fs::read(VECTOR_ADD).unwrap();
    let path = scratch("ccob");
    let name = path.display().to_string();
    for (bytes, words) in [
        (&whole[..whole.len() / 2], "cut short"),
        (b"", "no AMD GPU code"),
        (b"#!/bin/sh\n", "no AMD GPU code"),
    ] {
        fs::write(&path, bytes).unwrap();
        let finished = windlass(["run", &name, "--grid", "1"]);
        assert_says(&finished, 2, &[&name, words]);
        assert!(!finished.stderr.contains("no GPU here"), "{}", finished.stderr);
    }
    let _ = fs::remove_file(&path);
}

#[test]
fn a_device_that_runs_no_kernels_is_exit_code_4() {
    for (uri, words) in [
        ("hip-null://", "the null HIP runs no kernels"),
        ("hip-null://0?queues=2", "the null HIP runs no kernels"),
        ("shuffle://?seed=1&over=hip-null://", "the null HIP runs no kernels"),
        ("null://", "null://"),
    ] {
        let finished = vector_add(&[("--device", uri)]);
        assert_says(&finished, 4, &["nothing ran", words]);
        assert!(!finished.stderr.contains("as expected"), "{}", finished.stderr);
    }
    let mut run = command();
    run.args(["run", VECTOR_ADD, "--grid", "1"]).env("WINDLASS_DEVICE", "hip-null://");
    assert_says(&finish(&mut run), 4, &["the null HIP runs no kernels", "--device"]);
}

#[test]
fn missing_library() {
    for uri in ["hip://?library=/no/such/libamdhip64.so", "hip://0?library=/no/such/libamdhip64.so"] {
        assert_says(&vector_add(&[("--device", uri)]), 3, &["/no/such/libamdhip64.so", "hip-sim://"]);
    }
    let mut run = command();
    run.args(["run", VECTOR_ADD, "--device", "hip://", "--grid", "1"]);
    run.env("WINDLASS_HIP_LIBRARY", "/no/such/library.so");
    assert_says(&finish(&mut run), 3, &["/no/such/library.so", "WINDLASS_HIP_LIBRARY"]);
}

#[test]
fn devices_that_are_not_there() {
    assert_says(&vector_add(&[("--device", "hip-sim://gfx1250")]), 2, &["gfx1250", "gfx942"]);
    assert_says(&vector_add(&[("--device", "hip-sim://gfx942?colour=red")]), 2, &["colour", "seed"]);
    assert_says(&vector_add(&[("--device", "gfx942")]), 2, &["scheme://"]);
    assert_says(&vector_add(&[("--device", "cuda://")]), 2, &["no driver for `cuda://`", "hip://"]);
    let for_gpus = ["run", "cts/kernels/bundles/vector_add.gfx942.co", "--device", "local://", "--grid", "1"];
    assert_says(&windlass(for_gpus), 2, &["gfx942", "hip-sim://gfx942"]);
    let mut run = command();
    run.args(["run", VECTOR_ADD, "--grid", "1"]).env("WINDLASS_DEVICE", "nowhere://");
    assert_says(&finish(&mut run), 2, &["WINDLASS_DEVICE", "nowhere://"]);
}

#[test]
fn malformed_options() {
    for (option, value, words) in [
        ("--grid", "0", "whole numbers from 1"),
        ("--grid", "1,2,3,4", "X,Y,Z"),
        ("--block", "x", "X,Y,Z"),
        ("--lds", "many", "--lds"),
        ("--repeat", "0", "--repeat"),
        ("--tolerance", "1e-3", "REL,ABS"),
        ("--expect", "1024xf32=0", "--expect"),
        ("--colour", "red", "--colour"),
    ] {
        let finished = vector_add(&[(option, value)]);
        assert_says(&finished, 2, &[words]);
    }
    assert_says(&windlass(["run", VECTOR_ADD]), 2, &["--grid"]);
    assert_says(&windlass(["help", "nothing"]), 2, &["`nothing`", "environment"]);
}

#[test]
fn malformed_arguments_say_what_is_allowed() {
    for spec in
        ["", "1024", "f32", "1024xf31=0", "4xf32=1,2", "i32=1.5", "bytes=0", "4xf32=@/no/file", "@/no.npy"]
    {
        let finished = vector_add(&[("--arg", spec), ("--arg", spec)]);
        if spec.is_empty() {
            continue;
        }
        assert_says(&finished, 2, &["--arg 4", spec, "1024xf32=random:SEED", "bytes=HEX"]);
    }
}

#[test]
fn indices_that_mean_no_buffer() {
    assert_says(&vector_add(&[("--print", "4")]), 2, &["--print 4", "4 arguments, counted from 0"]);
    assert_says(&vector_add(&[("--print", "3")]), 2, &["argument 3 is no buffer"]);
    assert_says(&vector_add(&[("--out", "9=x.npy")]), 2, &["--out 9"]);
    assert_says(&vector_add(&[("--out", "2=x.txt")]), 2, &[".npy or .bin"]);
    assert_says(&vector_add(&[("--expect", "9=1xf32=0")]), 2, &["--expect 9"]);
    assert_says(&vector_add(&[("--expect", "2=1000xf32=0")]), 2, &["1024xf32, and 1000xf32"]);
    assert_says(&vector_add(&[("--expect", "2=i32=0")]), 2, &["only a buffer"]);
}

#[test]
fn a_malformed_log_filter() {
    let mut run = command();
    run.args(["devices"]).env("WINDLASS_LOG", "windlass::hip=loud");
    assert_says(&finish(&mut run), 2, &["WINDLASS_LOG", "trace"]);
}

#[test]
fn hostile_files_are_refused_or_read_and_nothing_worse() {
    let Some(folder) = fixture("hostile") else { return };
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        let finished = windlass(["inspect", &name, "--device", "hip-null://"]);
        assert!(matches!(finished.code, Some(0..=2)), "{name}: {finished:?}");
        let run = windlass(["run", &name, "--kernel", "k", "--device", DEVICE, "--grid", "1"]);
        assert!(matches!(run.code, Some(1 | 2)), "{name}: {run:?}");
        assert!(run.stderr.starts_with("error: "), "{name}: {run:?}");
    }
}

#[test]
fn headers_that_claim_more_than_the_file_has() {
    let whole = fs::read("cts/kernels/bundles/vector_add.gfx942.co").unwrap();
    let path = scratch("co");
    let name = path.display().to_string();
    let sections = u64::from_le_bytes(whole[40..48].try_into().unwrap()) as usize;
    let lies: [(usize, &[u8]); 3] = [
        (60, &[0xff, 0xff]),                                 // how many sections there are
        (40, &[0, 0, 0x10, 0, 0, 0, 0, 0]),                  // where they are listed
        (sections + 3 * 64 + 32, &[0, 0, 0, 1, 0, 0, 0, 0]), // how long one is
    ];
    for (at, lie) in lies {
        let mut damaged = whole.clone();
        damaged[at..at + lie.len()].copy_from_slice(lie);
        fs::write(&path, &damaged).unwrap();
        let mut words =
            vec!["run", name.as_str(), "--device", DEVICE, "--kernel", "vector_add", "--grid", "1"];
        words.extend([
            "--block", "64", "--arg", "64xf32=1", "--arg", "64xf32=1", "--arg", "64xf32=0", "--arg", "i32=64",
        ]);
        assert_says(&windlass(words), 2, &["cut short or its sizes are wrong"]);
    }
}

#[test]
fn files_without_an_end() {
    assert_says(
        &windlass(["run", VECTOR_ADD, "--device", DEVICE, "--grid", "1", "--arg", "8xf32=@/dev/zero"]),
        2,
        &["/dev/zero"],
    );
}

#[test]
fn files_that_are_to_be_unpacked_first() {
    let folder = scratch("packages");
    fs::create_dir_all(&folder).unwrap();
    let mut tar = vec![0; 1024];
    tar[257..262].copy_from_slice(b"ustar");
    let gzip = b"\x1f\x8b\x08\0\0\0\0\0";
    let conda = wheel(&[("metadata.json", b"{}"), ("pkg-d.tar.zst", b"(\xb5/\xfd")]);
    for (name, bytes, words) in [
        ("a", &tar[..], ["a tar file", "`tar -xf`"]),
        ("b.tar", &tar, ["a tar file", "`tar -xf`"]),
        ("c.tar.gz", gzip, ["a tar file", "`tar -xf`"]),
        ("d.rpm", b"\xed\xab\xee\xdb\x03\0\0\0", ["an RPM package", "`rpm2cpio`"]),
        ("e.7z", b"7z\xbc\xaf\x27\x1c\0\x04", ["a 7z archive", "unpack it"]),
        ("f.conda", &conda, ["a conda package", "`cph extract`"]),
        (
            "g.deb",
            b"!<arch>\ndebian-binary   0           0     0     644     4         `\n2.0\n",
            ["a Debian package", "`dpkg-deb -x`"],
        ),
    ] {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        let path = path.display().to_string();
        assert_says(&windlass(["inspect", &path]), 2, &words);
        assert_says(&windlass(["extract", &path, "--target", "gfx942", "-o", "/dev/null"]), 2, &words);
        let audit = windlass(["audit", &path, "--targets", "gfx942"]);
        assert!(words.iter().all(|word| audit.stdout.contains(word)), "{name}: {}", audit.stdout);
    }
    // The file name does not matter.
    let code = folder.join("h.tar.gz");
    fs::copy(VECTOR_ADD, &code).unwrap();
    for arguments in [&["inspect"][..], &["audit", "--targets", "gfx942"]] {
        let read = windlass([arguments, &[code.to_str().unwrap()]].concat());
        assert_eq!(read.code, Some(0), "{}", read.stderr);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_feature_that_no_target_has_is_refused() {
    for arguments in [&["inspect", VECTOR_ADD, "--target"][..], &["audit", VECTOR_ADD, "--targets"]] {
        let finished = windlass([arguments, &["gfx90a:xnak+"]].concat());
        assert_says(&finished, 2, &["no target has a feature xnak", "sramecc and xnack"]);
    }
}

#[test]
fn a_bundle_over_its_own_input_is_refused() {
    let code = scratch("co");
    fs::copy("cts/kernels/bundles/vector_add.gfx942.co", &code).unwrap();
    let before = fs::read(&code).unwrap();
    let path = code.display().to_string();
    assert_says(&windlass(["bundle", &path, "-o", &path]), 2, &["an input file", "name another file"]);
    assert!(fs::read(&code).unwrap() == before);
    fs::remove_file(code).unwrap();
}

/// A mistake in the description of a device is no absent device, wherever it stands.
#[test]
fn a_device_that_cannot_be_meant_is_a_wrong_command_line() {
    assert_says(&windlass(["inspect", VECTOR_ADD, "--device", "cuda://"]), 2, &["no driver for `cuda://`"]);
    let no_log = "hip-sim://gfx942?replay=/nowhere/log";
    assert_says(&vector_add(&[("--device", no_log)]), 2, &["INVALID_ARGUMENT", "/nowhere/log"]);
    let run = ["run", VECTOR_ADD, "--kernel", "vector_add", "--grid", "1"];
    let finished = finish(command().args(run).env("WINDLASS_SIM", "gfx942?unknown=1"));
    assert_says(&finished, 2, &["no option \"unknown\"", "WINDLASS_SIM"]);
    let finished = finish(command().args(["cts", "--probe"]).env("WINDLASS_DEVICE", "cuda://"));
    assert_says(&finished, 2, &["WINDLASS_DEVICE=cuda://", "no driver for `cuda://`"]);
}

#[test]
fn a_file_beyond_the_limit_is_not_read() {
    let path = scratch("sparse");
    fs::File::create(&path).unwrap().set_len(5 << 30).unwrap();
    let text = path.display().to_string();
    for arguments in [&["inspect", &text][..], &["run", &text, "--kernel", "k", "--grid", "1"]] {
        assert_says(&windlass(arguments.to_vec()), 2, &["it has more than 4294967296 bytes"]);
    }
    fs::remove_file(path).unwrap();
}
