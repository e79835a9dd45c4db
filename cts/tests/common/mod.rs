// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drivers and cases with every kind of end.
#![allow(dead_code, reason = "each test uses some of them")]

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use windlass_cts::{Case, Context, Options, Outcome, Stop, Summary, Verdict, run_cases};
use windlass_hal::{Deadline, DeviceInfo, Error, Feature, Registry, Result, Uri, driver};

/// A driver that has no device.
struct Deviceless {
    scheme: &'static str,
    error: fn() -> Error,
}

impl driver::Driver for Deviceless {
    fn scheme(&self) -> &str {
        self.scheme
    }
    fn description(&self) -> String {
        "never there".to_owned()
    }
    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Err((self.error)())
    }
    fn open(&self, _: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        Err((self.error)())
    }
}

/// `endless://`: a null device whose drains do not return.
struct Endless;

struct EndlessDevice(Arc<dyn driver::RawDevice>);

// SAFETY: all calls but `drain` forward.
unsafe impl driver::Wrapper for EndlessDevice {
    fn inner(&self) -> &dyn driver::RawDevice {
        self.0.as_ref()
    }
    fn drain(&self, _: Deadline) -> Result<()> {
        loop {
            std::thread::park();
        }
    }
}

impl driver::Driver for Endless {
    fn scheme(&self) -> &str {
        "endless"
    }
    fn description(&self) -> String {
        "drains for ever".to_owned()
    }
    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(Vec::new())
    }
    fn open(&self, _: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        let null = windlass_null::NullDriver;
        Ok(Arc::new(EndlessDevice(driver::Driver::open(&null, &"null://".parse()?)?)))
    }
}

/// `real://PATH`: a null device that says to be hardware, with `GPU-PATH` as UUIDs, one for each word between commas.
struct Real;

struct RealDevice(Arc<dyn driver::RawDevice>, DeviceInfo);

// SAFETY: all calls but `info` forward.
unsafe impl driver::Wrapper for RealDevice {
    fn inner(&self) -> &dyn driver::RawDevice {
        self.0.as_ref()
    }
    fn info(&self) -> &DeviceInfo {
        &self.1
    }
}

impl driver::Driver for Real {
    fn scheme(&self) -> &str {
        "real"
    }
    fn description(&self) -> String {
        "says to be hardware".to_owned()
    }
    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(Vec::new())
    }
    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        let null = windlass_null::NullDriver;
        let device = driver::Driver::open(&null, &"null://".parse()?)?;
        let mut info = device.info().clone();
        info.simulated = false;
        let uuids: Vec<_> = uri.path().split(',').map(|word| format!("GPU-{word}")).collect();
        info.uuid = Some(uuids.join(","));
        Ok(Arc::new(RealDevice(device, info)))
    }
}

/// `null://`; `absent://`, which is never there; `broken://`, which fails to open; `stuck://`, whose opening hangs;
/// `panicky://`, whose opening panics; `endless://`; `real://`.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    windlass_null::register(&mut registry);
    registry.register(Arc::new(Deviceless {
        scheme: "stuck",
        error: || loop {
            std::thread::park()
        },
    }));
    registry.register(Arc::new(Deviceless {
        scheme: "panicky",
        error: || std::panic::resume_unwind(Box::new("slipped")),
    }));
    registry.register(Arc::new(Endless));
    registry.register(Arc::new(Real));
    registry.register(Arc::new(Deviceless { scheme: "broken", error: || Error::internal("out of order") }));
    registry.register(Arc::new(Deviceless {
        scheme: "absent",
        error: || Error::unavailable("never there\nand here is how to mend it"),
    }));
    registry
}

fn passes(_: &Context) -> Outcome {
    Ok(())
}

fn fails(_: &Context) -> Outcome {
    Err(Stop::fail("seen & expected <differ>\nin the | second line"))
}

fn skips(_: &Context) -> Outcome {
    Err(Stop::skip("no such thing here"))
}

fn meets_a_lack(_: &Context) -> Outcome {
    Err(Error::unimplemented("not built yet"))?
}

fn panics(_: &Context) -> Outcome {
    std::panic::resume_unwind(Box::new("on purpose"))
}

fn hangs(_: &Context) -> Outcome {
    loop {
        std::thread::park();
    }
}

pub(crate) const PASSES: Case = Case::new("own.passes", "It passes.", &[], passes);
pub(crate) const FAILS: Case = Case::new("own.fails", "It fails.", &[], fails);
pub(crate) const SKIPS: Case = Case::new("own.skips", "It skips.", &[], skips);
pub(crate) const LACKING: Case = Case::new("own.lacking", "It needs kernels.", &[Feature::Dispatch], fails);
pub(crate) const UNDECLARED: Case = Case::new("own.undeclared", "It meets a lack.", &[], meets_a_lack);
pub(crate) const PANICS: Case = Case::new("own.panics", "It panics.", &[], panics);
pub(crate) const HANGS: Case = Case::new("own.hangs", "It hangs.", &[], hangs);

pub(crate) fn options() -> Options {
    Options::new("null://")
}

/// The summary of a run, and the text that it wrote.
pub(crate) fn run(cases: &[Case], options: &Options) -> (Summary, String) {
    let mut out = Vec::new();
    let summary = run_cases(&registry(), cases, options, &mut out).unwrap();
    (summary, String::from_utf8(out).unwrap())
}

pub(crate) fn verdicts(summary: &Summary) -> Vec<&Verdict> {
    summary.results.iter().map(|result| &result.verdict).collect()
}

/// The names of the verdicts, in order.
pub(crate) fn ends(summary: &Summary) -> Vec<&'static str> {
    summary.results.iter().map(|result| result.verdict.name()).collect()
}

/// A temporary file of one test, deleted when the test ends.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(ending: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{}-{}.{ending}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    pub(crate) fn holding(ending: &str, text: &str) -> Self {
        let file = Self::new(ending);
        std::fs::write(&file.0, text).unwrap();
        file
    }

    pub(crate) fn text(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
