// SPDX-License-Identifier: MIT OR Apache-2.0
//! This must compile: handles go to any thread, futures are `'static`, errors cross threads.

use windlass_hal::{
    BindingTable, Buffer, BufferView, CommandBuffer, Completion, Device, Download, Error, Executable, Fence,
    FenceWait, File, Function, Mapping, Notifications, Point, Points, Queue, Recorder, Registry, Semaphore, Wait,
};

fn handle<T: Clone + Send + Sync + 'static>() {}
fn moves<T: Send + 'static>() {}
fn future<T: Future + Send + Unpin + 'static>() {}

fn main() {
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
