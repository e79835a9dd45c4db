// SPDX-License-Identifier: MIT OR Apache-2.0
//! The surroundings of a case: the device under test, and the steps that many cases share.

use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use windlass_hal::{
    Buffer, BufferParams, Deadline, Device, Error, Executable, Feature, Function, Point, Queue, Registry,
    Semaphore,
};

use crate::{
    kernels::{self, Kernels, Module},
    options::Options,
    outcome::{Level, Outcome, Stop},
    program::Bench,
    random::Random,
};

/// Looks of [`Context::until`] without a pause.
const QUICK_LOOKS: u32 = 16;
/// The pause between its later looks.
const PAUSE: Duration = Duration::from_micros(100);

/// The surroundings of a running case.
#[derive(Clone, Debug)]
pub struct Context {
    registry: Registry,
    uri: String,
    device: Device,
    limit: Instant,
    seed: u64,
    level: Level,
    kernels: Vec<Kernels>,
}

impl Context {
    pub(crate) fn new(registry: &Registry, uri: &str, device: Device, options: &Options, seed: u64) -> Self {
        Self {
            registry: registry.clone(),
            uri: uri.to_owned(),
            device,
            limit: Instant::now() + options.timeout / 2,
            seed,
            level: options.level,
            kernels: options.kernels.clone(),
        }
    }

    /// The device under test. Cases share it; a case that closes or breaks a device opens its own.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Another device of the same URI.
    pub fn open(&self) -> Outcome<Device> {
        Ok(self.registry.open(&self.uri)?)
    }

    /// The registry of drivers.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The URI under test.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// A queue by number. The number wraps around if the device has fewer queues.
    pub fn queue(&self, index: u32) -> Outcome<Queue> {
        queue_of(&self.device, index)
    }

    /// The deadline of every wait of this case. It passes before the watchdog's, so that the case can say what it
    /// waited for.
    pub fn deadline(&self) -> Deadline {
        self.limit.into()
    }

    /// Blocks until a value is reached.
    pub fn wait(&self, point: &Point) -> Outcome {
        Ok(point.semaphore.wait_blocking(point.value, self.deadline())?)
    }

    /// Waits for a failure of a semaphore and returns the error. A value that is reached fails the case.
    pub fn wait_for_failure(&self, point: &Point) -> Outcome<Error> {
        match point.semaphore.wait_blocking(point.value, self.deadline()) {
            Ok(()) => Err(Stop::fail(format!("{point:?} was reached and should have failed"))),
            Err(error) if error.code() == windlass_hal::Code::DeadlineExceeded => {
                Err(Stop::fail(format!("{point:?} neither failed nor was reached: {error}")))
            }
            Err(error) => Ok(error),
        }
    }

    /// Polls the device until the condition is true, with pauses after the first looks, so that the driver's threads get a CPU.
    pub fn until(&self, what: &str, mut condition: impl FnMut() -> bool) -> Outcome {
        let mut looks = 0;
        loop {
            if condition() {
                return Ok(());
            }
            if Instant::now() >= self.limit {
                return Err(Stop::fail(format!("never became true: {what}")));
            }
            self.device.poll();
            if looks < QUICK_LOOKS {
                looks += 1;
                std::thread::yield_now();
            } else {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Random numbers, reproducible by `--seed`.
    pub fn random(&self) -> Random {
        Random::new(self.seed)
    }

    /// The level of the run. A case may do more rounds at [`Level::Stress`].
    pub fn level(&self) -> Level {
        self.level
    }

    /// Device memory with these bytes.
    pub fn upload(&self, bytes: &[u8]) -> Outcome<Buffer> {
        let buffer = self.device.allocate_device(bytes.len() as u64)?;
        let done = Semaphore::new(0);
        self.queue(0)?.update(&[], &[done.at(1)], bytes, &buffer)?;
        self.wait(&done.at(1))?;
        Ok(buffer)
    }

    /// Device memory of `length` bytes, each of them `byte`.
    pub fn filled(&self, length: u64, byte: u8) -> Outcome<Buffer> {
        let buffer = self.device.allocate_device(length)?;
        let done = Semaphore::new(0);
        self.queue(0)?.fill(&[], &[done.at(1)], &buffer, byte)?;
        self.wait(&done.at(1))?;
        Ok(buffer)
    }

    /// Memory that the host can map.
    pub fn host_buffer(&self, length: u64) -> Outcome<Buffer> {
        Ok(self.device.allocate(&BufferParams::host(), length)?)
    }

    /// The bytes of a buffer. No work may be writing to it.
    pub fn download(&self, buffer: &Buffer) -> Outcome<Vec<u8>> {
        Ok(self.queue(0)?.download(&[], buffer)?.wait(self.deadline())?)
    }

    /// The bytes of a buffer once a point is reached.
    pub fn download_after(&self, point: &Point, buffer: &Buffer) -> Outcome<Vec<u8>> {
        Ok(self.queue(0)?.download(std::slice::from_ref(point), buffer)?.wait(self.deadline())?)
    }

    /// Skips the case if the device declares a lack of `feature`.
    pub fn require(&self, feature: Feature) -> Outcome {
        match self.device.info().lacks.iter().find(|lack| lack.feature == feature) {
            None => Ok(()),
            Some(lack) => Err(Stop::skip(format!("declared lack `{}`: {}", feature.name(), lack.reason))),
        }
    }

    /// Loads one of the suite's kernels. Skips the case if none was built for the device's architecture.
    pub(crate) fn load(&self, module: &Module) -> Outcome<Executable> {
        self.load_on(&self.device, module)
    }

    /// [`load`](Self::load) on another device than the one under test.
    pub(crate) fn load_on(&self, device: &Device, module: &Module) -> Outcome<Executable> {
        kernels::load(&self.kernels, device, module)
    }

    /// The bytes that [`load`](Self::load) loads.
    pub(crate) fn module_bytes(&self, module: &Module) -> Outcome<Cow<'static, [u8]>> {
        kernels::bytes(&self.kernels, &self.device, module)
    }

    /// A bench for random programs, with a device of its own.
    pub(crate) fn bench(&self) -> Outcome<Bench> {
        let limit = self.limit.saturating_duration_since(Instant::now());
        Bench::new(self.open()?, &self.kernels, limit)
    }

    /// A function of one of the suite's kernels.
    pub(crate) fn function(&self, module: &Module, name: &str) -> Outcome<Function> {
        Ok(self.load(module)?.function(name)?)
    }
}

pub(crate) fn queue_of(device: &Device, index: u32) -> Outcome<Queue> {
    Ok(device.queue(index % device.limits().queues.max(1))?)
}
