// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices: where queues, memory and executables come from.

use std::{
    fmt,
    sync::{Arc, Mutex, Weak},
};

use crate::{
    driver::{self, accounts::Statistics, range::Buffer},
    front::{executable::Executable, recorder::Recorder},
    kit::{
        executable_cache::ExecutableCache,
        pool::{Pool, PoolParams, Slabs},
    },
    order::deadline::Deadline,
    words::{
        buffer_params::{BufferParams, check_params},
        error::{Code, Error, Result, ResultExt},
        fork,
        info::{DeviceInfo, Feature},
        limits::Limits,
        sync::lock_std as lock,
    },
};

/// An opened device. Clones and queues are handles of the same one.
///
/// When the last of them is dropped, what was not issued fails with `CANCELLED`; what was issued goes on, keeps
/// its buffers alive, and still reaches its signals. Nothing waits. Buffers, executables and command buffers keep
/// their memory but do not keep the device open.
///
/// A device belongs to the process that opened it. In a child by `fork` it takes nothing, and none can be opened:
/// `FAILED_PRECONDITION`, for the threads that would do the work stayed behind.
#[derive(Clone)]
pub struct Device {
    pub(crate) open: Arc<Open>,
}

/// Closes the driver's device with the last handle.
pub(crate) struct Open {
    pub(crate) raw: Arc<dyn driver::Device>,
    /// The pools that have a handle or a buffer left, among others.
    pools: Mutex<Vec<Weak<Slabs>>>,
    executables: ExecutableCache,
}

impl Drop for Open {
    fn drop(&mut self) {
        if fork::is_child() {
            // Closing may take locks that nobody gives back there.
            std::mem::forget(self.raw.clone());
            return;
        }
        self.raw.close();
    }
}

impl Device {
    /// Wraps what a driver opened.
    pub fn from_driver(raw: Arc<dyn driver::Device>) -> Self {
        fork::opened();
        let raw = Open { raw, pools: Mutex::default(), executables: ExecutableCache::default() };
        Self { open: Arc::new(raw) }
    }

    /// What the device is.
    pub fn info(&self) -> &DeviceInfo {
        self.open.raw.info()
    }

    /// What it can take.
    pub fn limits(&self) -> &Limits {
        self.open.raw.limits()
    }

    /// The driver's side, for wrappers.
    pub fn raw(&self) -> &Arc<dyn driver::Device> {
        &self.open.raw
    }

    /// Allocates memory that is usable at once. Its contents are undefined. [`Queue::alloca`] is cheaper for
    /// memory that lives for a few operations.
    ///
    /// Where memory is short, this may wait, for a few seconds at most, until the system has taken back what lay idle.
    /// Nothing on a queue waits so: it fails with `RESOURCE_EXHAUSTED`, and may succeed when it is tried again.
    pub fn allocate(&self, params: &BufferParams, size: u64) -> Result<Buffer> {
        check_params(params)?;
        fork::check()?;
        let raw = self.open.raw.allocate(params, size).or_else(|error| {
            // Pools may keep what is missing. What the driver keeps it has looked through.
            match error.code() {
                Code::ResourceExhausted if self.trim_pools() => self.open.raw.allocate(params, size),
                _ => Err(error),
            }
        });
        Ok(Buffer::from_driver(raw.context(|| format!("allocating {size} bytes"))?, *params))
    }

    /// Whether the driver declared that it has no such thing.
    pub(crate) fn lacks(&self, feature: Feature) -> bool {
        self.info().lacks.iter().any(|lack| lack.feature == feature)
    }

    /// Device memory for transfers and dispatches: [`allocate`](Self::allocate) with [`BufferParams::device`].
    pub fn allocate_device(&self, size: u64) -> Result<Buffer> {
        self.allocate(&BufferParams::device(), size)
    }

    /// Makes a pool: memory apart, with a strategy, a size and a limit of its own. It takes memory from the device when it
    /// is first needed. `INVALID_ARGUMENT` for what no memory can be.
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

    /// Loads device code: a code object or any container of them that the driver reads. The best entry for this
    /// device is chosen; where none fits, `NOT_FOUND` says for each entry why.
    ///
    /// Bytes that are loaded already, and of which a handle is left, are not loaded again: the result is the
    /// [same](Executable::same) executable, its global variables included. Two threads that load the same bytes at once
    /// load them once. What failed to load is tried anew each time.
    ///
    /// # Safety
    /// The code can read and write whatever the device can reach, other
    /// buffers and in some systems host memory included, and Windlass cannot check it. The caller vouches for every
    /// dispatch of the code that the program can make, which is safe from then on: whatever buffers, values and raw
    /// argument blocks it is given, it stays within live buffers of this device and within the usage they were
    /// allocated for. A program that hands functions to code it does not trust must check what that code passes.
    #[allow(unsafe_code)]
    pub unsafe fn load_executable(&self, code: &[u8]) -> Result<Executable> {
        fork::check()?;
        let raw = self.open.executables.load(&[code], || {
            // SAFETY: the same contract, passed on.
            unsafe { self.open.raw.load_executable(code) }
        });
        raw.map(Executable::from_driver).context(|| format!("loading {} bytes of device code", code.len()))
    }

    /// Loads several pieces of device code as one executable: what one piece leaves undefined, a function or a variable,
    /// another may define. Each piece is what [`load_executable`](Self::load_executable) takes, and has code for this
    /// device. Names that several pieces define are those of the first; pieces that need nothing of each other are loaded
    /// side by side.
    ///
    /// A symbol that no piece defines is `NOT_FOUND`, and each is named with the piece that wants it. Pieces that need each
    /// other in a circle, and symbols whose device address nobody tells, are `FAILED_PRECONDITION`: link them into one code
    /// object when they are built. A device that links nothing says so beforehand: [`Feature::Linking`].
    ///
    /// The same pieces in the same order are not loaded again while a handle of the result is left.
    ///
    /// # Safety
    /// As [`load_executable`](Self::load_executable), for all pieces together.
    #[allow(unsafe_code)]
    pub unsafe fn load_linked(&self, parts: &[&[u8]]) -> Result<Executable> {
        if let [code] = parts {
            // SAFETY: the same contract, passed on.
            let loaded = unsafe { self.load_executable(code) };
            return loaded.context(|| "linking piece 0, the only one".to_owned());
        }
        if parts.is_empty() {
            return Err(Error::invalid_argument("an executable of no pieces of device code"));
        }
        fork::check()?;
        let raw = self.open.executables.load(parts, || {
            // SAFETY: the same contract, passed on.
            unsafe { self.open.raw.load_linked(parts) }
        });
        let linked = raw.map(Executable::from_driver);
        linked.context(|| format!("linking {} pieces of device code", parts.len()))
    }

    /// Starts a command buffer without slots.
    pub fn record(&self) -> Result<Recorder> {
        self.record_with_slots(0)
    }

    /// Starts a command buffer whose binding table has this many slots.
    pub fn record_with_slots(&self, slots: u32) -> Result<Recorder> {
        Recorder::new(self.open.raw.clone(), slots)
    }

    /// Retires what has finished. Never blocks. Waiting and submitting do this too.
    pub fn poll(&self) {
        if !fork::is_child() {
            self.open.raw.poll();
        }
    }

    /// Blocks until everything issued so far has retired, or `DEADLINE_EXCEEDED`. Operations whose waits are not
    /// reached are not issued, and not waited for. Host calls that run are waited for, but for the
    /// one that asks.
    pub fn drain(&self, deadline: impl Into<Deadline>) -> Result<()> {
        fork::check()?;
        self.open.raw.drain(deadline.into())
    }

    /// Closes the device for all handles: what was not issued fails with `CANCELLED`, new work is refused. Does
    /// not wait.
    pub fn close(&self) {
        if !fork::is_child() {
            self.open.raw.close();
        }
    }

    /// Gives memory back to the system that no buffer holds and that nothing uses any more: the device's own reserve and
    /// that of its pools. Never waits, neither for work in flight, whose memory stays for the next trim, nor for the
    /// system, which may take a moment after this returns.
    pub fn trim(&self) {
        if fork::is_child() {
            return;
        }
        self.trim_pools();
        self.open.raw.trim();
    }

    /// Whether pools gave anything back.
    fn trim_pools(&self) -> bool {
        let source = self.open.raw.memory();
        let mut any = false;
        for pool in self.pools() {
            any |= pool.trim(source.as_ref());
        }
        any
    }

    /// What the device's memory is used for, pools included.
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
