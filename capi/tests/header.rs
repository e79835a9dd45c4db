// SPDX-License-Identifier: MIT OR Apache-2.0
//! The header matches the output of cbindgen.

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(package.join("cbindgen.toml")).unwrap();
    let made = cbindgen::Builder::new().with_crate(package).with_config(config).generate().unwrap();
    let mut text = Vec::new();
    made.write(&mut text);
    let kept = std::fs::read(package.join("include/windlass.h")).unwrap();
    assert!(kept == text, "out of date; mend it by: cargo run -p windlass-capi --example write_header");
}
