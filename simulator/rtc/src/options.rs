// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of a compilation, which are clang's with a few of hipRTC's own.

use crate::current;
use crate::target::Target;

/// HIP's variable for further options, separated by spaces.
const APPENDED: &str = "HIPRTC_COMPILE_OPTIONS_APPEND";

/// A program's options, read.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) target: Target,
    /// Whether sources see hipRTC's header without an `#include`.
    pub(crate) own_header: bool,
    /// Whether the result is bitcode.
    pub(crate) bitcode: bool,
    /// The version of code objects, if one is asked for.
    pub(crate) code_object: Option<u32>,
    /// Those that the compiler gets.
    pub(crate) passed: Vec<String>,
}

impl Options {
    /// Those of a unit that asks for nothing.
    pub(crate) fn plain(target: Target) -> Self {
        Self { target, own_header: false, bitcode: false, code_object: None, passed: Vec::new() }
    }

    /// Reads a program's options. The error is for the program's log.
    pub(crate) fn read(given: &[String]) -> Result<Self, String> {
        let appended = std::env::var(APPENDED).unwrap_or_default();
        let mut target = None;
        let (mut own_header, mut bitcode) = (true, false);
        let mut passed = Vec::new();
        let mut code_object = None;
        for option in appended.split_whitespace().chain(given.iter().map(String::as_str)) {
            let named = ["--offload-arch=", "--gpu-architecture="].map(|prefix| option.strip_prefix(prefix));
            if let Some(name) = named.into_iter().flatten().next() {
                let Some(read) = Target::new(name) else {
                    return Err(format!(
                        "error: {option} names no GPU that can be compiled for; gfx942 is one"
                    ));
                };
                target.get_or_insert(read);
                continue;
            }
            if let Some(version) = option.strip_prefix("-mcode-object-version=") {
                code_object = version.parse().ok();
            }
            match option {
                "--hiprtc-no-builtin-header" => own_header = false,
                // Without an effect in HIP since 5.
                "-hip-pch" => {}
                // Older clangs lack the options that it stands for.
                "-fgpu-rdc" => bitcode = true,
                _ => passed.push(option.to_owned()),
            }
        }
        let target = match target {
            Some(target) => target,
            None => current::target().map_err(|reason| format!("error: {reason}"))?,
        };
        Ok(Self { target, own_header, bitcode, code_object, passed })
    }
}
