// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads of the client's memory at addresses that headers state, and that may not exist. On Linux the system copies the
//! bytes or reports that it cannot, so damaged headers cause an error and not a signal.

/// Copies the bytes at `from`. False if not all of them can be read; `to` then holds any bytes.
///
/// # Safety
/// The bytes can be read. Where the system copies, a breach of this does no harm.
pub(crate) unsafe fn read(from: *const u8, to: &mut [u8]) -> bool {
    if from.addr().checked_add(to.len()).is_none() {
        return false;
    }
    match copy_by_system(from, to) {
        Some(whole) => whole,
        None => {
            // SAFETY: the caller vouches for the bytes, and `to` is borrowed alone.
            unsafe { from.copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
            true
        }
    }
}

/// Has the system copy the bytes. `None` if it refuses such copies.
#[cfg(all(target_os = "linux", not(miri)))]
fn copy_by_system(from: *const u8, to: &mut [u8]) -> Option<bool> {
    // The system's process numbers fit.
    let process = std::process::id() as libc::pid_t;
    let mut done = 0;
    while done < to.len() {
        let rest = &mut to[done..];
        let local = libc::iovec { iov_base: rest.as_mut_ptr().cast(), iov_len: rest.len() };
        let remote = libc::iovec { iov_base: from.wrapping_add(done).cast_mut().cast(), iov_len: rest.len() };
        // SAFETY: the call writes only to `rest`, at most its length. The system checks the addresses that it reads.
        let copied = unsafe { libc::process_vm_readv(process, &raw const local, 1, &raw const remote, 1, 0) };
        match copied {
            0 => return Some(false),
            // It is at most the length.
            1.. => done += copied as usize,
            _ => match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EINTR) => {}
                // Some sandboxes forbid the call.
                Some(libc::ENOSYS | libc::EPERM | libc::EACCES) => return None,
                _ => return Some(false),
            },
        }
    }
    Some(true)
}

#[cfg(any(not(target_os = "linux"), miri))]
fn copy_by_system(_from: *const u8, _to: &mut [u8]) -> Option<bool> {
    None
}

#[cfg(all(test, target_os = "linux", not(miri)))]
pub(in crate::hip) mod tests {
    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    use super::*;

    const PAGE: usize = 1 << 16;

    /// Bytes with memory behind them that cannot be read.
    pub(in crate::hip) struct Guarded {
        base: *mut u8,
        start: *const u8,
    }

    impl Guarded {
        pub(in crate::hip) fn new(bytes: &[u8]) -> Self {
            assert!(bytes.len() <= PAGE);
            let access = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: a fresh mapping, of which the front half stays accessible and takes the bytes.
            unsafe {
                let base = mmap_anonymous(std::ptr::null_mut(), 2 * PAGE, access, MapFlags::PRIVATE).unwrap();
                mprotect(base.byte_add(PAGE), PAGE, MprotectFlags::empty()).unwrap();
                let base = base.cast::<u8>();
                let start = base.add(PAGE - bytes.len());
                start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
                Self { base, start }
            }
        }

        pub(in crate::hip) fn start(&self) -> *const u8 {
            self.start
        }
    }

    impl Drop for Guarded {
        fn drop(&mut self) {
            // SAFETY: the mapping is this value's.
            unsafe { munmap(self.base.cast(), 2 * PAGE) }.unwrap();
        }
    }

    fn read_from(from: *const u8, size: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; size];
        // SAFETY: on Linux bytes that cannot be read do no harm.
        unsafe { read(from, &mut bytes) }.then_some(bytes)
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let guarded = Guarded::new(b"eight by");
        assert_eq!(read_from(guarded.start(), 8).unwrap(), b"eight by");
        assert_eq!(read_from(guarded.start(), 0).unwrap(), b"");
        assert_eq!(read_from(guarded.start(), 9), None);
        assert_eq!(read_from(guarded.start().wrapping_add(8), 1), None);
        for nowhere in [1, usize::MAX - 3, 1 << 63] {
            assert_eq!(read_from(std::ptr::without_provenance(nowhere), 8), None, "{nowhere:#x}");
        }
    }
}
