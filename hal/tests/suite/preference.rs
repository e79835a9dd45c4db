// SPDX-License-Identifier: MIT OR Apache-2.0
//! The preference of a pool among several free places, and between a free place and a new slab. `placement.rs` tests
//! the possible places.

use windlass_hal::{
    QueueAffinity,
    pool::{FixedBlock, Frontier, Passthrough, Place, Reach, Request, Strategy, Tlsf},
};

const GRANULE: u64 = 16;

fn request(size: u64, reach: Reach) -> Request {
    Request { size, alignment: 1, reach }
}

fn any(size: u64) -> Request {
    request(size, Reach::Ordered(QueueAffinity::ANY))
}

/// On lane 0, everything up to epoch 9 has retired; on other lanes, nothing.
fn retired(lane: u32, epoch: u64) -> bool {
    lane == 0 && epoch <= 9
}

fn take(strategy: &mut dyn Strategy, request: &Request) -> Option<Place> {
    strategy.take(request, &retired).map(|taken| taken.place)
}

/// Takes a place that must be found without a thorough search.
fn taken(strategy: &mut dyn Strategy, size: u64) -> Place {
    take(strategy, &any(size)).expect("there is room")
}

fn free(strategy: &mut dyn Strategy, place: Place, death: Frontier) {
    strategy.put(place, death, &retired);
}

#[test]
fn a_frontier_has_the_last_epoch_of_each_lane() {
    let mut frontier = Frontier::at(3, 7);
    assert_eq!((frontier.only_lane(), frontier.is_empty()), (Some(3), false));
    assert_eq!((Frontier::new().only_lane(), Frontier::new().is_empty()), (None, true));
    [(3, 5), (1, 2), (3, 8)].into_iter().for_each(|(lane, epoch)| frontier.add(lane, epoch));
    assert_eq!(frontier.iter().collect::<Vec<_>>(), [(1, 2), (3, 8)]);
    assert_eq!(frontier.only_lane(), None);
    assert!(frontier.covers(&Frontier::at(3, 8)) && frontier.covers(&Frontier::new()));
    assert!(!frontier.covers(&Frontier::at(3, 9)) && !frontier.covers(&Frontier::at(2, 1)));
    frontier.merge(&Frontier::at(0, 4));
    assert!(!frontier.remove_retired(retired));
    assert_eq!(format!("{frontier:?}"), "Frontier{1: 2, 3: 8}");
    assert!(Frontier::at(0, 9).remove_retired(retired));
}

#[test]
fn blocks_are_as_long_as_their_alignment_makes_them() {
    let block =
        |size, blocks, alignment| FixedBlock::new(size, blocks, alignment, GRANULE).map(|new| new.block());
    assert_eq!(block(100, 4, 1), Some(112));
    assert_eq!(block(100, 4, 256), Some(256));
    assert_eq!((block(100, 0, 1), block(u64::MAX, 1, 1), block(1 << 62, 4, 1)), (None, None, None));
}

/// Frees four blocks with these frontiers: empty, lane 1, lane 2, and both lanes.
fn four_free(fixed: &mut FixedBlock) -> [Place; 4] {
    let places = [(); 4].map(|()| taken(fixed, 64));
    let mut both = Frontier::at(1, 1);
    both.add(2, 1);
    let deaths = [Frontier::at(0, 9), Frontier::at(1, 1), Frontier::at(2, 1), both];
    places.iter().zip(deaths).for_each(|(place, death)| free(fixed, *place, death));
    places
}

#[test]
fn a_queue_is_given_what_it_waits_least_for() {
    let mut fixed = FixedBlock::new(64, 4, 1, GRANULE).expect("four blocks");
    let growth = fixed.growth(&any(64)).expect("nothing is there");
    fixed.add(0, 0x1000, growth.least);
    assert_eq!((growth.least, fixed.growth(&any(64))), (256, None));
    let [settled, own, ..] = four_free(&mut fixed);
    let unwaited = request(64, Reach::Unwaited(QueueAffinity::queue(1)));
    let at = |place: Option<Place>| place.map(|place| place.offset);
    assert_eq!(at(take(&mut fixed, &unwaited)), Some(settled.offset));
    assert_eq!(at(take(&mut fixed, &unwaited)), Some(own.offset));
    assert_eq!(at(take(&mut fixed, &unwaited)), None, "the others are behind another lane");
    assert_eq!(at(take(&mut fixed, &request(64, Reach::Now))), None);
    assert!(take(&mut fixed, &any(65)).is_none(), "more than a block");
    assert!(take(&mut fixed, &any(64)).is_some() && take(&mut fixed, &any(64)).is_some());
    assert!(take(&mut fixed, &any(64)).is_none(), "four of four are in use");
}

#[test]
fn a_set_of_queues_is_no_single_queue() {
    let mut fixed = FixedBlock::new(64, 1, 1, GRANULE).expect("a block");
    fixed.add(0, 0x1000, 64);
    let place = taken(&mut fixed, 64);
    free(&mut fixed, place, Frontier::at(1, 1));
    let both = QueueAffinity::from_bits(0b11);
    assert!(take(&mut fixed, &request(64, Reach::Unwaited(both))).is_none());
    assert!(take(&mut fixed, &request(64, Reach::Ordered(both))).is_some());
}

#[test]
fn tlsf_gives_the_free_place_that_fits_best_without_a_search() {
    let mut tlsf = Tlsf::new(GRANULE, 1 << 20);
    tlsf.add(0, 0x1000, 1 << 20);
    // Free places of several sizes, with a used place after each.
    let sizes = [16, 48, 160, 272, 1040, 4096, 40_000, 300_000];
    let places: Vec<_> = sizes
        .iter()
        .map(|size| {
            let place = taken(&mut tlsf, *size);
            taken(&mut tlsf, 16);
            place
        })
        .collect();
    // The rest of the slab is used, so that only these places are free.
    while let Some(rest) =
        [1 << 19, 1 << 16, 1 << 10, 16].into_iter().find_map(|size| take(&mut tlsf, &any(size)))
    {
        assert_eq!(rest.slab, 0);
    }
    assert!(tlsf.growth(&any(16)).is_some());
    let mut pairs: Vec<_> = sizes.into_iter().zip(places).collect();
    for order in ["smallest first", "largest first", "smallest first again"] {
        pairs.iter().for_each(|(_, place)| free(&mut tlsf, *place, Frontier::new()));
        for (size, place) in &pairs {
            assert_eq!(taken(&mut tlsf, *size).offset, place.offset, "{size} bytes, {order}");
        }
        pairs.reverse();
    }
    // A little more than the second place has. So the first, which is larger, serves.
    for (_, place) in &pairs[..2] {
        free(&mut tlsf, *place, Frontier::new());
    }
    assert_eq!(taken(&mut tlsf, pairs[1].1.held + 1).offset, pairs[0].1.offset);
}

#[test]
fn tlsf_passes_over_any_number_of_places_that_are_a_little_too_small() {
    let mut tlsf = Tlsf::new(GRANULE, 1 << 22);
    tlsf.add(0, 0x1000, 1 << 22);
    let small: Vec<_> = (0..40)
        .map(|_| {
            let place = taken(&mut tlsf, 40_000);
            taken(&mut tlsf, 16);
            place
        })
        .collect();
    small.iter().for_each(|place| free(&mut tlsf, *place, Frontier::new()));
    let large = taken(&mut tlsf, small[0].held + 1);
    assert!(small.iter().all(|place| place.offset != large.offset));
}

#[test]
fn tlsf_asks_for_what_it_needs_and_uses_all_of_it() {
    let mut tlsf = Tlsf::new(GRANULE, 64);
    let aligned = Request { alignment: 64, ..any(160) };
    let least = |request: &Request| tlsf.growth(request).map(|growth| growth.least);
    assert_eq!((least(&any(160)), least(&aligned)), (Some(160), Some(160 + 64 - GRANULE)));
    tlsf.add(0, 0x1000, 160);
    let place = taken(&mut tlsf, 160);
    assert_eq!((place.offset, place.held), (0, 160));
    assert_eq!(format!("{tlsf:?}"), "Tlsf { slabs: 1, used: 1, free: 0, .. }");
    free(&mut tlsf, place, Frontier::new());
    assert_eq!(taken(&mut tlsf, 32).offset, 0);
    assert_eq!(format!("{tlsf:?}"), "Tlsf { slabs: 1, used: 1, free: 1, .. }");
}

#[test]
fn tlsf_gives_a_place_that_lies_well_rather_than_a_part_of_a_larger_one() {
    let mut tlsf = Tlsf::new(GRANULE, 1 << 16);
    tlsf.add(0, 0x1000, 1 << 16);
    let well = taken(&mut tlsf, 160);
    taken(&mut tlsf, 16);
    free(&mut tlsf, well, Frontier::new());
    let aligned = Request { alignment: 256, ..any(160) };
    assert_eq!(take(&mut tlsf, &aligned).map(|place| place.offset), Some(well.offset));
    let other = take(&mut tlsf, &aligned).expect("there is room");
    assert!((0x1000 + other.offset).is_multiple_of(256) && other.offset != well.offset);
}

#[test]
fn passthrough_gives_a_free_slab_that_wastes_little() {
    let mut loose = Passthrough::new(GRANULE, false);
    let growth = loose.growth(&any(1000)).expect("nothing is there");
    assert_eq!((growth.least, loose.idle()), (1000, 0));
    loose.add(0, 0x1000, 1000);
    assert_eq!(loose.idle(), 1000);
    assert!(loose.growth(&any(1001)).is_some() && take(&mut loose, &any(1001)).is_none());
    assert!(take(&mut loose, &any(800)).is_none(), "a quarter would be wasted");
    let place = taken(&mut loose, 900);
    assert_eq!((place.slab, place.held, loose.idle()), (0, 1000, 0));
    free(&mut loose, place, Frontier::new());
    let aligned = Request { alignment: 256, ..any(900) };
    assert_eq!(loose.growth(&aligned).map(|growth| growth.least), Some(900 + 256 - GRANULE));
    let mut exact = Passthrough::new(GRANULE, true);
    exact.add(0, 0x1000, 1000);
    assert!(take(&mut exact, &any(999)).is_none());
    assert_eq!(taken(&mut exact, 1000).slab, 0);
}
