// SPDX-License-Identifier: MIT OR Apache-2.0
//! The loan of the runtime to a dispatch: buffers and memory for its hidden arguments, answers to its interrupts, a clock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_codeobject::{ArgKind, HiddenKind};

use super::grid_sync::{GridSync, Part};
use super::heap::Heap;
use super::hostcall::{Buffer, packets_for};
use crate::engine::{Kernel, OfQueue};
use crate::exec::Outside;
use crate::memory::{Memory, MemoryError};
use crate::packet::Clock;

/// Buffers that are kept for later dispatches.
const KEPT: usize = 16;

/// The services of one device.
pub(crate) struct Services {
    memory: Arc<Memory>,
    clock: Arc<Clock>,
    heap: Heap,
    /// Whether every grid of a cooperative launch gets its state, as since HIP 6.
    grids_have_state: bool,
    /// Buffers that no dispatch uses.
    buffers: Mutex<Vec<Buffer>>,
}

/// The shape of a launch, as far as services depend on it.
#[derive(Clone, Debug)]
pub(crate) struct Attended {
    pub(crate) workgroups: u64,
    pub(crate) waves: u64,
    /// Whether all workgroups are in flight together.
    pub(crate) cooperative: bool,
    /// The launch's place in a grid that several devices share.
    pub(crate) part: Option<Part>,
}

/// The services that one dispatch uses.
pub(crate) struct Attendance {
    services: Arc<Services>,
    /// `None` for a kernel that does not call the host, and after the end.
    buffer: Mutex<Option<Arc<Buffer>>>,
    grid_sync: Option<GridSync>,
    arguments: Vec<(HiddenKind, u64)>,
}

impl Services {
    pub(crate) fn new(memory: Arc<Memory>, clock: Arc<Clock>, heap: Heap, grids_have_state: bool) -> Self {
        Self { memory, clock, heap, grids_have_state, buffers: Mutex::default() }
    }

    /// Lends a kernel what its hidden arguments lead to.
    ///
    /// # Errors
    /// [`MemoryError`] if there is no memory for it.
    pub(crate) fn attend(
        self: &Arc<Self>,
        kernel: &Kernel,
        shape: Attended,
    ) -> Result<Arc<Attendance>, MemoryError> {
        let mut own = Attendance {
            services: self.clone(),
            buffer: Mutex::default(),
            grid_sync: None,
            arguments: Vec::new(),
        };
        if shape.cooperative {
            let part = kernel.module().part();
            let has_state = self.grids_have_state;
            own.grid_sync = Some(GridSync::new(&self.memory, part, shape.workgroups, shape.part, has_state)?);
        }
        for argument in &kernel.description().args {
            let ArgKind::Hidden(kind) = argument.kind else { continue };
            let value = match (kind, &own.grid_sync) {
                (HiddenKind::HostcallBuffer, _) => {
                    let buffer = self.buffer(packets_for(shape.waves))?;
                    let address = buffer.address();
                    *own.buffer() = Some(Arc::new(buffer));
                    address
                }
                (HiddenKind::HeapV1, _) => self.heap.object()?,
                (HiddenKind::MultigridSyncArg, Some(sync)) => sync.argument,
                _ => continue,
            };
            own.arguments.push((kind, value));
        }
        Ok(Arc::new(own))
    }

    /// Frees the memory of the device's kernels, on behalf of a call. None of them runs.
    pub(crate) fn reset(&self, by: &Arc<str>) {
        self.heap.reset(by);
        drop(std::mem::take(&mut *self.kept()));
    }

    fn buffer(&self, packets: u64) -> Result<Buffer, MemoryError> {
        let mut kept = self.kept();
        let fitting = kept.iter().position(|buffer| buffer.packets() >= packets);
        if let Some(index) = fitting {
            return Ok(kept.swap_remove(index));
        }
        drop(kept);
        Buffer::new(&self.memory, packets)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Buffer>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attendance {
    /// The queue's part of the dispatch.
    pub(crate) fn of_queue(self: &Arc<Self>) -> OfQueue {
        let outside: Arc<dyn Outside> = self.clone();
        OfQueue {
            gws: self.grid_sync.as_ref().map(|sync| sync.gws.clone()),
            together: self.grid_sync.is_some(),
            arguments: self.arguments.clone(),
            outside: Some(outside),
            ..OfQueue::default()
        }
    }

    /// The dispatch has ended: gives back what was lent. Further calls have no effect.
    pub(crate) fn end(&self) {
        let Some(buffer) = self.buffer().take().and_then(Arc::into_inner) else { return };
        buffer.tell_wrong_frees();
        if buffer.is_whole() {
            let mut kept = self.services.kept();
            if kept.len() < KEPT {
                kept.push(buffer);
            }
        }
    }

    fn buffer(&self) -> MutexGuard<'_, Option<Arc<Buffer>>> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outside for Attendance {
    fn interrupt(&self) {
        let buffer = self.buffer().clone();
        if let Some(buffer) = buffer {
            buffer.serve(&self.services.heap);
        }
    }

    fn nanoseconds(&self) -> u64 {
        u64::try_from(self.services.clock.now().as_nanos()).unwrap_or(u64::MAX)
    }
}
