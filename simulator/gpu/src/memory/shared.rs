// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that several processes map.

use std::sync::{Arc, Mutex};

use super::arena::{Arena, PAGE};
use super::sharing::{Content, SharedFile};
use super::{AllocationKind, Memory, MemoryError, Physical, lock};

/// Bytes that move into a file at once.
const PIECE: u64 = 1 << 20;

impl Memory {
    /// The file of an allocation of device memory, which other processes may map. The first call moves the bytes into the file:
    /// no kernel and no copy may run meanwhile.
    ///
    /// # Errors
    /// [`MemoryError::NotAnAllocation`] unless device memory starts there, [`MemoryError::Reservation`] if the system makes no
    /// file.
    pub fn export(&self, base: u64) -> Result<Arc<SharedFile>, MemoryError> {
        let mut exported = lock(&self.exported);
        if let Some(file) = exported.get(&base) {
            return Ok(file.clone());
        }
        let own = [AllocationKind::Device, AllocationKind::FineGrained];
        let info = self.lookup(base).filter(|info| info.base == base && own.contains(&info.kind));
        let size =
            info.ok_or_else(|| MemoryError::NotAnAllocation { address: base, place: self.place(base) })?.size;
        let failed = |reason| MemoryError::Reservation { reason };
        let whole = size.max(1).next_multiple_of(PAGE);
        let file = Arc::new(SharedFile::new(Content::Memory, whole).map_err(failed)?);
        let mut piece = Vec::new();
        for at in (0..size).step_by(PIECE as usize) {
            piece.resize(PIECE.min(size - at) as usize, 0);
            self.read(base + at, &mut piece)?;
            file.write(at, &piece).map_err(failed)?;
        }
        lock(self.arena_of(base)).map(base, whole, &file.file, 0).map_err(failed)?;
        // Others write it without notice.
        self.note_write(base, size);
        exported.insert(base, file.clone());
        drop(exported);
        // A client may have freed it meanwhile.
        if self.lookup(base).is_none_or(|info| info.base != base) {
            self.end_export(base, size);
        }
        Ok(file)
    }

    /// Takes an allocation that ends out of the file that others map, if it has one.
    pub(super) fn end_export(&self, base: u64, size: u64) {
        if lock(&self.exported).remove(&base).is_some() {
            lock(self.arena_of(base)).clear(base, size.max(1));
        }
    }

    /// The arena that an address of an allocation belongs to.
    pub(super) fn arena_of(&self, base: u64) -> &Mutex<Arena> {
        if lock(&self.device).contains(base) { &self.device } else { &self.host }
    }

    /// Memory without addresses that other processes may map. `size` is a multiple of a page.
    ///
    /// # Errors
    /// [`MemoryError::Reservation`] if the system makes no file.
    pub fn shareable(&self, size: u64) -> Result<Physical, MemoryError> {
        let made = SharedFile::new(Content::Memory, size);
        made.map(|file| Physical::of(file, size)).map_err(|reason| MemoryError::Reservation { reason })
    }
}

impl Physical {
    /// The first bytes of a file of this or another process.
    pub fn of(file: SharedFile, size: u64) -> Self {
        Self { file: file.file.clone(), offset: 0, size, shared: Some(file) }
    }

    /// The file, if other processes may have it.
    pub fn shared(&self) -> Option<&SharedFile> {
        self.shared.as_ref()
    }
}
