// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine with several devices and a communicator over all of them.

use std::ffi::c_void;
use std::ptr::null_mut;

use windlass_hip_sys::bindings::*;
use windlass_hip_sys::rccl::*;

use crate::common::Machine;
use crate::ok;

/// Calls a function of RCCL that every RCCL has: `rccl!(machine, ncclGroupStart())` gives its result.
macro_rules! rccl {
    ($machine:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let rccl = $machine.api.rccl().expect("the simulated HIP has one");
        let entry = rccl.clone();
        // SAFETY: pointers of the tests are null, handles, device addresses or locals that outlive their use.
        #[allow(unused_unsafe, clippy::macro_metavars_in_unsafe, reason = "arguments hold no unsafe operations")]
        let answer = unsafe { entry.$name($($argument),*) };
        let result: windlass_hip_sys::rccl::ncclResult_t = $crate::world::Answered::result(answer);
        result
    }};
}

/// Calls a function of RCCL that must succeed.
macro_rules! goes {
    ($machine:expr, $name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(
            $crate::world::rccl!($machine, $name($($argument),*)),
            windlass_hip_sys::rccl::ncclResult_t::ncclSuccess,
            "{}: {:?}", stringify!($name), $machine.api.rccl().and_then(|rccl| rccl.last_error())
        )
    };
}

pub(crate) use {goes, rccl};

/// A result, or that of a function that not every RCCL has.
pub(crate) trait Answered {
    fn result(self) -> ncclResult_t;
}

impl Answered for ncclResult_t {
    fn result(self) -> ncclResult_t {
        self
    }
}

impl Answered for Option<ncclResult_t> {
    fn result(self) -> ncclResult_t {
        self.expect("the simulated RCCL has every function")
    }
}

/// One rank: its device, communicator and stream.
#[derive(Clone, Copy)]
pub(crate) struct Rank {
    pub(crate) device: i32,
    pub(crate) comm: ncclComm_t,
    pub(crate) stream: hipStream_t,
}

// SAFETY: handles are numbers, and any thread may use them.
unsafe impl Send for Rank {}
// SAFETY: as above.
unsafe impl Sync for Rank {}

pub(crate) struct World {
    pub(crate) machine: Machine,
    pub(crate) ranks: Vec<Rank>,
}

impl World {
    pub(crate) fn new(ranks: i32) -> Self {
        Self::with(ranks, "")
    }

    /// A machine with a device for each rank, and more options.
    pub(crate) fn with(ranks: i32, options: &str) -> Self {
        Self::over(ranks, Machine::new(&format!("gfx942?devices={ranks}{options}")))
    }

    /// A rank on each of the first devices of a machine.
    pub(crate) fn over(ranks: i32, machine: Machine) -> Self {
        let mut comms = vec![null_mut(); ranks as usize];
        goes!(machine, ncclCommInitAll(comms.as_mut_ptr(), ranks, std::ptr::null()));
        let ranks = comms.into_iter().zip(0..).map(|(comm, device)| {
            ok!(machine, hipSetDevice(device));
            Rank { device, comm, stream: machine.stream() }
        });
        let ranks = ranks.collect();
        Self { machine, ranks }
    }

    /// Memory of each rank's device with these contents.
    pub(crate) fn upload<T: Copy>(&self, contents: impl Fn(usize) -> Vec<T>) -> Vec<*mut c_void> {
        let ranks = self.ranks.iter().enumerate();
        ranks
            .map(|(index, rank)| {
                ok!(self.machine, hipSetDevice(rank.device));
                self.machine.upload(&contents(index))
            })
            .collect()
    }

    /// Calls a function for each rank within a group, and waits for the streams.
    pub(crate) fn group(&self, each: impl Fn(usize, Rank) -> ncclResult_t) {
        self.enqueue(each);
        for rank in &self.ranks {
            ok!(self.machine, hipStreamSynchronize(rank.stream));
        }
    }

    pub(crate) fn enqueue(&self, each: impl Fn(usize, Rank) -> ncclResult_t) {
        goes!(self.machine, ncclGroupStart());
        for (index, rank) in self.ranks.iter().enumerate() {
            let result = each(index, *rank);
            assert_eq!(result, ncclResult_t::ncclSuccess, "{:?}", self.last_error());
        }
        goes!(self.machine, ncclGroupEnd());
    }

    pub(crate) fn last_error(&self) -> Option<String> {
        self.machine.api.rccl().and_then(|rccl| rccl.last_error())
    }

    /// The result that `ncclCommGetAsyncError` gives.
    pub(crate) fn state(&self, rank: usize) -> ncclResult_t {
        let mut state = ncclResult_t(99);
        goes!(self.machine, ncclCommGetAsyncError(self.ranks[rank].comm, &mut state));
        state
    }

    pub(crate) fn is_done(&self, rank: usize) -> bool {
        match crate::hip!(self.machine, hipStreamQuery(self.ranks[rank].stream)) {
            hipError_t::hipErrorNotReady => false,
            hipError_t::hipSuccess => true,
            other => panic!("{other}"),
        }
    }
}
