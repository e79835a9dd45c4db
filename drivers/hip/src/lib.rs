// SPDX-License-Identifier: MIT OR Apache-2.0
//! The HIP driver of Windlass: queues, semaphores and memory over AMD's HIP runtime, which is found at run time.
//!
//! # How an operation runs
//!
//! A queue is a stream. An operation enters a stream on the caller's thread if each of its waits is reached, or will be
//! reached by work that this device has enqueued. Enqueuing costs one `hipStreamWaitEvent` for each edge from another
//! stream, the calls of the work itself, and one `hipEventRecord` for all its signals. Any other operation waits in the
//! HAL's pending set and holds no stream. Once its waits are reached, a command buffer of N dispatches costs N
//! launches, one record, and at most three further calls. Its submission allocates nothing and involves no other
//! thread. No thread sleeps while it holds a lock that the submission takes.
//!
//! Each thread that submits, queries, polls or waits makes progress: it retires finished work, unless another thread is
//! doing so. A queue gets a reaper thread if a sleeping thread, a future or an operation of another device waits for
//! its work.
//!
//! # The path through the files
//!
//! ```text
//! driver            opens a device: URI, HIP library, GPUs
//! device            the HAL's device trait; its parts
//! submit            accept -> pending set -> issue -> resume
//! queues            chooses a queue, finds the events to wait for
//! queue             one stream; enqueues a submission piece by piece
//! dispatch, replay  one launch; the steps of a command_buffer
//! stream            wait, fill, copy, launch, record
//! edge              edges for the waits of later work
//! progress, retire  find finished pieces, settle their signals
//! demand, reaper    retire work when no other thread polls for it
//! hip, call         HIP's calls, with errors of the HAL
//! ```
//!
//! A `Submission` is an operation on its way through a stream. A `Piece` is the part of it that is in the stream now. A
//! `Resume` says where the next piece begins.
//!
//! # Streams that share a hardware queue
//!
//! AMD's runtime runs the streams of a GPU on few hardware queues: 4, unless `GPU_MAX_HW_QUEUES` says otherwise. Work
//! of streams that share one runs in the order in which it was enqueued. This cannot deadlock the work of this driver,
//! because a stream never waits for later work. The events that it waits for were recorded earlier. An operation that
//! waits for anything else (the host, another device, workgroup counts) stays pending and holds no stream. The driver
//! enqueues no host function, and a thread that waits for an event puts nothing into a stream. So the oldest of all
//! work in flight can always run. The program is responsible for kernels that wait: a kernel that spins until another
//! queue's kernel has run may hold up that kernel, and a kernel that spins for the host holds up other queues.
//!
//! # Indirect dispatch
//!
//! HIP launches no grid that only the device knows. An operation with such a dispatch enters its stream in pieces. Each
//! piece but the last ends with copies of the workgroup counts to pinned memory and an event, and the thread that
//! retires it enqueues the next piece. One round trip to the host reads every count that the commands before it have
//! written. Counts in memory that the host can read need no round trip. The last piece carries the signals; until then
//! dependants wait in the pending set.
//!
//! # Collectives
//!
//! RCCL carries out collective operations, over communicators that all ranks must join. A call of RCCL may wait for
//! other ranks, so each channel has a line, whose thread alone makes such calls. The thread exists only while the line
//! has something to do. A group goes into a stream of the line, behind the events of its waits. The line records an
//! event behind the group, and the submission's queue waits for that event. So the groups of a channel run in the order
//! in which they were issued, and work before and after them needs no host. If a rank does not come, or fails, the
//! driver aborts the communicator. This also aborts the groups that it had in flight.
//!
//! # Linking
//!
//! HIP refuses a code object with a relocation against a symbol that the code object does not define, and loads one
//! code object at a time. So the code objects that others need are loaded first. The addresses of their symbols are
//! written into private copies of the others, and the relocations are removed from the copies. `hipModuleGetGlobal`
//! tells the address of a variable. The address of a function is computed from that of any variable in the same code
//! object, and is unknown if there is none.
//!
//! # Threads
//!
//! No call that synchronises a device (`hipFree`, `hipHostFree`, `hipModuleUnload`, destroying streams) is made on a
//! caller's thread, except where opening a device fails. If an allocation finds too little memory, a thread of the
//! callback pool frees the driver's free blocks; the caller waits for it, at most two seconds, and tries again. Each
//! call of the driver leaves the current device of the calling thread as it was, and clears HIP's sticky error.
//!
//! # When the device is lost
//!
//! HIP repeats some statuses (an illegal address, a failed launch) for every later call. After such a status the device
//! is lost: everything in flight and pending fails with that status and, on the simulated GPU, with a report of the
//! cause. The memory of a lost device is quarantined. The process can reopen the device if HIP allows that. The
//! simulated GPU allows it; AMD's runtime usually does not. Without `faults=sticky`, a fault on the simulated GPU loses
//! no device: it fails only the work that depends on it.
//!
//! # When the process ends
//!
//! AMD's runtime destroys its objects when `main` returns or `exit` is called. From then on it crashes if any thread
//! calls it. So the driver stops calling it: an `atexit` handler of [`windlass_hip_sys`] refuses new calls, and waits
//! at most five seconds for calls that are running, such as those of reapers and of threads that outlive `main`. After
//! that, using a device fails with `FAILED_PRECONDITION`, and so does all work in flight. Dropped objects are not
//! freed. Exit handlers run in the reverse order of their registration. A program's own `atexit` handler, or the
//! destructor of a static object, may use the device too. The program's handler must run before this driver's, so it
//! must be registered later. The driver registers its handler again after the first call of each HIP function. So the
//! program makes each call of its handler once, and then registers the handler. A HIP inside this process, simulated or
//! null, does not need this handling.

#[cfg(target_os = "linux")]
pub mod access;
mod allocator;
mod buffer;
mod call;
mod channel;
mod channels;
mod command_buffer;
mod demand;
mod device;
mod dispatch;
mod driver;
mod edge;
mod event_pool;
mod executable;
mod external_timepoint;
mod externals;
mod foreign;
mod gate;
mod global;
mod gpu;
mod gpus;
mod group;
mod growable;
mod hip;
mod image_cache;
mod images;
mod import;
mod info;
mod interop;
mod line;
mod link;
mod peers;
mod profiling;
mod progress;
mod queue;
mod queues;
mod quirks;
mod rccl;
mod reaper;
mod replay;
mod retire;
mod status;
mod stream;
mod submission;
mod submit;
mod symbol;
mod sync;
mod timing;
mod topology;
mod virtual_memory;
mod watchers;
mod workgroup_count;

pub use driver::{Driver, Found, Selector, Source, null, system, table};
pub use image_cache::image_cache;
