// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C ABI of Windlass: `libwindlass.so`, `libwindlass.a`, and `include/windlass.h`, which includes a header for each
//! module that has entry points. cbindgen writes the headers. `docs/c.md` shows how to use them. This page gives the
//! reasons for their design.
//!
//! # An error is an object, and NULL is success
//!
//! A function that can fail returns `windlass_error_t *`. NULL is success, so `if (error)` is the test. Otherwise the
//! object holds a code and a message, and the caller releases it. The three alternatives are worse. A bare code loses
//! the message, which has most of the information: which entry of a bundle fits and why the others do not, or where a
//! library was searched. If the message is in a thread's "last error", the next call overwrites it, and the wrong
//! thread gets it in a program with fibers or with another language's scheduler. An out parameter for the error doubles
//! every signature. A pointer costs one register and nothing on success, and IREE, libhrx and ONNX Runtime return one.
//! Its weakness is that an ignored error leaks and goes unnoticed; the header marks each such function, so that
//! compilers warn.
//!
//! # Handles are counted, and detect their release
//!
//! Every object is an opaque pointer with `retain` and `release`. The caller owns the results of a call. A call borrows
//! its arguments, and a submission keeps its objects alive. Using a handle after its last release, releasing it twice,
//! releasing it while another thread uses it, or passing one of another kind is detected and refused, not undefined: see
//! `handle`. Two uses stay undefined: a pointer that never was a handle, and memory that is smaller than the caller
//! states.
//!
//! # Strings, lists, structs
//!
//! Strings are UTF-8 and end with a NUL, because names of kernels and URIs come from literals, files and command lines,
//! and every language can make such strings. Code and bytes are a pointer and a size. Lists are a count and a pointer,
//! as two plain parameters, so that any foreign function interface can pass them. Structs that will grow begin with
//! their own size: fields that an older program lacks are read as zero, and fields that this library does not know must
//! be zero. Structs in lists cannot grow and have no size. The list of a function's parameters is the exception: the
//! size in its first struct is the stride. Enumerations and flags are integers of 32 or 64 bits with named constants,
//! because a C program can put any number into an enum, and in Rust a number without a variant would be undefined
//! behaviour.
//!
//! # Callbacks run on threads of Windlass
//!
//! A callback for a semaphore's value or for a host call runs on a thread of a pool, never on the stack of a signalling
//! thread. So it may block and call Windlass. An observer of a semaphore is the exception: it runs on the signalling
//! thread and must not block, because a runtime that observes every advance could not afford a change of threads for
//! each. The user data of a callback is a pointer that Windlass only passes on.
//!
//! # Drivers and wrappers are tables, and an operation is an object
//!
//! A driver of the program gets each operation when its waits are reached, and completes it. So the driver handles no
//! semaphores and no edges. The price: the waits of its operations go through the host. A wrapper gets the operation
//! with its lists when it is submitted. Both get the same object, with an owned copy of the operation behind it, so
//! that they may keep it. Descriptions that a driver gives go through functions, not through pointers in structs, so
//! the interface needs no rule for how long a string of a driver lives.
//!
//! # No panic leaves the library
//!
//! Each entry point runs its body through `boundary`. A panic, which is a defect of the library, becomes an error with
//! the code INTERNAL.
//!
//! # No exception of the program enters the library
//!
//! The library calls each function of the program through `exception`. There an exception of C++ ends. It becomes an
//! error that names the function, or a line on standard error where the function can report no failure. Without this,
//! callbacks would have to let no exception out, and a program that broke this rule would end with a message that names
//! neither the callback nor the exception.
//!
//! # Unsafe code
//!
//! Most unsafe code is in these modules: `handle`, `memory` and `exception`, which justify it; `code_file`, where a
//! parsed file is stored beside the bytes that it borrows; `driver`, which makes all calls of a driver and implements
//! the traits; `dlpack`, whose structs have pointers and a deleter of another library. Elsewhere unsafe code is single
//! lines, each with the reason why it is sound: a struct that may grow, a handle that threads share, a call of another
//! function of the C program. An entry point that takes the caller's memory reads it in unsafe lines, which pass on the
//! header's contract. Entry points that take only handles are safe functions, which is sound because only C calls them:
//! this crate is not a Rust library.
#![allow(non_camel_case_types, reason = "the names are C's")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract is the header's, and the same for every function"
)]
#![allow(clippy::too_many_arguments, reason = "lists are two parameters each")]

// The header has the declarations in the order of the modules, so the modules that programs need first come first.
pub mod error;

mod binding_table;
mod boundary;
mod exception;
mod handle;
mod memory;
mod pattern;

pub mod feature;

mod registry;

pub mod unknown;

pub mod device;

pub mod uri;

pub mod executable;

pub mod buffer;

pub mod global;
pub mod symbol;

pub mod semaphore;

pub mod wait;

pub mod callback;
pub mod timepoint;

pub mod observation;

pub mod fence;

pub mod dispatch;

pub mod queue;

pub mod transfer;

pub mod host_call;

pub mod command_buffer;

pub mod event;

pub mod indirect_dispatch;
pub mod pool;

pub mod import;

pub mod external_timepoint;

pub mod export;

pub mod heap;

pub mod compatibility;

pub mod topology;

pub mod facts;

pub mod growable;

pub mod file;

pub mod profiling;

pub mod element_type;

pub mod collective;

pub mod buffer_view;

mod backing;
mod view;

pub mod operation_info;

pub mod operation;

pub mod answer;

pub mod driver;

pub mod wrapper;

pub mod dlpack;

pub mod inbox;

pub mod replay;

pub mod code;

pub mod code_file;

pub mod code_selection;

pub mod code_image;

use std::ffi::c_char;

/// The version of this interface, with the major number in the upper 16 bits. A program fits a library if the major
/// numbers are equal and the library's minor number is not smaller: see windlass_abi_fits.
pub const WINDLASS_ABI_VERSION: u32 = 1;

/// The library's WINDLASS_ABI_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_abi_version() -> u32 {
    WINDLASS_ABI_VERSION
}

/// The version of Windlass, such as "0.1.0". The string is valid forever.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
