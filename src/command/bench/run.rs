// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run: every chosen row on every chosen device. A row that fails ends alone, and the others go on.

use std::time::Duration;

use super::{
    environment::{DeviceFacts, Machine},
    icount,
    interrupt::Interrupt,
    options::Options,
    peers::Peers,
    report::Report,
    result::{RowResult, Status},
    row::{Prepared, Row},
    sample::{self, Plan, Reference, Statistics},
    stop::{Stop, Work},
    target::Target,
};
use crate::command::{
    failure::{Failure, Outcome},
    input,
    progress::Progress,
};

/// Measures, or lists.
pub(super) fn run(options: &Options) -> Outcome {
    let (rows, uris) = (options.rows()?, options.devices()?);
    if options.list {
        return options.write_list(&rows);
    }
    if options.icount {
        return icount::run(options, &rows, &uris);
    }
    options.cpus.apply()?;
    // A mistake in the last URI must not cost the rows of the others.
    for uri in &uris {
        if let Err(failure) = crate::open(uri).map_err(|error| Failure::open(uri, &error))
            && !failure.is_absent()
        {
            return Err(failure.during(options.origin(uri)));
        }
    }
    let width =
        rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0) + Peers::longest(&options.peers);
    let mut run = Run {
        plan: options.plan(),
        interrupt: Interrupt::new(),
        report: Report::new(options.format, Machine::now(), width)?,
        absent: None,
    };
    let peers = Peers::new(&options.peers, &options.python, options.plan());
    let total = uris.iter().map(|uri| rows.iter().filter(|row| row.is_for(uri)).count()).sum::<usize>();
    let progress = Progress::new("measuring", total.max(2) as u64);
    for uri in &uris {
        if !run.interrupt.has_come() {
            run.device(uri, &rows, &peers, &progress)?;
        }
    }
    drop(progress);
    run.report.finish()?;
    run.verdict(options.require)
}

/// A run in progress.
struct Run {
    plan: Plan,
    interrupt: Interrupt,
    report: Report,
    /// Why the first absent device is absent.
    absent: Option<String>,
}

impl Run {
    /// The rows of a device.
    fn device(&mut self, uri: &str, rows: &[Row], peers: &Peers, progress: &Progress) -> Outcome {
        let mut target = match Target::open(uri) {
            Ok(target) => target,
            Err(error) => {
                let failure = Failure::open(uri, &error);
                if !failure.is_absent() {
                    return Err(failure);
                }
                self.absent.get_or_insert_with(|| format!("{uri}: {error}"));
                return progress.aside(|| self.report.row(RowResult::absent(uri, &error)));
            }
        };
        progress.aside(|| self.report.device(DeviceFacts::of(&target)))?;
        for row in rows.iter().filter(|row| row.is_for(uri)) {
            if self.interrupt.has_come() {
                break;
            }
            progress.say(format!("{uri}: {}", row.name));
            let results = self.row(row, &target, peers);
            let has_failed = results.iter().any(|result| result.status == Status::Failed);
            progress.aside(|| results.into_iter().try_for_each(|result| self.report.row(result)))?;
            progress.advance();
            // A failure may have cost the device.
            if has_failed && let Ok(anew) = Target::open(uri) {
                target = anew;
            }
        }
        Ok(())
    }

    /// A row, and its comparisons with peers. Nothing if it was interrupted.
    fn row(&self, row: &Row, target: &Target, peers: &Peers) -> Vec<RowResult> {
        let mut results = Vec::new();
        match self.measure(row, target) {
            Ok((host, floor)) => results.push(RowResult::of(row, target, Some(host), floor)),
            Err(Stop::Interrupted) => return results,
            // Ctrl-C also ends the processes that a row starts.
            Err(_) if self.interrupt.has_come() => return results,
            Err(stop) => results.push(RowResult::stopped(row, target, stop)),
        }
        if results.iter().all(|result| result.status == Status::Measured) {
            results.extend(peers.rows(row, target, &self.interrupt));
        }
        results
    }

    fn measure(&self, row: &Row, target: &Target) -> Work<(Statistics, Option<Reference>)> {
        match row.prepare(target)? {
            Prepared::Timed(mut subject, mut floor) => {
                let batch = if row.long { Duration::ZERO } else { self.plan.batch };
                let plan = Plan { batch, ..self.plan };
                sample::take(&plan, &self.interrupt, row.items, &mut subject, floor.as_mut())
            }
            Prepared::Exact(value) => {
                let exact = Statistics { n: 1, batch: 1, min: value, median: value, p99: value, mad: 0.0 };
                Ok((exact, None))
            }
        }
    }

    /// The exit code.
    fn verdict(self, is_required: bool) -> Outcome {
        let failed: Vec<_> = self.report.with(Status::Failed).map(RowResult::full_name).collect();
        if self.interrupt.has_come() {
            let done = self.report.with(Status::Measured).count();
            return Err(Failure::failed(format!(
                "interrupted after {}",
                input::count(done, "measured row", "measured rows")
            )));
        }
        if !failed.is_empty() {
            let count = input::count(failed.len(), "row", "rows");
            return Err(Failure::failed(format!("{count} failed: {}", failed.join(", "))));
        }
        match self.absent {
            Some(reason) if is_required => Err(Failure::absent(reason)),
            _ => Ok(()),
        }
    }
}
