// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite as a library, and the pages that tell of it. One program, so that a test that waits for cargo leaves no CPU idle.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/wrapped.rs"]
mod wrapped;

mod conformance;
mod driver_authors;
mod expectations;
#[cfg(unix)]
mod lab;
mod programs;
mod reports;
mod runner;
mod saboteurs;
mod shuffle;
