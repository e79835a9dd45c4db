// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replays of recordings.

use std::{ffi::c_char, ptr::NonNull};

use facade::{Error, Result};

use crate::{
    boundary::fallible,
    device::windlass_device_t,
    error::windlass_error_t,
    handle::used,
    memory::{Growing, text, write_struct},
};

/// The result of a replay.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_replayed_t {
    /// sizeof this struct, set by the caller: windlass_replayed_init does so.
    pub struct_size: usize,
    /// The operations that ran.
    pub operations: u64,
    /// The bytes that were compared with the recording.
    pub compared: u64,
    /// The results that differ from the recorded ones.
    pub differing: u64,
    /// The time from the first submission to the end of the last operation, in nanoseconds.
    pub nanoseconds: u64,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_replayed_t {
    const NAME: &'static str = "windlass_replayed_t";
}

/// Replays the recording in a file on a device, and compares the results. A device records to a file if it is opened as
/// "record://?file=FILE&over=URI". ABORTED if a result differs: the message names the first differences, and `replayed`
/// is written. DATA_LOSS for a file that is no whole recording; if it was only cut short, the part before was replayed, and
/// `replayed` is written. Other errors are those of the device, which stopped the
/// replay. Waits for the end of the replay. `replayed` may be NULL.
///
/// The code in the recording runs, as code that windlass_executable_load loads does, and on "local://" as code of this
/// process.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_replay(
    device: Option<NonNull<windlass_device_t>>,
    path: *const c_char,
    replayed: *mut windlass_replayed_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let device = used(device)?;
        // SAFETY: the contract in the header covers that of `text`.
        let path = unsafe { text("path", path) }?;
        let (result, flaw) = replay(&device.device, path)?;
        if !replayed.is_null() {
            // SAFETY: the contract in the header covers that of `write_struct`.
            unsafe { write_struct(replayed, &result) }?;
        }
        flaw.map_or(Ok(()), Err)
    })
}

/// The result, and the error of results that differ or of a file that was cut short.
#[cfg(feature = "record")]
fn replay(device: &facade::Device, path: &str) -> Result<(windlass_replayed_t, Option<Error>)> {
    use facade::{
        Code,
        record::{Player, Recording, ReplayOptions},
    };
    let recording = Recording::open(std::path::Path::new(path))?;
    // SAFETY: the contract in the header says that the recorded code runs.
    let mut player = unsafe { Player::new(&recording, device) };
    let replayed = player.run(&ReplayOptions::new())?;
    let result = windlass_replayed_t {
        struct_size: size_of::<windlass_replayed_t>(),
        operations: replayed.operations,
        compared: replayed.compared,
        differing: replayed.differing,
        nanoseconds: u64::try_from(replayed.time.as_nanos()).unwrap_or(u64::MAX),
    };
    let differences: Vec<_> = replayed.differences.iter().map(ToString::to_string).collect();
    let is_cut = |at| {
        let text = format!(
            "`{path}` was cut short at byte {at}; the operations before were replayed, and none differs"
        );
        Error::new(Code::DataLoss, text)
    };
    let flaw = match replayed.differing {
        0 => recording.cut().map(is_cut),
        _ => Some(Error::aborted(differences.join("; "))),
    };
    Ok((result, flaw))
}

#[cfg(not(feature = "record"))]
fn replay(_device: &facade::Device, _path: &str) -> Result<(windlass_replayed_t, Option<Error>)> {
    Err(Error::unimplemented("this library was built without the feature `record`"))
}
