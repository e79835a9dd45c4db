// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small blocks for the arguments of dispatches, reused at once instead of quarantined like freed memory.

use super::{AllocationKind, Memory, MemoryError, lock};
use std::sync::Arc;

/// Bytes of a block that is kept for reuse; larger blocks are allocated and freed.
const USUAL: u64 = 8192;
/// The most blocks that are kept.
const KEPT: usize = 256;

/// A block of device memory that is given back when dropped.
#[derive(Debug)]
pub struct Block {
    memory: Arc<Memory>,
    address: u64,
    size: u64,
}

impl Block {
    /// A block of at least `size` bytes.
    pub fn new(memory: &Arc<Memory>, size: u64) -> Result<Self, MemoryError> {
        let kept = if size <= USUAL { lock(&memory.blocks).pop() } else { None };
        let address = match kept {
            Some(address) => address,
            None => {
                memory.allocate(size.max(USUAL), 4096, AllocationKind::Launch, "arguments of a dispatch")?
            }
        };
        Ok(Self { memory: memory.clone(), address, size })
    }

    /// The address of its first byte.
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.size <= USUAL {
            let mut kept = lock(&self.memory.blocks);
            if kept.len() < KEPT {
                kept.push(self.address);
                return;
            }
        }
        if let Err(error) = self.memory.free(self.address) {
            tracing::error!(target: "windlass::sim", %error, "a launch block was not freed");
        }
    }
}
