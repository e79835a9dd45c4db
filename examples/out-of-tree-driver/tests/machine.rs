// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks that the suite does not have: how kernels fail, and how texts are refused.

use std::time::Duration;

use windlass_hal::{Code, Device, DispatchConfig, Error, Registry, Semaphore};

const LONG: Duration = Duration::from_secs(60);

fn device() -> Device {
    let mut registry = Registry::new();
    postfix_driver::register(&mut registry);
    registry.open("postfix://").unwrap()
}

/// The error of a dispatch of one workgroup of two work-items over 64 bytes.
fn failure(code: &str) -> Error {
    let device = device();
    let text = format!("postfix 1\nkernel test data:buffer index:i64\ncode\n{code}\nend.");
    // SAFETY: the machine checks each access.
    let executable = unsafe { device.load_executable(text.as_bytes()) }.unwrap();
    let (data, done) = (device.allocate_device(64).unwrap(), Semaphore::new(0));
    let grid = DispatchConfig::new([1; 3]).workgroup_size([2, 1, 1]);
    let function = executable.function("test").unwrap();
    let arguments = [data.arg(), (-1_i64).into()];
    device.queue(0).unwrap().dispatch(&[], &[done.at(1)], &function, grid, &arguments).unwrap();
    done.wait_blocking(1, LONG).unwrap_err()
}

#[test]
fn a_stray_access_names_kernel_work_item_and_line() {
    // Before the buffer, behind it, across its end, at a small number, behind local memory.
    for code in [
        "7 data index 4[] !4",
        "data 64 + @1 drop",
        "data 62 + @4 drop",
        "4096 @8 drop",
        "local @4 drop",
        "1 data 61 + +! drop",
    ] {
        let error = failure(&format!("id if {code} then"));
        let text = error.to_string();
        assert_eq!(error.code(), Code::OutOfRange, "{code}: {text}");
        for part in ["running `test`", "workgroup [0, 0, 0]", "work-item [1, 0, 0]", "line 4, `"] {
            assert!(text.contains(part), "{code}: {part} is not in {text}");
        }
    }
}

#[test]
fn other_mistakes_are_errors() {
    for (code, part) in [
        ("+", "the stack is empty"),
        ("begin 1 while 1 repeat", "a stack of more than 256 numbers"),
        ("trap", "the kernel trapped"),
        ("9 $8 drop", "8 bytes at 9 of an argument block of 16"),
    ] {
        let text = failure(code).to_string();
        assert!(text.contains(part), "{code}: {text}");
    }
}

#[test]
fn texts_that_are_no_programs_are_refused_with_their_line() {
    let device = device();
    for (text, part) in [
        ("postfix 2", "line 1: no program"),
        ("postfix 1\nkernal k", "line 2: `kernal` where `kernel` belongs"),
        ("postfix 1\nkernel k\ncode\nend", "line 4: the text ends before its `end.`"),
        ("postfix 1\nkernel k\ncode\n  frobnicate\nend.", "line 4: unknown word `frobnicate`"),
        ("postfix 1\nkernel k\ncode\n  begin 1 while\nend.", "line 5: the kernel ends within `while`"),
        ("postfix 1\nkernel k\ncode\n  then\nend.", "line 4: `then` without its opening word"),
        ("postfix 1\nkernel k a:f16\ncode\nend.", "line 2: no number: `a:f16`"),
        ("postfix 1\nkernel k a:9999\ncode\nend.", "line 2: `a:9999` does not fit"),
        ("postfix 1\nkernel k size=1,0,1\ncode\nend.", "line 2: `size=1,0,1` is no size"),
        ("postfix 1\nkernel k a:u8\ncode\n 1 =a\nend.", "line 4: `=a`: a parameter keeps its value"),
        ("postfix 1\nkernel k\ncode\nend\nkernel k\ncode\nend.", "line 7: a second kernel `k`"),
        ("postfix 1\nkernel k\ncode\nend.\nmore", "line 5: `more` behind `end.`"),
    ] {
        // SAFETY: the text is refused, so nothing is dispatched.
        let error = unsafe { device.load_executable(text.as_bytes()) }.unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.to_string().contains(part), "{part} is not in {error}");
    }
}
