// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sink that keeps all records of a profile.

use std::sync::{Mutex, PoisonError};

use windlass_hal::{CommandRecord, OperationRecord, ProfileChunk, ProfileRecord, ProfileSink};

/// Keeps all records.
#[derive(Default)]
pub(super) struct Notes {
    records: Mutex<Vec<ProfileRecord>>,
}

impl ProfileSink for Notes {
    fn records(&self, chunk: ProfileChunk) {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).extend(chunk.records);
    }
}

impl Notes {
    pub(super) fn all(&self) -> Vec<ProfileRecord> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The operations, in the order of their submission.
    pub(super) fn operations(&self) -> Vec<OperationRecord> {
        let mut operations: Vec<_> = self.all().into_iter().filter_map(operation).collect();
        operations.sort_by_key(|operation| operation.submission);
        operations
    }

    pub(super) fn commands(&self) -> Vec<CommandRecord> {
        let command = |record| match record {
            ProfileRecord::Command(command) => Some(command),
            _ => None,
        };
        self.all().into_iter().filter_map(command).collect()
    }
}

fn operation(record: ProfileRecord) -> Option<OperationRecord> {
    match record {
        ProfileRecord::Operation(operation) => Some(*operation),
        _ => None,
    }
}
