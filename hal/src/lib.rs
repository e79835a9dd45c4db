// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of Windlass: devices, queues, timeline semaphores, command buffers, memory and executables, and the
//! machinery that every driver shares.
//!
//! This page argues the design. What each call does, takes and returns stands with the call.
//!
//! # Work is asynchronous, and only semaphores order it
//!
//! A [`Queue`] takes operations: fills, updates, copies, file reads and writes, host calls, dispatches, command
//! buffers, and the allocation and release of memory. Each comes with a list of [`Point`]s to wait for and a list of
//! points to signal, and submitting returns without waiting for other work. An operation may start when every wait is
//! reached. When it has completed, every signal is.
//!
//! Nothing else orders anything. Two operations without an edge between them may run in either order or at the same
//! time, on one queue as well as on two, and so may two commands of a command buffer without a barrier between them. A
//! rule that is sometimes stricter ("a queue is in order") would be a rule that programs come to lean on, and that the
//! next driver breaks. `shuffle://`, in the conformance suite, breaks it on purpose.
//!
//! # A semaphore is a number that grows
//!
//! A [`Semaphore`] has a payload of 64 bits that only grows. Waiting for a value that nobody has promised yet is legal,
//! so a consumer may be submitted before its producer, by another thread, to another queue. Signalling at or below the
//! payload does nothing; a device that signals takes the maximum. There is one kind of semaphore, made here and not by
//! drivers: one timeline can order work of two devices and of the host, and the part of this crate that must not be
//! wrong is written once. It is checked by loom in every interleaving.
//!
//! [`Semaphore::wait`] is a future that any executor can poll and that leaves nothing behind when it is dropped. Wakers
//! run with no lock held. [`Semaphore::wait_blocking`] is for threads: it takes a [`Deadline`] and a [`WaitPolicy`], for
//! waiting too long is a decision of the caller.
//!
//! # Failure travels along the same edges
//!
//! A semaphore can fail: sticky, and the first error wins. Everybody who waits for a value that was not reached gets the
//! error at once; a value that was reached before stays reached, because the work it stands for is done. An operation
//! that fails, or that depends on a failed semaphore, fails its own signals with that error, but only once its work can
//! no longer touch memory. Hence nothing hangs because something else failed, and whoever sees the error may free what
//! the work used. When a device is lost, all its work fails at once, and its memory is never used again.
//!
//! An `Err` from a submission itself means something else: nothing was accepted, and the signals are untouched.
//!
//! # How an operation gets into a stream
//!
//! A driver's streams run in order, so an operation may enter one when each wait is reached, or will be reached by work
//! that the same device has already enqueued. The second case is an [`edge::Edge`], which the driver turns into a device
//! wait, and the host never hears of it. Until then the operation stays in the [`pending`] set and holds no stream. The
//! order of enqueuing is therefore a topological order of the dependencies: a wait before its signal cannot deadlock,
//! and a stream never stalls for work that nobody has submitted. With its waits resolved, an operation is enqueued on
//! the thread that submits it, with no thread between the caller and the device.
//!
//! Progress is made by whoever submits, queries, polls or waits. A driver starts a thread of its own only when somebody
//! sleeps on what it owes. Nor does anybody wait for a file: its bytes move in pieces, each begun by whoever completed the one
//! before, straight between the file and memory that the host can reach, and by the kernel itself where it offers that; see
//! [`file`](mod@file).
//!
//! # Memory belongs to queues
//!
//! [`Queue::alloca`] gives a buffer and its address at once; only its contents are ordered. [`Queue::dealloca`] gives the
//! memory back in the same way. Memory is reused without a trip to the host where the new use is ordered behind the old
//! one, or can be made so by a device wait. What a submission uses, it keeps alive: a program may drop every handle right
//! after submitting. A [`Mapping`] copies bytes in and out or gives a raw pointer, and never a reference, because a queue
//! may write the bytes at any time.
//!
//! # A command buffer is immutable
//!
//! It is recorded once, with every check made while recording, and may then be in flight any number of times, on any
//! queues. What changes between submissions comes as a [`BindingTable`]. Kernel arguments are packed while recording;
//! replaying copies a block, writes the addresses that the table supplies, and launches.
//!
//! A barrier orders everything before it against everything after it. An [`Event`] is a barrier in two halves: what precedes
//! the signal is done before what follows the wait, and what lies between is free. An event belongs to its recording, so that
//! every replay has events of its own. Barriers and events order nothing but beginnings of the list, and
//! [`CommandList::predecessors`] gives that order as one number for each command.
//!
//! A dispatch may take its workgroup count from memory. A static count ([`IndirectParameters::Static`]) is read when the
//! waits of the submission are reached, a dynamic one when the commands before it have written it. Where a device cannot
//! launch a count that the host does not know, the driver enqueues the rest of the work when it has read the count; the
//! signals stay those of the whole, and nobody waits in between.
//!
//! # A kernel's arguments are its own
//!
//! A dispatch gives one [`Argument`] for each parameter that the code object lists, in the kernel's order: a buffer, a
//! slot of the table, bytes of exactly the parameter's size (a struct by value is bytes), or null. There is no calling
//! convention of our own between a compiler and its kernels.
//!
//! # Two acts are unsafe: loading code, and importing a raw pointer
//!
//! Device code can write anywhere, and no check can stop it. [`Device::load_executable`] is `unsafe` and says what its
//! caller vouches for. Nor can a check tell whether memory is there and stays there, of which only the address is known:
//! [`Device::import_host_pointer`] and [`Device::import_device_address`] are `unsafe` for the same reason. Everything else in
//! the interface that programs use is safe. Bytes that a program owns become a buffer by [`Device::import_host`], which takes
//! them; an address goes out by [`Buffer::export_device_address`], with a handle that keeps the memory. Nothing that a caller
//! can pass to the safe part makes Windlass panic, hang or leak, and an [`Error`] says what was tried, where, and what to do
//! about it.
//!
//! The same bytes, loaded twice while somebody holds what came of them, are one [`Executable`], its global variables
//! included. A variable is memory like any other: [`Executable::global`] gives it as a [`Buffer`].
//!
//! Code that was compiled in pieces need not be linked beforehand: [`Device::load_linked`] makes one executable of several
//! files, and what one leaves undefined another may define. [`Executable::symbols`] tells where its kernels, functions and
//! variables lie on the device.
//!
//! # The front validates, drivers obey
//!
//! The structs of this page are fronts over the traits in [`driver`]. What reaches a driver is canonical: ranges in
//! bounds, usage allowed, objects of its own device. A driver has one entry for work, [`driver::Device::submit`], with an
//! [`Operation`] that may grow; so a [`driver::Wrapper`] that traces, records or reorders is one method long, and the
//! conformance suite is built from such wrappers. Handing a driver work past the front is `unsafe`.
//!
//! This crate knows no driver, and of foreign functions those of the system: files go through its ring, and it tells of a
//! `fork`. Children of a process that has opened a device are refused by all that would submit, allocate, load, open, signal
//! or wait; what they let go of stays as it is.
//!
//! # An example
//!
//! Two dispatches, the second of which needs the first, and a download that needs both. Nothing here waits but the last
//! line, and the order of the submissions is not the order of the work.
//!
//! ```no_run
//! use windlass_hal::{Device, DispatchConfig, Result, Semaphore};
//!
//! async fn scale_twice(device: &Device, code: &[u8], input: &[u8]) -> Result<Vec<u8>> {
//!     // SAFETY: the compiler that made `code` vouches for it.
//!     let executable = unsafe { device.load_executable(code) }?;
//!     let scale = executable.function("scale")?; // scale(data: buffer, factor: 4 bytes)
//!     let queue = device.queue(0)?;
//!     let data = device.allocate_device(input.len() as u64)?;
//!     let grid = DispatchConfig::new([64, 1, 1]).workgroup_size([256, 1, 1]);
//!
//!     let done = Semaphore::new(0);
//!     queue.dispatch(&[done.at(2)], &[done.at(3)], &scale, grid, &[data.arg(), 3.0_f32.into()])?;
//!     queue.dispatch(&[done.at(1)], &[done.at(2)], &scale, grid, &[data.arg(), 2.0_f32.into()])?;
//!     queue.update(&[], &[done.at(1)], input, &data)?;
//!     queue.download(&[done.at(3)], &data)?.await
//! }
//! ```
#![deny(unsafe_code)]

// The layers, in order: each imports those before it, and none behind it.
pub mod driver;
mod front;
mod kit;
mod order;
mod words;

pub use driver::{
    accounts::{Accounts, Statistics},
    binding_table::BindingTable,
    buffer_ref::BufferRef,
    command::{Command, DispatchCommand},
    command_list::{CommandList, Patch, SlotRequirement},
    host_call::{Completion, HostCall, HostCallContext, HostCallFlags, HostCalls},
    operation::{Dispatch, Operation},
    range::Buffer,
    storage::File,
    workgroup_count::{IndirectParameters, WorkgroupCount},
};
pub use front::{
    argument::{Argument, Value, bindings_then_constants},
    buffer_view::BufferView,
    command_buffer::CommandBuffer,
    compatibility::Compatibility,
    device::Device,
    dispatch::DispatchConfig,
    download::Download,
    event::Event,
    executable::{Executable, Function},
    export::Exported,
    indirect_dispatch::IndirectDispatchConfig,
    queue::Queue,
    recorder::Recorder,
    registry::Registry,
};
pub use kit::{
    file,
    host_memory::{self, HostImport},
    mapping::Mapping,
    pool::{self, Pool, PoolKind, PoolParams, PoolStatistics},
};
pub use order::{
    callback_pool,
    deadline::Deadline,
    edge,
    fence::{Fence, FenceWait},
    notifications::Notifications,
    pending,
    point::{Point, Points},
    semaphore::{Probe, Semaphore},
    wait::{Wait, WaitPolicy, wait_all, wait_any},
};
pub use words::{
    buffer_params::{BufferParams, BufferUsage, MemoryType},
    debug_group::{DebugGroup, SourceLocation},
    element_type::{ElementType, Number},
    error::{Code, Error, Result, ResultExt},
    external::{External, Release},
    function_info::{FunctionInfo, GlobalInfo, Parameter, ParameterKind},
    heap::Heap,
    info::{DeviceInfo, Feature, Lack},
    limits::Limits,
    literal::Literal,
    near_names::near_names,
    panics,
    pattern::Pattern,
    queue_affinity::QueueAffinity,
    shape::Shape,
    symbol::{SymbolBinding, SymbolInfo, SymbolKind},
    uri::{Parameters, Uri},
};
