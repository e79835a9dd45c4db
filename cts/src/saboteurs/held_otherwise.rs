// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cases that no saboteur fails, and what holds their contracts instead.

/// A contract that cannot be broken by wrapping a driver.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Held {
    /// What holds it.
    pub by: &'static str,
    /// The cases that state it.
    pub cases: &'static [&'static str],
}

/// Every case that no saboteur is asked to fail, with the reason.
pub fn held_otherwise() -> &'static [Held] {
    HELD
}

const HELD: &[Held] = &[
    Held {
        by: "the semaphore, its waits and its fences, which are hal's and no driver's: hal's own tests, loom and mutants",
        cases: &[
            "semaphore.starts_at_initial",
            "semaphore.signal_advances",
            "semaphore.signal_below_does_nothing",
            "semaphore.wait_above_maximum_refused",
            "semaphore.reached_wait_returns",
            "semaphore.unreached_wait_times_out",
            "semaphore.late_signal_after_timeout",
            "semaphore.policies_wait",
            "semaphore.wait_all_needs_all",
            "semaphore.wait_all_of_none",
            "semaphore.wait_any_gives_index",
            "semaphore.wait_any_of_none_refused",
            "semaphore.wait_any_prefers_reached",
            "semaphore.failure_ends_waits",
            "semaphore.failure_preserves_error",
            "semaphore.first_failure_wins",
            "semaphore.failure_is_sticky",
            "semaphore.reached_stays_reached",
            "semaphore.fence_holds_greatest",
            "semaphore_thread.wait_later_signalled_beyond",
            "semaphore_thread.wait_any_later_signalled",
            "semaphore_thread.ping_pong",
            "semaphore_thread.many_wait_for_one_value",
            "semaphore_thread.many_wait_for_all",
            "semaphore_thread.each_waits_for_its_value",
            "semaphore_thread.wait_then_fail",
            "semaphore_thread.wait_all_then_fail",
            "semaphore_thread.wait_any_then_fail",
            "semaphore_thread.racing_signals_take_maximum",
            "semaphore_thread.racing_failures_agree",
            "future.ready_at_once",
            "future.joined",
            "future.latest_waker_counts",
            "future.woken_for_its_value_only",
            "future.woken_by_failure",
            "future.dropped_leaves_nothing",
            "future.wakers_called_without_locks",
            "future.outlives_the_semaphore",
            "fence.empty_is_passed",
            "fence.joins_the_greatest",
            "fence.query_tells",
            "fence.query_gives_failure",
            "fence.signals_every_point",
            "fence.future_ends_with_failure",
            "fence.dropped_future_leaves_nothing",
        ],
    },
    Held {
        by: "the front, which refuses before a driver is asked: hal's own tests",
        cases: &[
            "semaphore.signal_above_maximum_refused",
            "buffer.bad_alignment_refused",
            "buffer.subspan_bounds",
            "buffer.usage_is_enforced",
            "buffer.mapping_needs_usage",
            "buffer.mapping_bounds",
            "transfer.fill_misaligned_refused",
            "transfer.update_length_mismatch_refused",
            "transfer.copy_overlap_refused",
            "transfer.copy_length_mismatch_refused",
            "transfer.refused_leaves_signals_untouched",
            "physical_device.affinity_beyond_the_queues",
            "alloca.dealloca_of_a_part_refused",
            "command_buffer.table_overlap_refused",
            "executable_cache.same_bytes_same_executable",
            "executable_cache.kept_by_a_function",
            "executable_cache.loaded_at_once",
            "executable_cache.devices_apart",
            "executable_global.not_found_names_the_nearest",
            "dispatch_refused.argument_usage",
            "dispatch_refused.raw_arguments",
            "dispatch_refused.slot_without_a_table",
            "dispatch_refused.workgroup_size_missing",
            "dispatch_refused.workgroup_size_zero",
            "dispatch_refused.workgroup_too_large",
            "dispatch_refused.grid_too_large",
            "dispatch_refused.local_memory_too_large",
            "command_buffer_dispatch.slot_is_checked",
            "command_buffer_event.unsignalled_refused",
            "command_buffer_event.signalled_twice_refused",
            "command_buffer_event.foreign_refused",
            "debug_group.unbalanced_refused",
            "debug_group.end_without_begin_refused",
            "command_buffer_indirect.recording_is_checked",
            "command_buffer_indirect.table_is_checked",
            "command_buffer_indirect.queue_is_checked",
        ],
    },
    Held {
        by: "the recorded list, which tells drivers the order that it has: hal's own tests, and `shuffle://` over every device",
        cases: &["command_buffer_event.tells_the_order"],
    },
];
