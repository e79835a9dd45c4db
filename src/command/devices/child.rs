// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process for each driver: a call into HIP that hangs, even in the kernel, keeps only that process.
//!
//! The process is this command again. It writes a line of JSON for each HIP call before it makes the call, and for each
//! result.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use tracing::{Event, Level, Subscriber, field::Visit};
use tracing_subscriber::{Layer, layer::Context};
use windlass::driver::Driver;

use super::{
    check::check,
    look,
    report::{Check, DriverReport, Stopped},
};
use crate::command::started;

/// A line of a driver's process.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// A HIP call begins.
    Call(String),
    /// The devices.
    Listed(DriverReport),
    /// The result of the check of the next device in the list.
    Checked(Check),
}

fn say(line: &Line) {
    // The command reads each line, unless it has given this process up.
    if let Ok(text) = serde_json::to_string(line) {
        let _ = writeln!(io::stdout().lock(), "{text}");
    }
}

/// Tells the command of each HIP call.
pub(crate) struct Calls;

impl<S: Subscriber> Layer<S> for Calls {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        struct Message(Option<String>);
        impl Visit for Message {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                if field.name() == "message" {
                    self.0 = Some(format!("{value:?}"));
                }
            }
        }
        if *event.metadata().level() == Level::TRACE {
            let mut message = Message(None);
            event.record(&mut message);
            message.0.into_iter().for_each(|call| say(&Line::Call(call)));
        }
    }
}

/// The work of a driver's process.
pub(super) fn answer(driver: &dyn Driver, checks: bool) {
    let report = look(driver);
    let uris: Vec<_> = report.devices.iter().map(|device| device.uri.clone()).collect();
    say(&Line::Listed(report));
    for uri in uris.iter().filter(|_| checks) {
        say(&Line::Checked(check(uri)));
    }
}

/// A driver's process.
pub(super) struct Answers {
    report: DriverReport,
    checks: bool,
    running: io::Result<(Child, Receiver<(Instant, Line)>)>,
    started: Instant,
}

impl Answers {
    /// Starts the process of a driver.
    pub(super) fn start(driver: &dyn Driver, checks: bool) -> Self {
        let report = DriverReport {
            scheme: driver.scheme().to_owned(),
            description: driver.description(),
            devices: Vec::new(),
            problem: None,
            stopped: None,
        };
        let running = spawn(&report.scheme, checks);
        Self { report, checks, running, started: Instant::now() }
    }

    /// Reads the answers. The devices, and then each check, may take as long as the limit.
    pub(super) fn read(self, limit: Duration) -> DriverReport {
        let Self { mut report, checks, running, started } = self;
        let (mut child, lines) = match running {
            Ok(running) => running,
            Err(error) => {
                report.problem = Some(format!("no process for it could be started: {error}"));
                report.stopped = Some(Stopped::Died);
                return report;
            }
        };
        let (mut since, mut call, mut listed, mut checked) = (started, None, false, 0);
        let is_done = |listed, checked, devices| listed && (!checks || checked == devices);
        while !is_done(listed, checked, report.devices.len()) {
            let left = (since + limit).saturating_duration_since(Instant::now());
            let (stopped, end) = match lines.recv_timeout(left) {
                Ok((_, Line::Call(text))) => {
                    call = Some(text);
                    continue;
                }
                Ok((at, Line::Listed(answer))) => {
                    (report, since, listed, call) = (answer, at, true, None);
                    continue;
                }
                Ok((at, Line::Checked(check))) => {
                    if let Some(device) = report.devices.get_mut(checked) {
                        device.check = Some(check);
                    }
                    (since, checked, call) = (at, checked + 1, None);
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {
                    let end = format!("no answer within {} s", limit.as_secs_f64());
                    (Stopped::Hung, end)
                }
                Err(RecvTimeoutError::Disconnected) => (Stopped::Died, died(&mut child)),
            };
            // A process that the kernel does not let go is left behind.
            let _ = child.kill();
            let place = match report.devices.get(checked).filter(|_| listed) {
                Some(device) => format!("the check of {}: ", device.uri),
                None => String::new(),
            };
            report.problem = Some(format!("{place}{end}{}", last(call.as_deref(), stopped)));
            report.stopped = Some(stopped);
            return report;
        }
        let _ = child.wait();
        report
    }
}

/// What a process did last, and advice.
fn last(call: Option<&str>, stopped: Stopped) -> String {
    match (call, stopped) {
        (Some(call), Stopped::Hung) => {
            format!(
                ": {call} does not return; the kernel's log may say why (`dmesg`), and --timeout waits longer"
            )
        }
        (Some(call), Stopped::Died) => format!("; its last HIP call was {call}"),
        (None, Stopped::Hung) => {
            ", and no HIP call was made: the library does not load, or the machine is busy; \
                                  --timeout waits longer"
                .to_owned()
        }
        (None, Stopped::Died) => ", before a HIP call".to_owned(),
    }
}

fn died(child: &mut Child) -> String {
    match child.wait() {
        Ok(status) => format!("its process ended with {status}"),
        Err(error) => format!("its process ended ({error})"),
    }
}

fn spawn(scheme: &str, checks: bool) -> io::Result<(Child, Receiver<(Instant, Line)>)> {
    let words = started::words()?;
    let (program, options) = words.split_first().ok_or_else(|| io::Error::other("it has no name"))?;
    let mut command = Command::new(program);
    command.args(options).args(["devices", "--driver", scheme]).args(checks.then_some("--check"));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().ok_or_else(|| io::Error::other("it has no output"))?;
    let lines = read(output)?;
    Ok((child, lines))
}

/// The lines of a process with their times. Other text on the same output, such as a vendor's library writes, is left out.
fn read(output: impl Read + Send + 'static) -> io::Result<Receiver<(Instant, Line)>> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().name("devices".to_owned()).spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let start = line.iter().position(|byte| *byte == b'{').unwrap_or(line.len());
            if let Ok(line) = serde_json::from_slice(&line[start..]) {
                // Lines without a receiver must still be read, or the pipe would fill.
                let _ = sender.send((Instant::now(), line));
            }
        }
    })?;
    Ok(receiver)
}
