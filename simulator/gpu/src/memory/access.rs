// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one place that touches bytes of device memory.
//!
//! # Why this is sound
//! - **No references.** A [`Span`] holds a raw pointer; no code in or outside this module forms a Rust
//!   reference to the bytes. Reads return values, and writes take them.
//! - **The bytes exist.** `Memory` makes a span from its map of allocations. The span borrows the `Memory`,
//!   whose reservations are unmapped only on drop. A range freed meanwhile stays mapped; its contents are
//!   merely stale. For registered host memory the caller of `Memory::register_host` guarantees the same.
//! - **Races are atomic.** Kernels, copies and other threads may touch the same bytes at the same time, as
//!   on a GPU. Every access is a relaxed atomic of an aligned word, or of single bytes where the address is
//!   not aligned; `lanes` also moves several aligned words by machine code. Accesses of different width to the
//!   same bytes may meet, where a program races with a kernel. Rust's model leaves that open. The widths are
//!   those of the GPU's instructions, so they cannot be changed here. The compiler sees raw pointers made from
//!   integers and relaxed atomics, and emits one machine access for each, which is an independent write of its
//!   bytes. Host programs that share pinned memory with a kernel are bound by HIP's own rules.
//! - **In bounds.** Every method checks its addresses against the span.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

const RELAXED: Ordering = Ordering::Relaxed;

/// A checked range of device memory.
#[derive(Clone, Copy, Debug)]
pub struct Span<'m> {
    pointer: *mut u8,
    address: u64,
    len: u64,
    /// The memory that keeps the bytes mapped.
    memory: PhantomData<&'m ()>,
}

/// An unsigned word, the unit of reads and writes of device memory.
pub trait Word: Copy {
    /// Bytes.
    const SIZE: u64 = size_of::<Self>() as u64;

    /// Reads one word.
    ///
    /// # Safety
    /// `pointer` is valid for reads of the word's size, under the module's rules.
    unsafe fn load(pointer: *const u8) -> Self;

    /// Writes one word.
    ///
    /// # Safety
    /// `pointer` is valid for writes of the word's size, under the module's rules.
    unsafe fn store(pointer: *mut u8, value: Self);
}

macro_rules! word {
    ($word:ty, $atomic:ty) => {
        impl Word for $word {
            #[inline(always)]
            unsafe fn load(pointer: *const u8) -> Self {
                if pointer.addr() % size_of::<Self>() == 0 {
                    // SAFETY: valid by contract, aligned as just checked.
                    return unsafe { <$atomic>::from_ptr(pointer.cast_mut().cast()) }.load(RELAXED);
                }
                let mut bytes = [0; size_of::<Self>()];
                for (index, byte) in bytes.iter_mut().enumerate() {
                    // SAFETY: valid by contract; bytes are always aligned.
                    *byte = unsafe { AtomicU8::from_ptr(pointer.add(index).cast_mut()) }.load(RELAXED);
                }
                Self::from_le_bytes(bytes)
            }

            #[inline(always)]
            unsafe fn store(pointer: *mut u8, value: Self) {
                if pointer.addr() % size_of::<Self>() == 0 {
                    // SAFETY: valid by contract, aligned as just checked.
                    return unsafe { <$atomic>::from_ptr(pointer.cast()) }.store(value, RELAXED);
                }
                for (index, byte) in value.to_le_bytes().into_iter().enumerate() {
                    // SAFETY: valid by contract; bytes are always aligned.
                    unsafe { AtomicU8::from_ptr(pointer.add(index)) }.store(byte, RELAXED);
                }
            }
        }
    };
}

word!(u8, AtomicU8);
word!(u16, AtomicU16);
word!(u32, AtomicU32);
word!(u64, AtomicU64);

impl<'m> Span<'m> {
    /// An empty span: loads give zero, stores have no effect.
    pub(crate) const EMPTY: Self =
        Self { pointer: std::ptr::null_mut(), address: 0, len: 0, memory: PhantomData };

    /// Describes the `len` bytes at `pointer`, which kernels see at `address`.
    ///
    /// # Safety
    /// For `'m` the range is mapped and touched only under the rules of this module.
    #[inline]
    pub(super) unsafe fn new(pointer: *mut u8, address: u64, len: u64) -> Self {
        Self { pointer, address, len, memory: PhantomData }
    }

    /// The pointer to the first byte, and the length.
    #[inline(always)]
    pub(super) fn raw(&self) -> (*mut u8, u64) {
        (self.pointer, self.len)
    }

    /// Asks the processor for the first bytes of the range that lies this far behind the span, for an access that is expected
    /// there. Processors do so by themselves where the distance is small.
    #[inline(always)]
    pub(crate) fn look_ahead(&self, distance: u64) {
        const NEAR: u64 = 1024;
        const LINE: usize = 64;
        if distance.wrapping_add(NEAR) <= 2 * NEAR {
            return;
        }
        for line in 0..4 {
            prefetch(self.pointer.wrapping_add(distance as usize).wrapping_add(LINE * line));
        }
    }

    /// The pointer to `size` bytes at an address, if they lie in the span.
    #[inline(always)]
    fn at(&self, address: u64, size: u64) -> Option<*mut u8> {
        let offset = address.wrapping_sub(self.address);
        if offset > self.len || size > self.len - offset {
            return None;
        }
        // SAFETY: the offset was just checked against the span's length.
        Some(unsafe { self.pointer.add(offset as usize) })
    }

    /// Reads the word at an address; zero outside the span.
    #[inline(always)]
    pub fn load<T: Word + Default>(&self, address: u64) -> T {
        match self.at(address, T::SIZE) {
            // SAFETY: `at` checked the range.
            Some(pointer) => unsafe { T::load(pointer) },
            None => T::default(),
        }
    }

    /// Writes the word at an address; no effect outside the span.
    #[inline(always)]
    pub fn store<T: Word>(&self, address: u64, value: T) {
        if let Some(pointer) = self.at(address, T::SIZE) {
            // SAFETY: `at` checked the range.
            unsafe { T::store(pointer, value) };
        }
    }

    /// Reads `N` words in a row. A word outside the span is zero.
    #[inline(always)]
    pub(crate) fn load_dwords<const N: usize>(&self, address: u64) -> [u32; N] {
        self.whole_dwords(address).unwrap_or_else(|| {
            let mut dwords = [0; N];
            for (index, dword) in dwords.iter_mut().enumerate() {
                *dword = self.load(address.wrapping_add(4 * index as u64));
            }
            dwords
        })
    }

    /// Reads `N` words in a row, if all lie in the span and are aligned.
    #[inline(always)]
    pub(crate) fn whole_dwords<const N: usize>(&self, address: u64) -> Option<[u32; N]> {
        let pointer = self.at(address, 4 * N as u64).filter(|pointer| pointer.addr() % 4 == 0)?;
        let mut dwords = [0; N];
        for (index, dword) in dwords.iter_mut().enumerate() {
            // SAFETY: `at` checked the range, the filter the alignment.
            *dword = unsafe { AtomicU32::from_ptr(pointer.add(4 * index).cast()) }.load(RELAXED);
        }
        Some(dwords)
    }

    /// Writes `N` words in a row. A word outside the span is not written.
    #[inline(always)]
    pub(crate) fn store_dwords<const N: usize>(&self, address: u64, dwords: [u32; N]) {
        match self.at(address, 4 * N as u64).filter(|pointer| pointer.addr() % 4 == 0) {
            Some(pointer) => {
                for (index, dword) in dwords.into_iter().enumerate() {
                    // SAFETY: `at` checked the range, the filter the alignment.
                    unsafe { AtomicU32::from_ptr(pointer.add(4 * index).cast()) }.store(dword, RELAXED);
                }
            }
            None => {
                for (index, dword) in dwords.into_iter().enumerate() {
                    self.store(address.wrapping_add(4 * index as u64), dword);
                }
            }
        }
    }

    /// Replaces the aligned 32-bit word at an address by a function of it, as one atomic step. Returns the
    /// old value. Outside the span, or for an address that is not aligned, it returns zero and has no other
    /// effect.
    #[inline]
    pub fn update32(&self, address: u64, mut f: impl FnMut(u32) -> u32) -> u32 {
        match self.at(address, 4).filter(|pointer| pointer.addr() % 4 == 0) {
            Some(pointer) => {
                // SAFETY: `at` checked the range, the filter the alignment.
                let word = unsafe { AtomicU32::from_ptr(pointer.cast()) };
                match word.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(f(old))) {
                    Ok(old) | Err(old) => old,
                }
            }
            None => 0,
        }
    }

    /// Like [`Span::update32`] for 64 bits.
    #[inline]
    pub fn update64(&self, address: u64, mut f: impl FnMut(u64) -> u64) -> u64 {
        match self.at(address, 8).filter(|pointer| pointer.addr() % 8 == 0) {
            Some(pointer) => {
                // SAFETY: `at` checked the range, the filter the alignment.
                let word = unsafe { AtomicU64::from_ptr(pointer.cast()) };
                match word.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| Some(f(old))) {
                    Ok(old) | Err(old) => old,
                }
            }
            None => 0,
        }
    }

    /// Copies the span to `bytes`, up to the smaller of both lengths.
    pub(crate) fn read(&self, bytes: &mut [u8]) {
        let len = self.len.min(bytes.len() as u64);
        // SAFETY: both sides are valid for the smaller of their lengths.
        unsafe { move_bytes(bytes.as_mut_ptr(), self.pointer, len as usize) };
    }

    /// Copies `bytes` to the span, up to the smaller of both lengths.
    pub(crate) fn write(&self, bytes: &[u8]) {
        let len = self.len.min(bytes.len() as u64);
        // SAFETY: both sides are valid for the smaller of their lengths.
        unsafe { move_bytes(self.pointer, bytes.as_ptr(), len as usize) };
    }

    /// Copies the whole span to host memory.
    ///
    /// # Safety
    /// `destination` is valid for writes of the span's length.
    pub(super) unsafe fn read_raw(&self, destination: *mut u8) {
        // SAFETY: the caller guarantees the destination.
        unsafe { move_bytes(destination, self.pointer, self.len as usize) };
    }

    /// Copies host memory to the whole span.
    ///
    /// # Safety
    /// `source` is valid for reads of the span's length.
    pub(super) unsafe fn write_raw(&self, source: *const u8) {
        // SAFETY: the caller guarantees the source.
        unsafe { move_bytes(self.pointer, source, self.len as usize) };
    }

    /// Copies from another span, up to the smaller of both lengths. The two may overlap.
    pub(crate) fn copy_from(&self, source: &Span<'_>) {
        let len = self.len.min(source.len);
        // SAFETY: both sides are valid for the smaller of their lengths.
        unsafe { move_bytes(self.pointer, source.pointer, len as usize) };
    }

    /// Fills the span with a repeated pattern.
    pub(crate) fn fill(&self, pattern: &[u8]) {
        if pattern.is_empty() {
            return;
        }
        /// Bytes written at a time, a multiple of every usual pattern.
        const BLOCK: usize = 4096;
        let most = BLOCK.min(usize::try_from(self.len).unwrap_or(BLOCK));
        let block = pattern.repeat(most.div_ceil(pattern.len()));
        let mut done = 0;
        while done < self.len {
            let part = (block.len() as u64).min(self.len - done);
            // SAFETY: `done + part` is at most the span's length, `part` at most the block's.
            unsafe { move_bytes(self.pointer.add(done as usize), block.as_ptr(), part as usize) };
            done += part;
        }
    }
}

/// Asks the processor for a line of its cache, where Rust has a way to.
#[inline(always)]
fn prefetch(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no effect on memory and does not fault, at any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Copies `len` bytes by relaxed atomics, eight at a time where both sides are aligned alike; ranges may overlap.
///
/// # Safety
/// Both pointers are valid for `len` bytes, under the module's rules.
unsafe fn move_bytes(to: *mut u8, from: *const u8, len: usize) {
    let head = if (to.addr() ^ from.addr()).is_multiple_of(8) { to.addr().wrapping_neg() % 8 } else { len };
    let head = head.min(len);
    let tail = head + (len - head) / 8 * 8;
    // SAFETY: the three ranges lie within `len`. They are copied in the order in which no byte is written before it is read.
    unsafe {
        if to.addr().wrapping_sub(from.addr()) >= len {
            forwards::<u8>(to, from, 0..head);
            forwards::<u64>(to, from, head..tail);
            forwards::<u8>(to, from, tail..len);
        } else {
            backwards::<u8>(to, from, tail..len);
            backwards::<u64>(to, from, head..tail);
            backwards::<u8>(to, from, 0..head);
        }
    }
}

/// Copies the words in a range of offsets, the first one first.
///
/// # Safety
/// Both pointers are valid for the range, which is a multiple of the word, under the module's rules.
unsafe fn forwards<T: Word>(to: *mut u8, from: *const u8, offsets: Range<usize>) {
    let mut offset = offsets.start;
    while offset < offsets.end {
        // SAFETY: valid by contract.
        unsafe { T::store(to.add(offset), T::load(from.add(offset))) };
        offset += size_of::<T>();
    }
}

/// Copies the words in a range of offsets, the last one first.
///
/// # Safety
/// As [`forwards`].
unsafe fn backwards<T: Word>(to: *mut u8, from: *const u8, offsets: Range<usize>) {
    let mut end = offsets.end;
    while end > offsets.start {
        end -= size_of::<T>();
        // SAFETY: valid by contract.
        unsafe { T::store(to.add(end), T::load(from.add(end))) };
    }
}
