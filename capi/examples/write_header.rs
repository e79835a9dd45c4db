// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes `include/windlass.h` from the sources of this package.
//!
//!     cargo run -p windlass-capi --example write_header

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(package.join("cbindgen.toml"))?;
    let header = cbindgen::Builder::new().with_crate(package).with_config(config).generate()?;
    header.write_to_file(package.join("include/windlass.h"));
    Ok(())
}
