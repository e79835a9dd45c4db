// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of wait lists.

use std::{collections::HashMap, sync::Mutex, time::Duration};

use windlass_hal::{Point, QueueAffinity, Result, Semaphore};

use super::sabotage::{Inner, Only, Sabotage, Submission, Submit, lock, signal_all, when_ended};

saboteurs! {
    ignores_waits: "Work starts without waiting.", Submit(ignore),
        ["queue.barrier_waits", "queue.wait_before_signal"];
    waits_for_the_first: "Work waits only for the first point of its wait list.",
        Submit(|inner, s| Submission { waits: &s.waits[..s.waits.len().min(1)], ..s }.to(inner)),
        ["queue.barrier_waits", "alloca.waits_for_its_waits"];
    waits_for_the_last: "Work waits only for the last point of its wait list.",
        Submit(|inner, s| Submission { waits: &s.waits[s.waits.len().saturating_sub(1)..], ..s }.to(inner)),
        ["queue.one_semaphore_twice_in_a_list", "operation.waits_barrier"];
    waits_for_any: "Work starts when one of its waits is reached.", Submit(wait_for_any),
        ["queue.random_graph"];
    waits_once_for_a_semaphore: "The second of two waits for one semaphore is forgotten.", Submit(wait_once),
        ["queue.one_semaphore_twice_in_a_list"];
    waits_for_one_less: "Work that waits for a value above 1 starts one value early.", Submit(wait_for_one_less),
        [
            "queue.different_values_of_one_signal", "queue.one_semaphore_twice_in_a_list",
            "queue.host_and_device_waits",
        ];
    waits_for_the_next: "Work that waits for a value starts when the value after it is reached.",
        Submit(wait_for_the_next), ["queue.barrier_waits", "threads.submit_races_signal"];
    ignores_waits_of_barriers: "Barriers do not wait.", Only("queue_barrier", ignore),
        [
            "transfer.empty_transfers_signal", "queue.host_waits_for_host_and_device",
            "operation.waits_barrier",
        ];
    ignores_waits_of_allocas: "Allocas do not wait.", Only("queue_alloca", ignore),
        ["operation.waits_alloca"];
    ignores_waits_of_deallocas: "Deallocas do not wait.", Only("queue_dealloca", ignore),
        ["operation.waits_dealloca", "pool.unfinished_dealloca_frees_nothing"];
    ignores_waits_of_fills: "Fills do not wait.", Only("queue_fill", ignore),
        ["fence.as_a_wait_list", "operation.waits_fill"];
    ignores_waits_of_updates: "Updates do not wait.", Only("queue_update", ignore),
        ["operation.waits_update"];
    ignores_waits_of_copies: "Copies do not wait.", Only("queue_copy", ignore),
        [
            "transfer.download_waits", "queue.fan_out", "queue.random_graph", "queue.random_graph_repeated",
            "operation.waits_copy", "program.chain", "program.mixed", "program.parallel",
        ];
    ignores_waits_of_reads: "Reads do not wait.", Only("queue_read", ignore),
        ["operation.waits_read", "file_system.order_is_by_semaphores"];
    ignores_waits_of_writes: "Writes do not wait.", Only("queue_write", ignore), ["operation.waits_write"];
    ignores_waits_of_host_calls: "Host calls do not wait.", Only("queue_host_call", ignore),
        ["host_call.runs_after_its_waits", "operation.waits_host_call"];
    ignores_waits_of_dispatches: "Dispatches do not wait.", Only("queue_dispatch", ignore),
        [
            "dispatch.failure_skips_dispatch", "operation.waits_dispatch",
            "command_buffer_indirect.queue_count_from_the_host",
        ];
    ignores_waits_of_executions: "Command buffers do not wait.", Only("queue_execute", ignore),
        ["command_buffer.refers_to_transient_memory", "operation.waits_execute"];
    blocks_in_submit: "Submitting waits on the caller's thread.", Submit(block),
        ["queue.submission_does_not_block"];
    never_starts_without_waits: "Work whose wait list is empty never starts.", Submit(|inner, s| {
        let never = [Semaphore::new(0).at(1)];
        let waits = if s.waits.is_empty() { &never } else { s.waits };
        Submission { waits, ..s }.to(inner)
    }), ["fence.empty_is_passed", "queue.barrier_signals"];
    runs_in_order: "All work waits for the work submitted before it.", InOrder::of_the_device(),
        [
            "queue.independent_work_goes_on", "file.storage_blocks_nobody",
            "file_system.goes_on_while_calls_block",
        ];
    queues_run_in_order: "Work waits for the work submitted before it to the same queue.", InOrder::of_queues(),
        ["queue.independent_work_goes_on"];
}

fn ignore(inner: &Inner, s: Submission<'_>) -> Result<()> {
    Submission { waits: &[], ..s }.to(inner)
}

fn wait_for_any(inner: &Inner, s: Submission<'_>) -> Result<()> {
    if s.waits.len() < 2 {
        return s.to(inner);
    }
    let any = Semaphore::new(0);
    for wait in s.waits {
        let any = any.clone();
        when_ended(wait.clone(), move |result| signal_all(&[any.at(1)], result));
    }
    Submission { waits: &[any.at(1)], ..s }.to(inner)
}

fn wait_once(inner: &Inner, s: Submission<'_>) -> Result<()> {
    let mut waits: Vec<Point> = Vec::new();
    for wait in s.waits.iter().rev() {
        if !waits.iter().any(|known| known.semaphore.same(&wait.semaphore)) {
            waits.push(wait.clone());
        }
    }
    Submission { waits: &waits, ..s }.to(inner)
}

fn wait_for_one_less(inner: &Inner, s: Submission<'_>) -> Result<()> {
    let less = |wait: &Point| wait.semaphore.at(if wait.value > 1 { wait.value - 1 } else { wait.value });
    let waits: Vec<_> = s.waits.iter().map(less).collect();
    Submission { waits: &waits, ..s }.to(inner)
}

fn wait_for_the_next(inner: &Inner, s: Submission<'_>) -> Result<()> {
    let waits: Vec<_> = s.waits.iter().map(|wait| wait.semaphore.at(wait.value + 1)).collect();
    Submission { waits: &waits, ..s }.to(inner)
}

fn block(inner: &Inner, s: Submission<'_>) -> Result<()> {
    for wait in s.waits {
        wait.semaphore.wait_blocking(wait.value, Duration::from_secs(3600))?;
    }
    s.to(inner)
}

/// Chains each submission to the one before it.
struct InOrder {
    whole_device: bool,
    last: Mutex<HashMap<QueueAffinity, Point>>,
}

impl InOrder {
    fn of_the_device() -> Self {
        Self { whole_device: true, last: Mutex::default() }
    }

    fn of_queues() -> Self {
        Self { whole_device: false, last: Mutex::default() }
    }
}

impl Sabotage for InOrder {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        let lane = if self.whole_device { QueueAffinity::ANY } else { s.affinity };
        let ended = Semaphore::new(0).at(1);
        let before = lock(&self.last).insert(lane, ended.clone());
        let waits: Vec<_> = s.waits.iter().cloned().chain(before).collect();
        let signals: Vec<_> = s.signals.iter().cloned().chain([ended]).collect();
        Submission { waits: &waits, signals: &signals, ..s }.to(inner)
    }
}
