// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiling: records of all work of a device, for a sink of the program.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use smallvec::SmallVec;

use crate::{
    driver::{
        collective::Collective,
        host_call::HostCall,
        operation::{DispatchRef, OperationRef},
        range::Buffer,
        workgroup_count::WorkgroupCount,
    },
    front::device::{Device, Open},
    order::{point::Point, profiler::Profiler},
    words::{
        buffer_params::MemoryType,
        clock,
        error::{Error, Result},
        external::Release,
        fork,
        panics::caught,
        profile::{
            MemoryEvent, OperationRecord, ProfileOptions, ProfilePoint, ProfilePoints, ProfileSink,
            ProfiledDevice, ShortText,
        },
        queue_affinity::QueueAffinity,
        sync::lock_std as lock,
    },
};

/// The profile of an opened device, if there is one.
#[derive(Default)]
pub(crate) struct Profiling {
    on: AtomicBool,
    profiler: Mutex<Option<Arc<Profiler>>>,
}

impl Profiling {
    /// Whether a profile runs. Costs one load.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    #[cold]
    fn profiler(&self) -> Option<Arc<Profiler>> {
        lock(&self.profiler).clone()
    }
}

impl Device {
    /// Begins a profile: `sink` receives a [`ProfileRecord`](crate::ProfileRecord) of each operation that is submitted
    /// from now on, through any handle of the device, when it has retired. It also receives host calls, changes of
    /// memory, and on demand the commands of command buffers.
    ///
    /// Records arrive in chunks of some hundred, on the thread that retires the work of a full chunk, or in
    /// [`profiling_flush`](Self::profiling_flush) and [`profiling_end`](Self::profiling_end). Some chunks wait for a slow
    /// sink; after that records are dropped and counted.
    ///
    /// A profile changes neither the order of work nor its results. Each operation gets one more signal, which the program
    /// does not see. A driver may wait for an idle moment of its GPU here, for at most a second, to compare the clocks of
    /// host and device. If it gets none, the profile has no times of the device.
    ///
    /// `FAILED_PRECONDITION` while the device has a profile. The profile ends with the last handle of the device at the
    /// latest.
    pub fn profiling_begin(&self, options: ProfileOptions, sink: Arc<dyn ProfileSink>) -> Result<()> {
        fork::check()?;
        let open = &self.open;
        let info = self.info();
        let mut own = lock(&open.profiling.profiler);
        if own.is_some() {
            return Err(Error::failed_precondition(format!(
                "{} has a profile already: end it before another one begins",
                info.uri
            )));
        }
        let device = ProfiledDevice::new(&info.uri, &info.name, info.simulated, self.limits().queues);
        let profiler = Arc::new(Profiler::new(device, options.clone(), sink));
        *own = Some(profiler.clone());
        drop(own);
        if let Err(error) = open.raw.profiling_begin(&options) {
            tracing::warn!(target: "windlass::device", %error, "a profile without times of the device");
        }
        if options.memory {
            open.raw.memory().accounts().watch(profiler.clone());
        }
        let own = lock(&open.profiling.profiler);
        if own.as_ref().is_some_and(|own| Arc::ptr_eq(own, &profiler)) {
            open.profiling.on.store(true, Ordering::Release);
            return Ok(());
        }
        drop(own);
        // Another thread has ended the profile meanwhile.
        open.raw.memory().accounts().unwatch(&profiler);
        Ok(())
    }

    /// Retires finished work and hands all records to the sink that are complete. Waits for a call of the sink on another
    /// thread. `FAILED_PRECONDITION` without a profile, and within a call of the sink.
    pub fn profiling_flush(&self) -> Result<()> {
        fork::check()?;
        let profiler = self.open.profiling.profiler().ok_or_else(|| no_profile("flush", self))?;
        self.open.raw.poll();
        profiler.flush()
    }

    /// Ends the profile. Retires finished work, and hands all records to the sink; operations in flight get a record
    /// without [`retired`](crate::OperationRecord::retired). The sink hears nothing after this has returned. Waits for a
    /// call of the sink on another thread. `FAILED_PRECONDITION` without a profile, and within a call of the sink.
    pub fn profiling_end(&self) -> Result<()> {
        fork::check()?;
        let profiler = self.open.profiling.profiler().ok_or_else(|| no_profile("end", self))?;
        if profiler.is_in_sink() {
            return profiler.flush();
        }
        self.open.raw.poll();
        self.open.end_profile();
        Ok(())
    }
}

#[cold]
fn no_profile(what: &str, device: &Device) -> Error {
    Error::failed_precondition(format!("{} has no profile to {what}", device.info().uri))
}

impl Open {
    /// Ends the profile if there is one.
    pub(crate) fn end_profile(&self) {
        let mut own = lock(&self.profiling.profiler);
        self.profiling.on.store(false, Ordering::Release);
        let Some(profiler) = own.take() else { return };
        drop(own);
        self.raw.memory().accounts().unwatch(&profiler);
        self.raw.profiling_end();
        profiler.end();
    }

    /// [`driver::RawDevice::submit`], with a witness if the device is profiled.
    ///
    /// # Safety
    /// As for the same method of the driver.
    #[allow(unsafe_code)]
    #[inline]
    pub(crate) unsafe fn submit_watched(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        if self.profiling.is_on() {
            // SAFETY: the caller vouches under the same contract.
            return unsafe { self.submit_with_witness(affinity, waits, signals, operation) };
        }
        // SAFETY: the caller vouches under the same contract.
        unsafe { self.raw.submit(affinity, waits, signals, operation) }
    }

    /// # Safety
    /// As for the same method of the driver.
    #[allow(unsafe_code)]
    #[inline(never)]
    unsafe fn submit_with_witness(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        let Some(profiler) = self.profiling.profiler() else {
            // SAFETY: the caller vouches under the same contract.
            return unsafe { self.raw.submit(affinity, waits, signals, operation) };
        };
        let mut record = describe(affinity, &operation);
        record.waits = points(waits);
        record.signals = points(signals);
        let commands = match &operation {
            OperationRef::Execute { command_buffer, .. } if profiler.options().commands => {
                command_buffer.list().records(&[])
            }
            _ => Vec::new(),
        };
        let (submission, witness) = profiler.begin(record, commands);
        let operation = match operation {
            OperationRef::HostCall(call) => OperationRef::HostCall(timed(call, profiler.clone(), submission)),
            operation => operation,
        };
        let mut all: SmallVec<[Point; 4]> = SmallVec::with_capacity(signals.len() + 1);
        all.push(witness);
        all.extend(signals.iter().cloned());
        // SAFETY: the caller vouches under the same contract; one more signal needs no promise.
        let submitted = unsafe { self.raw.submit(affinity, waits, &all, operation) };
        if submitted.is_err() {
            profiler.withdraw(&all[0]);
        }
        submitted
    }

    /// Records an import, and later the release of the memory.
    pub(crate) fn watch_import(&self, memory_type: MemoryType, bytes: u64, release: Release) -> Release {
        if !self.profiling.is_on() {
            return release;
        }
        let Some(profiler) = self.profiling.profiler() else { return release };
        Release::new(move || {
            release.run();
            profiler.add_memory(MemoryEvent::Release, memory_type, bytes);
        })
    }

    /// Records a successful import.
    pub(crate) fn imported(&self, memory_type: MemoryType, bytes: u64) {
        if self.profiling.is_on()
            && let Some(profiler) = self.profiling.profiler()
        {
            profiler.add_memory(MemoryEvent::Import, memory_type, bytes);
        }
    }
}

fn points(points: &[Point]) -> ProfilePoints {
    points.iter().map(|point| ProfilePoint::new(point.semaphore.id(), point.value)).collect()
}

/// The record of an operation that is being submitted.
fn describe(affinity: QueueAffinity, operation: &OperationRef<'_>) -> Box<OperationRecord> {
    let mut record = Box::new(OperationRecord::new(operation.name(), affinity, clock::now()));
    match operation {
        OperationRef::Alloca { buffer } | OperationRef::Dealloca { buffer } => {
            record.bytes = Some(buffer.len());
        }
        OperationRef::Fill { target, .. }
        | OperationRef::Update { target, .. }
        | OperationRef::Copy { target, .. }
        | OperationRef::Read { target, .. } => record.bytes = Some(target.len()),
        OperationRef::Write { source, .. } => record.bytes = Some(source.len()),
        OperationRef::Dispatch(dispatch) => describe_dispatch(&mut record, dispatch),
        OperationRef::Execute { command_buffer, .. } => {
            record.commands = Some(command_buffer.list().commands().len() as u32);
        }
        OperationRef::Collective { operations, .. } => {
            let moved = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, Buffer::len);
            let of = |operation: &Collective| moved(&operation.source).max(moved(&operation.target));
            record.bytes = Some(operations.iter().map(of).fold(0, u64::saturating_add));
        }
        OperationRef::Barrier | OperationRef::HostCall(_) | OperationRef::ImportTimepoint { .. } => {}
    }
    record
}

fn describe_dispatch(record: &mut OperationRecord, dispatch: &DispatchRef<'_>) {
    let function = dispatch.executable.functions().get(dispatch.function as usize);
    record.function = function.map(|function| ShortText::new(&function.name));
    record.workgroup_size = Some(dispatch.workgroup_size);
    record.workgroup_count = match dispatch.workgroup_count {
        WorkgroupCount::Direct(count) => Some(*count),
        WorkgroupCount::Indirect(_) => None,
    };
}

/// A host call that records when it runs.
fn timed(call: HostCall, profiler: Arc<Profiler>, submission: u64) -> HostCall {
    let flags = call.flags();
    HostCall::new(flags, move |context| {
        profiler.begin_host_call(submission, thread_number());
        let result = caught(|| call.call(context))
            .unwrap_or_else(|text| Err(Error::aborted(format!("a host call panicked: {text}"))));
        profiler.end_host_call(submission, result.as_ref().err().cloned());
        result
    })
}

/// A number of this thread that no other one of the process has or had.
fn thread_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    std::thread_local! {
        static OWN: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    OWN.try_with(|own| *own).unwrap_or_default()
}
