// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass report`: all that a maintainer asks for, in a page and in JSON beside it.

mod access;
#[cfg(feature = "hip")]
mod assumptions;
mod bench;
mod document;
mod gpus;
#[cfg(feature = "hip")]
mod libraries;
#[cfg(feature = "hip")]
mod library;
mod markdown;
mod names;
mod part;
mod patterns;
mod place;
mod redact;
mod sections;
mod step;
mod suite;
mod system;
mod worker;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::{
    devices, escape,
    failure::{self, Failure, Outcome},
    input, output,
    progress::Progress,
};
use document::{Chosen, Document};
use part::{End, Entry, Found, Part};
use place::Place;
use redact::Redactor;
use step::Step;

/// Options of `report`.
#[derive(Args)]
#[command(
    after_long_help = "The report holds no names of users and hosts, no addresses and no paths below home folders."
)]
pub(crate) struct Report {
    /// A folder for windlass-report.md and windlass-report.json, or another name for both without its ending
    #[arg(value_name = "FOLDER|NAME")]
    path: Option<PathBuf>,
    /// A device, as a URI [default: WINDLASS_DEVICE, else the first real GPU, else the simulated one]
    #[arg(long, value_name = "URI")]
    device: Option<String>,
    /// These parts alone; may be repeated, and may hold several with commas
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    parts: Vec<Part>,
    /// All parts but these
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    skip: Vec<Part>,
    /// The time for a part, such as cts=600; may be repeated [default: less than ten minutes for all]
    #[arg(long = "timeout", value_name = "PART=SECONDS", value_parser = limit)]
    limits: Vec<(Part, Duration)>,
    #[command(flatten)]
    step: Step,
}

fn limit(text: &str) -> Result<(Part, Duration), String> {
    let (name, seconds) = text.split_once('=').ok_or("write a part and its seconds, such as cts=600")?;
    let part = Part::from_str(name, false).map_err(|_| {
        let names = Part::ALL.map(Part::name).join(", ");
        format!("there is no part `{name}`; there are {names}")
    })?;
    Ok((part, devices::seconds(seconds)?))
}

impl Report {
    /// Whether this process tells another one of its HIP calls.
    pub(crate) fn tells_calls(&self) -> bool {
        self.step.is_asked()
    }

    /// Runs the parts, and writes the report after each.
    pub(crate) fn run(self) -> Outcome {
        if let Some(outcome) = self.step.run(self.device.as_deref().unwrap_or_default()) {
            return outcome;
        }
        let place = Place::of(self.path.as_deref())?;
        let device = self.choose()?;
        let parts = Part::ALL.into_iter().map(|part| self.entry(part)).collect();
        let mut document = Document::new(device, parts);
        let redactor = Redactor::of_this_machine();
        document.write(&place, &redactor)?;
        if let Some(problem) = &document.device().no_real_gpu {
            let uri = &document.device().uri;
            failure::note(&format!("windlass report: no real GPU ({problem}): running on {uri}, simulated"));
        }
        for part in Part::ALL.into_iter().filter(|part| self.has(*part)) {
            document.begin(part);
            document.write(&place, &redactor)?;
            let (found, seconds) = self.time(part, document.device());
            document.end(part, found, seconds);
            document.write(&place, &redactor)?;
        }
        output::write(&end_line(&place, &document))?;
        judge(&document)
    }

    fn has(&self, part: Part) -> bool {
        (self.parts.is_empty() || self.parts.contains(&part)) && !self.skip.contains(&part)
    }

    fn limit_of(&self, part: Part) -> Duration {
        let given = self.limits.iter().rev().find(|(named, _)| *named == part);
        given.map_or(part.limit(), |(_, limit)| *limit)
    }

    /// The part before its begin.
    fn entry(&self, part: Part) -> Entry {
        let is_asked = self.has(part);
        Entry {
            name: part,
            outcome: if is_asked { End::Waiting } else { End::Skipped },
            message: (!is_asked).then(|| "not asked for".to_owned()),
            seconds: None,
            limit_seconds: self.limit_of(part).as_secs_f64(),
            result: Value::Null,
        }
    }

    /// The device of the report.
    fn choose(&self) -> Outcome<Chosen> {
        let variable = std::env::var_os(crate::DEVICE_VARIABLE).filter(|uri| !uri.is_empty());
        let (origin, uri) = match (&self.device, variable) {
            (Some(uri), _) => ("--device ".to_owned(), uri.clone()),
            (None, Some(uri)) => (format!("{}=", crate::DEVICE_VARIABLE), uri.to_string_lossy().into_owned()),
            (None, None) => {
                let (uri, no_real_gpu) = devices::default_device();
                return Ok(Chosen { uri, named: devices::names_library(), no_real_gpu });
            }
        };
        let scheme = uri.split_once("://").map_or(&*uri, |(scheme, _)| scheme);
        if let Err(error) = crate::registry().driver(scheme) {
            return Err(Failure::input(format!("{origin}{}: {error}", escape::line(&uri))));
        }
        Ok(Chosen { uri, named: true, no_real_gpu: None })
    }

    /// Runs a part with its progress, and gives its seconds too.
    fn time(&self, part: Part, device: &Chosen) -> (Found, f64) {
        let progress = Progress::new(part.name(), 1);
        let began = Instant::now();
        let found =
            run(part, device, self.limit_of(part), &|what| progress.say(format!("{}: {what}", part.name())));
        let seconds = began.elapsed().as_secs_f64();
        drop(progress);
        let message = found.message.as_deref().and_then(|message| message.lines().next());
        let message = message.map(|message| format!(": {message}")).unwrap_or_default();
        let (name, end) = (part.name(), found.end.name());
        failure::note(&format!("windlass report: {name} {end} in {seconds:.1} s{message}"));
        (found, seconds)
    }
}

/// Runs a part.
fn run(part: Part, device: &Chosen, limit: Duration, say: &dyn Fn(String)) -> Found {
    match part {
        Part::System => system::run(limit),
        #[cfg(feature = "hip")]
        Part::Libraries => libraries::run(limit, say),
        #[cfg(not(feature = "hip"))]
        Part::Libraries => Found::none(End::Skipped, "this build has no driver of HIP"),
        Part::Devices => {
            let (result, verdict) = devices::survey(device.named.then_some(&device.uri), limit);
            Found::judged(verdict, result)
        }
        #[cfg(feature = "hip")]
        Part::Assumptions => assumptions::run(&device.uri, limit, say),
        #[cfg(not(feature = "hip"))]
        Part::Assumptions => Found::none(End::Skipped, "this build has no driver of HIP"),
        Part::Cts => suite::run(&device.uri, limit, say),
        Part::Bench => bench::run(&device.uri, limit, say),
    }
}

/// The end of a run, for people.
fn end_line(place: &Place, document: &Document) -> String {
    let (page, json) = (escape::path(&place.page), escape::path(&place.json));
    let uri = escape::line(&document.device().uri);
    let over = match document.device().no_real_gpu {
        Some(_) => format!("over {uri}, simulated: this machine has no real GPU"),
        None if document.is_simulated() => format!("over {uri}, simulated or no GPU"),
        None => format!("over {uri}"),
    };
    format!("{page} and {json} hold the report {over}. Attach {page} to an issue.")
}

/// An error if a part did not end as expected. A call that hangs outranks all else.
fn judge(document: &Document) -> Outcome {
    let with = |ends: &[End]| {
        let entries = document.parts().iter().filter(|entry| ends.contains(&entry.outcome));
        let told = entries.map(|entry| {
            let message = entry.message.as_deref().and_then(|message| message.lines().next());
            format!("{} {}: {}", entry.name.name(), entry.outcome.name(), message.unwrap_or_default())
        });
        told.collect::<Vec<_>>()
    };
    let said = |parts: &[String]| {
        let count = input::count(parts.len(), "part", "parts");
        format!("{count} did not end as expected\n  {}", parts.join("\n  "))
    };
    let all = with(&[End::Hung, End::Failed, End::Died, End::Absent]);
    if !with(&[End::Hung]).is_empty() {
        return Err(Failure::hung(said(&all)));
    }
    if !with(&[End::Failed, End::Died]).is_empty() {
        return Err(Failure::failed(said(&all)));
    }
    if !all.is_empty() && document.device().named {
        return Err(Failure::absent(said(&all)));
    }
    Ok(())
}
