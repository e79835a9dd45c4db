// SPDX-License-Identifier: MIT OR Apache-2.0
//! Binding tables: the buffers that a submission binds to the slots of a command buffer.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::driver::range::Buffer;

/// One buffer for each slot of a command buffer, for one submission.
///
/// Up to four buffers need no heap. A longer table allocates once, when it is made, and is cheap to clone for each
/// submission that uses it again.
#[derive(Debug)]
pub struct BindingTable(Repr);

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "short tables live without the heap")]
enum Repr {
    Inline(SmallVec<[Buffer; 4]>),
    Shared(Arc<[Buffer]>),
}

impl BindingTable {
    /// A table without slots.
    #[inline]
    pub fn empty() -> Self {
        Self(Repr::Inline(SmallVec::new()))
    }

    /// Removes all buffers.
    #[inline]
    pub fn clear(&mut self) {
        match &mut self.0 {
            Repr::Inline(buffers) => buffers.clear(),
            Repr::Shared(_) => *self = Self::empty(),
        }
    }
}

impl Clone for BindingTable {
    fn clone(&self) -> Self {
        let mut table = Self::empty();
        table.clone_from(self);
        table
    }

    /// Moves no more bytes than the buffers have.
    fn clone_from(&mut self, source: &Self) {
        match (&mut self.0, &source.0) {
            (Repr::Inline(own), Repr::Inline(buffers)) => {
                own.clear();
                for buffer in buffers {
                    own.push(buffer.clone());
                }
            }
            (own, Repr::Inline(buffers)) => *own = Repr::Inline(buffers.clone()),
            (own, Repr::Shared(buffers)) => *own = Repr::Shared(buffers.clone()),
        }
    }
}

impl Default for BindingTable {
    fn default() -> Self {
        Self::empty()
    }
}

impl std::ops::Deref for BindingTable {
    type Target = [Buffer];
    #[inline]
    fn deref(&self) -> &[Buffer] {
        match &self.0 {
            Repr::Inline(buffers) => buffers,
            Repr::Shared(buffers) => buffers,
        }
    }
}

impl From<&[Buffer]> for BindingTable {
    fn from(buffers: &[Buffer]) -> Self {
        Self(if buffers.len() <= 4 { Repr::Inline(buffers.into()) } else { Repr::Shared(buffers.into()) })
    }
}

impl<const N: usize> From<[Buffer; N]> for BindingTable {
    fn from(buffers: [Buffer; N]) -> Self {
        Self::from(&buffers[..])
    }
}

impl From<Vec<Buffer>> for BindingTable {
    fn from(buffers: Vec<Buffer>) -> Self {
        Self::from(&buffers[..])
    }
}
