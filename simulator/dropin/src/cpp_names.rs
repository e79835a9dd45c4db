// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions under the C++ names that HIP 5 gave them. Later versions export the same functions under their C names.

use std::ffi::c_void;
use std::sync::OnceLock;

use windlass_hip_sys::EntryPoints;
use windlass_hip_sys::bindings::*;

use crate::absent::Absent;
use crate::composed::composed;
use crate::simulator;
use crate::versions::versioned;

/// The functions of all versions, since the table of HIP 5 lacks the C names.
fn table() -> &'static EntryPoints {
    static TABLE: OnceLock<EntryPoints> = OnceLock::new();
    // Sets up the end of HIP, as every first call does.
    crate::table::table();
    TABLE.get_or_init(|| simulator::entries(|core| core.hip_of_all_versions))
}

composed! {
    "hip_4.2" {
        _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
            function: hipFunction_t, items_x: u32, items_y: u32, items_z: u32, block_x: u32, block_y: u32,
            block_z: u32, lds: usize, stream: hipStream_t, each: *mut *mut c_void, block: *mut *mut c_void,
            start: hipEvent_t, stop: hipEvent_t, flags: u32,
        ) => match table().hipExtModuleLaunchKernel {
            Some(launch) => launch(
                function, items_x, items_y, items_z, block_x, block_y, block_z, lds, stream, each, block, start,
                stop, flags,
            ),
            None => Absent::refuse("hipExtModuleLaunchKernel"),
        };
        _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(
            function: hipFunction_t, items_x: u32, items_y: u32, items_z: u32, block_x: u32, block_y: u32,
            block_z: u32, lds: usize, stream: hipStream_t, each: *mut *mut c_void, block: *mut *mut c_void,
            start: hipEvent_t, stop: hipEvent_t,
        ) => match table().hipHccModuleLaunchKernel {
            Some(launch) => launch(
                function, items_x, items_y, items_z, block_x, block_y, block_z, lds, stream, each, block, start,
                stop,
            ),
            None => Absent::refuse("hipHccModuleLaunchKernel"),
        };
    }
}
