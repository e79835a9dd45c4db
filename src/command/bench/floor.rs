// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lower bounds of HIP devices: bare calls into the same HIP library.

use std::{
    ffi::{CString, c_void},
    hint, ptr,
    sync::Arc,
};

use crate::{Device, Uri};
use windlass_codeobject::{File, Options};
use windlass_hip_sys::{
    Api, Origin, Source,
    bindings::{hipError_t, hipEvent_t, hipFunction_t, hipMemcpyKind, hipModule_t, hipStream_t},
    null,
};

use super::{
    kernels,
    shape::{BYTES, ITEMS, Shape},
    stop::{Stop, Work},
    subject::{Subject, whole},
};
#[cfg(feature = "sim")]
use crate::command::hip;
use crate::command::input;

/// Events without times, which cost less.
const WITHOUT_TIME: u32 = 2;
/// Streams that do not wait for the default stream.
const NON_BLOCKING: u32 = 1;

/// A bare wait for an event.
#[derive(Clone, Copy)]
pub(super) enum Wait {
    /// Queries until the end.
    Polling,
    /// Blocks inside HIP.
    Blocking,
}

impl Wait {
    /// The name of a floor that waits so.
    pub(super) fn calls(self) -> &'static str {
        match self {
            Self::Polling => "launch, event, queries",
            Self::Blocking => "launch, event, hipEventSynchronize",
        }
    }
}

/// The HIP of a device, called without the HAL.
#[derive(Clone)]
pub(super) struct Hip {
    api: Arc<Api>,
    architecture: String,
}

impl Hip {
    /// The HIP behind a URI. `None` for devices of other drivers, and for a device of several GPUs.
    pub(super) fn of(uri: &str, device: &Device) -> Option<Self> {
        let parsed: Uri = uri.parse().ok()?;
        if device.limits().physical_devices > 1 {
            return None;
        }
        let api = match parsed.scheme() {
            "hip-null" => {
                let kernel = parsed.reader().text("kernel").map_or(Ok(null::KernelTime::NONE), str::parse);
                let options = null::Options { kernel: kernel.ok()?, ..null::Options::default() };
                Arc::new(null::Instance::new(options).api())
            }
            #[cfg(feature = "sim")]
            "hip-sim" => {
                // A failure that is asked for is the driver's to meet.
                let without = [&hip::OF_THE_DRIVER[..], &["fail"]].concat();
                let api = Arc::new(hip::simulated(uri, &without, "").ok()?);
                let by_key = parsed.reader().value("device").ok()?;
                let ordinal = by_key.or_else(|| parsed.path().parse().ok()).unwrap_or(0);
                // SAFETY: an ordinal; the driver found the device.
                unsafe { api.hipSetDevice(ordinal) }.ok().ok()?;
                api
            }
            crate::REAL_SCHEME => {
                let reader = parsed.reader();
                let source =
                    reader.text("library").map_or(Source::System, |path| Source::Library(path.into()));
                // SAFETY: the device came from the same library, which its driver took for HIP.
                let api = Arc::new(unsafe { Api::load(&source) }.ok()?);
                // HIP counts GPUs; one that is named by its UUID has no floor.
                let ordinal = if parsed.path().is_empty() { 0 } else { parsed.path().parse().ok()? };
                // SAFETY: an ordinal; the driver found the device.
                unsafe { api.hipSetDevice(ordinal) }.ok().ok()?;
                api
            }
            _ => return None,
        };
        Some(Self { api, architecture: device.info().architecture.clone() })
    }

    /// The library, its path and its version.
    pub(super) fn origin(&self) -> &Origin {
        self.api.origin()
    }

    fn session(&self) -> Work<Session> {
        let mut session = Session {
            api: self.api.clone(),
            stream: ptr::null_mut(),
            event: ptr::null_mut(),
            module: ptr::null_mut(),
            memory: Vec::new(),
        };
        // SAFETY: pointers to fields that HIP writes.
        unsafe {
            did(
                "hipStreamCreateWithFlags",
                self.api.hipStreamCreateWithFlags(&mut session.stream, NON_BLOCKING),
            )?;
            did(
                "hipEventCreateWithFlags",
                self.api.hipEventCreateWithFlags(&mut session.event, WITHOUT_TIME),
            )?;
        }
        Ok(session)
    }

    /// The rows' code object for this GPU.
    pub(super) fn image(&self) -> Work<Vec<u8>> {
        let code = kernels::bytes()?;
        let lacks =
            |reason: String| Stop::Lacks(format!("the rows' kernels for {}: {reason}", self.architecture));
        let agent = self.architecture.parse().map_err(|error| lacks(format!("{error}")))?;
        let file = File::parse(code, &Options::default()).map_err(|error| lacks(error.to_string()))?;
        let bundle = file.bundles().first().ok_or_else(|| lacks("there is no bundle".to_owned()))?;
        let entry = bundle.select(&agent, &Options::default()).best;
        let entry = entry.ok_or_else(|| lacks(format!("there are {}", input::targets(&file).join(", "))))?;
        bundle.extract(entry).map_err(|error| lacks(error.to_string()))
    }

    fn launcher(&self, shape: Shape) -> Work<Launcher> {
        let mut session = self.session()?;
        let image = self.image()?;
        let name = CString::new(shape.kernel()).map_err(|error| Stop::Failed(error.to_string()))?;
        let mut function = ptr::null_mut();
        // SAFETY: an image that fits the GPU, a name that ends in zero, and pointers that HIP writes.
        unsafe {
            did("hipModuleLoadData", self.api.hipModuleLoadData(&mut session.module, image.as_ptr().cast()))?;
            did(
                "hipModuleGetFunction",
                self.api.hipModuleGetFunction(&mut function, session.module, name.as_ptr()),
            )?;
        }
        let mut block = Vec::new();
        for _ in 0..shape.bindings {
            let address = session.allocate(BYTES as usize)?;
            block.extend((address.expose_provenance() as u64).to_le_bytes());
        }
        // The constants stand before the output, the last buffer.
        let at = block.len().saturating_sub(8);
        let constants = (0..shape.constants).flat_map(u32::to_le_bytes);
        block.splice(at..at, constants);
        Ok(Launcher { session, function, block, n: shape.n })
    }

    /// N launches with prepared arguments. The waits behind them, which are not measured, keep the queue from filling up: a
    /// launch into a full queue waits for the GPU.
    pub(super) fn launches(&self, shape: Shape) -> Work<Subject> {
        let mut launcher = self.launcher(shape)?;
        let limit = 64_u64.div_ceil(u64::from(shape.n));
        Ok(Box::new(move |rounds| {
            let mut time = std::time::Duration::ZERO;
            let mut left = rounds;
            while left > 0 {
                let some = left.min(limit);
                let start = std::time::Instant::now();
                for _ in 0..some {
                    launcher.launch()?;
                }
                time += start.elapsed();
                launcher.session.finish()?;
                left -= some;
            }
            Ok(time)
        }))
    }

    /// N launches, an event behind them, and queries of it until it is reached.
    pub(super) fn completed(&self, shape: Shape) -> Work<Subject> {
        let mut launcher = self.launcher(shape)?;
        Ok(whole(move || {
            launcher.launch()?;
            launcher.session.finish()
        }))
    }

    /// N launches, an event behind them, and a wait that ends when the event is reached, and not before.
    pub(super) fn waited(&self, shape: Shape, wait: Wait) -> Work<impl FnMut() -> Work + use<>> {
        let mut launcher = self.launcher(shape)?;
        Ok(move || {
            launcher.launch()?;
            launcher.session.record()?;
            match wait {
                Wait::Polling => launcher.session.poll(),
                Wait::Blocking => launcher.session.synchronize(),
            }
        })
    }

    /// N launches, each with an event. With `streams` of 2, each launch is on the other stream and waits for the event.
    pub(super) fn chain(&self, shape: Shape, streams: usize) -> Work<Subject> {
        let one = Shape { n: 1, ..shape };
        let mut launchers = Vec::new();
        for _ in 0..streams {
            launchers.push(self.launcher(one)?);
        }
        Ok(whole(move || {
            let mut before: Option<hipEvent_t> = None;
            let mut last = 0;
            for index in 0..shape.n as usize {
                last = index % launchers.len();
                let Some(launcher) = launchers.get_mut(last) else { break };
                if let (Some(event), true) = (before, streams > 1) {
                    launcher.session.wait_for(event)?;
                }
                launcher.launch()?;
                launcher.session.record()?;
                before = Some(launcher.session.event);
            }
            launchers.get(last).map_or(Ok(()), |launcher| launcher.session.reached())
        }))
    }

    /// A fill of bytes with a number, an event behind it and queries.
    pub(super) fn fill(&self, bytes: usize) -> Work<Subject> {
        let mut session = self.session()?;
        let target = session.allocate(bytes)?;
        Ok(whole(move || {
            // SAFETY: an allocation of that many bytes, which the session holds.
            let status = unsafe { session.api.hipMemsetD32Async(target, 7, bytes / 4, session.stream) };
            did("hipMemsetD32Async", status)?;
            session.finish()
        }))
    }

    /// A copy from memory of the host or of the device, an event behind it and queries.
    pub(super) fn copy(&self, bytes: usize, from_host: bool) -> Work<Subject> {
        let mut session = self.session()?;
        let (source, target) = (session.allocate(bytes)?, session.allocate(bytes)?);
        let host = if from_host { vec![7_u8; bytes] } else { Vec::new() };
        let (source, kind) = match from_host {
            true => (host.as_ptr().cast(), hipMemcpyKind::hipMemcpyHostToDevice),
            false => (source.cast_const(), hipMemcpyKind::hipMemcpyDeviceToDevice),
        };
        Ok(whole(move || {
            let _keep = &host;
            // SAFETY: both ranges are live and that long; the event behind the copy is awaited.
            let status = unsafe { session.api.hipMemcpyAsync(target, source, bytes, kind, session.stream) };
            did("hipMemcpyAsync", status)?;
            session.finish()
        }))
    }

    /// Stream-ordered memory; `None` if this HIP has none.
    pub(super) fn alloca(&self, bytes: usize) -> Work<Option<Subject>> {
        if self.api.entries().hipMallocAsync.is_none() || self.api.entries().hipFreeAsync.is_none() {
            return Ok(None);
        }
        let session = self.session()?;
        Ok(Some(whole(move || {
            let mut address = ptr::null_mut();
            // SAFETY: HIP writes the pointer, and the memory is used by nobody.
            unsafe {
                did("hipMallocAsync", session.api.hipMallocAsync(&mut address, bytes, session.stream))?;
                did("hipFreeAsync", session.api.hipFreeAsync(address, session.stream))?;
            }
            session.finish()
        })))
    }

    /// Loading and unloading of the code object.
    pub(super) fn module(&self) -> Work<Subject> {
        let (api, image) = (self.api.clone(), self.image()?);
        Ok(whole(move || {
            let mut module = ptr::null_mut();
            // SAFETY: an image that fits the GPU, and a pointer that HIP writes.
            unsafe {
                did("hipModuleLoadData", api.hipModuleLoadData(&mut module, image.as_ptr().cast()))?;
                did("hipModuleUnload", api.hipModuleUnload(module))
            }
        }))
    }

    /// An event on an idle stream and a query of it.
    pub(super) fn event(&self) -> Work<Subject> {
        let session = self.session()?;
        Ok(whole(move || session.finish()))
    }
}

/// A stream with an event, and the memory and the code of a floor.
struct Session {
    api: Arc<Api>,
    stream: hipStream_t,
    event: hipEvent_t,
    module: hipModule_t,
    memory: Vec<*mut c_void>,
}

impl Session {
    fn allocate(&mut self, bytes: usize) -> Work<*mut c_void> {
        let mut address = ptr::null_mut();
        // SAFETY: HIP writes the pointer.
        did("hipMalloc", unsafe { self.api.hipMalloc(&mut address, bytes) })?;
        self.memory.push(address);
        Ok(address)
    }

    /// Records the event.
    fn record(&self) -> Work {
        // SAFETY: handles of this session.
        did("hipEventRecord", unsafe { self.api.hipEventRecord(self.event, self.stream) })
    }

    /// Lets the stream wait for the event of another one.
    fn wait_for(&self, event: hipEvent_t) -> Work {
        // SAFETY: the stream of this session, and an event of one that lives as long.
        did("hipStreamWaitEvent", unsafe { self.api.hipStreamWaitEvent(self.stream, event, 0) })
    }

    /// Queries the event until it is reached; blocks where that takes long, as the HAL does.
    fn reached(&self) -> Work {
        const QUERIES: u32 = 200;
        for _ in 0..QUERIES {
            // SAFETY: the event of this session.
            match unsafe { self.api.hipEventQuery(self.event) } {
                hipError_t::hipErrorNotReady => hint::spin_loop(),
                status => return did("hipEventQuery", status),
            }
        }
        self.synchronize()
    }

    /// Queries the event until it is reached.
    fn poll(&self) -> Work {
        loop {
            // SAFETY: the event of this session.
            match unsafe { self.api.hipEventQuery(self.event) } {
                hipError_t::hipErrorNotReady => hint::spin_loop(),
                status => return did("hipEventQuery", status),
            }
        }
    }

    /// Blocks inside HIP until the event is reached.
    fn synchronize(&self) -> Work {
        // SAFETY: the event of this session.
        did("hipEventSynchronize", unsafe { self.api.hipEventSynchronize(self.event) })
    }

    fn finish(&self) -> Work {
        self.record()?;
        self.reached()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: handles that only this session has; nothing is in flight, as each round ends with a wait. A failure
        // leaks the object.
        unsafe {
            let _ = self.api.hipStreamSynchronize(self.stream);
            for address in &self.memory {
                let _ = self.api.hipFree(*address);
            }
            if !self.module.is_null() {
                let _ = self.api.hipModuleUnload(self.module);
            }
            let _ = self.api.hipEventDestroy(self.event);
            let _ = self.api.hipStreamDestroy(self.stream);
        }
    }
}

/// A kernel with its prepared arguments.
struct Launcher {
    session: Session,
    function: hipFunction_t,
    block: Vec<u8>,
    n: u32,
}

impl Launcher {
    fn launch(&mut self) -> Work {
        let mut size = self.block.len();
        // The list of pairs that HIP defines: the block, its size, the end.
        let mut extra = [
            ptr::without_provenance_mut(1),
            self.block.as_mut_ptr().cast(),
            ptr::without_provenance_mut(2),
            (&raw mut size).cast(),
            ptr::without_provenance_mut(3),
        ];
        let mut status = hipError_t::hipSuccess;
        for _ in 0..self.n {
            // SAFETY: live handles, and a block that outlives the call, whose buffers the session holds.
            status = unsafe {
                self.session.api.hipModuleLaunchKernel(
                    self.function,
                    1,
                    1,
                    1,
                    ITEMS,
                    1,
                    1,
                    0,
                    self.session.stream,
                    ptr::null_mut(),
                    extra.as_mut_ptr(),
                )
            };
            if status != hipError_t::hipSuccess {
                break;
            }
        }
        did("hipModuleLaunchKernel", status)
    }
}

#[inline]
fn did(call: &str, status: hipError_t) -> Work {
    match status {
        hipError_t::hipSuccess => Ok(()),
        status => Err(refused(call, status)),
    }
}

#[cold]
fn refused(call: &str, status: hipError_t) -> Stop {
    Stop::Failed(format!("the floor's {call} returned {status}"))
}
