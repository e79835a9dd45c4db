// SPDX-License-Identifier: MIT OR Apache-2.0
//! A command buffer is immutable: finishing uses the recorder up.

fn record(mut recorder: windlass_hal::Recorder) -> windlass_hal::Result<()> {
    let _commands = recorder.finish()?;
    recorder.barrier();
    Ok(())
}

fn main() {}
