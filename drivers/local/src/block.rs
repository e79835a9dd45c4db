// SPDX-License-Identifier: MIT OR Apache-2.0
//! Argument blocks in memory. Each begins at a multiple of 16 bytes, as `windlass_kernel.h` promises.

/// Bytes that begin at a multiple of 16.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks(Vec<u128>);

impl Blocks {
    /// A copy of `bytes`.
    pub(crate) fn copy_of(bytes: &[u8]) -> Self {
        let mut blocks = Self(vec![0; bytes.len().div_ceil(size_of::<u128>())]);
        blocks.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        blocks
    }

    /// The bytes, padded with zeros to a multiple of 16.
    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
