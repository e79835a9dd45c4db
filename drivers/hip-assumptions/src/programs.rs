// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of programs.

use crate::program::{Body, Program};
use crate::{copy, device, error, event, launch, memory, module, peer, stream, waiting};

macro_rules! programs {
    ($($needs:ident $file:ident::$name:ident,)*) => {
        &[$(Program {
            name: concat!(stringify!($file), "::", stringify!($name)),
            body: Body::$needs($file::$name),
        }),*]
    };
}

/// Every program, in the order of `docs/hip-assumptions.md`.
pub const PROGRAMS: &[Program] = programs![
    Memory device::the_current_device_belongs_to_the_thread,
    Memory device::a_device_beyond_the_last_is_refused,
    Memory device::initialising_again_changes_nothing,
    Memory device::names_end_within_their_room,
    Memory device::properties_name_the_target_in_the_layout_of_their_symbol,
    Memory device::attributes_are_numbers_of_every_version,
    Memory device::each_device_has_an_identity_of_its_own,
    Memory device::free_memory_is_a_part_of_all,
    Kernels device::changing_the_device_waits_for_nothing,
    Memory error::the_last_error_stays_until_it_is_taken,
    Memory error::the_last_error_belongs_to_the_thread,
    Memory error::a_refused_call_harms_nothing_else,
    Kernels error::after_a_query_the_last_error_is_at_most_not_ready,
    Fault error::a_fault_stays,
    Kernels stream::a_stream_does_its_work_in_order,
    Memory stream::any_thread_may_give_work_to_a_stream,
    Kernels stream::a_non_blocking_stream_and_the_null_stream_pass_each_other,
    Kernels stream::the_null_stream_waits_for_a_blocking_stream,
    Kernels stream::work_of_one_stream_does_not_hold_another_up,
    Kernels stream::streams_beyond_the_hardware_queues_may_be_held_up_by_work_of_others,
    Kernels stream::any_number_of_streams_that_wait_for_events_of_each_other_go_on,
    Memory event::an_event_that_was_never_recorded_is_complete_and_no_wait,
    Kernels event::a_wait_captures_what_the_event_stands_for_when_it_is_called,
    Kernels event::a_query_is_about_the_latest_recording,
    Kernels event::an_event_stands_for_what_is_before_it_and_nothing_behind,
    Memory event::an_event_may_be_destroyed_while_a_stream_waits_for_it,
    Memory event::an_event_orders_the_work_of_two_streams,
    Kernels event::many_streams_may_wait_for_one_event,
    Memory memory::device_memory_is_aligned_to_256_bytes,
    Memory memory::freeing_null_is_nothing,
    Memory memory::mapped_host_memory_has_a_device_address,
    Memory memory::registered_memory_has_a_device_address_until_it_is_unregistered,
    Memory memory::what_is_pinned_is_known_and_what_is_not_is_not,
    Pair memory::device_memory_tells_whose_it_is,
    Memory memory::more_than_there_is_is_out_of_memory_and_does_no_harm,
    Memory memory::memory_is_freed_on_any_thread,
    Memory memory::memory_is_the_same_for_the_whole_of_an_allocation,
    Work memory::memory_of_a_pool_follows_the_order_of_its_stream,
    Memory copy::fills_count_in_elements_and_begin_at_any_multiple_of_one,
    Memory copy::fills_may_begin_and_end_within_a_word_since_6,
    Memory copy::copies_of_any_length_begin_anywhere,
    Memory copy::nothing_may_be_copied_and_filled,
    Memory copy::the_default_kind_finds_out_what_addresses_are,
    Kernels copy::pinned_memory_is_read_when_the_copy_runs,
    Kernels copy::pageable_memory_is_the_callers_again_when_the_copy_returns,
    Kernels waiting::no_call_of_a_submission_waits_for_work_in_flight,
    Kernels waiting::making_things_does_not_wait_for_work_in_flight,
    Kernels waiting::freeing_waits_for_the_device,
    Kernels waiting::a_synchronous_copy_is_over_when_it_returns,
    Kernels waiting::an_idle_stream_is_destroyed_though_others_work,
    Kernels module::functions_and_variables_are_found_by_name,
    Kernels module::variables_keep_their_values_and_belong_to_their_module,
    Kernels module::code_for_another_gpu_is_refused,
    Kernels module::code_that_is_unloaded_while_it_is_in_flight_still_runs,
    Kernels launch::arguments_are_copied_when_a_kernel_is_launched,
    Kernels launch::hidden_arguments_are_filled_by_hip,
    Kernels launch::a_kernel_without_parameters_needs_no_block,
    Kernels launch::local_memory_beyond_what_is_declared_is_there,
    Kernels launch::a_launch_that_cannot_be_is_refused_and_does_no_harm,
    Pair peer::a_device_is_no_peer_of_itself,
    Pair peer::peers_reach_each_others_memory,
    Pair peer::an_event_is_recorded_on_its_device_and_awaited_on_any,
    Memory peer::things_are_given_back_whichever_device_is_current,
    Kernels peer::code_is_unloaded_whichever_device_is_current,
];
