// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code that is loaded several times: the number of loads by HIP.

use std::{sync::Barrier, thread};

use windlass_hal::{Code, Device, Executable, Result};
use windlass_hip_sys::{bindings::hipError_t, null::Options};

use crate::common::{self, VECTOR_ADD, eventually, nothing_leaks, open, open_failing, open_with};

const VECTOR_ADD_GFX942: &[u8] = include_bytes!("../../../../cts/kernels/bundles/vector_add.gfx942.co");
const LOAD: &str = "hipModuleLoadData";

fn load(device: &Device) -> Result<Executable> {
    load_code(device, VECTOR_ADD)
}

fn load_code(device: &Device, code: &[u8]) -> Result<Executable> {
    // SAFETY: the null HIP runs nothing.
    unsafe { device.load_executable(code) }
}

#[test]
fn the_same_bytes_are_loaded_once_while_a_handle_lives() {
    let (instance, device) = open();
    let first = load(&device).expect("loads");
    let function = load(&device).expect("loads").function("vector_add").expect("is there");
    assert_eq!(instance.count(LOAD), 1);
    drop(first);
    assert!(function.executable().same(&load(&device).expect("loads")));
    assert_eq!(instance.count(LOAD), 1);
    drop(function);
    eventually("the module goes", || instance.live().modules == 0);
    let again = load(&device).expect("loads");
    assert_eq!((instance.count(LOAD), instance.live().modules), (2, 1));
    drop((again, device));
    nothing_leaks(&instance);
}

#[test]
fn work_in_flight_keeps_what_it_runs_and_a_new_load_finds_it() {
    let (instance, device) = common::open_manual();
    let (commands, table) = common::record(&device, 1, false);
    let done = windlass_hal::Semaphore::new(0);
    device.queue(0).expect("a queue").execute(&[], &[done.at(1)], &commands, table).expect("submits");
    drop(commands);
    load(&device).expect("loads");
    assert_eq!(instance.count(LOAD), 1);
    instance.complete();
    done.wait_blocking(1, common::SOON).expect("completes");
}

#[test]
fn threads_that_load_at_once_load_once() {
    let (instance, device) = open();
    let start = Barrier::new(8);
    let loaded: Vec<Executable> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    load(&device).expect("loads")
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(instance.count(LOAD), 1);
    assert!(loaded.iter().all(|executable| executable.same(&loaded[0])));
}

#[test]
fn a_load_that_failed_is_tried_anew() {
    let (interposer, instance, device) = open_failing(Options::default(), "test://");
    for call in [LOAD, "hipModuleGetFunction"] {
        interposer.fail(call, 1, hipError_t::hipErrorOutOfMemory);
        let error = load(&device).expect_err("refused");
        assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
        assert!(error.to_string().contains(call), "{error}");
    }
    let executable = load(&device).expect("loads");
    assert_eq!(interposer.count(LOAD), 3);
    assert!(executable.same(&load(&device).expect("is there")));
    assert_eq!(interposer.count(LOAD), 3);
    drop((executable, device));
    nothing_leaks(&instance);
}

#[test]
fn code_of_the_gpus_family_is_loaded_only_where_the_uri_says_so() {
    const GFX1030: u8 = 0x36;
    let mut code = VECTOR_ADD_GFX942.to_vec();
    code[48] = GFX1030;
    let open_gfx1031 = |uri| open_with(Options { arch: "gfx1031".to_owned(), ..Options::default() }, uri);

    let (instance, device) = open_gfx1031("test://");
    let error = load_code(&device, &code).expect_err("gfx1030 is no gfx1031");
    assert_eq!(error.code(), Code::NotFound);
    assert!(error.to_string().contains("compatible=families"), "{error}");
    assert_eq!(instance.count(LOAD), 0);

    let (instance, device) = open_gfx1031("test://?compatible=families");
    load_code(&device, &code).expect("loads").function("vector_add").expect("is there");
    assert_eq!(instance.count(LOAD), 1);

    code[48] = 0x41;
    let error = load_code(&device, &code).expect_err("gfx1100 is another family");
    assert!(!error.to_string().contains("compatible=families"), "{error}");
}

#[test]
fn devices_share_nothing() {
    let (instance, device) = open();
    let mut registry = windlass_hal::Registry::new();
    registry.register(windlass_hip::Driver::new("test", windlass_hip::table(instance.api())));
    let other = registry.open("test://").expect("opens");
    assert!(!load(&device).expect("loads").same(&load(&other).expect("loads")));
    assert_eq!(instance.count(LOAD), 2);
}
