// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of the floors themselves: bare calls into the HIP library of a device.

use crate::Feature;

use crate::command::bench::{
    floor::Hip,
    row::{Prepared, Row},
    shape::Shape,
    stop::{Stop, Work},
    subject::Subject,
    target::Target,
};

/// The schemes of devices behind which there is a HIP library.
const HIP: &[&str] = &["hip", "hip-sim", "hip-null"];

pub(super) fn add(rows: &mut Vec<Row>) {
    for n in [1, 1000] {
        let shape = Shape::direct(2, n);
        let launches =
            Row::new(format!("floor/launch bindings=2 n={n}"), (n.into(), "dispatch"), move |target| {
                bare(target, |hip| hip.launches(shape))
            });
        let completed =
            Row::new(format!("floor/completed bindings=2 n={n}"), (n.into(), "dispatch"), move |target| {
                bare(target, |hip| hip.completed(shape))
            });
        rows.extend([launches, completed].map(|row| row.needs(&[Feature::Dispatch]).schemes(HIP)));
    }
    let event = Row::new("floor/event", (1, "event"), |target| bare(target, Hip::event));
    rows.push(event.schemes(HIP));
}

fn bare(target: &Target, subject: impl FnOnce(&Hip) -> Work<Subject>) -> Work<Prepared> {
    let hip = target.hip.as_ref();
    let hip = hip.ok_or_else(|| Stop::Lacks("bare calls are for devices of one GPU".to_owned()))?;
    Ok(Prepared::Timed(subject(hip)?, None))
}
