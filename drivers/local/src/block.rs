// SPDX-License-Identifier: MIT OR Apache-2.0
//! Argument blocks in memory. Each begins at a multiple of 16 bytes, as `windlass_kernel.h` promises.

/// Bytes that begin at a multiple of 16.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks(Vec<u128>);

impl Blocks {
    /// A copy of one block.
    pub(crate) fn copy_of(block: &[u8]) -> Self {
        let mut blocks = Self::default();
        blocks.push(block);
        blocks
    }

    /// Adds a copy of a block. Returns the byte at which it begins.
    pub(crate) fn push(&mut self, block: &[u8]) -> usize {
        let start = size_of_val(&self.0[..]);
        self.0.resize(self.0.len() + block.len().div_ceil(size_of::<u128>()), 0);
        self.bytes_mut()[start..start + block.len()].copy_from_slice(block);
        start
    }

    /// The bytes, padded with zeros to a multiple of 16.
    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
