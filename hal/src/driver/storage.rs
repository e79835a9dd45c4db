// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that queues read and write: the bytes behind them, and the meaning of their errors.

#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::{fmt, fs, io, sync::Arc};

use crate::words::error::{Code, Error};

/// A file that queues can read and write: a [`Storage`]. Clones are handles of the same file.
#[derive(Clone)]
pub struct File(Arc<dyn Storage>);

impl File {
    /// A file over any storage.
    pub fn new(storage: impl Storage) -> Self {
        Self(Arc::new(storage))
    }

    /// The storage of this file, for drivers and wrappers.
    pub fn storage(&self) -> &dyn Storage {
        self.0.as_ref()
    }
}

impl From<fs::File> for File {
    fn from(file: fs::File) -> Self {
        Self::new(file)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("File")
    }
}

/// The bytes behind a [`File`]. Calls may come from several threads at once.
///
/// The kind of an I/O error determines the code that the operation fails with. A full disk is `RESOURCE_EXHAUSTED`. A
/// handle that was not opened for the access is `PERMISSION_DENIED`. A directory or a pipe is `INVALID_ARGUMENT`. An
/// access beyond the end is `OUT_OF_RANGE`. Errors without a matching code are `UNKNOWN`.
pub trait Storage: Send + Sync + 'static {
    /// Fills `bytes` from the file, beginning at byte `offset` of the file.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
    /// Writes all of `bytes` to the file, beginning at byte `offset` of the file.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// The name for error messages.
    fn name(&self) -> String {
        "a file".to_owned()
    }
    /// The descriptor behind the storage, if [`read_at`](Self::read_at) and [`write_at`](Self::write_at) are no more
    /// than `pread` and `pwrite` on it. The system may then move the bytes by itself, and calls the two methods only
    /// where it cannot. Called once for each operation; must not block.
    #[cfg(unix)]
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

impl Storage for fs::File {
    /// The debug text, which has the path where the system knows it.
    fn name(&self) -> String {
        format!("{self:?}")
    }

    #[cfg(unix)]
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.as_fd())
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

/// `EBADF`: the handle was not opened for this access. The standard library has no name for it.
#[cfg(unix)]
const NOT_OPENED_FOR_IT: i32 = 9;
/// `ERROR_ACCESS_DENIED`.
#[cfg(not(unix))]
const NOT_OPENED_FOR_IT: i32 = 5;

pub(crate) fn io_error(
    storage: &dyn Storage,
    what: &str,
    offset: u64,
    length: u64,
    error: &io::Error,
) -> Error {
    use io::ErrorKind as Kind;
    // A storage may give an error of the HAL as the inner one.
    if let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        let name = storage.name();
        return Error::new(inner.code(), format!("{what} {length} bytes at {offset} of {name}: {inner}"));
    }
    // For an offset that does not fit, systems report an invalid argument.
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

#[cfg(all(test, unix, not(miri), not(loom)))]
mod tests {
    use std::{
        fs::File,
        io,
        sync::atomic::{AtomicU32, Ordering},
    };

    use super::{Storage, io_error};
    use crate::words::error::{Code, Error};

    fn told(storage: &File, what: &str, offset: u64, result: io::Result<()>) -> Error {
        io_error(storage, what, offset, 4, &result.unwrap_err())
    }

    /// A file that is deleted once its handles are closed.
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
        let inner = io::Error::other(Error::new(Code::DataLoss, "a lost page"));
        assert_eq!(io_error(&file, "reading", 0, 4, &inner).code(), Code::DataLoss);
    }
}
