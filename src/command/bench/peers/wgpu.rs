// SPDX-License-Identifier: MIT OR Apache-2.0
//! wgpu as a peer: its core with its backend that does nothing, beside Windlass over a HIP that does nothing.

use std::{path::PathBuf, process::Command, time::Duration};

use super::{program, ready::Ready};
use crate::command::{
    bench::{
        row::Row,
        shape::Shape,
        stop::{Stop, Work},
        target::Target,
    },
    started,
};

/// The program of `benches/wgpu_peer`.
const PROGRAM: &str = "windlass-wgpu-peer";
/// Advice for a machine without it.
const INSTALL: &str = "cargo install --path benches/wgpu_peer";

/// wgpu for a row; `None` for rows other than recording, submitting and completing once.
pub(super) fn prepare(row: &Row, target: &Target) -> Option<Work<Box<dyn Ready>>> {
    let shape = row.shape.filter(|shape| row.name.starts_with("dispatch/oneshot") && !shape.by_table)?;
    Some(ready(shape, target))
}

fn ready(shape: Shape, target: &Target) -> Work<Box<dyn Ready>> {
    if target.runs_kernels {
        return Err(Stop::Lacks(
            "wgpu's backend that does nothing is the peer of a HIP that runs no kernel: hip-null://"
                .to_owned(),
        ));
    }
    let ready = Oneshot { program: find(), shape };
    match Command::new(&ready.program).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(Box::new(ready)),
        _ => Err(Stop::Lacks(format!(
            "{PROGRAM} is neither on PATH nor beside this command; install it with {INSTALL}"
        ))),
    }
}

/// The program beside this command, else the name, which the system looks for on PATH.
fn find() -> PathBuf {
    let words = started::words().unwrap_or_default();
    let beside = words.last().map(|command| PathBuf::from(command).with_file_name(PROGRAM));
    beside.filter(|path| path.exists()).unwrap_or_else(|| PROGRAM.into())
}

/// A command encoder with a pass of N dispatches, finished and submitted.
struct Oneshot {
    program: PathBuf,
    shape: Shape,
}

impl Ready for Oneshot {
    fn name(&self) -> String {
        "wgpu noop: encode, finish, submit".to_owned()
    }

    /// The program prints nanoseconds for each dispatch.
    fn sample(&self, time: Duration) -> Work<f64> {
        let mut command = Command::new(&self.program);
        let numbers = [self.shape.bindings.into(), self.shape.n.into(), time.as_millis().max(10)];
        command.args(numbers.map(|number| number.to_string()));
        let said = program::output(&mut command)?;
        said.trim().parse().map_err(|_| Stop::Failed(format!("{PROGRAM} printed no time: {}", said.trim())))
    }
}
