// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of Windlass and the machinery that every driver shares.
#![deny(unsafe_code)]

pub mod edge;
mod error;
pub mod pending;
mod semaphore;
mod sync;
mod wait;

pub use error::{Code, Error, Result, ResultExt};
pub use semaphore::{Notifications, Point, Points, Probe, Semaphore};
pub use wait::{Deadline, Wait, WaitPolicy, wait_all, wait_any};
