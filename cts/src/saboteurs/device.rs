// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of drivers and devices: the devices that they list and open, and their descriptions.

use std::{
    any::Any,
    sync::{Arc, Mutex, OnceLock},
};

use windlass_hal::{
    Buffer, BufferParams, Command, CommandList, DeviceInfo, Error, Feature, Lack, Limits, Operation,
    QueueAffinity, RecordedRange, Result, Uri, driver, edge::Domain,
};

use crate::pass::Pass;

use super::{
    executable::reflected,
    sabotage::{Inner, Sabotage, Submission, Submit, lock},
};

saboteurs! {
    has_no_name: "A device has no name.", Says(|info| info.name.clear()), ["driver.reports_itself"];
    has_no_architecture: "A device has no architecture.", Says(|info| info.architecture.clear()),
        ["driver.reports_itself", "driver.enumerated_devices_open"];
    reports_another_scheme: "A device reports a URI of another driver.",
        Says(|info| info.uri = info.uri.replace("://", "-2://")),
        ["driver.reports_itself", "driver.opens_by_reported_uri"];
    hides_that_it_is_simulated: "A simulated device reports that it is not simulated.", Says(|info| info.simulated = false),
        ["driver.enumerated_devices_open"];
    lacks_without_a_reason: "A lack is declared without a reason.",
        Says(|info| info.lacks.push(Lack::new(Feature::Files, ""))),
        ["driver.reports_itself", "driver.lacks_are_true"];
    lacks_twice: "A lack is declared twice.",
        Says(|info| info.lacks.extend([(); 2].map(|()| Lack::new(Feature::Files, "twice")))),
        ["driver.reports_itself", "driver.lacks_are_true"];
    lies_about_allocas: "A device declares allocas a lack, but has them.", lie(Feature::Alloca),
        ["driver.lacks_are_true"];
    lies_about_command_buffers: "A device declares command buffers a lack, but has them.",
        lie(Feature::CommandBuffers), ["driver.lacks_are_true"];
    lies_about_files: "A device declares files a lack, but has them.", lie(Feature::Files),
        ["driver.lacks_are_true"];
    lies_about_host_calls: "A device declares host calls a lack, but has them.", lie(Feature::HostCalls),
        ["driver.lacks_are_true"];
    lies_about_dispatches: "A device declares dispatches a lack, but has them.", lie(Feature::Dispatch),
        ["driver.reports_itself"];
    has_no_allocas: "Allocas are UNIMPLEMENTED without a declared lack.", Without("queue_alloca"),
        ["alloca.address_at_once"];
    has_no_files: "Reads are UNIMPLEMENTED without a declared lack.", Without("queue_read"),
        ["operation.signals_read", "file.read_past_the_end_fails"];
    has_no_host_calls: "Host calls are UNIMPLEMENTED without a declared lack.", Without("queue_host_call"),
        ["host_call.runs_without_waits", "host_call.non_blocking_signals_early"];
    has_no_dispatches: "Dispatches are UNIMPLEMENTED without a declared lack.", Without("queue_dispatch"),
        ["dispatch.null_argument", "dispatch.no_arguments"];
    has_no_command_buffers: "Command buffers are UNIMPLEMENTED without a declared lack.", Without("queue_execute"),
        ["command_buffer.empty", "command_buffer.debug_groups"];
    has_no_queues: "A device reports no queues.", Allows(|limits| limits.queues = 0),
        ["driver.reports_itself"];
    has_more_queues_than_allowed: "A device reports 65 queues.", Allows(|limits| limits.queues = 65),
        ["driver.reports_itself"];
    first_queue_alone_works: "Work is refused unless the first queue may take it.", Refuses(|s| {
        s.affinity.bits() & QueueAffinity::queue(0).bits() == 0
    }), ["driver.every_queue_works", "fence.future_ends_with_the_last"];
    refuses_sets_of_queues: "Work is refused unless it names one queue.", Refuses(|s| {
        s.affinity.bits().count_ones() > 1
    }), [
            "driver.queue_sets", "physical_device.memory_of_each", "physical_device.copies_between",
            "physical_device.affinity_beyond_the_queues",
        ];
    has_an_odd_number_of_parts: "A device reports more physical devices than queues.",
        Allows(|limits| limits.physical_devices = limits.queues * 2),
        [
            "physical_device.queues_are_shared_out", "physical_device.memory_of_each",
            "physical_device.chain_across",
        ];
    cannot_reach_its_other_parts: "Transfers that touch the memory of another physical device are forgotten.",
        Submit(forget_remote),
        [
            "physical_device.memory_of_each", "physical_device.copies_between",
            "physical_device.alloca_on_each", "physical_device.replay_on_each",
        ];
    aligns_by_three: "A device reports an allocation alignment of three bytes.",
        Allows(|limits| limits.allocation_alignment = 3),
        ["driver.reports_itself", "buffer.sizes_and_alignment"];
    aligns_by_less: "A device reports an allocation alignment of a terabyte.",
        Allows(|limits| limits.allocation_alignment = 1 << 40), ["buffer.sizes_and_alignment"];
    allows_much_local_memory: "A device reports twice the local memory that a workgroup has.",
        Allows(|limits| limits.max_local_memory *= 2), ["dispatch.local_memory_to_the_limit"];
    allows_any_workgroup: "A device, and its code, report that workgroups may have any size.",
        AnyWorkgroup, ["dispatch_refused.workgroup_too_large"];
    ignores_unknown_keys: "Unknown keys of a URI are ignored.", Opens(|driver, uri| {
        driver.open(uri).or_else(|error| match uri.to_string().split_once(['?', '&']) {
            Some((known, _)) => driver.open(&known.parse()?),
            None => Err(error),
        })
    }), ["driver.unknown_key_refused"];
    lists_ghosts: "A device is listed that cannot be opened.", Ghost, ["driver.enumerated_devices_open"];
    lists_another_architecture: "A device is listed with another architecture than it has.", OtherArchitecture,
        ["driver.enumerated_devices_open"];
    opens_one_device: "Opening a URI again gives the same device.", OneDevice::default(),
        ["driver.devices_are_independent", "pool.other_device_refused"];
    takes_foreign_objects: "Objects of another device are accepted and ignored.",
        OneDomain(OnceLock::new()),
        [
            "driver.foreign_objects_refused", "driver.foreign_command_buffer_refused",
            "command_buffer.table_is_checked", "command_buffer.recording_is_checked",
            "dispatch_refused.argument_of_another_device", "dispatch_refused.function_of_another_device",
            "file.foreign_buffer_refused",
        ];
}

struct Says(fn(&mut DeviceInfo));

impl Sabotage for Says {
    fn info(&self, info: &mut DeviceInfo) {
        (self.0)(info);
    }
}

struct Lies(Feature);

fn lie(feature: Feature) -> Lies {
    Lies(feature)
}

impl Sabotage for Lies {
    fn info(&self, info: &mut DeviceInfo) {
        info.lacks.push(Lack::new(self.0, "a lie"));
    }
}

struct Without(&'static str);

impl Sabotage for Without {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        match s.operation.name() {
            name if name == self.0 => Err(Error::unimplemented(format!("no {name} here"))),
            _ => s.to(inner),
        }
    }
}

pub(super) struct Allows(pub(super) fn(&mut Limits));

impl Sabotage for Allows {
    fn limits(&self, limits: &mut Limits) {
        (self.0)(limits);
    }
}

struct AnyWorkgroup;

impl Sabotage for AnyWorkgroup {
    fn limits(&self, limits: &mut Limits) {
        limits.max_workgroup_threads = u32::MAX;
    }

    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        reflected(inner, code, |functions| {
            functions.iter_mut().for_each(|function| function.max_workgroup_threads = 0);
        })
    }
}

/// Refuses all calls except those that describe the device.
pub(super) struct Refusing;

fn refused<T>() -> Result<T> {
    Err(Error::unavailable("the device refuses everything"))
}

impl Sabotage for Refusing {
    fn allocate(&self, _: &Inner, _: &BufferParams, _: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        refused()
    }
    fn reserve(
        &self,
        _: &Inner,
        _: QueueAffinity,
        _: &BufferParams,
        _: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        refused()
    }
    fn load(&self, _: &Inner, _: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        refused()
    }
    fn link(&self, _: &Inner, _: &[&[u8]]) -> Result<Arc<dyn driver::RawExecutable>> {
        refused()
    }
    fn prepare(&self, _: &Inner, _: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        refused()
    }
    fn submit(&self, _: &Inner, _: Submission<'_>) -> Result<()> {
        refused()
    }
}

struct Refuses(fn(&Submission<'_>) -> bool);

impl Sabotage for Refuses {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        if (self.0)(&s) { Err(Error::internal("these queues do not work")) } else { s.to(inner) }
    }
}

fn forget_remote(inner: &Inner, mut s: Submission<'_>) -> Result<()> {
    let remote = |buffer: &Buffer| buffer.params().queue_affinity.bits() & s.affinity.bits() == 0;
    let forgotten = match &s.operation {
        Operation::Fill { target, .. } => remote(target),
        Operation::Copy { source, target } => remote(source) || remote(target),
        _ => false,
    };
    if forgotten {
        s.operation = Operation::Barrier;
    }
    s.to(inner)
}

struct Opens(fn(&dyn driver::Driver, &Uri) -> Result<Inner>);

impl Sabotage for Opens {
    fn open(&self, driver: &dyn driver::Driver, uri: &Uri) -> Result<Inner> {
        (self.0)(driver, uri)
    }
}

struct Ghost;

impl Sabotage for Ghost {
    fn enumerate(&self, driver: &dyn driver::Driver) -> Result<Vec<DeviceInfo>> {
        let mut ghost = DeviceInfo::default();
        ghost.uri = format!("{}://ghost", driver.scheme());
        Ok([driver.enumerate()?, vec![ghost]].concat())
    }
}

struct OtherArchitecture;

impl Sabotage for OtherArchitecture {
    fn enumerate(&self, driver: &dyn driver::Driver) -> Result<Vec<DeviceInfo>> {
        let mut devices = driver.enumerate()?;
        devices.iter_mut().for_each(|info| info.architecture.push_str(":other+"));
        Ok(devices)
    }
}

#[derive(Default)]
struct OneDevice(Mutex<Option<Inner>>);

impl Sabotage for OneDevice {
    fn open(&self, driver: &dyn driver::Driver, uri: &Uri) -> Result<Inner> {
        let mut first = lock(&self.0);
        if let Some(device) = &*first {
            return Ok(device.clone());
        }
        Ok(first.insert(driver.open(uri)?).clone())
    }
}

/// Gives all devices and their objects one domain.
struct OneDomain(OnceLock<Domain>);

impl OneDomain {
    fn get(&self) -> Domain {
        *self.0.get_or_init(Domain::unique)
    }
}

impl Sabotage for OneDomain {
    fn domain(&self, _: &Inner) -> Domain {
        self.get()
    }

    fn allocate(
        &self,
        inner: &Inner,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        Ok(Arc::new(Anyones(inner.allocate(params, size)?, self.get())))
    }

    fn reserve(
        &self,
        inner: &Inner,
        affinity: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        Ok(Arc::new(Anyones(inner.reserve(affinity, params, size)?, self.get())))
    }

    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        Ok(Arc::new(AnyonesCode(super::sabotage::load(inner, code)?, self.get())))
    }

    fn prepare(&self, inner: &Inner, list: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        Ok(Arc::new(AnyonesCommands(inner.pass_list(list)?, self.get())))
    }

    fn submit(&self, inner: &Inner, mut s: Submission<'_>) -> Result<()> {
        if is_foreign(&s.operation, inner.domain()) {
            s.operation = Operation::Barrier;
        }
        if let Operation::Execute { command_buffer, .. } = &mut s.operation
            && let Some(AnyonesCommands(raw, _)) = (command_buffer.as_ref() as &dyn Any).downcast_ref()
        {
            *command_buffer = raw.clone();
        }
        s.to(inner)
    }
}

/// Whether an operation names an object whose true domain is another.
fn is_foreign(operation: &Operation, domain: Domain) -> bool {
    let buffer = |buffer: &Buffer| match (buffer.raw().as_ref() as &dyn Any).downcast_ref() {
        Some(Anyones(raw, _)) => raw.domain() != domain,
        None => buffer.raw().domain() != domain,
    };
    match operation {
        Operation::Fill { target, .. }
        | Operation::Update { target, .. }
        | Operation::Read { target, .. }
        | Operation::Dealloca { buffer: target } => buffer(target),
        Operation::Write { source, .. } => buffer(source),
        Operation::Copy { source, target } => buffer(source) || buffer(target),
        Operation::Dispatch(dispatch) => {
            let code = (dispatch.executable.as_ref() as &dyn Any).downcast_ref();
            code.is_some_and(|AnyonesCode(raw, _)| raw.domain() != domain)
                || dispatch.resources.iter().any(buffer)
                || dispatch.workgroup_count.buffer(&[]).iter().any(buffer)
        }
        Operation::Execute { command_buffer, bindings } => {
            let commands = (command_buffer.as_ref() as &dyn Any).downcast_ref();
            let direct = |range: &RecordedRange<'_>| matches!(range, RecordedRange::Direct { buffer: range, .. } if buffer(range));
            let recorded = |command: Command<'_>| match &command {
                Command::Fill { target, .. } | Command::Update { target, .. } => direct(target),
                Command::Copy { source, target } => direct(source) || direct(target),
                Command::Dispatch(dispatch) => dispatch.workgroup_count.buffer(bindings).iter().any(buffer),
                // A kernel's accesses through its argument block are unknown here. Its own device checks them.
                _ => false,
            };
            commands.is_some_and(|AnyonesCommands(raw, _)| raw.domain() != domain)
                || bindings.iter().any(buffer)
                || command_buffer.list().commands().any(recorded)
        }
        _ => false,
    }
}

struct Anyones(Arc<dyn driver::RawBuffer>, Domain);

// SAFETY: everything except the domain is that of the buffer that this keeps.
unsafe impl driver::RawBuffer for Anyones {
    fn domain(&self) -> Domain {
        self.1
    }
    fn size(&self) -> u64 {
        self.0.size()
    }
    fn device_address(&self) -> u64 {
        self.0.device_address()
    }
    fn host_pointer(&self) -> Option<driver::HostPointer> {
        self.0.host_pointer()
    }
    fn as_any(&self) -> &dyn Any {
        self.0.as_any()
    }
}

struct AnyonesCode(Arc<dyn driver::RawExecutable>, Domain);

// SAFETY: code and descriptions are those of the wrapped executable. Only the domain is wrong, on purpose, and the driver
// finds its own type through `as_any`.
unsafe impl driver::RawExecutable for AnyonesCode {
    fn domain(&self) -> Domain {
        self.1
    }
    fn functions(&self) -> &[windlass_hal::FunctionInfo] {
        self.0.functions()
    }
    fn globals(&self) -> &[windlass_hal::GlobalInfo] {
        self.0.globals()
    }
    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Result<Arc<dyn driver::RawBuffer>> {
        self.0.clone().global(index, affinity)
    }
    fn as_any(&self) -> &dyn Any {
        self.0.as_any()
    }
}

struct AnyonesCommands(Arc<dyn driver::RawCommandBuffer>, Domain);

// SAFETY: the list is that of the wrapped command buffer. Only the domain is wrong, on purpose, and the driver finds its own
// type through `as_any`.
unsafe impl driver::RawCommandBuffer for AnyonesCommands {
    fn domain(&self) -> Domain {
        self.1
    }
    fn list(&self) -> &CommandList {
        self.0.list()
    }
    fn as_any(&self) -> &dyn Any {
        self.0.as_any()
    }
}
