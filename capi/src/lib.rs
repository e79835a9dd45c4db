// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C ABI of Windlass: `libwindlass.so`, `libwindlass.a`, and `include/windlass.h`, which cbindgen writes from this
//! crate. `docs/c.md` shows how to use them. This page says why they are as they are.
//!
//! # An error is an object, and NULL is success
//!
//! A function that can fail returns `windlass_error_t *`. NULL is success, so `if (error)` is the test; else the object
//! holds a code and the message, and the caller releases it. The other ways were weighed. A bare code loses the message, which
//! is most of what Windlass has to say: which entry of a bundle fits and why not the others, where a library was looked for. A
//! code with the message in a thread's "last error" loses it when the next call is made in between, and gives it to the wrong
//! thread in a program with fibers or with another language's scheduler on top. An out parameter for the error doubles every
//! signature. A pointer costs one register, nothing on success, and it is what IREE, libhrx and ONNX Runtime return. Its weakness is
//! that an ignored error leaks and goes unseen; the header marks each such function, so that compilers warn.
//!
//! # Handles are counted, and remember that they died
//!
//! Every object is an opaque pointer with `retain` and `release`. What a call gives belongs to the caller, what it takes it borrows
//! for the call, and what a submission uses the submission keeps. A handle that is used after its last release, released twice, or
//! released by one thread while another uses it, is found out and refused, not undefined: see `handle`. What
//! remains undefined is what C cannot tell anybody: a pointer that never was a handle, or memory of the caller's own that is not as
//! large as it says.
//!
//! # Strings, lists, structs
//!
//! Strings are UTF-8 and end with a NUL: names of kernels and URIs come from literals, files and command lines, and every
//! language can make one. Code and bytes are a pointer and a size. Lists are a count and a pointer, as two plain parameters, so that
//! any foreign function interface can call. Structs that will grow begin with their own size: an older program's has zeros where
//! fields are missing, a newer program's is accepted while the fields that this library does not know are zero. Structs in lists
//! cannot grow and have no size. Enumerations and flags are integers of 32 or 64 bits with named constants, because a C program can put any
//! number into an enum, and a number that is no variant would be undefined behaviour in Rust.
//!
//! # Callbacks run on threads of Windlass
//!
//! A callback for a semaphore's value or for a host call runs on a pool's thread, never on the stack of whoever signals, so it may block
//! and call back into Windlass. Its user data is a pointer that Windlass only carries.
//!
//! # No panic crosses
//!
//! Each entry point runs its body through `boundary`: a panic, which is a defect of ours, becomes an error with the code INTERNAL.
//!
//! # Unsafe code
//!
//! It stands in `handle` and `memory`, which argue it, in the few places that call a function of the C program, and, for entry points that take
//! the caller's memory, in one line that hands the header's contract on. Entry points with handles alone are safe
//! functions: this crate is built for C and is no Rust library, so nothing but C calls them.
#![allow(non_camel_case_types, reason = "the names are C's")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract is the header's, and the same for every function"
)]
#![allow(clippy::too_many_arguments, reason = "lists are two parameters each")]

// The header has the declarations in the order of the modules: what a program needs first comes first.
pub mod error;

mod boundary;
mod handle;
mod memory;
mod pattern;

pub mod device;

pub mod executable;

pub mod buffer;

pub mod semaphore;

pub mod wait;

pub mod callback;
pub mod timepoint;

pub mod dispatch;

pub mod queue;

pub mod transfer;

pub mod host_call;

pub mod command_buffer;

use std::ffi::c_char;

/// The version of this interface, the major number in the upper 16 bits. A program and a library fit when the major numbers are
/// equal and the library's minor number is not smaller: windlass_abi_fits tells.
pub const WINDLASS_ABI_VERSION: u32 = 1;

/// The library's WINDLASS_ABI_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_abi_version() -> u32 {
    WINDLASS_ABI_VERSION
}

/// The version of Windlass, such as "0.1.0". Valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
