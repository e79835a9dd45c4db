// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quirks: deviations of versions and implementations of HIP, each with its evidence. The driver works around them.

use windlass_hip_sys::{Api, Version};

/// The deviations that the driver works around.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quirks {
    /// Memory is reused only for a request of the same size. The simulated GPU checks every access against the size that was
    /// asked for, and a larger block would hide an overrun.
    pub(crate) exact_sizes: bool,
    /// A fault concerns only the submission whose event reports it, and the device goes on. So each submission needs an event
    /// of its own. On hardware a fault ends all use of HIP in the process: HIP returns it from every later call.
    pub(crate) contained_faults: bool,
    /// A fill that lies strictly inside a word of 8 bytes, touching neither its first nor its last byte, never ends and
    /// writes past its allocation: HIP subtracts the bytes up to the end of the word from the length, and gets a negative
    /// number. HIP 5, seen in Debian's 5.2.21153 on a simulated GPU: 2 bytes at 1 beyond a multiple of 8, 4 at 3 and 2 at 5
    /// are wrong; 7 at 1, 3 at 5 and 1 at 0 are right. AMD's 6.4.43484 is right everywhere.
    fills_run_away: bool,
    /// HIP crashes when it launches a kernel with the hidden argument for a completion action. It assumes that such a kernel
    /// launches other kernels, and follows the pointer of a queue that it never made. Seen in Debian's 5.2.21153, fixed in
    /// 5.7.0 (clr's commit c585aefdb). LLVM adds the argument to kernels that call functions which LLVM cannot see, as linked
    /// code does, and without optimisation to all kernels.
    pub(crate) completion_actions_crash: bool,
    /// The newest code object version that HIP reads; `None` if it reads all. Debian's 5.2.21153 refuses version 5 ("COMGR
    /// failed to get code object ISA name"). ROCm 5.3 was the first to read version 5, and 6.0 the first to read version 6.
    pub(crate) newest_code_object: Option<u32>,
    /// The query of an event behind the work of another library's stream waits for that work, so every call that looks for
    /// progress would wait with it. AMD's HIP 5, seen in Debian's 5.2.21153 on a simulated GPU with an event of the default
    /// stream: `hipEventQuery` called `hsa_signal_wait_scacquire`. AMD's 6.4.43484 answers at once.
    pub(crate) queries_wait_for_others: bool,
    /// `hipEventElapsedTime` gives the time since the start of the machine for some pairs of events. AMD's HIP 5, seen in
    /// Debian's 5.2.21153 on a simulated GPU. AMD's 6.4.43484 is right.
    pub(crate) elapsed_times_wrong: bool,
}

/// Bytes of the words in which HIP fills memory.
const WORD: u64 = 8;

impl Quirks {
    pub(crate) fn from_api(api: &Api) -> Self {
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
            queries_wait_for_others: before(6, 0) && !api.origin().simulated_hip,
            elapsed_times_wrong: before(6, 0) && !api.origin().simulated_hip,
        }
    }

    /// Whether HIP gets this fill wrong. A copy must write the bytes instead.
    #[inline]
    pub(crate) fn fill_runs_away(&self, address: u64, length: u64) -> bool {
        let into_word = address % WORD;
        self.fills_run_away && into_word != 0 && into_word + length < WORD
    }

    /// Whether HIP gets a fill of this length wrong at some address.
    pub(crate) fn fill_may_run_away(&self, length: u64) -> bool {
        self.fill_runs_away(1, length)
    }
}

// Deliberately unused in every version, hipStreamWaitValue but for ExportFlags::ALLOW_UNSUBMITTED:
// - hipMallocAsync pools: wrong data on gfx1030 with ROCm 7.2, https://github.com/ROCm/rocm-systems/issues/10943
// - hipStreamWaitValue: a spinning kernel, and not satisfied across streams on Windows,
//   https://github.com/ROCm/rocm-systems/issues/11605
// - hipLaunchHostFunc: slow, https://github.com/iree-org/iree/pull/17925, and absent from ROCm 5.2
// - dlclose of the library: crashes in its unloading, https://github.com/ROCm/rocm-systems/issues/4442
