// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of the start: opening a device, and a whole process up to its first dispatch.

use std::{
    hint::black_box,
    process::{Command, Stdio},
};

use crate::Feature;

use crate::command::{
    bench::{
        row::{Prepared, Row},
        stop::{Stop, Work},
        subject::{Floor, whole},
        target::Target,
    },
    started,
};

/// The name of a row that does nothing.
pub(crate) const NOTHING: &str = "nothing";
/// The row of a process up to its first dispatch.
const FIRST: &str = "dispatch/oneshot bindings=2 n=1 form=direct";

pub(super) fn add(rows: &mut Vec<Row>) {
    // Threads start and end.
    rows.push(Row::new("start/open-device", (1, "device"), open).uncounted());
    let process = Row::new("start/process-to-first-dispatch", (1, "process"), process);
    rows.push(process.needs(&[Feature::Dispatch]).uncounted());
}

/// Opening another device of the same URI, and closing it.
fn open(target: &Target) -> Work<Prepared> {
    let uri = target.uri.clone();
    let subject = whole(move || {
        drop(black_box(crate::open(&uri)?));
        Ok(())
    });
    Ok(Prepared::Timed(subject, None))
}

/// A process that opens the device, loads the kernel, dispatches it and waits. The floor is a process of the same program
/// that ends at once.
fn process(target: &Target) -> Work<Prepared> {
    let uri = target.uri.clone();
    let own = whole(move || run(&uri, FIRST));
    let floor = whole(|| run("", NOTHING));
    Ok(Prepared::Timed(own, Some(Floor::new("a process that does nothing", 1, floor))))
}

fn run(uri: &str, row: &str) -> Work {
    let failed = |error: String| Stop::Failed(format!("starting this program again: {error}"));
    let words = started::words().map_err(|error| failed(error.to_string()))?;
    let Some((program, before)) = words.split_first() else {
        return Err(failed("it has no name".to_owned()));
    };
    let mut command = Command::new(program);
    command.args(before).args(["bench", "once", "--rounds", "1", "--device", uri, row]);
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Stop::Failed(format!("the process ended with {}: {}", output.status, said.trim())))
}
