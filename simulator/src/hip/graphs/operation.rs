// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of graph nodes.

use std::fmt;
use std::sync::Arc;

use crate::hip::hardware::allocation;
use crate::hip::hardware::graph_memory::GraphMemory;
use crate::hip::hardware::machine::Machine;
use crate::hip::objects::event::{Event, Mark};
use crate::hip::objects::pool::Pool;
use crate::hip::programs::program::Function;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::work::host_function::HostFunction;
use crate::hip::work::item::Work;
use crate::hip::work::launch::{Launch, Launched, Shape};
use crate::packet::{CopyCall, FillCall};

/// The operation of a node. A call checks it; each launch of the graph prepares it anew.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    /// Nothing: the node only joins others.
    Empty,
    Launch(Arc<KernelCall>),
    Copy(CopyCall),
    Fill(FillCall),
    Host(HostFunction),
    /// Records an event.
    Record(Arc<Event>),
    /// Waits for the event's latest recording at the launch of the graph.
    Wait(Arc<Event>),
    /// Gives memory.
    Allocate(Arc<GraphMemory>),
    /// Frees memory that a node gives.
    Free {
        pool: Arc<Pool>,
        base: u64,
        /// The call, for reports.
        by: Arc<str>,
    },
    /// A graph as it was when the node was added.
    Child(Arc<Vec<GraphStep>>),
}

/// An operation in a list in which every operation stands behind those that it waits for.
#[derive(Clone, Debug)]
pub(crate) struct GraphStep {
    /// The node that it came from; 0 for a step that only joins others.
    pub(crate) node: u64,
    pub(crate) operation: Operation,
    /// Indices of the steps that must run before.
    pub(crate) after: Vec<usize>,
}

/// A kernel with a shape and arguments.
pub(crate) struct KernelCall {
    pub(crate) function: Arc<Function>,
    pub(crate) shape: Shape,
    pub(crate) arguments: Vec<u8>,
}

impl fmt::Debug for KernelCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelCall")
            .field("kernel", &self.function.kernel.name())
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl Operation {
    /// `hipGraphNodeType`.
    pub(crate) fn number(&self) -> u32 {
        match self {
            Self::Launch(_) => 0,
            Self::Copy(_) => 1,
            Self::Fill(_) => 2,
            Self::Host(_) => 3,
            Self::Child(_) => 4,
            Self::Empty => 5,
            Self::Wait(_) => 6,
            Self::Record(_) => 7,
            Self::Allocate(_) => 10,
            Self::Free { .. } => 11,
        }
    }

    /// Becomes another operation of the same kind.
    ///
    /// # Errors
    /// `INVALID_VALUE` for an operation of another kind.
    pub(crate) fn replace(&mut self, operation: Self) -> Outcome<()> {
        if self.number() != operation.number() {
            return Err(Code::INVALID_VALUE);
        }
        *self = operation;
        Ok(())
    }

    /// Whether both are copies, in different directions.
    pub(crate) fn turns(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Copy(old), Self::Copy(new)) if old.direction != new.direction)
    }

    /// The device that must run the operation; `None` is the device of the stream that the graph is launched on.
    pub(crate) fn device(&self) -> Option<usize> {
        match self {
            Self::Launch(launch) => Some(launch.function.program.device),
            _ => None,
        }
    }

    /// Whether the operation needs a device, or an event of it.
    pub(crate) fn concerns(&self, device: usize) -> bool {
        match self {
            Self::Record(event) | Self::Wait(event) => event.device == device,
            Self::Allocate(memory) => memory.device() == device,
            Self::Free { pool, .. } => pool.device == device,
            Self::Child(steps) => steps.iter().any(|step| step.operation.concerns(device)),
            _ => self.device() == Some(device),
        }
    }

    /// Prepares the work of one launch. The recording of an event leaves its mark in `mark`.
    ///
    /// # Errors
    /// `INVALID_VALUE` if memory that the operation uses was freed.
    pub(crate) fn work(&self, machine: &Machine, mark: &Arc<Mark>) -> Outcome<Work> {
        Ok(match self {
            Self::Empty | Self::Wait(_) | Self::Child(_) => Work::Nothing,
            Self::Launch(launch) => {
                let kernel = launch.function.kernel.clone();
                let arguments = launch.arguments.clone();
                let by = Launched("hipGraphLaunch", None);
                Work::Launch(Box::new(Launch::new(kernel, launch.shape, arguments, by)))
            }
            // HIP accepts a copy of no bytes at any addresses.
            Self::Copy(copy) if copy.to.1.is_empty() => Work::Nothing,
            Self::Copy(copy) => Work::Transfer(machine.transfer(copy)?),
            Self::Fill(fill) => Work::Fill(machine.fill(fill)?),
            Self::Host(function) => Work::HostFunction(*function),
            Self::Record(_) => Work::Stamp(mark.clone()),
            // At once, as for allocations of streams: the steps behind it are prepared next.
            Self::Allocate(memory) => {
                memory.provide();
                Work::Nothing
            }
            Self::Free { pool, base, by } => match allocation::park(machine, pool, *base) {
                Some(ticket) => Work::Return(pool.clone(), *base, ticket, by.clone()),
                None => Work::Nothing,
            },
        })
    }
}
