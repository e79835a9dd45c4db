// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device over the null HIP, with the instance that counts its calls.
#![allow(dead_code, unreachable_pub)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use windlass_hal::{
    Argument, BindingTable, Buffer, BufferRef, Code, CommandBuffer, Device, DispatchConfig, Function,
    Registry,
};
use windlass_hip_sys::{
    interposer::Interposer,
    null::{Instance, Options},
};

pub const VECTOR_ADD: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cts/kernels/bundles/vector_add.ccob"));

/// Opens `uri` of scheme `test` over a null HIP.
pub fn open_with(options: Options, uri: &str) -> (Arc<Instance>, Device) {
    let instance = Instance::new(options);
    let mut registry = Registry::new();
    registry.register(windlass_hip::Driver::new("test", windlass_hip::table(instance.api())));
    let device = registry.open(uri).expect("the null HIP opens");
    (instance, device)
}

/// As [`open_with`], with an interposer in between that makes calls fail. The instance counts the calls that pass.
pub fn open_failing(options: Options, uri: &str) -> (Arc<Interposer>, Arc<Instance>, Device) {
    let instance = Instance::new(options);
    let interposer = Interposer::new(instance.api());
    let mut registry = Registry::new();
    registry.register(windlass_hip::Driver::new("test", windlass_hip::table(interposer.api())));
    let device = registry.open(uri).expect("the null HIP opens");
    (interposer, instance, device)
}

pub fn open() -> (Arc<Instance>, Device) {
    open_with(Options::default(), "test://")
}

/// Work in flight stays in flight until the instance completes it.
pub fn open_manual() -> (Arc<Instance>, Device) {
    let options = Options { manual: true, ..Options::default() };
    open_with(options, "test://")
}

pub fn vector_add(device: &Device) -> Function {
    // SAFETY: the project's own kernel; it stays within the buffers of its arguments, and the null HIP runs nothing.
    let executable = unsafe { device.load_executable(VECTOR_ADD) }.expect("vector_add loads");
    executable.function("vector_add").expect("vector_add is in its bundle")
}

pub fn grid() -> DispatchConfig {
    DispatchConfig::new([4, 1, 1]).workgroup_size([256, 1, 1])
}

/// N dispatches with a barrier after each, by direct ranges or through a table of three.
pub fn record(device: &Device, n: usize, by_table: bool) -> (CommandBuffer, BindingTable) {
    let function = vector_add(device);
    let buffers: Vec<Buffer> = (0..3).map(|_| device.allocate_device(4096).expect("4 KiB")).collect();
    let mut recorder = device.record_with_slots(if by_table { 3 } else { 0 }).expect("a recorder");
    for _ in 0..n {
        let slot = |slot| Argument::Slot { slot, offset: 0, length: 4096 };
        let arguments: Vec<Argument<'_>> = if by_table {
            vec![slot(0), slot(1), slot(2), 1024_i32.into()]
        } else {
            vec![buffers[0].arg(), buffers[1].arg(), buffers[2].arg(), 1024_i32.into()]
        };
        recorder.dispatch(&function, grid(), &arguments).expect("a legal dispatch");
        recorder.barrier();
    }
    let table = if by_table { BindingTable::from(buffers) } else { BindingTable::empty() };
    (recorder.finish().expect("a command buffer"), table)
}

/// A reference to a slot, for transfers.
pub fn slot(slot: u32, length: u64) -> BufferRef {
    BufferRef::slot(slot, 0, length)
}

/// Longer than any step takes. A wait that takes this long has hung.
pub const SOON: Duration = Duration::from_secs(20);

/// Checks repeatedly until `condition` holds, for effects of other threads.
#[track_caller]
pub fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !condition() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::yield_now();
    }
}

/// After the last handle is dropped and the work is complete, the device has released everything that it took from
/// HIP, including the events that a reaper records.
#[track_caller]
pub fn nothing_leaks(instance: &Instance) {
    let deadline = Instant::now() + SOON;
    while !instance.live().is_empty() {
        assert!(Instant::now() < deadline, "leaked: {:?}", instance.live());
        instance.complete();
        std::thread::yield_now();
    }
}

/// The code that a wait ends with; `None` for success.
#[track_caller]
pub fn code(result: windlass_hal::Result<()>) -> Option<Code> {
    let code = result.err().map(|error| error.code());
    assert_ne!(code, Some(Code::DeadlineExceeded), "hangs");
    code
}
