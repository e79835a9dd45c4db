// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass replay`: a recording of `record://` on any device, compared with the recorded results.

use std::{path::PathBuf, time::Duration};

use crate::{
    Code, Device, Error,
    record::{Order, Player, Recording, ReplayOptions, Replayed},
};
use clap::Args;

use super::{
    escape,
    failure::{Failure, Outcome, Stage, note},
    output,
};

/// Options of `replay`.
#[derive(Args)]
#[command(after_long_help = "\
A recording is made by any program that opens record://?file=FILE&over=URI. The code in it runs as recorded, on \
local:// as code of this process: replay recordings of people whose programs you would run.\n\n\
Without --device the one in WINDLASS_DEVICE serves, else the first real GPU, else a simulated one.")]
pub(crate) struct Replay {
    /// The recording
    file: PathBuf,
    /// The device, such as hip://0, hip-sim://gfx942 or shuffle://?seed=2&over=local://
    #[arg(long, value_name = "URI")]
    device: Option<String>,
    /// Print the recorded events, and run nothing
    #[arg(long, conflicts_with_all = ["device", "bench", "dump", "order"])]
    list: bool,
    /// Replay once with comparisons, then N times without, and print the times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    bench: Option<u32>,
    /// Write the last bytes of each buffer to files in this folder
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// The order of the operations: also by the program's own waits (program), or by the wait lists alone (waits), which finds
    /// missing edges over shuffle://
    #[arg(long, value_name = "WHAT", default_value = "program", value_parser = ["program", "waits"])]
    order: String,
    /// Fail if one operation takes longer than this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
}

impl Replay {
    /// Replays the recording.
    pub(crate) fn run(self) -> Outcome {
        let recording = Recording::open(&self.file).map_err(|error| Failure::input(error.message()))?;
        if self.list {
            let lines: Vec<_> = recording.lines().collect();
            return output::write(&lines.join("\n"));
        }
        if let Some(at) = recording.cut() {
            note(&format!("{} was cut short at byte {at}; replaying up to there", escape::path(&self.file)));
        }
        let device = self.open()?;
        let mut options = ReplayOptions::new();
        if self.order == "waits" {
            options = options.order(Order::Waits);
        }
        if let Some(seconds) = self.timeout {
            options = options.limit(Duration::from_secs(seconds));
        }
        // SAFETY: the user who names the recording vouches for its code, as the help says.
        let mut player = unsafe { Player::new(&recording, &device) };
        let checked = match &self.dump {
            Some(folder) => options.clone().dump(folder),
            None => options.clone(),
        };
        let replayed = player.run(&checked).map_err(|error| stopped(&error))?;
        self.tell(&device, &replayed)?;
        match self.bench {
            Some(runs) => bench(&mut player, &options.unchecked(), runs),
            None => Ok(()),
        }
    }

    fn open(&self) -> Outcome<Device> {
        match &self.device {
            Some(uri) => crate::open(uri).map_err(|error| Failure::open(uri, &error)),
            None => crate::default_device()
                .map_err(|error| Failure::hal(Stage::Open, &error))
                .inspect(|device| note(&format!("replaying on {}", device.info().uri))),
        }
    }

    fn tell(&self, device: &Device, replayed: &Replayed) -> Outcome {
        if replayed.differing == 0 {
            return output::write(&format!(
                "{} operations on {}: {} bytes are as recorded",
                replayed.operations,
                device.info().uri,
                replayed.compared
            ));
        }
        let mut lines: Vec<_> = replayed.differences.iter().map(ToString::to_string).collect();
        let more = replayed.differing - lines.len() as u64;
        if more > 0 {
            lines.push(format!("and {more} more differences"));
        }
        Err(Failure::failed(format!("the replay on {} differs\n{}", device.info().uri, lines.join("\n"))))
    }
}

/// A device without the recorded code, or without kernels, is a wrong choice of the device; all else is a failed run.
fn stopped(error: &Error) -> Failure {
    match error.code() {
        Code::NotFound | Code::Unimplemented => Failure::hal(Stage::Submit, error),
        _ => Failure::hal(Stage::Run, error),
    }
}

fn bench(player: &mut Player<'_>, options: &ReplayOptions, runs: u32) -> Outcome {
    let mut times = Vec::with_capacity(runs as usize);
    for _ in 0..runs {
        times.push(player.run(options).map_err(|error| stopped(&error))?.time);
    }
    times.sort_unstable();
    let median = times[times.len() / 2];
    output::write(&format!(
        "{runs} runs, microseconds: min {:.1}, median {:.1}",
        micros(times[0]),
        micros(median)
    ))
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
