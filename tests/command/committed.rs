// SPDX-License-Identifier: MIT OR Apache-2.0
//! The project's own kernels, compiled by clang, from every container that holds them.

use crate::support::{DEVICE, Launch, Numbers, assert_close, bytes_of, product, scratch, windlass};

#[test]
fn vector_add_out_of_every_container() {
    let mut numbers = Numbers::new(30);
    let (a, b) = (numbers.floats(500), numbers.floats(500));
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    for name in [
        "vector_add.ccob",
        "vector_add.v1-zstd.ccob",
        "vector_add.v2-zlib.ccob",
        "vector_add.v3-zstd.ccob",
        "vector_add.features.ccob",
        "vector_add.hipfb",
        "vector_add.gfx942.co",
        "libkernels.so",
    ] {
        let sum = Launch::new(format!("cts/kernels/bundles/{name}"), "vector_add", "8")
            .block("64")
            .floats(&a)
            .floats(&b)
            .arg("500xf32=0")
            .out()
            .arg("i32=500")
            .run_floats();
        assert_eq!(sum, expected, "{name}");
    }
}

#[test]
fn saxpy_out_of_the_second_bundle_of_a_library() {
    let mut numbers = Numbers::new(31);
    let (x, y) = (numbers.floats(300), numbers.floats(300));
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x.mul_add(1.5, *y)).collect();
    for name in ["saxpy.ccob", "libkernels.so"] {
        let got = Launch::new(format!("cts/kernels/bundles/{name}"), "saxpy", "1")
            .block("256")
            .arg("f32=1.5")
            .floats(&x)
            .floats(&y)
            .out()
            .arg("i32=300")
            .run_floats();
        assert_eq!(got, expected, "{name}");
    }
}

#[test]
fn matmul_of_sizes_that_do_not_divide() {
    let mut numbers = Numbers::new(32);
    let (m, n, k) = (33, 18, 45);
    let (a, b) = (numbers.floats(m * k), numbers.floats(k * n));
    let got = Launch::new("cts/kernels/bundles/matmul.ccob", "matmul", "2,3")
        .block("16,16")
        .floats(&a)
        .floats(&b)
        .arg(&format!("{m}x{n}xf32=0"))
        .out()
        .arg(&format!("i32={m}"))
        .arg(&format!("i32={n}"))
        .arg(&format!("i32={k}"))
        .run_floats();
    assert_close(&got, &product(&a, &b, m, n, k), 1e-5, 1e-6);
}

#[test]
fn reductions_with_dynamic_local_memory() {
    let values = Numbers::new(33).floats(5000);
    let sum = |kernel: &str, start: &str| {
        Launch::new("cts/kernels/bundles/reduce.ccob", kernel, "7")
            .block("128")
            .option("--lds", "512")
            .floats(&values)
            .arg(start)
            .out()
            .arg("i32=5000")
            .run_floats()
    };
    let expected: f64 = values.iter().map(|value| f64::from(*value)).sum();
    assert_close(&sum("reduce_sum", "1xf32=0"), &[expected], 1e-5, 1e-3);
    let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    assert_eq!(sum("reduce_max", "1xf32=-2"), [most]);
}

#[test]
fn histogram() {
    let mut numbers = Numbers::new(34);
    let values: Vec<u8> = (0..3001).map(|_| (numbers.bits() >> 24) as u8).collect();
    let bins = Launch::new("cts/kernels/bundles/histogram.ccob", "histogram", "3")
        .block("256")
        .bytes("3001xui8", &values)
        .arg("256xui32=1")
        .out()
        .arg("i32=3001")
        .run();
    let mut expected = [1_u32; 256];
    values.iter().for_each(|value| expected[usize::from(*value)] += 1);
    assert_eq!(bins[0], bytes_of(&expected, u32::to_le_bytes));
}

#[test]
fn a_struct_by_value_between_pointers() {
    // f32 2.5, four unused bytes, i64 -7.
    let scale = "bytes=00002040ffffffff".to_owned() + "f9ffffffffffffff";
    let finished = windlass([
        "run",
        "cts/kernels/bundles/arguments.ccob",
        "--kernel",
        "apply_scale",
        "--device",
        DEVICE,
        "--grid",
        "1",
        "--block",
        "64",
        "--arg",
        "5xi64=0,1,2,3,-4",
        "--arg",
        "i32=5",
        "--arg",
        &scale,
        "--arg",
        "5xi64=0",
        "--expect",
        "3=5xi64=-7,-5,-2,0,-17",
    ]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}

#[test]
fn a_block_that_the_code_object_fixes_may_be_left_out() {
    let finished = windlass([
        "run",
        "cts/kernels/bundles/fixed_block.ccob",
        "--kernel",
        "fixed_block",
        "--device",
        DEVICE,
        "--grid",
        "2",
        "--arg",
        "200xi32=iota",
        "--arg",
        "200xi32=0",
        "--arg",
        "i32=200",
        "--print",
        "1",
    ]);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    let expected: Vec<String> = (1..=200).map(|value: u32| value.to_string()).collect();
    assert_eq!(finished.stdout, format!("200xi32={}\n", expected.join(" ")));
}

#[test]
fn code_for_one_simulated_part_alone_runs_on_it() {
    let file = scratch("co");
    let path = file.to_str().unwrap();
    let extracted =
        windlass(["extract", "cts/kernels/bundles/vector_add.ccob", "--target", "gfx90a", "-o", path]);
    assert_eq!(extracted.code, Some(0), "{}", extracted.stderr);
    let arguments = ["4xf32=1", "4xf32=2", "4xf32=0", "i32=4"].map(|spec| ["--arg", spec]).concat();
    let run =
        ["run", path, "--kernel", "vector_add", "--grid", "1", "--block", "64", "--expect", "2=4xf32=3"];
    let finished = windlass(run.into_iter().chain(arguments));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.contains("hip-sim://gfx90a"), "{}", finished.stderr);
    std::fs::remove_file(file).unwrap();
}
