// SPDX-License-Identifier: MIT OR Apache-2.0
//! One run of a compiler as a process: no input, its messages, a limit of time.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::log::TARGET;

/// HIP has no limit. No compilation of the programs that were tried came near to this one.
const SECONDS: u64 = 600;
/// The variable that sets another limit.
const LIMIT: &str = "WINDLASS_RTC_SECONDS";
/// The most bytes of messages that are kept.
const MESSAGES: usize = 4 << 20;

/// A process's result and messages.
pub(crate) struct Ended {
    pub(crate) success: bool,
    pub(crate) messages: String,
}

/// Runs a compiler, and kills it when its time is over. The messages then say so.
pub(crate) fn run(command: &mut Command) -> io::Result<Ended> {
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    // Libraries for the program itself, such as `windlass exec` loads into it.
    for variable in ["LD_PRELOAD", "LD_AUDIT"] {
        command.env_remove(variable);
    }
    own_group(command);
    tracing::debug!(target: TARGET, ?command, "a compiler starts");
    let mut child = command.spawn()?;
    // The command holds its ends of the pipe until they are replaced.
    command.stdout(Stdio::null()).stderr(Stdio::null());

    let limit = limit();
    let (end, ended) = mpsc::channel::<()>();
    let id = child.id();
    let (killed, messages) = std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let late = matches!(ended.recv_timeout(limit), Err(RecvTimeoutError::Timeout));
            if late {
                kill(id);
            }
            late
        });
        let messages = read(reader);
        wait_unreaped(id);
        drop(end);
        (watch.join().unwrap_or(false), messages)
    });
    // A program that ignores SIGCHLD has no status of its children, so the compiler's output decides.
    let success = child.wait().map_or(true, |status| status.success());
    let mut messages = messages?;
    if killed {
        messages.push_str(&format!(
            "error: the compiler had not ended after {} s and was stopped; {LIMIT} sets another limit\n",
            limit.as_secs()
        ));
    }
    Ok(Ended { success: success && !killed, messages })
}

fn limit() -> Duration {
    let seconds = std::env::var(LIMIT).ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(SECONDS))
}

/// Reads all, and keeps the beginning.
fn read(mut reader: impl Read) -> io::Result<String> {
    let mut kept = Vec::new();
    reader.by_ref().take(MESSAGES as u64).read_to_end(&mut kept)?;
    if io::copy(&mut reader, &mut io::sink())? > 0 {
        kept.extend(b"\n(the rest of the messages is left out)\n");
    }
    Ok(String::from_utf8_lossy(&kept).into_owned())
}

/// A compiler starts others, which must be stopped with it.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn own_group(_command: &mut Command) {}

#[cfg(unix)]
fn kill(id: u32) {
    if let Ok(id) = libc::pid_t::try_from(id) {
        // SAFETY: the process has not been reaped, so the number is that of its own group.
        unsafe { libc::kill(-id, libc::SIGKILL) };
    }
}

#[cfg(not(unix))]
fn kill(_id: u32) {}

/// Waits for the end of a child, whose number stays its own.
#[cfg(unix)]
fn wait_unreaped(id: u32) {
    loop {
        // SAFETY: zeroed is a valid siginfo_t, which the call may fill.
        let status = unsafe {
            let mut found = std::mem::zeroed();
            libc::waitid(libc::P_PID, id, &mut found, libc::WEXITED | libc::WNOWAIT)
        };
        if status == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

#[cfg(not(unix))]
fn wait_unreaped(_id: u32) {}
