// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of Windlass: devices, queues, timeline semaphores, command buffers, memory and executables. It also
//! holds the machinery that all drivers share.
//!
//! This page explains the design. The documentation of each call says what the call does, takes and returns.
//!
//! # The path of a submission
//!
//! ```text
//! program   Queue::dispatch(waits, signals, ..)                   semaphore.wait(value).await
//!               |                                                             ^
//!               v                                                             | wakers run
//! front     check the call, lend an OperationRef                              |
//!               |                                                             |
//!               v                                                             |
//! driver    RawDevice::submit(affinity, waits, signals, operation)        Semaphore
//!               |                                                         ^       ^
//!               v                                                         |       |
//! order     PendingSet::submit: is each wait resolved?                    |       |
//!               |                  |                                      |       |
//!               | yes              | no: hold the operation;              |       |
//!               |                  |     the last wait releases it        |       |
//!               v                  v                                      |       |
//! driver    Issue::issue(work)                                            |       |
//!               |                                                         |       |
//!               +----- attach_edge: this device will reach the value -----+       |
//!               |                                                                 |
//!               v                                                                 |
//! device    stream:  [ device waits ][ work ][ event ]  ...  retired:  pending::reach(signals)
//!                                                                   or pending::fail(signals)
//! ```
//!
//! The folders of this crate are its layers. Each imports those before it: `words` (errors, parameters, descriptions),
//! `order` (semaphores, waits, the pending set), [`driver`] (the traits and the canonical work), `kit` (the parts that
//! drivers share: [`pool`], [`file`](mod@file), [`host_memory`]), and `front` (the types that programs use).
//!
//! # Work is asynchronous, and only semaphores order it
//!
//! A [`Queue`] takes operations: fills, updates, copies, file reads and writes, host calls, dispatches, command
//! buffers, barriers, the allocation and release of memory, timepoints of other libraries, and collectives. Each
//! operation comes with a list of [`Point`]s to wait for and a list of points to signal. Submitting returns without
//! waiting for other work. An operation may start when all its waits are reached. When it has completed, all its
//! signals are reached, in the order of the list.
//!
//! Nothing else orders work. Two operations that no semaphore orders may run in either order or at the same time, on
//! two queues or on one. Two commands of a command buffer without a barrier between them may do the same. A stricter
//! rule, such as "a queue is in order", would hold on some drivers only. Programs would come to depend on it, and the
//! next driver would break them. The driver `shuffle://` of the conformance suite runs work out of order on purpose.
//!
//! # A semaphore is a number that grows
//!
//! A [`Semaphore`] has a payload of 64 bits that only grows. A program may wait for a value that no work has promised
//! yet, so it may submit a consumer before its producer, from another thread or to another queue. Signalling a value at
//! or below the payload does nothing. A signal from a device sets the payload to the greater of the payload and the
//! signalled value.
//!
//! There is one kind of semaphore, made by this crate and not by drivers. So one timeline can order work of two devices
//! and of the host. The critical code is written once, and loom checks all of its interleavings.
//!
//! [`Semaphore::wait`] returns a future that any executor can poll. Dropping the future cancels the wait. Wakers run
//! with no lock held. [`Semaphore::wait_blocking`] blocks the calling thread until a [`Deadline`].
//! [`wait_blocking_with`](Semaphore::wait_blocking_with) also takes a [`WaitPolicy`], which says how the thread waits.
//!
//! # Failure follows the same order
//!
//! A semaphore can fail. The failure is sticky, and the first error wins. All waits for values above the payload end
//! with that error at once. A value that was reached before stays reached, because its work is done.
//!
//! An operation that fails, or that depends on a failed semaphore, fails its own signals with the error. It does so
//! only when its work can no longer touch memory. So no operation hangs because another one failed, and a program that
//! sees the error may free the memory that the work used. When a device is lost, all its work fails at once, and its
//! memory is never used again.
//!
//! An `Err` from a submission itself means something else: the operation was not accepted, and the signals are
//! untouched.
//!
//! # How an operation enters a stream
//!
//! Each stream of a driver runs its work in order. An operation may enter a stream when each of its waits is in one of
//! two states: the value is reached, or work that the same device has already enqueued will reach it. The second state
//! is an [`edge::Edge`]. The driver turns the edge into a device wait, and the host takes no part in it.
//!
//! Until then the operation stays in the [`pending`] set and holds no stream. So the order of enqueuing is a
//! topological order of the dependencies. A wait that was submitted before its signal cannot deadlock, and a stream
//! never stalls for work that is not submitted yet. An operation whose waits are resolved at submission is enqueued on
//! the submitting thread. There is no thread between the caller and the device.
//!
//! Calls that submit, query, poll or wait also retire finished work. A driver needs no thread to retire work, unless a
//! sleeping thread, a waker or a held operation depends on it. No thread waits for a file either. The bytes move in
//! pieces, and the completion of one piece begins the next. They move directly between the file and memory that the
//! host can reach; the operating system moves them itself where it can (see [`file`](mod@file)).
//!
//! # Memory belongs to queues
//!
//! [`Queue::alloca`] returns a buffer whose address is known at once. The memory belongs to the buffer from the moment
//! at which the signals of the alloca are reached. [`Queue::dealloca`] releases the memory in the same way. New work
//! may reuse released memory without a round trip to the host, if it is ordered behind the last use. A device wait is
//! enough for that order.
//!
//! A submission keeps the objects alive that it uses, so a program may drop all handles right after submitting. A
//! [`Mapping`] copies bytes in and out or gives a raw pointer. It never gives a reference, because a queue may write
//! the bytes at any time.
//!
//! # A command buffer is immutable
//!
//! A command buffer is recorded once. Recording makes all checks but those of the binding table, which each submission
//! makes. The same command buffer may be in flight any number of times at once, on any queues of its device. Buffers
//! that change between submissions come as a [`BindingTable`]. Recording packs the kernel arguments. Replaying writes
//! the addresses from the table into a copy of the argument block, and launches.
//!
//! All commands after a barrier start when all commands before it have completed. An [`Event`] is a barrier in two
//! halves: the commands before the signal complete before the commands after the wait start. The event does not order
//! the commands between its signal and its wait. An event belongs to its recording, so each replay has events of its
//! own. Barriers and events give each command a number N: the command may start when the first N commands of the list
//! have completed. [`CommandList::predecessors`] gives these numbers.
//!
//! A dispatch may read its workgroup count from memory. A static count ([`IndirectParameters::Static`]) is read when
//! the waits of the submission are reached. A dynamic count is read when the commands before it have written it. Some
//! devices cannot launch a dispatch with a count that the host does not know. On these devices the driver reads the
//! count first and enqueues the rest of the work afterwards. The signals still stand for the whole command buffer, and
//! no thread waits in between.
//!
//! # A kernel keeps its own arguments
//!
//! A dispatch takes one [`Argument`] for each parameter that the code object lists, in the order of the kernel. An
//! argument is a buffer, a slot of the table, null, or bytes of exactly the size of the parameter (a struct by value is
//! bytes). Windlass does not add a calling convention between a compiler and its kernels.
//!
//! # Streams of other libraries
//!
//! Another library of the process may use the same GPU with streams of its own. [`Queue::import_timepoint`] is an
//! operation. It completes when the work that the stream held at the call of `import_timepoint` has completed.
//! [`Queue::export_timepoint`] lets later work of the stream wait for points. So the order holds across both libraries,
//! and the host takes no part. The stream is a number; `torch.cuda.current_stream().cuda_stream` is PyTorch's:
//!
//! ```no_run
//! use windlass_hal::{BufferParams, DispatchConfig, ExportFlags, ExternalStream, Function, Queue, Result, Semaphore};
//!
//! /// Scales a tensor between two operations of PyTorch. `tensor` is an owner of its memory.
//! unsafe fn scale(
//!     (queue, scale): (&Queue, &Function),
//!     (address, size): (u64, u64),
//!     tensor: impl Send + 'static,
//!     cuda_stream: u64,
//! ) -> Result<()> {
//!     let (stream, done) = (ExternalStream::from_raw(cuda_stream), Semaphore::new(0));
//!     let params = BufferParams::device();
//!     // SAFETY: the tensor keeps its memory, and the points below order its uses.
//!     let data = unsafe { queue.device().import_device_address(&params, address, size, move || drop(tensor)) }?;
//!     // SAFETY: PyTorch's current stream exists.
//!     unsafe { queue.import_timepoint(&[], &[done.at(1)], stream) }?;
//!     let grid = DispatchConfig::new([64, 1, 1]).workgroup_size([256, 1, 1]);
//!     queue.dispatch(&[done.at(1)], &[done.at(2)], scale, grid, &[data.arg(), 2.0_f32.into()])?;
//!     // SAFETY: as above.
//!     unsafe { queue.export_timepoint(&[done.at(2)], stream, ExportFlags::NONE) }
//! }
//! ```
//!
//! An export enters the other library's stream when no point needs the host any more: each is reached, or work that is
//! already in a stream of this device will reach it. A failure never stalls the other library's stream.
//!
//! # Ranks that communicate
//!
//! A [`Channel`] is one rank. The other ranks may be on other devices and in other processes. All ranks carry out
//! [`Collective`] operations together. [`Queue::collective`] takes a group of them with a wait list and a signal list,
//! like each other operation. Ranks join in the background: a group that waits for the join holds up no other work of
//! its queue, and no thread of the program. Another process may never come, and an absent process looks like a slow
//! one. So each channel has a timeout. After it, the groups of this channel fail with `ABORTED`. Other work continues.
//!
//! # Four things are unsafe: loading code, importing a raw pointer, naming a stream, and joining a channel
//!
//! Device code can write anywhere, and no check can prevent it. So [`Device::load_executable`] is `unsafe`, and its
//! documentation says what the caller vouches for. No check can tell whether an address points to memory, or how long
//! that memory lives. So [`Device::import_host_pointer`] and [`Device::import_device_address`] are `unsafe` too. No
//! check can tell whether a number is the handle of a stream, so [`Queue::import_timepoint`] and
//! [`Queue::export_timepoint`] are `unsafe`. No check can tell whether the ranks of a channel, which may be in other
//! processes, submit operations that fit together, so [`Device::create_channel`] is `unsafe`.
//!
//! The rest of the interface for programs is safe. [`Device::import_host`] takes ownership of bytes and makes them a
//! buffer. [`Buffer::export_device_address`] gives out an address together with a handle that keeps the memory. No
//! argument to a safe call makes Windlass panic, hang or leak. An [`Error`] names the attempt, its place, and the remedy.
//!
//! A program that loads the same bytes again, while a handle of the first load lives, gets the same [`Executable`] with
//! the same global variables. A variable is memory like any other: [`Executable::global`] returns it as a [`Buffer`].
//!
//! Code that was compiled in pieces need not be linked beforehand. [`Device::load_linked`] makes one executable of
//! several files, and one piece may define the symbols that another leaves undefined. [`Executable::symbols`] lists the
//! kernels, functions and variables with their addresses on the device.
//!
//! # A profile watches without being in the way
//!
//! [`Device::profiling_begin`] gives a [`ProfileSink`] a record of each operation: when it was submitted, issued, run
//! on the device and retired, what it waited for and signalled, and its error. While no profile runs, a submission
//! tests one flag. While one runs, the front puts a [`witness`] before the signal list of each operation. The witness
//! is a semaphore, so every driver and wrapper settles it like any other signal, and the order of work stays the same.
//! A driver that knows when the work ran tells the witness. Records are collected under a lock of their own and handed
//! on in chunks, by threads that hold no lock.
//!
//! # The front validates, and drivers obey
//!
//! The structs of this page wrap the traits in [`driver`]. All work that reaches a driver is canonical: ranges are in
//! bounds, the usage is allowed, and the objects belong to the device. A driver has one entry for operations,
//! [`driver::RawDevice::submit`], which takes an [`OperationRef`]. So a [`driver::Wrapper`] that traces, records or
//! reorders operations has two methods to write: `submit`, and one that names the inner device. The saboteurs of the
//! conformance suite are such wrappers. New kinds of operation may be added later. Handing work to a driver without the
//! front is `unsafe`.
//!
//! This crate depends on no driver. Its only foreign calls are to the operating system: io_uring for files, reserved
//! addresses for memory that grows, a clock, and a handler that notes a `fork`. A forked child of a process that has
//! opened a device cannot use Windlass. Calls that submit, allocate, load, open, signal or wait are refused there.
//! Handles that the child drops are leaked.
//!
//! # An example
//!
//! The example submits two dispatches and a download. The second dispatch needs the result of the first, and the
//! download needs both. Only the last line waits. The order of the submissions is not the order of the work.
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

// The layers. Each imports those above it; `tests/layers.rs` checks that.

mod words;

mod order;

pub mod driver;

mod kit;

mod front;

pub use driver::{
    accounts::{Accounts, Statistics},
    binding_table::BindingTable,
    buffer_ref::BufferRef,
    collective::Collective,
    command::{Command, DispatchCommand, Patch, Patches, RecordedFunction},
    command_list::{
        CommandList, Commands, InOrder, Position, SlotRequirement, block::RecordedLaunch,
        builder::CommandListBuilder, patched_block::PatchedBlock,
    },
    host_call::{Completion, HostCall, HostCallContext, HostCallFlags, HostCalls},
    operation::{Dispatch, DispatchRef, Operation, OperationRef},
    range::Buffer,
    recorded_range::RecordedRange,
    storage::File,
    workgroup_count::{IndirectParameters, WorkgroupCount, WorkgroupCountRef},
};
pub use front::{
    argument::{Argument, Value, bindings_then_constants},
    buffer_view::BufferView,
    channel::Channel,
    command_buffer::CommandBuffer,
    compatibility::Compatibility,
    device::Device,
    dispatch::DispatchConfig,
    download::Download,
    event::Event,
    executable::{Executable, Function},
    export::Exported,
    growable::GrowableBuffer,
    indirect_dispatch::IndirectDispatchConfig,
    queue::Queue,
    recorder::Recorder,
    registry::Registry,
};
pub use kit::{
    file, growable,
    host_memory::{self, HostImport},
    mapping::Mapping,
    pool::{self, Pool, PoolKind, PoolParams, PoolStatistics},
    profile::{
        ProfileSinks,
        statistics::{ProfileStatistics, ProfileStatisticsRow},
        trace::ProfileTrace,
    },
};
pub use order::{
    callback_pool,
    deadline::Deadline,
    edge,
    fence::{Fence, FenceWait},
    notifications::Notifications,
    observation::Observation,
    observer::Observer,
    pending,
    point::{Point, Points},
    semaphore::{Probe, Semaphore},
    wait::{Wait, WaitPolicy, wait_all, wait_any},
    witness,
};
pub use words::{
    buffer_params::{BufferParams, BufferUsage, MemoryType},
    collective::{ChannelId, ChannelParams, CollectiveKind, Reduction},
    debug_group::{DebugGroup, SourceLocation},
    element_type::{ElementType, Number},
    error::{Code, Error, Result, ResultExt},
    external::{External, Release},
    external_timepoint::{ExportFlags, ExternalEvent, ExternalStream, ExternalTimepoint},
    facts::{DeviceFacts, FunctionResources, Occupancy, SuggestedWorkgroup},
    fork,
    function_info::{FunctionInfo, GlobalInfo, Parameter, ParameterKind},
    heap::Heap,
    info::{DeviceInfo, Feature, Lack},
    limits::Limits,
    literal::Literal,
    location::Location,
    near_names::near_names,
    panics,
    pattern::Pattern,
    profile::{
        CommandKind, CommandRecord, HostCallRecord, MemoryEvent, MemoryRecord, OperationRecord, ProfileChunk,
        ProfileOptions, ProfilePoint, ProfileRecord, ProfileSink, ProfiledDevice, TimeSpan,
    },
    queue_affinity::QueueAffinity,
    shape::Shape,
    symbol::{SymbolBinding, SymbolInfo, SymbolKind},
    topology::{LinkKind, PciAddress, Topology, TopologyEdge, TopologyNode},
    uri::{Parameters, Uri},
};
