// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collective work between the devices of a machine, which the simulated RCCL offers.
//!
//! Each rank of a communicator enqueues its side of an operation on a stream: a packet by which it arrives at the
//! [`Round`](round::Round) of the operation, and a packet behind it that waits until the round is over. The rank that
//! arrives last does the operation for all of them.

pub(crate) mod element;
pub(crate) mod gathering;
pub(crate) mod group;
pub(crate) mod member;
pub(crate) mod moves;
pub(crate) mod operation;
pub(crate) mod registry;
pub(crate) mod round;
pub(crate) mod side;
