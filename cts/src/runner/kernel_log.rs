// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's messages about GPUs and the machine, for the report of the case that they arrived in.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
};

use windlass_hal::DeviceInfo;

use crate::options::Options;

/// Each read gives one message. Those from before the opening are passed over by a seek to the end.
const SYSTEM: &str = "/dev/kmsg";

/// The parts of messages, in lower case, that concern a GPU or the health of the machine.
const SUBJECTS: [&str; 12] = [
    "amdgpu",
    "kfd",
    "drm",
    "iommu",
    "mce",
    "hardware error",
    "pcieport",
    "aer:",
    "edac",
    "out of memory",
    "oom-kill",
    "blocked for more than",
];
/// The most messages of a case. The first ones state the cause.
const SHOWN: usize = 40;

/// A reader of the kernel's messages. Without a readable file it finds none.
pub(super) struct KernelLog(Option<File>);

impl KernelLog {
    /// Opens the file that the options name, or the system's if the device is real. The error says why there are no
    /// messages.
    pub(super) fn open(options: &Options, device: &DeviceInfo) -> Result<Self, String> {
        // The parent of a child reads the messages.
        let path = match &options.kernel_log {
            _ if options.child => return Ok(Self(None)),
            Some(path) => path,
            None if device.simulated || !cfg!(target_os = "linux") => return Ok(Self(None)),
            None => Path::new(SYSTEM),
        };
        match open(path) {
            Ok(file) => Ok(Self(Some(file))),
            Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
        }
    }

    /// A reader that finds no messages.
    pub(super) fn silent() -> Self {
        Self(None)
    }

    /// Passes over all messages up to now.
    pub(super) fn mark(&mut self) {
        if let Some(file) = &mut self.0
            && file.seek(SeekFrom::End(0)).is_err()
        {
            self.0 = None;
        }
    }

    /// The messages since the mark that concern GPUs or the machine's health.
    pub(super) fn since_mark(&mut self) -> Vec<String> {
        let Some(file) = &mut self.0 else { return Vec::new() };
        let text = read_new(file);
        let lines = String::from_utf8_lossy(&text);
        let concerns = |line: &&str| {
            let line = line.to_lowercase();
            SUBJECTS.iter().any(|subject| line.contains(subject))
        };
        let mut shown: Vec<_> = lines.lines().map(message).filter(concerns).map(str::to_owned).collect();
        let more = shown.len().saturating_sub(SHOWN);
        shown.truncate(SHOWN);
        if more > 0 {
            shown.push(format!("and {more} more"));
        }
        shown
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    // A read of the device blocks until there is a message.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let mut file = options.open(path)?;
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// All bytes up to the end of the file, or up to the newest message of the device.
fn read_new(file: &mut File) -> Vec<u8> {
    let mut text = Vec::new();
    // The kernel refuses to read a message into less space than it needs.
    let mut chunk = [0; 16384];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return text,
            Ok(read) => text.extend(&chunk[..read]),
            // The next read continues behind messages that were overwritten.
            #[cfg(unix)]
            Err(error) if error.raw_os_error() == Some(libc::EPIPE) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return text,
        }
    }
}

/// The text of a line. The device puts the level, number, time and flags in front of it, `6,2622,20477,-;`.
fn message(line: &str) -> &str {
    match line.split_once(';') {
        Some((head, text)) if head.split(',').take(3).all(|field| field.parse::<u64>().is_ok()) => text,
        _ => line,
    }
}
