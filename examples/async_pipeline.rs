// SPDX-License-Identifier: MIT OR Apache-2.0
//! Uploads, kernels and downloads of many batches overlap on three queues; a tokio task awaits each batch.
//!
//!     cargo run --example async_pipeline [URI]
#![allow(clippy::print_stdout)]

use windlass::{Buffer, Device, DispatchConfig, Function, HostCallFlags, Result, Semaphore};

const COUNT: u32 = 4096;
const BATCHES: u32 = 16;

#[tokio::main]
async fn main() -> Result<()> {
    let uri = std::env::args().nth(1).unwrap_or("hip-sim://gfx942".to_owned());
    let device = windlass::open(&uri)?;
    // SAFETY: multiply_add stays within the buffer that it is given.
    let executable = unsafe { device.load_executable(include_bytes!("../cts/kernels/bundles/order.ccob"))? };
    let function = executable.function("multiply_add")?;

    let tasks: Vec<_> =
        (0..BATCHES).map(|batch| tokio::spawn(run(device.clone(), function.clone(), batch))).collect();
    for (batch, task) in (0..BATCHES).zip(tasks) {
        let bytes = task.await.expect("no task panics")?;
        let values =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        assert!(values.eq((0..COUNT).map(|i| (i + batch) * 3 + 1)), "batch {batch} is wrong");
    }
    println!("{BATCHES} batches of {COUNT} elements are right");
    Ok(())
}

/// One batch. Nothing here blocks: every call submits, and the last line awaits.
async fn run(device: Device, function: Function, batch: u32) -> Result<Vec<u8>> {
    let [upload, compute, download] = [device.queue(0)?, device.queue(1)?, device.queue(2)?];
    let buffer: Buffer = device.allocate_device(4 * u64::from(COUNT))?;
    let step = Semaphore::new(0);

    // The kernel is submitted first. It waits for a value that nobody has signalled yet, and that is fine.
    let grid = DispatchConfig::new([COUNT.div_ceil(256), 1, 1]).workgroup_size([256, 1, 1]);
    let arguments = [buffer.arg(), (COUNT as i32).into(), 3_u32.into(), 1_u32.into()];
    compute.dispatch(&[step.at(2)], &[step.at(3)], &function, grid, &arguments)?;

    // A host call makes the data on a thread of the callback pool, and submits the upload.
    let (target, filled) = (buffer.clone(), step.clone());
    upload.host_call(&[], &[step.at(1)], HostCallFlags::NONE, {
        let upload = upload.clone();
        move |_| {
            let bytes: Vec<u8> = (0..COUNT).flat_map(|i| (i + batch).to_le_bytes()).collect();
            upload.update(&[filled.at(1)], &[filled.at(2)], &bytes, &target)
        }
    })?;
    download.download(&[step.at(3)], &buffer)?.await
}
