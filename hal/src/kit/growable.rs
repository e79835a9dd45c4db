// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that grows in place, over the address space of a driver.
//!
//! A [`Growable`] has reserved addresses, and memory behind their first part, in pieces. A buffer over a range keeps the
//! pieces that it touches. Shrinking lets go of the pieces behind the new size, and each goes back to the driver when no
//! buffer keeps it any more. A growth that comes back to a piece that a buffer still keeps takes the same piece again.

use std::{
    any::Any,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Condvar, Mutex, PoisonError, Weak},
    time::Duration,
};

use crate::{
    driver::{self, HostPointer},
    order::edge::Domain,
    words::{
        error::{Error, Result},
        sync::lock_std as lock,
    },
};

/// How long a growth waits for a piece that is on its way back to the driver.
const PATIENCE: Duration = Duration::from_secs(2);

/// A growth takes pieces of at most this many bytes, or of a 64th of the capacity if that is more. Memory is given back in
/// whole pieces.
const PIECE: u64 = 64 << 20;

/// The part of a driver that puts memory behind addresses. It belongs to one reservation.
pub trait AddressSpace: Send + Sync + Sized + 'static {
    /// The device.
    fn domain(&self) -> Domain;

    /// The error of a lost device.
    fn usable(&self) -> Result<()>;

    /// `RESOURCE_EXHAUSTED` with the free bytes if the device cannot have `size` more bytes now.
    fn check_room(&self, size: u64) -> Result<()>;

    /// Puts fresh memory behind reserved addresses, for kernels and copies of the device. `address` and `size` are
    /// multiples of the granularity. `RESOURCE_EXHAUSTED` says how much is free.
    fn commit(&self, address: u64, size: u64) -> Result<()>;

    /// Takes the memory of one [`commit`](Self::commit) away and then calls `done`. It must not wait for the device on the
    /// calling thread. No work uses the memory any more. The memory of a lost device stays, and `done` is not called.
    fn decommit(&self, address: u64, size: u64, done: Box<dyn FnOnce() + Send>);

    /// Releases the reservation, which has no memory left. It must not wait for the device on the calling thread.
    fn release(&self, address: u64, capacity: u64);
}

/// Reserved addresses with memory behind their first part. See the [module's text](self).
pub struct Growable<S: AddressSpace> {
    reservation: Arc<Reservation<S>>,
    /// The pieces that it keeps, without a gap from the first address on.
    held: Mutex<Vec<Arc<Piece<S>>>>,
}

struct Reservation<S: AddressSpace> {
    space: S,
    address: u64,
    capacity: u64,
    granularity: u64,
    /// Every piece that has memory, by its offset: those that a `Growable` or a buffer keeps, and those on their way back.
    ledger: Mutex<BTreeMap<u64, Known<S>>>,
    /// Notified when a piece has left the ledger.
    changed: Condvar,
}

struct Known<S: AddressSpace> {
    size: u64,
    /// Without an owner once the piece is on its way back.
    piece: Weak<Piece<S>>,
}

/// Memory behind a range of the addresses.
struct Piece<S: AddressSpace> {
    reservation: Arc<Reservation<S>>,
    offset: u64,
    size: u64,
}

impl<S: AddressSpace> Piece<S> {
    fn end(&self) -> u64 {
        self.offset + self.size
    }
}

impl<S: AddressSpace> Drop for Piece<S> {
    fn drop(&mut self) {
        let (reservation, offset) = (self.reservation.clone(), self.offset);
        let done = move || {
            lock(&reservation.ledger).remove(&offset);
            reservation.changed.notify_all();
        };
        let Reservation { space, address, .. } = &*self.reservation;
        space.decommit(address + self.offset, self.size, Box::new(done));
    }
}

impl<S: AddressSpace> Drop for Reservation<S> {
    fn drop(&mut self) {
        self.space.release(self.address, self.capacity);
    }
}

impl<S: AddressSpace> Reservation<S> {
    /// The bytes of a range that no piece holds.
    fn missing(&self, start: u64, end: u64) -> u64 {
        let ledger = lock(&self.ledger);
        let kept = ledger.range(start..end).filter(|(_, known)| known.piece.strong_count() > 0);
        (end - start).saturating_sub(kept.map(|(_, known)| known.size).sum())
    }

    /// The piece that begins at `offset`: one that a buffer still keeps, or a new one of at most `wanted` bytes. Only one
    /// thread at a time makes pieces.
    fn piece(self: &Arc<Self>, offset: u64, wanted: u64) -> Result<Arc<Piece<S>>> {
        let mut ledger = lock(&self.ledger);
        let size = loop {
            match ledger.range(offset..).next() {
                Some((start, known)) if *start == offset => {
                    if let Some(piece) = known.piece.upgrade() {
                        return Ok(piece);
                    }
                    let waited = self.changed.wait_timeout(ledger, PATIENCE);
                    let (now, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                    ledger = now;
                    if timeout.timed_out() && ledger.contains_key(&offset) {
                        return Err(Error::resource_exhausted(
                            "the device has not taken back memory of these addresses yet; try again later",
                        ));
                    }
                }
                next => {
                    let most = PIECE.max(self.capacity / 64).next_multiple_of(self.granularity);
                    break wanted.min(most).min(next.map_or(u64::MAX, |(start, _)| start - offset));
                }
            }
        };
        drop(ledger);
        self.space.commit(self.address + offset, size)?;
        let piece = Arc::new(Piece { reservation: self.clone(), offset, size });
        lock(&self.ledger).insert(offset, Known { size, piece: Arc::downgrade(&piece) });
        Ok(piece)
    }
}

impl<S: AddressSpace> Growable<S> {
    /// Takes a reservation of `capacity` bytes at `address`. All three numbers are multiples of `granularity`.
    pub fn new(space: S, address: u64, capacity: u64, granularity: u64) -> Self {
        let ledger = Mutex::default();
        let reservation =
            Reservation { space, address, capacity, granularity, ledger, changed: Condvar::new() };
        Self { reservation: Arc::new(reservation), held: Mutex::default() }
    }
}

fn end<S: AddressSpace>(held: &[Arc<Piece<S>>]) -> u64 {
    held.last().map_or(0, |piece| piece.end())
}

// SAFETY: the addresses never change, and a buffer keeps its pieces, whose memory stays until they are dropped.
#[allow(unsafe_code)]
unsafe impl<S: AddressSpace> driver::RawGrowable for Growable<S> {
    fn domain(&self) -> Domain {
        self.reservation.space.domain()
    }

    fn device_address(&self) -> u64 {
        self.reservation.address
    }

    fn capacity(&self) -> u64 {
        self.reservation.capacity
    }

    fn granularity(&self) -> u64 {
        self.reservation.granularity
    }

    fn size(&self) -> u64 {
        end(&lock(&self.held))
    }

    fn grow_to(&self, size: u64) -> Result<()> {
        let reservation = &self.reservation;
        if size > reservation.capacity {
            return Err(Error::out_of_range(format!("{size} bytes of {} reserved", reservation.capacity)));
        }
        let size = size.next_multiple_of(reservation.granularity);
        let mut held = lock(&self.held);
        let mut offset = end(&held);
        if size <= offset {
            return Ok(());
        }
        reservation.space.usable()?;
        reservation.space.check_room(reservation.missing(offset, size))?;
        // An error drops the pieces of this growth.
        let mut pieces = Vec::new();
        while offset < size {
            let piece = reservation.piece(offset, size - offset)?;
            offset = piece.end();
            pieces.push(piece);
        }
        held.append(&mut pieces);
        Ok(())
    }

    fn shrink_to(&self, size: u64) -> Result<()> {
        let mut held = lock(&self.held);
        let kept = held.partition_point(|piece| piece.offset < size);
        let gone = held.split_off(kept);
        drop(held);
        drop(gone);
        Ok(())
    }

    fn buffer(self: Arc<Self>, offset: u64, length: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        let held = lock(&self.held);
        let (size, last) = (end(&held), offset.checked_add(length));
        let Some(last) = last.filter(|last| *last <= size) else {
            return Err(Error::out_of_range(format!(
                "bytes {offset}.. of length {length} of memory that has grown to {size} bytes"
            )));
        };
        let pieces = held.iter().filter(|piece| piece.offset < last && offset < piece.end()).cloned();
        let pieces = pieces.collect();
        drop(held);
        Ok(Arc::new(GrownBuffer { reservation: self.reservation.clone(), pieces, offset, length }))
    }
}

impl<S: AddressSpace> fmt::Debug for Growable<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reservation { address, capacity, .. } = &*self.reservation;
        write!(f, "Growable({address:#x}, {} of {capacity} bytes)", end(&lock(&self.held)))
    }
}

/// A range of a [`Growable`], which keeps the pieces that it touches.
pub struct GrownBuffer<S: AddressSpace> {
    reservation: Arc<Reservation<S>>,
    pieces: Box<[Arc<Piece<S>>]>,
    offset: u64,
    length: u64,
}

impl<S: AddressSpace> GrownBuffer<S> {
    /// The driver's part.
    pub fn space(&self) -> &S {
        &self.reservation.space
    }
}

// SAFETY: the pieces of the range stay as long as this object, and with them size and address.
#[allow(unsafe_code)]
unsafe impl<S: AddressSpace> driver::RawBuffer for GrownBuffer<S> {
    fn domain(&self) -> Domain {
        self.reservation.space.domain()
    }

    fn size(&self) -> u64 {
        self.length
    }

    fn device_address(&self) -> u64 {
        self.reservation.address + self.offset
    }

    fn host_pointer(&self) -> Option<HostPointer> {
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<S: AddressSpace> fmt::Debug for GrownBuffer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.reservation.address + self.offset;
        write!(f, "GrownBuffer({address:#x}, {} bytes in {} pieces)", self.length, self.pieces.len())
    }
}
