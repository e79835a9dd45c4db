// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts instructions: this command runs each row under callgrind for two numbers of rounds, and the difference is that
//! of the rounds alone. A count is the same on a busy machine, and says nothing about caches.

use std::{ffi::OsString, io, process::Command};

use super::{
    budgets::{self, Budget},
    environment::{DeviceFacts, Machine},
    interrupt::Interrupt,
    options::Options,
    report::Report,
    result::{RowResult, Status},
    row::Row,
    rows,
    sample::Statistics,
    stop::{Stop, Work},
    target::Target,
};
use crate::command::{
    failure::{Failure, Outcome, note},
    progress::Progress,
    started,
};

/// Items of the shorter run; rounds of many items are fewer.
const ITEMS: u64 = 2000;
/// The least difference of two runs in instructions. Their beginnings differ by some ten thousand, with the addresses
/// that the system gives out.
const ENOUGH: f64 = 2e7;
/// The least rounds of the shorter run.
const LEAST: u64 = 10;

/// Counts the chosen rows, and compares them with their budgets.
pub(super) fn run(options: &Options, chosen: &[Row], uris: &[String]) -> Outcome {
    check_valgrind()?;
    if crate::build_info::PROFILE == "debug" {
        note(
            "this is a build without optimisation, so its counts are several times those of a release build",
        );
    }
    let budgets = match &options.budgets {
        Some(path) => budgets::read(path, &rows::all())?,
        None => Vec::new(),
    };
    let is_wanted = |row: &Row, uri: &str| {
        let has_budget = || budgets.iter().any(|budget| budget.row == row.name && budget.device == uri);
        // With budgets and no pattern, only the rows with a budget count.
        let is_chosen = options.budgets.is_none() || !options.patterns.is_empty() || has_budget();
        row.counted && row.is_for(uri) && is_chosen
    };
    let uris: Vec<_> = match (&options.budgets, options.names_devices()) {
        (Some(_), false) => distinct(&budgets),
        _ => uris.to_vec(),
    };
    let width = chosen.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let mut report = Report::new(options.format, Machine::now(), width)?;
    let interrupt = Interrupt::new();
    let total: usize = uris.iter().map(|uri| chosen.iter().filter(|row| is_wanted(row, uri)).count()).sum();
    let progress = Progress::new("counting", total.max(2) as u64);
    let (mut exceeded, mut absent, mut checked) = (Vec::new(), None, 0);
    for uri in &uris {
        if interrupt.has_come() {
            break;
        }
        let target = match Target::open(uri) {
            Ok(target) => target,
            Err(error) if Failure::open(uri, &error).is_absent() => {
                note(&format!("{uri} is absent: {error}"));
                absent.get_or_insert(format!("{uri}: {error}"));
                continue;
            }
            Err(error) => {
                let budget = budgets.iter().find(|budget| budget.device == *uri);
                let of_file = budget.filter(|_| !options.names_devices()).map(|budget| budget.at.clone());
                let origin = of_file.unwrap_or_else(|| options.origin(uri));
                return Err(Failure::open(uri, &error).during(origin));
            }
        };
        progress.aside(|| report.device(DeviceFacts::of(&target)))?;
        for row in chosen.iter().filter(|row| is_wanted(row, uri)) {
            progress.say(format!("{uri}: {}", row.name));
            let result = match count(row, &target, &interrupt) {
                // Ctrl-C also ends valgrind.
                Err(_) if interrupt.has_come() => break,
                Err(stop) => RowResult { unit: unit(row), ..RowResult::stopped(row, &target, stop) },
                Ok(each) => counted(row, &target, each),
            };
            let budget = budgets.iter().find(|budget| budget.row == row.name && budget.device == *uri);
            if let (Some(host), Some(budget)) = (&result.host, budget) {
                checked += 1;
                if budget.is_exceeded_by(host.median) {
                    exceeded.push(format!(
                        "{}: {:.1} instructions/{}, and its budget is {:.1}",
                        result.full_name(),
                        host.median,
                        row.per,
                        budget.instructions
                    ));
                }
            }
            progress.aside(|| report.row(result))?;
            progress.advance();
        }
    }
    drop(progress);
    report.finish()?;
    if options.budgets.is_some() && checked < budgets.len() && !interrupt.has_come() {
        let said = format!("{checked} of {} budgets were checked", budgets.len());
        if checked == 0 && absent.is_none() {
            exceeded.push(format!("{said}; choose rows and devices that the file names"));
        }
        note(&said);
    }
    verdict(&report, exceeded, &interrupt, absent.filter(|_| options.require))
}

fn verdict(report: &Report, exceeded: Vec<String>, interrupt: &Interrupt, absent: Option<String>) -> Outcome {
    let failed = report
        .with(Status::Failed)
        .map(|row| format!("{}: {}", row.full_name(), row.reason.as_deref().unwrap_or("it failed")));
    let problems: Vec<_> = exceeded.into_iter().chain(failed).collect();
    match (interrupt.has_come(), problems.is_empty(), absent) {
        (true, ..) => Err(Failure::failed("interrupted")),
        (_, false, _) => Err(Failure::failed(problems.join("\n  "))),
        (_, _, Some(reason)) => Err(Failure::absent(reason)),
        _ => Ok(()),
    }
}

/// The devices of a file of budgets, each once.
fn distinct(budgets: &[Budget]) -> Vec<String> {
    let mut devices: Vec<String> = Vec::new();
    for budget in budgets {
        if !devices.contains(&budget.device) {
            devices.push(budget.device.clone());
        }
    }
    devices
}

fn counted(row: &Row, target: &Target, each: f64) -> RowResult {
    let exact = Statistics { n: 1, batch: 1, min: each, median: each, p99: each, mad: 0.0 };
    RowResult { unit: unit(row), ..RowResult::of(row, target, Some(exact), None) }
}

fn unit(row: &Row) -> String {
    format!("instructions/{}", row.per)
}

/// Rounds of the shorter run of a first count.
fn rounds(row: &Row) -> u64 {
    (ITEMS / row.items.max(1)).max(LEAST)
}

/// Instructions for each item of a row: the difference of two runs, the longer of which executes enough of them.
fn count(row: &Row, target: &Target, interrupt: &Interrupt) -> Work<f64> {
    // On its own first, where an error has a message without valgrind's.
    row.prepare(target)?;
    let least = rounds(row);
    let run = |rounds: u64| {
        interrupt.check()?;
        instructions(row, &target.uri, rounds)
    };
    let short = run(least)?;
    let round = |more: u64| -> Work<f64> { Ok((run(least + more)? as f64 - short as f64) / more as f64) };
    let first = round(least)?;
    let enough = (ENOUGH / first.max(1.0)) as u64;
    let each = if enough > least { round(enough)? } else { first };
    Ok(each / row.items.max(1) as f64)
}

/// Instructions of a whole process with this many rounds.
fn instructions(row: &Row, uri: &str, rounds: u64) -> Work<u64> {
    let failed = |reason: String| Stop::Failed(format!("counting instructions: {reason}"));
    let words = started::words().map_err(|error| failed(format!("finding this program: {error}")))?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).args(words);
    let rounds = rounds.to_string();
    command.args(["bench", "once", "--rounds", &rounds, "--device", uri, &row.name].map(OsString::from));
    let output = command.output().map_err(|error| failed(format!("starting valgrind: {error}")))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    match collected {
        Some(count) if output.status.success() => Ok(count),
        _ => {
            let last = said.lines().rev().take(5).collect::<Vec<_>>().into_iter().rev();
            Err(failed(format!(
                "valgrind ended with {}: {}",
                output.status,
                last.collect::<Vec<_>>().join("\n")
            )))
        }
    }
}

fn check_valgrind() -> Outcome {
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::input(
            "--icount counts with valgrind, which is not on PATH; install it (Debian's package is valgrind)",
        )),
        Ok(output) => {
            Err(Failure::input(format!("--icount: valgrind --version ended with {}", output.status)))
        }
        Err(error) => Err(Failure::input(format!("--icount: valgrind --version: {error}"))),
    }
}
