// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nor can what was recorded be changed.

fn change(commands: &windlass_hal::CommandBuffer) {
    commands.list().commands().push(windlass_hal::Command::Barrier);
}

fn main() {}
