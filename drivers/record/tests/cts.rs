// SPDX-License-Identifier: MIT OR Apache-2.0
//! The conformance suite over `record://` over `null://`: a recorder changes nothing.

use std::{ffi::OsString, process::ExitCode, sync::Arc};

fn main() -> ExitCode {
    let mut registry = windlass_hal::Registry::new();
    windlass_null::register(&mut registry);
    registry.register(Arc::new(windlass_record::Driver::new(registry.clone(), "its own tests")));
    let mut words: Vec<OsString> = std::env::args_os().collect();
    if !words.iter().any(|word| word == "--device") {
        let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/cts.wlr");
        words.extend(["--device".into(), format!("record://?file={file}&over=null://").into()]);
    }
    windlass_cts::run(registry, words)
}
