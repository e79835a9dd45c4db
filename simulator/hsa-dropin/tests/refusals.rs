// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions that the simulated GPU lacks: each returns HSA's status for that, and the log names it once.

mod common;

use std::process::Command;

use common::*;
use hsa_runtime64 as hsa;
use windlass_simulator::hsa::Status;

/// The variable that makes this program call the refused functions.
const CLIENT: &str = "WINDLASS_TEST_CLIENT";

fn refused() -> [(&'static str, unsafe extern "C" fn() -> Status, Status); 8] {
    [
        ("hsa_ext_image_create", hsa::hsa_ext_image_create, Status::IMAGE_FORMAT_UNSUPPORTED),
        ("hsa_amd_image_create", hsa::hsa_amd_image_create, Status::IMAGE_FORMAT_UNSUPPORTED),
        ("hsa_ext_image_copy", hsa::hsa_ext_image_copy, Status::INVALID_ARGUMENT),
        ("hsa_ext_sampler_create", hsa::hsa_ext_sampler_create, Status::SAMPLER_DESCRIPTOR_UNSUPPORTED),
        ("hsa_amd_svm_attributes_set", hsa::hsa_amd_svm_attributes_set, Status::ERROR),
        ("hsa_amd_svm_attributes_get", hsa::hsa_amd_svm_attributes_get, Status::ERROR),
        ("hsa_amd_svm_prefetch_async", hsa::hsa_amd_svm_prefetch_async, Status::ERROR),
        ("hsa_soft_queue_create", hsa::hsa_soft_queue_create, Status::ERROR),
    ]
}

#[test]
fn each_refusal_names_itself_once() {
    if std::env::var_os(CLIENT).is_some() {
        machine(&std::env::var("WINDLASS_SIM").unwrap());
        for (name, function, status) in refused().into_iter().chain(refused()) {
            // SAFETY: the function has no requirements.
            assert_eq!(unsafe { function() }, status, "{name}");
        }
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "each_refusal_names_itself_once", "--nocapture"])
        .env(CLIENT, "1")
        .env("WINDLASS_SIM", "gfx942")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    for (name, ..) in refused() {
        let line = format!("{name} is not supported by the simulated GPU");
        assert_eq!(said.matches(&line).count(), 1, "{line}: {said}");
    }
}

#[test]
fn images_are_told_of_as_what_there_is_none_of() {
    machine("gfx942");
    let (mut mask, format) = (9_u32, [0_u32; 2]);
    // SAFETY: one of HSA's formats, and a local.
    ok(unsafe { hsa::hsa_ext_image_get_capability(gpu(0), 1, (&raw const format).cast(), &mut mask) });
    assert_eq!(mask, 0, "no access of any kind is supported");
}
