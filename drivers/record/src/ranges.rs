// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets of bytes as ranges.

use std::ops::Range;

/// The parts of `range` that none of `holes` covers, in order.
pub(crate) fn without(range: Range<u64>, holes: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut holes: Vec<_> = holes.iter().filter(|hole| !hole.is_empty()).collect();
    holes.sort_by_key(|hole| hole.start);
    let (mut rest, mut at) = (Vec::new(), range.start);
    for hole in holes {
        if hole.start > at {
            rest.push(at..hole.start.min(range.end));
        }
        at = at.max(hole.end);
        if at >= range.end {
            break;
        }
    }
    if at < range.end {
        rest.push(at..range.end);
    }
    rest.retain(|part| part.start < part.end);
    rest
}

/// The same bytes as ranges in order that do not touch each other.
pub(crate) fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of `range` between holes, all as first bytes and ends.
    fn parts(range: (u64, u64), holes: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let holes: Vec<_> = holes.iter().map(|(start, end)| *start..*end).collect();
        without(range.0..range.1, &holes).iter().map(|part| (part.start, part.end)).collect()
    }

    #[test]
    fn holes_leave_the_rest() {
        assert_eq!(parts((0, 10), &[]), [(0, 10)]);
        assert_eq!(parts((0, 10), &[(3, 5), (8, 20)]), [(0, 3), (5, 8)]);
        assert_eq!(parts((2, 10), &[(0, 4), (3, 6), (6, 7)]), [(7, 10)]);
        assert_eq!(parts((2, 10), &[(0, 10)]), []);
        assert_eq!(parts((5, 5), &[]), []);
        assert_eq!(joined(vec![4..6, 0..2, 2..3, 5..9, 1..1]), [0..3, 4..9]);
    }
}
