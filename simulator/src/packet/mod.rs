// SPDX-License-Identifier: MIT OR Apache-2.0
//! The layer under both front ends: queues of packets, and the order in which packets run.
//!
//! A front end (HIP, HSA) cuts its clients' requests into [`Packet`]s: dispatches, copies, fills, barriers,
//! host functions. A [`Scheduler`] holds the queues. The packets of one queue run in order; a packet also
//! waits for its [`Edge`]s, which are ends of packets of other queues and conditions on signals in memory.
//! Several streams of a client share one [`hardware`] queue, which runs their packets in order.
//!
//! Without a seed, packets of different queues run side by side on the scheduler's threads. With a seed, one
//! step runs at a time, and the [`schedule`] draws which.

mod clock;
mod dispatch;
mod edge;
mod graph;
mod hardware;
mod held_up;
mod queue;
mod refusal;
mod schedule;
mod scheduler;
mod state;
mod threads;
mod transfer;
mod work;

pub(crate) use clock::Clock;
pub(crate) use dispatch::{Dispatch, GoingDispatch};
pub(crate) use edge::{Condition, Edge, Edges};
pub(crate) use graph::GraphPacket;
pub(crate) use queue::{Point, Queue, Role};
pub(crate) use refusal::Refusal;
pub(crate) use schedule::{Schedule, Turn, mix};
pub use schedule::{ScheduleReport, Schedules, schedules};
pub(crate) use scheduler::Scheduler;
pub(crate) use transfer::{CopyCall, Direction, Fill, FillCall, Misfit, Pattern, Rows, Transfer};
pub(crate) use work::{Begun, Going, HostFunction, Packet, WorkError};
