// SPDX-License-Identifier: MIT OR Apache-2.0
//! The communicators of one simulator, and the unique ids by which ranks find each other.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_hip_sys::rccl::{NCCL_UNIQUE_ID_BYTES, ncclResult_t, ncclUniqueId};

use super::gathering::Gathering;
use super::member::{Member, Trouble};
use crate::handles::{HandleKind, Handles};

/// The communicators of one simulator.
pub(crate) struct Registry {
    pub(crate) members: Handles<Member>,
    /// Tells simulators of the process apart.
    salt: u64,
    ids: Mutex<Ids>,
}

#[derive(Default)]
struct Ids {
    last: u64,
    /// The ids that not every rank has used, with the number of those that have.
    open: BTreeMap<u64, Option<(Arc<Gathering>, usize)>>,
}

/// The first bytes of each id.
const MARK: &[u8; 8] = b"windlass";

impl Registry {
    pub(crate) fn new(salt: u64) -> Self {
        Self { members: Handles::new(HandleKind::Communicator, salt), salt, ids: Mutex::default() }
    }

    /// A new id.
    pub(crate) fn new_id(&self) -> ncclUniqueId {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.last += 1;
        let number = ids.last;
        ids.open.insert(number, None);
        let mut id = ncclUniqueId::default();
        let process = u64::from(std::process::id());
        let words = [u64::from_le_bytes(*MARK), process, self.salt, number];
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        id.internal.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte as c_char);
        id
    }

    /// The gathering of an id, for one of `ranks` ranks.
    ///
    /// # Errors
    /// The id is not of this simulator, or all of its ranks have used it.
    pub(crate) fn gathering(&self, id: &ncclUniqueId, ranks: usize) -> Result<Arc<Gathering>, Trouble> {
        const WORDS: usize = NCCL_UNIQUE_ID_BYTES / 8;
        let mut words = [0_u64; WORDS];
        for (word, bytes) in words.iter_mut().zip(id.internal.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte as u8));
        }
        let [mark, process, salt, number, ..] = words;
        let wrong = |words: &str| Err(Trouble::new(ncclResult_t::ncclInvalidArgument, words));
        if mark != u64::from_le_bytes(*MARK) {
            return wrong("the unique id is not one that ncclGetUniqueId of the simulated RCCL made");
        }
        if process != u64::from(std::process::id()) {
            return wrong(
                "another process made the unique id, and the simulated RCCL joins ranks of one process only; use one \
                 thread for each rank, or a group",
            );
        }
        if salt != self.salt {
            return wrong("another simulated machine of this process made the unique id");
        }
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = ids.open.get_mut(&number) else {
            return Err(Trouble::new(
                ncclResult_t::ncclInvalidUsage,
                "a communicator has been made of the unique id already; make another id for another communicator",
            ));
        };
        let (gathering, taken) = open.get_or_insert_with(|| (Gathering::new(ranks), 0));
        *taken += 1;
        let (gathering, complete) = (gathering.clone(), *taken >= ranks);
        if complete {
            ids.open.remove(&number);
        }
        Ok(gathering)
    }
}
