// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs cases in child processes, so that a crash or a lasting hang ends one case only.
//!
//! A child is this runner again, over one case, with JSON on its standard output.

use std::{
    collections::VecDeque,
    env,
    ffi::OsString,
    fmt::Write as _,
    io::{self, BufRead, BufReader, Read},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use windlass_hal::DeviceInfo;

use crate::{
    case::Case,
    health::{self, HEALTH},
    interrupt,
    options::Options,
    report::json::{self, Event},
    summary::{Problem, Verdict},
};

use super::bench::Bench;

/// The time for the start of a child, and for its end after its last event.
const GRACE: Duration = Duration::from_secs(10);
/// The bytes of a child's standard error that are kept.
const KEPT: usize = 8192;
/// The lines of a child's standard error that are shown.
const SHOWN: usize = 20;

/// The device under test. Each child opens its own.
pub(crate) struct InChild<'a> {
    options: &'a Options,
    uri: &'a str,
}

impl<'a> InChild<'a> {
    pub(crate) fn new(options: &'a Options, uri: &'a str) -> Self {
        Self { options, uri }
    }

    fn command(&self, limit: Duration) -> io::Result<Command> {
        let program = match &self.options.program[..] {
            [] => vec![OsString::from(env::current_exe()?)],
            given => given.to_vec(),
        };
        let mut command = Command::new(&program[0]);
        // This process holds the device's lock.
        command.args(&program[1..]).args(["--child", "--format", "json", "--device", self.uri]);
        command.args(["--timeout", &limit.as_secs_f64().to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }

    fn finish(mut command: Command, limit: Duration) -> io::Result<Finished> {
        let mut child = command.spawn()?;
        let events = match child.stdout.take() {
            Some(output) => events(output)?,
            None => mpsc::channel().1,
        };
        let errors = child.stderr.take().map(Tail::read).transpose()?;
        // The child itself watches both the opening and the case. It is killed only if its own watchdog fails.
        let deadline = Instant::now() + 2 * limit + GRACE;
        let mut finished = Finished::default();
        let closed = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match events.recv_timeout(left.min(interrupt::PAUSE)) {
                Ok(Event::Opened(info)) => finished.opened = Some(Ok(info)),
                Ok(Event::NotOpened(problem)) => finished.opened = Some(Err(problem)),
                Ok(Event::Case(verdict)) => finished.verdict = Some(verdict),
                // The exit itself is awaited separately, because libraries tear down in it.
                Ok(Event::Ended) => break true,
                Err(RecvTimeoutError::Disconnected) => break true,
                Err(RecvTimeoutError::Timeout) if left.is_zero() || interrupt::signal().is_some() => {
                    break false;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        finished.status = if closed { wait(&mut child, GRACE)? } else { None };
        if finished.status.is_none() {
            child.kill()?;
            // A process whose call into the kernel driver does not return cannot end.
            finished.stuck = wait(&mut child, GRACE)?.is_none();
        }
        if finished.status.is_some_and(asked_to_end) {
            // A terminal asks this process too, perhaps a moment later.
            thread::sleep(interrupt::PAUSE);
        }
        finished.errors = errors.map(Tail::lines).unwrap_or_default();
        Ok(finished)
    }
}

impl Bench for InChild<'_> {
    fn open(&mut self) -> Result<DeviceInfo, Problem> {
        let limit = self.options.timeout;
        let finished = self.command(limit).and_then(|mut command| {
            command.arg("--probe");
            Self::finish(command, limit)
        });
        let finished = finished.map_err(|error| Problem::Broken(format!("a child process: {error}")))?;
        match (finished.trouble(), finished.opened) {
            (_, Some(Err(problem))) => Err(problem),
            (None, Some(Ok(info))) => Ok(info),
            (Some(trouble), _) => Err(Problem::Broken(format!("a process that opens it {trouble}"))),
            (None, None) => Err(Problem::Broken(
                "a process that opens it says nothing: is it this runner, and is its standard output untouched?"
                    .to_owned(),
            )),
        }
    }

    fn attempt(&mut self, case: Case, seed: u64) -> Verdict {
        let limit = health::limit(&case, self.options.timeout);
        let finished = self.command(limit).and_then(|mut command| {
            command.args(["--level", self.options.level.name(), "--seed", &seed.to_string()]);
            if case.name == HEALTH.name {
                command.arg("--health-check");
            } else {
                command.args(["--exact", case.name]);
            }
            Self::finish(command, limit)
        });
        let finished = match finished {
            Ok(finished) => finished,
            Err(error) => return Verdict::Fail(format!("no child process could be run: {error}")),
        };
        match (finished.trouble(), finished.verdict, finished.opened) {
            (Some(trouble), None, _) => Verdict::Fail(format!("its process {trouble}")),
            (Some(trouble), Some(verdict), _) => {
                let seen = verdict.message().map_or(String::new(), |message| format!(": {message}"));
                let verdict = verdict.name();
                Verdict::Fail(format!("its process reported {verdict}{seen}\nand then {trouble}"))
            }
            (None, Some(verdict), _) => verdict,
            (None, None, Some(Err(problem))) => {
                Verdict::Fail(format!("the device could not be opened again: {}", problem.reason()))
            }
            (None, None, _) => Verdict::Fail("its process ended without a result".to_owned()),
        }
    }
}

/// The outcome of a child.
#[derive(Default)]
struct Finished {
    opened: Option<Result<DeviceInfo, Problem>>,
    verdict: Option<Verdict>,
    /// `None` if the child had to be killed.
    status: Option<ExitStatus>,
    /// Whether it could not be killed.
    stuck: bool,
    errors: Vec<String>,
}

impl Finished {
    /// The abnormal end of the child, with the last lines of its standard error. `None` for a normal end.
    fn trouble(&self) -> Option<String> {
        let mut trouble = match self.status {
            None if self.stuck => {
                "hung, and cannot be killed: a call into the kernel does not return".to_owned()
            }
            None => "hung, and was killed".to_owned(),
            // Events report a failed case, an absent device and a skipped case already.
            Some(status) if status.code().is_some_and(|code| [0, 1, 4].contains(&code)) => return None,
            Some(status) if self.opened.as_ref().is_some_and(Result::is_err) && status.code().is_some() => {
                return None;
            }
            Some(status) => died(status),
        };
        if !self.errors.is_empty() {
            trouble.push_str("; the end of its standard error:");
        }
        for line in &self.errors {
            let _ = write!(trouble, "\n  {line}");
        }
        Some(trouble)
    }
}

/// Whether a child ended by a signal that terminals and administrators send.
fn asked_to_end(status: ExitStatus) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        status.signal().is_some_and(|signal| [libc::SIGHUP, libc::SIGINT, libc::SIGTERM].contains(&signal))
    }
    #[cfg(not(unix))]
    {
        let _ = status;
        false
    }
}

#[cfg(unix)]
fn died(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;

    /// The signals of crashes, and those that administrators send.
    const SIGNALS: [(i32, &str); 13] = [
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGSYS, "SIGSYS"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGTRAP, "SIGTRAP"),
    ];
    match status.signal() {
        None => format!("ended with {status}"),
        Some(number) => match SIGNALS.iter().find(|(known, _)| *known == number) {
            Some((_, name)) => format!("died of {name}"),
            None => format!("died of signal {number}"),
        },
    }
}

#[cfg(not(unix))]
fn died(status: ExitStatus) -> String {
    format!("ended with {status}")
}

/// Waits for the end of a child. `None` if the time limit passes first.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        let status = child.try_wait()?;
        if status.is_some() || Instant::now() >= deadline {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The events that a child writes, until it closes its output.
fn events(output: impl Read + Send + 'static) -> io::Result<Receiver<Event>> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().name("cts stdout".to_owned()).spawn(move || {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            if let Some(event) = str::from_utf8(&line).ok().and_then(json::read) {
                // Events without a receiver must still be read, or the child's pipe would fill.
                let _ = sender.send(event);
            }
        }
    })?;
    Ok(receiver)
}

/// The last bytes that a child writes to standard error.
struct Tail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    closed: Receiver<()>,
}

impl Tail {
    fn read(mut output: impl Read + Send + 'static) -> io::Result<Self> {
        let bytes = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, closed) = mpsc::channel();
        let shared = Arc::clone(&bytes);
        thread::Builder::new().name("cts stderr".to_owned()).spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut chunk) {
                let mut bytes = shared.lock().unwrap_or_else(PoisonError::into_inner);
                bytes.extend(&chunk[..read]);
                let excess = bytes.len().saturating_sub(KEPT);
                bytes.drain(..excess);
            }
            let _ = sender.send(());
        })?;
        Ok(Self { bytes, closed })
    }

    /// The last lines, once the child has ended. Does not wait for processes that the child left behind, which may
    /// keep the pipe open.
    fn lines(self) -> Vec<String> {
        let _ = self.closed.recv_timeout(Duration::from_secs(1));
        let bytes: Vec<u8> =
            self.bytes.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> = text.lines().map(|line| line.trim_end().to_owned()).collect();
        lines[lines.len().saturating_sub(SHOWN)..].to_vec()
    }
}
