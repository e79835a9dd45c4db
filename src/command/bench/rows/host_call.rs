// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of host calls, one for each flag.

use crate::{Feature, HostCallFlags};

use super::load::Timeline;
use crate::command::bench::{
    row::{Prepared, Row},
    stop::{Stop, Work},
    subject::whole,
    target::Target,
};

const FLAGS: [(&str, HostCallFlags); 4] = [
    ("none", HostCallFlags::NONE),
    ("non-blocking", HostCallFlags::NON_BLOCKING),
    ("wait-active", HostCallFlags::WAIT_ACTIVE),
    ("relaxed", HostCallFlags::RELAXED),
];

pub(super) fn add(rows: &mut Vec<Row>) {
    for (name, flags) in FLAGS {
        let row =
            Row::new(format!("host-call flags={name}"), (1, "call"), move |target| host_call(target, flags));
        // A thread of the pool wakes up for each call.
        rows.push(row.needs(&[Feature::HostCalls]).uncounted());
    }
}

/// A call that does nothing, from its submission until its signal is reached.
fn host_call(target: &Target, flags: HostCallFlags) -> Work<Prepared> {
    let queue = target.queue()?;
    let seen = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let mut timeline = Timeline::default();
    let calls = seen.clone();
    let mut round = move || -> Work {
        let value = timeline.next();
        let calls = calls.clone();
        queue.host_call(&[], &[timeline.semaphore.at(value)], flags, move |_| {
            calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(())
        })?;
        timeline.wait()
    };
    round()?;
    target.device.drain(crate::Deadline::NEVER)?;
    if seen.load(std::sync::atomic::Ordering::Relaxed) != 1 {
        return Err(Stop::Failed("the call did not run, so its time means nothing".to_owned()));
    }
    Ok(Prepared::Timed(whole(round), None))
}
