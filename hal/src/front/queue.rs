// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues: the entry for all work.
//!
//! Each operation takes a wait list and a signal list, and returns without waiting for other work. It starts when all
//! waits are reached. When it has completed, all signals are reached, one after the other in the order of the list. So a
//! thread or an operation that has seen a signal sees those before it. Nothing else orders it: two operations without an
//! edge between them may run in any order or at the same time, even on one queue.
//!
//! An `Err` means that the operation was not accepted, and the signal list is untouched. A later failure fails the
//! signal list. All methods may be called from any thread.

use std::{fmt, sync::Arc};

use smallvec::SmallVec;

use crate::{
    driver::{
        self,
        binding_table::BindingTable,
        buffer_ref::BufferRef,
        command_list::CommandList,
        host_call::{HostCall, HostCallContext, HostCallFlags},
        operation::{DispatchRef, OperationRef},
        range::Buffer,
        storage::File,
        workgroup_count::WorkgroupCount,
    },
    front::{
        argument::{self, Argument, Pack},
        check::{check_device, check_lengths, check_multiple, check_overlap},
        command_buffer::CommandBuffer,
        device::Device,
        dispatch::{DispatchConfig, Resolved, resolve},
        download::Download,
        executable::Function,
        indirect_dispatch::IndirectDispatchConfig,
    },
    kit::pool::Pool,
    order::{
        point::{Point, Points},
        semaphore::{Semaphore, check_value},
    },
    words::{
        buffer_params::{BufferParams, BufferUsage, check_params},
        error::{Error, Result, ResultExt},
        fork,
        info::Feature,
        pattern::Pattern,
        queue_affinity::QueueAffinity,
    },
};

/// A queue of a device, or a set of queues. For a set, the device picks one queue for each operation. Clones are
/// handles.
#[derive(Clone)]
pub struct Queue {
    device: Device,
    affinity: QueueAffinity,
}

impl Device {
    /// A queue by number, from 0. `OUT_OF_RANGE` where the device has fewer.
    pub fn queue(&self, index: u32) -> Result<Queue> {
        let queues = self.limits().queues;
        if index >= queues {
            return Err(Error::out_of_range(format!("queue {index} of a device that has {queues}")));
        }
        Ok(Queue::new(self.clone(), QueueAffinity::queue(index)))
    }

    /// A queue that stands for a set. The device picks one of the set for each operation. Bits of queues that the
    /// device does not have are ignored; `OUT_OF_RANGE` where none is left.
    pub fn queue_of(&self, affinity: QueueAffinity) -> Result<Queue> {
        let queues = self.limits().queues;
        let all = if queues >= 64 { u64::MAX } else { (1 << queues) - 1 };
        match affinity.bits() & all {
            0 => {
                Err(Error::out_of_range(format!("{affinity:?} names no queue of a device that has {queues}")))
            }
            bits => Ok(Queue::new(self.clone(), QueueAffinity::from_bits(bits))),
        }
    }
}

impl Queue {
    pub(crate) fn new(device: Device, affinity: QueueAffinity) -> Self {
        Self { device, affinity }
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The set of queues that this stands for.
    pub fn affinity(&self) -> QueueAffinity {
        self.affinity
    }

    pub(super) fn submit(
        &self,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        fork::check()?;
        for wait in waits {
            check_value("wait for", wait.value)?;
        }
        for signal in signals {
            check_value("signal", signal.value)?;
        }
        // SAFETY: each operation comes from a method of this front, which checked what its documentation promises.
        #[allow(unsafe_code)]
        unsafe {
            self.device.open.submit_watched(self.affinity, waits, signals, operation)
        }
    }

    /// Does nothing: reaches its signals when its waits are reached.
    pub fn barrier(&self, waits: &[Point], signals: &[Point]) -> Result<()> {
        self.submit(waits, signals, OperationRef::Barrier)
    }

    /// Allocates `size` bytes in the order of the queue. The handle has its address at once, and may be recorded and
    /// submitted. When the signals are reached, the memory belongs to the buffer, and its contents are undefined.
    pub fn alloca(
        &self,
        waits: &[Point],
        signals: &[Point],
        params: &BufferParams,
        size: u64,
    ) -> Result<Buffer> {
        check_params(params)?;
        fork::check()?;
        let raw = self.device.open.raw.reserve(self.affinity, params, size);
        self.submit_alloca(
            waits,
            signals,
            raw.context(|| format!("allocating {size} bytes on a queue"))?,
            params,
        )
    }

    /// [`alloca`](Self::alloca) from a pool of the same device. The buffer may have less usage than the memory of the
    /// pool, and a greater alignment. `RESOURCE_EXHAUSTED` where the pool has no room: the signals are untouched, and
    /// the call may succeed when other buffers were released. No call waits for that.
    pub fn alloca_from(
        &self,
        pool: &Pool,
        waits: &[Point],
        signals: &[Point],
        params: &BufferParams,
        size: u64,
    ) -> Result<Buffer> {
        check_params(params)?;
        fork::check()?;
        if pool.domain() != self.device.open.raw.domain() {
            return Err(Error::invalid_argument("the pool is one of another device"));
        }
        let raw = pool.acquire(self.affinity, params, size);
        self.submit_alloca(
            waits,
            signals,
            raw.context(|| format!("allocating {size} bytes on a queue"))?,
            params,
        )
    }

    fn submit_alloca(
        &self,
        waits: &[Point],
        signals: &[Point],
        reserved: Arc<dyn driver::RawBuffer>,
        params: &BufferParams,
    ) -> Result<Buffer> {
        let buffer = Buffer::from_driver(reserved, *params);
        self.submit(waits, signals, OperationRef::Alloca { buffer: &buffer })?;
        Ok(buffer)
    }

    /// Releases the memory of a whole allocation in the order of the queue, even where handles remain. Memory of a pool
    /// goes back to the pool. For an imported buffer this is a barrier, because its memory goes with the last handle.
    /// Operations ordered behind the signals may reuse the memory. When they are reached, or earlier, the buffer is out
    /// of use: calls that take or record it return `FAILED_PRECONDITION`. Work that was submitted or recorded before, and
    /// runs behind the signals, sees undefined contents.
    pub fn dealloca(&self, waits: &[Point], signals: &[Point], buffer: &Buffer) -> Result<()> {
        self.check(buffer, BufferUsage::NONE, "the buffer of a dealloca")?;
        if buffer.offset() != 0 || buffer.len() != buffer.raw().size() {
            return Err(Error::invalid_argument("a dealloca needs the whole buffer, not a subspan of it"));
        }
        self.submit(waits, signals, OperationRef::Dealloca { buffer })
    }

    /// Repeats `pattern` over `target`. Address and length of the target must be multiples of the size of the pattern.
    pub fn fill(
        &self,
        waits: &[Point],
        signals: &[Point],
        target: &Buffer,
        pattern: impl Into<Pattern>,
    ) -> Result<()> {
        let pattern = pattern.into();
        let size = pattern.bytes().len() as u64;
        self.check(target, BufferUsage::TRANSFER_TARGET, "the target of a fill")?;
        check_multiple(target.device_address(), size, "the address of a fill")?;
        check_multiple(target.len(), size, "the length of a fill")?;
        self.submit_unless(target.is_empty(), waits, signals, || OperationRef::Fill { target, pattern })
    }

    /// Writes `source` over `target`, which has the same length. The bytes are captured before this returns.
    pub fn update(&self, waits: &[Point], signals: &[Point], source: &[u8], target: &Buffer) -> Result<()> {
        check_lengths(source.len() as u64, target.len(), "an update")?;
        self.check(target, BufferUsage::TRANSFER_TARGET, "the target of an update")?;
        self.submit_unless(source.is_empty(), waits, signals, || OperationRef::Update { source, target })
    }

    /// Copies `source` over `target`, which has the same length. The two must not overlap.
    pub fn copy(&self, waits: &[Point], signals: &[Point], source: &Buffer, target: &Buffer) -> Result<()> {
        check_lengths(source.len(), target.len(), "a copy")?;
        self.check(source, BufferUsage::TRANSFER_SOURCE, "the source of a copy")?;
        self.check(target, BufferUsage::TRANSFER_TARGET, "the target of a copy")?;
        check_overlap(source, target)?;
        self.submit_unless(source.is_empty(), waits, signals, || OperationRef::Copy { source, target })
    }

    /// Fills `target` from a file, beginning at byte `file_offset` of the file.
    pub fn read(
        &self,
        waits: &[Point],
        signals: &[Point],
        file: &File,
        file_offset: u64,
        target: &Buffer,
    ) -> Result<()> {
        self.check(target, BufferUsage::TRANSFER_TARGET, "the target of a read")?;
        self.submit_unless(target.is_empty(), waits, signals, || OperationRef::Read {
            file,
            file_offset,
            target,
        })
    }

    /// Writes `source` to a file, beginning at byte `file_offset` of the file.
    pub fn write(
        &self,
        waits: &[Point],
        signals: &[Point],
        source: &Buffer,
        file: &File,
        file_offset: u64,
    ) -> Result<()> {
        self.check(source, BufferUsage::TRANSFER_SOURCE, "the source of a write")?;
        self.submit_unless(source.is_empty(), waits, signals, || OperationRef::Write {
            source,
            file,
            file_offset,
        })
    }

    /// Calls a function on a thread of the callback pool. The call may block, and independent work of the queue goes
    /// on. The signals are reached when the call returns `Ok`. They fail with the error that it returns, or with
    /// `ABORTED` if it panics.
    ///
    /// A call keeps its captures until it has run. One that holds a handle of its own device keeps that device open, and
    /// nobody closes the device if the waits are never reached.
    pub fn host_call(
        &self,
        waits: &[Point],
        signals: &[Point],
        flags: HostCallFlags,
        call: impl FnOnce(&mut HostCallContext) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        self.submit(waits, signals, OperationRef::HostCall(HostCall::new(flags, call)))
    }

    /// Launches one function with one argument for each of its parameters. A grid without workgroups is a barrier.
    pub fn dispatch(
        &self,
        waits: &[Point],
        signals: &[Point],
        function: &Function,
        config: impl Into<DispatchConfig>,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let resolved = resolve(function, self.device.open.raw.as_ref(), &config.into())?;
        let count = WorkgroupCount::Direct(resolved.workgroup_count);
        self.launch(waits, signals, function, &resolved, &count, arguments)
    }

    /// Launches one function with a workgroup count from a buffer, read when the waits are reached. See
    /// [`IndirectParameters`](crate::IndirectParameters). A count with a zero in it launches nothing.
    pub fn dispatch_indirect(
        &self,
        waits: &[Point],
        signals: &[Point],
        function: &Function,
        config: impl Into<IndirectDispatchConfig>,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        const WHAT: &str = "the parameters of an indirect dispatch";
        let config = config.into();
        let resolved = resolve(function, self.device.open.raw.as_ref(), &config.with_one_workgroup())?;
        let parameters = config.parameters.canonical()?;
        match parameters.range() {
            BufferRef::Direct(buffer) => {
                self.check(buffer, BufferUsage::DISPATCH_INDIRECT_PARAMETERS, WHAT)?;
                check_multiple(buffer.device_address(), 4, WHAT)?;
            }
            BufferRef::Slot { slot, .. } => return Err(no_table(*slot)),
        }
        let count = WorkgroupCount::Indirect(Box::new(parameters));
        self.launch(waits, signals, function, &resolved, &count, arguments)
    }

    fn launch(
        &self,
        waits: &[Point],
        signals: &[Point],
        function: &Function,
        resolved: &Resolved,
        workgroup_count: &WorkgroupCount,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let mut block: SmallVec<[u8; 128]> = SmallVec::from_elem(0, function.info().argument_size as usize);
        let mut buffers = Buffers(SmallVec::new());
        let pack = if resolved.raw_arguments { argument::pack_raw } else { argument::pack };
        pack(function.info(), arguments, self.device.open.raw.domain(), &mut block, &mut buffers)?;
        let nothing_to_do = matches!(workgroup_count, WorkgroupCount::Direct(count) if count.contains(&0));
        let dispatch = DispatchRef {
            executable: &function.executable,
            function: function.index,
            workgroup_count,
            workgroup_size: resolved.workgroup_size,
            dynamic_local_memory: resolved.dynamic_local_memory,
            arguments: &block,
            resources: &buffers.0,
        };
        self.submit_unless(nothing_to_do, waits, signals, || OperationRef::Dispatch(&dispatch))
    }

    /// Runs a command buffer with a binding table for its slots. A command buffer may be in flight any number of times,
    /// on any queues of its device. One with collective operations runs on queues that their channels have;
    /// `INVALID_ARGUMENT` where this queue stands for none of them.
    pub fn execute(
        &self,
        waits: &[Point],
        signals: &[Point],
        command_buffer: &CommandBuffer,
        bindings: impl Into<BindingTable>,
    ) -> Result<()> {
        self.execute_bound(waits, signals, command_buffer, &bindings.into())
    }

    fn execute_bound(
        &self,
        waits: &[Point],
        signals: &[Point],
        command_buffer: &CommandBuffer,
        bindings: &BindingTable,
    ) -> Result<()> {
        if command_buffer.raw.domain() != self.device.open.raw.domain() {
            return Err(Error::invalid_argument("the command buffer was recorded on another device"));
        }
        let list = command_buffer.list();
        command_buffer.check(list, bindings)?;
        let operation = OperationRef::Execute { command_buffer: &command_buffer.raw, bindings };
        if list.channels().len() > 0 {
            return self.execute_on_channels(waits, signals, list, operation);
        }
        self.submit(waits, signals, operation)
    }

    /// As [`execute`](Self::execute), on the queues that all channels of the command buffer have.
    #[cold]
    #[inline(never)]
    fn execute_on_channels(
        &self,
        waits: &[Point],
        signals: &[Point],
        list: &CommandList,
        operation: OperationRef<'_>,
    ) -> Result<()> {
        let channels = list.channels().map(|channel| channel.affinity().bits());
        let allowed = channels.fold(self.affinity.bits(), |allowed, own| allowed & own);
        if allowed == 0 {
            return Err(Error::invalid_argument(format!(
                "the channels of a command buffer do not run on the queues {:#x}: use a queue that they have",
                self.affinity.bits()
            )));
        }
        let allowed = Queue::new(self.device.clone(), QueueAffinity::from_bits(allowed));
        allowed.submit(waits, signals, operation)
    }

    /// Copies a buffer to the host when the waits are reached. Returns a future of the bytes.
    pub fn download(&self, waits: &[Point], source: &Buffer) -> Result<Download> {
        let params = BufferParams::host();
        let (ready, done) = (Semaphore::new(0), Semaphore::new(0));
        let size = source.len().max(1);
        // An alloca never waits. A device without it gets an allocation instead.
        let (staging, waits) = if self.device.lacks(Feature::Alloca) {
            (self.device.allocate(&params, size)?, Points::from(waits))
        } else {
            let ready = Points::from(&[ready.at(1)][..]);
            (self.alloca(waits, &ready, &params, size)?, ready)
        };
        let staging = staging.subspan(0, source.len())?;
        let mapping = staging.map()?;
        self.copy(&waits, &[done.at(1)], source, &staging)?;
        Ok(Download { wait: done.wait(1), done, mapping, _device: self.device.clone() })
    }

    fn submit_unless<'a>(
        &self,
        nothing_to_do: bool,
        waits: &[Point],
        signals: &[Point],
        operation: impl FnOnce() -> OperationRef<'a>,
    ) -> Result<()> {
        self.submit(waits, signals, if nothing_to_do { OperationRef::Barrier } else { operation() })
    }

    fn check(&self, buffer: &Buffer, usage: BufferUsage, what: &str) -> Result<()> {
        check_device(buffer, self.device.open.raw.as_ref(), what)?;
        buffer.require(usage, what)
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queue({} {:#x})", self.device.info().uri, self.affinity.bits())
    }
}

/// The buffers of a dispatch, on the stack as a rule.
struct Buffers<'a>(SmallVec<[&'a Buffer; 8]>);

impl<'a> Pack<'a> for Buffers<'a> {
    fn retain(&mut self, buffer: &'a Buffer) {
        self.0.push(buffer);
    }

    fn patch(&mut self, _at: u32, slot: u32, _offset: u64, _length: u64) -> Result<()> {
        Err(no_table(slot))
    }
}

#[cold]
fn no_table(slot: u32) -> Error {
    Error::invalid_argument(format!(
        "slot {slot} in a direct dispatch: only command buffers have binding tables"
    ))
}
