// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the work in flight that will end by itself.

use windlass_hal::{Point, Points, Probe, Semaphore, edge::Domain};

/// Work that was given to the wrapped device.
#[derive(Clone)]
pub(super) struct InFlight {
    pub(super) id: u64,
    pub(super) waits: Points,
    /// Reached or failed together with the work's own signals.
    pub(super) ended: Semaphore,
    /// Whether the work did not end when it was waited for.
    pub(super) stubborn: bool,
}

/// The work in flight that will end without further work being handed on. `promised` is the domain of edges that
/// stand for work in flight, by its number.
pub(super) fn ending(in_flight: &[InFlight], promised: Domain) -> Vec<InFlight> {
    let mut ending = vec![false; in_flight.len()];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (index, work) in in_flight.iter().enumerate() {
            if !ending[index]
                && !work.stubborn
                && work.waits.iter().all(|wait| resolves(wait, in_flight, &ending, promised))
            {
                ending[index] = true;
                changed = true;
            }
        }
    }
    let ends = in_flight.iter().zip(ending).filter(|(_, ending)| *ending);
    ends.map(|(work, _)| work.clone()).collect()
}

fn resolves(wait: &Point, in_flight: &[InFlight], ending: &[bool], promised: Domain) -> bool {
    match wait.semaphore.probe(wait.value, Some(promised)) {
        Probe::Reached | Probe::Failed(_) => true,
        Probe::Edge(edge) => {
            let producer = in_flight.iter().position(|work| work.id == edge.epoch);
            // A producer that is gone has ended a moment ago and signalled.
            producer.is_none_or(|producer| ending[producer])
        }
        _ => false,
    }
}
