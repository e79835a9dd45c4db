// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of executables: loading a compressed bundle.

use std::hint::black_box;

use crate::Feature;

use super::load::Load;
use crate::command::bench::{
    kernels,
    row::{Prepared, Row},
    shape::Shape,
    stop::Work,
    subject::{Floor, whole},
    target::Target,
};

pub(super) fn add(rows: &mut Vec<Row>) {
    let warm =
        Row::new("executable/load container=ccob images=cached", (1, "load"), |target| load(target, || {}));
    let cold =
        Row::new("executable/load container=ccob images=decoded", (1, "load"), |target| load(target, forget));
    // Only the HIP driver keeps decoded images.
    rows.extend(
        [cold, warm.schemes(&["hip", "hip-sim", "hip-null"])].map(|row| row.needs(&[Feature::Dispatch])),
    );
}

/// Loading the bundle and dropping the executable. The kernel is checked first.
fn load(target: &Target, before: fn()) -> Work<Prepared> {
    // The executable must be dropped before the rounds: a device gives the same one for the same bytes while it lives.
    drop(Load::new(target, Shape::direct(2, 1))?);
    let (device, code) = (target.device.clone(), kernels::bytes()?);
    let subject = whole(move || {
        before();
        // SAFETY: nothing of the code is dispatched.
        drop(black_box(unsafe { device.load_executable(code) }?));
        Ok(())
    });
    Ok(Prepared::Timed(subject, floor(target)?))
}

/// Drops the images that this process decoded, so that the next load decodes again.
fn forget() {
    #[cfg(feature = "hip")]
    windlass_hip::image_cache().clear();
}

#[cfg(feature = "hip")]
fn floor(target: &Target) -> Work<Option<Floor>> {
    let Some(hip) = &target.hip else { return Ok(None) };
    Ok(Some(Floor::new("hipModuleLoadData of the decoded image, hipModuleUnload", 1, hip.module()?)))
}

#[cfg(not(feature = "hip"))]
fn floor(_: &Target) -> Work<Option<Floor>> {
    Ok(None)
}
