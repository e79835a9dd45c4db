// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass cts`: the conformance suite over the drivers of this build.

use std::{ffi::OsString, process::ExitCode};

use clap::Args;
use windlass_cts::Harness;

/// Options of `cts`, all of which are the runner's.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Cts {
    /// Options of the runner
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

impl Cts {
    /// The run that prints the runner's help.
    pub(crate) fn help() -> Self {
        Self { options: vec!["--help".into()] }
    }

    /// Runs the suite.
    pub(crate) fn run(self) -> ExitCode {
        let kernels = [
            #[cfg(feature = "local")]
            windlass_cts::Kernels::new(windlass_local::FORMAT, windlass_local::conformance::find),
        ];
        let mut harness = Harness::new(windlass::registry().clone())
            .kernels(&kernels)
            .provenance(format!("windlass {}", windlass::build_info::PROVENANCE));
        if let Ok(words) = super::started::words() {
            harness = harness.program(words.into_iter().chain(["cts".into()]));
        }
        let code = harness.run(std::iter::once("windlass cts".into()).chain(self.options));
        #[cfg(feature = "sim")]
        {
            let schedules = windlass_simulator::schedules();
            if schedules.runs > 0 {
                super::failure::note(&format!("windlass cts: {schedules} of the simulated GPU"));
            }
        }
        code
    }
}
