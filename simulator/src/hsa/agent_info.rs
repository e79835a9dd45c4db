// SPDX-License-Identifier: MIT OR Apache-2.0
//! The agents of a runtime, and their attributes.

use std::sync::PoisonError;

use crate::visible;
use windlass_simulated_gpu::Part;

use super::abi::{Agent, Isa};
use super::agent::{GpuAgent, Which, isa};
use super::info::Info;
use super::queue::{LEAST_PACKETS, MOST_PACKETS};
use super::runtime::Runtime;
use super::status::{Outcome, Status};

/// Bytes of the longest extension mask.
const EXTENSIONS: usize = 128;
/// The bit of the image extension.
const IMAGES: u32 = 1;

impl Runtime {
    /// Every agent, the host's first.
    pub(crate) fn agents(&self) -> impl Iterator<Item = Which> + use<> {
        std::iter::once(Which::Cpu).chain((0..self.gpus.len()).map(Which::Gpu))
    }

    /// # Errors
    /// `INVALID_AGENT`.
    pub(crate) fn agent(&self, agent: Agent) -> Outcome<Which> {
        self.agents().find(|which| which.handle() == agent).ok_or(Status::INVALID_AGENT)
    }

    /// The index of the GPU behind a handle.
    ///
    /// # Errors
    /// `INVALID_AGENT`, also for the host's agent.
    pub(crate) fn gpu(&self, agent: Agent) -> Outcome<usize> {
        self.agent(agent)?.gpu().ok_or(Status::INVALID_AGENT)
    }

    /// The compute units that a GPU reports; none for an index without a GPU.
    pub(crate) fn units_of(&self, gpu: usize) -> u32 {
        self.gpus.get(gpu).map_or(0, |gpu| gpu.units)
    }

    /// The part of the machine that has an instruction set.
    ///
    /// # Errors
    /// `INVALID_ISA`.
    pub(crate) fn part_of_isa(&self, wanted: Isa) -> Outcome<&'static Part> {
        let found = self.options.parts.iter().find(|part| isa(part) == wanted);
        found.copied().ok_or(Status::INVALID_ISA)
    }

    /// An attribute of an agent.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an unknown attribute.
    pub(crate) fn agent_info(&self, which: Which, attribute: u32) -> Outcome<Info> {
        let own = match which {
            Which::Cpu if attribute == 18 => Some(Info::U32s(self.cache_sizes(which).to_vec())),
            Which::Cpu => cpu_info(attribute),
            Which::Gpu(index) => self.gpus.get(index).and_then(|gpu| self.gpu_info(*gpu, attribute)),
        };
        own.or_else(|| common_info(which, attribute)).ok_or(Status::INVALID_ARGUMENT)
    }

    /// The numbers are those of `hsa_agent_info_t` and `hsa_amd_agent_info_t`.
    fn gpu_info(&self, gpu: GpuAgent, attribute: u32) -> Option<Info> {
        let GpuAgent { part, units, .. } = gpu;
        Some(match attribute {
            0 => Info::text(part.name(), 64),
            1 => Info::text("AMD", 64),
            // It supports kernel dispatch.
            2 => Info::U32(1),
            // The base profile.
            4 => Info::U32(0),
            6 => Info::U32(part.wave_size()),
            7 => Info::U16s([Part::WORKGROUP as u16; 3]),
            8 => Info::U32(Part::WORKGROUP),
            9 => Info::U32s(vec![u32::MAX; 3]),
            10 => Info::U32(u32::MAX),
            11 => Info::U32(32),
            12 => Info::U32(128),
            13 => Info::U32(LEAST_PACKETS),
            14 => Info::U32(MOST_PACKETS),
            15 => Info::U32(0),
            17 => Info::U32(1),
            // Bytes of the cache of each level.
            18 => Info::U32s(self.cache_sizes(Which::Gpu(gpu.index)).to_vec()),
            19 => Info::U64(isa(part).handle),
            // ROCr reports the image extension for GPUs without images too: HIP asks it for pitches.
            20 => Info::Bytes([1 << IMAGES].into_iter().chain([0; EXTENSIONS - 1]).collect()),
            24 => Info::Bool(true),
            0xa000 => Info::U32(part.chip.unsigned_abs()),
            0xa001 => Info::U32(128),
            0xa002 | 0xa014 => Info::U32(units),
            0xa003 => Info::U32(part.clock.unsigned_abs() / 1000),
            0xa005 => Info::U32(4),
            0xa006 => Info::U32((visible::bus(gpu.slot) as u32) << 8),
            0xa007 => Info::U32(part.bus.unsigned_abs()),
            0xa008 => Info::U32(part.memory_clock.unsigned_abs() / 1000),
            0xa009 => Info::text(&part.title(), 64),
            0xa00a => Info::U32(part.waves),
            0xa00b => Info::U32(part.simd.count / part.simd.units()),
            0xa00c => Info::U32(32),
            0xa00d => Info::U32(1),
            // There are no registers that flush the host data path: memory is coherent.
            0xa00e => Info::U64s(vec![0, 0]),
            0xa010 => Info::Bool(true),
            0xa011 => {
                let uuid = visible::uuid(gpu.slot);
                Info::text(&format!("GPU-{}", String::from_utf8_lossy(&uuid)), 21)
            }
            0xa012 => Info::U32(Part::REVISION),
            0xa015 => {
                let used = self.holdings.used(gpu.index);
                Info::U64(self.options.memory.saturating_sub(used))
            }
            0xa107 => Info::U32(141),
            0xa108 | 0xa109 => Info::U32(1),
            0xa10a => Info::U32(2),
            0xa10b => Info::U32(2),
            0xa111 => Info::U32(1),
            0xa112 => Info::U32(gpu.slot as u32 + 1),
            0xa116 => Info::U64(self.options.memory),
            0xa117 => {
                let limits = self.scratch_limits.lock().unwrap_or_else(PoisonError::into_inner);
                Info::U64(limits.get(&gpu.index).copied().unwrap_or(self.options.memory))
            }
            0xa016 => Info::U64(Part::WALL_CLOCK.into()),
            // The hardware's limits. ROCr's numbers of images have 32 bits, although the specification says
            // size_t: HIP has no more space for them. No image can be made, but clients divide by the limits.
            0x3000 | 0x3001 => Info::U32(part.images.side),
            0x3002 => Info::U32(part.images.buffer),
            0x3003..=0x3006 => Info::U32s(vec![part.images.side; 2]),
            0x3007 => Info::U32s(vec![part.images.side, part.images.side, part.images.depth]),
            0x3008 => Info::U32(part.images.layers),
            // The numbers of handles of readable images, of writable images and of samplers. If there are
            // none to write, HIP 5.2 reports no pitches.
            0x3009..=0x300b if part.images.side == 0 => Info::U32(0),
            0x3009 => Info::U32(128),
            0x300a => Info::U32(64),
            0x300b => Info::U32(16),
            0x300c => Info::U32(256),
            _ => return None,
        })
    }
}

fn cpu_info(attribute: u32) -> Option<Info> {
    Some(match attribute {
        0 | 0xa009 => Info::text("CPU of the host", 64),
        1 => Info::text("CPU", 64),
        // It supports no dispatch and has no queues.
        2 | 6..=14 if attribute != 7 && attribute != 9 => Info::U32(0),
        7 => Info::U16s([0; 3]),
        9 => Info::U32s(vec![0; 3]),
        // The full profile.
        4 => Info::U32(1),
        15 | 17 => Info::U32(0),
        19 => Info::U64(0),
        24 => Info::Bool(false),
        0xa001 => Info::U32(64),
        0xa002 => Info::U32(std::thread::available_parallelism().map_or(1, |count| count.get() as u32)),
        0xa003 | 0xa005..=0xa008 | 0xa000 | 0xa00a..=0xa00d | 0xa012 | 0xa014 => Info::U32(0),
        0xa00e => Info::U64s(vec![0, 0]),
        0xa010 => Info::Bool(false),
        0xa011 => Info::text("CPU-XX", 21),
        0xa015 | 0xa116 | 0xa117 => Info::U64(0),
        0xa107..=0xa10b | 0xa111 | 0xa112 => Info::U32(0),
        _ => return None,
    })
}

/// Attributes with the same value for all agents.
fn common_info(which: Which, attribute: u32) -> Option<Info> {
    let node = which.gpu().map_or(0, |index| index as u32 + 1);
    Some(match attribute {
        // The large machine model, and rounding to nearest.
        3 => Info::U32(1),
        5 | 23 => Info::U32(2),
        16 | 0xa004 => Info::U32(node),
        20 => Info::Bytes(vec![0; EXTENSIONS]),
        21 => Info::U16(1),
        22 => Info::U16(1),
        0xa00f | 0xa110 => Info::U32(0),
        0xa013 => Info::Bool(false),
        0xa016 => Info::U64(1_000_000_000),
        0xa113 => Info::U64(Which::Cpu.handle().handle),
        0xa114 | 0xa115 => Info::Bytes(vec![0; 8]),
        _ => return None,
    })
}
