// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reason why the scheduler refuses a packet or a wait.

/// The reason why a packet was not queued, or a wait did not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The simulator is closed, or closes meanwhile.
    Closed,
    /// The queue is closed.
    QueueClosed,
    /// No thread can be started to run packets.
    NoThread,
    /// A step of a graph waits for a later one.
    Backwards,
    /// The simulator itself failed.
    Defect,
}
