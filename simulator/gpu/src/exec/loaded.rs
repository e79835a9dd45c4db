// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code of all loaded modules: a kernel may call a function of another module in the same memory.
//!
//! One table serves every simulator of the process. Each memory reserves addresses of its own, so an address
//! identifies the memory as well as the code.

use super::machine::program::Program;
use crate::isa::InstructionSet;
use crate::memory::Memory;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// Programs by the size of their waves and the address of their first word.
static LOADED: RwLock<BTreeMap<(u32, u64), Weak<Program>>> = RwLock::new(BTreeMap::new());

/// Lets kernels jump into programs as long as their module is loaded.
pub(crate) fn add(programs: &[Arc<Program>]) {
    let mut loaded = LOADED.write().unwrap_or_else(PoisonError::into_inner);
    loaded.retain(|_, program| program.strong_count() > 0);
    let new = programs.iter().map(|program| {
        let key = (program.set().wave_size(), program.base());
        (key, Arc::downgrade(program))
    });
    loaded.extend(new);
}

/// The program of an instruction set at an address of this memory.
pub(crate) fn at(memory: &Memory, address: u64, set: &InstructionSet) -> Option<Arc<Program>> {
    if !memory.device_range().contains(&address) {
        return None;
    }
    let loaded = LOADED.read().unwrap_or_else(PoisonError::into_inner);
    let size = set.wave_size();
    let (_, program) = loaded.range((size, 0)..=(size, address)).next_back()?;
    program.upgrade().filter(|program| program.contains(address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::GFX942;
    use crate::memory::{AllocationKind, MemoryOptions};

    #[test]
    fn a_memory_shows_its_own_code_for_as_long_as_it_is_loaded() {
        let [own, other] = [(); 2].map(|()| {
            let options = MemoryOptions { capacity: 1 << 20, ..MemoryOptions::default() };
            Memory::new(options).unwrap()
        });
        let base = own.allocate(4096, 4096, AllocationKind::Code, "test").unwrap();
        let programs = [Arc::new(Program::new(&GFX942, base, vec![0; 4]))];
        add(&programs);
        assert!(at(&own, base + 12, &GFX942).is_some() && at(&own, base + 16, &GFX942).is_none());
        assert!(at(&other, base, &GFX942).is_none());
        drop(programs);
        assert!(at(&own, base, &GFX942).is_none());
    }
}
