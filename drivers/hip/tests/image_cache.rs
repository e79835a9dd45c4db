// SPDX-License-Identifier: MIT OR Apache-2.0
//! One device does not decode again what another has decoded. The cache belongs to the process, so only one test
//! counts in it.

mod common;

use std::{sync::Barrier, thread};

use common::{VECTOR_ADD, open_with};
use windlass_hal::{Device, Executable};
use windlass_hip::image_cache;
use windlass_hip_sys::null::Options;

fn load(device: &Device) -> Executable {
    // SAFETY: the project's own kernel, which the null HIP does not run.
    unsafe { device.load_executable(VECTOR_ADD) }.expect("loads")
}

fn decodes() -> u64 {
    image_cache().stats().decodes
}

#[test]
fn all_devices_of_the_process_share_what_one_decoded() {
    let two = || Options { devices: 2, ..Options::default() };
    // Two GPUs as one device, and both separately, over two independent HIPs.
    let (instance, joined) = open_with(two(), "test://all");
    let kept = load(&joined);
    assert_eq!((decodes(), instance.count("hipModuleLoadData")), (1, 2));
    let (_other, second) = open_with(two(), "test://1");
    let start = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let (_third, device) = open_with(two(), "test://0");
                start.wait();
                load(&device);
            });
        }
        load(&second);
    });
    assert_eq!(decodes(), 1);
    assert_eq!(image_cache().stats().hits, 5);

    // A different mode is a different target.
    for (arch, count) in [("gfx942:sramecc+:xnack-", 2), ("gfx942:sramecc+:xnack+", 3), ("gfx942", 3)] {
        let (_instance, device) =
            open_with(Options { arch: arch.to_owned(), ..Options::default() }, "test://");
        load(&device);
        assert_eq!(decodes(), count, "{arch}");
    }

    image_cache().clear();
    assert_eq!(image_cache().stats().bytes, 0);
    kept.function("vector_add").expect("what is loaded stays");
    load(&second);
    assert_eq!(decodes(), 4);
}
