// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CPU driver of Windlass, `local://`. It runs kernels compiled for the host, from shared objects or from bundles
//! that contain them, and kernels written in Rust.
//!
//! It is a driver like any other. Queues, semaphores, command buffers, binding tables and checked arguments are those
//! of `windlass_hal`, and the conformance suite checks all of them. So a program can be written, tested and debugged
//! without a GPU, and a debugger can step through its kernels.
//!
//! ```
//! use std::sync::Arc;
//! use windlass_hal::{DispatchConfig, Registry, Semaphore};
//! use windlass_local::{Kernel, Library, LocalDriver};
//!
//! let double = Kernel::new("double", |group| {
//!     let (data, n) = (group.arguments.buffer::<f32>(0)?, group.arguments.value::<u32>(1)?);
//!     for [x, _, _] in group.global_items().take_while(|[x, _, _]| *x < n) {
//!         // SAFETY: the dispatch below gives a `data` of `n` elements.
//!         unsafe { data.store(x as usize, data.load(x as usize) * 2.0) };
//!     }
//!     Ok(())
//! });
//! let library = Library::builder("example").kernel(double.buffer("data").value::<u32>("n")).build()?;
//! let mut registry = Registry::new();
//! registry.register(Arc::new(LocalDriver::new().with_library(library.clone())));
//!
//! let device = registry.open("local://?threads=0")?;
//! // SAFETY: `double` stays within the `n` elements that its arguments state, and the dispatch below states `n` truly.
//! let executable = unsafe { device.load_executable(&library.image())? };
//! let (queue, data, step) = (device.queue(0)?, device.allocate_device(400)?, Semaphore::new(0));
//! queue.fill(&[], &[step.at(1)], &data, 1.5_f32)?;
//! let grid = DispatchConfig::new([2, 1, 1]).workgroup_size([64, 1, 1]);
//! let arguments = [data.arg(), 100_u32.into()];
//! queue.dispatch(&[step.at(1)], &[step.at(2)], &executable.function("double")?, grid, &arguments)?;
//! let bytes = pollster::block_on(queue.download(&[step.at(2)], &data)?)?;
//! assert_eq!(bytes, 3.0_f32.to_le_bytes().repeat(100));
//! # Ok::<(), windlass_hal::Error>(())
//! ```
//!
//! # Threads
//!
//! A device has threads of its own: one for each hardware thread, or `threads=N`. Each thread has a queue of tasks, and
//! takes tasks from other queues when its own is empty. Work goes to the threads when its waits are reached, regardless
//! of the order of submission. Waiting work never holds a thread.
//!
//! Threads share the workgroups of one dispatch, the pieces of a long transfer, and the commands of a command buffer
//! that have no barrier and no event between them. The thread that ends the last part goes on with the dependent work.
//! Short operations run on the thread that makes them ready: barriers, alloca, dealloca, and transfers of up to 4 KiB.
//! Host calls have threads of their own, as on every device.
//!
//! Idle threads sleep. They end after the last work of a dropped device. No thread joins them.
//!
//! # The inline form
//!
//! `local://?threads=0` has no threads of its own. Work runs on the thread that makes it ready: inside the submission
//! if its waits are reached, otherwise inside the signal that reaches the last of them. Work never nests. Work that
//! becomes ready while an operation runs is appended to the list of its thread and runs afterwards, so a chain of any
//! length needs the stack of one operation. A submission therefore takes as long as the work that it makes ready. It
//! never waits for other work, and work that different threads submit runs at the same time.
//!
//! | parameter | meaning |
//! |---|---|
//! | `threads` | the number of threads, up to 1024; `0` for none; by default one for each hardware thread |
//! | `memory` | the bytes that buffers may take; by default half of the machine's memory |
//!
//! # Kernels and libraries
//!
//! A [`Kernel`] is a function that is called once for each workgroup. It gets the argument block that a GPU kernel of
//! the same parameters would get, the workgroup's position, and its local memory. A [`Library`] is a named set of
//! kernels and globals. `load_executable` takes the library's [`image`], a few bytes that name the library.
//! [`DeviceInfo::executable_formats`](windlass_hal::DeviceInfo::executable_formats) calls this format [`FORMAT`].
//!
//! A kernel is ordinary Rust, except that it reaches the memory of its arguments through [`Pointer`]. As on a GPU,
//! these accesses are not checked: a kernel that leaves its buffers overwrites the process. The caller that loads the
//! library vouches that its kernels do not. An error or a panic of a kernel fails only its submission.
//!
//! # Shared objects
//!
//! On Linux `load_executable` takes ELF shared objects for this machine ([`NATIVE_FORMAT`]). They may stand alone. They
//! may also be the entry `host-x86_64-unknown-linux-gnu-` of a bundle, compressed or not, that has code for GPUs too.
//! `include/windlass_kernel.h` defines their kernels: a function that is called once for each workgroup, and a
//! description of its parameters, which the driver reads from the file before it loads the object.
//!
//! The object itself is trusted, as the `unsafe` contract of `load_executable` says: the system's loader follows its
//! tables and runs its constructors. Its names are private: other code of the process does not see its exports, and
//! each load has its own variables. Writable variables are the executable's globals. Dropping the last handle unloads
//! the object.
//!
//! [`Device::load_linked`](windlass_hal::Device::load_linked) makes one executable of several objects that refer to
//! each other, also circularly. It accepts a file with several bundles too. If several objects define a name, the first
//! definition counts. If the process itself exports the name, such as a program's own `malloc`, the definition of the
//! process counts.
//!
//! Code for GPUs is refused, and the error describes each entry of the file.
//!
//! # The files
//!
//! | file | contents |
//! |---|---|
//! | `driver.rs` | opens a device for a URI |
//! | `device.rs` | the device's methods |
//! | `queues.rs`, `submit.rs`, `at_once.rs` | the device's queues, and how an operation reaches a thread or runs inside its submission |
//! | `submission.rs`, `queue.rs` | an operation from its first part to its signals |
//! | `threads.rs`, `batch.rs`, `cut.rs` | the device's threads, and the parts of work that they share |
//! | `trampoline.rs`, `in_flight.rs` | work runs without nesting; the count of work in flight, for draining |
//! | `kernel.rs`, `library.rs`, `executable/` | kernels, from declaration to loading |
//! | `shared_object/` | shared objects, found in files and loaded from memory |
//! | `entry.rs`, `dispatch.rs`, `workgroup_count.rs`, `workgroup.rs`, `arguments.rs`, `local_memory.rs` | kernels as they run |
//! | `command_buffer.rs`, `replay.rs`, `block.rs` | recorded lists, and their submissions |
//! | `transfer.rs` | fills, updates and copies |
//! | `conformance/` | the conformance suite's kernels in Rust, with the feature `conformance` |

mod arguments;
mod at_once;
mod batch;
mod block;
mod command_buffer;
#[cfg(feature = "conformance")]
pub mod conformance;
mod cut;
mod device;
mod dispatch;
mod driver;
mod entry;
mod executable;
mod in_flight;
mod kernel;
mod library;
mod local_memory;
mod queue;
mod queues;
mod replay;
mod shared_object;
mod submission;
mod submit;
mod sync;
mod threads;
mod topology;
mod trampoline;
mod transfer;
mod workgroup;
mod workgroup_count;

use std::sync::Arc;

use windlass_hal::Registry;

pub use arguments::{Arguments, Pointer, Scalar};
pub use driver::LocalDriver;
pub use kernel::Kernel;
pub use library::{Library, LibraryBuilder, image};
pub use workgroup::Workgroup;

/// The executable format of shared objects for this machine: `elf-x86_64`, `elf-aarch64`.
pub const NATIVE_FORMAT: &str = if cfg!(target_arch = "x86_64") {
    "elf-x86_64"
} else if cfg!(target_arch = "aarch64") {
    "elf-aarch64"
} else if cfg!(target_arch = "riscv64") {
    "elf-riscv64"
} else {
    "elf-host"
};

/// The executable format of [images](image).
pub const FORMAT: &str = "windlass-library";

/// Adds `local://` to a registry.
pub fn register(registry: &mut Registry) {
    registry.register(Arc::new(LocalDriver::new()));
}
