// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description of a simulated machine, and its spelling in URIs and in `WINDLASS_SIM`.

mod error;
mod injection;

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use windlass_hip_sys::EntryPoints;

use windlass_simulated_gpu::Part;

pub use error::OptionsError;
pub(crate) use injection::Effect;
pub use injection::Injection;

/// The description of a simulated machine.
///
/// The spelling is a target, such as `gfx942` (see [`Part`]), then settings as in the query of a URI:
/// `gfx942?devices=2&seed=7`. The empty string is the default machine, a gfx942. Several targets with commas are a machine
/// of several GPUs, one of each target in this order: `gfx942,gfx90a`.
///
/// | key | meaning | default |
/// |---|---|---|
/// | `devices` | GPUs, up to 64; with 0, HIP answers as on a machine without a GPU | 1, or as many as targets |
/// | `memory` | bytes of memory per GPU; `K`, `M`, `G`, `T` are powers of 1024 | `16G` |
/// | `threads` | CPU threads that execute workgroups, 1 to 1024 | one per CPU |
/// | `units` | compute units that each GPU reports, 1 to 1024 | those of its part, 304 of gfx942 |
/// | `seed` | one piece of work at a time, in an order drawn from this number | none: side by side |
/// | `hip` | version of HIP to speak, `major.minor` from 5.0 to 7.99 | `7.1` |
/// | `without` | functions of HIP that are absent, separated by commas | none |
/// | `lds` | the effect of an access past the end of LDS: `fault`; `hardware`, reads give zero and writes vanish | `fault` |
/// | `bounds` | the effect of an access that begins in an allocation, or behind it, and ends in its last page of 4 KiB: `exact`, a fault; `page`, a report | `exact` |
/// | `uninitialised` | reads of device memory that was never written: `ignore` or `report` (slow) | `ignore` |
/// | `faults` | work that fails with a bad access or trap of a kernel: `submission`, the work that waits for it; `sticky`, all work of the device, as on hardware | `submission` |
/// | `fail` | calls that fail, separated by commas: `hipMalloc@3:hipErrorOutOfMemory`; see [`Injection`] | none |
/// | `delay` | calls that are late, separated by commas: `hipMemcpyAsync@2:5ms`; see [`Injection`] | none |
/// | `lock` | the address that kernels have for host memory that is pinned afterwards: the `same`, or one `apart` | `same`; under HSA `apart` |
/// | `hardware_queues` | hardware queues that the streams of a GPU share, as with AMD's `GPU_MAX_HW_QUEUES`, up to 1024; with 0, each stream has its own | 4 |
/// | `translate` | whether hot code is translated into code of the host's processor, `on`, or all is interpreted, `off`; the results are the same | `on` |
/// | `record` | the file to write the order of events to; needs `seed` | none |
/// | `replay` | such a file, to repeat; a run that cannot follow it reports where | none |
///
/// ```
/// use windlass_simulator::Options;
/// let options: Options = "gfx942?devices=2&memory=1G".parse()?;
/// assert_eq!((options.devices, options.memory), (2, 1 << 30));
/// assert!("gfx942?gpus=2".parse::<Options>().unwrap_err().to_string().contains("devices"));
/// let mixed: Options = "gfx942,gfx90a".parse()?;
/// assert_eq!((mixed.devices, mixed.part_of(1).name()), (2, "gfx90a"));
/// # Ok::<(), windlass_simulator::OptionsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The models of the GPUs, in their order. Further GPUs are like the last.
    pub parts: Vec<&'static Part>,
    /// Number of GPUs.
    pub devices: u32,
    /// Bytes of memory that each GPU has.
    pub memory: u64,
    /// CPU threads that execute workgroups; `None` is one per CPU.
    pub threads: Option<usize>,
    /// Compute units that each GPU reports; `None` is those of its part.
    pub units: Option<u32>,
    /// The seed of the order of work, one piece at a time; `None` runs streams side by side.
    pub seed: Option<u64>,
    /// Version of HIP, major and minor.
    pub hip: (u32, u32),
    /// Functions of HIP that are absent in every version.
    pub without: Vec<String>,
    /// The work that fails with a kernel.
    pub faults: Faults,
    /// Calls that fail or are late.
    pub injections: Vec<Injection>,
    /// The file to write the order of events to; needs a seed.
    pub record: Option<PathBuf>,
    /// The file to repeat, as `record` wrote it.
    pub replay: Option<PathBuf>,
    /// The effect of an access past the end of LDS.
    pub lds: Lds,
    /// The end of an allocation for kernels.
    pub bounds: Bounds,
    /// Whether reads of device memory that was never written are reported.
    pub uninitialised: Uninitialised,
    /// The address that kernels have for host memory that is pinned afterwards; `None` is the front end's default.
    pub lock: Option<Lock>,
    /// Hardware queues that the streams of one priority of a GPU share; 0 gives each stream its own. Queues under HSA are
    /// hardware queues and share nothing.
    pub hardware_queues: u32,
    /// Whether hot code is translated into code of the host's processor. Otherwise all is interpreted, with the same
    /// results.
    pub translate: bool,
}

/// The address that kernels have for host memory that a client allocated itself and pinned afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lock {
    /// The host's address, as with a kernel driver that manages memory for host and GPU alike (HMM).
    Same,
    /// Another address, as with ROCr elsewhere.
    Apart,
}

/// The effect of a kernel's access past the end of its workgroup's LDS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lds {
    /// A fault. The end is the number of bytes that kernel and launch ask for.
    #[default]
    Fault,
    /// As on hardware: reads give zero, writes vanish. The end is rounded up to a multiple of 512.
    Hardware,
}

/// The end of an allocation for kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// Behind its last byte.
    #[default]
    Exact,
    /// Behind its last page of 4 KiB, as on hardware, for programs whose overruns do no harm. The first access of a
    /// kernel past the last byte is an error in the log; see
    /// [`Simulator::take_findings`](crate::Simulator::take_findings). The kernel goes on. Memory that the host
    /// registered or mapped ends behind its last byte.
    Page,
}

/// The effect of a kernel's read of device memory that was never written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Uninitialised {
    /// None.
    #[default]
    Ignore,
    /// An error in the log, once for each instruction of a dispatch; see
    /// [`Simulator::take_findings`](crate::Simulator::take_findings). The kernel goes on. Memory that the host can write
    /// (pinned, managed, registered) counts as written. Kernels run slower.
    Report,
}

/// The work that fails with a kernel or copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Faults {
    /// No other work. The event that is recorded next on its stream answers the error as long as it stands for that
    /// recording; the next synchronisation with the stream or the device answers the error once.
    #[default]
    Submission,
    /// All work of the device: as on hardware, every later call answers the error until the device is reset.
    Sticky,
}

impl Faults {
    fn name(self) -> &'static str {
        match self {
            Self::Sticky => "sticky",
            Self::Submission => "submission",
        }
    }
}

/// The most GPUs of a machine.
const MOST_DEVICES: u32 = 64;

/// The default of AMD's runtime.
const HARDWARE_QUEUES: u32 = 4;

const KEYS: &str = "devices, memory, threads, units, seed, hip, without, faults, lds, bounds, uninitialised, lock, \
                    hardware_queues, translate, fail, delay, record, replay";

impl Default for Options {
    fn default() -> Self {
        Self {
            parts: vec![<&'static Part>::default()],
            devices: 1,
            memory: 16 << 30,
            threads: None,
            units: None,
            seed: None,
            hip: (7, 1),
            without: Vec::new(),
            faults: Faults::Submission,
            injections: Vec::new(),
            record: None,
            replay: None,
            lds: Lds::Fault,
            bounds: Bounds::Exact,
            uninitialised: Uninitialised::Ignore,
            lock: None,
            hardware_queues: HARDWARE_QUEUES,
            translate: true,
        }
    }
}

impl Options {
    /// The options that the environment variable `WINDLASS_SIM` spells; the default ones where it is unset.
    ///
    /// # Errors
    /// The text is not valid UTF-8, or [`Options::from_str`] refuses it.
    pub fn from_environment() -> Result<Self, OptionsError> {
        match std::env::var("WINDLASS_SIM") {
            Ok(text) => text.parse(),
            Err(std::env::VarError::NotPresent) => Ok(Self::default()),
            Err(std::env::VarError::NotUnicode(_)) => Err(OptionsError::new(
                "WINDLASS_SIM is not valid UTF-8: spell it like gfx942?devices=2".into(),
            )),
        }
    }

    /// The model of a GPU, by its place in the machine.
    pub fn part_of(&self, place: usize) -> &'static Part {
        self.parts.get(place).or(self.parts.last()).copied().unwrap_or_default()
    }

    /// The compute units that a GPU reports, by its place in the machine.
    pub fn units_of(&self, place: usize) -> u32 {
        self.units.unwrap_or(self.part_of(place).units)
    }

    /// The processors of the GPUs, each once, such as `gfx942`.
    pub fn processors(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.parts.iter().map(|part| part.name()).collect();
        let mut known = HashSet::new();
        names.retain(|name| known.insert(*name));
        names
    }

    /// Replaces the failures or the delays.
    fn inject(&mut self, failures: bool, injections: Vec<Injection>) {
        self.injections.retain(|one| one.is_failure() != failures);
        self.injections.extend(injections);
    }

    /// HIP's version number, `major * 10^7 + minor * 10^5 + patch`.
    pub(crate) fn hip_version(&self) -> i32 {
        // AMD counts builds here: the numbers are those of releases that were looked at.
        let patch = match self.hip {
            (5, 2) => 21_153,
            (6, 2) => 41_134,
            (7, 1) => 25_424,
            _ => 0,
        };
        // Both parts are below 100: see `version`.
        (self.hip.0 * 10_000_000 + self.hip.1 * 100_000 + patch) as i32
    }
}

impl FromStr for Options {
    type Err = OptionsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut options = Self::default();
        let (targets, query) = text.split_once('?').unwrap_or((text, ""));
        if !targets.is_empty() {
            options.parts = parts(targets)?;
        }
        let mut devices = None;
        for setting in query.split('&').filter(|setting| !setting.is_empty()) {
            let Some((key, value)) = setting.split_once('=') else {
                return Err(OptionsError::new(format!(
                    "{setting:?} is not of the form key=value; keys are {KEYS}"
                )));
            };
            match key {
                "devices" => devices = Some(number(key, value, 0, MOST_DEVICES)?),
                "memory" => options.memory = bytes(key, value)?,
                "threads" => options.threads = Some(number(key, value, 1, 1024)?),
                "units" => options.units = Some(number(key, value, 1, 1024)?),
                "seed" => options.seed = Some(number(key, value, 0, u64::MAX)?),
                "hip" => options.hip = version(key, value)?,
                "without" => options.without = functions(key, value)?,
                "faults" => options.faults = faults(key, value)?,
                "fail" => options.inject(true, Injection::failures(value)?),
                "record" => options.record = Some(PathBuf::from(value)).filter(|_| !value.is_empty()),
                "replay" => options.replay = Some(PathBuf::from(value)).filter(|_| !value.is_empty()),
                "delay" => options.inject(false, Injection::delays(value)?),
                "lds" => {
                    options.lds = choice(key, value, [("fault", Lds::Fault), ("hardware", Lds::Hardware)])?;
                }
                "bounds" => {
                    options.bounds = choice(key, value, [("exact", Bounds::Exact), ("page", Bounds::Page)])?;
                }
                "uninitialised" => {
                    let ways = [("ignore", Uninitialised::Ignore), ("report", Uninitialised::Report)];
                    options.uninitialised = choice(key, value, ways)?;
                }
                "lock" => {
                    options.lock = Some(choice(key, value, [("same", Lock::Same), ("apart", Lock::Apart)])?);
                }
                "hardware_queues" => options.hardware_queues = number(key, value, 0, 1024)?,
                "translate" => options.translate = choice(key, value, [("on", true), ("off", false)])?,
                _ => {
                    return Err(OptionsError::new(format!(
                        "the simulator has no option {key:?}; options are {KEYS}"
                    )));
                }
            }
        }
        // At most MOST_DEVICES.
        let listed = options.parts.len() as u32;
        options.devices = match devices {
            Some(devices) if listed > 1 && devices != listed => {
                return Err(OptionsError::new(format!(
                    "devices={devices}: {targets} names {listed} GPUs, so leave devices out or write devices={listed}"
                )));
            }
            devices => devices.unwrap_or(listed),
        };
        if options.record.is_some() && options.seed.is_none() && options.replay.is_none() {
            let known = "record= writes down what a seed chooses: add one, such as seed=1";
            return Err(OptionsError::new(known.to_owned()));
        }
        Ok(options)
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let targets: Vec<_> = self.parts.iter().map(|part| part.spelling()).collect();
        write!(f, "{}?devices={}&memory={}", targets.join(","), self.devices, self.memory)?;
        if let Some(units) = self.units {
            write!(f, "&units={units}")?;
        }
        if let Some(threads) = self.threads {
            write!(f, "&threads={threads}")?;
        }
        if let Some(seed) = self.seed {
            write!(f, "&seed={seed}")?;
        }
        write!(f, "&hip={}.{}", self.hip.0, self.hip.1)?;
        if !self.without.is_empty() {
            write!(f, "&without={}", self.without.join(","))?;
        }
        write!(f, "&faults={}", self.faults.name())?;
        for (key, failures) in [("fail", true), ("delay", false)] {
            let mut before = format!("&{key}=");
            for injection in self.injections.iter().filter(|one| one.is_failure() == failures) {
                write!(f, "{before}{injection}")?;
                before = ",".to_owned();
            }
        }
        for (key, path) in [("record", &self.record), ("replay", &self.replay)] {
            if let Some(path) = path {
                write!(f, "&{key}={}", path.display())?;
            }
        }
        if self.lds == Lds::Hardware {
            f.write_str("&lds=hardware")?;
        }
        if self.bounds == Bounds::Page {
            f.write_str("&bounds=page")?;
        }
        if self.uninitialised == Uninitialised::Report {
            f.write_str("&uninitialised=report")?;
        }
        match self.lock {
            Some(Lock::Same) => f.write_str("&lock=same")?,
            Some(Lock::Apart) => f.write_str("&lock=apart")?,
            None => {}
        }
        if self.hardware_queues != HARDWARE_QUEUES {
            write!(f, "&hardware_queues={}", self.hardware_queues)?;
        }
        if !self.translate {
            f.write_str("&translate=off")?;
        }
        Ok(())
    }
}

/// The parts of a list of targets such as `gfx942,gfx90a`.
fn parts(targets: &str) -> Result<Vec<&'static Part>, OptionsError> {
    let parts = targets.split(',').map(|target| {
        if target.is_empty() {
            return Err(OptionsError::new(format!(
                "{targets:?} has an empty target: name a GPU before and behind each comma, such as gfx942,gfx90a"
            )));
        }
        target.parse().ok().as_ref().and_then(Part::of_target).ok_or_else(|| {
            let processor = target.split(':').next().unwrap_or_default();
            if processor != target && Part::named(processor).is_some() {
                return OptionsError::new(format!(
                    "no simulated {processor} is a {target:?}: its features or its modes are others; {processor:?} alone is one"
                ));
            }
            let names = Part::names();
            OptionsError::new(format!(
                "the simulator cannot be a {target:?}: it knows the instructions of {names} only"
            ))
        })
    });
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    if parts.len() > MOST_DEVICES as usize {
        return Err(OptionsError::new(format!(
            "{} targets: a machine has up to {MOST_DEVICES} GPUs",
            parts.len()
        )));
    }
    Ok(parts)
}

fn number<T>(key: &str, value: &str, least: T, most: T) -> Result<T, OptionsError>
where
    T: FromStr + PartialOrd + fmt::Display,
{
    match value.parse() {
        Ok(number) if number >= least && number <= most => Ok(number),
        _ => {
            Err(OptionsError::new(format!("{key}={value}: a whole number from {least} to {most} is needed")))
        }
    }
}

fn bytes(key: &str, value: &str) -> Result<u64, OptionsError> {
    let (digits, shift) = match value.char_indices().last() {
        Some((at, 'K' | 'k')) => (&value[..at], 10),
        Some((at, 'M' | 'm')) => (&value[..at], 20),
        Some((at, 'G' | 'g')) => (&value[..at], 30),
        Some((at, 'T' | 't')) => (&value[..at], 40),
        _ => (value, 0),
    };
    let size = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(1 << shift));
    match size {
        Some(size) if (1 << 20..=16 << 40).contains(&size) => Ok(size),
        _ => Err(OptionsError::new(format!(
            "{key}={value}: a size from 1M to 16T is needed, such as 512M or 16G"
        ))),
    }
}

fn faults(key: &str, value: &str) -> Result<Faults, OptionsError> {
    let kinds = [Faults::Submission, Faults::Sticky];
    let kind = kinds.into_iter().find(|kind| kind.name() == value);
    kind.ok_or_else(|| OptionsError::new(format!("{key}={value}: submission or sticky is needed")))
}

/// Names of the table, each once, in its order.
fn functions(key: &str, value: &str) -> Result<Vec<String>, OptionsError> {
    let names: Vec<&str> = value.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    if let Some(unknown) = names.iter().find(|name| !EntryPoints::NAMES.contains(name)) {
        return Err(OptionsError::new(format!(
            "{key}={value}: {unknown:?} is no function of HIP that the simulator knows; spell it like hipLaunchHostFunc"
        )));
    }
    let known = EntryPoints::NAMES.iter().filter(|name| names.contains(name));
    Ok(known.map(|name| (*name).to_owned()).collect())
}

fn choice<T: Copy>(key: &str, value: &str, ways: [(&str, T); 2]) -> Result<T, OptionsError> {
    let [(first, _), (second, _)] = ways;
    let way = ways.into_iter().find(|(name, _)| *name == value);
    let way =
        way.ok_or_else(|| OptionsError::new(format!("{key}={value}: {first} or {second} is needed")))?;
    Ok(way.1)
}

fn version(key: &str, value: &str) -> Result<(u32, u32), OptionsError> {
    let parts =
        value.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    match parts {
        Some((major @ 5..=7, minor @ 0..=99)) => Ok((major, minor)),
        _ => Err(OptionsError::new(format!(
            "{key}={value}: a version from 5.0 to 7.99 is needed, such as 6.2"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_survives_a_round_trip() {
        let text = "gfx942?devices=2&memory=1073741824&units=8&threads=2&seed=7&hip=6.2\
                    &without=hipLaunchHostFunc,hipMallocAsync&faults=submission\
                    &fail=hipMalloc@3,hipFree~0.5:hipErrorUnknown&delay=hipMemcpy@1:5ms&record=a/b&replay=c\
                    &lds=hardware&bounds=page&uninitialised=report&lock=apart\
                    &hardware_queues=2&translate=off";
        let options: Options = text.parse().unwrap();
        assert_eq!(options.to_string(), text);
        assert_eq!(options.hip_version() / 100_000, 602);
        assert_eq!("".parse::<Options>().unwrap(), Options::default());
        let mixed: Options = "gfx90a:xnack+,gfx942,gfx942?memory=1G".parse().unwrap();
        let spelled = mixed.to_string();
        assert!(spelled.starts_with("gfx90a:sramecc+:xnack+,gfx942,gfx942?devices=3&"), "{spelled}");
        assert_eq!(spelled.parse::<Options>().unwrap(), mixed);
    }

    #[test]
    fn a_list_of_targets_is_a_machine_of_as_many_gpus() {
        let options: Options = "gfx942,gfx90a:xnack+,gfx942?devices=3".parse().unwrap();
        let part = |place: usize| options.part_of(place).target_id();
        assert_eq!(options.devices, 3);
        assert_eq!(
            [0, 1, 2].map(part),
            ["gfx942:sramecc+:xnack-", "gfx90a:sramecc+:xnack+", "gfx942:sramecc+:xnack-"]
        );
        assert_eq!([0, 1, 2].map(|place| options.units_of(place)), [304, 110, 304]);
        assert_eq!(options.processors(), ["gfx942", "gfx90a"]);
        let alike: Options = "gfx942,gfx90a?units=8".parse().unwrap();
        assert_eq!([0, 1].map(|place| alike.units_of(place)), [8, 8]);
        let most = vec!["gfx942"; 64].join(",");
        assert_eq!(most.parse::<Options>().unwrap().devices, 64);
        let message = format!("{most},gfx942").parse::<Options>().unwrap_err().to_string();
        assert!(message.contains("up to 64"), "{message}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            (
                "gfx1250",
                "gfx942, gfx950, gfx90a, gfx908, gfx906, gfx900, gfx1100, gfx1101, gfx1102, gfx1103, gfx1150, gfx1151, gfx1030, gfx1031, gfx1032, gfx1010, gfx1011, gfx1012, gfx1201 and gfx1200",
            ),
            ("gfx900:xnack+", "\"gfx900\" alone is one"),
            (
                "gfx942,gfx1250",
                "gfx942, gfx950, gfx90a, gfx908, gfx906, gfx900, gfx1100, gfx1101, gfx1102, gfx1103, gfx1150, gfx1151, gfx1030, gfx1031, gfx1032, gfx1010, gfx1011, gfx1012, gfx1201 and gfx1200",
            ),
            ("gfx942,", "empty target"),
            (",", "empty target"),
            ("gfx942,gfx90a?devices=3", "write devices=2"),
            ("gfx942,gfx90a?devices=0", "write devices=2"),
            ("gfx942?colour=red", "devices"),
            ("gfx942?devices", "key=value"),
            ("gfx942?devices=65", "0 to 64"),
            ("gfx942?devices=two", "0 to 64"),
            ("?memory=1X", "512M"),
            ("?memory=99999999999999999999T", "512M"),
            ("?hip=8.0", "6.2"),
            ("?seed=-1", "whole number"),
            ("?without=hipLaunchHostFun", "\"hipLaunchHostFun\""),
            ("?faults=none", "submission"),
            ("?fail=hipMaloc", "hipMalloc"),
            ("?delay=hipMalloc", "5ms"),
            ("?record=x", "seed=1"),
            ("?lds=none", "hardware"),
            ("?uninitialised=yes", "report"),
            ("?bounds=none", "page"),
            ("?lock=other", "apart"),
            ("?hardware_queues=1025", "0 to 1024"),
            ("?translate=never", "on or off"),
        ] {
            let message = text.parse::<Options>().unwrap_err().to_string();
            assert!(message.contains(named), "{text}: {message}");
        }
    }
}
