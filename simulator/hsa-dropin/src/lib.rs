// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulated GPU as a drop-in `libhsa-runtime64.so.1`.
//!
//! AMD's HIP runtime, and other programs that load or link ROCr, run on the simulator with this library in
//! ROCr's place. The environment variable `WINDLASS_SIM` describes the machine, spelled as in `hip-sim://` URIs
//! (`gfx942?devices=2`). `WINDLASS_LOG` selects the messages on standard error (`windlass::sim=trace` shows
//! every call). The default is errors only.
//!
//! The simulator is not in this library: `libwindlass_simulator_core.so`, which must lie beside it, serves all drop-in libraries.
//! Without it the functions return `HSA_STATUS_ERROR`, and the first call writes the reason to standard error.
//!
//! Every function that ROCr exports is exported, with ROCr's symbol version. A function that the simulator
//! lacks returns HSA's status for unsupported functions, or `HSA_STATUS_ERROR` if HSA has none, and the log
//! names it once.
//!
//! The symbol `windlass_simulator_marker` distinguishes this library from AMD's.

use std::ffi::{c_char, c_int, c_void};

use windlass_simulator::drop_in::{self, Text};
use windlass_simulator::hsa::Status;
use windlass_simulator::hsa::abi::*;

mod simulator;

use simulator::Absent;

/// Runs when the library is loaded.
extern "C" fn load() {
    drop_in::note_folder();
}

#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
static LOAD: extern "C" fn() = load;

/// Distinguishes this library from AMD's; the value has no meaning.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "C's spelling")]
pub static windlass_simulator_marker: c_int = 1;

/// Gives a function ROCr's symbol version.
macro_rules! versioned {
    ($($name:ident)*) => {
        $(
            #[cfg(symbol_versions)]
            std::arch::global_asm!(concat!(".symver ", stringify!($name), ", ", stringify!($name), "@@ROCR_1"));
        )*
    };
}

macro_rules! export {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "` of the simulated GPU.")]
            ///
            /// # Safety
            /// As HSA documents the function.
            #[unsafe(no_mangle)]
            #[allow(clippy::too_many_arguments)]
            pub unsafe extern "C" fn $name($($parameter: $ty),*) -> $result {
                match simulator::functions() {
                    // SAFETY: the caller guarantees the arguments.
                    Some(functions) => unsafe { (functions.$name)($($parameter),*) },
                    None => Absent::ABSENT,
                }
            }
        )*

        versioned! { $($name)* }
    };
}

windlass_simulator::for_each_hsa_function!(export);

/// Functions of ROCr's list that the simulator lacks. They ignore their arguments and so declare none: in C's
/// calling convention the caller removes the arguments.
macro_rules! refused {
    ($($status:ident: $($name:ident)*;)*) => {
        $($(
            #[doc = concat!("`", stringify!($name), "`, which the simulated GPU lacks.")]
            ///
            /// # Safety
            /// Nothing is asked of the caller.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() -> Status {
                match simulator::core() {
                    // SAFETY: a static text.
                    Some(core) => unsafe { (core.refuse_hsa)(Text::new(stringify!($name)), Status::$status) },
                    None => Status::$status,
                }
            }
        )*)*

        versioned! { $($($name)*)* }
    };
}

refused! {
    ERROR:
    hsa_amd_interop_map_buffer hsa_amd_interop_unmap_buffer hsa_amd_portable_close_dmabuf
    hsa_amd_portable_export_dmabuf hsa_amd_spm_acquire hsa_amd_spm_release hsa_amd_spm_set_dest_buffer
    hsa_amd_svm_attributes_get hsa_amd_svm_attributes_set hsa_amd_svm_prefetch_async
    hsa_amd_vmem_export_shareable_handle hsa_amd_vmem_import_shareable_handle hsa_code_object_deserialize
    hsa_code_object_destroy hsa_code_object_get_info hsa_code_object_get_symbol
    hsa_code_object_get_symbol_from_name hsa_code_object_iterate_symbols hsa_code_object_serialize
    hsa_code_symbol_get_info hsa_executable_load_code_object hsa_executable_load_program_code_object
    hsa_ext_program_add_module hsa_ext_program_create hsa_ext_program_destroy hsa_ext_program_finalize
    hsa_ext_program_get_info hsa_ext_program_iterate_modules hsa_queue_store_read_index_relaxed
    hsa_queue_store_read_index_release hsa_queue_store_read_index_screlease hsa_signal_group_create
    hsa_signal_group_destroy hsa_signal_group_wait_any_relaxed hsa_signal_group_wait_any_scacquire
    hsa_soft_queue_create hsa_ven_amd_pcs_create hsa_ven_amd_pcs_create_from_id hsa_ven_amd_pcs_destroy
    hsa_ven_amd_pcs_flush hsa_ven_amd_pcs_iterate_configuration hsa_ven_amd_pcs_start hsa_ven_amd_pcs_stop;

    IMAGE_FORMAT_UNSUPPORTED:
    hsa_amd_image_create hsa_ext_image_create hsa_ext_image_create_with_layout hsa_ext_image_data_get_info
    hsa_ext_image_data_get_info_with_layout;

    SAMPLER_DESCRIPTOR_UNSUPPORTED: hsa_ext_sampler_create hsa_ext_sampler_create_v2;

    // There are no valid images and samplers.
    INVALID_ARGUMENT:
    hsa_ext_image_clear hsa_ext_image_copy hsa_ext_image_destroy hsa_ext_image_export hsa_ext_image_import
    hsa_ext_sampler_destroy;
}
