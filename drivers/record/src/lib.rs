// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recordings of a device's work: `record://` writes them, and a [`Player`] replays them on any device.
//!
//! `record://?file=PATH&over=URI` is a device over another one. It passes on each operation as it is, and writes it
//! with its inputs to a file: code, buffers, arguments, bytes that the program writes to mapped memory or reads from
//! files, waits and signals, and the bytes that the program can read back. `docs/record-and-replay.md` describes the
//! format and its limits.
//!
//! ```
//! use windlass_hal::{Deadline, Registry, Semaphore};
//! use windlass_record::{Driver, Player, Recording, ReplayOptions};
//! # let folder = tempfile::tempdir().unwrap();
//! # let file = folder.path().join("fill.wlr");
//! let mut registry = Registry::new();
//! windlass_null::register(&mut registry);
//! registry.register(std::sync::Arc::new(Driver::new(registry.clone(), "an example")));
//!
//! let device = registry.open(&format!("record://?file={}&over=null://", file.display()))?;
//! let (queue, buffer, filled) = (device.queue(0)?, device.allocate_device(16)?, Semaphore::new(0));
//! queue.fill(&[], &[filled.at(1)], &buffer, 7_u32)?;
//! queue.download(&[filled.at(1)], &buffer)?.wait(Deadline::NEVER)?;
//!
//! let recording = Recording::open(&file)?;
//! // SAFETY: the recording has no code.
//! let mut player = unsafe { Player::new(&recording, &registry.open("null://")?) };
//! let replayed = player.run(&ReplayOptions::new())?;
//! assert_eq!((replayed.compared, replayed.differing), (16, 0));
//! # Ok::<(), windlass_hal::Error>(())
//! ```

mod format;
mod ranges;
mod recorder;
mod replay;

pub use recorder::driver::Driver;
pub use replay::{
    options::{Difference, Order, ReplayOptions, Replayed},
    player::Player,
    recording::Recording,
};
