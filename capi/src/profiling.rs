// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles: records of the work of a device, for a function of the C program or as a trace in a file.

use std::{
    ffi::{CString, c_char, c_void},
    fs::{self, File},
    io::BufWriter,
    path::{Path, PathBuf},
    process,
    ptr::{self, NonNull},
    sync::{
        Arc, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use facade::{
    CommandRecord, Error, HostCallRecord, MemoryRecord, OperationRecord, ProfileChunk, ProfileOptions,
    ProfilePoint, ProfileRecord, ProfileSink, ProfileTrace, Result,
};

use crate::{
    boundary::{fallible, infallible},
    callback::{OwnedUserData, UserData, windlass_destroy_t},
    device::windlass_device_t,
    error::windlass_error_t,
    exception::contained,
    file::io_error,
    handle::{self, Shell, object, used},
    memory::{Growing, c_string, list, read_struct, text},
};

/// The extent of a profile.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_profile_options_t {
    /// sizeof this struct, set by the caller: windlass_profile_options_init does so.
    pub struct_size: usize,
    /// Whether to leave out the times of the device.
    pub without_device_times: bool,
    /// Whether to leave out the records of memory.
    pub without_memory: bool,
    /// Whether to record each command and debug group of command buffers. This costs time for each command.
    pub with_commands: bool,
    /// Zero.
    pub reserved: [u8; 5],
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_profile_options_t {
    const NAME: &'static str = "windlass_profile_options_t";
}

/// The kind of a record: one of WINDLASS_PROFILE_*. Later versions may add kinds.
pub type windlass_profile_kind_t = u32;

/// A kind that this version of the interface has no number for.
pub const WINDLASS_PROFILE_OTHER: windlass_profile_kind_t = 0;
/// An operation of a queue: once, when it has retired, or at the end of the profile if it is in flight then.
pub const WINDLASS_PROFILE_OPERATION: windlass_profile_kind_t = 1;
/// A command of a command buffer, or a debug group in it. These records come before that of their operation.
pub const WINDLASS_PROFILE_COMMAND: windlass_profile_kind_t = 2;
/// A host call that ran. Its operation has a record of its own.
pub const WINDLASS_PROFILE_HOST_CALL: windlass_profile_kind_t = 3;
/// A change of memory.
pub const WINDLASS_PROFILE_MEMORY: windlass_profile_kind_t = 4;

/// A number that a record does not have.
pub const WINDLASS_PROFILE_NONE: u32 = u32::MAX;

/// A value of a semaphore, in a record.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_profile_point_t {
    /// windlass_semaphore_id of the semaphore.
    pub semaphore: u64,
    /// The value.
    pub value: u64,
}

/// A record. Its strings, lists and error belong to the library and last as long as the call. Times are nanoseconds of
/// CLOCK_MONOTONIC; 0 if there is none.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_profile_record_t {
    /// sizeof this struct in the library.
    pub struct_size: usize,
    /// The kind.
    pub kind: windlass_profile_kind_t,
    /// The queue that ran an operation, or WINDLASS_PROFILE_NONE.
    pub queue: u32,
    /// The GPU within the device that ran an operation, or WINDLASS_PROFILE_NONE.
    pub gpu: u32,
    /// The number of a command in its list, or WINDLASS_PROFILE_NONE.
    pub command: u32,
    /// The number of the innermost debug group around a command, or WINDLASS_PROFILE_NONE.
    pub group: u32,
    /// The memory type of a change of memory: WINDLASS_MEMORY_TYPE_*.
    pub memory_type: u32,
    /// The number of the submission of an operation, a command or a host call, in the order of submission.
    pub submission: u64,
    /// An operation ("queue_fill"), the kind of a command ("fill", "group"), "host_call", or a change of memory
    /// ("allocate", "free", "reserve", "unreserve", "import", "release").
    pub name: *const c_char,
    /// The function of a dispatch, the label of a debug group, or NULL.
    pub function: *const c_char,
    /// The queues that an operation might run on.
    pub affinity: u64,
    /// Workgroups in x, y, z of a dispatch; zeros where the device reads the number.
    pub workgroup_count: [u32; 3],
    /// Work-items of a workgroup in x, y, z of a dispatch.
    pub workgroup_size: [u32; 3],
    /// The bytes of a transfer, an alloca, a dealloca or a change of memory.
    pub bytes: u64,
    /// The number of commands of an executed command buffer.
    pub command_count: u64,
    /// The number of the thread of a host call.
    pub thread: u64,
    /// When an operation was submitted, or when memory changed.
    pub submitted: u64,
    /// When the driver took an operation over, or when a host call began.
    pub issued: u64,
    /// When the signals of an operation were settled, or when a host call returned. 0 for work in flight at the end.
    pub retired: u64,
    /// When an operation or a command began on the device.
    pub device_begun: u64,
    /// When it ended there.
    pub device_ended: u64,
    /// The records that were lost before this one, because the callback was slower than the work.
    pub lost: u64,
    /// The number of waits of an operation.
    pub wait_count: usize,
    /// The wait list.
    pub waits: *const windlass_profile_point_t,
    /// The number of signals of an operation.
    pub signal_count: usize,
    /// The signal list.
    pub signals: *const windlass_profile_point_t,
    /// The error with which an operation or a host call failed, or NULL.
    pub error: Option<NonNull<windlass_error_t>>,
    /// The colour of a debug group: red, green, blue, alpha; zeros if it has none.
    pub color: [u8; 4],
    /// Zero.
    pub reserved: [u8; 4],
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_profile_record_t {
    const NAME: &'static str = "windlass_profile_record_t";
}

/// A copy of a record, which outlasts the call: see windlass_ticket_profile.
pub struct windlass_kept_record_t(Shell<KeptRecord>);
object!(windlass_kept_record_t, KeptRecord, "kept record");

/// Called for each record of a profile, on a thread that retires work or in a call that flushes or ends the profile. Calls
/// for one profile do not overlap. It may call any function, but cannot flush or end the profile.
pub type windlass_profile_callback_t =
    Option<unsafe extern "C-unwind" fn(user_data: *mut c_void, record: *const windlass_profile_record_t)>;

struct Callback {
    call: unsafe extern "C-unwind" fn(*mut c_void, *const windlass_profile_record_t),
    user_data: OwnedUserData,
}

impl ProfileSink for Callback {
    fn records(&self, chunk: ProfileChunk) {
        let mut lost = chunk.dropped;
        for record in &chunk.records {
            let mut kept = Kept::default();
            let mut value = describe(record, &mut kept);
            value.lost = std::mem::take(&mut lost);
            // SAFETY: the caller gave the function for these calls, on any thread, one at a time.
            contained("the function of a profile", || unsafe { (self.call)(self.user_data.data.0, &value) });
            handle::release(value.error);
        }
    }
}

/// The memory behind the pointers of a record.
#[derive(Default)]
struct Kept {
    name: CString,
    function: Option<CString>,
    waits: Vec<windlass_profile_point_t>,
    signals: Vec<windlass_profile_point_t>,
}

impl Kept {
    /// Lets a record point here. It is valid as long as this.
    fn lend_to(&self, value: &mut windlass_profile_record_t) {
        value.name = self.name.as_ptr();
        value.function = self.function.as_ref().map_or(ptr::null(), |function| function.as_ptr());
        (value.wait_count, value.waits) = (self.waits.len(), self.waits.as_ptr());
        (value.signal_count, value.signals) = (self.signals.len(), self.signals.as_ptr());
    }
}

/// A record with the memory behind its pointers, and with a reference to its error.
pub(crate) struct KeptRecord {
    value: windlass_profile_record_t,
    _kept: Kept,
}

// SAFETY: the pointers lead to memory of this record, which nobody writes, and to a counted error.
unsafe impl Send for KeptRecord {}
// SAFETY: as above.
unsafe impl Sync for KeptRecord {}

impl KeptRecord {
    /// Copies a record.
    ///
    /// # Safety
    /// The pointers of the record are NULL or valid during the call.
    pub(crate) unsafe fn new(record: &windlass_profile_record_t) -> Result<Self> {
        // SAFETY: the caller's contract.
        let (name, waits, signals) = unsafe {
            (
                if record.name.is_null() { "" } else { text("name", record.name)? },
                list("waits", record.wait_count, record.waits)?,
                list("signals", record.signal_count, record.signals)?,
            )
        };
        let function = if record.function.is_null() {
            None
        } else {
            // SAFETY: the caller's contract.
            Some(c_string(unsafe { text("function", record.function) }?))
        };
        let kept = Kept { name: c_string(name), function, waits: waits.to_vec(), signals: signals.to_vec() };
        let mut value = *record;
        if value.error.is_some() {
            handle::retain(value.error)?;
        }
        value.struct_size = size_of::<windlass_profile_record_t>();
        kept.lend_to(&mut value);
        Ok(Self { value, _kept: kept })
    }

    /// The records that were lost before this one.
    pub(crate) fn lost(&self) -> u64 {
        self.value.lost
    }

    /// Adds to the records that were lost before this one.
    pub(crate) fn lose(&mut self, more: u64) {
        self.value.lost = self.value.lost.saturating_add(more);
    }
}

impl Drop for KeptRecord {
    fn drop(&mut self) {
        handle::release(self.value.error);
    }
}

const EMPTY: windlass_profile_record_t = windlass_profile_record_t {
    struct_size: size_of::<windlass_profile_record_t>(),
    kind: WINDLASS_PROFILE_OTHER,
    queue: WINDLASS_PROFILE_NONE,
    gpu: WINDLASS_PROFILE_NONE,
    command: WINDLASS_PROFILE_NONE,
    group: WINDLASS_PROFILE_NONE,
    memory_type: 0,
    submission: 0,
    name: ptr::null(),
    function: ptr::null(),
    affinity: 0,
    workgroup_count: [0; 3],
    workgroup_size: [0; 3],
    bytes: 0,
    command_count: 0,
    thread: 0,
    submitted: 0,
    issued: 0,
    retired: 0,
    device_begun: 0,
    device_ended: 0,
    lost: 0,
    wait_count: 0,
    waits: ptr::null(),
    signal_count: 0,
    signals: ptr::null(),
    error: None,
    color: [0; 4],
    reserved: [0; 4],
};

fn describe(record: &ProfileRecord, kept: &mut Kept) -> windlass_profile_record_t {
    let mut value = match record {
        ProfileRecord::Operation(operation) => of_operation(operation, kept),
        ProfileRecord::Command(command) => of_command(command, kept),
        ProfileRecord::HostCall(call) => of_host_call(call, kept),
        ProfileRecord::Memory(memory) => of_memory(memory, kept),
        _ => EMPTY,
    };
    kept.lend_to(&mut value);
    value
}

fn points(points: &[ProfilePoint]) -> Vec<windlass_profile_point_t> {
    let point =
        |point: &ProfilePoint| windlass_profile_point_t { semaphore: point.semaphore, value: point.value };
    points.iter().map(point).collect()
}

fn of_operation(record: &OperationRecord, kept: &mut Kept) -> windlass_profile_record_t {
    kept.name = c_string(record.operation);
    kept.function = record.function().map(c_string);
    kept.waits = points(record.waits());
    kept.signals = points(record.signals());
    let time = record.device.map_or((0, 0), |time| (time.begun, time.ended));
    windlass_profile_record_t {
        kind: WINDLASS_PROFILE_OPERATION,
        queue: record.queue.unwrap_or(WINDLASS_PROFILE_NONE),
        gpu: record.gpu.unwrap_or(WINDLASS_PROFILE_NONE),
        submission: record.submission,
        affinity: record.affinity.bits(),
        workgroup_count: record.workgroup_count.unwrap_or_default(),
        workgroup_size: record.workgroup_size.unwrap_or_default(),
        bytes: record.bytes.unwrap_or_default(),
        command_count: record.commands.unwrap_or_default().into(),
        submitted: record.submitted,
        issued: record.issued.unwrap_or_default(),
        retired: record.retired.unwrap_or_default(),
        device_begun: time.0,
        device_ended: time.1,
        error: record.failure.clone().map(windlass_error_t::create),
        ..EMPTY
    }
}

fn of_command(record: &CommandRecord, kept: &mut Kept) -> windlass_profile_record_t {
    kept.name = c_string(record.kind.name());
    kept.function = record.name.as_deref().map(c_string);
    let time = record.device.map_or((0, 0), |time| (time.begun, time.ended));
    windlass_profile_record_t {
        kind: WINDLASS_PROFILE_COMMAND,
        command: record.index,
        group: record.group.unwrap_or(WINDLASS_PROFILE_NONE),
        submission: record.submission,
        workgroup_count: record.workgroup_count.unwrap_or_default(),
        workgroup_size: record.workgroup_size.unwrap_or_default(),
        bytes: record.bytes.unwrap_or_default(),
        device_begun: time.0,
        device_ended: time.1,
        color: record.color.unwrap_or_default(),
        ..EMPTY
    }
}

fn of_host_call(record: &HostCallRecord, kept: &mut Kept) -> windlass_profile_record_t {
    kept.name = c_string("host_call");
    windlass_profile_record_t {
        kind: WINDLASS_PROFILE_HOST_CALL,
        submission: record.submission,
        thread: record.thread,
        issued: record.time.begun,
        retired: record.time.ended,
        error: record.failure.clone().map(windlass_error_t::create),
        ..EMPTY
    }
}

fn of_memory(record: &MemoryRecord, kept: &mut Kept) -> windlass_profile_record_t {
    kept.name = c_string(record.event.name());
    windlass_profile_record_t {
        kind: WINDLASS_PROFILE_MEMORY,
        memory_type: record.memory_type.0,
        bytes: record.bytes,
        submitted: record.at,
        ..EMPTY
    }
}

/// Options of the caller; NULL means the default.
///
/// # Safety
/// As for `read_struct`, or NULL.
unsafe fn options_of(options: *const windlass_profile_options_t) -> Result<ProfileOptions> {
    if options.is_null() {
        return Ok(ProfileOptions::default());
    }
    // SAFETY: the same contract.
    let options = unsafe { read_struct(options) }?;
    if options.reserved != [0; 5] {
        return Err(Error::invalid_argument("`reserved` of windlass_profile_options_t is not zero"));
    }
    Ok(ProfileOptions::default()
        .with_device_times(!options.without_device_times)
        .with_memory(!options.without_memory)
        .with_commands(options.with_commands))
}

/// Begins a profile of a device: the callback hears of each operation that is submitted from now on, of host calls, of
/// changes of memory, and on demand of the commands of command buffers. Records arrive some time after the work, or in
/// windlass_device_profiling_flush and windlass_device_profiling_end. NULL options mean those of
/// windlass_profile_options_init. FAILED_PRECONDITION while the device has a profile. It ends with the last reference to the
/// device at the latest. May wait up to a second for an idle GPU, to compare the clocks of host and device. `destroy`,
/// which may be NULL, is called with the user data exactly once: after the last record, and if this function returns an
/// error.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_profiling_begin(
    device: Option<NonNull<windlass_device_t>>,
    options: *const windlass_profile_options_t,
    callback: windlass_profile_callback_t,
    user_data: *mut c_void,
    destroy: windlass_destroy_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let user_data = OwnedUserData { data: UserData(user_data), destroy };
        let call = callback.ok_or_else(|| Error::invalid_argument("the callback of a profile is NULL"))?;
        // SAFETY: the contract in the header covers that of `options_of`.
        let options = unsafe { options_of(options) }?;
        used(device)?.device.profiling_begin(options, Arc::new(Callback { call, user_data }))
    })
}

/// Begins a profile that is written to a file, as JSON for https://ui.perfetto.dev. The file is complete when
/// windlass_device_profiling_end has returned without an error. An error of the file if it cannot be made, such as NOT_FOUND.
/// For the rest it is like windlass_device_profiling_begin.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_profiling_begin_trace(
    device: Option<NonNull<windlass_device_t>>,
    options: *const windlass_profile_options_t,
    path: *const c_char,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `text`.
        let path = unsafe { text("path", path) }?;
        // SAFETY: the contract in the header covers that of `options_of`.
        let options = unsafe { options_of(options) }?;
        let device = used(device)?;
        // A link stays a link.
        let place = &fs::canonicalize(path).unwrap_or_else(|_| path.into());
        // A refused profile leaves a file that is there as it was. Pipes and devices are no files to be replaced.
        let is_replaced = fs::metadata(place).is_ok_and(|known| known.is_file());
        let new = if is_replaced { beside(place) } else { place.to_owned() };
        let file =
            File::create(&new).map_err(|error| io_error(&format!("`{path}` cannot be written"), &error))?;
        let trace = Arc::new(ProfileTrace::new(BufWriter::new(file)));
        let begun = device.device.profiling_begin(options, trace.clone());
        let begun = begun.and_then(|()| {
            if !is_replaced {
                return Ok(());
            }
            fs::rename(&new, place).map_err(|error| {
                let _ = device.device.profiling_end();
                io_error(&format!("`{path}` cannot be replaced"), &error)
            })
        });
        if begun.is_err() && is_replaced {
            drop(fs::remove_file(&new));
        }
        begun?;
        *device.trace.lock().unwrap_or_else(PoisonError::into_inner) = Some((path.to_owned(), trace));
        Ok(())
    })
}

/// The name of a new file in the folder of another one.
fn beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    name.into()
}

/// Retires finished work and delivers all records that are complete. Waits for a callback on another thread.
/// FAILED_PRECONDITION without a profile, and within a callback of it.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_profiling_flush(
    device: Option<NonNull<windlass_device_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| used(device)?.device.profiling_flush())
}

/// Ends the profile. Retires finished work and delivers all records; work in flight gets a record without the time of its
/// retirement. No callback runs after this has returned. FAILED_PRECONDITION without a profile, and within a callback of it.
/// An error of the file of a trace, RESOURCE_EXHAUSTED if its disk is full: the profile has ended, and the file is not complete.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_profiling_end(
    device: Option<NonNull<windlass_device_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let device = used(device)?;
        device.device.profiling_end()?;
        let trace = device.trace.lock().unwrap_or_else(PoisonError::into_inner).take();
        trace.map_or(Ok(()), |(path, trace)| {
            let written = trace.finish();
            written.map_err(|error| io_error(&format!("the trace in `{path}` is not complete"), &error))
        })
    })
}

/// The record of a copy, as a callback of a profile has it. It is valid until the copy's last reference is released. NULL for
/// NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_kept_record_get(
    kept: Option<NonNull<windlass_kept_record_t>>,
) -> *const windlass_profile_record_t {
    infallible(ptr::null(), || Ok(ptr::from_ref(&used(kept)?.value)))
}

/// Adds a reference and returns the copy. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_kept_record_retain(
    kept: Option<NonNull<windlass_kept_record_t>>,
) -> Option<NonNull<windlass_kept_record_t>> {
    infallible(None, || handle::retain(kept).map(|()| kept))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_kept_record_release(kept: Option<NonNull<windlass_kept_record_t>>) {
    infallible((), || {
        handle::release(kept);
        Ok(())
    });
}
