// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's libraries: code whose kernels are loaded for a device when somebody asks for one there.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::program::{Function, Program};
use super::unsuited::Subject;
use crate::handles::Handles;
use crate::hip::hardware::machine::Machine;
use crate::hip::words::code::Outcome;

/// An image, and its programs by device.
pub(crate) struct Library {
    image: Vec<u8>,
    programs: Mutex<BTreeMap<usize, Arc<Program>>>,
}

impl Library {
    pub(crate) fn new(image: Vec<u8>) -> Self {
        Self { image, programs: Mutex::default() }
    }

    /// The program of a device, which the first call loads.
    pub(crate) fn program(&self, machine: &Machine, device: usize, by: &Arc<str>) -> Outcome<Arc<Program>> {
        let mut programs = self.programs();
        if let Some(program) = programs.get(&device) {
            return Ok(program.clone());
        }
        let program = Program::load(machine, device, &self.image, by.clone(), &Subject::Module)?;
        program.set_up_managed(machine, by)?;
        programs.insert(device, program.clone());
        Ok(program)
    }

    /// The devices that have its code.
    pub(crate) fn devices(&self) -> Vec<usize> {
        self.programs().keys().copied().collect()
    }

    /// Makes the handles of its kernels stale, and frees its managed variables.
    pub(crate) fn unload(&self, machine: &Machine, handles: &Handles<Function>, by: &Arc<str>) {
        for program in std::mem::take(&mut *self.programs()).into_values() {
            program.unload(handles);
            program.release_managed(machine, by);
        }
    }

    /// Forgets what a device had when it is reset.
    pub(crate) fn forget(&self, device: usize) {
        drop(self.programs().remove(&device));
    }

    fn programs(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<Program>>> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
