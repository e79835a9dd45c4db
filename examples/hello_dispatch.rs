// SPDX-License-Identifier: MIT OR Apache-2.0
//! One kernel, from a compressed bundle to checked numbers, blocking at the end.
//!
//!     cargo run --example hello_dispatch [URI]
#![allow(clippy::print_stdout)]

use std::time::Duration;

use windlass::{DispatchConfig, Semaphore};

const COUNT: usize = 1000;

fn main() -> windlass::Result<()> {
    let uri = std::env::args().nth(1).unwrap_or("hip-sim://gfx942".to_owned());
    let device = windlass::open(&uri)?;
    let info = device.info();
    println!("{} {}{}", info.name, info.architecture, if info.simulated { " (simulated)" } else { "" });

    // SAFETY: saxpy stays within the buffers that it is given.
    let executable = unsafe { device.load_executable(include_bytes!("../cts/kernels/bundles/saxpy.ccob"))? };
    let saxpy = executable.function("saxpy")?;
    println!("{}", saxpy.info().signature());

    let queue = device.queue(0)?;
    let x: Vec<f32> = (0..COUNT).map(|i| i as f32).collect();
    let x_buffer = device.allocate_device(4 * COUNT as u64)?;
    let y_buffer = device.allocate_device(4 * COUNT as u64)?;

    // One timeline orders everything: each step waits for the value that the one before signals.
    let timeline = Semaphore::new(0);
    let x_bytes: Vec<u8> = x.iter().flat_map(|value| value.to_le_bytes()).collect();
    queue.update(&[], &[timeline.at(1)], &x_bytes, &x_buffer)?;
    queue.fill(&[timeline.at(1)], &[timeline.at(2)], &y_buffer, 1.0_f32)?;
    queue.dispatch(
        &[timeline.at(2)],
        &[timeline.at(3)],
        &saxpy,
        DispatchConfig::new([4, 1, 1]).workgroup_size([256, 1, 1]),
        &[2.0_f32.into(), x_buffer.arg(), y_buffer.arg(), (COUNT as i32).into()],
    )?;
    let bytes = queue.download(&[timeline.at(3)], &y_buffer)?.wait(Duration::from_secs(60))?;

    let y = bytes.chunks_exact(4).map(|chunk| f32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]));
    assert!(y.eq(x.iter().map(|x| 2.0 * x + 1.0)), "2 x + 1 is wrong");
    println!("2 x + 1 is right for all {COUNT} elements");
    Ok(())
}
