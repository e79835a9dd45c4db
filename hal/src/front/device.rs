// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices: they allocate memory, load code and record command buffers.

use std::{
    fmt,
    sync::{Arc, Mutex, Weak},
};

use crate::{
    driver::{self, accounts::Statistics, operation::OperationRef, range::Buffer},
    front::{executable::Executable, profiling::Profiling, recorder::Recorder},
    kit::{
        executable_cache::ExecutableCache,
        pool::{Pool, PoolParams, Slabs},
    },
    order::{deadline::Deadline, point::Point},
    words::{
        buffer_params::{BufferParams, check_params},
        error::{Code, Error, Result, ResultExt},
        fork,
        info::{DeviceInfo, Feature},
        limits::Limits,
        queue_affinity::QueueAffinity,
        sync::lock_std as lock,
    },
};

/// An opened device. Clones and queues are handles of the same device, and may be used on any thread.
///
/// Dropping the last handle closes the device without waiting. Operations that were not issued fail with `CANCELLED`.
/// Issued operations continue, keep their buffers alive and reach their signals. Buffers, executables and command
/// buffers keep their memory, but do not keep the device open.
///
/// A device belongs to the process that opened it. In a child made by `fork`, all calls that submit or allocate are
/// refused with `FAILED_PRECONDITION`, and no device can be opened there, because the threads of the parent do not
/// exist in the child.
#[derive(Clone)]
pub struct Device {
    pub(crate) open: Arc<Open>,
}

/// Closes the driver's device with the last handle.
pub(crate) struct Open {
    pub(crate) raw: Arc<dyn driver::RawDevice>,
    /// The pools that the device made. Some may have no handle and no buffer left.
    pools: Mutex<Vec<Weak<Slabs>>>,
    executables: ExecutableCache,
    pub(crate) profiling: Profiling,
}

impl Drop for Open {
    fn drop(&mut self) {
        if fork::is_child() {
            // Closing takes locks that a thread of the parent may hold.
            std::mem::forget(self.raw.clone());
            return;
        }
        self.raw.close();
        self.end_profile();
    }
}

// SAFETY: all methods forward, so the contract is that of the driver's device. A profile adds one signal.
#[allow(unsafe_code)]
unsafe impl driver::Wrapper for Open {
    fn inner(&self) -> &dyn driver::RawDevice {
        &*self.raw
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        // SAFETY: the caller vouches under the same contract.
        unsafe { self.submit_watched(affinity, waits, signals, operation) }
    }
}

impl Device {
    /// Wraps a device that a driver opened.
    pub fn from_driver(raw: Arc<dyn driver::RawDevice>) -> Self {
        fork::opened();
        let (pools, executables) = (Mutex::default(), ExecutableCache::default());
        let raw = Open { raw, pools, executables, profiling: Profiling::default() };
        Self { open: Arc::new(raw) }
    }

    /// Describes the device.
    pub fn info(&self) -> &DeviceInfo {
        self.open.raw.info()
    }

    /// The limits of its queues and its memory.
    pub fn limits(&self) -> &Limits {
        self.open.raw.limits()
    }

    /// The driver's side of this device, for a [`Wrapper`](driver::Wrapper) to wrap. The returned object keeps the device
    /// open, as a handle does. Its [`close`](driver::RawDevice::close) closes the device for all handles.
    pub fn raw(&self) -> Arc<dyn driver::RawDevice> {
        self.open.clone()
    }

    /// Allocates `size` bytes that are usable at once. The contents are undefined.
    /// [`Queue::alloca`](crate::Queue::alloca) is cheaper for memory that lives for a few operations.
    ///
    /// If memory is short, this may block for a few seconds at most, until the system has taken idle memory back.
    /// Operations of a queue never wait for memory: they fail with `RESOURCE_EXHAUSTED`, and may succeed when tried
    /// again.
    pub fn allocate(&self, params: &BufferParams, size: u64) -> Result<Buffer> {
        check_params(params)?;
        fork::check()?;
        let raw = self.open.raw.allocate(params, size).or_else(|error| {
            // Pools may keep the missing memory idle. The driver has already searched its own reserve.
            match error.code() {
                Code::ResourceExhausted if self.trim_pools() => self.open.raw.allocate(params, size),
                _ => Err(error),
            }
        });
        Ok(Buffer::from_driver(raw.context(|| format!("allocating {size} bytes"))?, *params))
    }

    /// Whether the driver declares the lack of a feature.
    pub(crate) fn lacks(&self, feature: Feature) -> bool {
        self.info().lacks.iter().any(|lack| lack.feature == feature)
    }

    /// Device memory for transfers and dispatches: [`allocate`](Self::allocate) with [`BufferParams::device`].
    pub fn allocate_device(&self, size: u64) -> Result<Buffer> {
        self.allocate(&BufferParams::device(), size)
    }

    /// Makes a pool: separate memory with a strategy, a size and a limit of its own. The pool takes memory from the
    /// device when a buffer first needs it. `INVALID_ARGUMENT` for impossible parameters.
    pub fn create_pool(&self, params: PoolParams) -> Result<Pool> {
        check_params(&params.memory)?;
        fork::check()?;
        let pool = Pool::new(self.open.raw.as_ref(), params).context(|| "creating a pool")?;
        let mut pools = lock(&self.open.pools);
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(&pool.slabs));
        drop(pools);
        Ok(pool)
    }

    /// Loads device code: a code object, or any container of code objects that the driver reads. The driver chooses the
    /// best entry for this device. Where none fits, `NOT_FOUND` says for each entry why not.
    ///
    /// While a handle of an executable lives, loading the same bytes again returns the [same](Executable::same)
    /// executable with the same global variables. Two threads that load the same bytes at once load them once. A failed
    /// load is not remembered.
    ///
    /// # Safety
    /// Windlass cannot check the code. It can read and write all memory that the device can reach: other buffers, and
    /// on some systems host memory. Dispatching the code is safe, so the caller vouches here for all dispatches that
    /// the program can make. With any buffers, values and raw argument blocks, the code stays within live buffers of
    /// this device and within the usage that they were allocated for. A program that passes functions to untrusted code
    /// must check the arguments of that code.
    #[allow(unsafe_code)]
    pub unsafe fn load_executable(&self, code: &[u8]) -> Result<Executable> {
        fork::check()?;
        let raw = self.open.executables.load(&[code], || {
            // SAFETY: the caller vouches under the same contract.
            unsafe { self.open.raw.load_executable(code) }
        });
        raw.map(Executable::from_driver).context(|| format!("loading {} bytes of device code", code.len()))
    }

    /// Loads several pieces of device code as one executable. One piece may define the functions and variables that
    /// another leaves undefined. Each piece is as for [`load_executable`](Self::load_executable), and has code for this
    /// device. Where several pieces define a name, the first definition counts. Pieces that do not need each other are
    /// loaded side by side.
    ///
    /// `NOT_FOUND` names the symbols that no piece defines, each with the piece that needs it. `FAILED_PRECONDITION`
    /// means that pieces need each other in a circle, or that the device address of a symbol is unknown: link such
    /// pieces into one code object when they are built. A device that cannot link declares the lack of
    /// [`Feature::Linking`].
    ///
    /// While a handle of the executable lives, loading the same pieces in the same order returns the same executable.
    ///
    /// # Safety
    /// As for [`load_executable`](Self::load_executable), for all pieces together.
    #[allow(unsafe_code)]
    pub unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Executable> {
        if let [code] = parts {
            // SAFETY: the caller vouches under the same contract.
            let loaded = unsafe { self.load_executable(code) };
            return loaded.context(|| "linking piece 0, the only one".to_owned());
        }
        if parts.is_empty() {
            return Err(Error::invalid_argument("an executable of no pieces of device code"));
        }
        fork::check()?;
        let raw = self.open.executables.load(parts, || {
            // SAFETY: the caller vouches under the same contract.
            unsafe { self.open.raw.load_linked(parts) }
        });
        let linked = raw.map(Executable::from_driver);
        linked.context(|| format!("linking {} pieces of device code", parts.len()))
    }

    /// Starts to record a command buffer without slots.
    pub fn record(&self) -> Result<Recorder> {
        self.record_with_slots(0)
    }

    /// Starts to record a command buffer whose binding table has this many slots. `OUT_OF_RANGE` above 2^20 slots.
    pub fn record_with_slots(&self, slots: u32) -> Result<Recorder> {
        Recorder::new(self.open.raw.clone(), slots)
    }

    /// Retires finished work. Never blocks. Waiting and submitting also retire finished work.
    pub fn poll(&self) {
        if !fork::is_child() {
            self.open.raw.poll();
        }
    }

    /// Blocks until all operations issued so far have retired. `DEADLINE_EXCEEDED` when the deadline passes. Operations
    /// whose waits are not reached are not issued, so this does not wait for them. It waits for running host calls,
    /// except for a host call that calls this itself.
    pub fn drain(&self, deadline: impl Into<Deadline>) -> Result<()> {
        fork::check()?;
        self.open.raw.drain(deadline.into())
    }

    /// Closes the device for all handles, without waiting. Operations that were not issued fail with `CANCELLED`, and
    /// new ones are refused.
    pub fn close(&self) {
        if !fork::is_child() {
            self.open.raw.close();
        }
    }

    /// Returns unused memory to the system: memory that no buffer holds and no work uses, from the reserve of the
    /// device and of its pools. Never waits. Memory of work in flight stays for the next trim. The system may take a
    /// moment longer than this call.
    pub fn trim(&self) {
        if fork::is_child() {
            return;
        }
        self.trim_pools();
        self.open.raw.trim();
    }

    /// Whether the pools returned any memory.
    fn trim_pools(&self) -> bool {
        let source = self.open.raw.memory();
        let mut any = false;
        for pool in self.pools() {
            any |= pool.trim(source.as_ref());
        }
        any
    }

    /// The present use of the device's memory, with the number of its pools.
    pub fn statistics(&self) -> Statistics {
        if fork::is_child() {
            return Statistics::default();
        }
        let mut statistics = self.open.raw.statistics();
        statistics.pools = self.pools().len() as u64;
        statistics
    }

    fn pools(&self) -> Vec<Arc<Slabs>> {
        lock(&self.open.pools).iter().filter_map(Weak::upgrade).collect()
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.info().uri)
    }
}
