// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of files: reads and writes on a queue, of a file in the system's cache.

use std::fs;

use crate::{Feature, File};

use super::load::Timeline;
use crate::command::bench::{
    row::{Prepared, Row},
    stop::{Stop, Work},
    subject::{Floor, whole},
    target::Target,
};

const SIZES: [(&str, u64); 2] = [("4KiB", 4 << 10), ("1MiB", 1 << 20)];

pub(super) fn add(rows: &mut Vec<Row>) {
    for (name, bytes) in SIZES {
        let read =
            Row::new(format!("file/read bytes={name}"), (1, "read"), move |target| read(target, bytes));
        let write =
            Row::new(format!("file/write bytes={name}"), (1, "write"), move |target| write(target, bytes));
        // The system moves the bytes, and threads wake up for it.
        rows.extend([read, write].map(|row| row.needs(&[Feature::Files]).uncounted()));
    }
}

/// A file of this process alone, without a name.
fn scratch(bytes: u64) -> Work<fs::File> {
    let failed = |error: std::io::Error| Stop::Failed(format!("making a file of {bytes} bytes: {error}"));
    let file = tempfile::tempfile().map_err(failed)?;
    write_all(&file, &content(bytes)).map_err(failed)?;
    Ok(file)
}

fn content(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|index| (index % 251) as u8).collect()
}

fn read(target: &Target, bytes: u64) -> Work<Prepared> {
    let file = scratch(bytes)?;
    let (own, buffer, queue) = (File::from(duplicate(&file)?), target.buffer(bytes)?, target.queue()?);
    let mut timeline = Timeline::default();
    let read = buffer.clone();
    let mut round = move || -> Work {
        let value = timeline.next();
        queue.read(&[], &[timeline.semaphore.at(value)], &own, 0, &read)?;
        timeline.wait()
    };
    round()?;
    if target.download(&buffer)? != content(bytes) {
        return Err(wrong("read"));
    }
    let mut memory = vec![0; bytes as usize];
    let floor = whole(move || read_all(&file, &mut memory).map_err(|error| Stop::Failed(error.to_string())));
    Ok(Prepared::Timed(whole(round), Some(Floor::new("pread into memory of the host", 1, floor))))
}

fn write(target: &Target, bytes: u64) -> Work<Prepared> {
    let file = scratch(bytes)?;
    let (own, buffer, queue) = (File::from(duplicate(&file)?), target.buffer(bytes)?, target.queue()?);
    let mut timeline = Timeline::default();
    let value = timeline.next();
    queue.fill(&[], &[timeline.semaphore.at(value)], &buffer, 0x5a_u8)?;
    timeline.wait()?;
    let mut round = move || -> Work {
        let value = timeline.next();
        queue.write(&[], &[timeline.semaphore.at(value)], &buffer, &own, 0)?;
        timeline.wait()
    };
    round()?;
    let mut memory = vec![0; bytes as usize];
    read_all(&file, &mut memory).map_err(|error| Stop::Failed(error.to_string()))?;
    if memory.iter().any(|byte| *byte != 0x5a) {
        return Err(wrong("write"));
    }
    let floor = whole(move || write_all(&file, &memory).map_err(|error| Stop::Failed(error.to_string())));
    Ok(Prepared::Timed(whole(round), Some(Floor::new("pwrite from memory of the host", 1, floor))))
}

fn wrong(what: &str) -> Stop {
    Stop::Failed(format!("the {what} moves wrong bytes, so its time means nothing"))
}

fn duplicate(file: &fs::File) -> Work<fs::File> {
    file.try_clone().map_err(|error| Stop::Failed(format!("opening a file twice: {error}")))
}

#[cfg(unix)]
fn read_all(file: &fs::File, bytes: &mut [u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, 0)
}

#[cfg(unix)]
fn write_all(file: &fs::File, bytes: &[u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, 0)
}

#[cfg(not(unix))]
fn read_all(mut file: &fs::File, bytes: &mut [u8]) -> std::io::Result<()> {
    use std::io::{Read, Seek};
    file.rewind()?;
    file.read_exact(bytes)
}

#[cfg(not(unix))]
fn write_all(mut file: &fs::File, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::{Seek, Write};
    file.rewind()?;
    file.write_all(bytes)
}
