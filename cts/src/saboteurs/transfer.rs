// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of transfers: ranges, patterns, bytes.

use std::sync::atomic::{AtomicU32, Ordering};

use windlass_hal::{Buffer, Code, Error, Operation, Pattern, Result};

use super::sabotage::{Change, Inner, Only, Sabotage, Submission, reach, signal_all};

saboteurs! {
    fill_loses_its_offset: "Fills begin at the start of the allocation.",
        Change(|o| if let Operation::Fill { target, .. } = o { *target = from_the_start(target) }),
        [
            "buffer.clones_share_memory", "transfer.fill_pattern_1", "transfer.fill_pattern_2",
            "transfer.fill_pattern_4",
        ];
    fill_loses_its_end: "Fills end one pattern too early.",
        Change(|o| if let Operation::Fill { target, pattern } = o {
            *target = part(target, 0, target.len() - pattern.bytes().len() as u64);
        }),
        [
            "transfer.fill_pattern_1", "transfer.fill_pattern_2", "transfer.fill_pattern_4",
            "lifetime.queue_keeps_device_open",
        ];
    fill_runs_over: "Fills continue to the end of the allocation.",
        Change(|o| if let Operation::Fill { target, pattern } = o {
            let size = pattern.bytes().len() as u64;
            let rest = whole(target).len() - target.offset();
            *target = part(&whole(target), target.offset(), rest - rest % size);
        }),
        [
            "transfer.fill_pattern_1", "transfer.fill_pattern_2", "transfer.fill_pattern_4",
            "transfer.chained_transfers",
        ];
    fill_takes_one_byte: "Fills repeat the first byte of their pattern.",
        Change(|o| if let Operation::Fill { pattern, .. } = o { *pattern = Pattern::from(pattern.bytes()[0]) }),
        [
            "transfer.fill_pattern_2", "transfer.fill_pattern_4", "queue.signals_after_all_effects",
            "alloca.contents_are_ordered",
        ];
    fill_turns_bytes_round: "Fills write their pattern in reverse byte order.",
        Change(|o| if let Operation::Fill { pattern, .. } = o {
            *pattern = match pattern.bytes() {
                [a, b] => Pattern::from(u16::from_be_bytes([*a, *b])),
                [a, b, c, d] => Pattern::from(u32::from_be_bytes([*a, *b, *c, *d])),
                _ => *pattern,
            };
        }),
        [
            "transfer.fill_pattern_2", "transfer.fill_pattern_4", "transfer.fill_with_a_float",
            "operation.keeps_fill",
        ];
    fill_rounds_to_words: "Fills with bytes write whole words only and leave the rest.",
        Change(|o| if let Operation::Fill { target, .. } = o { *target = in_words(target) }),
        ["transfer.fill_pattern_1", "queue.one_timeline_orders_a_chain", "queue.fan_in"];
    fill_stops_at_a_megabyte: "Fills end after a megabyte.",
        Change(|o| if let Operation::Fill { target, .. } = o { *target = at_most(target, 1 << 20) }),
        ["transfer.fill_large"];
    update_loses_its_offset: "Updates begin at the start of the allocation.",
        Change(|o| if let Operation::Update { target, .. } = o { *target = from_the_start(target) }),
        ["transfer.update_classes"];
    update_loses_its_end: "Updates leave the last byte out.",
        Change(|o| if let Operation::Update { source, target } = o { shorten(source, target, target.len() - 1) }),
        ["transfer.update_classes", "operation.keeps_update"];
    update_rounds_to_words: "Updates write whole words only and leave the rest.",
        Change(|o| if let Operation::Update { source, target } = o {
            shorten(source, target, target.len() & !3);
        }), ["transfer.update_classes", "file.write_then_read"];
    update_stops_at_64_kib: "Updates end after 64 KiB, as those of command buffers may.",
        Change(|o| if let Operation::Update { source, target } = o {
            shorten(source, target, target.len().min(1 << 16));
        }), ["transfer.update_large", "transfer.update_captures_source"];
    copy_loses_its_source_offset: "Copies read from the start of the allocation.",
        Change(|o| if let Operation::Copy { source, .. } = o { *source = from_the_start(source) }),
        ["buffer.subspans_nest", "transfer.copy_classes", "transfer.copy_within_a_buffer"];
    copy_loses_its_target_offset: "Copies write to the start of the allocation.",
        Change(|o| if let Operation::Copy { target, .. } = o { *target = from_the_start(target) }),
        ["transfer.copy_classes", "queue.diamond", "threads.share_a_timeline"];
    copy_loses_its_end: "Copies leave the last byte out.",
        Change(|o| if let Operation::Copy { source, target } = o {
            (*source, *target) = (part(source, 0, source.len() - 1), part(target, 0, target.len() - 1));
        }), ["transfer.copy_classes"];
    copy_rounds_to_words: "Short copies move whole words only and leave the rest.",
        Change(|o| if let Operation::Copy { source, target } = o && source.len() < 600 {
            (*source, *target) = (in_words(source), in_words(target));
        }), ["transfer.copy_classes", "alloca.cycle", "threads.allocate_and_free"];
    copy_stops_at_a_megabyte: "Copies end after a megabyte.",
        Change(|o| if let Operation::Copy { source, target } = o {
            (*source, *target) = (at_most(source, 1 << 20), at_most(target, 1 << 20));
        }), ["transfer.copy_large"];
    copy_swaps_its_ends: "Copies write their source and read their target.",
        Change(|o| if let Operation::Copy { source, target } = o { std::mem::swap(source, target) }),
        ["transfer.copy_classes"];
    copy_knows_device_memory_alone: "Copies from memory that the host can map do nothing.",
        Change(|o| if matches!(o, Operation::Copy { source, .. } if source.map().is_ok()) {
            *o = Operation::Barrier;
        }),
        [
            "buffer.device_sees_mapping_writes", "transfer.copy_between_memory_types",
            "host_call.device_sees_its_writes",
        ];
    read_loses_its_file_offset: "Reads begin at the start of the file.",
        Change(|o| if let Operation::Read { file_offset, .. } = o { *file_offset = 0 }),
        ["file.read_subrange", "file_system.same_as_called"];
    read_loses_its_target_offset: "Reads write to the start of the allocation.",
        Change(|o| if let Operation::Read { target, .. } = o { *target = from_the_start(target) }),
        ["file.read_subrange"];
    read_loses_its_end: "Reads leave the last byte out.",
        Change(|o| if let Operation::Read { target, .. } = o { *target = part(target, 0, target.len() - 1) }),
        ["operation.keeps_read", "file.read_whole"];
    read_takes_one_chunk: "Reads end after a megabyte.",
        Change(|o| if let Operation::Read { target, .. } = o { *target = at_most(target, 1 << 20) }),
        ["file.large_round_trip", "file_system.round_trip"];
    read_swallows_errors: "A read that fails reaches its signals.",
        Only("queue_read", |inner, s| s.pass_then(inner, |_, signals| reach(signals))),
        [
            "file.read_past_the_end_fails", "file.storage_error_fails", "file.storage_errors_have_codes",
            "file_system.ends_in_the_midst", "file_system.errors_have_codes",
        ];
    read_blurs_errors: "Every failed read fails with UNKNOWN.",
        Only("queue_read", |inner, s| s.pass_then(inner, |result, signals| {
            signal_all(signals, result.map_err(|error| Error::new(Code::Unknown, error.message())));
        })),
        ["file.storage_errors_have_codes", "file.storage_panic_fails", "file_system.errors_have_codes"];
    write_loses_its_file_offset: "Writes begin at the start of the file.",
        Change(|o| if let Operation::Write { file_offset, .. } = o { *file_offset = 0 }),
        ["file.write_subrange"];
    write_loses_its_source_offset: "Writes read from the start of the allocation.",
        Change(|o| if let Operation::Write { source, .. } = o { *source = from_the_start(source) }),
        ["file.write_subrange"];
    write_loses_its_end: "Writes leave the last byte out.",
        Change(|o| if let Operation::Write { source, .. } = o { *source = part(source, 0, source.len() - 1) }),
        ["file.write_subrange", "file.waits_are_waited_for"];
    write_swallows_errors: "A write that fails reaches its signals.",
        Only("queue_write", |inner, s| s.pass_then(inner, |_, signals| reach(signals))),
        ["operation.fails_write", "file.storage_error_fails"];
    loses_every_hundredth: "One of a hundred submissions is not run, but its signals are reached.",
        LosesSome::default(),
        [
            "transfer.burst_of_copies", "queue.chain_across_queues", "threads.share_a_queue",
            "file_system.many_at_once",
        ];
}

/// The allocation of a range.
pub(super) fn whole(buffer: &Buffer) -> Buffer {
    Buffer::from_driver(buffer.raw().clone(), buffer.params())
}

/// A range of the same length at the start of the allocation.
pub(super) fn from_the_start(buffer: &Buffer) -> Buffer {
    part(&whole(buffer), 0, buffer.len())
}

fn part(buffer: &Buffer, offset: u64, length: u64) -> Buffer {
    buffer.subspan(offset, length).unwrap_or_else(|_| buffer.clone())
}

fn in_words(buffer: &Buffer) -> Buffer {
    part(buffer, 0, buffer.len() & !3)
}

fn at_most(buffer: &Buffer, length: u64) -> Buffer {
    part(buffer, 0, buffer.len().min(length))
}

fn shorten(source: &mut Box<[u8]>, target: &mut Buffer, length: u64) {
    *source = source[..length as usize].into();
    *target = part(target, 0, length);
}

#[derive(Default)]
struct LosesSome(AtomicU32);

impl Sabotage for LosesSome {
    fn submit(&self, inner: &Inner, s: Submission<'_>) -> Result<()> {
        let count = self.0.fetch_add(1, Ordering::AcqRel);
        // The position changes with each hundred. Otherwise a thread that submits groups of four would always lose
        // the same member.
        match count % 100 == (99 + 37 * (count / 100)) % 100 {
            true => Submission { operation: Operation::Barrier, ..s }.to(inner),
            false => s.to(inner),
        }
    }
}
