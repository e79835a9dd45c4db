// SPDX-License-Identifier: MIT OR Apache-2.0
//! The HIPs that the program runs on, each behind an interposer.

use std::{
    iter,
    sync::{
        Arc, Mutex,
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

/// Longer than any step takes on a loaded machine, so a timeout means a hang.
pub(crate) const SOON: Duration = Duration::from_secs(60);
/// A second run of a case, which repeats many times.
const WATCHDOG: Duration = Duration::from_secs(300);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum World {
    /// A simulated GPU whose faults fail their submission only.
    Simulated,
    /// The second of two GPUs, on which a fault loses the device, as on hardware.
    SimulatedSecond,
    /// A simulated GPU with the oldest HIP.
    SimulatedOld,
    /// Two GPUs that form one device.
    SimulatedPair,
    /// The null HIP, whose work is complete when its call returns.
    Null,
    /// The second device of a null HIP.
    NullSecond,
    /// Two devices of a null HIP that form one.
    NullPair,
    /// A null HIP on which another thread repeatedly completes work.
    NullLater,
    /// A null HIP on which another thread completes work once all is submitted, so every wait happens on the device.
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

    /// Whether a fault affects its submission only.
    pub(crate) fn contains_faults(self) -> bool {
        matches!(self, Self::Simulated | Self::SimulatedOld | Self::SimulatedPair)
    }

    /// The URI to open. Every device has four queues.
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

/// A HIP behind an interposer, and a driver over both.
pub(crate) struct Bench {
    pub(crate) interposer: Arc<Interposer>,
    /// The same HIP without the interposer.
    behind: Api,
    registry: Registry,
    world: World,
    /// Whether work may complete.
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

    /// The allocations of device memory that were not released.
    pub(crate) fn memory(&self) -> i64 {
        let live = self.interposer.live();
        live.iter().find(|(kind, _)| *kind == "device memory").map_or(0, |(_, count)| *count)
    }

    /// Waits until everything that the driver created is released, except what `rest` allows.
    #[track_caller]
    pub(crate) fn wait_until_released(&self, case: &str, rest: impl Fn(&[(&'static str, i64)]) -> bool) {
        let deadline = Instant::now() + SOON;
        while !rest(&self.interposer.live()) {
            assert!(Instant::now() < deadline, "left behind: {:?} after {case}", self.interposer.live());
            thread::yield_now();
        }
    }

    /// All of the driver's calls were legal: HIP refused only those that the program intended to fail.
    #[track_caller]
    pub(crate) fn nothing_refused(&self, case: &str) {
        let mut refusals = self.interposer.take_refusals();
        refusals.retain(|(call, status)| match call.name {
            "hipMalloc" => *status != hipError_t::hipErrorOutOfMemory,
            "hipModuleGetGlobal" => *status != hipError_t::hipErrorNotFound || self.world.computes(),
            // The driver looks up addresses that are not HIP's. HIP 5.2 has another status for them.
            "hipMemGetAddressRange" => {
                ![hipError_t::hipErrorNotFound, hipError_t::hipErrorInvalidDevicePointer].contains(status)
            }
            // A device of two GPUs may have been opened before.
            "hipDeviceEnablePeerAccess" => *status != hipError_t::hipErrorPeerAccessAlreadyEnabled,
            _ => true,
        });
        assert_eq!(refusals, [], "HIP refused calls: {case}");
    }

    /// The calling thread is unchanged: it has no pending error, and the first device is current.
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
    /// Leaves the processor to the threads that submit.
    const PAUSE: Duration = Duration::from_micros(20);

    fn start(instance: Arc<Instance>, go: Arc<AtomicBool>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let ends = over.clone();
        let thread = thread::spawn(move || {
            while !ends.load(SeqCst) {
                if go.load(SeqCst) {
                    instance.complete();
                }
                thread::sleep(Self::PAUSE);
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

/// Runs the cases side by side, because each waits for its threads most of the time.
pub(crate) fn abreast<C: Send>(cases: impl IntoIterator<Item = C, IntoIter: Send>, run: impl Fn(C) + Sync) {
    const CASES: usize = 4;
    let cases = Mutex::new(cases.into_iter());
    let next = || cases.lock().expect("an iterator does not panic").next();
    thread::scope(|scope| {
        for _ in 0..CASES {
            scope.spawn(|| iter::from_fn(next).for_each(&run));
        }
    });
}

/// Whether every case runs, as in `.ci/failing-calls`.
pub(crate) fn all_cases() -> bool {
    std::env::var_os("WINDLASS_FAILING_CALLS").is_some_and(|cases| cases == "all")
}

/// Runs a case on a thread of its own, so that a hang inside of a call fails under the case's name.
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
