// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that holds machine code: it is written, and then made executable instead of writable.

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most bytes of code that a process holds.
const MOST: usize = 64 << 20;
/// The unit in which code is mapped.
const PAGE: usize = 4096;

/// The bytes of code that the process holds.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// A mapping with machine code. It is readable and executable, and unmapped on drop.
pub(super) struct Code {
    base: *mut c_void,
    len: usize,
}

// SAFETY: nothing writes to the mapping after its creation.
unsafe impl Send for Code {}
// SAFETY: as above.
unsafe impl Sync for Code {}

impl Code {
    /// Maps machine code.
    ///
    /// # Errors
    /// The system refuses, or the process holds too much code already.
    pub(super) fn new(bytes: &[u8]) -> Result<Self, String> {
        let len = bytes.len().next_multiple_of(PAGE);
        if bytes.is_empty() || HELD.fetch_add(len, Ordering::Relaxed) + len > MOST {
            HELD.fetch_sub(len, Ordering::Relaxed);
            return Err(format!("{len} more bytes of code exceed the limit of {MOST}"));
        }
        let writable = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address of the system's choice touches nothing that exists.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), len, writable, MapFlags::PRIVATE) };
        let base = base.map_err(|error| {
            HELD.fetch_sub(len, Ordering::Relaxed);
            format!("mapping {len} bytes for code failed: {error}")
        })?;
        let code = Self { base, len };
        // SAFETY: the mapping has at least as many bytes, is writable, and belongs to nothing else.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), base.cast(), bytes.len()) };
        // SAFETY: the mapping is this value's own, and no reference to its bytes exists.
        unsafe { mprotect(base, len, MprotectFlags::READ | MprotectFlags::EXEC) }
            .map_err(|error| format!("making {len} bytes executable failed: {error}"))?;
        Ok(code)
    }

    /// The address of the first instruction.
    pub(super) fn entry(&self) -> *mut u8 {
        self.base.cast()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and a thread that runs the code holds the value.
        let unmapped = unsafe { munmap(self.base, self.len) };
        if unmapped.is_ok() {
            HELD.fetch_sub(self.len, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_is_refused_leaves_room_for_other_code() {
        for _ in 0..3 {
            let error = Code::new(&vec![0; MOST + 1]).err().unwrap();
            assert!(error.contains("limit"), "{error}");
        }
        let code = Code::new(&[0xc3; PAGE + 1]).unwrap();
        assert_eq!(code.len, 2 * PAGE);
        // SAFETY: the mapping is readable and has this many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(code.entry(), PAGE + 1) };
        assert!(bytes.iter().all(|byte| *byte == 0xc3));
    }
}
