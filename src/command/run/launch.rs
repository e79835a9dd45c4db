// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of a run: uploads, the dispatch, downloads, each ordered behind the one before by a timeline.

use std::time::{Duration, Instant};

use crate::{
    Argument, BufferView, Deadline, Device, DispatchConfig, Function, Literal, Point, Queue, Result,
    Semaphore,
};

use super::spec::Spec;

/// A kernel with its arguments in device memory.
pub(crate) struct Launch {
    queue: Queue,
    function: Function,
    config: DispatchConfig,
    arguments: Vec<Placed>,
    timeline: Semaphore,
    submitted: u64,
}

/// An argument in the form that the device takes.
enum Placed {
    Null,
    Value(Vec<u8>),
    Buffer { view: BufferView, contents: Literal },
}

impl Launch {
    /// Allocates the buffers of the arguments.
    pub(crate) fn new(
        device: &Device,
        function: Function,
        config: DispatchConfig,
        arguments: Vec<Spec>,
    ) -> Result<Self> {
        let place = |argument| -> Result<Placed> {
            Ok(match argument {
                Spec::Null => Placed::Null,
                Spec::Value(bytes) => Placed::Value(bytes),
                Spec::Buffer(contents) => {
                    let length = contents.bytes().len() as u64;
                    let buffer = device.allocate_device(length.max(1))?.subspan(0, length)?;
                    let view = BufferView::new(buffer, contents.shape().clone(), contents.element_type())?;
                    Placed::Buffer { view, contents }
                }
            })
        };
        Ok(Self {
            queue: device.queue(0)?,
            function,
            config,
            arguments: arguments.into_iter().map(place).collect::<Result<_>>()?,
            timeline: Semaphore::new(0),
            submitted: 0,
        })
    }

    /// The wait for the last operation, and the signal of the next.
    fn next(&mut self) -> (Point, Point) {
        let wait = self.timeline.at(self.submitted);
        self.submitted += 1;
        (wait, self.timeline.at(self.submitted))
    }

    /// Writes the contents of the arguments into their buffers. An error is one of validation: nothing ran.
    pub(crate) fn upload(&mut self) -> Result<()> {
        for index in 0..self.arguments.len() {
            let (wait, signal) = self.next();
            match self.arguments.get(index) {
                Some(Placed::Buffer { view, contents }) => {
                    self.queue.update(&[wait], &[signal], contents.bytes(), view.buffer())?;
                }
                _ => self.submitted -= 1,
            }
        }
        Ok(())
    }

    /// Submits the kernel. An error is one of validation.
    pub(crate) fn dispatch(&mut self) -> Result<()> {
        let (wait, signal) = self.next();
        let arguments: Vec<_> = self
            .arguments
            .iter()
            .map(|argument| match argument {
                Placed::Null => Argument::Null,
                Placed::Value(bytes) => Argument::Bytes(bytes),
                Placed::Buffer { view, .. } => view.buffer().arg(),
            })
            .collect();
        self.queue.dispatch(&[wait], &[signal], &self.function, self.config, &arguments)
    }

    /// Waits for all submitted operations and gives the time since `start`.
    pub(crate) fn wait(&self, start: Instant) -> Result<Duration> {
        self.timeline.wait_blocking(self.submitted, Deadline::NEVER)?;
        Ok(start.elapsed())
    }

    /// The buffer of an argument; `None` for a value.
    pub(crate) fn view(&self, index: usize) -> Option<&BufferView> {
        match self.arguments.get(index) {
            Some(Placed::Buffer { view, .. }) => Some(view),
            _ => None,
        }
    }

    /// The contents of a buffer after all submitted operations.
    pub(crate) fn download(&self, view: &BufferView) -> Result<Literal> {
        let bytes =
            self.queue.download(&[self.timeline.at(self.submitted)], view.buffer())?.wait(Deadline::NEVER)?;
        view.literal(bytes)
    }
}
