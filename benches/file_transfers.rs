// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of reading a file through a queue, compared with plain reads of the same file.
//!
//! `cargo bench --bench file_transfers`. Each row alternates with `pread` calls of 4 MiB into one vector and is stated
//! as a ratio to them. The file is in the system's cache, so both are copies, and other load affects both. The
//! simulated GPU's memory is host memory: its rows show the cost of the intermediate steps, not of a GPU.

use std::{
    env, fs,
    io::Write,
    time::{Duration, Instant},
};

use windlass::{BufferParams, Deadline, Device, Queue, Result, Semaphore, WaitPolicy, file::File, wait_all};

const ROUNDS: usize = 15;
const PIECE: usize = 4 << 20;

fn main() {
    let length = 1_u64 << 30;
    let path = env::temp_dir().join(format!("windlass-bench-{}", std::process::id()));
    let opened = prepare(&path, length);
    let _ = fs::remove_file(&path);
    let file = opened.expect("room for a file of 1 GiB");
    for (uri, host) in [("local://", false), ("hip-sim://gfx942", true), ("hip-sim://gfx942", false)] {
        if let Err(error) = rows(uri, host, &file, length) {
            show(&format!("{uri}: {error}"));
        }
    }
}

fn prepare(path: &std::path::Path, length: u64) -> std::io::Result<fs::File> {
    let mut file = fs::File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    let piece: Vec<u8> = (0..PIECE).map(|at| (at * 31 / 7) as u8).collect();
    for _ in 0..length / PIECE as u64 {
        file.write_all(&piece)?;
    }
    Ok(file)
}

fn rows(uri: &str, host: bool, file: &fs::File, length: u64) -> Result<()> {
    let device = windlass::open(uri)?;
    let kind = if host { "memory of the host" } else { "memory of the device" };
    let params = if host { BufferParams::host() } else { BufferParams::device() };
    let buffer = device.allocate(&params, length)?;
    let (queue, handle) = (device.queue(0)?, File::from(file.try_clone().expect("a handle")));
    let whole = || {
        let done = Semaphore::new(0);
        queue.read(&[], &[done.at(1)], &handle, 0, &buffer)?;
        done.wait_blocking(1, Deadline::NEVER)
    };
    compare(&format!("{uri}, {kind}: 1 GiB"), whole, || plain(file, 0, length, PIECE))?;
    compare(
        &format!("{uri}, {kind}: 1000 reads of 64 KiB at once"),
        || many(&device, &queue, &handle, &params),
        || (0..1000).for_each(|at| plain(file, at << 16, 1 << 16, 1 << 16)),
    )?;
    let one = buffer.subspan(0, 4096)?;
    let small = || {
        for at in 0..100 {
            let done = Semaphore::new(0);
            queue.read(&[], &[done.at(1)], &handle, at * 4096, &one)?;
            done.wait_blocking(1, Deadline::NEVER)?;
        }
        Ok(())
    };
    compare(&format!("{uri}, {kind}: 100 reads of 4 KiB, one after another"), small, || {
        (0..100).for_each(|at| plain(file, at * 4096, 4096, 4096));
    })
}

fn many(device: &Device, queue: &Queue, file: &File, params: &BufferParams) -> Result<()> {
    let buffer = device.allocate(params, 1000 << 16)?;
    let points = (0..1000_u64).map(|at| {
        let done = Semaphore::new(0);
        queue.read(&[], &[done.at(1)], file, at << 16, &buffer.subspan(at << 16, 1 << 16)?)?;
        Ok(done.at(1))
    });
    wait_all(&points.collect::<Result<Vec<_>>>()?, Deadline::NEVER, WaitPolicy::default())
}

fn plain(file: &fs::File, offset: u64, length: u64, piece: usize) {
    let mut bytes = vec![0; piece];
    for at in (0..length).step_by(piece) {
        windlass::file::Storage::read_at(file, offset + at, &mut bytes).expect("reads");
    }
}

/// The medians of both, alternating, and of the ratio in each round.
fn compare(row: &str, mut ours: impl FnMut() -> Result<()>, mut plain: impl FnMut()) -> Result<()> {
    let mut rounds = Vec::new();
    for round in 0..=ROUNDS {
        let begun = Instant::now();
        ours()?;
        let between = Instant::now();
        plain();
        let times = (between - begun, between.elapsed());
        // The first round touches fresh memory.
        if round > 0 {
            rounds.push(times);
        }
    }
    let median = |of: fn(&(Duration, Duration)) -> f64| {
        let mut values: Vec<_> = rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (ours, plain) = (median(|round| round.0.as_secs_f64()), median(|round| round.1.as_secs_f64()));
    let ratio = median(|round| round.0.as_secs_f64() / round.1.as_secs_f64());
    show(&format!("| {row} | {:.2} ms | {:.2} ms | {ratio:.2} |", ours * 1e3, plain * 1e3));
    Ok(())
}

#[allow(clippy::print_stdout, reason = "it is what the benchmark is for")]
fn show(line: &str) {
    println!("{line}");
}
