// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes `include/windlass.h` and its pages, `include/windlass/*.h`, from the sources of this package.
//!
//!     cargo run -p windlass-capi --example write_header

mod pages;

use std::{fs, path::Path};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = package.join("include");
    let pages = pages::pages(package)?;
    fs::create_dir_all(include.join("windlass"))?;
    for entry in fs::read_dir(include.join("windlass"))? {
        let path = entry?.path();
        if !pages.contains_key(path.strip_prefix(&include)?) {
            fs::remove_file(path)?;
        }
    }
    for (path, text) in pages {
        fs::write(include.join(path), text)?;
    }
    Ok(())
}
