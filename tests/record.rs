// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recordings of simulated GPUs and of the CPU, and their replays on other devices.

use std::{
    fs, panic,
    path::{Path, PathBuf},
    time::Duration,
};

use windlass::{
    Deadline, Device,
    record::{Order, Player, Recording, ReplayOptions, Replayed},
};
use windlass_cts::{Case, Kernels, Options, run_cases};

const LIMIT: Duration = Duration::from_secs(60);

fn kernels() -> Vec<Kernels> {
    vec![Kernels::new(windlass_local::FORMAT, windlass_local::conformance::find)]
}

fn replay_with(file: &Path, uri: &str, options: &ReplayOptions) -> windlass::Result<Replayed> {
    let recording = Recording::open(file)?;
    let device = windlass::open(uri)?;
    // SAFETY: the recordings of these tests hold the suite's kernels, which stay within their buffers.
    let mut player = unsafe { Player::new(&recording, &device) };
    player.run(&options.clone().limit(LIMIT))
}

/// Runs one case over a recorded device. Returns the recordings of its devices.
fn record(case: Case, over: &str, folder: &Path) -> Vec<PathBuf> {
    let file = folder.join(case.name);
    let mut options = Options::new(format!("record://?file={}&over={over}", file.display()));
    options.kernels = kernels();
    let mut report = Vec::new();
    let summary = run_cases(windlass::registry(), &[case], &options, &mut report).unwrap();
    assert_eq!(summary.failed() + summary.errors(), 0, "{}", String::from_utf8_lossy(&report));
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(case.name)).collect()
}

#[test]
fn every_case_of_the_suite_replays() {
    let folder = tempfile::tempdir().unwrap();
    let (mut operations, mut compared) = (0, 0);
    let mut bad = Vec::new();
    let only = std::env::var("ONLY").unwrap_or_default();
    for case in windlass_cts::cases().into_iter().filter(|case| case.name.contains(&only)) {
        for file in record(case, "hip-sim://gfx942", folder.path()) {
            match panic::catch_unwind(|| replay_with(&file, "hip-sim://gfx942", &ReplayOptions::new())) {
                Ok(Ok(replayed)) => {
                    operations += replayed.operations;
                    compared += replayed.compared;
                    if replayed.differing > 0 {
                        bad.push(format!("{}: {}", case.name, replayed.differences[0]));
                    }
                }
                Ok(Err(error)) => bad.push(format!("{}: {error}", case.name)),
                Err(_) => bad.push(format!("{}: panicked", case.name)),
            }
            fs::remove_file(&file).unwrap();
        }
    }
    println!("{operations} operations, {compared} bytes");
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
