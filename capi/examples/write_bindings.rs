// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes `tests/conformance/bindings.rs` from `include/windlass.h`, by libclang.
//!
//!     cargo run -p windlass-capi --example write_bindings

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let made = bindgen::Builder::default()
        .header(package.join("include/windlass.h").to_string_lossy())
        .allowlist_function("windlass_.*")
        .allowlist_type("windlass_.*")
        .allowlist_var("WINDLASS_.*")
        .dynamic_library_name("Library")
        .dynamic_link_require_all(true)
        .generate_comments(false)
        .derive_default(true)
        .layout_tests(false)
        .raw_line("// SPDX-License-Identifier: MIT OR Apache-2.0")
        .raw_line("// Generated from include/windlass.h by examples/write_bindings: do not edit.")
        .generate()?;
    made.write_to_file(package.join("tests/conformance/bindings.rs"))?;
    Ok(())
}
