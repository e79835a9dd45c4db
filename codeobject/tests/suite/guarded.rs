// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes at the end of readable memory: a read behind them is detected, by the processor or by Miri.

#[cfg(miri)]
pub(crate) use allocated::Guarded;
#[cfg(not(miri))]
pub(crate) use mapped::Guarded;

#[cfg(not(miri))]
mod mapped {
    use std::ptr;

    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    const PAGE: usize = 65_536;

    /// Bytes that end where readable memory ends: reading the next byte ends the process.
    pub(crate) struct Guarded {
        map: *mut u8,
        mapped: usize,
        size: usize,
    }

    impl Guarded {
        pub(crate) fn new(bytes: &[u8]) -> Guarded {
            let readable = bytes.len().next_multiple_of(PAGE).max(PAGE);
            let mapped = readable + PAGE;
            // SAFETY: a mapping of its own; the guard lies inside it, and the copy ends where the guard begins.
            unsafe {
                let map = mmap_anonymous(
                    ptr::null_mut(),
                    mapped,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::PRIVATE,
                )
                .unwrap();
                mprotect(map.byte_add(readable), PAGE, MprotectFlags::empty()).unwrap();
                let map = map.cast::<u8>();
                map.add(readable - bytes.len()).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                Guarded { map, mapped, size: bytes.len() }
            }
        }

        pub(crate) fn start(&self) -> *const u8 {
            // SAFETY: it lies inside the mapping.
            unsafe { self.map.add(self.mapped - PAGE - self.size) }
        }
    }

    impl Drop for Guarded {
        fn drop(&mut self) {
            // SAFETY: the mapping is its own, and no slice of it is left.
            unsafe { munmap(self.map.cast(), self.mapped) }.unwrap();
        }
    }
}

/// Miri has no unreadable pages, but knows the end of every allocation.
#[cfg(miri)]
mod allocated {
    pub(crate) struct Guarded(Box<[u8]>);

    impl Guarded {
        pub(crate) fn new(bytes: &[u8]) -> Guarded {
            Guarded(bytes.into())
        }

        pub(crate) fn start(&self) -> *const u8 {
            self.0.as_ptr()
        }
    }
}
