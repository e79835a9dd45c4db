// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of graph nodes.

use std::fmt;
use std::sync::Arc;

use windlass_hip_sys::bindings::{HIP_MEMCPY3D, hipMemAllocNodeParams, hipMemcpy3DParms};

use super::attribute::KernelAttribute;
use super::given::Given;
use super::graph::Graph;
use crate::hip::hardware::allocation;
use crate::hip::hardware::graph_memory::GraphMemory;
use crate::hip::hardware::machine::Machine;
use crate::hip::objects::event::{Event, Mark};
use crate::hip::objects::pool::Pool;
use crate::hip::programs::program::Function;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::work::batch::Batch;
use crate::hip::work::host_function::HostFunction;
use crate::hip::work::item::Work;
use crate::hip::work::launch::{Launch, Launched, Shape};
use crate::packet::{CopyCall, FillCall};

/// The operation of a node. A call checks it; each launch of the graph prepares it anew.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    /// Nothing: the node only joins others.
    Empty,
    Launch(Arc<KernelCall>, Option<KernelAttribute>),
    Copy(CopyCall, CopyWords),
    /// A fill, with the pitch that the client gave: a fill of one row needs none.
    Fill(FillCall, u64),
    Host(HostFunction),
    /// Records an event, which has this handle.
    Record(Arc<Event>, u64),
    /// Waits for the latest recording of an event at the launch of the graph.
    Wait(Arc<Event>, u64),
    /// Gives memory, with the struct by which the client described it unless the call was captured.
    Allocate(Arc<GraphMemory>, Option<Arc<Given<hipMemAllocNodeParams>>>),
    /// Frees memory that a node gives.
    Free {
        pool: Arc<Pool>,
        base: u64,
        /// The call, for reports.
        by: Arc<str>,
    },
    /// Waits for words of memory, and writes of them.
    Batch(Arc<Batch>),
    /// A graph of the node's own, which has this handle.
    Child(Arc<Graph>, u64),
}

/// The struct by which a client described a copy.
#[derive(Clone, Debug)]
pub(crate) enum CopyWords {
    /// Addresses and a size, or a call that was captured.
    Addresses,
    Runtime(Arc<Given<hipMemcpy3DParms>>),
    Driver(Arc<Given<HIP_MEMCPY3D>>),
}

/// An operation in a list in which every operation stands behind those that it waits for.
#[derive(Clone, Debug)]
pub(crate) struct GraphStep {
    /// The node that it came from; 0 for a step that only joins others.
    pub(crate) node: u64,
    pub(crate) operation: Operation,
    /// Indices of the steps that must run before.
    pub(crate) after: Vec<usize>,
    /// Whether it does its work. Otherwise it only joins others.
    pub(crate) is_enabled: bool,
    /// For the last step of a child graph, the index of the first.
    pub(crate) opened_by: Option<usize>,
}

impl GraphStep {
    /// A step that does its work.
    pub(crate) fn new(node: u64, operation: Operation, after: Vec<usize>) -> Self {
        Self { node, operation, after, is_enabled: true, opened_by: None }
    }
}

/// A kernel with a shape and arguments.
pub(crate) struct KernelCall {
    pub(crate) function: Arc<Function>,
    /// The symbol or the handle by which the client named the function.
    pub(crate) named: u64,
    pub(crate) shape: Shape,
    pub(crate) arguments: Vec<u8>,
    pub(crate) passed: Passed,
}

/// The way in which a client passed arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    Nothing,
    /// A pointer for each.
    Each,
    /// One block.
    Block,
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
            Self::Launch(..) => 0,
            Self::Copy(..) => 1,
            Self::Fill(..) => 2,
            Self::Host(_) => 3,
            Self::Child(..) => 4,
            Self::Empty => 5,
            Self::Wait(..) => 6,
            Self::Record(..) => 7,
            Self::Allocate(..) => 10,
            Self::Free { .. } => 11,
            Self::Batch(_) => 14,
        }
    }

    /// Becomes another operation of the same kind. A launch keeps its attribute.
    ///
    /// # Errors
    /// `INVALID_VALUE` for an operation of another kind.
    pub(crate) fn replace(&mut self, operation: Self) -> Outcome<()> {
        match (&mut *self, operation) {
            (Self::Launch(old, _), Self::Launch(new, _)) => *old = new,
            (old, new) if old.number() == new.number() => *old = new,
            _ => return Err(Code::INVALID_VALUE),
        }
        Ok(())
    }

    /// Whether both are copies, in different directions.
    pub(crate) fn turns(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Copy(old, _), Self::Copy(new, _)) if old.direction != new.direction)
    }

    /// Whether the other is a fill of several rows that has other extents than this one.
    pub(crate) fn resizes(&self, other: &Self) -> bool {
        let (Self::Fill(old, _), Self::Fill(new, _)) = (self, other) else { return false };
        new.rows.extents()[1] > 1 && old.rows.extents() != new.rows.extents()
    }

    /// Whether a client may have instantiated graphs leave it out.
    pub(crate) fn can_be_disabled(&self) -> bool {
        matches!(self, Self::Launch(..) | Self::Copy(..) | Self::Fill(..))
    }

    /// Whether it gives or frees memory.
    pub(crate) fn is_of_memory(&self) -> bool {
        matches!(self, Self::Allocate(..) | Self::Free { .. })
    }

    /// The device that must run the operation; `None` is the device of the stream that the graph is launched on.
    pub(crate) fn device(&self) -> Option<usize> {
        match self {
            Self::Launch(launch, _) => Some(launch.function.program.device),
            _ => None,
        }
    }

    /// Whether the operation needs a device, or an event of it.
    pub(crate) fn concerns(&self, device: usize) -> bool {
        match self {
            Self::Record(event, _) | Self::Wait(event, _) => event.device == device,
            Self::Allocate(memory, _) => memory.device() == device,
            Self::Free { pool, .. } => pool.device == device,
            Self::Child(graph, _) => graph.concerns(device),
            _ => self.device() == Some(device),
        }
    }

    /// Prepares the work of one launch. The recording of an event leaves its mark in `mark`.
    ///
    /// # Errors
    /// `INVALID_VALUE` if memory that the operation uses was freed, `OUT_OF_MEMORY` if it gives more than is left.
    pub(crate) fn work(&self, machine: &Machine, mark: &Arc<Mark>) -> Outcome<Work> {
        Ok(match self {
            // The launch prepares the operations of a batch one by one.
            Self::Empty | Self::Wait(..) | Self::Child(..) | Self::Batch(_) => Work::Nothing,
            Self::Launch(launch, _) => {
                let kernel = launch.function.kernel.clone();
                let arguments = launch.arguments.clone();
                let by = Launched("hipGraphLaunch", None);
                Work::Launch(Box::new(Launch::new(kernel, launch.shape, arguments, by)))
            }
            // HIP accepts a copy of no bytes at any addresses.
            Self::Copy(copy, _) if copy.to.1.is_empty() => Work::Nothing,
            Self::Copy(copy, _) => Work::Transfer(machine.transfer(copy)?),
            Self::Fill(fill, _) => Work::Fill(machine.fill(fill)?),
            Self::Host(function) => Work::HostFunction(*function),
            Self::Record(..) => Work::Stamp(mark.clone()),
            // At once, as for allocations of streams: the steps behind it are prepared next.
            Self::Allocate(memory, _) => {
                memory.provide()?;
                Work::Nothing
            }
            Self::Free { pool, base, by } => match allocation::park(machine, pool, *base) {
                Some(ticket) => Work::Return(pool.clone(), *base, ticket, by.clone()),
                None => Work::Nothing,
            },
        })
    }
}
