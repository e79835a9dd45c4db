// SPDX-License-Identifier: MIT OR Apache-2.0
//! The promised values of a semaphore: for each, the edge of the device that owes it.

use std::collections::VecDeque;

use crate::order::edge::{Domain, Edge};

/// The edges whose memory stays after a burst.
const KEPT: usize = 1024;

/// Edges by ascending value, and by age where values are equal. As a rule there is one, which needs no heap.
#[derive(Default)]
pub(super) struct Promises {
    /// The edge of the least value. `None` only if there is none at all.
    first: Option<(u64, Edge)>,
    /// `None` until there are two at a time, so that a semaphore is cheap to drop.
    later: Option<VecDeque<(u64, Edge)>>,
}

impl Promises {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Adds an edge behind those of equal value.
    #[inline]
    pub(super) fn add(&mut self, value: u64, edge: Edge) {
        match &self.first {
            None => self.first = Some((value, edge)),
            Some(_) => self.add_later(value, edge),
        }
    }

    fn add_later(&mut self, value: u64, edge: Edge) {
        let later = self.later.get_or_insert_default();
        match &mut self.first {
            Some(first) if first.0 > value => {
                later.push_front(std::mem::replace(first, (value, edge)));
            }
            _ => {
                let at = match later.back() {
                    Some((last, _)) if *last > value => later.partition_point(|(at, _)| *at <= value),
                    _ => later.len(),
                };
                later.insert(at, (value, edge));
            }
        }
    }

    /// Takes out the first edge whose value is at most `payload`.
    #[inline]
    pub(super) fn pop_reached(&mut self, payload: u64) -> Option<Edge> {
        match &self.first {
            Some((at, _)) if *at <= payload => self.pop(),
            _ => None,
        }
    }

    /// Takes out the first edge.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Edge> {
        let next = match &mut self.later {
            None => None,
            Some(later) => {
                let next = later.pop_front();
                if next.is_none() && later.capacity() > KEPT {
                    self.later = None;
                }
                next
            }
        };
        std::mem::replace(&mut self.first, next).map(|(_, edge)| edge)
    }

    /// All edges.
    pub(super) fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.first.iter().chain(self.later.iter().flatten()).map(|(_, edge)| edge)
    }

    /// The first edge that covers `value`. With a domain, the first edge of that domain.
    #[inline]
    pub(super) fn covering(&self, value: u64, domain: Option<Domain>) -> Option<&Edge> {
        match &self.first {
            Some((at, edge)) if *at >= value && is_of(edge, domain) => Some(edge),
            _ => self.covering_later(value, domain),
        }
    }

    fn covering_later(&self, value: u64, domain: Option<Domain>) -> Option<&Edge> {
        let later = self.later.as_ref()?;
        let from = later.partition_point(|(at, _)| *at < value);
        later.range(from..).map(|(_, edge)| edge).find(|edge| is_of(edge, domain))
    }
}

fn is_of(edge: &Edge, domain: Option<Domain>) -> bool {
    domain.is_none_or(|domain| edge.source.domain() == domain)
}
