// SPDX-License-Identifier: MIT OR Apache-2.0
//! The properties of HIP that the driver relies on, each by a program in a process of its own: a library may abort in one,
//! and a call may never return.

use std::time::{Duration, Instant};

use crate::Uri;
use serde_json::{Map, Value, json};
use windlass_hip_assumptions::{Needs, Outcome as Verdict, PROGRAMS};
use windlass_hip_sys::{Api, Source};

use super::{
    part::{End, Found},
    worker::Worker,
};
#[cfg(feature = "sim")]
use crate::command::hip;
use crate::command::{
    child::Stopped,
    failure::{Failure, Outcome},
};

/// The time for a program.
const LIMIT: Duration = Duration::from_secs(20);
/// The programs that may hang before the rest is left out.
const MOST_HUNG: usize = 3;

/// Runs each program over the HIP behind a URI.
pub(super) fn run(uri: &str, limit: Duration, say: &dyn Fn(String)) -> Found {
    if !is_served(uri) {
        return Found::none(End::Skipped, format!("{uri} is no device of HIP"));
    }
    let until = Instant::now() + limit;
    let mut programs = Map::new();
    let count = |programs: &Map<String, Value>, outcome: &str| {
        programs.values().filter(|program| program["outcome"] == outcome).count()
    };
    for program in PROGRAMS {
        say(program.name().to_owned());
        let left = LIMIT.min(until.saturating_duration_since(Instant::now()));
        let told = match count(&programs, "hung") {
            hung if hung >= MOST_HUNG => told("not_run", "too many programs before it hung"),
            _ if left.is_zero() => told("not_run", "the time of the part was over"),
            _ => one(program.name(), uri, left),
        };
        programs.insert(program.name().to_owned(), told);
    }
    let [held, broken, died, hung, left_out] =
        ["held", "broken", "died", "hung", "not_run"].map(|outcome| count(&programs, outcome));
    let end = match (hung, broken + died, held) {
        (1.., ..) => End::Hung,
        (_, 1.., _) => End::Failed,
        (_, _, 0) => End::Absent,
        _ => End::Done,
    };
    let mut message = format!("{held} held, {broken} broken, {left_out} not run");
    for (number, words) in [(died, "took the process down"), (hung, "hung")] {
        if number > 0 {
            message += &format!(", {number} {words}");
        }
    }
    Found::new(end, message, json!({ "programs": programs }))
}

fn told(outcome: &str, message: &str) -> Value {
    json!({ "outcome": outcome, "message": message })
}

/// The verdict of one program.
fn one(name: &str, uri: &str, limit: Duration) -> Value {
    let answer = Worker::start_over("assumption", name, uri, limit).and_then(|mut worker| {
        let answer = worker.answer()?;
        worker.finish();
        Ok(answer)
    });
    match answer {
        Ok(answer) => answer,
        Err(silence) => {
            let outcome = match silence.stopped {
                Stopped::Hung => "hung",
                // A panic is the program's verdict; its exit code is Rust's own.
                Stopped::Died if silence.message.contains("exit status: 101") => "broken",
                Stopped::Died => "died",
            };
            told(outcome, &silence.message)
        }
    }
}

/// The work of a program's process.
pub(super) fn answer(name: &str, uri: &str) -> Outcome<Value> {
    let program = PROGRAMS.iter().find(|program| program.name() == name);
    let program = program.ok_or_else(|| Failure::input(format!("there is no assumption {name}")))?;
    if program.needs() == Needs::Fault && !uri.starts_with("hip-sim://") {
        // As in the tests of these programs. The suite would not run behind a fault that the GPU does not survive.
        return Ok(told("not_run", "it ends in a fault on purpose, which is for the simulated GPU alone"));
    }
    let api = match api(uri, program.needs()) {
        Ok(api) => api,
        Err(reason) => return Ok(told("not_run", &reason)),
    };
    Ok(match program.run(api, windlass_cts::bundle) {
        Verdict::Held => json!({ "outcome": "held" }),
        Verdict::NotRun(reason) => told("not_run", &reason),
        verdict => told("not_run", &format!("{verdict:?}")),
    })
}

fn is_served(uri: &str) -> bool {
    let scheme = uri.split_once("://").map_or(uri, |(scheme, _)| scheme);
    scheme == crate::REAL_SCHEME || (cfg!(feature = "sim") && scheme == "hip-sim")
}

/// The HIP behind a URI, without the HAL.
#[cfg_attr(not(feature = "sim"), expect(unused_variables))]
fn api(uri: &str, needs: Needs) -> Result<Api, String> {
    let parsed: Uri = uri.parse().map_err(|error: crate::Error| error.to_string())?;
    #[cfg(feature = "sim")]
    if parsed.scheme() == "hip-sim" {
        // These programs expect that a fault costs the process its device, as on hardware.
        let faults = if needs == Needs::Fault { "faults=sticky" } else { "" };
        return hip::simulated(uri, &hip::OF_THE_DRIVER, faults);
    }
    let library = parsed.reader().text("library").map(|path| Source::Library(path.into()));
    // SAFETY: the user, the environment or the search names the library as HIP.
    unsafe { Api::load(&library.unwrap_or(Source::System)) }.map_err(|error| error.to_string())
}
