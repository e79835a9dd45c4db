// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface, by theme. One program, so that a test that waits for the compiler leaves no CPU idle.
#![cfg(not(loom))]

mod chains;
mod compile_fail;
mod files;
mod layers;
mod pending;
mod placement;
mod preference;
mod progress;
mod properties;
mod semaphore;
mod slabs;
mod twins;
