// SPDX-License-Identifier: MIT OR Apache-2.0
//! Features that a device may lack.

use std::{
    ffi::{CString, c_char},
    ptr,
    sync::OnceLock,
};

use facade::{Feature, Lack};

use crate::{
    boundary::infallible,
    memory::{Texts, c_string},
};

/// An optional feature of a device: one of WINDLASS_FEATURE_*. Later versions may add features.
pub type windlass_feature_t = u32;

/// A feature that this version of the interface has no number for.
pub const WINDLASS_FEATURE_OTHER: windlass_feature_t = 0;
/// windlass_queue_alloca and windlass_queue_dealloca.
pub const WINDLASS_FEATURE_ALLOCA: windlass_feature_t = 1;
/// Command buffers.
pub const WINDLASS_FEATURE_COMMAND_BUFFERS: windlass_feature_t = 2;
/// Loading executables and dispatching their functions.
pub const WINDLASS_FEATURE_DISPATCH: windlass_feature_t = 3;
/// Reading and writing files on a queue.
pub const WINDLASS_FEATURE_FILES: windlass_feature_t = 4;
/// Host calls.
pub const WINDLASS_FEATURE_HOST_CALLS: windlass_feature_t = 5;
/// Buffers of foreign host memory.
pub const WINDLASS_FEATURE_IMPORT_HOST: windlass_feature_t = 6;
/// Buffers of foreign device memory.
pub const WINDLASS_FEATURE_IMPORT_DEVICE: windlass_feature_t = 7;
/// Dispatches whose workgroup count is in a buffer.
pub const WINDLASS_FEATURE_INDIRECT_DISPATCH: windlass_feature_t = 8;
/// Global variables of executables.
pub const WINDLASS_FEATURE_GLOBALS: windlass_feature_t = 9;
/// Executables of several pieces of code that refer to each other.
pub const WINDLASS_FEATURE_LINKING: windlass_feature_t = 10;
/// The symbols of executables.
pub const WINDLASS_FEATURE_SYMBOLS: windlass_feature_t = 11;
/// windlass_function_occupancy and windlass_function_suggested_workgroup.
pub const WINDLASS_FEATURE_OCCUPANCY: windlass_feature_t = 12;
/// Buffers that grow in place.
pub const WINDLASS_FEATURE_VIRTUAL_MEMORY: windlass_feature_t = 13;
/// Order between queues and the streams and events of other libraries.
pub const WINDLASS_FEATURE_EXTERNAL_TIMEPOINTS: windlass_feature_t = 14;
/// Channels between devices, and the collective operations on them.
pub const WINDLASS_FEATURE_COLLECTIVES: windlass_feature_t = 15;

/// A feature that a device declares to lack. Its use is UNIMPLEMENTED. The strings belong to the owner of the list.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_lack_t {
    /// The missing feature.
    pub feature: windlass_feature_t,
    /// Zero.
    pub reserved: u32,
    /// The reason in a few words.
    pub reason: *const c_char,
}

const NUMBERS: [(windlass_feature_t, Feature); 15] = [
    (WINDLASS_FEATURE_ALLOCA, Feature::Alloca),
    (WINDLASS_FEATURE_COMMAND_BUFFERS, Feature::CommandBuffers),
    (WINDLASS_FEATURE_DISPATCH, Feature::Dispatch),
    (WINDLASS_FEATURE_FILES, Feature::Files),
    (WINDLASS_FEATURE_HOST_CALLS, Feature::HostCalls),
    (WINDLASS_FEATURE_IMPORT_HOST, Feature::ImportHost),
    (WINDLASS_FEATURE_IMPORT_DEVICE, Feature::ImportDevice),
    (WINDLASS_FEATURE_INDIRECT_DISPATCH, Feature::IndirectDispatch),
    (WINDLASS_FEATURE_GLOBALS, Feature::Globals),
    (WINDLASS_FEATURE_LINKING, Feature::Linking),
    (WINDLASS_FEATURE_SYMBOLS, Feature::Symbols),
    (WINDLASS_FEATURE_OCCUPANCY, Feature::Occupancy),
    (WINDLASS_FEATURE_VIRTUAL_MEMORY, Feature::VirtualMemory),
    (WINDLASS_FEATURE_EXTERNAL_TIMEPOINTS, Feature::ExternalTimepoints),
    (WINDLASS_FEATURE_COLLECTIVES, Feature::Collectives),
];

/// The feature of a number.
pub(crate) fn feature_of(number: windlass_feature_t) -> Option<Feature> {
    NUMBERS.iter().find(|(known, _)| *known == number).map(|(_, feature)| *feature)
}

/// The lacks of a device for C.
pub(crate) struct Lacks {
    /// Owns the bytes that the list's pointers lead to.
    _reasons: Texts,
    list: Vec<windlass_lack_t>,
}

// SAFETY: the pointers lead to the bytes that this owns, and nothing writes them.
unsafe impl Send for Lacks {}
// SAFETY: as above.
unsafe impl Sync for Lacks {}

impl Lacks {
    pub(crate) fn new(lacks: &[Lack]) -> Self {
        let reasons = Texts::new(lacks.iter().map(|lack| c_string(&lack.reason)));
        let lack = |(lack, reason): (&Lack, &*const c_char)| {
            let number = NUMBERS.iter().find(|(_, feature)| *feature == lack.feature);
            let feature = number.map_or(WINDLASS_FEATURE_OTHER, |(number, _)| *number);
            windlass_lack_t { feature, reserved: 0, reason: *reason }
        };
        let list = lacks.iter().zip(reasons.pointers()).map(lack).collect();
        Self { _reasons: reasons, list }
    }

    pub(crate) fn list(&self) -> &[windlass_lack_t] {
        &self.list
    }
}

/// The name of a feature in reports, such as "import_host"; NULL for an unknown number. The string is valid forever.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_feature_name(feature: windlass_feature_t) -> *const c_char {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    infallible(ptr::null(), || {
        let names =
            NAMES.get_or_init(|| NUMBERS.iter().map(|(_, feature)| c_string(feature.name())).collect());
        let index = NUMBERS.iter().position(|(number, _)| *number == feature);
        Ok(index.and_then(|index| names.get(index)).map_or(ptr::null(), |name| name.as_ptr()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_of_the_hal_has_a_number() {
        for feature in Feature::ALL {
            assert_eq!(NUMBERS.iter().filter(|(_, known)| *known == feature).count(), 1, "{feature:?}");
        }
    }
}
