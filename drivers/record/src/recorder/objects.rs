// SPDX-License-Identifier: MIT OR Apache-2.0
//! The objects that a recording has met, and their numbers.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Weak},
};

use windlass_hal::{
    Buffer, BufferParams, BufferUsage, Mapping, Point, QueueAffinity, Semaphore,
    driver::{RawBuffer, RawCommandBuffer, RawExecutable},
};

use super::{log::Log, mapped};
use crate::format::event::{At, Change, Event, Origin, Params, Place};

/// Handles to drop when no lock is held: the last one of a buffer may run code of the program.
pub(super) type Dropped = Vec<Buffer>;

/// A buffer.
pub(super) struct Known {
    raw: Weak<dyn RawBuffer>,
    params: BufferParams,
    pub(super) base: u64,
    pub(super) size: u64,
    imported: bool,
    mapped: bool,
    /// The bytes of mapped memory as the recording has them. Empty before the first look.
    bytes: Vec<u8>,
    /// Whether the memory is the buffer's: after its alloca, and before its dealloca.
    live: bool,
    /// Whether its contents must be recorded before its first use.
    pub(super) wants_contents: bool,
}

/// A command buffer.
pub(super) struct List {
    raw: Weak<dyn RawCommandBuffer>,
    pub(super) number: u32,
    /// The ranges that its commands may write.
    pub(super) writes: Vec<Place>,
    /// Buffers of workgroup counts.
    pub(super) counts: Vec<u32>,
}

struct Timeline {
    semaphore: Semaphore,
    number: u32,
    /// The value that the recording explains.
    known: u64,
    failed: bool,
}

/// All objects. The key of each is the address of its object in the host's memory. A weak handle keeps that address from
/// being used again.
#[derive(Default)]
pub(super) struct Objects {
    buffers: HashMap<usize, u32>,
    entries: HashMap<u32, Known>,
    next_buffer: u32,
    executables: HashMap<usize, (Weak<dyn RawExecutable>, u32)>,
    next_executable: u32,
    lists: HashMap<usize, List>,
    next_list: u32,
    timelines: HashMap<u64, Timeline>,
    next_timeline: u32,
    /// The numbers of objects and of timelines at which those without handles are forgotten.
    swept: usize,
    timelines_swept: usize,
}

fn address<T: ?Sized>(object: &Arc<T>) -> usize {
    Arc::as_ptr(object).cast::<()>().addr()
}

impl Objects {
    /// The entry of a buffer.
    pub(super) fn entry(&mut self, number: u32) -> Option<&mut Known> {
        self.entries.get_mut(&number)
    }

    /// The number of a buffer, which is new to the recording if this finds none.
    pub(super) fn find(&self, raw: &Arc<dyn RawBuffer>) -> Option<u32> {
        self.buffers.get(&address(raw)).copied()
    }

    /// Adds a buffer.
    pub(super) fn add(
        &mut self,
        log: &mut Log,
        raw: &Arc<dyn RawBuffer>,
        params: &BufferParams,
        origin: Origin,
    ) -> u32 {
        self.sweep(log);
        let number = self.next_buffer;
        self.next_buffer += 1;
        let host = matches!(origin, Origin::HostImport {});
        let visible = host || params.usage.contains(BufferUsage::MAPPING);
        self.buffers.insert(address(raw), number);
        self.entries.insert(
            number,
            Known {
                raw: Arc::downgrade(raw),
                params: *params,
                base: raw.device_address(),
                size: raw.size(),
                imported: host || matches!(origin, Origin::DeviceImport {} | Origin::Alias { .. }),
                mapped: visible && raw.host_pointer().is_some(),
                bytes: Vec::new(),
                live: !matches!(origin, Origin::Reserved {}),
                wants_contents: matches!(origin, Origin::DeviceImport {} | Origin::Foreign {}),
            },
        );
        log.add(&Event::Buffer {
            buffer: number,
            origin,
            params: Params {
                memory_type: params.memory_type.0,
                usage: params.usage.0,
                min_alignment: params.min_alignment,
                affinity: params.queue_affinity.bits(),
            },
            size: raw.size(),
        });
        number
    }

    /// Forgets objects without handles, when their number may have doubled.
    fn sweep(&mut self, log: &mut Log) {
        let all = self.entries.len() + self.executables.len() + self.lists.len();
        if all < self.swept {
            return;
        }
        let gone = |entry: &Known| entry.raw.strong_count() == 0;
        let mut numbers: Vec<_> =
            self.entries.iter().filter(|(_, entry)| gone(entry)).map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        for buffer in &numbers {
            self.entries.remove(buffer);
            log.add(&Event::BufferGone { buffer: *buffer });
        }
        self.buffers.retain(|_, number| self.entries.contains_key(number));
        self.executables.retain(|_, (raw, _)| raw.strong_count() > 0);
        self.lists.retain(|_, list| list.raw.strong_count() > 0);
        self.swept = 64 + 2 * (self.entries.len() + self.executables.len() + self.lists.len());
    }

    /// The live buffer that has a range of device memory, and the offset in it.
    pub(super) fn covering(&self, start: u64, length: u64) -> Option<(u32, u64)> {
        let covers = |entry: &Known| {
            entry.raw.strong_count() > 0
                && entry.base <= start
                && start.checked_add(length).is_some_and(|end| end <= entry.base.saturating_add(entry.size))
        };
        let mut found: Vec<_> = self.entries.iter().filter(|(_, entry)| covers(entry)).collect();
        found.sort_by_key(|(number, _)| **number);
        found.first().map(|(number, entry)| (**number, start - entry.base))
    }

    /// The global variable that has this range of device memory, with its buffer and the offset in it.
    pub(super) fn global(&self, start: u64, length: u64) -> Option<(Origin, Arc<dyn RawBuffer>, u64)> {
        let inside = |raw: &Arc<dyn RawBuffer>| {
            let offset = start.checked_sub(raw.device_address())?;
            offset.checked_add(length).filter(|end| *end <= raw.size()).map(|_| offset)
        };
        for (raw, number) in self.executables.values() {
            let Some(executable) = raw.upgrade() else { continue };
            for (index, global) in executable.globals().iter().enumerate() {
                let variable = |affinity| executable.clone().global(index as u32, affinity).ok();
                // A device of one GPU has one copy, and one of several has a copy on each GPU.
                let copies: Vec<_> = match variable(QueueAffinity::ANY) {
                    Some(raw) => vec![(QueueAffinity::ANY, raw)],
                    None => (0..64)
                        .map(QueueAffinity::queue)
                        .filter_map(|queue| Some((queue, variable(queue)?)))
                        .collect(),
                };
                for (affinity, raw) in copies {
                    if let Some(offset) = inside(&raw) {
                        let (name, affinity) = (global.name.clone(), affinity.bits());
                        return Some((Origin::Global { executable: *number, name, affinity }, raw, offset));
                    }
                }
            }
        }
        None
    }

    /// Adds code, and returns its number if it is new.
    pub(super) fn add_executable(&mut self, raw: &Arc<dyn RawExecutable>) -> Option<u32> {
        if self.executables.contains_key(&address(raw)) {
            return None;
        }
        let number = self.next_executable;
        self.next_executable += 1;
        self.executables.insert(address(raw), (Arc::downgrade(raw), number));
        Some(number)
    }

    /// The number of code that was loaded before.
    pub(super) fn executable(&self, raw: &Arc<dyn RawExecutable>) -> u32 {
        self.executables.get(&address(raw)).map_or(u32::MAX, |(_, number)| *number)
    }

    /// Adds a command buffer and returns its number.
    pub(super) fn add_list(
        &mut self,
        raw: &Arc<dyn RawCommandBuffer>,
        writes: Vec<Place>,
        counts: Vec<u32>,
    ) -> u32 {
        let number = self.next_list;
        self.next_list += 1;
        self.lists.insert(address(raw), List { raw: Arc::downgrade(raw), number, writes, counts });
        number
    }

    /// A command buffer that was recorded before.
    pub(super) fn list(&self, raw: &Arc<dyn RawCommandBuffer>) -> Option<&List> {
        self.lists.get(&address(raw))
    }

    fn timeline(&mut self, semaphore: &Semaphore) -> &mut Timeline {
        if self.timelines.len() >= self.timelines_swept {
            self.timelines.retain(|_, timeline| timeline.semaphore.is_shared());
            self.timelines_swept = 64 + 2 * self.timelines.len();
        }
        let next = &mut self.next_timeline;
        self.timelines.entry(semaphore.id()).or_insert_with(|| {
            let number = *next;
            *next += 1;
            Timeline { semaphore: semaphore.clone(), number, known: 0, failed: false }
        })
    }

    /// A point as the recording has it.
    pub(super) fn at(&mut self, point: &Point) -> At {
        At { semaphore: self.timeline(&point.semaphore).number, value: point.value }
    }

    /// Whether the recording explains that a point is reached.
    pub(super) fn explains(&mut self, point: &Point) -> bool {
        self.timeline(&point.semaphore).known >= point.value
    }

    /// Records that a point is reached.
    pub(super) fn reached(&mut self, point: &Point) {
        let timeline = self.timeline(&point.semaphore);
        timeline.known = timeline.known.max(point.value);
    }

    /// Records that a semaphore has failed. Returns its number if that is new.
    pub(super) fn failed(&mut self, semaphore: &Semaphore) -> Option<u32> {
        let timeline = self.timeline(semaphore);
        (!std::mem::replace(&mut timeline.failed, true)).then_some(timeline.number)
    }
}

impl Known {
    /// Whether the host may reach the memory now.
    pub(super) fn is_mapped(&self) -> bool {
        self.mapped
    }

    /// The memory is the buffer's from now on. Its contents are undefined, and become zeros.
    pub(super) fn begin(&mut self, dropped: &mut Dropped) {
        self.live = true;
        if let Some((buffer, mapping)) = self.map() {
            mapped::clear(&mapping);
            dropped.push(buffer);
        }
    }

    /// The memory may be another buffer's from now on.
    pub(super) fn end(&mut self) {
        self.live = self.imported;
    }

    fn map(&self) -> Option<(Buffer, Mapping)> {
        let raw = self.raw.upgrade().filter(|_| self.mapped && self.live)?;
        let buffer =
            Buffer::from_driver(raw, self.params.with_usage(self.params.usage | BufferUsage::MAPPING));
        let mapping = buffer.map().ok()?;
        Some((buffer, mapping))
    }

    /// The changes in ranges of mapped memory since the last look. Nothing for memory that is not the buffer's, and for
    /// a buffer without handles, whose bytes nobody can read.
    pub(super) fn changes(&mut self, ranges: &[Range<u64>], dropped: &mut Dropped) -> Vec<Change> {
        if ranges.is_empty() {
            return Vec::new();
        }
        let Some((buffer, mapping)) = self.map() else { return Vec::new() };
        if self.bytes.is_empty() {
            self.bytes = vec![0; self.size as usize];
        }
        let changes = mapped::changes(&mapping, &mut self.bytes, ranges);
        dropped.push(buffer);
        drop(mapping);
        changes
    }
}
