// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages of the operating system: reserved in bulk, committed on first touch.

#[cfg(target_os = "linux")]
pub(super) use linux::Pages;
#[cfg(not(target_os = "linux"))]
pub(super) use portable::Pages;

/// The byte that fresh device memory is filled with.
pub(super) const POISON: u8 = 0xCB;

#[cfg(target_os = "linux")]
mod linux {
    use super::POISON;
    use rustix::fd::OwnedFd;
    use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
    use std::ffi::c_void;
    use std::sync::OnceLock;

    /// Bytes of the file full of poison that large allocations map copy-on-write.
    const POISON_FILE: u64 = 4 << 20;
    /// From this size on, poison is mapped rather than written.
    const LAZY: u64 = 1 << 20;

    /// A mapping that is unmapped on drop.
    pub(in super::super) struct Pages {
        base: *mut c_void,
        len: usize,
    }

    // SAFETY: the pointer is only an address; all access through it goes through `memory::access`.
    unsafe impl Send for Pages {}
    // SAFETY: as above.
    unsafe impl Sync for Pages {}

    impl Pages {
        /// Whether addresses can be reserved apart from the bytes behind them.
        pub(in super::super) const CAN_SPLIT: bool = true;

        /// Reserves `len` bytes of address space, readable and writable or neither.
        pub(in super::super) fn reserve(len: u64, accessible: bool) -> Result<Self, String> {
            let protection = if accessible { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::empty() };
            let len = usize::try_from(len).map_err(|_| format!("{len} bytes exceed the address space"))?;
            // SAFETY: a fresh mapping at an address of the system's choice touches nothing that exists.
            let base = unsafe {
                mmap_anonymous(std::ptr::null_mut(), len, protection, MapFlags::PRIVATE | MapFlags::NORESERVE)
            }
            .map_err(|error| format!("reserving {len} bytes of address space failed: {error}"))?;
            Ok(Self { base, len })
        }

        pub(in super::super) fn base(&self) -> u64 {
            self.base as u64
        }

        pub(in super::super) fn len(&self) -> u64 {
            self.len as u64
        }

        /// Fills a range of whole pages with poison.
        pub(in super::super) fn poison(&self, offset: u64, len: u64) {
            let Some(start) = self.pointer(offset, len) else { return };
            if len >= LAZY
                && let Some(file) = poison_file()
                && self.map_poison(start, len, file).is_ok()
            {
                return;
            }
            // SAFETY: `pointer` checked that the range lies in this mapping, which is writable where it is poisoned,
            // and the range was just placed, so nothing else uses it.
            unsafe { std::ptr::write_bytes(start.cast::<u8>(), POISON, len as usize) };
        }

        fn map_poison(&self, start: *mut c_void, len: u64, file: &OwnedFd) -> rustix::io::Result<()> {
            let mut done = 0;
            while done < len {
                let part = POISON_FILE.min(len - done);
                // SAFETY: the range lies in this mapping and nothing refers to its bytes: it was just placed.
                unsafe {
                    mmap(
                        start.byte_add(done as usize),
                        part as usize,
                        ProtFlags::READ | ProtFlags::WRITE,
                        MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE,
                        file,
                        0,
                    )
                }?;
                done += part;
            }
            Ok(())
        }

        /// Makes a range of whole pages zero and gives its memory back.
        pub(in super::super) fn clear(&self, offset: u64, len: u64) {
            let Some(start) = self.pointer(offset, len) else { return };
            // SAFETY: the range lies in this mapping; replacing its pages keeps it mapped, and every access to it is a
            // relaxed atomic through a raw pointer, which may see old or new bytes.
            let replaced = unsafe {
                mmap_anonymous(
                    start,
                    len as usize,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE,
                )
            };
            if let Err(error) = replaced {
                tracing::warn!(target: "windlass::sim", %error, len, "freed memory was not returned to the system");
            }
        }

        /// Maps a part of a file behind a range of whole pages.
        pub(in super::super) fn map(
            &self,
            offset: u64,
            len: u64,
            file: &OwnedFd,
            at: u64,
        ) -> Result<(), String> {
            let start = self.pointer(offset, len).ok_or("the range is not in the reservation")?;
            // SAFETY: the range lies in this mapping, and every access to it is a relaxed atomic through a raw pointer,
            // which may see old or new bytes.
            let mapped = unsafe {
                mmap(
                    start,
                    len as usize,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::SHARED | MapFlags::FIXED | MapFlags::NORESERVE,
                    file,
                    at,
                )
            };
            mapped.map(drop).map_err(|error| format!("mapping {len} bytes failed: {error}"))
        }

        fn pointer(&self, offset: u64, len: u64) -> Option<*mut c_void> {
            let inside = len > 0 && offset.checked_add(len)? <= self.len as u64;
            // SAFETY: the offset is inside the mapping.
            inside.then(|| unsafe { self.base.byte_add(offset as usize) })
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: the mapping is ours, and every user of it borrowed the `Memory` that owns it, which is
            // gone.
            if let Err(error) = unsafe { munmap(self.base, self.len) } {
                tracing::warn!(target: "windlass::sim", %error, "a reservation was not unmapped");
            }
        }
    }

    /// One sealed file of poison for the process; `None` where the system has no such files.
    fn poison_file() -> Option<&'static OwnedFd> {
        static FILE: OnceLock<Option<OwnedFd>> = OnceLock::new();
        FILE.get_or_init(|| {
            let file = rustix::fs::memfd_create("windlass-poison", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
            let block = vec![POISON; 1 << 16];
            let mut written = 0;
            while written < POISON_FILE {
                let part = rustix::io::write(&file, &block).ok()?;
                written += part as u64;
            }
            Some(file)
        })
        .as_ref()
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use super::POISON;
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    /// A block of the process's heap, so that the host can access device memory.
    pub(in super::super) struct Pages {
        base: *mut u8,
        layout: Layout,
    }

    // SAFETY: the pointer is only an address; all access through it goes through `memory::access`.
    unsafe impl Send for Pages {}
    // SAFETY: as above.
    unsafe impl Sync for Pages {}

    impl Pages {
        /// Whether addresses can be reserved apart from the bytes behind them.
        pub(in super::super) const CAN_SPLIT: bool = false;

        /// Allocates `len` bytes; they are always accessible.
        pub(in super::super) fn reserve(len: u64, _accessible: bool) -> Result<Self, String> {
            let size = usize::try_from(len).map_err(|_| format!("{len} bytes exceed the address space"))?;
            let layout = Layout::from_size_align(size.max(1), 4096).map_err(|error| error.to_string())?;
            // SAFETY: the layout's size is not zero.
            let base = unsafe { alloc_zeroed(layout) };
            if base.is_null() {
                return Err(format!("reserving {len} bytes failed"));
            }
            Ok(Self { base, layout })
        }

        pub(in super::super) fn base(&self) -> u64 {
            self.base as u64
        }

        pub(in super::super) fn len(&self) -> u64 {
            self.layout.size() as u64
        }

        pub(in super::super) fn poison(&self, offset: u64, len: u64) {
            self.fill(offset, len, POISON);
        }

        pub(in super::super) fn clear(&self, offset: u64, len: u64) {
            self.fill(offset, len, 0);
        }

        pub(in super::super) fn map(
            &self,
            _offset: u64,
            _len: u64,
            file: &crate::memory::file::File,
            _at: u64,
        ) -> Result<(), String> {
            match *file {}
        }

        fn fill(&self, offset: u64, len: u64, byte: u8) {
            if offset.checked_add(len).is_none_or(|end| end > self.len()) {
                return;
            }
            // SAFETY: the range lies in this block and belongs to no live allocation.
            unsafe { std::ptr::write_bytes(self.base.add(offset as usize), byte, len as usize) };
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: the block came from `alloc_zeroed` with this layout.
            unsafe { dealloc(self.base, self.layout) };
        }
    }
}
