// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass cts`: the conformance suite over the drivers of this build.

use std::{ffi::OsString, process::ExitCode};

use clap::Args;

/// Options of `cts`: all of them are the runner's.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Cts {
    /// Options of the runner
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

impl Cts {
    /// Runs the suite.
    pub(crate) fn run(self) -> ExitCode {
        let program = OsString::from("windlass cts");
        windlass_cts::run(windlass::registry().clone(), std::iter::once(program).chain(self.options))
    }
}
