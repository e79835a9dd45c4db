// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a node of a graph does.

use std::fmt;
use std::sync::Arc;

use super::code::{Code, Outcome};
use crate::packet::{CopyCall, FillCall};

use super::event::{Event, Mark};
use super::graph::Step;
use super::launch::{Launch, Shape};
use super::program::Function;
use super::runtime::Runtime;
use super::work::{HostFunction, Work};

/// The work of a node, checked when it was given and made ready anew by each launch.
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
    /// Waits for what an event stands for when the graph is launched.
    Wait(Arc<Event>),
    /// A graph as it was when the node was added.
    Child(Arc<Vec<Step>>),
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
        }
    }

    /// Takes another operation's place here, if it is of the same kind.
    ///
    /// # Errors
    /// `INVALID_VALUE` where it is not.
    pub(crate) fn replace(&mut self, operation: Self) -> Outcome<()> {
        if self.number() != operation.number() {
            return Err(Code::INVALID_VALUE);
        }
        *self = operation;
        Ok(())
    }

    /// The device that must do it; `None` for that of the stream which the graph is launched on.
    pub(crate) fn device(&self) -> Option<usize> {
        match self {
            Self::Launch(launch) => Some(launch.function.program.device),
            _ => None,
        }
    }

    /// Whether a device has to do with it.
    pub(crate) fn concerns(&self, device: usize) -> bool {
        match self {
            Self::Record(event) | Self::Wait(event) => event.device == device,
            Self::Child(steps) => steps.iter().any(|step| step.operation.concerns(device)),
            _ => self.device() == Some(device),
        }
    }

    /// Makes it ready to run. Whatever records an event leaves its mark in `mark`.
    ///
    /// # Errors
    /// `INVALID_VALUE` where memory that it touches was freed since.
    pub(crate) fn work(&self, runtime: &Runtime, mark: &Arc<Mark>) -> Outcome<Work> {
        Ok(match self {
            Self::Empty | Self::Wait(_) | Self::Child(_) => Work::Nothing,
            Self::Launch(launch) => {
                let kernel = launch.function.kernel.clone();
                let arguments = launch.arguments.clone();
                let by = ("hipGraphLaunch", None);
                Work::Launch(Box::new(Launch::new(kernel, launch.shape, arguments, by)))
            }
            // HIP takes a copy of nothing, from and to wherever.
            Self::Copy(copy) if copy.to.1.is_empty() => Work::Nothing,
            Self::Copy(copy) => Work::Transfer(runtime.machine.transfer(copy)?),
            Self::Fill(fill) => Work::Fill(runtime.machine.fill(fill)?),
            Self::Host(function) => Work::HostFunction(*function),
            Self::Record(_) => Work::Stamp(mark.clone()),
        })
    }
}
