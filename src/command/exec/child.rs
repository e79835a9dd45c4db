// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a program to its end and passes signals on.

use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::{Command, ExitStatus},
    sync::{Mutex, PoisonError},
    thread,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    iterator::{SignalsInfo, exfiltrator::WithRawSiginfo},
    low_level::signal_name,
};

/// How the program ended.
pub(super) struct Ending(ExitStatus);

impl Ending {
    /// The exit code; for a signal 128 plus its number, as shells report it.
    pub(super) fn code(&self) -> u8 {
        let code = self.0.code().or_else(|| self.0.signal().map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
    }

    /// The signal that ended it.
    pub(super) fn signal(&self) -> Option<String> {
        let signal = self.0.signal()?;
        Some(signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned))
    }
}

/// Starts the program and waits for its end. Signals that ask for the end are passed on, so that the program ends first.
/// SIGINT and SIGQUIT of a terminal are not, because the program gets them from the terminal.
pub(super) fn run(command: &mut Command) -> io::Result<Ending> {
    // Before the start, so that a signal in between does not leave the program behind.
    let mut signals = SignalsInfo::<WithRawSiginfo>::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let running = Mutex::new(true);
    let handle = signals.handle();
    let status = thread::scope(|scope| {
        scope.spawn(|| {
            for info in signals.forever() {
                // The kernel's own signals have a positive code.
                let is_of_a_process = info.si_code <= 0;
                let signal = match info.si_signo {
                    SIGTERM => Signal::TERM,
                    SIGHUP => Signal::HUP,
                    SIGINT if is_of_a_process => Signal::INT,
                    SIGQUIT if is_of_a_process => Signal::QUIT,
                    _ => continue,
                };
                if *running.lock().unwrap_or_else(PoisonError::into_inner) {
                    // The program may have ended already.
                    let _ = kill_process(pid, signal);
                }
            }
        });
        // The program stays a zombie until the other thread stops sending signals, so its process id is not reused
        // before.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        *running.lock().unwrap_or_else(PoisonError::into_inner) = false;
        let status = child.wait();
        handle.close();
        status
    });
    status.map(Ending)
}
