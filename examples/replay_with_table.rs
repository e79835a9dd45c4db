// SPDX-License-Identifier: MIT OR Apache-2.0
//! A command buffer is recorded once and replayed over other buffers each time, several times in flight.
//!
//!     cargo run --example replay_with_table [URI]
#![allow(clippy::print_stdout)]

use std::time::Duration;

use windlass::{Argument, Buffer, BufferRef, DispatchConfig, Result, Semaphore};

const COUNT: u64 = 512;
const BYTES: u64 = 4 * COUNT;

fn main() -> Result<()> {
    let uri = std::env::args().nth(1).unwrap_or("hip-sim://gfx942".to_owned());
    let device = windlass::open(&uri)?;
    // SAFETY: the kernels stay within the buffers that they are given.
    let executable =
        unsafe { device.load_executable(include_bytes!("../cts/kernels/bundles/entries.ccob"))? };
    let (negate, twice) = (executable.function("negate")?, executable.function("twice")?);

    // Slot 0 is the input, slot 1 the output. Which buffers they are is said at each submission.
    let slot = |slot| Argument::Slot { slot, offset: 0, length: BYTES };
    let between = device.allocate_device(BYTES)?;
    let count = Argument::from(COUNT as i32);
    let grid = DispatchConfig::new([2, 1, 1]).workgroup_size([256, 1, 1]);
    let mut recorder = device.record_with_slots(2)?;
    recorder.dispatch(&twice, grid, &[slot(0), between.arg(), count])?;
    recorder.barrier();
    recorder.dispatch(&negate, grid, &[between.arg(), slot(1), count])?;
    recorder.barrier();
    // Commands other than dispatches take slots as well: the first word of the output is overwritten.
    recorder.fill(BufferRef::Slot { slot: 1, offset: 0, length: 4 }, 7.0_f32)?;
    let commands = recorder.finish()?;

    let queue = device.queue(0)?;
    let timeline = Semaphore::new(0);
    let mut outputs: Vec<(f32, Buffer)> = Vec::new();
    for replay in 0..8_u64 {
        let (value, before) = (replay as f32 + 0.5, replay * 2);
        let (input, output) = (device.allocate_device(BYTES)?, device.allocate_device(BYTES)?);
        queue.fill(&[timeline.at(before)], &[timeline.at(before + 1)], &input, value)?;
        // All replays go through `between`, so each waits for the one before.
        let table = [input, output.clone()];
        queue.execute(&[timeline.at(before + 1)], &[timeline.at(before + 2)], &commands, table)?;
        outputs.push((value, output));
    }
    for (value, output) in &outputs {
        let bytes = queue.download(&[timeline.at(16)], output)?.wait(Duration::from_secs(60))?;
        let expected = std::iter::once(7.0).chain(std::iter::repeat_n(-2.0 * value, COUNT as usize - 1));
        assert!(bytes.chunks_exact(4).eq(expected.map(f32::to_le_bytes)), "the replay over {value} is wrong");
    }
    println!("{} replays of one recording are right", outputs.len());
    Ok(())
}
