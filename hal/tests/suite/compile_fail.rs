// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that misuse the interface do not compile. `TRYBUILD=overwrite` renews the messages.

use windlass_hal::{
    BindingTable, Buffer, BufferView, CommandBuffer, Completion, Device, Download, Error, Executable, Fence,
    FenceWait, File, Function, Mapping, Notifications, Point, Points, Queue, Recorder, Registry, Semaphore,
    Wait,
};

#[test]
fn what_is_forbidden_does_not_compile() {
    // Without a program that compiles, trybuild checks the packages below and builds none.
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

fn handle<T: Clone + Send + Sync + 'static>() {}
fn moves<T: Send + 'static>() {}
fn future<T: Future + Send + Unpin + 'static>() {}

/// The compiler is the test: handles go to any thread, futures are `'static`, errors cross threads.
#[test]
fn handles_and_futures_go_to_any_thread() {
    handle::<Device>();
    handle::<Queue>();
    handle::<Buffer>();
    handle::<BufferView>();
    handle::<CommandBuffer>();
    handle::<BindingTable>();
    handle::<Executable>();
    handle::<Function>();
    handle::<Semaphore>();
    handle::<Point>();
    handle::<Points>();
    handle::<Fence>();
    handle::<File>();
    handle::<Registry>();
    handle::<Error>();
    moves::<Mapping>();
    moves::<Recorder>();
    moves::<Completion>();
    moves::<Notifications>();
    future::<Wait>();
    future::<FenceWait>();
    future::<Download>();
}
