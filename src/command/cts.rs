// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass cts`: the conformance suite over the drivers of this build.

use std::{ffi::OsString, process::ExitCode};

use clap::Args;
use windlass_cts::{ChosenDevice, Harness};

use super::{
    devices, escape,
    failure::{self, Failure, Outcome},
};

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
        if let Err(failure) = self.check_variable() {
            return failure::report(Err(failure));
        }
        let kernels = [
            #[cfg(feature = "local")]
            windlass_cts::Kernels::new(windlass_local::FORMAT, windlass_local::conformance::find),
        ];
        let mut harness = Harness::new(crate::registry().clone())
            .kernels(&kernels)
            .must_run()
            .choose_device(if self.options.iter().any(|word| word == "--real") {
                real_device
            } else {
                choose_device
            })
            .provenance(format!("windlass {}", crate::build_info::PROVENANCE));
        if let Ok(words) = super::started::words() {
            harness = harness.program(words.into_iter().chain(["cts".into()]));
        }
        let code = harness.run(std::iter::once("windlass cts".into()).chain(self.options));
        #[cfg(feature = "sim")]
        {
            let schedules = windlass_simulator::schedules();
            if schedules.runs > 0 {
                failure::note(&format!("windlass cts: {schedules} of the simulated GPU"));
            }
        }
        code
    }

    /// The suite of one driver passes over a variable that names another. This command has all drivers, so a device that
    /// none of them has is a mistake.
    fn check_variable(&self) -> Outcome {
        let names_device = |word: &OsString| word.to_string_lossy().starts_with("--device");
        let Some(uri) = std::env::var_os(crate::DEVICE_VARIABLE).filter(|uri| !uri.is_empty()) else {
            return Ok(());
        };
        let uri = uri.to_string_lossy();
        // A comparison opens no device.
        if self.options.first().is_some_and(|word| word == "compare") {
            return Ok(());
        }
        if self.options.iter().any(names_device) || uri.starts_with("shuffle://") {
            return Ok(());
        }
        let scheme = uri.split_once("://").map_or(&*uri, |(scheme, _)| scheme);
        crate::registry().driver(scheme).map(drop).map_err(|error| {
            Failure::input(format!("{}={}: {error}", crate::DEVICE_VARIABLE, escape::line(&uri)))
        })
    }
}

/// The first real GPU.
fn real_device() -> ChosenDevice {
    ChosenDevice { uri: format!("{}://", crate::REAL_SCHEME), reason: None }
}

/// The first real GPU, else the simulated one.
fn choose_device() -> ChosenDevice {
    let (uri, problem) = devices::default_device();
    let reason = problem.map(|problem| {
        format!(
            "no real GPU ({problem}; `windlass devices` says more): running on {uri}, simulated; --device names another"
        )
    });
    if let Some(reason) = &reason {
        failure::note(&format!("windlass cts: {reason}"));
    }
    ChosenDevice { uri, reason }
}
