// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process of this command: a call into HIP that hangs, even in the kernel, keeps only that process, and so does a
//! library that aborts.
//!
//! The process writes lines of JSON on its standard output. One that was asked for answers also tells each HIP call
//! before it makes the call.

use std::{
    collections::VecDeque,
    ffi::OsStr,
    io::{self, BufRead, BufReader, Read, Write},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tracing::{Event, Level, Subscriber, field::Visit};
use tracing_subscriber::{Layer, layer::Context};

use super::started;

/// The lines of standard error that are kept.
const KEPT_LINES: usize = 24;
/// The time for the rest of standard error to arrive after the end of a process.
const REST: Duration = Duration::from_millis(500);

/// The time for a process to end behind its last answer.
const END: Duration = Duration::from_secs(5);

/// How a process ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stopped {
    /// It did not answer in time.
    Hung,
    /// It ended by itself, or could not be started.
    Died,
}

/// A line of a process that was asked for answers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line<A> {
    /// A HIP call begins.
    Call(String),
    /// An answer.
    Answer(A),
}

/// Tells an answer to the process that asked.
pub(crate) fn say<A: Serialize>(line: &Line<A>) {
    // The asking process reads each line, unless it has given this process up.
    if let Ok(text) = serde_json::to_string(line) {
        let _ = writeln!(io::stdout().lock(), "{text}");
    }
}

/// Tells each HIP call of the main thread, which does the work that was asked for. Threads of the driver make calls
/// beside it, such as the last of a stream, and those return.
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
        if *event.metadata().level() == Level::TRACE && thread::current().name() == Some("main") {
            let mut message = Message(None);
            event.record(&mut message);
            message.0.into_iter().for_each(|call| say::<()>(&Line::Call(call)));
        }
    }
}

/// The use of the standard error of a process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Errors {
    /// It is that of this process.
    Shown,
    /// Its last lines are kept.
    Kept,
    /// Its last lines are kept, and it traces each HIP call there.
    Traced,
}

/// A process of this command, and its lines of JSON.
pub(crate) struct Process<T> {
    child: Child,
    lines: Receiver<(Instant, T)>,
    errors: Option<Kept>,
}

impl<T: DeserializeOwned + Send + 'static> Process<T> {
    /// Starts this command with arguments.
    pub(crate) fn start<S: AsRef<OsStr>>(
        arguments: impl IntoIterator<Item = S>,
        errors: Errors,
    ) -> io::Result<Self> {
        let words = started::words()?;
        let (program, options) = words.split_first().ok_or_else(|| io::Error::other("it has no name"))?;
        let mut command = Command::new(program);
        command.args(options).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        if errors != Errors::Shown {
            command.stderr(Stdio::piped());
        }
        if errors == Errors::Traced {
            command.env("WINDLASS_LOG", "windlass::hip=trace");
        }
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or_else(|| io::Error::other("it has no output"))?;
        let lines = read(output)?;
        let errors = child.stderr.take().map(Kept::read).transpose()?;
        Ok(Self { child, lines, errors })
    }

    /// The next line and the time at which it came. [`Stopped::Died`] also after the last line of a process that did all
    /// its work.
    pub(crate) fn next(&mut self, until: Instant) -> Result<(Instant, T), Stopped> {
        let left = until.saturating_duration_since(Instant::now());
        self.lines.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => Stopped::Hung,
            RecvTimeoutError::Disconnected => Stopped::Died,
        })
    }

    /// Ends the process. One that the kernel does not let go is left behind.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
    }

    /// Waits for the end of a process whose output has ended.
    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }

    /// The end of a process whose output has ended, in words.
    pub(crate) fn end(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => format!("its process ended with {status}"),
            Err(error) => format!("its process ended ({error})"),
        }
    }

    /// The last lines of standard error, if they are kept.
    pub(crate) fn errors(&self) -> String {
        self.errors.as_ref().map(Kept::text).unwrap_or_default()
    }
}

/// The lines of a process with their times. Other text on the same output, such as a vendor's library writes, is left out.
fn read<T: DeserializeOwned + Send + 'static>(
    output: impl Read + Send + 'static,
) -> io::Result<Receiver<(Instant, T)>> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().name("answers".to_owned()).spawn(move || {
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

/// The last lines of a standard error.
struct Kept {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Disconnected at the end.
    over: Receiver<()>,
}

impl Kept {
    fn read(errors: impl Read + Send + 'static) -> io::Result<Self> {
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let (at_end, over) = mpsc::channel();
        let kept = lines.clone();
        thread::Builder::new().name("errors".to_owned()).spawn(move || {
            for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() == KEPT_LINES {
                    kept.pop_front();
                }
                kept.push_back(String::from_utf8_lossy(&line).into_owned());
            }
            drop::<mpsc::Sender<()>>(at_end);
        })?;
        Ok(Self { lines, over })
    }

    fn text(&self) -> String {
        let _ = self.over.recv_timeout(REST);
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// A process that was asked for answers.
pub(crate) struct Asked<A> {
    process: Process<Line<A>>,
    /// The last HIP call since the last answer.
    call: Option<String>,
}

/// Why there is no answer.
pub(crate) struct Silence {
    pub(crate) stopped: Stopped,
    /// The end of the process and its last HIP call, in words.
    pub(crate) message: String,
}

impl<A: DeserializeOwned + Send + 'static> Asked<A> {
    /// Starts this command with arguments.
    pub(crate) fn start<S: AsRef<OsStr>>(
        arguments: impl IntoIterator<Item = S>,
        errors: Errors,
    ) -> io::Result<Self> {
        Ok(Self { process: Process::start(arguments, errors)?, call: None })
    }

    /// The next answer, which must come within `limit` after `since`, and the time at which it came. `longer` says how to
    /// wait longer.
    pub(crate) fn answer(
        &mut self,
        since: Instant,
        limit: Duration,
        longer: &str,
    ) -> Result<(Instant, A), Silence> {
        loop {
            let (stopped, end) = match self.process.next(since + limit) {
                Ok((_, Line::Call(call))) => {
                    self.call = Some(call);
                    continue;
                }
                Ok((at, Line::Answer(answer))) => {
                    self.call = None;
                    return Ok((at, answer));
                }
                Err(Stopped::Hung) => (Stopped::Hung, format!("no answer within {} s", limit.as_secs_f64())),
                Err(Stopped::Died) => (Stopped::Died, self.process.end()),
            };
            self.process.kill();
            let message = format!("{end}{}", last(self.call.as_deref(), stopped, longer));
            return Err(Silence { stopped, message });
        }
    }

    /// Waits for the end of a process that has given its last answer. A library may hang where the process ends, so the
    /// wait is short, and the process is ended then.
    pub(crate) fn finish(mut self) {
        let until = Instant::now() + END;
        while let Ok(None) = self.process.child.try_wait() {
            if Instant::now() > until {
                self.process.kill();
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// The last lines of standard error, if they are kept.
    pub(crate) fn errors(&self) -> String {
        self.process.errors()
    }
}

/// The last act of a process, and advice.
fn last(call: Option<&str>, stopped: Stopped, longer: &str) -> String {
    match (call, stopped) {
        (Some(call), Stopped::Hung) => {
            format!(": {call} does not return; the kernel's log may say why (`dmesg`), and {longer}")
        }
        (Some(call), Stopped::Died) => format!("; its last HIP call was {call}"),
        (None, Stopped::Hung) => {
            format!(", and no HIP call was made: the library does not load, or the machine is busy; {longer}")
        }
        (None, Stopped::Died) => ", before a HIP call".to_owned(),
    }
}
