// SPDX-License-Identifier: MIT OR Apache-2.0
//! The CPU driver of Windlass: `local://`, which runs kernels compiled for the host, from shared objects and the bundles that
//! carry them, and kernels written in Rust.
//!
//! It is a driver like any other: queues, semaphores, command buffers, binding tables and arguments by reflected
//! parameters are those of `windlass_hal`, and the conformance suite holds it to all of them. So a program can be
//! written, tested and debugged where there is no GPU, with kernels that a debugger steps through.
//!
//! ```
//! use std::sync::Arc;
//! use windlass_hal::{DispatchConfig, Registry, Semaphore};
//! use windlass_local::{Kernel, Library, LocalDriver};
//!
//! let double = Kernel::new("double", |group| {
//!     let (data, n) = (group.arguments.buffer::<f32>(0)?, group.arguments.value::<u32>(1)?);
//!     for [x, _, _] in group.global_items().take_while(|[x, _, _]| *x < n) {
//!         // SAFETY: whoever dispatches it says that `data` holds `n` elements.
//!         unsafe { data.store(x as usize, data.load(x as usize) * 2.0) };
//!     }
//!     Ok(())
//! });
//! let library = Library::builder("example").kernel(double.buffer("data").value::<u32>("n")).build()?;
//! let mut registry = Registry::new();
//! registry.register(Arc::new(LocalDriver::new().with_library(library.clone())));
//!
//! let device = registry.open("local://?threads=0")?;
//! // SAFETY: `double` stays within the `n` elements that it is told of, and every dispatch below tells the truth.
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
//! A device has threads of its own: as many as the machine runs at once, or `threads=N`. Each has a queue of tasks and
//! takes from the others' where its own is empty. Work goes to them when its waits are reached, whatever the order in which
//! it was submitted, and no thread is ever held by work that waits. The workgroups of one dispatch, the commands of a
//! command buffer that no barrier and no event orders, and the pieces of a long transfer are shared among the threads;
//! whichever ends the last of them goes on with what comes behind. What is done sooner than a thread is woken (barriers,
//! alloca and dealloca, transfers of up to 4 KiB) runs on the thread that makes it ready. Host calls have threads of their
//! own, as everywhere.
//!
//! The threads sleep where there is nothing to do, and end behind the last work of a device that was dropped. Nothing joins
//! them.
//!
//! # The inline form
//!
//! `local://?threads=0` has no threads of its own. Work runs on the thread that makes it ready: inside the submission if its
//! waits are reached, otherwise inside the signal that reaches the last of them. It never nests: what becomes ready while an
//! operation runs is appended to the list of its thread and runs behind it, so that a chain of any length needs no more
//! stack than one link. A submission therefore takes as long as the work that it makes ready. It still never waits for other
//! work, and work that different threads submit runs at the same time.
//!
//! | parameter | meaning |
//! |---|---|
//! | `threads` | how many, up to 1024; `0` for none; without it, as many as the machine runs at once |
//! | `memory` | bytes that buffers may take; half of the machine's without it |
//!
//! # Kernels and libraries
//!
//! A [`Kernel`] is a function that is called once for each workgroup, with its arguments in the block that a GPU kernel
//! of the same parameters would get, the workgroup's place, and its local memory. A [`Library`] is kernels and globals
//! under a name. Bytes stand for it where `load_executable` wants bytes: [`image`] tells their form, which
//! [`DeviceInfo::executable_formats`](windlass_hal::DeviceInfo::executable_formats) names as [`FORMAT`].
//!
//! A kernel is ordinary Rust but for the memory that its arguments point to, which it reaches through [`Pointer`]. No
//! check is made there, as on a GPU: a kernel that leaves its buffers overwrites the process. Whoever loads the library
//! vouches that it does not. An error or a panic of a kernel fails its submission alone.
//!
//! # Shared objects
//!
//! On Linux `load_executable` takes ELF shared objects for this machine ([`NATIVE_FORMAT`]), by themselves or as the host
//! entry of a bundle beside code for GPUs: `host-x86_64-unknown-linux-gnu-`, compressed or not. What a kernel is there,
//! `include/windlass_kernel.h` says: a function that is called once for each workgroup, and a description of its parameters
//! that is read from the file before anything of it is loaded. The object itself is trusted, as the `unsafe` contract of
//! `load_executable` says: the system's loader follows its tables and runs its constructors. It is loaded with names of its own: no other code of the process sees
//! what it exports, and each loading has its own variables. They are the executable's globals, but for those that can only be
//! read. The last handle unloads it.
//!
//! Several objects that refer to each other, in circles too, become one executable by
//! [`Device::load_linked`](windlass_hal::Device::load_linked), as do the bundles of one file. Names that several define
//! are those of the first. Where the process itself exports a name, as a program's `malloc` is, that comes before all.
//!
//! A GPU's code is refused, and the error says of each entry what it is.
//!
//! | file | what is in it |
//! |---|---|
//! | `driver.rs` | URI to device |
//! | `device.rs`, `queue.rs` | the device's methods, and what happens to an operation |
//! | `pool.rs` | the device's threads |
//! | `work.rs`, `batch.rs`, `cut.rs` | work from its first part to its signals, and what threads share |
//! | `trampoline.rs`, `in_flight.rs` | running without nesting, draining |
//! | `kernel.rs`, `library.rs`, `executable/` | kernels, from declaration to loading |
//! | `shared_object/` | loading from memory |
//! | `entry.rs`, `dispatch.rs`, `workgroup_count.rs`, `workgroup.rs`, `arguments.rs`, `local_memory.rs` | kernels as they run |
//! | `command_buffer.rs`, `replay.rs`, `block.rs` | recorded lists, and their submissions |
//! | `transfer.rs` | fills, updates and copies |
//! | `conformance/` | the conformance suite's kernels in Rust, with the feature `conformance` |

mod arguments;
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
mod pool;
mod queue;
mod replay;
mod shared_object;
mod sync;
mod trampoline;
mod transfer;
mod work;
mod workgroup;
mod workgroup_count;

use std::sync::Arc;

use windlass_hal::Registry;

pub use arguments::{Arguments, Pointer, Scalar};
pub use driver::LocalDriver;
pub use kernel::Kernel;
pub use library::{Library, LibraryBuilder, image};
pub use workgroup::Workgroup;

/// The name of shared objects for this machine among the forms of code, where it can load them: `elf-x86_64`,
/// `elf-aarch64`.
pub const NATIVE_FORMAT: &str = if cfg!(target_arch = "x86_64") {
    "elf-x86_64"
} else if cfg!(target_arch = "aarch64") {
    "elf-aarch64"
} else if cfg!(target_arch = "riscv64") {
    "elf-riscv64"
} else {
    "elf-host"
};

/// The name of [images](image) among the forms of code.
pub const FORMAT: &str = "windlass-library";

/// Adds `local://` to a registry.
pub fn register(registry: &mut Registry) {
    registry.register(Arc::new(LocalDriver::new()));
}
