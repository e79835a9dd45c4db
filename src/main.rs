// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `windlass` command. `windlass help` lists its subcommands.
//!
//! Results go to standard output, messages to standard error. Exit codes are those of [`failure::Exit`].

mod command;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::main()
}
