// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables from the opaque handles that clients hold to the objects behind them.
//!
//! A handle is a number, never an address. It contains its kind, its simulator and a generation, so that a
//! look-up detects a stale, foreign or invented handle.

use std::num::NonZeroU64;
use std::sync::{Arc, PoisonError, RwLock};

/// The kind of object behind a handle. The number is the upper five bits of the handle; no address has the
/// first bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum HandleKind {
    Context = 16,
    Stream = 17,
    Event = 18,
    Module = 19,
    Function = 20,
    Pool = 21,
    FatBinary = 22,
    Graph = 23,
    GraphNode = 24,
    GraphExec = 25,
    CodeObjectReader = 26,
    Executable = 27,
    ExecutableSymbol = 28,
    VmemHandle = 29,
    Communicator = 30,
    UserObject = 31,
}

const INDEX_BITS: u32 = 24;
const GENERATION_BITS: u32 = 23;
const SALT_BITS: u32 = 12;
const MASK: u64 = (1 << INDEX_BITS) - 1;
const GENERATION_MASK: u32 = (1 << GENERATION_BITS) - 1;

/// The live objects of one kind in one simulator.
pub(crate) struct Handles<T> {
    /// HandleKind and simulator, in the upper bits.
    stamp: u64,
    slots: RwLock<Slots<T>>,
}

struct Slots<T> {
    entries: Vec<Slot<T>>,
    free: Vec<u32>,
}

struct Slot<T> {
    generation: u32,
    object: Option<Arc<T>>,
}

impl<T> Handles<T> {
    /// An empty table. The low 12 bits of `salt` tell simulators apart.
    pub(crate) fn new(kind: HandleKind, salt: u64) -> Self {
        let salt = salt & ((1 << SALT_BITS) - 1);
        let stamp = (u64::from(kind as u8) << SALT_BITS | salt) << (GENERATION_BITS + INDEX_BITS);
        Self { stamp, slots: RwLock::new(Slots { entries: Vec::new(), free: Vec::new() }) }
    }

    /// Enters an object. `None` when 2^24 of them are alive.
    pub(crate) fn insert(&self, object: Arc<T>) -> Option<NonZeroU64> {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let index = match slots.free.pop() {
            Some(index) => index,
            None => {
                let index = u32::try_from(slots.entries.len()).ok().filter(|i| u64::from(*i) <= MASK)?;
                slots.entries.push(Slot { generation: 0, object: None });
                index
            }
        };
        let slot = slots.entries.get_mut(index as usize)?;
        slot.object = Some(object);
        NonZeroU64::new(self.stamp | u64::from(slot.generation) << INDEX_BITS | u64::from(index))
    }

    /// The object behind a handle; `None` if the handle is not, or no longer, in this table.
    pub(crate) fn get(&self, handle: u64) -> Option<Arc<T>> {
        let (index, generation) = self.split(handle)?;
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.entries.get(index).filter(|slot| slot.generation == generation)?;
        slot.object.clone()
    }

    /// Removes an object. Its handle is stale from then on.
    pub(crate) fn remove(&self, handle: u64) -> Option<Arc<T>> {
        let (index, generation) = self.split(handle)?;
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.entries.get_mut(index).filter(|slot| slot.generation == generation)?;
        let object = slot.object.take()?;
        slot.generation = (slot.generation + 1) & GENERATION_MASK;
        // A slot whose generations are used up is not reused: an old handle would fit it.
        if slot.generation != 0 {
            slots.free.push(index as u32);
        }
        Some(object)
    }

    /// All objects.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.entries.iter().filter_map(|slot| slot.object.clone()).collect()
    }

    /// Removes every object that `condition` holds for.
    pub(crate) fn remove_where(&self, condition: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let handles: Vec<u64> = {
            let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
            let live = slots.entries.iter().enumerate();
            live.filter(|(_, slot)| slot.object.as_ref().is_some_and(|object| condition(object)))
                .map(|(index, slot)| self.stamp | u64::from(slot.generation) << INDEX_BITS | index as u64)
                .collect()
        };
        handles.into_iter().filter_map(|handle| self.remove(handle)).collect()
    }

    fn split(&self, handle: u64) -> Option<(usize, u32)> {
        let low = handle & ((1 << (GENERATION_BITS + INDEX_BITS)) - 1);
        (handle ^ low == self.stamp).then_some(((low & MASK) as usize, (low >> INDEX_BITS) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_live_handle_of_this_table_is_found() {
        let streams = Handles::new(HandleKind::Stream, 1);
        let events = Handles::new(HandleKind::Event, 1);
        let elsewhere = Handles::new(HandleKind::Stream, 2);
        let first = streams.insert(Arc::new(1)).unwrap().get();
        let foreign = elsewhere.insert(Arc::new(2)).unwrap().get();
        let event = events.insert(Arc::new(3)).unwrap().get();
        assert_eq!(streams.get(first).as_deref(), Some(&1));
        assert!(streams.get(foreign).is_none() && streams.get(event).is_none());
        assert!(
            streams.get(0).is_none() && streams.get(u64::MAX).is_none() && streams.get(first + 1).is_none()
        );

        assert_eq!(streams.remove(first).as_deref(), Some(&1));
        let second = streams.insert(Arc::new(4)).unwrap().get();
        assert_ne!(first, second);
        assert!(streams.get(first).is_none() && streams.remove(first).is_none());
        assert_eq!(streams.get(second).as_deref(), Some(&4));
    }
}
