// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass run`: one kernel of a file, with arguments from the command line.

mod choice;
mod compare;
mod generate;
mod kernel;
mod launch;
mod npy;
mod profile;
mod spec;
mod trace;

use std::{
    path::PathBuf,
    str::FromStr,
    time::{Duration, Instant},
};

use crate::{Device, DispatchConfig, Literal};
use clap::Args;
use windlass_codeobject::Options;

use self::{compare::Tolerance, launch::Launch, profile::Profile, spec::Spec, trace::Trace};
use super::{
    escape, executes,
    failure::{Failure, Outcome, Stage, note},
    input, output,
    progress::Progress,
};

/// Options of `run`.
#[derive(Args)]
#[command(after_long_help = format!(
    "An argument is one of\n{}\n\n\
     random:SEED draws from SplitMix64: floats from [0, 1), integers from 0 to 99, the same on every machine.\n\n\
     Without --device the one in WINDLASS_DEVICE serves, else the first real GPU, else a simulated one.",
    spec::FORMS
))]
pub(crate) struct Run {
    /// A code object, a fat binary (compressed or not), a host object, library or executable with one, an archive of
    /// objects, a kpack archive, a module of IREE, or a wheel with any of these
    file: PathBuf,
    /// The kernel; optional if the file has only one
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// The device, such as hip://0 or hip-sim://gfx942
    #[arg(long, value_name = "URI")]
    device: Option<String>,
    /// The number of workgroups
    #[arg(long, value_name = "X[,Y[,Z]]")]
    grid: Extent,
    /// The work-items of a workgroup; optional if the code object fixes it
    #[arg(long, value_name = "X[,Y[,Z]]")]
    block: Option<Extent>,
    /// Dynamic local memory (LDS) in bytes, in addition to the kernel's own
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    lds: u32,
    /// An argument of the kernel; once for each explicit parameter, in order (see --help)
    #[arg(long = "arg", value_name = "SPEC", allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// Print the contents of argument I, counted from 0, up to 1024 elements
    #[arg(long, value_name = "I")]
    print: Vec<usize>,
    /// Write the contents of argument I to a file: .npy, or raw bytes for .bin
    #[arg(long, value_name = "I=FILE")]
    out: Vec<Indexed>,
    /// Fail with exit code 1 unless argument I holds this afterwards; spelled like an argument
    #[arg(long, value_name = "I=SPEC")]
    expect: Vec<Indexed>,
    /// The tolerance of --expect: REL * |expected| + ABS [default: integers exact; f64 1e-7,1e-7; f32 1.3e-6,1e-5; f16
    /// 1e-3,1e-5; bf16 1.6e-2,1e-5]
    #[arg(long, value_name = "REL,ABS", allow_hyphen_values = true)]
    tolerance: Option<Tolerance>,
    /// Run this many times, each from the same contents, and check each; times go to standard error
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
    /// Write a timeline of the queues as JSON for https://ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write a profile with times of the device as JSON for https://ui.perfetto.dev, and statistics to standard error
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
}

/// Up to three sizes; omitted sizes are 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Extent([u32; 3]);

impl FromStr for Extent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = [1; 3];
        let parts: Vec<_> = text.split(',').collect();
        if parts.len() > sizes.len() {
            return Err(format!("{} numbers; write X, X,Y or X,Y,Z", parts.len()));
        }
        for (size, part) in sizes.iter_mut().zip(parts) {
            *size = part.parse().ok().filter(|size| *size > 0).ok_or_else(|| {
                format!("`{part}` is no size; write X, X,Y or X,Y,Z with whole numbers from 1 on")
            })?;
        }
        Ok(Self(sizes))
    }
}

/// `I=TEXT`: the number of an argument, and a text for it.
#[derive(Clone, Debug, PartialEq)]
struct Indexed {
    index: usize,
    text: String,
}

impl FromStr for Indexed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (index, rest) =
            text.split_once('=').ok_or("write I= in front, the number of an argument, from 0")?;
        let index =
            index.parse().map_err(|_| format!("`{index}` is no number of an argument; they count from 0"))?;
        Ok(Self { index, text: rest.to_owned() })
    }
}

impl Run {
    /// Runs the kernel.
    pub(crate) fn run(self) -> Outcome {
        let arguments = self.arguments.iter().enumerate().map(|(index, text)| {
            Spec::parse(text).map_err(|failure| failure.during(format!("--arg {index}")))
        });
        let arguments = arguments.collect::<Outcome<Vec<_>>>()?;
        let expected = self.expect.iter().map(|Indexed { index, text }| {
            let literal =
                Spec::parse_expected(text).map_err(|failure| failure.during(format!("--expect {index}")))?;
            Ok((*index, literal))
        });
        let expected = expected.collect::<Outcome<Vec<_>>>()?;
        self.check_indices(&arguments)?;

        let input = input::open(&self.file)?;
        let parsed = input.file(&Options::default());
        let device = choice::open(self.device.as_deref(), &self.file, parsed.as_ref())?;
        if let Some(reason) = executes::nothing(device.info()) {
            return Err(Failure::nothing(format!(
                "nothing ran: {reason}; `windlass devices --check` shows the devices that run kernels, and --device names one"
            )));
        }
        if let (Err(error), true) = (&parsed, input::agent(device.info()).is_some()) {
            return Err(Failure::input(format!("{}: {error}", escape::path(&self.file))));
        }
        let profile = self.profile.as_ref().map(|_| Profile::begin(&device)).transpose()?;
        let trace = self.trace.as_ref().map(|_| Trace::start(&device));
        let device = trace.as_ref().map_or_else(|| device.clone(), Trace::device);
        let function = kernel::load(
            &device,
            &self.file,
            input.bytes().unwrap_or_default(),
            parsed.as_ref().ok(),
            self.kernel.as_deref(),
        )?;
        kernel::check(function.info(), &arguments)?;
        if function.info().workgroup_size.is_none() && self.block.is_none() {
            return Err(Failure::input(format!(
                "`{}` does not fix its workgroup size: give --block X[,Y[,Z]], at most {} work-items",
                function.name(),
                most_threads(&device, function.info().max_workgroup_threads)
            )));
        }
        let name = function.name().to_owned();
        let launch = Launch::new(&device, function, self.config(), arguments)
            .map_err(|error| Failure::hal(Stage::Submit, &error))?;
        let outcome = self.repeat(launch, &name, &device, &expected);
        // The trace is written also, and especially, if the run failed.
        if let (Some(trace), Some(path)) = (trace, &self.trace) {
            output::write_file(path, trace.finish().as_bytes())?;
        }
        if let (Some(profile), Some(path)) = (profile, &self.profile) {
            profile.end(path)?;
        }
        outcome
    }

    fn check_indices(&self, arguments: &[Spec]) -> Outcome {
        let printed = self.print.iter().map(|index| ("--print", *index));
        let written = self.out.iter().map(|out| ("--out", out.index));
        let expected = self.expect.iter().map(|expect| ("--expect", expect.index));
        for (option, index) in printed.chain(written).chain(expected) {
            match arguments.get(index) {
                Some(Spec::Buffer(_)) => {}
                Some(_) => {
                    return Err(Failure::input(format!("{option} {index}: argument {index} is no buffer")));
                }
                None => {
                    return Err(Failure::input(format!(
                        "{option} {index}: there are {} arguments, counted from 0",
                        arguments.len()
                    )));
                }
            }
        }
        for out in &self.out {
            if !matches!(out.extension(), Some("npy" | "bin")) {
                return Err(Failure::input(format!(
                    "--out {}={}: the file must end in .npy or .bin",
                    out.index, out.text
                )));
            }
        }
        Ok(())
    }

    fn config(&self) -> DispatchConfig {
        let config = DispatchConfig::new(self.grid.0).dynamic_local_memory(self.lds);
        match self.block {
            Some(Extent(size)) => config.workgroup_size(size),
            None => config,
        }
    }

    /// Runs as often as asked, and checks each run up to the first wrong one. Gives the results of the last run.
    fn repeat(
        &self,
        mut launch: Launch,
        name: &str,
        device: &Device,
        expected: &[(usize, Literal)],
    ) -> Outcome {
        let submit = |error| Failure::hal(Stage::Submit, &error);
        let run = |error| Failure::hal(Stage::Run, &error);
        let progress = Progress::new(name, self.repeat);
        let (mut times, mut checked) = (Vec::new(), Ok(String::new()));
        for repetition in 0..self.repeat {
            launch.upload().map_err(submit)?;
            if self.repeat > 1 {
                // Only the dispatch is timed.
                launch.wait(Instant::now()).map_err(run)?;
            }
            let start = Instant::now();
            launch.dispatch().map_err(submit)?;
            times.push(launch.wait(start).map_err(run)?);
            checked = self.check(&launch, expected);
            if let Err(failure) = checked {
                checked = Err(match self.repeat {
                    1 => failure,
                    _ => failure.during(format!("run {} of {}", repetition + 1, self.repeat)),
                });
                break;
            }
            progress.advance();
        }
        drop(progress);
        if self.repeat > 1 {
            note(&summary(name, &mut times, device.info().simulated));
        }
        // Wrong results are printed and saved too.
        self.give_out(&launch)?;
        let right = checked?;
        if !right.is_empty() {
            note(&right);
        }
        Ok(())
    }

    /// Compares the arguments that have an expectation. Returns a message if all are equal.
    fn check(&self, launch: &Launch, expected: &[(usize, Literal)]) -> Outcome<String> {
        let mut right = Vec::new();
        let mut wrong: Option<Failure> = None;
        for (index, expected) in expected {
            let Some(view) = launch.view(*index) else { continue };
            let got = launch.download(view).map_err(|error| Failure::hal(Stage::Run, &error))?;
            match (compare::compare(*index, &got, expected, self.tolerance), wrong.take()) {
                (Ok(line), before) => {
                    right.push(line);
                    wrong = before;
                }
                (Err(failure), None) => wrong = Some(failure),
                (Err(failure), Some(before)) => wrong = Some(before.and(&failure)),
            }
        }
        wrong.map_or_else(|| Ok(right.join("\n")), Err)
    }

    fn give_out(&self, launch: &Launch) -> Outcome {
        /// IREE's tools print as many.
        const PRINTED: u64 = 1024;
        let download = |index: usize| match launch.view(index) {
            Some(view) => launch.download(view).map_err(|error| Failure::hal(Stage::Run, &error)),
            None => Err(Failure::input(format!("argument {index} is no buffer"))),
        };
        for index in &self.print {
            output::write(&download(*index)?.to_text(PRINTED))?;
        }
        for out in &self.out {
            let literal = download(out.index)?;
            let bytes =
                if out.extension() == Some("bin") { literal.bytes().to_vec() } else { npy::encode(&literal) };
            output::write_file(out.text.as_ref(), &bytes)?;
        }
        Ok(())
    }
}

impl Indexed {
    /// The ending of the file that the text names.
    fn extension(&self) -> Option<&str> {
        std::path::Path::new(&self.text).extension().and_then(|extension| extension.to_str())
    }
}

fn most_threads(device: &Device, function: u32) -> u32 {
    [device.limits().max_workgroup_threads, function]
        .into_iter()
        .filter(|most| *most > 0)
        .min()
        .unwrap_or(1024)
}

fn summary(name: &str, times: &mut [Duration], simulated: bool) -> String {
    times.sort_unstable();
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    let label = if simulated { "; simulated, so no GPU's figures" } else { "" };
    format!(
        "{name}: {} runs, from submission to completion as the host sees it: least {:?}, median {:?}, most {:?}{label}",
        times.len(),
        at(0),
        at(times.len() / 2),
        at(times.len().saturating_sub(1)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_one_to_three_numbers() {
        assert_eq!("4".parse(), Ok(Extent([4, 1, 1])));
        assert_eq!("4,2,3".parse(), Ok(Extent([4, 2, 3])));
        for bad in ["", "0", "1,0", "1,2,3,4", "x", "-1", "4294967296", "1,"] {
            assert!(bad.parse::<Extent>().is_err(), "{bad}");
        }
    }

    #[test]
    fn indices_stand_in_front() {
        assert_eq!("2=a=b".parse(), Ok(Indexed { index: 2, text: "a=b".into() }));
        for bad in ["", "x=1", "1", "-1=f"] {
            assert!(bad.parse::<Indexed>().is_err(), "{bad}");
        }
    }
}
