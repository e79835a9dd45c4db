// SPDX-License-Identifier: MIT OR Apache-2.0
//! Order: how work waits. Semaphores and their points, waits and deadlines, edges between the queues of a device, the
//! set of pending operations, and the threads for work that may block.
//!
//! The second of five layers. It imports `words`.

pub mod callback_pool;
pub(crate) mod deadline;
pub mod edge;
pub(crate) mod fence;
pub(crate) mod notifications;
pub(crate) mod observation;
pub(crate) mod observer;
pub mod pending;
pub(crate) mod point;
pub(crate) mod profiler;
mod promises;
pub(crate) mod semaphore;
pub(crate) mod turn;
pub(crate) mod wait;
pub mod witness;
