// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that queues read and write.

use std::{fmt, fs, io, sync::Arc};

use smallvec::SmallVec;

use crate::{
    buffer::{Buffer, BufferParams},
    driver,
    error::{Code, Error, Result},
    host_call::{HostCall, HostCallFlags},
    operation::{Operation, QueueAffinity},
    semaphore::{Point, Semaphore},
    wait::Deadline,
};

/// Something with numbered bytes that queues can read and write.
#[derive(Clone)]
pub struct File(Arc<dyn Storage>);

/// The bytes behind a [`File`]. Calls may come from several threads at once.
///
/// The kind of an error becomes the code that the operation fails with: a full disk is `RESOURCE_EXHAUSTED`, a handle that
/// was not opened for the call `PERMISSION_DENIED`, a directory or a pipe `INVALID_ARGUMENT`, what lies beyond the end
/// `OUT_OF_RANGE`, and `UNKNOWN` what has no code of its own.
pub trait Storage: Send + Sync + 'static {
    /// Reads exactly as many bytes as fit, from `offset` on.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
    /// Writes all bytes, from `offset` on.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// What error messages call it.
    fn name(&self) -> String {
        "a file".to_owned()
    }
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
    /// With the path, where the system can tell it.
    fn name(&self) -> String {
        format!("{self:?}")
    }

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

/// The handle was not opened for this. The standard library has no name for it.
#[cfg(unix)]
const NOT_OPENED_FOR_IT: i32 = 9;
/// `ERROR_ACCESS_DENIED`, which has a name.
#[cfg(not(unix))]
const NOT_OPENED_FOR_IT: i32 = 5;

fn io_error(storage: &dyn Storage, what: &str, offset: u64, length: u64, error: &io::Error) -> Error {
    use io::ErrorKind as Kind;
    // Systems call an offset that they cannot hold an argument that makes no sense.
    let too_far = offset.checked_add(length).is_none_or(|end| end > i64::MAX as u64);
    let mut advice = String::new();
    let code = match error.kind() {
        Kind::UnexpectedEof => {
            advice = "; it ends before".to_owned();
            Code::OutOfRange
        }
        Kind::FileTooLarge => Code::OutOfRange,
        _ if too_far => Code::OutOfRange,
        Kind::StorageFull | Kind::QuotaExceeded | Kind::OutOfMemory | Kind::WriteZero => {
            Code::ResourceExhausted
        }
        _ if error.raw_os_error() == Some(NOT_OPENED_FOR_IT) => {
            advice = format!("; open it for {what}");
            Code::PermissionDenied
        }
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Code::PermissionDenied,
        Kind::NotFound => Code::NotFound,
        Kind::IsADirectory | Kind::NotSeekable | Kind::InvalidInput => Code::InvalidArgument,
        _ => Code::Unknown,
    };
    let name = storage.name();
    Error::new(code, format!("{what} {length} bytes at {offset} of {name}: {error}{advice}"))
}

/// Bytes that are read, written or copied at a time.
const PIECE: u64 = 4 << 20;

/// For drivers without a way of their own: [`Operation::Read`] as a host call, which reads pieces of the file into host
/// memory and has the device copy them from there. Returns at once. Host memory is taken when the operation begins:
/// 12 MiB at most, however long the range is.
///
/// # Safety
/// As for [`driver::Device::submit`].
#[allow(unsafe_code)]
pub unsafe fn read_through_host(
    device: Arc<dyn driver::Device>,
    affinity: QueueAffinity,
    (waits, signals): (&[Point], &[Point]),
    file: File,
    offset: u64,
    target: Buffer,
) -> Result<()> {
    let through = device.clone();
    let call = HostCall::new(HostCallFlags::NONE, move |_| {
        let mut pieces = Pieces::new(through, affinity, target.len())?;
        let mut bytes = pieces.bytes()?;
        let result = (0..pieces.count()).try_for_each(|index| {
            let (at, length) = pieces.range(index);
            let bytes = &mut bytes[..length as usize];
            file.0
                .read_at(offset.saturating_add(at), bytes)
                .map_err(|error| io_error(file.0.as_ref(), "reading", offset, target.len(), &error))?;
            // The copy of two pieces ago was from the same memory.
            pieces.wait(index.saturating_sub(1))?;
            let staging = pieces.staging(index)?;
            staging.map()?.write(0, bytes)?;
            // SAFETY: the caller vouches for the whole range; the staging memory is of the piece's length.
            unsafe { pieces.copy(staging, target.subspan(at, length)?) }
        });
        pieces.finish(result)
    });
    // SAFETY: a host call touches nothing of the device.
    unsafe { device.submit(affinity, waits, signals, Operation::HostCall(call)) }
}

/// For drivers without a way of their own: [`Operation::Write`] as a host call, which has the device copy pieces to host
/// memory and writes them to the file from there. Returns at once. Host memory is taken as for a
/// [read](read_through_host).
///
/// # Safety
/// As for [`driver::Device::submit`].
#[allow(unsafe_code)]
pub unsafe fn write_through_host(
    device: Arc<dyn driver::Device>,
    affinity: QueueAffinity,
    (waits, signals): (&[Point], &[Point]),
    source: Buffer,
    file: File,
    offset: u64,
) -> Result<()> {
    let through = device.clone();
    let call = HostCall::new(HostCallFlags::NONE, move |_| {
        let mut pieces = Pieces::new(through, affinity, source.len())?;
        let mut bytes = pieces.bytes()?;
        let result = (0..pieces.count()).try_for_each(|index| {
            // The device copies the next piece while this one is written.
            while pieces.copies < pieces.count().min(index + 2) {
                let (at, length) = pieces.range(pieces.copies);
                let staging = pieces.staging(pieces.copies)?;
                // SAFETY: the caller vouches for the whole range; the staging memory is of the piece's length.
                unsafe { pieces.copy(source.subspan(at, length)?, staging)? };
            }
            pieces.wait(index + 1)?;
            let (at, length) = pieces.range(index);
            let bytes = &mut bytes[..length as usize];
            pieces.staging(index)?.map()?.read(0, bytes)?;
            file.0
                .write_at(offset.saturating_add(at), bytes)
                .map_err(|error| io_error(file.0.as_ref(), "writing", offset, source.len(), &error))
        });
        pieces.finish(result)
    });
    // SAFETY: a host call touches nothing of the device.
    unsafe { device.submit(affinity, waits, signals, Operation::HostCall(call)) }
}

/// A transfer in pieces, through host memory for two of them in turn.
struct Pieces {
    device: Arc<dyn driver::Device>,
    affinity: QueueAffinity,
    length: u64,
    stages: SmallVec<[Buffer; 2]>,
    /// Copies submitted so far, each behind the one before.
    copies: u64,
    /// How many of them are complete.
    copied: Semaphore,
}

impl Pieces {
    fn new(device: Arc<dyn driver::Device>, affinity: QueueAffinity, length: u64) -> Result<Self> {
        let params = BufferParams::host();
        let stage = |_| Ok(Buffer::from_driver(device.allocate(&params, length.min(PIECE))?, params));
        let stages = (0..length.div_ceil(PIECE).min(2)).map(stage).collect::<Result<_>>()?;
        Ok(Self { device, affinity, length, stages, copies: 0, copied: Semaphore::new(0) })
    }

    /// Room for a piece: storage takes references, and there are none to memory that a device may touch.
    fn bytes(&self) -> Result<Vec<u8>> {
        let (mut bytes, size) = (Vec::new(), self.length.min(PIECE) as usize);
        bytes.try_reserve_exact(size).map_err(|_| {
            Error::resource_exhausted(format!("no {size} bytes of host memory to move a file through"))
        })?;
        bytes.resize(size, 0);
        Ok(bytes)
    }

    fn count(&self) -> u64 {
        self.length.div_ceil(PIECE)
    }

    /// Where a piece begins, and its length.
    fn range(&self, index: u64) -> (u64, u64) {
        let at = index * PIECE;
        (at, PIECE.min(self.length - at))
    }

    fn staging(&self, index: u64) -> Result<Buffer> {
        self.stages[index as usize % self.stages.len()].subspan(0, self.range(index).1)
    }

    /// # Safety
    /// As for [`driver::Device::submit`]: a copy that is canonical.
    #[allow(unsafe_code)]
    unsafe fn copy(&mut self, source: Buffer, target: Buffer) -> Result<()> {
        let (before, after) = (self.copied.at(self.copies), self.copied.at(self.copies + 1));
        // SAFETY: the caller vouches for the copy.
        unsafe {
            self.device.submit(self.affinity, &[before], &[after], Operation::Copy { source, target })?;
        }
        self.copies += 1;
        Ok(())
    }

    /// Waits until so many copies are complete: on a thread of the callback pool, which may.
    fn wait(&self, copies: u64) -> Result<()> {
        self.copied.wait_blocking(copies, Deadline::NEVER)
    }

    /// Ends the transfer when nothing of it touches memory any more.
    fn finish(&self, result: Result<()>) -> Result<()> {
        let copied = self.wait(self.copies);
        result.and(copied)
    }
}

#[cfg(all(test, unix, not(miri), not(loom)))]
mod tests {
    use std::{
        fs::File,
        io,
        sync::atomic::{AtomicU32, Ordering},
    };

    use super::{Storage, io_error};
    use crate::error::{Code, Error};

    fn told(storage: &File, what: &str, offset: u64, result: io::Result<()>) -> Error {
        io_error(storage, what, offset, 4, &result.unwrap_err())
    }

    /// A file that is gone as soon as its handles are.
    fn scratch(writable: bool) -> File {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("windlass-file-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, b"abc").unwrap();
        let file = File::options().read(true).write(writable).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        file
    }

    fn assert_told(error: &Error, code: Code, words: &[&str]) {
        assert_eq!(error.code(), code, "{error}");
        for word in words {
            assert!(error.message().contains(word), "{word}: {error}");
        }
    }

    #[test]
    fn errors_of_files_have_codes_and_say_which_file() {
        let file = scratch(true);
        let short = told(&file, "reading", 2, file.read_at(2, &mut [0; 4]));
        assert_told(
            &short,
            Code::OutOfRange,
            &["reading 4 bytes at 2 of ", "windlass-file", "it ends before"],
        );
        let far = u64::MAX - 1;
        let error = told(&file, "writing", far, file.write_at(far, &[0; 4]));
        assert_told(&error, Code::OutOfRange, &["writing 4 bytes at 18446744073709551614"]);
        let error = told(&file, "reading", 1 << 63, file.read_at(1 << 63, &mut [0; 4]));
        assert_told(&error, Code::OutOfRange, &[]);

        let sealed = scratch(false);
        let error = told(&sealed, "writing", 0, sealed.write_at(0, &[0; 4]));
        assert_told(&error, Code::PermissionDenied, &["open it for writing", "os error"]);

        let folder = File::open(std::env::temp_dir()).unwrap();
        let error = told(&folder, "reading", 0, folder.read_at(0, &mut [0; 4]));
        assert_told(&error, Code::InvalidArgument, &["directory"]);
        let (pipe, _kept) = io::pipe().unwrap();
        let pipe = File::from(std::os::fd::OwnedFd::from(pipe));
        let error = told(&pipe, "reading", 0, pipe.read_at(0, &mut [0; 4]));
        assert_told(&error, Code::InvalidArgument, &["os error"]);
        #[cfg(target_os = "linux")]
        {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let error = told(&full, "writing", 0, full.write_at(0, &[0; 4]));
            assert_told(&error, Code::ResourceExhausted, &["/dev/full", "os error"]);
        }
    }

    #[test]
    fn what_is_unknown_stays_unknown() {
        let file = scratch(true);
        let told = |kind: io::ErrorKind| io_error(&file, "reading", 0, 4, &kind.into()).code();
        assert_eq!(told(io::ErrorKind::Other), Code::Unknown);
        assert_eq!(told(io::ErrorKind::NotFound), Code::NotFound);
        assert_eq!(told(io::ErrorKind::InvalidInput), Code::InvalidArgument);
        assert_eq!(told(io::ErrorKind::WriteZero), Code::ResourceExhausted);
    }
}
