// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading, writing, copying and filling bytes that other threads may access.
//!
//! All accesses are relaxed atomics of one byte, so that a race yields old or new bytes and no undefined behaviour. For
//! many bytes, one instruction makes all accesses. The compiler does not see them, and the instruction tears no byte,
//! although it moves several at a time.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// From this many bytes on, the instruction is faster than a loop.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const MANY: usize = 128;

/// Reads shared bytes.
///
/// # Safety
/// `from` must be valid for reads of `to.len()` bytes. Other threads may write them.
pub(crate) unsafe fn load(from: *const u8, to: &mut [u8]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if to.len() >= MANY {
        // SAFETY: the caller vouches for the source, and the target belongs to this function.
        return unsafe { copy_many(from, to.as_mut_ptr(), to.len()) };
    }
    for (index, byte) in to.iter_mut().enumerate() {
        // SAFETY: within the bytes that the caller vouches for. Each access to them is atomic and of one byte.
        *byte = unsafe { AtomicU8::from_ptr(from.add(index).cast_mut()) }.load(Relaxed);
    }
}

/// Writes shared bytes.
///
/// # Safety
/// `to` must be valid for writes of `from.len()` bytes. Other threads may access them.
pub(crate) unsafe fn store(to: *mut u8, from: &[u8]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if from.len() >= MANY {
        // SAFETY: the caller vouches for the target, and the source is only read.
        return unsafe { copy_many(from.as_ptr(), to, from.len()) };
    }
    for (index, byte) in from.iter().enumerate() {
        // SAFETY: as in `load`.
        unsafe { AtomicU8::from_ptr(to.add(index)) }.store(*byte, Relaxed);
    }
}

/// Copies as many bytes as both slices have. Where the two overlap, the result is any mixture.
pub(crate) fn copy(from: &[AtomicU8], to: &[AtomicU8]) {
    let count = from.len().min(to.len());
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if count >= MANY {
        // SAFETY: atomics may be written through shared references, and both are `count` long.
        return unsafe { copy_many(from.as_ptr().cast(), to.as_ptr().cast::<u8>().cast_mut(), count) };
    }
    for (to, from) in to.iter().zip(&from[..count]) {
        to.store(from.load(Relaxed), Relaxed);
    }
}

/// Repeats a pattern of one, two or four bytes.
pub(crate) fn fill(to: &[AtomicU8], pattern: &[u8]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    let to = fill_words(to, pattern);
    for (byte, value) in to.iter().zip(pattern.iter().cycle()) {
        byte.store(*value, Relaxed);
    }
}

/// Fills whole words where there are many, and returns the bytes that are left.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn fill_words<'a>(to: &'a [AtomicU8], pattern: &[u8]) -> &'a [AtomicU8] {
    if to.len() < MANY || !matches!(pattern.len(), 1 | 2 | 4) {
        return to;
    }
    let word = u32::from_le_bytes(std::array::from_fn(|index| pattern[index % pattern.len()]));
    let (words, end) = to.split_at(to.len() / 4 * 4);
    // SAFETY: atomics may be written through shared references, and the count is that of the words. The direction flag
    // is clear, as everywhere in Rust.
    unsafe {
        std::arch::asm!(
            "rep stosd",
            inout("rcx") words.len() / 4 => _,
            inout("rdi") words.as_ptr() => _,
            in("eax") word,
            options(nostack, preserves_flags)
        );
    }
    end
}

/// # Safety
/// `from` must be valid for reads and `to` for writes of `count` bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
unsafe fn copy_many(from: *const u8, to: *mut u8, count: usize) {
    // SAFETY: touches only the bytes that the caller vouches for. The direction flag is clear, as everywhere in Rust.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") count => _,
            inout("rsi") from => _,
            inout("rdi") to => _,
            options(nostack, preserves_flags)
        );
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn shared(bytes: impl IntoIterator<Item = u8>) -> Vec<AtomicU8> {
        bytes.into_iter().map(AtomicU8::new).collect()
    }

    fn told(bytes: &[AtomicU8]) -> Vec<u8> {
        bytes.iter().map(|byte| byte.load(Relaxed)).collect()
    }

    /// Tests lengths around the threshold of the instruction, at each alignment.
    #[test]
    fn every_length_and_place() {
        for length in [0, 1, 3, 4, 127, 128, 129, 130, 131, 500] {
            for place in 0..5 {
                let source = shared((0..length + 8).map(|index| (index * 7 + 1) as u8));
                let target = shared(std::iter::repeat_n(0, length + 8));
                let (from, to) = (&source[1..1 + length], &target[place..place + length]);
                copy(from, to);
                assert_eq!(told(to), told(from));
                let mut read = vec![0; length];
                // SAFETY: both are as long.
                unsafe { load(to.as_ptr().cast(), &mut read) };
                assert_eq!(read, told(from));
                read.iter_mut().for_each(|byte| *byte ^= 0xff);
                // SAFETY: as above; atomics may be written through a shared pointer.
                unsafe { store(to.as_ptr().cast::<u8>().cast_mut(), &read) };
                assert_eq!(told(to), read);
                for pattern in [&[9][..], &[1, 2], &[1, 2, 3, 4]] {
                    fill(to, pattern);
                    let wanted: Vec<_> = pattern.iter().copied().cycle().take(length).collect();
                    assert_eq!(told(to), wanted);
                }
                let outside = target[..place].iter().chain(&target[place + length..]);
                assert!(outside.into_iter().all(|byte| byte.load(Relaxed) == 0));
            }
        }
    }
}
