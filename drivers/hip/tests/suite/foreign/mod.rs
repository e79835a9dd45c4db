// SPDX-License-Identifier: MIT OR Apache-2.0
//! A HIP program and a device of the HAL over one simulator.
#![allow(unreachable_pub, reason = "a test binary")]

use std::{
    ffi::c_void,
    future::Future,
    ptr::{null_mut, without_provenance_mut},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use windlass_hal::{
    Buffer, BufferParams, Device, DispatchConfig, ExportFlags, ExternalStream, ExternalTimepoint, Function,
    Point, Queue, Registry, Result,
};
use windlass_hip_sys::{Api, bindings::*, interposer::Interposer};
use windlass_simulator::Simulator;

/// Longer than any step takes. A wait that takes this long has hung.
pub const SOON: Duration = Duration::from_secs(60);

/// Calls a function of HIP, which must succeed.
#[macro_export]
macro_rules! hip {
    ($world:expr, $name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!($crate::hip_status!($world, $name($($argument),*)), hipError_t::hipSuccess, stringify!($name))
    };
}

/// Calls a function of HIP, and returns its status.
#[macro_export]
macro_rules! hip_status {
    ($world:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let api: &windlass_hip_sys::Api = &$world.api;
        // SAFETY: pointers of the tests are null, handles, device addresses or locals that outlive their use.
        #[allow(unused_unsafe, clippy::macro_metavars_in_unsafe, reason = "arguments hold no unsafe operations")]
        unsafe { api.$name($($argument),*) }
    }};
}

/// Machines with one schedule each; streams that share hardware queues are ordered too often to miss an edge.
pub fn seeds(count: u64) -> impl Iterator<Item = String> {
    let seeded = (0..count).map(|seed| match seed % 4 {
        0 => format!("?seed={seed}"),
        _ => format!("?seed={seed}&hardware_queues=0"),
    });
    std::iter::once(String::new()).chain(seeded)
}

#[track_caller]
pub fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + SOON;
    while !condition() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        std::thread::yield_now();
    }
}

/// A word that the host and all streams reach.
pub struct Word(pub *mut c_void);

impl Word {
    pub fn set(&self, value: u64) {
        // SAFETY: memory of 8 bytes that the tests never free, and that everybody uses by atomics.
        unsafe { AtomicU64::from_ptr(self.0.cast()) }.store(value, SeqCst);
    }
}

/// Numbers in memory of the HIP program, and the HAL's buffer of the same memory.
pub struct Values {
    buffer: Buffer,
    pointer: usize,
    count: usize,
}

impl Values {
    pub fn start(&self) -> Vec<u32> {
        (1..=self.count as u32).collect()
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn pointer(&self) -> *mut c_void {
        self.pointer as *mut c_void
    }
}

/// The HIP program: its kernels and its stream.
pub struct Program {
    pub api: Arc<Api>,
    pub stream: hipStream_t,
    multiply_add: hipFunction_t,
    write_at: hipFunction_t,
}

// SAFETY: handles of HIP may be used from any thread.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

const ORDER: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cts/kernels/bundles/order.ccob"));
const FAULTS: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cts/kernels/bundles/faults.ccob"));

impl Program {
    fn new(api: Arc<Api>) -> Self {
        let mut program = Self { api, stream: null_mut(), multiply_add: null_mut(), write_at: null_mut() };
        program.stream = program.stream();
        program.multiply_add = program.function(ORDER, c"multiply_add");
        program.write_at = program.function(FAULTS, c"write_at");
        program
    }

    fn function(&self, bundle: &[u8], name: &std::ffi::CStr) -> hipFunction_t {
        let (mut module, mut function) = (null_mut(), null_mut());
        hip!(self, hipModuleLoadData(&mut module, bundle.as_ptr().cast()));
        hip!(self, hipModuleGetFunction(&mut function, module, name.as_ptr()));
        function
    }

    /// A stream of its own, not ordered with the null stream.
    pub fn stream(&self) -> hipStream_t {
        let mut stream = null_mut();
        hip!(self, hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking));
        stream
    }

    pub fn event(&self) -> hipEvent_t {
        let mut event = null_mut();
        hip!(self, hipEventCreateWithFlags(&mut event, hipEventDisableTiming));
        event
    }

    pub fn malloc(&self, size: usize) -> *mut c_void {
        let mut pointer = null_mut();
        hip!(self, hipMalloc(&mut pointer, size));
        pointer
    }

    pub fn word(&self) -> Word {
        let mut pointer = null_mut();
        // Signal memory.
        hip!(self, hipExtMallocWithFlags(&mut pointer, 8, 2));
        let word = Word(pointer);
        word.set(0);
        word
    }

    pub fn synchronize(&self, stream: hipStream_t) {
        hip!(self, hipStreamSynchronize(stream));
    }

    /// Whether a stream has nothing left to do, after many calls in which it could have done it.
    pub fn is_idle(&self, stream: hipStream_t) -> bool {
        (0..100).any(|_| hip_status!(self, hipStreamQuery(stream)) == hipError_t::hipSuccess)
    }

    pub fn free_memory(&self) -> usize {
        let (mut free, mut total) = (0, 0);
        hip!(self, hipMemGetInfo(&mut free, &mut total));
        free
    }

    fn launch(&self, function: hipFunction_t, grid: u32, block: u32, stream: hipStream_t, arguments: &[u8]) {
        let mut size = arguments.len();
        let mut extra = [
            without_provenance_mut(1),
            arguments.as_ptr().cast_mut().cast(),
            without_provenance_mut(2),
            (&raw mut size).cast(),
            without_provenance_mut(3),
        ];
        let extra = extra.as_mut_ptr();
        hip!(self, hipModuleLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, null_mut(), extra));
    }
}

/// Both programs.
pub struct World {
    pub program: Program,
    pub api: Arc<Api>,
    device: Option<Device>,
    queue: Option<Queue>,
    multiply_add: Function,
    write_at: Function,
    pub interposer: Arc<Interposer>,
}

impl World {
    pub fn new(options: &str) -> Self {
        Self::on(options, "test://0")
    }

    /// The HAL's device is the one of `uri`, and the HIP program begins on the same GPU.
    pub fn on(options: &str, uri: &str) -> Self {
        let simulator =
            Simulator::new(format!("gfx90a{options}").parse().expect("options")).expect("a machine");
        // The driver's calls alone, which a test may make fail.
        let interposer = Interposer::new(simulator.api());
        let mut registry = Registry::new();
        registry.register(windlass_hip::Driver::new("test", windlass_hip::table(interposer.api())));
        let device = registry.open(uri).expect("the simulated HIP opens");
        let api = Arc::new(simulator.api());
        // SAFETY: no pointers.
        let gpu = uri.rsplit('/').next().and_then(|gpu| gpu.parse().ok()).unwrap_or(0);
        // SAFETY: as above.
        assert_eq!(unsafe { api.hipSetDevice(gpu) }, hipError_t::hipSuccess);
        let function = |bundle: &[u8], name| {
            // SAFETY: the project's own kernels; the tests vouch for their arguments.
            let executable = unsafe { device.load_executable(bundle) }.expect("it loads");
            executable.function(name).expect("it is in its bundle")
        };
        Self {
            program: Program::new(api.clone()),
            api,
            queue: Some(device.queue_of(windlass_hal::QueueAffinity::ANY).expect("all queues")),
            multiply_add: function(ORDER, "multiply_add"),
            write_at: function(FAULTS, "write_at"),
            device: Some(device),
            interposer,
        }
    }

    pub fn device(&self) -> &Device {
        self.device.as_ref().expect("open")
    }

    /// All queues.
    fn queues(&self) -> &Queue {
        self.queue.as_ref().expect("open")
    }

    pub fn queue(&self, index: u32) -> Queue {
        self.device().queue(index).expect("a queue")
    }

    /// Drops the handles of the device. The functions keep it from going.
    pub fn close(&mut self) {
        self.device().close();
        (self.queue, self.device) = (None, None);
    }

    /// Drops everything of the HAL.
    pub fn end(self) -> Program {
        self.program
    }

    /// Memory of the HIP program, with the numbers from 1 on in it.
    pub fn values(&self) -> Values {
        let pointer = self.program.malloc(256);
        let values = self.lend(pointer, 64, ());
        let start = values.start();
        hip!(self, hipMemcpyHtoD(pointer, start.as_ptr().cast(), 256));
        values
    }

    /// Imports memory of the HIP program, and keeps its owner.
    pub fn lend(&self, pointer: *mut c_void, count: usize, owner: impl Send + 'static) -> Values {
        let release = move || drop(owner);
        // SAFETY: the owner keeps the memory, and the tests order its uses.
        let buffer = unsafe {
            self.device().import_device_address(
                &BufferParams::device(),
                pointer as u64,
                count as u64 * 4,
                release,
            )
        };
        Values { buffer: buffer.expect("imported"), pointer: pointer as usize, count }
    }

    /// Launches `values = values * factor + addend` as the HIP program.
    pub fn launch(&self, values: &Values, stream: hipStream_t, factor: u32, addend: u32) {
        let mut block = values.pointer.to_le_bytes().to_vec();
        for word in [values.count as u32, factor, addend] {
            block.extend_from_slice(&word.to_le_bytes());
        }
        self.program.launch(self.program.multiply_add, 2, 32, stream, &block);
    }

    /// Dispatches the same kernel through the HAL.
    pub fn dispatch(&self, values: &Values, waits: &[Point], signals: &[Point], factor: u32, addend: u32) {
        self.dispatch_on(self.queues(), values, waits, signals, factor, addend);
    }

    pub fn dispatch_on(
        &self,
        queue: &Queue,
        values: &Values,
        waits: &[Point],
        signals: &[Point],
        factor: u32,
        addend: u32,
    ) {
        let grid = DispatchConfig::new([2, 1, 1]).workgroup_size([32, 1, 1]);
        let arguments = [values.buffer.arg(), (values.count as i32).into(), factor.into(), addend.into()];
        queue.dispatch(waits, signals, &self.multiply_add, grid, &arguments).expect("submitted");
    }

    /// Dispatches a kernel that faults.
    pub fn fault(&self, waits: &[Point], signals: &[Point]) {
        let memory = self.device().allocate_device(64).expect("memory");
        let grid = DispatchConfig::new([1, 1, 1]).workgroup_size([1, 1, 1]);
        let arguments = [memory.arg(), 1000_i64.into(), 7_u32.into()];
        self.queues().dispatch(waits, signals, &self.write_at, grid, &arguments).expect("submitted");
    }

    /// Launches a kernel that faults as the HIP program.
    pub fn fault_in(&self, stream: hipStream_t) {
        let mut block = (self.program.malloc(64) as usize).to_le_bytes().to_vec();
        block.extend_from_slice(&1000_i64.to_le_bytes());
        block.extend_from_slice(&7_u32.to_le_bytes());
        self.program.launch(self.program.write_at, 1, 1, stream, &block);
    }

    pub fn import(
        &self,
        waits: &[Point],
        signals: &[Point],
        timepoint: impl Into<ExternalTimepoint>,
    ) -> Result<()> {
        // SAFETY: live handles of the HIP program, or wrong ones that the simulated HIP knows to be wrong.
        unsafe { self.queues().import_timepoint(waits, signals, timepoint) }
    }

    pub fn export(&self, waits: &[Point], stream: hipStream_t, flags: ExportFlags) -> Result<()> {
        // SAFETY: as above.
        unsafe { self.queues().export_timepoint(waits, ExternalStream::from_raw(stream as u64), flags) }
    }

    /// The numbers, as the HIP program reads them.
    pub fn read(&self, values: &Values) -> Vec<u32> {
        let mut read = vec![0_u32; values.count];
        hip!(self, hipMemcpyDtoH(read.as_mut_ptr().cast(), values.pointer(), values.count * 4));
        read
    }

    /// The numbers, without a call that waits for the HIP program's own stream.
    pub fn read_beside(&self, values: &Values) -> Vec<u32> {
        let bytes = pollster::block_on(self.download(&[], values)).expect("downloaded");
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    }

    pub fn download(
        &self,
        waits: &[Point],
        values: &Values,
    ) -> impl Future<Output = Result<Vec<u8>>> + use<> {
        self.queues().download(waits, &values.buffer).expect("submitted")
    }
}
