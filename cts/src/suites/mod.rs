// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cases, a file for each suite.

use crate::case::Case;

/// A table of cases: the suite's name, then for each case its function (or name = function), its contract, and
/// the features it requires.
macro_rules! suite {
    ($suite:literal; $($rest:tt)*) => {
        pub(super) const CASES: &[$crate::case::Case] = &suite!(@cases $suite [] $($rest)*);
    };
    (@cases $suite:literal [$($done:expr,)*]) => { [$($done,)*] };
    (@cases $suite:literal [$($done:expr,)*]
        $name:ident $([$($feature:ident),*])? : $contract:literal; $($rest:tt)*) => {
        suite!(@cases $suite [$($done,)* $crate::case::Case::new(
            concat!($suite, ".", stringify!($name)),
            $contract,
            &[$($(windlass_hal::Feature::$feature),*)?],
            $name,
        ),] $($rest)*)
    };
    (@cases $suite:literal [$($done:expr,)*]
        $name:ident $([$($feature:ident),*])? = $run:expr, $contract:literal; $($rest:tt)*) => {
        suite!(@cases $suite [$($done,)* $crate::case::Case::new(
            concat!($suite, ".", stringify!($name)),
            $contract,
            &[$($(windlass_hal::Feature::$feature),*)?],
            $run,
        ),] $($rest)*)
    };
}

mod alloca;
mod buffer;
mod command_buffer;
mod command_buffer_dispatch;
mod dispatch;
mod dispatch_refused;
mod driver;
mod executable;
mod failure;
mod file;
mod future;
mod host_call;
mod lifetime;
mod queue;
mod semaphore;
mod semaphore_thread;
mod threads;
mod transfer;

/// Every case of the suite, in the order in which they run.
pub fn cases() -> Vec<Case> {
    [
        driver::CASES,
        semaphore::CASES,
        semaphore_thread::CASES,
        future::CASES,
        buffer::CASES,
        transfer::CASES,
        queue::CASES,
        host_call::CASES,
        alloca::CASES,
        command_buffer::CASES,
        executable::CASES,
        dispatch::CASES,
        dispatch_refused::CASES,
        command_buffer_dispatch::CASES,
        failure::CASES,
        lifetime::CASES,
        threads::CASES,
        file::CASES,
    ]
    .concat()
}
