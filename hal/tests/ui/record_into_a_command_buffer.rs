// SPDX-License-Identifier: MIT OR Apache-2.0
//! A command buffer takes no more commands.

fn change(commands: &windlass_hal::CommandBuffer) {
    commands.list().commands().push(windlass_hal::Command::Barrier);
}

fn main() {}
