// SPDX-License-Identifier: MIT OR Apache-2.0
//! Argument blocks with the addresses of a binding table.

use crate::driver::command::{PATCH_SIZE, Patch, Patches};

/// The bytes that are copied at once. Most argument blocks are shorter.
pub(crate) const SHORT: usize = 64;

/// The slots of a short table, and the places of a short block: as many as a byte has values.
const FEW: usize = 256;

/// The addresses of a binding table, and memory for one argument block that contains some of them. A replay reuses it for
/// each dispatch, and a queue for each replay.
#[derive(Clone, Debug)]
pub struct PatchedBlock {
    /// The addresses of a short table.
    few: [u64; FEW],
    /// The addresses of any other table; of a short one none.
    many: Vec<u64>,
    /// The most bytes of a block that goes to `short`: none if the table is long.
    most: usize,
    short: [u8; FEW + PATCH_SIZE],
    long: Vec<u8>,
}

impl Default for PatchedBlock {
    fn default() -> Self {
        Self { few: [0; FEW], many: Vec::new(), most: SHORT, short: [0; FEW + PATCH_SIZE], long: Vec::new() }
    }
}

impl PatchedBlock {
    /// Takes the device addresses of the ranges that a submission binds, in the order of the slots.
    pub fn bind(&mut self, addresses: impl ExactSizeIterator<Item = u64>) {
        self.many.clear();
        if addresses.len() <= FEW {
            self.few.iter_mut().zip(addresses).for_each(|(place, address)| *place = address);
            self.most = SHORT;
        } else {
            self.most = 0;
            self.many.extend(addresses);
        }
    }

    /// Copies an argument block and adds the bound addresses at the places of the patches. A slot without a binding has any
    /// address: the caller has compared the table with [`CommandList::slots`](crate::CommandList::slots).
    pub fn fill(&mut self, arguments: &[u8], patches: Patches<'_>) -> &[u8] {
        self.long.clear();
        self.long.extend_from_slice(arguments);
        for Patch { at, slot } in patches.iter() {
            let addresses = if self.many.is_empty() { &self.few[..] } else { &self.many[..] };
            let address = addresses.get(slot as usize).copied().unwrap_or(0);
            let place = self.long.get_mut(at as usize..).and_then(|rest| rest.first_chunk_mut::<8>());
            if let Some(place) = place {
                add(place, address);
            }
        }
        &self.long
    }

    /// As [`fill`](Self::fill) for the first `size` bytes of a block, where the table is short. Copying more bytes than the
    /// block has takes less time than copying as many.
    #[inline]
    pub(crate) fn fill_short(
        &mut self,
        bytes: &[u8; SHORT],
        size: u8,
        patches: &[[u8; PATCH_SIZE]],
    ) -> &[u8] {
        if let Some(short) = self.short.first_chunk_mut() {
            *short = *bytes;
        }
        for record in patches {
            // Both numbers fit a byte, which spares the loop its checks.
            let (at, slot) = Patch::read_small(record);
            if let Some(place) = self.short[usize::from(at)..].first_chunk_mut::<8>() {
                add(place, self.few[usize::from(slot)]);
            }
        }
        &self.short[..usize::from(size)]
    }

    /// Whether [`fill_short`](Self::fill_short) serves a block of this many bytes.
    #[inline]
    pub(crate) fn takes(&self, size: usize) -> bool {
        size <= self.most
    }
}

#[inline]
fn add(place: &mut [u8; 8], address: u64) {
    *place = address.wrapping_add(u64::from_le_bytes(*place)).to_le_bytes();
}
