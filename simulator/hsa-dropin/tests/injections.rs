// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of HSA that are made to fail.

mod common;

use std::ptr::null_mut;

use common::*;
use hsa_runtime64 as hsa;
use windlass_simulator::hsa::Status;

#[test]
fn a_call_fails_at_its_number_and_at_no_other() {
    machine("gfx942?fail=hsa_queue_create@2:HSA_STATUS_ERROR_OUT_OF_RESOURCES,hsa_memory_copy@1");
    let create = || {
        let mut queue = null_mut();
        // SAFETY: the pointer is a local.
        (unsafe { hsa::hsa_queue_create(gpu(0), 64, 0, None, null_mut(), 0, 0, &mut queue) }, queue)
    };
    let created = [create(), create(), create()];
    assert_eq!(
        created.map(|(status, _)| status),
        [Status::SUCCESS, Status::OUT_OF_RESOURCES, Status::SUCCESS]
    );
    assert!(created[1].1.is_null(), "nothing was made");
    let mut word = 0_u32;
    let from = 7_u32;
    let mut copy = || {
        // SAFETY: two locals.
        unsafe { hsa::hsa_memory_copy((&raw mut word).cast(), (&raw const from).cast(), 4) }
    };
    assert_eq!([copy(), copy()], [Status::ERROR, Status::SUCCESS]);
    assert_eq!(word, 7);
}
