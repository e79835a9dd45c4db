// SPDX-License-Identifier: MIT OR Apache-2.0
//! The HIP driver of Windlass: queues, semaphores and memory over AMD's HIP runtime, found at run time.
//!
//! # How an operation runs
//!
//! A queue is a stream. An operation whose waits are reached, or stand for work that this device has enqueued, goes
//! into a stream on the caller's thread: one `hipStreamWaitEvent` for each edge from another stream, the work, and
//! one `hipEventRecord` for all its signals. Any other operation waits in the HAL's pending set and holds no stream.
//! With its waits reached, a command buffer of N dispatches costs N launches, one record, and at most three calls
//! more; no allocation, no lock that others sleep on, no other thread.
//!
//! Progress is made by whoever submits, queries, polls or waits; each retires finished work if no other thread is
//! doing so. A reaper thread for a queue is started when somebody sleeps, or an operation of another device pends,
//! on what the queue owes.
//!
//! # Streams that share a hardware queue
//!
//! AMD's runtime runs a GPU's streams on few hardware queues, 4 unless `GPU_MAX_HW_QUEUES` says otherwise, and work of
//! streams that share one runs in the order in which it was enqueued. This never makes work of the driver's wait for
//! ever. A stream is given nothing that waits for what comes later: the events that it waits for were recorded before,
//! an operation that waits for anything else (the host, another device, workgroup counts) pends and holds no stream, no
//! host function is enqueued, and whoever waits for an event does so outside of streams. So of all work in
//! flight the oldest can always run. What a kernel of the client's itself waits for is the client's: one that spins
//! until another queue's kernel has run may hold that one up, and one that spins for the host holds up other queues.
//!
//! # Indirect dispatch
//!
//! HIP launches no grid that only the device knows. An operation with such a dispatch enters its stream in pieces: one ends
//! with copies of the workgroup counts into pinned memory and an event, and whoever retires it enqueues the next. One
//! trip to the host serves every count that is known by then, and counts that the host sees are read without one. The
//! last piece carries the signals; until then dependants wait in the pending set.
//!
//! # Linking
//!
//! HIP refuses a code object with a relocation against a symbol that it does not define, and takes one code object after
//! the other. So those that others need are loaded first, the addresses of what they define are written into private copies
//! of the others, and the relocations are taken out of these. `hipModuleGetGlobal` tells where a variable lies; where a
//! function lies follows from any variable of the same code object, and nobody knows it where there is none.
//!
//! # What runs where
//!
//! Nothing that synchronises a device (`hipFree`, `hipHostFree`, `hipModuleUnload`, destroying streams) runs on a
//! caller's thread, but for one case: an allocation that fails while free blocks are kept gives these back first.
//! The current device of the calling thread is as it was after each call, and HIP's sticky error is cleared.
//!
//! # When the device is lost
//!
//! A status after which HIP repeats itself for every call (an illegal address, a failed launch) loses the device:
//! everything in flight and pending fails with that status and, on the simulated GPU, with the report of what
//! happened. Its memory is quarantined. The process can open the device anew where HIP allows that; the simulated
//! GPU does, AMD's runtime as a rule does not.
//!
//! # When the process ends
//!
//! AMD's runtime destroys its objects when `main` returns or `exit` is called, and crashes when it is called from then
//! on, by whichever thread. So it is called no more: a handler of `atexit` sees to that ([`windlass_hip_sys`]), and
//! waits for calls that are inside, such as those of reapers and of threads that outlive `main`, for five seconds at
//! most. What uses a device then is answered `FAILED_PRECONDITION`, what is in flight fails with that, and what is
//! dropped stays as it is. Handlers and static objects of the program that come before that (made behind the first use
//! of each function of HIP's that it calls) find the device as it was. HIP in this process, simulated or null, has no
//! end.

#[cfg(target_os = "linux")]
pub mod access;
mod allocator;
mod buffer;
mod call;
mod command_buffer;
mod device;
mod driver;
mod event;
mod executable;
mod global;
mod gpu;
mod image_cache;
mod images;
mod import;
mod info;
mod link;
mod queue;
mod quirks;
mod reaper;
mod replay;
mod retire;
mod semaphore;
mod status;
mod symbol;
mod watchers;

pub use driver::{Driver, Found, Selector, Source, null, system, table};
pub use image_cache::image_cache;
