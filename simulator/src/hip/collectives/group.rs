// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread's group: the calls since `ncclGroupStart`, which `ncclGroupEnd` makes together.

use std::sync::Arc;

use windlass_hip_sys::rccl::ncclResult_t;

use super::member::{Factor, Match, Member};
use super::operation::Operation;
use crate::hip::objects::stream::Stream;

/// A rank's side of an operation that is not enqueued yet.
pub(crate) struct Task {
    pub(crate) member: Arc<Member>,
    pub(crate) stream: Arc<Stream>,
    pub(crate) operation: Operation,
    pub(crate) of: Match,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) factor: Option<Factor>,
    pub(crate) call: &'static str,
}

/// A communicator that is being made.
pub(crate) struct Making {
    pub(crate) member: Arc<Member>,
    pub(crate) handle: u64,
}

/// The group of a thread.
#[derive(Default)]
pub(crate) struct Group {
    /// Calls of `ncclGroupStart` without their ends.
    pub(crate) depth: u32,
    /// The first error of a call within the group.
    pub(crate) error: Option<ncclResult_t>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) making: Vec<Making>,
}
