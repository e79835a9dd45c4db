// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `windlass` command. `windlass help` lists its subcommands.
//!
//! Results go to standard output, messages to standard error. `windlass help` lists the exit codes.

use std::process::ExitCode;

fn main() -> ExitCode {
    windlass::command::main()
}
