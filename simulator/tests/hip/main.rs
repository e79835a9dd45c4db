// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulated HIP, through its functions. One program, so that its parts link once and run beside each other; tests that need
//! a process to themselves are programs beside it.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod batches;
mod bounds;
mod boxes;
mod capture;
mod clients;
mod contexts;
mod devices;
mod faults;
mod graphs;
mod handles;
mod hardware_queues;
mod held_up;
mod host_memory;
mod injections;
#[cfg(target_os = "linux")]
mod ipc;
mod kernels;
mod launches;
mod libraries;
mod linking;
mod lock;
mod managed;
mod memory;
mod mixed;
mod names;
mod occupancy;
mod pools;
mod programs;
mod schedules;
mod services;
mod several_devices;
mod stream_facts;
mod stream_values;
mod streams;
mod symbols;
mod versions;
mod violations;
#[cfg(target_os = "linux")]
mod virtual_memory;
