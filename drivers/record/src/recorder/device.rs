// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device: it records each call, and passes it on.

use std::sync::Arc;

use windlass_hal::{
    BufferParams, CommandList, Deadline, DeviceInfo, External, Feature, Lack, OperationRef, Point,
    QueueAffinity, Release, Result,
    driver::{self, RawBuffer, RawCommandBuffer, RawExecutable},
};

use super::{
    describe::{Describer, Uses},
    objects::Dropped,
    session::{Session, State},
};
use crate::format::{
    coding::Bytes,
    event::{Event, Origin},
};

const LACKS: [(Feature, &str); 3] = [
    (Feature::Collectives, "a recording is replayed without the other ranks"),
    (
        Feature::ExternalTimepoints,
        "a recording has no work of other libraries, and its own signals are no edges of a stream",
    ),
    (Feature::VirtualMemory, "a recording has buffers of a fixed size"),
];

/// A device that records the work of another one.
pub(super) struct Device {
    inner: Arc<dyn driver::RawDevice>,
    info: DeviceInfo,
    session: Arc<Session>,
}

impl Device {
    /// Records `inner`. `info` describes it; the recording adds its lacks.
    pub(super) fn new(
        inner: Arc<dyn driver::RawDevice>,
        mut info: DeviceInfo,
        session: Arc<Session>,
    ) -> Self {
        for (feature, reason) in LACKS {
            if !info.lacks.iter().any(|lack| lack.feature == feature) {
                info.lacks.push(Lack::new(feature, reason));
            }
        }
        Self { inner, info, session }
    }

    fn add(&self, raw: &Arc<dyn RawBuffer>, params: &BufferParams, origin: Origin) {
        let mut dropped = Dropped::new();
        let mut state = self.session.lock();
        let State { objects, log, .. } = &mut *state;
        let is_new = origin == Origin::Allocated {};
        let number = objects.add(log, raw, params, origin);
        if is_new {
            objects.entry(number).into_iter().for_each(|entry| entry.begin(&mut dropped));
        }
    }

    fn loaded(&self, raw: &Arc<dyn RawExecutable>, parts: &[&[u8]]) {
        let mut state = self.session.lock();
        if let Some(executable) = state.objects.add_executable(raw) {
            let parts = parts.iter().map(|part| Bytes::Here(part.to_vec())).collect();
            state.log.add(&Event::Executable { executable, parts });
        }
    }
}

// SAFETY: domain, limits, buffers, executables and command buffers are those of the inner device, whose keeping of objects
// is passed on. Signals follow the end of the inner operation.
unsafe impl driver::Wrapper for Device {
    fn inner(&self) -> &dyn driver::RawDevice {
        &*self.inner
    }

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn RawBuffer>> {
        let raw = self.inner.allocate(params, size)?;
        self.add(&raw, params, Origin::Allocated {});
        Ok(raw)
    }

    fn reserve(
        &self,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn RawBuffer>> {
        let raw = self.inner.reserve(affinity, params, size)?;
        self.add(&raw, params, Origin::Reserved {});
        Ok(raw)
    }

    unsafe fn import(
        &self,
        params: &BufferParams,
        memory: External,
        release: Release,
    ) -> Result<Arc<dyn RawBuffer>> {
        let origin = match memory {
            External::Host { .. } => Origin::HostImport {},
            _ => match self.session.lock().objects.covering(memory.address(), memory.size()) {
                Some((of, offset)) => Origin::Alias { of, offset },
                None => Origin::DeviceImport {},
            },
        };
        // SAFETY: the caller vouches for the memory.
        let raw = unsafe { self.inner.import(params, memory, release) }?;
        self.add(&raw, params, origin);
        Ok(raw)
    }

    unsafe fn load_executable(&self, code: &[u8]) -> Result<Arc<dyn RawExecutable>> {
        // SAFETY: the caller vouches for the code.
        let raw = unsafe { self.inner.load_executable(code) }?;
        self.loaded(&raw, &[code]);
        Ok(raw)
    }

    unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Arc<dyn RawExecutable>> {
        // SAFETY: the caller vouches for the code.
        let raw = unsafe { self.inner.load_linked(parts) }?;
        self.loaded(&raw, parts);
        Ok(raw)
    }

    fn wants_argument_ranges(&self) -> bool {
        true
    }

    unsafe fn prepare(&self, list: CommandList) -> Result<Arc<dyn RawCommandBuffer>> {
        let mut state = self.session.lock();
        let State { objects, log, .. } = &mut *state;
        let described = Describer { objects, log, uses: Uses::default() }.list(&list);
        let slots = list.slots().len() as u32;
        drop(state);
        // SAFETY: the caller vouches for the list.
        let raw = unsafe { self.inner.prepare(list) }?;
        let mut state = self.session.lock();
        let list = state.objects.add_list(&raw, described.writes, described.counts);
        state.log.add(&Event::List { list, slots, commands: described.commands });
        drop(state);
        Ok(raw)
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        // SAFETY: the caller vouches for the operation.
        unsafe { self.session.submit(&*self.inner, affinity, waits, signals, operation) }
    }

    fn drain(&self, deadline: Deadline) -> Result<()> {
        self.session.drain(&*self.inner, deadline)
    }

    fn close(&self) {
        self.session.lock().log.add(&Event::Closed {});
        self.inner.close();
    }
}
