// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file of cases that are known to fail on some devices.

use std::{fmt, ops::Range, path::Path};

use glob::Pattern;
use serde::Deserialize;
use toml::Spanned;
use windlass_hal::{DeviceInfo, Registry};

use crate::{bounded_file, case::Case};

/// Cases that are known to fail, each with the reason and a link to the place where the problem is handled.
///
/// A TOML file of `[[expect]]` entries:
///
/// | key | meaning |
/// |---|---|
/// | `case` | the affected cases, as a pattern: `dispatch.*`; a pattern that matches no case is an error |
/// | `kind` | `unsupported`, `expected-failure` or `flake` |
/// | `reason`, `link` | the reason, and the address where the problem is handled; both are required |
/// | `driver`, `device`, `architecture`, `library` | patterns that the device must match: its scheme, its URI, the
/// architecture and library that it reports; each is optional; a `driver` that matches none is an error |
/// | `simulated` | whether the device must be simulated, or must not be |
/// | `run` | `false` for a case that must not run because it would take the machine down; not for a flake |
/// | `retries` | the number of retries of a flake, 2 by default |
///
/// If several entries match a case on a device, the first decides. An `unsupported` or `expected-failure` case runs
/// all the same, and fails if it passes: the entry must be removed. A flake that passes at a retry is reported as
/// flaky. In patterns `*` stands for any text, `?` for one character, `[ab]` for one of the characters in brackets.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    entries: Vec<Expectation>,
}

/// One entry of the file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Expectation {
    /// The expected outcome.
    pub kind: ExpectationKind,
    /// The reason.
    pub reason: String,
    /// The address where the problem is handled.
    pub link: String,
    /// False for a case that must not run.
    pub run: bool,
    /// The number of retries of a flake.
    pub retries: u32,
    /// The line of the file.
    pub line: usize,
    case: Pattern,
    driver: Option<Pattern>,
    device: Option<Pattern>,
    architecture: Option<Pattern>,
    library: Option<Pattern>,
    simulated: Option<bool>,
}

/// The expected outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ExpectationKind {
    /// The device cannot do it, so a failure counts as a skip.
    Unsupported,
    /// A known fault. A failure is counted apart and does not fail the run.
    ExpectedFailure,
    /// The case fails at times, so it is retried after a failure.
    Flake,
}

impl ExpectationKind {
    /// The word of the file and of reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unsupported => "unsupported",
            Self::ExpectedFailure => "expected-failure",
            Self::Flake => "flake",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    expect: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    case: Spanned<String>,
    kind: ExpectationKind,
    reason: Spanned<String>,
    link: Spanned<String>,
    driver: Option<Spanned<String>>,
    device: Option<Spanned<String>>,
    architecture: Option<Spanned<String>>,
    library: Option<Spanned<String>>,
    simulated: Option<bool>,
    run: Option<Spanned<bool>>,
    retries: Option<Spanned<u32>>,
}

/// The most MiB of a file.
const MOST: u64 = 16;
/// The retries of a flake whose entry does not state them.
const RETRIES: u32 = 2;
/// The most retries that an entry may state. A case that needs more is no flake.
const MOST_RETRIES: u32 = 100;

impl Expectations {
    /// Reads a file. An entry that matches none of `cases`, or no driver of `registry`, is an error, because it would
    /// silently have no effect.
    pub fn read(path: &Path, cases: &[Case], registry: &Registry) -> Result<Self, ExpectationsError> {
        let name = path.display();
        let text = bounded_file::read(path, MOST)
            .map_err(|error| ExpectationsError(format!("{name} could not be read: {error}")))?;
        Self::parse(&text, cases, registry).map_err(|error| ExpectationsError(format!("{name}:{error}")))
    }

    /// Parses the text of a file. Errors begin with line and column.
    pub fn parse(text: &str, cases: &[Case], registry: &Registry) -> Result<Self, ExpectationsError> {
        let document: Document = toml::from_str(text)
            .map_err(|error| located(text, error.span().unwrap_or_default(), error.message().trim_end()))?;
        let entries = document.expect.into_iter();
        let entries = entries.map(|entry| Expectation::new(text, entry, cases, registry));
        let entries = entries.collect::<Result<_, _>>()?;
        Ok(Self { entries })
    }

    /// The entry that decides about a case on a device that was requested by `uri`.
    pub fn find(&self, case: &Case, uri: &str, device: &DeviceInfo) -> Option<&Expectation> {
        self.entries.iter().find(|entry| entry.case.matches(case.name) && entry.fits(uri, device))
    }
}

impl Expectation {
    fn new(
        text: &str,
        entry: Spanned<Entry>,
        cases: &[Case],
        registry: &Registry,
    ) -> Result<Self, ExpectationsError> {
        let (line, _) = position(text, entry.span().start);
        let entry = entry.into_inner();
        let pattern = |given: &Spanned<String>| {
            Pattern::new(given.get_ref()).map_err(|error| {
                located(text, given.span(), format!("`{}` is no pattern: {}", given.get_ref(), error.msg))
            })
        };
        let optional = |given: &Option<Spanned<String>>| given.as_ref().map(pattern).transpose();
        let case = pattern(&entry.case)?;
        if !cases.iter().any(|known| case.matches(known.name)) {
            let message = format!("`{case}` fits no case of the suite; --list shows them all");
            return Err(located(text, entry.case.span(), message));
        }
        let driver = optional(&entry.driver)?;
        if let (Some(given), Some(driver)) = (&entry.driver, &driver)
            && !registry.drivers().any(|known| driver.matches(known.scheme()))
        {
            let mut known: Vec<_> = registry.drivers().map(|driver| driver.scheme()).collect();
            known.sort_unstable();
            let message = format!("`{driver}` fits no driver; this build has {}", known.join(", "));
            return Err(located(text, given.span(), message));
        }
        if entry.reason.get_ref().trim().is_empty() {
            return Err(located(text, entry.reason.span(), "the reason is empty"));
        }
        if !entry.link.get_ref().contains("://") {
            let message = "the link is no address: readers of the entry must find the place where the problem is handled";
            return Err(located(text, entry.link.span(), message));
        }
        match (&entry.run, &entry.retries) {
            (_, Some(retries)) if entry.kind != ExpectationKind::Flake => {
                return Err(located(text, retries.span(), "only a flake is tried again"));
            }
            (_, Some(retries)) if !(1..=MOST_RETRIES).contains(retries.get_ref()) => {
                return Err(located(text, retries.span(), format!("retries are 1 to {MOST_RETRIES}")));
            }
            (Some(run), _) if entry.kind == ExpectationKind::Flake => {
                return Err(located(text, run.span(), "a flake is always run"));
            }
            _ => {}
        }
        Ok(Self {
            kind: entry.kind,
            reason: entry.reason.get_ref().trim().to_owned(),
            link: entry.link.get_ref().trim().to_owned(),
            run: entry.run.is_none_or(|run| *run.get_ref()),
            retries: match entry.kind {
                ExpectationKind::Flake => entry.retries.map_or(RETRIES, Spanned::into_inner),
                _ => 0,
            },
            line,
            case,
            driver,
            device: optional(&entry.device)?,
            architecture: optional(&entry.architecture)?,
            library: optional(&entry.library)?,
            simulated: entry.simulated,
        })
    }

    fn fits(&self, uri: &str, device: &DeviceInfo) -> bool {
        let fits = |pattern: &Option<Pattern>, texts: &[&str]| {
            pattern.as_ref().is_none_or(|pattern| texts.iter().any(|text| pattern.matches(text)))
        };
        let scheme = uri.split("://").next().unwrap_or_default();
        fits(&self.driver, &[scheme])
            && fits(&self.device, &[uri, &device.uri])
            && fits(&self.architecture, &[&device.architecture])
            && fits(&self.library, &[device.library.as_deref().unwrap_or_default()])
            && self.simulated.is_none_or(|simulated| simulated == device.simulated)
    }
}

/// The form in reports: the kind, the reason, the link.
impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.kind.name(), self.reason, self.link)
    }
}

/// A file of expectations that cannot be used, with file, line and column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectationsError(String);

impl fmt::Display for ExpectationsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExpectationsError {}

fn located(text: &str, span: Range<usize>, message: impl fmt::Display) -> ExpectationsError {
    let (line, column) = position(text, span.start);
    ExpectationsError(format!("{line}:{column}: {message}"))
}

/// The line and column of a byte, counted from 1. Columns count characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}
