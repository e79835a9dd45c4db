// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that queues read and write.

use std::{
    ffi::{c_char, c_int, c_void},
    io,
    mem::MaybeUninit,
    ptr::NonNull,
};

use facade::{Code, Error, File, Result, callback_pool, file::Storage};

use crate::{
    boundary::{fallible, infallible},
    buffer::{range_of, windlass_buffer_ref_t},
    callback::{OwnedUserData, UserData, windlass_destroy_t},
    error::windlass_error_t,
    exception::guarded,
    handle::{self, Shell, object, used},
    memory::{give, text},
    queue::windlass_queue_t,
    semaphore::{lists_of, windlass_point_t},
};

/// A file that queues can read and write. It belongs to no device. Submitted work keeps it open.
pub struct windlass_file_t(Shell<File>);
object!(windlass_file_t, File, "file");

/// Opens a file for windlass_queue_read.
pub const WINDLASS_FILE_READ: u32 = 1 << 0;
/// Opens a file for windlass_queue_write.
pub const WINDLASS_FILE_WRITE: u32 = 1 << 1;
/// Makes the file if it does not exist; needs WINDLASS_FILE_WRITE.
pub const WINDLASS_FILE_CREATE: u32 = 1 << 2;
/// Removes the contents of the file; needs WINDLASS_FILE_WRITE.
pub const WINDLASS_FILE_TRUNCATE: u32 = 1 << 3;

/// Fills `size` bytes at `target` from the program's storage, beginning at byte `offset` of it. Called on a thread of
/// Windlass, which it may block, and on several threads at once. NULL is success; an error, which passes to the library,
/// fails the operation, as does an exception.
pub type windlass_storage_read_t = Option<
    unsafe extern "C-unwind" fn(
        user_data: *mut c_void,
        offset: u64,
        target: *mut c_void,
        size: usize,
    ) -> Option<NonNull<windlass_error_t>>,
>;

/// Writes `size` bytes at `source` to the program's storage, beginning at byte `offset` of it. Called as
/// windlass_storage_read_t.
pub type windlass_storage_write_t = Option<
    unsafe extern "C-unwind" fn(
        user_data: *mut c_void,
        offset: u64,
        source: *const c_void,
        size: usize,
    ) -> Option<NonNull<windlass_error_t>>,
>;

/// The program's functions behind a file.
struct Functions {
    read: windlass_storage_read_t,
    write: windlass_storage_write_t,
    /// Present until the file goes.
    owned: Option<OwnedUserData>,
}

impl Functions {
    fn user_data(&self) -> *mut c_void {
        self.owned.as_ref().map_or(std::ptr::null_mut(), |owned| owned.data.0)
    }
}

impl Drop for Functions {
    /// The last operation may end on the stack of a signalling thread, where no function of the program is called.
    fn drop(&mut self) {
        let owned = self.owned.take();
        callback_pool::spawn(Box::new(move || drop(owned)));
    }
}

impl Storage for Functions {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let read =
            self.read.ok_or_else(|| denied("windlass_file_from_functions got no function that reads"))?;
        // SAFETY: the caller gave the function for this, on any thread, and the bytes are this call's.
        answer(guarded("the function that reads a file", || unsafe {
            read(self.user_data(), offset, bytes.as_mut_ptr().cast(), bytes.len())
        }))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let write =
            self.write.ok_or_else(|| denied("windlass_file_from_functions got no function that writes"))?;
        // SAFETY: the caller gave the function for this, on any thread, and the bytes last as long as the call.
        answer(guarded("the function that writes a file", || unsafe {
            write(self.user_data(), offset, bytes.as_ptr().cast(), bytes.len())
        }))
    }

    fn name(&self) -> String {
        "a file of the program's functions".to_owned()
    }
}

fn denied(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, what)
}

/// The answer of a function of the program. The HAL takes an I/O error, and the code of the error within it.
fn answer(returned: Result<Option<NonNull<windlass_error_t>>>) -> io::Result<()> {
    returned.and_then(windlass_error_t::take).map_err(io::Error::other)
}

/// Opens a file by its path. `flags` is a set of WINDLASS_FILE_*. NOT_FOUND, PERMISSION_DENIED and ALREADY_EXISTS are
/// the system's reasons; UNKNOWN has others in its message. The caller owns the file.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_file_open(
    path: *const c_char,
    flags: u32,
    file: Option<&mut MaybeUninit<Option<NonNull<windlass_file_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(file, || {
            // SAFETY: the contract in the header covers that of `text`.
            let path = unsafe { text("path", path) }?;
            let has = |flag| flags & flag != 0;
            let all =
                WINDLASS_FILE_READ | WINDLASS_FILE_WRITE | WINDLASS_FILE_CREATE | WINDLASS_FILE_TRUNCATE;
            let makes = has(WINDLASS_FILE_CREATE) || has(WINDLASS_FILE_TRUNCATE);
            let opens = has(WINDLASS_FILE_READ) || has(WINDLASS_FILE_WRITE);
            if flags & !all != 0 || !opens || (makes && !has(WINDLASS_FILE_WRITE)) {
                return Err(Error::invalid_argument(format!(
                    "opening {path} with the flags {flags:#x}: they need WINDLASS_FILE_READ or WINDLASS_FILE_WRITE"
                )));
            }
            let mut options = std::fs::File::options();
            options.read(has(WINDLASS_FILE_READ)).write(has(WINDLASS_FILE_WRITE));
            options.create(has(WINDLASS_FILE_CREATE)).truncate(has(WINDLASS_FILE_TRUNCATE));
            options.open(path).map(File::from).map_err(|error| io_error(&format!("opening {path}"), &error))
        })
    })
}

/// A file over a descriptor of the system, which is duplicated: the caller keeps its own. The descriptor's access
/// decides what queues may do with the file. INVALID_ARGUMENT if nothing is open under the number, UNIMPLEMENTED on
/// systems without descriptors. The caller owns the file.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_file_from_descriptor(
    descriptor: c_int,
    file: Option<&mut MaybeUninit<Option<NonNull<windlass_file_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(file, || duplicate(descriptor).map(File::from)))
}

#[cfg(unix)]
pub(crate) fn duplicate(descriptor: c_int) -> Result<std::fs::File> {
    let wrong =
        |why: &str| Error::invalid_argument(format!("no file is open under descriptor {descriptor}: {why}"));
    if descriptor < 0 {
        return Err(wrong("it is negative"));
    }
    // SAFETY: the number is not -1, and it is only handed to the system, which checks it.
    let borrowed = unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) };
    borrowed.try_clone_to_owned().map(std::fs::File::from).map_err(|error| wrong(&error.to_string()))
}

#[cfg(not(unix))]
pub(crate) fn duplicate(_: c_int) -> Result<std::fs::File> {
    Err(Error::unimplemented("this system has no descriptors; windlass_file_open takes a path"))
}

/// A file over functions of the program: a storage that the system has no file for. `read` or `write` may be NULL if
/// queues never do that. `destroy`, which may be NULL, is called with the user data exactly once in every case: before
/// this returns an error, else on a thread of Windlass when the last handle is released and the last operation has
/// ended. The caller owns the file.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_file_from_functions(
    read: windlass_storage_read_t,
    write: windlass_storage_write_t,
    user_data: *mut c_void,
    destroy: windlass_destroy_t,
    file: Option<&mut MaybeUninit<Option<NonNull<windlass_file_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let owned = OwnedUserData { data: UserData(user_data), destroy };
        give(file, || {
            if read.is_none() && write.is_none() {
                return Err(Error::invalid_argument("a file of two NULL functions"));
            }
            Ok(File::new(Functions { read, write, owned: Some(owned) }))
        })
    })
}

/// Adds a reference and returns the file. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_file_retain(
    file: Option<NonNull<windlass_file_t>>,
) -> Option<NonNull<windlass_file_t>> {
    infallible(None, || handle::retain(file).map(|()| file))
}

/// Releases a reference. NULL is allowed. The file closes with the last one and with the last operation that uses it.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_file_release(file: Option<NonNull<windlass_file_t>>) {
    infallible((), || {
        handle::release(file);
        Ok(())
    });
}

/// Fills `target` from a file, beginning at byte `file_offset` of it. OUT_OF_RANGE fails the signals if the file ends
/// before.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_read(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    file: Option<NonNull<windlass_file_t>>,
    file_offset: u64,
    target: windlass_buffer_ref_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        let target = range_of("target", &target)?;
        let file = used(file)?;
        used(queue)?.read(&lists.waits, &lists.signals, &file, file_offset, &target)
    })
}

/// Writes `source` to a file, beginning at byte `file_offset` of it.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_write(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    source: windlass_buffer_ref_t,
    file: Option<NonNull<windlass_file_t>>,
    file_offset: u64,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        let source = range_of("source", &source)?;
        let file = used(file)?;
        used(queue)?.write(&lists.waits, &lists.signals, &source, &file, file_offset)
    })
}

/// An error of the system while it does something with a file.
pub(crate) fn io_error(what: &str, error: &io::Error) -> Error {
    let code = match error.kind() {
        io::ErrorKind::NotFound => Code::NotFound,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Code::PermissionDenied,
        io::ErrorKind::AlreadyExists => Code::AlreadyExists,
        io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput => Code::InvalidArgument,
        io::ErrorKind::StorageFull | io::ErrorKind::OutOfMemory => Code::ResourceExhausted,
        _ => Code::Unknown,
    };
    Error::new(code, format!("{what}: {error}"))
}
