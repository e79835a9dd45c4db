// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the cases of a device, one after the other or several at the same time, and hands out the results in order.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use super::attempts::{Ended, Planned};

/// Runs cases on `workers` at the same time, each of which runs one case after the other. `emit` gets each result in the
/// order of the cases, as soon as those before it have ended. After an error, and after a case that a signal ended, no
/// further case begins.
pub(super) fn spread<W>(
    planned: &[Planned],
    workers: Vec<W>,
    emit: &mut dyn FnMut(&Planned, Ended) -> io::Result<()>,
) -> io::Result<()>
where
    W: FnMut(&Planned) -> io::Result<Option<Ended>> + Send,
{
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for mut worker in workers {
            let (sender, next) = (sender.clone(), &next);
            thread::Builder::new().name("cts job".to_owned()).spawn_scoped(scope, move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(planned) = planned.get(index) else { break };
                    // Nobody receives after an error.
                    if sender.send((index, worker(planned))).is_err() {
                        break;
                    }
                }
            })?;
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut due = 0;
        for (index, result) in &receiver {
            early.insert(index, result);
            while let Some(result) = early.remove(&due) {
                let emitted =
                    result.and_then(|ended| ended.map(|ended| emit(&planned[due], ended)).transpose());
                if !matches!(emitted, Ok(Some(()))) {
                    next.store(planned.len(), Ordering::Relaxed);
                }
                emitted?;
                due += 1;
            }
        }
        Ok(())
    })
}
