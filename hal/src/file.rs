// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that queues read and write.

use std::{fmt, fs, io, sync::Arc};

use crate::{
    buffer::{Buffer, BufferParams},
    driver,
    error::{Code, Error, Result},
    host_call::{HostCall, HostCallFlags},
    operation::{Operation, QueueAffinity},
    semaphore::{Point, Semaphore},
};

/// Something with numbered bytes that queues can read and write.
#[derive(Clone)]
pub struct File(Arc<dyn Storage>);

/// The bytes behind a [`File`]. Calls may come from several threads at once.
pub trait Storage: Send + Sync + 'static {
    /// Reads exactly as many bytes as fit, from `offset` on.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
    /// Writes all bytes, from `offset` on.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
}

impl File {
    /// Any storage.
    pub fn new(storage: impl Storage) -> Self {
        Self(Arc::new(storage))
    }
}

impl From<fs::File> for File {
    fn from(file: fs::File) -> Self {
        Self::new(file)
    }
}

impl Storage for fs::File {
    #[cfg(unix)]
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, bytes, offset)
    }

    #[cfg(unix)]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut offset: u64, mut bytes: &mut [u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(self, bytes, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => (bytes, offset) = (&mut bytes[n..], offset + n as u64),
            }
        }
        Ok(())
    }

    #[cfg(windows)]
    fn write_at(&self, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_write(self, bytes, offset)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                n => (bytes, offset) = (&bytes[n..], offset + n as u64),
            }
        }
        Ok(())
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("File")
    }
}

fn io_error(error: &io::Error, what: &str, offset: u64, length: u64) -> Error {
    let code = match error.kind() {
        io::ErrorKind::UnexpectedEof => Code::OutOfRange,
        io::ErrorKind::PermissionDenied => Code::PermissionDenied,
        io::ErrorKind::NotFound => Code::NotFound,
        _ => Code::Unknown,
    };
    Error::new(code, format!("{what} {length} bytes at {offset} of a file: {error}"))
}

/// For drivers without a way of their own: [`Operation::Read`] as a host call that reads into host memory, and a
/// copy ordered behind it. Returns at once.
pub fn read_through_host(
    device: &dyn driver::Device,
    affinity: QueueAffinity,
    (waits, signals): (&[Point], &[Point]),
    file: File,
    offset: u64,
    target: Buffer,
) -> Result<()> {
    let length = target.len();
    let staging = stage(device, length)?;
    let read = Semaphore::new(0);
    let mapping = staging.map()?;
    let call = HostCall::new(HostCallFlags::NONE, move |_| {
        let mut bytes = Vec::new();
        let size = usize::try_from(length).unwrap_or(usize::MAX);
        bytes.try_reserve_exact(size).map_err(|_| {
            Error::resource_exhausted(format!("no {length} bytes of host memory to read a file through"))
        })?;
        bytes.resize(size, 0);
        file.0.read_at(offset, &mut bytes).map_err(|error| io_error(&error, "reading", offset, length))?;
        mapping.write(0, &bytes)
    });
    device.submit(affinity, waits, &[read.at(1)], Operation::HostCall(call))?;
    device.submit(affinity, &[read.at(1)], signals, Operation::Copy { source: staging, target })
}

/// For drivers without a way of their own: [`Operation::Write`] as a copy to host memory, and a host call ordered
/// behind it that writes. Returns at once.
pub fn write_through_host(
    device: &dyn driver::Device,
    affinity: QueueAffinity,
    (waits, signals): (&[Point], &[Point]),
    source: Buffer,
    file: File,
    offset: u64,
) -> Result<()> {
    let staging = stage(device, source.len())?;
    let copied = Semaphore::new(0);
    let mapping = staging.map()?;
    let call = HostCall::new(HostCallFlags::NONE, move |_| {
        let bytes = mapping.to_vec();
        file.0
            .write_at(offset, &bytes)
            .map_err(|error| io_error(&error, "writing", offset, bytes.len() as u64))
    });
    device.submit(affinity, waits, &[copied.at(1)], Operation::Copy { source, target: staging })?;
    device.submit(affinity, &[copied.at(1)], signals, Operation::HostCall(call))
}

fn stage(device: &dyn driver::Device, length: u64) -> Result<Buffer> {
    let params = BufferParams::host();
    Ok(Buffer::from_driver(device.allocate(&params, length)?, params))
}
