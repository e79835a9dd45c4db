// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs that misuse the interface do not compile. `TRYBUILD=overwrite` renews the messages.
#![cfg(not(loom))]

#[test]
fn what_is_forbidden_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/handles.rs");
    cases.compile_fail("tests/ui/[!h]*.rs");
    cases.compile_fail("tests/ui/host_*.rs");
}
