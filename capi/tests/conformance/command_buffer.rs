// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers: a list of the HAL's, recorded again by the library.

use std::any::Any;

use windlass_hal::{
    BufferRef, Command, CommandList, DebugGroup, DispatchCommand, IndirectParameters, Result,
    WorkgroupCountRef, driver, edge::Domain,
};

use crate::{
    api::{self, Handle, api, c_string, check},
    arguments,
    bindings::*,
    buffer::{range_of, recorded, slot_of},
    channel,
    executable::Executable,
};

/// A list, and the library's recording of it.
pub(crate) struct CommandBuffer {
    domain: Domain,
    list: CommandList,
    handle: Handle<windlass_command_buffer_t>,
}

struct Recorder<'a> {
    handle: Handle<windlass_recorder_t>,
    list: &'a CommandList,
    events: Vec<windlass_event_t>,
}

impl CommandBuffer {
    pub(crate) fn new(domain: Domain, device: &Handle<windlass_device_t>, list: CommandList) -> Result<Self> {
        let slots = list.slots().len() as u32;
        // SAFETY: handles and locals.
        let handle = Handle::from(api::recorder, |recorder| unsafe {
            api().windlass_recorder_create(device.get(), slots, recorder)
        })?;
        let mut recorder = Recorder { handle, list: &list, events: Vec::new() };
        for (index, command) in list.commands().enumerate() {
            recorder.record(&command).map_err(|error| error.context(format!("command {index}")))?;
        }
        // SAFETY: handles and locals.
        let handle = Handle::from(api::command_buffer, |command_buffer| unsafe {
            api().windlass_recorder_finish(recorder.handle.get(), command_buffer)
        })?;
        drop(recorder);
        Ok(Self { domain, list, handle })
    }

    pub(crate) fn handle(raw: &dyn driver::RawCommandBuffer) -> Option<*mut windlass_command_buffer_t> {
        raw.as_any().downcast_ref::<Self>().map(|this| this.handle.get())
    }
}

// SAFETY: `list` is the list that was recorded, and never changes.
unsafe impl driver::RawCommandBuffer for CommandBuffer {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn list(&self) -> &CommandList {
        &self.list
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Recorder<'_> {
    fn record(&mut self, command: &Command<'_>) -> Result<()> {
        let recorder = self.handle.get();
        // SAFETY: handles of the library, and bytes that live until each call returns.
        unsafe {
            match command {
                Command::Barrier => check(api().windlass_recorder_barrier(recorder)),
                Command::Fill { target, pattern } => {
                    let (target, bytes) = (recorded(target)?, pattern.bytes());
                    check(api().windlass_recorder_fill(recorder, target, bytes.as_ptr().cast(), bytes.len()))
                }
                Command::Update { source, target, .. } => {
                    let target = recorded(target)?;
                    check(api().windlass_recorder_update(
                        recorder,
                        source.as_ptr().cast(),
                        source.len(),
                        target,
                    ))
                }
                Command::Copy { source, target } => {
                    check(api().windlass_recorder_copy(recorder, recorded(source)?, recorded(target)?))
                }
                Command::Dispatch(dispatch) => self.dispatch(dispatch),
                Command::SignalEvent { event } => {
                    let event = self.event(*event)?;
                    check(api().windlass_recorder_signal_event(recorder, event))
                }
                Command::ResetEvent { event } => {
                    let event = self.event(*event)?;
                    check(api().windlass_recorder_reset_event(recorder, event))
                }
                Command::WaitEvents { events } => {
                    let events: Vec<_> =
                        events.iter().map(|event| self.event(*event)).collect::<Result<_>>()?;
                    check(api().windlass_recorder_wait_events(recorder, events.len(), events.as_ptr()))
                }
                Command::Collective { channel, operations } => {
                    let channel = channel::of(channel.as_ref())?;
                    let range = |range: &BufferRef| recorded(&range.into());
                    let operations = operations.iter().map(|one| channel::collective_of(one, range));
                    let group: Vec<_> = operations.collect::<Result<_>>()?;
                    let (count, group) = (group.len(), group.as_ptr());
                    check(api().windlass_recorder_collective(recorder, channel, count, group))
                }
                Command::BeginDebugGroup(group) => self.begin(group),
                Command::EndDebugGroup => check(api().windlass_recorder_end_debug_group(recorder)),
                other => Err(windlass_hal::Error::unimplemented(format!("{other:?}"))),
            }
        }
    }

    /// The library's event of a number.
    fn event(&mut self, number: usize) -> Result<windlass_event_t> {
        while self.events.len() <= number {
            let mut event = windlass_event_t::default();
            // SAFETY: a handle and a local.
            check(unsafe { api().windlass_recorder_create_event(self.handle.get(), &mut event) })?;
            self.events.push(event);
        }
        Ok(self.events[number])
    }

    fn begin(&self, group: &DebugGroup) -> Result<()> {
        // A string of C ends at its first NUL.
        let label = c_string(&group.label.replace('\0', " "))?;
        let color = group.color.as_ref().map_or(std::ptr::null(), |color| color.as_ptr());
        let file = group.location.as_ref().map(|location| c_string(&location.file)).transpose()?;
        let line = group.location.as_ref().map_or(0, |location| location.line);
        let file = file.as_ref().map_or(std::ptr::null(), |file| file.as_ptr());
        // SAFETY: a handle, and strings that live until the call returns.
        check(unsafe {
            api().windlass_recorder_begin_debug_group_at(self.handle.get(), label.as_ptr(), color, file, line)
        })
    }

    fn dispatch(&self, dispatch: &DispatchCommand<'_>) -> Result<()> {
        let (function, info) = Executable::function(dispatch.executable().as_ref(), dispatch.function())
            .ok_or_else(|| windlass_hal::Error::internal("a function of another driver"))?;
        let packed = dispatch.patches.is_empty();
        let arguments = if packed {
            arguments::packed(dispatch.arguments, std::iter::empty())?
        } else {
            let (buffers, slots) = (self.list.buffers(), self.list.slots());
            arguments::each(info, dispatch.arguments, dispatch.patches, buffers, slots)?
        };
        let (size, local) = (dispatch.workgroup_size, dispatch.dynamic_local_memory);
        let recorder = self.handle.get();
        // SAFETY: handles of the library, and arguments that live until each call returns.
        unsafe {
            match dispatch.workgroup_count {
                WorkgroupCountRef::Direct(count) => {
                    let config = arguments::direct(count, size, local, packed);
                    check(api().windlass_recorder_dispatch(
                        recorder,
                        function,
                        &config,
                        arguments.len(),
                        arguments.as_ptr(),
                    ))
                }
                WorkgroupCountRef::Indirect(parameters) => {
                    let is_static = matches!(parameters, IndirectParameters::Static(_));
                    let count = match parameters.range() {
                        BufferRef::Direct(buffer) => range_of(buffer)?,
                        BufferRef::Slot { slot, offset, length } => slot_of(*slot, *offset, *length),
                    };
                    let config = arguments::indirect(count, is_static, size, local, packed);
                    check(api().windlass_recorder_dispatch_indirect(
                        recorder,
                        function,
                        &config,
                        arguments.len(),
                        arguments.as_ptr(),
                    ))
                }
                other => Err(arguments::unknown(other)),
            }
        }
    }
}
