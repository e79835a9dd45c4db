// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulated GPU as a drop-in `libhsa-runtime64.so.1`.
//!
//! AMD's HIP runtime, and other programs that load or link ROCr, run on the simulator with this library in ROCr's place.
//! The environment variable `WINDLASS_SIM` describes the machine, spelled as in `hip-sim://` URIs (`gfx942?devices=2`);
//! `WINDLASS_LOG` says what goes to standard error (`windlass::sim=trace` shows every call), which is errors alone by default.
//!
//! Every function of ROCr's list is exported, with ROCr's symbol version. One that the simulator does not have answers
//! `HSA_STATUS_ERROR`, and the log names it.
//!
//! The symbol `windlass_simulator_marker` tells this library from AMD's.

use std::ffi::{c_char, c_int, c_void};
use std::io::IsTerminal;
use std::sync::Once;

use tracing_subscriber::EnvFilter;
use windlass_simulator::hsa::abi::*;
use windlass_simulator::hsa::{Status, calls};

/// Sets up the log, which is this library's own: it is linked into it.
fn set_up_log() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let wanted = std::env::var("WINDLASS_LOG").unwrap_or_else(|_| "error".to_owned());
        let filter = EnvFilter::try_new(&wanted);
        let refused = filter.as_ref().err().map(ToString::to_string);
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter.unwrap_or_else(|_| EnvFilter::new("error")))
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            // It would be told where nothing can be written, and panic.
            .log_internal_errors(false)
            .without_time();
        // Only this function installs one, once.
        let _ = log.try_init();
        if let Some(reason) = refused {
            tracing::error!("WINDLASS_LOG={wanted}: {reason}; spell it like windlass::sim=debug");
        }
        if let Err(error) = windlass_simulator::Tally::attach_from_environment() {
            tracing::error!("{}: {error}; launches are not counted", windlass_simulator::Tally::VARIABLE);
        }
    });
}

/// Tells this library from AMD's; its value means nothing.
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
                set_up_log();
                // SAFETY: the caller vouches for the arguments.
                unsafe { calls::$name($($parameter),*) }
            }
        )*

        versioned! { $($name)* }
    };
}

windlass_simulator::for_each_hsa_function!(export);

/// Names of ROCr's list that the simulator does not have. None looks at its arguments, so none declares them: in C's
/// calling convention it is the caller who cleans them up.
macro_rules! refused {
    ($($name:ident)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, which the simulated GPU lacks.")]
            ///
            /// # Safety
            /// Nothing is asked of the caller.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() -> Status {
                set_up_log();
                calls::refused(stringify!($name))
            }
        )*

        versioned! { $($name)* }
    };
}

refused! {
    hsa_amd_agent_set_async_scratch_limit hsa_amd_deregister_deallocation_callback hsa_amd_image_create
    hsa_amd_image_get_info_max_dim hsa_amd_interop_map_buffer hsa_amd_interop_unmap_buffer hsa_amd_ipc_memory_attach
    hsa_amd_ipc_memory_create hsa_amd_ipc_memory_detach hsa_amd_ipc_signal_attach hsa_amd_ipc_signal_create
    hsa_amd_portable_close_dmabuf hsa_amd_portable_export_dmabuf hsa_amd_register_deallocation_callback
    hsa_amd_spm_acquire hsa_amd_spm_release hsa_amd_spm_set_dest_buffer hsa_amd_svm_attributes_get
    hsa_amd_svm_attributes_set hsa_amd_svm_prefetch_async
    hsa_amd_vmem_export_shareable_handle

    hsa_amd_vmem_import_shareable_handle
    hsa_code_object_deserialize hsa_code_object_destroy hsa_code_object_get_info
    hsa_code_object_get_symbol hsa_code_object_get_symbol_from_name hsa_code_object_iterate_symbols
    hsa_code_object_serialize hsa_code_symbol_get_info hsa_executable_load_code_object
    hsa_executable_load_program_code_object hsa_ext_image_clear hsa_ext_image_copy hsa_ext_image_create
    hsa_ext_image_create_with_layout hsa_ext_image_data_get_info hsa_ext_image_data_get_info_with_layout
    hsa_ext_image_destroy hsa_ext_image_export hsa_ext_image_get_capability hsa_ext_image_get_capability_with_layout
    hsa_ext_image_import hsa_ext_program_add_module hsa_ext_program_create hsa_ext_program_destroy
    hsa_ext_program_finalize hsa_ext_program_get_info hsa_ext_program_iterate_modules hsa_ext_sampler_create
    hsa_ext_sampler_create_v2 hsa_ext_sampler_destroy hsa_isa_get_exception_policies hsa_isa_get_round_method
    hsa_queue_store_read_index_relaxed hsa_queue_store_read_index_release hsa_queue_store_read_index_screlease
    hsa_signal_group_create hsa_signal_group_destroy hsa_signal_group_wait_any_relaxed
    hsa_signal_group_wait_any_scacquire hsa_soft_queue_create hsa_ven_amd_pcs_create hsa_ven_amd_pcs_create_from_id
    hsa_ven_amd_pcs_destroy hsa_ven_amd_pcs_flush hsa_ven_amd_pcs_iterate_configuration hsa_ven_amd_pcs_start
    hsa_ven_amd_pcs_stop
}
