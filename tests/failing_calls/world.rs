// SPDX-License-Identifier: MIT OR Apache-2.0
//! The HIPs that the program runs on, each behind an interposer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use windlass::Registry;
use windlass_hip_sys::{
    Api,
    bindings::hipError_t,
    interposer::Interposer,
    null::{Instance, Options},
};
use windlass_simulator::Simulator;

use crate::program::{Program, Report};

/// Longer than anything here takes on a machine that does much else: a wait that takes this long has hung.
pub(crate) const SOON: Duration = Duration::from_secs(60);
/// A case with its second run, many times over.
const WATCHDOG: Duration = Duration::from_secs(300);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum World {
    /// A simulated GPU whose faults cost their submission.
    Simulated,
    /// The second of two, on which a fault costs the device, as on hardware.
    SimulatedSecond,
    /// One that speaks the oldest HIP.
    SimulatedOld,
    /// Two that form one device.
    SimulatedPair,
    /// The null HIP: all work is complete when its call returns.
    Null,
    /// The second device of a null HIP.
    NullSecond,
    /// Two devices of a null HIP that form one.
    NullPair,
    /// A null HIP on which another thread completes work again and again.
    NullLater,
    /// The same, once all is submitted: everything that waits does so on the device.
    NullLast,
}

impl World {
    pub(crate) const ALL: [Self; 9] = [
        Self::Simulated,
        Self::SimulatedSecond,
        Self::SimulatedOld,
        Self::SimulatedPair,
        Self::Null,
        Self::NullSecond,
        Self::NullPair,
        Self::NullLater,
        Self::NullLast,
    ];

    /// Whether kernels run.
    pub(crate) fn computes(self) -> bool {
        self.simulator().is_some()
    }

    /// Whether a fault is its submission's alone.
    pub(crate) fn contains_faults(self) -> bool {
        matches!(self, Self::Simulated | Self::SimulatedOld | Self::SimulatedPair)
    }

    /// What is opened. Every device has four queues.
    fn uri(self) -> &'static str {
        match self {
            Self::SimulatedSecond | Self::NullSecond => "test://1",
            Self::SimulatedPair | Self::NullPair => "test://0,1?queues=2",
            _ => "test://",
        }
    }

    fn simulator(self) -> Option<&'static str> {
        match self {
            Self::Simulated => Some("?threads=1&faults=submission"),
            Self::SimulatedSecond => Some("?threads=1&faults=sticky&devices=2"),
            Self::SimulatedOld => Some("?threads=1&faults=submission&hip=5.3"),
            Self::SimulatedPair => Some("?threads=1&faults=submission&devices=2"),
            _ => None,
        }
    }

    pub(crate) fn bench(self) -> Bench {
        let go = Arc::new(AtomicBool::new(true));
        if let Some(options) = self.simulator() {
            let simulator = Simulator::new(options.parse().expect("options")).expect("a simulator");
            return Bench::new(self, || simulator.api(), go, None);
        }
        let manual = matches!(self, Self::NullLater | Self::NullLast);
        let devices = if self.uri() == "test://" { 1 } else { 2 };
        let instance = Instance::new(Options { devices, manual, ..Options::default() });
        let completer = manual.then(|| Completer::start(instance.clone(), go.clone()));
        Bench::new(self, || instance.api(), go, completer)
    }
}

/// A HIP with an interposer in front, and a driver over both.
pub(crate) struct Bench {
    pub(crate) interposer: Arc<Interposer>,
    /// The same HIP without the interposer.
    behind: Api,
    registry: Registry,
    world: World,
    /// Work may complete.
    go: Arc<AtomicBool>,
    _completer: Option<Completer>,
}

impl Bench {
    fn new(world: World, api: impl Fn() -> Api, go: Arc<AtomicBool>, completer: Option<Completer>) -> Self {
        let interposer = Interposer::new(api());
        let mut registry = Registry::new();
        registry.register(windlass_hip::Driver::new("test", windlass_hip::table(interposer.api())));
        Self { behind: api(), interposer, registry, world, go, _completer: completer }
    }

    /// Opens a device and runs the program on it.
    pub(crate) fn run(&self) -> Report {
        self.go.store(self.world != World::NullLast, SeqCst);
        Program::run(self.world, || self.registry.open(self.world.uri()), || self.go.store(true, SeqCst))
    }

    /// The allocations of device memory that were not given back.
    pub(crate) fn memory(&self) -> i64 {
        let live = self.interposer.live();
        live.iter().find(|(kind, _)| *kind == "device memory").map_or(0, |(_, count)| *count)
    }

    /// Waits until nothing that the driver created is left but what `rest` allows.
    #[track_caller]
    pub(crate) fn settles(&self, case: &str, rest: impl Fn(&[(&'static str, i64)]) -> bool) {
        let deadline = Instant::now() + SOON;
        while !rest(&self.interposer.live()) {
            assert!(Instant::now() < deadline, "left behind: {:?} after {case}", self.interposer.live());
            thread::yield_now();
        }
    }

    /// All that the driver asked of HIP was legal: HIP refused only what the program meant it to.
    #[track_caller]
    pub(crate) fn nothing_refused(&self, case: &str) {
        let mut refusals = self.interposer.take_refusals();
        refusals.retain(|(call, status)| match call.name {
            "hipMalloc" => *status != hipError_t::hipErrorOutOfMemory,
            "hipModuleGetGlobal" => *status != hipError_t::hipErrorNotFound || self.world.computes(),
            // Memory that is not HIP's is looked for there first. HIP 5.2 has another word for it.
            "hipMemGetAddressRange" => {
                ![hipError_t::hipErrorNotFound, hipError_t::hipErrorInvalidDevicePointer].contains(status)
            }
            // A device of two may have been opened before.
            "hipDeviceEnablePeerAccess" => *status != hipError_t::hipErrorPeerAccessAlreadyEnabled,
            _ => true,
        });
        assert_eq!(refusals, [], "HIP refused calls: {case}");
    }

    /// The calling thread is as it was: no error waits for whoever asks next, the first device is current.
    #[track_caller]
    pub(crate) fn thread_is_as_found(&self, case: &str) {
        let mut current = -1;
        // SAFETY: the pointer is to a local.
        let statuses = unsafe {
            [
                self.interposer.api().hipGetLastError(),
                self.behind.hipGetLastError(),
                self.behind.hipGetDevice(&mut current),
            ]
        };
        assert_eq!(statuses, [hipError_t::hipSuccess; 3], "the thread's last error after {case}");
        assert_eq!(current, 0, "the thread's device after {case}");
    }
}

/// Completes the work of a null HIP for as long as it lives.
struct Completer {
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Completer {
    fn start(instance: Arc<Instance>, go: Arc<AtomicBool>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let ends = over.clone();
        let thread = thread::spawn(move || {
            while !ends.load(SeqCst) {
                if go.load(SeqCst) {
                    instance.complete();
                }
                thread::yield_now();
            }
        });
        Self { over, thread: Some(thread) }
    }
}

impl Drop for Completer {
    fn drop(&mut self) {
        self.over.store(true, SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the completer does not panic");
        }
    }
}

/// Runs a case on a thread of its own, so that one that hangs inside a call fails by its name.
#[track_caller]
pub(crate) fn watched(name: &str, case: impl FnOnce() + Send + 'static) {
    let (ended, end) = mpsc::channel();
    let running = thread::spawn(move || {
        case();
        let _ = ended.send(());
    });
    match end.recv_timeout(WATCHDOG) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("hangs: {name}"),
        _ => {
            if let Err(panic) = running.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}
