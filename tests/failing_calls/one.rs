// SPDX-License-Identifier: MIT OR Apache-2.0
//! One call fails: the first, the second, the third, and some in the middle and at the end. It returns two of five statuses, or each
//! of them with `WINDLASS_FAILING_CALLS=all`.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use windlass::Code;
use windlass_hip_sys::bindings::hipError_t;

use crate::{
    parts::BUFFERS,
    program::Report,
    source,
    world::{Bench, SOON, World, abreast, all_cases, watched},
};

/// A failure of these is harmless: the device can do without their result, or there is an alternative.
const HARMLESS: [&str; 8] = [
    "hipDeviceGetAttribute",
    "hipDeviceGetByPCIBusId",
    "hipDeviceGetP2PAttribute",
    "hipDeviceGetPCIBusId",
    "hipDeviceGetUuid",
    "hipExtGetLinkTypeAndHopCount",
    "hipGetDevicePropertiesR0600",
    "hipMemGetInfo",
];

/// These release an object, which leaks if the call fails.
const GIVES_BACK: [(&str, &[&str]); 9] = [
    ("hipFree", &["device memory"]),
    ("hipHostFree", &["host memory"]),
    ("hipHostUnregister", &["registered memory"]),
    ("hipEventDestroy", &["events"]),
    ("hipStreamDestroy", &["streams"]),
    ("hipModuleUnload", &["modules"]),
    ("hipMemAddressFree", &["reserved addresses"]),
    ("hipMemRelease", &["physical memory"]),
    // The reservation must stay while it has a mapping.
    ("hipMemUnmap", &["reserved addresses", "mappings"]),
];

/// Without these calls the driver cannot tell which work has completed, so any failure loses the device.
const VITAL: [&str; 2] = ["hipEventQuery", "hipEventSynchronize"];

/// Statuses, the error codes for them if the device continues, and whether they lose the device.
const STATUSES: [(hipError_t, Code, bool); 5] = [
    (hipError_t::hipErrorOutOfMemory, Code::ResourceExhausted, false),
    (hipError_t::hipErrorInvalidValue, Code::InvalidArgument, false),
    (hipError_t::hipErrorNoDevice, Code::Unavailable, false),
    (hipError_t::hipErrorUnknown, Code::Aborted, true),
    (hipError_t::hipErrorLaunchFailure, Code::Aborted, true),
];

#[derive(Clone, Copy)]
struct Case {
    world: World,
    function: &'static str,
    kth: u64,
    status: hipError_t,
    code: Code,
    loses: bool,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: call {} of {} returns {}", self.world, self.kth, self.function, self.status)
    }
}

impl Case {
    fn is(&self, functions: &[&str]) -> bool {
        functions.contains(&self.function)
    }

    fn gives_back(&self) -> Option<&'static [&'static str]> {
        GIVES_BACK.iter().find(|(function, _)| self.is(&[function])).map(|(_, kinds)| *kinds)
    }

    /// Whether such a failure may cause no error.
    fn may_pass(&self) -> bool {
        // A failed allocation releases idle memory and tries again. The test makes both attempts fail.
        let allocates =
            self.is(&["hipHostGetDevicePointer", "hipGetDevice"]) || self.function.ends_with("alloc");
        let exhausted = allocates && self.code == Code::ResourceExhausted;
        // Only restoring the caller's device, querying free memory, or releasing an object failed.
        let topology = self.is(&["hipDeviceCanAccessPeer"]) && self.kth > 2;
        let aside = self.is(&["hipSetDevice"]) || (self.is(&["hipGetDevice"]) && self.kth > 3) || topology;
        // A wait for an event also ends when the event's work has failed; a query tells which.
        let contained = self.is(&["hipEventSynchronize"]) && self.is_contained();
        // An event that stands for a fault repeats it to every query; an injected failure does not.
        let forgotten = self.is(&["hipEventQuery"]) && self.is_contained();
        self.is(&HARMLESS) || forgotten || self.gives_back().is_some() || exhausted || aside || contained
    }

    fn is_contained(&self) -> bool {
        self.world.contains_faults() && self.status == hipError_t::hipErrorLaunchFailure
    }

    fn run(&self) {
        let bench = self.world.bench();
        let fired = Arc::new(AtomicBool::new(false));
        let (case, fires) = (*self, fired.clone());
        bench.interposer.on_call(move |call| {
            let hit = call.name == case.function && call.nth == case.kth;
            hit.then(|| {
                fires.store(true, SeqCst);
                case.status
            })
        });
        let report = bench.run();
        let during = fired.load(SeqCst);
        let text = format!("{self}: {report:?}");
        self.check(&report, during, &text);
        if !self.is(&["hipSetDevice"]) {
            bench.thread_is_as_found(&text);
        }
        let told = report.errors().next().is_some();
        let (opened, lost, began) = (report.opened(), report.lost(), !report.steps.is_empty());
        drop(report);
        if opened && lost {
            let memory = bench.memory();
            assert!(
                !began || !told || memory >= BUFFERS,
                "memory of a lost device was given back: {memory} of {text}"
            );
        } else {
            bench.wait_until_released(&text, |live| match self.gives_back() {
                Some(kinds) if fired.load(SeqCst) => {
                    live.iter().map(|(kind, _)| *kind).eq(kinds.iter().copied())
                        && live.iter().all(|(_, count)| *count == 1)
                }
                // If the device was lost during its release, or in the callback pool after the last query, it keeps
                // everything.
                None if fired.load(SeqCst) && self.loses && !told => true,
                _ => live.is_empty(),
            });
        }
        self.again(&bench, &text);
    }

    fn check(&self, report: &Report, fired: bool, text: &str) {
        report.assert_failures_spread(text);
        assert!(report.errors().all(|error| error.code() != Code::DeadlineExceeded), "hangs: {text}");
        let Some(error) = report.errors().next() else {
            assert!(!fired || self.may_pass() || self.is_told_next(report), "nobody learnt of it: {text}");
            return;
        };
        assert!(fired, "nothing failed but {text}");
        let name = self.status.name().expect("a known status");
        for error in report.errors() {
            let error = error.to_string();
            assert!(error.contains(self.function) && error.contains(name), "{error} of {text}");
        }
        if !self.is(&["hipInit", "hipGetDeviceCount"]) {
            let lost = report.lost() || (self.loses && !self.is_contained());
            assert_eq!(error.code(), if lost { Code::DataLoss } else { self.code }, "{text}");
        }
        let may_lose = (self.loses && !self.is_contained()) || self.is(&VITAL);
        assert!(may_lose || !report.lost(), "lost by {text}");
        if !report.lost() {
            assert!(report.roots().len() <= 1, "one call failed, and more than one operation: {text}");
        }
    }

    /// Whether the next user of the device gets the error. A reaper that waits for the last work may get a failure
    /// after other threads have seen all of that work end.
    fn is_told_next(&self, report: &Report) -> bool {
        let heard = std::time::Instant::now();
        while self.is(&["hipEventSynchronize"]) && heard.elapsed() < SOON {
            if report.lost() {
                return true;
            }
            std::thread::yield_now();
        }
        false
    }

    /// All calls of HIP were legal, and a new device works and releases everything.
    fn again(&self, bench: &Bench, text: &str) {
        bench.interposer.pass();
        let before = bench.interposer.live();
        bench.run().assert_healthy(self.world);
        // Objects that a lost device released before the loss may be freed while the second device works.
        let less =
            |(kind, count): &(&str, i64)| before.iter().any(|(known, most)| known == kind && count <= most);
        bench.wait_until_released(text, |live| live.iter().all(less));
        bench.nothing_refused(text);
    }
}

/// The number of a function's calls in a run without failures.
fn counts(world: World) -> Vec<(&'static str, u64)> {
    let bench = world.bench();
    bench.run().assert_healthy(world);
    bench.wait_until_released(&format!("a healthy run, {world:?}"), <[_]>::is_empty);
    bench.interposer.calls()
}

fn every_function_fails(world: World) {
    let counts = counts(world);
    let mut cases = Vec::new();
    for function in source::functions() {
        if source::ASKS_FOR_ERRORS.contains(&function) {
            continue;
        }
        let most = counts.iter().find(|(name, _)| *name == function).map_or(0, |(_, count)| *count);
        let mut calls = vec![1, 2, 3, most / 2, most.saturating_sub(1), most];
        calls.retain(|kth| *kth >= 1);
        calls.sort_unstable();
        calls.dedup();
        for (index, kth) in calls.into_iter().enumerate() {
            // The two statuses are others from call to call, and from world to world.
            let of = |number: usize| number % STATUSES.len();
            let first = world as usize + index;
            let is_chosen = |at: usize| all_cases() || at == of(first) || at == of(first + 3);
            let chosen = STATUSES.into_iter().enumerate().filter(|(at, _)| is_chosen(*at));
            cases.extend(chosen.map(|(_, (status, code, loses))| Case {
                world,
                function,
                kth,
                status,
                code,
                loses,
            }));
        }
    }
    abreast(cases, |case| watched(&case.to_string(), move || case.run()));
}

macro_rules! worlds {
    ($($name:ident: $world:ident;)*) => {$(
        #[test]
        fn $name() {
            every_function_fails(World::$world);
        }
    )*};
}

worlds! {
    every_call_may_fail_on_a_simulated_gpu: Simulated;
    every_call_may_fail_on_the_second_of_two: SimulatedSecond;
    every_call_may_fail_on_an_old_hip: SimulatedOld;
    every_call_may_fail_on_a_pair: SimulatedPair;
    every_call_may_fail_when_work_completes_at_once: Null;
    every_call_may_fail_on_a_device_that_is_not_current: NullSecond;
    every_call_may_fail_on_a_pair_when_work_completes_at_once: NullPair;
    every_call_may_fail_when_work_completes_later: NullLater;
    every_call_may_fail_when_all_work_is_in_flight_at_once: NullLast;
}
