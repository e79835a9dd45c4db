// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that must fail. A failure ends the process, so each runs in a process of its own: this program, which then runs one
//! test alone.
#![allow(unsafe_code, clippy::print_stdout)]
#![cfg(target_os = "linux")]

mod common;

use std::{ffi::c_void, ptr, time::Duration};

use common::{Dense, Library, NULL, child, in_child, kernel};

/// The time after which a test takes a process for hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// Its name, the calls, and a part of the message.
type Misuse = (&'static str, fn(&Library), &'static str);

/// Calls that must fail.
fn misuses() -> Vec<Misuse> {
    fn add(mgpu: &Library) -> *mut c_void {
        mgpu.function(mgpu.load(kernel("vector_add")), c"vector_add")
    }
    vec![
        (
            "twice",
            |mgpu| {
                let stream = mgpu.stream();
                mgpu.destroy_stream(stream);
                mgpu.destroy_stream(stream);
            },
            "was destroyed before",
        ),
        ("null stream", |mgpu| mgpu.destroy_stream(NULL), "the stream is null"),
        (
            "no stream",
            |mgpu| mgpu.synchronize(ptr::without_provenance_mut(0x1234)),
            "0x1234 is no stream of this library",
        ),
        ("event for stream", |mgpu| mgpu.synchronize(mgpu.event()), "is no stream of this library"),
        (
            "event",
            |mgpu| {
                let event = mgpu.event();
                mgpu.destroy_event(event);
                mgpu.record(event, mgpu.stream());
            },
            "mgpuEventRecord(0x52",
        ),
        (
            "kernel",
            |mgpu| {
                mgpu.function(mgpu.load(kernel("vector_add")), c"vector_ad");
            },
            "no function `vector_ad`; the executable has `vector_add`",
        ),
        (
            "unloaded",
            |mgpu| {
                let module = mgpu.load(kernel("vector_add"));
                let add = mgpu.function(module, c"vector_add");
                mgpu.unload(module);
                mgpu.launch(add, 1, 1, NULL, &[&NULL, &NULL, &NULL, &0_i32]);
            },
            "the function 0x54",
        ),
        ("code", |mgpu| _ = mgpu.load(b"no code at all"), "mgpuModuleLoad("),
        ("assembly", |mgpu| mgpu.load_text(c"s_endpgm"), "gpu-module-to-binary=format=bin"),
        (
            "arguments",
            |mgpu| mgpu.launch(add(mgpu), 1, 1, NULL, &[&NULL]),
            "has 4 parameters, and the launch passes 1",
        ),
        ("grid", |mgpu| mgpu.launch(add(mgpu), -1, 1, NULL, &[&NULL, &NULL, &NULL, &0_i32]), "a grid of -1"),
        ("block", |mgpu| mgpu.launch(add(mgpu), 1, 4096, NULL, &[&NULL, &NULL, &NULL, &0_i32]), "4096"),
        (
            "range",
            |mgpu| {
                let memory = mgpu.alloc(64, NULL);
                mgpu.fill32(memory, 0, 17, NULL);
            },
            "68 bytes at",
        ),
        (
            "copy",
            |mgpu| mgpu.copy::<u8, u8>(ptr::null_mut(), c"x".as_ptr().cast(), 1, NULL),
            "the target is null",
        ),
        (
            "free",
            |mgpu| {
                let memory = mgpu.alloc(64, NULL);
                mgpu.free(memory, NULL);
                mgpu.free(memory, NULL);
            },
            "or it was released before",
        ),
        (
            "inside",
            |mgpu| mgpu.free(mgpu.alloc(64, NULL).wrapping_byte_add(8), NULL),
            "is not the start of an allocation",
        ),
        ("memory", |mgpu| _ = mgpu.alloc(1 << 60, NULL), "RESOURCE_EXHAUSTED"),
        (
            "fill",
            |mgpu| {
                let mut host = [0_u32; 4];
                mgpu.fill32(host.as_mut_ptr().cast(), 1, 4, NULL);
            },
            "nor registered by mgpuMemHostRegister",
        ),
        (
            "registered",
            |mgpu| {
                // It stays registered, and so must live on.
                let host: &[u8; 64] = Box::leak(Box::new([0; 64]));
                mgpu.register(host.as_ptr(), 64);
                mgpu.register(host.as_ptr(), 64);
            },
            "ALREADY_EXISTS",
        ),
        ("unregistered", |mgpu| mgpu.unregister(c"text".as_ptr()), "is not the start of registered memory"),
        (
            "strides",
            |mgpu| {
                let mut host = [0_f32; 64];
                let aligned = host.as_mut_ptr();
                let sparse = Dense { allocated: NULL, aligned, offset: 0, sizes: [4, 4], strides: [8, 1] };
                mgpu.register_memref(2, &sparse, 4);
            },
            "only dense memory references",
        ),
        ("view", |mgpu| _ = mgpu.device_memref([0_f32; 4].as_mut_ptr(), 4), "call mgpuMemHostRegister first"),
        ("gpu", |mgpu| mgpu.set_default_device(1), "has 1 GPUs, numbered from 0"),
        (
            "fault",
            |mgpu| {
                let stream = mgpu.stream();
                let memory = mgpu.alloc(64, stream);
                let module = mgpu.load(kernel("faults"));
                mgpu.launch(mgpu.function(module, c"write_at"), 1, 1, stream, &[&memory, &1000_i64, &0_u32]);
                mgpu.unload(module);
                mgpu.synchronize(stream);
            },
            "mgpuLaunchKernel of `write_at` with 1 x 1 x 1 blocks of 1 x 1 x 1 threads, on stream ",
        ),
        (
            "fault of a destroyed stream",
            |mgpu| {
                let (stream, memory) = (mgpu.stream(), mgpu.alloc(64, NULL));
                let module = mgpu.load(kernel("faults"));
                mgpu.launch(mgpu.function(module, c"write_at"), 1, 1, stream, &[&memory, &1000_i64, &0_u32]);
                mgpu.destroy_stream(stream);
                // Nobody asks about the failure: it is heard.
                std::thread::park_timeout(PATIENCE);
            },
            "write_at",
        ),
    ]
}

#[test]
fn a_failure_is_told_and_ends_the_process() {
    const TEST: &str = "a_failure_is_told_and_ends_the_process";
    if let Some(mgpu) = in_child(TEST) {
        let wanted = std::env::var("MISUSE").unwrap();
        let (_, misuse, _) = misuses().into_iter().find(|(name, ..)| *name == wanted).unwrap();
        println!("before");
        misuse(mgpu);
        println!("behind");
        return;
    }
    for (name, _, message) in misuses() {
        let run = child(TEST, &[("MISUSE", name)]);
        assert_eq!(run.code, Some(1), "{name}: {run:?}");
        assert!(run.error.contains("windlass-mgpu: ") && run.error.contains(message), "{name}: {run:?}");
        assert_eq!(run.error.matches("windlass-mgpu:").count(), 1, "{name}: {run:?}");
        assert!(!run.output.contains("behind"), "{name}: the program went on with wrong numbers: {run:?}");
    }
}

#[test]
fn a_program_may_go_on_after_failures_if_the_user_says_so() {
    const TEST: &str = "a_program_may_go_on_after_failures_if_the_user_says_so";
    if let Some(mgpu) = in_child(TEST) {
        for (_, misuse, _) in
            misuses().into_iter().filter(|(name, ..)| *name != "fault of a destroyed stream")
        {
            misuse(mgpu);
        }
        // Other streams go on.
        let stream = mgpu.stream();
        let memory = mgpu.alloc(4, stream);
        let mut word = 0_u32;
        mgpu.fill32(memory, 5, 1, stream);
        mgpu.copy(&raw mut word, memory, 4, stream);
        mgpu.synchronize(stream);
        assert_eq!(word, 5);
        return;
    }
    let run = child(TEST, &[("WINDLASS_MGPU_ERRORS", "continue")]);
    run.succeeds();
    for (name, _, message) in misuses() {
        assert!(run.error.contains(message), "{name}: {run:?}");
    }
    // The process aborts where the user asks for that, and takes the default for a word without meaning.
    let run = child(
        "a_failure_is_told_and_ends_the_process",
        &[("MISUSE", "twice"), ("WINDLASS_MGPU_ERRORS", "abort")],
    );
    assert_eq!((run.code, run.error.contains("was destroyed before")), (None, true), "{run:?}");
    let run = child(
        "a_failure_is_told_and_ends_the_process",
        &[("MISUSE", "twice"), ("WINDLASS_MGPU_ERRORS", "ignore")],
    );
    assert_eq!(
        (run.code, run.error.contains("is none of exit, continue and abort")),
        (Some(1), true),
        "{run:?}"
    );
}
