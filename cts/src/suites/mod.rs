// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cases of the suite, one file for each of its suites.

use crate::case::Case;

/// A table of cases. It has the suite's name, then for each case its function (or name = function), its contract, and
/// the features that it requires. `#[smoke]` or `#[stress]` before it is its level; the default is `full`.
macro_rules! suite {
    (@level) => { $crate::outcome::Level::Full };
    (@level smoke) => { $crate::outcome::Level::Smoke };
    (@level stress) => { $crate::outcome::Level::Stress };
    (@run $name:ident) => { $name };
    (@run $name:ident $run:expr) => { $run };
    ($suite:literal; $(
        $(#[$level:ident])? $name:ident $([$($feature:ident),*])? $(= $run:expr,)? $(:)? $contract:literal;
    )*) => {
        pub(super) const CASES: &[$crate::case::Case] = &[$(
            $crate::case::Case::new(
                concat!($suite, ".", stringify!($name)),
                $contract,
                &[$($(windlass_hal::Feature::$feature),*)?],
                suite!(@run $name $($run)?),
            )
            .level(suite!(@level $($level)?)),
        )*];
    };
}

mod alloca;
mod buffer;
mod channel;
mod collective;
mod collective_refused;
mod command_buffer;
mod command_buffer_collective;
mod command_buffer_dispatch;
mod command_buffer_event;
mod command_buffer_indirect;
mod debug_group;
mod dispatch;
mod dispatch_refused;
mod driver;
mod executable;
mod executable_cache;
mod executable_global;
mod executable_linked;
mod executable_symbols;
mod export;
mod external_timepoint;
mod facts;
mod failure;
mod fence;
mod file;
mod file_system;
mod future;
mod growable;
mod heap;
mod host_call;
mod import;
mod lifetime;
mod operation;
mod physical_device;
mod pool;
mod profile_notes;
mod profiling;
mod program;
mod queue;
mod semaphore;
mod semaphore_observer;
mod semaphore_thread;
mod statistics;
mod threads;
mod topology;
mod transfer;

pub(crate) use dispatch::vector_add_with;

/// Every case of the suite, in the order in which the cases run.
pub fn cases() -> Vec<Case> {
    [
        driver::CASES,
        semaphore::CASES,
        semaphore_observer::CASES,
        semaphore_thread::CASES,
        future::CASES,
        fence::CASES,
        buffer::CASES,
        heap::CASES,
        import::CASES,
        export::CASES,
        external_timepoint::CASES,
        statistics::CASES,
        topology::CASES,
        facts::CASES,
        transfer::CASES,
        growable::CASES,
        queue::CASES,
        physical_device::CASES,
        pool::CASES,
        host_call::CASES,
        channel::CASES,
        collective::CASES,
        collective_refused::CASES,
        alloca::CASES,
        command_buffer::CASES,
        command_buffer_event::CASES,
        debug_group::CASES,
        executable::CASES,
        executable_cache::CASES,
        executable_global::CASES,
        executable_linked::CASES,
        executable_symbols::CASES,
        dispatch::CASES,
        dispatch_refused::CASES,
        command_buffer_dispatch::CASES,
        command_buffer_indirect::CASES,
        command_buffer_collective::CASES,
        operation::CASES,
        failure::CASES,
        lifetime::CASES,
        profiling::CASES,
        threads::CASES,
        file::CASES,
        file_system::CASES,
        program::CASES,
    ]
    .concat()
}
