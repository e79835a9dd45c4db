// SPDX-License-Identifier: MIT OR Apache-2.0
//! Binding tables: the buffers that a submission binds to the slots of a command buffer.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::driver::range::Buffer;

/// One buffer for each slot of a command buffer, for one submission.
///
/// Up to four buffers need no heap. A longer table allocates once, when it is made, and is cheap to clone for each
/// submission that uses it again.
#[derive(Clone, Debug)]
pub struct BindingTable(Repr);

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "short tables live without the heap")]
enum Repr {
    Inline(SmallVec<[Buffer; 4]>),
    Shared(Arc<[Buffer]>),
}

impl BindingTable {
    /// A table without slots.
    pub fn empty() -> Self {
        Self(Repr::Inline(SmallVec::new()))
    }
}

impl Default for BindingTable {
    fn default() -> Self {
        Self::empty()
    }
}

impl std::ops::Deref for BindingTable {
    type Target = [Buffer];
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
