// SPDX-License-Identifier: MIT OR Apache-2.0
//! One bundle and one command line on two machines: `windlass run` prints the same on `local://` and on the simulated
//! GPU.

use crate::support::windlass;

/// The words of `options` follow the file and the device.
fn prints_the_same(file: &str, options: &str) {
    let file = format!("cts/kernels/bundles/{file}");
    let printed = ["hip-sim://gfx942", "local://?threads=0", "local://?threads=2"].map(|device| {
        let words = ["run", &file, "--device", device].into_iter().chain(options.split_whitespace());
        let finished = windlass(words);
        assert_eq!(finished.code, Some(0), "{options} on {device}: {}", finished.stderr);
        assert!(finished.stdout.contains('='), "{options} prints a buffer: {}", finished.stdout);
        finished.stdout
    });
    let [gpu, hosts @ ..] = printed;
    for host in hosts {
        assert_eq!(host, gpu, "{file} {options}");
    }
}

#[test]
fn every_container_runs_on_both() {
    let add = "--kernel vector_add --grid 4 --block 64 --arg 200xf32=random:1 --arg 200xf32=random:2 --arg 200xf32=0 \
               --arg i32=200 --print 2";
    let containers = [".ccob", ".hipfb", ".v1-zstd.ccob", ".v2-zlib.ccob", ".v3-zstd.ccob"];
    for container in containers {
        prints_the_same(&format!("vector_add{container}"), add);
    }
    prints_the_same("libkernels.so", add);
}

#[test]
fn kernels_of_every_kind_run_on_both() {
    for (file, options) in [
        // Barriers and the kernel's own local memory, in two dimensions.
        (
            "matmul.ccob",
            "--kernel matmul --grid 2,2 --block 16,16 --arg 20x30xf32=random:1 --arg 30x25xf32=random:2 \
             --arg 20x25xf32=0 --arg i32=20 --arg i32=25 --arg i32=30 --print 2",
        ),
        // Local memory from the dispatch.
        (
            "control.ccob",
            "--kernel scan_block --grid 2 --block 128 --lds 512 --arg 200xi32=iota --arg 200xi32=0 --arg i32=200 --print 1",
        ),
        // A fixed workgroup size, and local memory by an argument.
        (
            "fixed_block.ccob",
            "--kernel local_argument --grid 2 --lds 256 --arg 128xi32=iota --arg i32=0 --arg 128xi32=0 --print 2",
        ),
        // Halves, which not every CPU supports.
        (
            "half.ccob",
            "--kernel half_arithmetic --grid 1 --block 64 --arg 64xf16=random:1 --arg 64xf16=random:2 \
             --arg 64xf16=random:3 --arg 320xf16=0 --arg i32=64 --print 3",
        ),
        // Structs by value.
        (
            "arguments.ccob",
            "--kernel apply_scale --grid 1 --block 8 --arg 8xi64=iota --arg i32=8 \
             --arg bytes=0000003f000000000a00000000000000 --arg 8xi64=0 --print 3",
        ),
        // Exported functions, and the order of their sums.
        ("functions.ccob", "--kernel use_functions --grid 1 --block 16 --arg 16xf32=random:5 --print 0"),
    ] {
        prints_the_same(file, options);
    }
}
