// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite can fail: the case that states a contract catches a driver that breaks it.
//!
//! These tests run over the null device. `tests/saboteurs.rs` of the root package has the saboteurs that need
//! kernels or collectives.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use windlass_cts::{
    Exit, Options, Verdict, cases, run_cases,
    saboteurs::{self, Held, held_otherwise},
};
use windlass_hal::{Feature, Registry};

#[test]
fn each_is_caught_over_the_null_device() {
    let mut saboteurs = saboteurs::all();
    let is_elsewhere = |feature: &Feature| matches!(feature, Feature::Dispatch | Feature::Collectives);
    saboteurs.retain(|saboteur| !saboteur.requires().iter().any(is_elsewhere));
    let (next, survivors) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        // Many saboteurs show only by a deadline, so they take time and no processor.
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(saboteur) = saboteurs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for (case, verdict) in saboteur.survives(Arc::new(windlass_null::NullDriver), "null://") {
                        survivors.lock().unwrap().push(format!("{} over {case}: {verdict:?}", saboteur.name));
                    }
                }
            });
        }
    });
    let survivors = survivors.into_inner().unwrap();
    assert!(survivors.is_empty(), "not caught:\n{}", survivors.join("\n"));
}

/// A saboteur is caught because of its fault, not because it wraps a driver.
#[test]
fn a_wrapper_that_breaks_nothing_conforms() {
    let mut registry = Registry::new();
    registry.register(saboteurs::faithful().over(Arc::new(windlass_null::NullDriver)));
    let summary = run_cases(&registry, &cases(), &Options::new("null://"), &mut io::sink()).unwrap();
    let failed: Vec<_> =
        summary.results.iter().filter(|result| matches!(result.verdict, Verdict::Fail(_))).collect();
    assert_eq!(summary.exit, Exit::Passed, "{failed:#?}");
}

#[test]
fn what_asks_no_driver_passes_over_one_that_refuses() {
    let (refusing, null) = (saboteurs::refusing(), Arc::new(windlass_null::NullDriver));
    for held in held_otherwise().iter().filter(|held| held.why == Held::NO_DRIVER) {
        let verdict = refusing.verdict(null.clone(), "null://", held.case);
        assert!(matches!(verdict, Verdict::Pass), "{}: {verdict:?}", held.case);
    }
}

#[test]
fn every_contract_is_broken_or_held_otherwise() {
    let (cases, saboteurs) = (cases(), saboteurs::all());
    let names: BTreeSet<_> = cases.iter().map(|case| case.name).collect();
    let mut seen = BTreeMap::<&str, &str>::new();
    for saboteur in &saboteurs {
        assert!(!saboteur.kills.is_empty(), "{} kills nothing", saboteur.name);
        if let Some(other) = seen.insert(saboteur.name, saboteur.breaks) {
            panic!("two saboteurs are called {}: {other}", saboteur.name);
        }
    }
    let killed: BTreeSet<_> = saboteurs.iter().flat_map(|saboteur| saboteur.kills).copied().collect();
    let held: BTreeSet<_> = held_otherwise().iter().map(|held| held.case).collect();
    assert_eq!(held.len(), held_otherwise().len(), "a case is listed twice in unbroken_cases.csv");
    assert!(held_otherwise().iter().all(|held| !held.why.is_empty()), "a case without a reason");
    let unknown: Vec<_> = killed.union(&held).filter(|name| !names.contains(*name)).collect();
    assert!(unknown.is_empty(), "there are no such cases: {unknown:?}");
    let both: Vec<_> = killed.intersection(&held).collect();
    assert!(both.is_empty(), "a saboteur breaks what is said to be held otherwise: {both:?}");
    let neither: Vec<_> =
        names.iter().filter(|name| !killed.contains(*name) && !held.contains(*name)).collect();
    assert!(neither.is_empty(), "no saboteur breaks these, and nothing says why: {neither:#?}");
}
