// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recipes of programs: bytes that stand for a legal program whatever their values, so that proptest can shrink them
//! freely. Fewer and smaller bytes make a shorter and simpler program.

use proptest::{array, collection, prelude::any, strategy::Strategy};
use windlass_hal::{DeviceInfo, Feature};

/// The features that programs may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mix {
    /// Alloca and dealloca.
    pub transients: bool,
    /// Command buffers.
    pub lists: bool,
    /// Kernels.
    pub dispatches: bool,
    /// Reads and writes of files.
    pub files: bool,
    /// Host calls.
    pub host_calls: bool,
    /// Semaphores that the host fails, and host calls that return errors.
    pub failures: bool,
    /// The ranks of a collective operation: the physical devices of the device. 0 for programs without such operations.
    /// Programs with failures have none of several ranks, because a rank that fails leaves the others waiting.
    pub ranks: u32,
    /// The amount of order in the program; see [`Density`].
    pub density: Density,
    /// The most operations of a program.
    pub operations: usize,
}

/// How much of a program is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Density {
    /// Each program draws its own density.
    Mixed,
    /// One timeline orders all operations.
    Chain,
    /// Operations are ordered only by hazards.
    Parallel,
}

impl Mix {
    /// All features that a device does not declare a lack of, without failures, for a device of one physical device.
    pub fn for_device(info: &DeviceInfo) -> Self {
        let has = |feature| info.lacks.iter().all(|lack| lack.feature != feature);
        Self {
            transients: has(Feature::Alloca),
            lists: has(Feature::CommandBuffers),
            dispatches: has(Feature::Dispatch),
            files: has(Feature::Files),
            host_calls: has(Feature::HostCalls),
            failures: false,
            ranks: u32::from(has(Feature::Collectives)),
            density: Density::Mixed,
            operations: 40,
        }
    }

    /// The same with injected failures.
    #[must_use]
    pub fn with_failures(self) -> Self {
        Self { failures: true, ..self }
    }

    /// The same with another density.
    #[must_use]
    pub fn with_density(self, density: Density) -> Self {
        Self { density, ..self }
    }
}

/// The bytes of one program.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    /// The bytes that choose the density and the queues.
    pub(super) header: [u8; 2],
    pub(super) buffers: Vec<[u8; 2]>,
    pub(super) lists: Vec<Vec<[u8; 10]>>,
    pub(super) steps: Vec<[u8; 20]>,
}

/// Recipes for programs of a mix.
pub(super) fn recipes(mix: Mix) -> impl Strategy<Value = Recipe> {
    let lists = collection::vec(collection::vec(array::uniform10(any::<u8>()), 1..8), 0..=2);
    let buffers = collection::vec(array::uniform2(any::<u8>()), 1..6);
    let steps = collection::vec(array::uniform20(any::<u8>()), 1..=mix.operations);
    (array::uniform2(any::<u8>()), buffers, lists, steps).prop_map(|(header, buffers, lists, steps)| Recipe {
        header,
        buffers,
        lists,
        steps,
    })
}

/// Reads bytes one after the other, and zeros after the end.
pub(super) struct Dice<'a>(std::slice::Iter<'a, u8>);

impl<'a> Dice<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.iter())
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    /// A number below `bound`, or 0 if the bound is 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound.max(1)
    }

    /// One of the items. A zero byte picks the first.
    pub(super) fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        let at = self.below(items.len());
        items.get(at).copied()
    }

    /// True for one of `times` values of a byte, and never for zero.
    pub(super) fn once_in(&mut self, times: u8) -> bool {
        self.byte() % times == times - 1
    }
}
