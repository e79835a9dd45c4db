// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles over HIP: events come back, and a call that fails costs times and nothing else.

use std::sync::{Arc, Mutex};

use windlass_hal::{
    CommandRecord, Device, OperationRecord, ProfileChunk, ProfileOptions, ProfileRecord, ProfileSink,
    Semaphore,
};
use windlass_hip_sys::{bindings::hipError_t, null::Options};

use crate::common::{SOON, code, nothing_leaks, open_failing, open_manual, record};

#[derive(Default)]
pub(crate) struct Notes(Mutex<Vec<ProfileRecord>>);

impl ProfileSink for Notes {
    fn records(&self, chunk: ProfileChunk) {
        self.0.lock().expect("no panic").extend(chunk.records);
    }
}

impl Notes {
    pub(crate) fn operations(&self) -> Vec<OperationRecord> {
        let records = self.0.lock().expect("no panic");
        let operation = |record: &ProfileRecord| match record {
            ProfileRecord::Operation(operation) => Some((**operation).clone()),
            _ => None,
        };
        records.iter().filter_map(operation).collect()
    }

    pub(crate) fn commands(&self) -> Vec<CommandRecord> {
        let records = self.0.lock().expect("no panic");
        let command = |record: &ProfileRecord| match record {
            ProfileRecord::Command(command) => Some(command.clone()),
            _ => None,
        };
        records.iter().filter_map(command).collect()
    }
}

pub(crate) fn begin(device: &Device, commands: bool) -> Arc<Notes> {
    let notes = Arc::new(Notes::default());
    let options = ProfileOptions::default().with_commands(commands).with_memory(false);
    device.profiling_begin(options, notes.clone()).expect("begins");
    notes
}

/// Submits a list of three dispatches, so often, each behind the one before.
fn submit(device: &Device, times: u64) -> Semaphore {
    let (commands, _) = record(device, 3, false);
    let done = Semaphore::new(0);
    for step in 0..times {
        let queue = device.queue((step % 2) as u32).expect("a queue");
        queue.execute(&[done.at(step)], &[done.at(step + 1)], &commands, []).expect("submits");
    }
    done
}

#[test]
fn every_event_comes_back_whenever_the_profile_ends() {
    let (instance, device) = open_manual();
    instance.complete();
    for commands in [false, true] {
        // The calls that compare the clocks wait for their events.
        let completer = instance.clone();
        let stop = Semaphore::new(0);
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            while stopped.query().is_ok_and(|payload| payload == 0) {
                completer.complete();
                std::thread::yield_now();
            }
        });
        let notes = begin(&device, commands);
        stop.signal(1).expect("signals");
        thread.join().expect("no panic");
        // Work in flight when the profile ends.
        let done = submit(&device, 4);
        device.profiling_end().expect("ends");
        let told = notes.operations();
        assert_eq!(told.len(), 4);
        assert!(told.iter().all(|record| record.retired.is_none()), "{told:?}");
        instance.complete();
        assert_eq!(code(done.wait_blocking(4, SOON)), None);
    }
    drop(device);
    nothing_leaks(&instance);
}

#[test]
fn a_call_that_fails_costs_times_and_nothing_else() {
    let invalid = hipError_t::hipErrorInvalidValue;
    for call in ["hipEventElapsedTime", "hipStreamCreateWithFlags", "hipEventCreateWithFlags"] {
        let (interposer, instance, device) = open_failing(Options::default(), "test://");
        interposer.fail_always(call, invalid);
        let notes = begin(&device, true);
        interposer.pass();
        check(&device, &notes, call);
        let without = notes.operations().iter().filter(|record| record.device.is_none()).count();
        assert_eq!(without, 8, "{call}: times without a comparison of the clocks");
        drop(device);
        nothing_leaks(&instance);
    }
    for call in ["hipEventElapsedTime", "hipEventRecord"] {
        let (interposer, instance, device) = open_failing(Options::default(), "test://");
        let notes = begin(&device, false);
        // The event before the first submission, or the first question of a time.
        interposer.fail(call, 1, invalid);
        check(&device, &notes, call);
        let without = notes.operations().iter().filter(|record| record.device.is_none()).count();
        assert_eq!(without, 1, "{call}");
        drop(device);
        nothing_leaks(&instance);
    }
}

/// All work succeeds, and has its records.
fn check(device: &Device, notes: &Notes, call: &str) {
    let done = submit(device, 8);
    assert_eq!(code(done.wait_blocking(8, SOON)), None, "{call}");
    device.profiling_end().expect("ends");
    let told = notes.operations();
    assert_eq!(told.len(), 8, "{call}");
    assert!(
        told.iter().all(|record| record.failure.is_none() && record.retired.is_some()),
        "{call}: {told:?}"
    );
}
