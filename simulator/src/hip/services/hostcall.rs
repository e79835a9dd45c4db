// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of the host by waves, in the form of AMD's device library.
//!
//! A buffer has packets. A wave takes a packet off the stack of free ones, writes eight words of each lane into it, pushes it
//! onto the stack of ready ones, and sends an interrupt. Then it waits until a flag of the packet is cleared, reads two
//! words of each lane, and pushes the packet back. An entry of a stack is the packet's index, below a tag that changes
//! with each use. Zero is the end of a stack.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::heap::Heap;
use super::message::Messages;
use crate::memory::access::Span;
use crate::memory::{AllocationKind, Memory, MemoryError};

/// Offsets of the buffer's words.
const HEADERS: u64 = 0;
const PAYLOADS: u64 = 8;
const DOORBELL: u64 = 16;
const FREE: u64 = 24;
const READY: u64 = 32;
const MASK: u64 = 40;

/// The signal that waves raise behind the buffer, and the word that they write with an interrupt.
const SIGNAL: u64 = 64;
const SIGNAL_KIND: u64 = 0;
const SIGNAL_MAILBOX: u64 = 16;
const SIGNAL_EVENT: u64 = 24;
const MAILBOX: u64 = 128;

/// The headers of the packets, and the offsets in one.
const FIRST_HEADER: u64 = 192;
const HEADER: u64 = 24;
const NEXT: u64 = 0;
const LANES: u64 = 8;
const SERVICE: u64 = 16;
const CONTROL: u64 = 20;

/// The words of one lane, and of all.
const LANE: u64 = 64;
const PAYLOAD: u64 = 64 * LANE;

/// The fewest and the most packets. A wave that finds none free waits for one.
const PACKETS: (u64, u64) = (64, 16 << 10);

/// The numbers of services.
const FUNCTION: u32 = 1;
const PRINT: u32 = 2;
const MEMORY: u32 = 3;

/// A buffer in device memory, freed when dropped.
pub(super) struct Buffer {
    memory: Arc<Memory>,
    address: u64,
    size: u64,
    packets: u64,
    messages: Mutex<Messages>,
    /// Frees of memory that is none, by the dispatch that has the buffer.
    wrong_frees: AtomicU64,
}

/// The packets that a number of waves needs.
pub(super) fn packets_for(waves: u64) -> u64 {
    waves.clamp(PACKETS.0, PACKETS.1).next_power_of_two()
}

impl Buffer {
    /// A buffer with all packets free. Their number is a power of two.
    pub(super) fn new(memory: &Arc<Memory>, packets: u64) -> Result<Self, MemoryError> {
        let payloads = (FIRST_HEADER + packets * HEADER).next_multiple_of(64);
        let size = payloads + packets * PAYLOAD;
        let address = memory.allocate(size, 4096, AllocationKind::Launch, "calls of the host by kernels")?;
        let own = Self {
            memory: memory.clone(),
            address,
            size,
            packets,
            messages: Mutex::default(),
            wrong_frees: AtomicU64::new(0),
        };
        let span = own.span()?;
        let put = |offset: u64, value: u64| span.store(address + offset, value);
        put(HEADERS, address + FIRST_HEADER);
        put(PAYLOADS, address + payloads);
        put(DOORBELL, address + SIGNAL);
        put(MASK, packets - 1);
        // A signal of the user's kind. A mailbox makes waves send an interrupt.
        put(SIGNAL + SIGNAL_KIND, 1);
        put(SIGNAL + SIGNAL_MAILBOX, address + MAILBOX);
        span.store(address + SIGNAL + SIGNAL_EVENT, 1_u32);
        for packet in 1..packets {
            put(FIRST_HEADER + packet * HEADER + NEXT, packets + packet - 1);
        }
        put(FREE, 2 * packets - 1);
        Ok(own)
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    pub(super) fn packets(&self) -> u64 {
        self.packets
    }

    /// Whether every packet is free again and no message is open. After a fault waves keep theirs.
    pub(super) fn is_whole(&self) -> bool {
        let Ok(span) = self.span() else { return false };
        let mut entry = span.load::<u64>(self.address + FREE);
        let mut seen = vec![false; self.packets as usize];
        while entry != 0 {
            let packet = entry & (self.packets - 1);
            if std::mem::replace(&mut seen[packet as usize], true) {
                return false;
            }
            entry = span.load(self.header(packet) + NEXT);
        }
        let answered = span.load::<u64>(self.address + READY) == 0 && seen.into_iter().all(|seen| seen);
        answered && self.messages().is_empty()
    }

    /// Answers the packets that are ready. A wave pushes its packet before its interrupt, so each packet has a call that sees it.
    pub(super) fn serve(&self, heap: &Heap) {
        // Held while packets are taken, so that they are served in the order in which waves sent them.
        let mut messages = self.messages();
        let Ok(span) = self.span() else { return };
        let mut entry = span.update64(self.address + READY, |_| 0);
        let mut ready = Vec::new();
        // A kernel can close the list to a circle.
        let mut seen = BTreeSet::new();
        while entry != 0 && seen.insert(entry & (self.packets - 1)) {
            let packet = entry & (self.packets - 1);
            ready.push(packet);
            entry = span.load(self.header(packet) + NEXT);
        }
        for packet in ready.into_iter().rev() {
            self.answer(&span, packet, &mut messages, heap);
        }
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, span: &Span<'_>, packet: u64, messages: &mut Messages, heap: &Heap) {
        let header = self.header(packet);
        let service = span.load::<u32>(header + SERVICE);
        let lanes = span.load::<u64>(header + LANES);
        for lane in (0..64).filter(|lane| lanes >> lane & 1 == 1) {
            let at = self.address + self.size - (self.packets - packet) * PAYLOAD + lane * LANE;
            let words: [u64; 8] = std::array::from_fn(|word| span.load(at + 8 * word as u64));
            let answer = match service {
                PRINT => messages.take(&words),
                MEMORY if words[0] == 0 => heap.allocate(words[1]),
                MEMORY => {
                    if !heap.free(words[0]) {
                        self.note_wrong_free(words[0]);
                    }
                    0
                }
                FUNCTION => refused("to call a function of the host by its address"),
                _ => refused("for a service that HIP does not have"),
            };
            span.store(at, answer);
            span.store(at + 8, 0_u64);
        }
        span.update32(header + CONTROL, |control| control & !1);
    }

    /// Tells the first free of memory that is none, and counts the others, of which a kernel may do millions.
    fn note_wrong_free(&self, address: u64) {
        if self.wrong_frees.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::error!(
                target: "windlass::sim",
                "a kernel frees {address:#x}, which no kernel of its device has allocated"
            );
        }
    }

    /// Tells how many frees of memory that is none the dispatch has done besides the first.
    pub(super) fn tell_wrong_frees(&self) -> u64 {
        let more = self.wrong_frees.swap(0, Ordering::Relaxed).saturating_sub(1);
        if more > 0 {
            tracing::error!(target: "windlass::sim", more, "the kernel freed more memory that no kernel has allocated");
        }
        more
    }

    fn header(&self, packet: u64) -> u64 {
        self.address + FIRST_HEADER + packet * HEADER
    }

    fn span(&self) -> Result<Span<'_>, MemoryError> {
        self.memory.span(self.address, self.size)
    }
}

fn refused(what: &str) -> u64 {
    tracing::error!(target: "windlass::sim", "a kernel asks the host {what}, which the simulator does not do: it reads 0");
    0
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Err(error) = self.memory.free(self.address) {
            tracing::error!(target: "windlass::sim", %error, "a buffer for calls of the host was not freed");
        }
    }
}
