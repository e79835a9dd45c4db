// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel descriptor: 64 bytes that tell the hardware how to start a kernel.

use crate::bytes::array;

/// A kernel descriptor (`<kernel>.kd`), field by field. Names are LLVM's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct KernelDescriptor {
    /// Static group memory (LDS) in bytes.
    pub group_segment_fixed_size: u32,
    /// Private memory (scratch) per work item in bytes.
    pub private_segment_fixed_size: u32,
    /// Size of the argument block in bytes; 0 where the producer leaves it to the metadata.
    pub kernarg_size: u32,
    /// The offset of the first instruction from the descriptor's address, in bytes.
    pub kernel_code_entry_byte_offset: i64,
    /// `COMPUTE_PGM_RSRC3`; its meaning depends on the processor.
    pub compute_pgm_rsrc3: u32,
    /// `COMPUTE_PGM_RSRC1`.
    pub compute_pgm_rsrc1: u32,
    /// `COMPUTE_PGM_RSRC2`.
    pub compute_pgm_rsrc2: u32,
    /// Which user SGPRs are set up (bits 0 to 6), wave32 (bit 10), dynamic stack (bit 11).
    pub kernel_code_properties: u16,
    /// Preloaded kernel arguments: the number of dwords (bits 0 to 6) and the first dword (bits 7 to 15).
    pub kernarg_preload: u16,
}

impl KernelDescriptor {
    /// Size of a descriptor in bytes.
    pub const SIZE: u64 = 64;

    /// Reads the 64 bytes of a descriptor; `None` if there are fewer.
    pub fn parse(bytes: &[u8]) -> Option<KernelDescriptor> {
        array::<64>(bytes, 0)?;
        let word = |offset| array(bytes, offset).map(u32::from_le_bytes);
        Some(KernelDescriptor {
            group_segment_fixed_size: word(0)?,
            private_segment_fixed_size: word(4)?,
            kernarg_size: word(8)?,
            kernel_code_entry_byte_offset: array(bytes, 16).map(i64::from_le_bytes)?,
            compute_pgm_rsrc3: word(44)?,
            compute_pgm_rsrc1: word(48)?,
            compute_pgm_rsrc2: word(52)?,
            kernel_code_properties: array(bytes, 56).map(u16::from_le_bytes)?,
            kernarg_preload: array(bytes, 58).map(u16::from_le_bytes)?,
        })
    }

    /// Whether a wave has 32 lanes rather than 64.
    pub fn wavefront_size32(&self) -> bool {
        self.property(10)
    }

    /// Whether the stack size is unknown before the launch.
    pub fn uses_dynamic_stack(&self) -> bool {
        self.property(11)
    }

    /// Whether user SGPRs hold the private segment buffer (4 SGPRs).
    pub fn private_segment_buffer(&self) -> bool {
        self.property(0)
    }

    /// Whether user SGPRs hold the address of the dispatch packet (2 SGPRs).
    pub fn dispatch_ptr(&self) -> bool {
        self.property(1)
    }

    /// Whether user SGPRs hold the address of the HSA queue (2 SGPRs).
    pub fn queue_ptr(&self) -> bool {
        self.property(2)
    }

    /// Whether user SGPRs hold the address of the argument block (2 SGPRs).
    pub fn kernarg_segment_ptr(&self) -> bool {
        self.property(3)
    }

    /// Whether user SGPRs hold the dispatch id (2 SGPRs).
    pub fn dispatch_id(&self) -> bool {
        self.property(4)
    }

    /// Whether user SGPRs hold the initial flat scratch (2 SGPRs).
    pub fn flat_scratch_init(&self) -> bool {
        self.property(5)
    }

    /// Whether a user SGPR holds the private segment's size (1 SGPR).
    pub fn private_segment_size(&self) -> bool {
        self.property(6)
    }

    /// The number of dwords of the argument block that are preloaded into user SGPRs.
    pub fn kernarg_preload_length(&self) -> u32 {
        u32::from(self.kernarg_preload & 0x7f)
    }

    /// The first preloaded dword of the argument block.
    pub fn kernarg_preload_offset(&self) -> u32 {
        u32::from(self.kernarg_preload >> 7)
    }

    /// The number of user SGPRs.
    pub fn user_sgpr_count(&self) -> u32 {
        self.compute_pgm_rsrc2 >> 1 & 0x1f
    }

    /// Whether the wave gets its workgroup's id in x, y and z.
    pub fn workgroup_id(&self) -> [bool; 3] {
        [7, 8, 9].map(|bit| self.compute_pgm_rsrc2 >> bit & 1 != 0)
    }

    /// The number of dimensions of the work-item id that each lane gets, 1 to 3.
    pub fn workitem_id_dimensions(&self) -> u32 {
        (self.compute_pgm_rsrc2 >> 11 & 3).min(2) + 1
    }

    fn property(&self, bit: u32) -> bool {
        self.kernel_code_properties >> bit & 1 != 0
    }
}
