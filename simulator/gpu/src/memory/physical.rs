// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory without addresses, which can be mapped to reserved addresses, several times at once.
//!
//! It is a part of a file without a name. The bytes behind reserved addresses lie in one row, as the addresses do. So an
//! access may cross from one mapping to the next.

use std::sync::{Arc, PoisonError};

use super::file::{File, grow, make, punch};
use super::sharing::SharedFile;
use super::{Memory, MemoryError};

/// Memory without addresses. Fresh memory is zero. It is freed with this object and its last mapping.
pub struct Physical {
    pub(super) file: Arc<File>,
    pub(super) offset: u64,
    /// Its bytes.
    pub size: u64,
    /// The file, if other processes may have it. It frees its memory itself.
    pub(super) shared: Option<SharedFile>,
}

impl Memory {
    /// Whether there is memory without addresses on this system.
    pub const HAS_PHYSICAL: bool = cfg!(target_os = "linux");

    /// Makes memory without addresses. `size` is a multiple of a page.
    ///
    /// # Errors
    /// [`MemoryError::Reservation`] if the system makes no such file.
    pub fn physical(&self, size: u64) -> Result<Physical, MemoryError> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |reason| MemoryError::Reservation { reason };
        let end = store.next.checked_add(size).filter(|end| i64::try_from(*end).is_ok());
        let end = end.ok_or_else(|| failed(format!("{size} bytes are more than a file has")))?;
        let file = match &store.file {
            Some(file) => file.clone(),
            None => Arc::new(make().map_err(failed)?),
        };
        grow(&file, end).map_err(failed)?;
        let offset = std::mem::replace(&mut store.next, end);
        store.file = Some(file.clone());
        Ok(Physical { file, offset, size, shared: None })
    }
}

impl Drop for Physical {
    fn drop(&mut self) {
        if self.shared.is_none() {
            punch(&self.file, self.offset, self.size);
        }
    }
}
