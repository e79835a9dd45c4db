// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a version, a GPU or an implementation of HIP gets wrong or does otherwise, and what the driver does about
//! it. One row each, with its link.

use windlass_hip_sys::{Api, Version};

/// The deviations that the driver heeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quirks {
    /// A freed block serves a smaller request only if the sizes are equal: the simulated GPU checks every access
    /// against the size that was asked for, and a block with room to spare would hide an overrun.
    pub(crate) exact_sizes: bool,
    /// A fault belongs to the submission whose event reports it, and the device goes on. So each submission needs an event
    /// of its own. On hardware the whole process is lost to a fault, and HIP answers it to every later call.
    pub(crate) contained_faults: bool,
    /// A fill that begins behind the first byte of a word of 8 bytes and ends before the word does never ends, and writes
    /// past its allocation: HIP takes the bytes up to the end of the word from the length, and gets a negative number. HIP
    /// 5, seen in Debian's 5.2.21153 on a simulated GPU: 2 bytes at 1 beyond a multiple of 8, 4 at 3 and 2 at 5 are wrong,
    /// 7 at 1, 3 at 5 and 1 at 0 are right. AMD's 6.4.43484 is right everywhere.
    fills_run_away: bool,
    /// Whether HIP ends the process on launching a kernel that has an argument for a completion action of a launch on the
    /// device. It takes such a kernel for one that launches others, and follows the pointer of a queue that it never made: seen
    /// in Debian's 5.2.21153, mended in 5.7.0 (clr's commit c585aefdb). LLVM gives the argument to kernels that call functions
    /// which it cannot see, as linked code does, and without optimisation to all.
    pub(crate) completion_actions_crash: bool,
    /// The newest version of code objects that HIP reads, where there are newer ones. Debian's 5.2.21153 refuses version 5
    /// ("COMGR failed to get code object ISA name"); ROCm 5.3 brought it, and 6.0 version 6.
    pub(crate) newest_code_object: Option<u32>,
}

/// Bytes of the words that HIP fills memory by.
const WORD: u64 = 8;

impl Quirks {
    pub(crate) fn of(api: &Api) -> Self {
        let version = api.origin().version;
        let before =
            |major, minor| version.is_some_and(|own: Version| (own.major, own.minor) < (major, minor));
        let newest_code_object = [(4, before(5, 3)), (5, before(6, 0))];
        Self {
            exact_sizes: api.origin().simulated_hip,
            contained_faults: api.contains_faults(),
            fills_run_away: before(6, 0),
            completion_actions_crash: before(5, 7),
            newest_code_object: newest_code_object
                .into_iter()
                .find_map(|(newest, old)| old.then_some(newest)),
        }
    }

    /// Whether HIP must not fill these bytes: a copy has to write them.
    #[inline]
    pub(crate) fn fill_runs_away(&self, address: u64, length: u64) -> bool {
        let into_word = address % WORD;
        self.fills_run_away && into_word != 0 && into_word + length < WORD
    }

    /// Whether there are addresses at which HIP must not fill so many bytes.
    pub(crate) fn fill_may_run_away(&self, length: u64) -> bool {
        self.fill_runs_away(1, length)
    }
}

// Not used on purpose, whatever the version:
// - hipMallocAsync pools: wrong data on gfx1030 with ROCm 7.2, https://github.com/ROCm/rocm-systems/issues/10943
// - hipStreamWaitValue: a spinning kernel, and not satisfied across streams on Windows,
//   https://github.com/ROCm/rocm-systems/issues/11605
// - hipLaunchHostFunc: slow, https://github.com/iree-org/iree/pull/17925, and absent from ROCm 5.2
// - dlclose of the library: crashes in its unloading, https://github.com/ROCm/rocm-systems/issues/4442
