// SPDX-License-Identifier: MIT OR Apache-2.0
//! Placement strategies against a naive model that knows the last user of each granule. Ranges must not overlap, must
//! be aligned and must not be used too soon. No memory may be lost, and idle slabs must be counted.

use std::{cell::RefCell, collections::BTreeMap};

use proptest::{prelude::*, sample::Index};
use windlass_hal::{
    QueueAffinity,
    pool::{FixedBlock, Frontier, Passthrough, Place, Reach, Request, Strategy as Placement, Tlsf},
};

const GRANULE: u64 = 16;
const LANES: u32 = 3;

#[derive(Clone, Debug)]
enum Step {
    Take {
        size: u64,
        alignment: u32,
        reach: u8,
        lane: u32,
        thorough: bool,
    },
    /// Frees a range behind the newest epoch of a lane, or of two, or behind nothing.
    Put {
        which: Index,
        lanes: u8,
    },
    /// A lane retires all but its newest epochs.
    Retire {
        lane: u32,
        but: u64,
    },
    Reclaim {
        keep: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..600_u64, 0..8_u32, 0..6_u8, 0..LANES, prop::bool::weighted(0.2)).prop_map(
            |(size, alignment, reach, lane, thorough)| Step::Take { size, alignment, reach, lane, thorough }
        ),
        7 => (any::<Index>(), 0..8_u8).prop_map(|(which, lanes)| Step::Put { which, lanes }),
        3 => (0..LANES, 0..4_u64).prop_map(|(lane, but)| Step::Retire { lane, but }),
        1 => (0..5000_u64).prop_map(|keep| Step::Reclaim { keep }),
    ]
}

/// A slab, granule by granule.
struct Slab {
    base: u64,
    size: u64,
    /// The last user, and whether a range holds the granule now.
    granules: Vec<(Frontier, bool)>,
}

struct Model {
    slabs: BTreeMap<u32, Slab>,
    next: u32,
    live: Vec<Place>,
    newest: [u64; LANES as usize],
    retired: RefCell<[u64; LANES as usize]>,
    /// Whether each range has its own slab.
    exact: bool,
}

impl Model {
    fn has_retired(&self, lane: u32, epoch: u64) -> bool {
        epoch <= self.retired.borrow()[lane as usize]
    }

    fn add(&mut self, strategy: &mut dyn Placement, size: u64) {
        // Bases are multiples of the granule only.
        let base = 0x1_0000 + u64::from(self.next) * 0x10_0010;
        let granules = vec![(Frontier::new(), false); size.div_ceil(GRANULE) as usize];
        self.slabs.insert(self.next, Slab { base, size, granules });
        strategy.add(self.next, base, size);
        self.next += 1;
    }

    /// The granules that a place occupies.
    fn range(&self, place: &Place) -> std::ops::Range<usize> {
        match self.exact {
            true => 0..self.slabs[&place.slab].granules.len(),
            false => (place.offset / GRANULE) as usize..((place.offset + place.held) / GRANULE) as usize,
        }
    }

    fn request(size: u64, alignment: u32, reach: u8, lane: u32) -> Request {
        let reach = match reach {
            0 => Reach::Now,
            1 => Reach::Unwaited(QueueAffinity::queue(lane)),
            2 => Reach::Ordered(QueueAffinity::ANY),
            _ => Reach::Ordered(QueueAffinity::queue(lane)),
        };
        Request { size, alignment: 1 << alignment, reach }
    }

    fn take(&mut self, strategy: &mut dyn Placement, request: &Request, thorough: bool) {
        let retired = |lane, epoch| self.has_retired(lane, epoch);
        let quick = if thorough { None } else { strategy.take(request, &retired) };
        let taken = quick.or_else(|| strategy.take_thoroughly(request, &retired));
        let taken = match (taken, strategy.growth(request)) {
            (Some(taken), _) => taken,
            (None, None) => return,
            (None, Some(growth)) => {
                assert!(
                    !self.has_room(growth.least, request),
                    "{growth:?} asked for and there: {strategy:?}"
                );
                assert!(growth.best >= growth.least);
                self.add(strategy, growth.least);
                let retired = |lane, epoch| self.has_retired(lane, epoch);
                strategy.take(request, &retired).expect("a slab that was added for a request holds it")
            }
        };
        let place = taken.place;
        let range = self.range(&place);
        let slab = self.slabs.get_mut(&place.slab).expect("a slab that is there");
        assert_eq!((slab.base + place.offset) % request.alignment, 0, "{taken:?} in {:#x}", slab.base);
        // The range lies in its own slab at the first aligned address.
        let end = if self.exact { place.offset + request.size } else { place.offset + place.held };
        assert!(end <= slab.size && request.size <= place.held, "{taken:?} for {request:?}");
        let mut needed = Frontier::new();
        for (death, held) in &mut slab.granules[range] {
            assert!(!*held, "{place:?} overlaps with what is in use");
            *held = true;
            needed.merge(death);
        }
        let retired = self.retired.borrow();
        needed.remove_retired(|lane, epoch| epoch <= retired[lane as usize]);
        assert!(taken.death.covers(&needed), "{taken:?} does not wait for {needed:?}");
        match request.reach {
            Reach::Now => assert!(taken.death.is_empty()),
            Reach::Unwaited(queue) => assert!(
                taken.death.iter().all(|(lane, _)| queue == QueueAffinity::queue(lane)),
                "{taken:?} waits for another queue than {queue:?}"
            ),
            _ => {}
        }
        drop(retired);
        self.live.push(place);
    }

    /// Whether a slab has enough free bytes in a row for a range that may wait, wherever the bytes begin.
    fn has_room(&self, bytes: u64, request: &Request) -> bool {
        let (true, Reach::Ordered(_)) = (!self.exact, request.reach) else { return false };
        self.slabs.values().any(|slab| {
            let free = slab.granules.split(|(_, held)| *held);
            free.map(|run| run.len() as u64 * GRANULE).any(|run| run >= bytes)
        })
    }

    fn put(&mut self, strategy: &mut dyn Placement, index: usize, lanes: u8) {
        let place = self.live.swap_remove(index);
        let mut death = Frontier::new();
        for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
            self.newest[lane as usize] += 1;
            death.add(lane, self.newest[lane as usize]);
        }
        let range = self.range(&place);
        let slab = self.slabs.get_mut(&place.slab).expect("a slab that is there");
        for granule in &mut slab.granules[range] {
            *granule = (death.clone(), false);
        }
        strategy.put(place, death, &|lane, epoch| self.has_retired(lane, epoch));
    }

    fn idle(&self) -> u64 {
        let free = |slab: &&Slab| slab.granules.iter().all(|(_, held)| !held);
        self.slabs.values().filter(free).map(|slab| slab.size).sum()
    }

    fn reclaim(&mut self, strategy: &mut dyn Placement, keep: u64) {
        let gone = strategy.reclaim(keep, &|lane, epoch| self.has_retired(lane, epoch));
        for slab in gone {
            let slab = self.slabs.remove(&slab).expect("a slab is given back once");
            for (mut death, held) in slab.granules {
                assert!(!held, "a slab in use was given back");
                let retired = self.retired.borrow();
                assert!(death.remove_retired(|lane, epoch| epoch <= retired[lane as usize]), "too soon");
            }
        }
        assert_eq!(strategy.idle(), self.idle());
    }
}

fn check(mut strategy: impl Placement, exact: bool, steps: Vec<Step>) {
    let mut model = Model {
        slabs: BTreeMap::new(),
        next: 0,
        live: Vec::new(),
        newest: [0; LANES as usize],
        retired: RefCell::default(),
        exact,
    };
    for step in steps {
        match step {
            Step::Take { size, alignment, reach, lane, thorough } => {
                model.take(&mut strategy, &Model::request(size, alignment, reach, lane), thorough);
            }
            Step::Put { which, lanes } if !model.live.is_empty() => {
                model.put(&mut strategy, which.index(model.live.len()), lanes);
            }
            Step::Put { .. } => {}
            Step::Retire { lane, but } => {
                let newest = model.newest[lane as usize];
                let retired = &mut model.retired.borrow_mut()[lane as usize];
                *retired = (*retired).max(newest.saturating_sub(but));
            }
            Step::Reclaim { keep } => model.reclaim(&mut strategy, keep),
        }
        assert_eq!(strategy.idle(), model.idle());
    }
    while !model.live.is_empty() {
        model.put(&mut strategy, 0, 1);
    }
    *model.retired.borrow_mut() = model.newest;
    model.reclaim(&mut strategy, 0);
    assert!(model.slabs.is_empty(), "memory is lost: {strategy:?}");
}

proptest! {
    #[test]
    fn tlsf(steps in prop::collection::vec(step(), 0..120), slab in 1..200_u64) {
        check(Tlsf::new(GRANULE, slab * GRANULE), false, steps);
    }

    #[test]
    fn fixed_blocks(steps in prop::collection::vec(step(), 0..120), block in 1..40_u64, blocks in 1..12_u32) {
        let strategy = FixedBlock::new(block * GRANULE, blocks, 64, GRANULE).expect("small");
        check(strategy, false, steps);
    }

    #[test]
    fn passthrough(steps in prop::collection::vec(step(), 0..120), exact: bool) {
        check(Passthrough::new(GRANULE, exact), true, steps);
    }

    #[test]
    fn frontiers_join_by_lane(
        left in prop::collection::btree_map(0..6_u32, 0..9_u64, 0..5),
        right in prop::collection::btree_map(0..6_u32, 0..9_u64, 0..5),
        retired in 0..9_u64,
    ) {
        let frontier = |map: &BTreeMap<u32, u64>| {
            let mut frontier = Frontier::new();
            map.iter().rev().for_each(|(lane, epoch)| frontier.add(*lane, *epoch));
            frontier
        };
        let mut both = frontier(&left);
        both.merge(&frontier(&right));
        let mut expected = left.clone();
        for (lane, epoch) in &right {
            expected.entry(*lane).and_modify(|own| *own = (*own).max(*epoch)).or_insert(*epoch);
        }
        prop_assert_eq!(both.iter().collect::<BTreeMap<_, _>>(), expected.clone());
        prop_assert!(both.covers(&frontier(&left)) && both.covers(&frontier(&right)));
        let more = left.iter().any(|(lane, epoch)| right.get(lane).is_none_or(|own| own < epoch));
        prop_assert_eq!(frontier(&right).covers(&both), !more);
        let settled = both.remove_retired(|_, epoch| epoch <= retired);
        expected.retain(|_, epoch| *epoch > retired);
        prop_assert_eq!(settled, expected.is_empty());
        prop_assert_eq!(both.iter().collect::<BTreeMap<_, _>>(), expected);
    }
}
