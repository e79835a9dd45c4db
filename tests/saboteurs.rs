// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite can fail: a driver that breaks a contract is caught by the case that states it.
//!
//! Here over the simulated GPU, for what needs kernels; `cts/tests/saboteurs.rs` has the rest over the null device.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use windlass_cts::{
    Case, Verdict, cases,
    saboteurs::{self, Saboteur},
};
use windlass_hal::Feature;

const DEVICE: &str = "hip-sim://gfx942?devices=2";

fn driver() -> Arc<dyn windlass_hal::driver::Driver> {
    windlass::registry().driver("hip-sim").unwrap().clone()
}

/// Every saboteur, or those whose names contain what `SABOTEURS` says, with commas between.
fn chosen() -> Vec<Saboteur> {
    let parts = std::env::var("SABOTEURS").unwrap_or_default();
    let mut saboteurs = saboteurs::all();
    saboteurs.retain(|saboteur| parts.split(',').any(|part| saboteur.name.contains(part)));
    saboteurs
}

/// Does something with each saboteur, a few at a time: most of them show by waiting.
fn for_each(saboteurs: &[Saboteur], act: impl Fn(&Saboteur) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(saboteur) = saboteurs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    act(saboteur);
                }
            });
        }
    });
}

#[test]
fn what_needs_kernels_is_caught_over_the_simulated_gpu() {
    let mut saboteurs = chosen();
    saboteurs.retain(|saboteur| saboteur.requires().contains(&Feature::Dispatch));
    let survivors = Mutex::new(Vec::new());
    for_each(&saboteurs, |saboteur| {
        for (case, verdict) in saboteur.survives(driver(), DEVICE) {
            survivors.lock().unwrap().push(format!("{} over {case}: {verdict:?}", saboteur.name));
        }
    });
    let survivors = survivors.into_inner().unwrap();
    assert!(survivors.is_empty(), "not caught:\n{}", survivors.join("\n"));
}

/// Every case over every saboteur, to find which case catches what. `WINDLASS_DEVICE` may name another device, and
/// `CASES` what is in the names of the cases to try. A slow case that does not end in time looks caught.
#[test]
#[ignore = "prints the full matrix, which takes many minutes"]
#[expect(clippy::print_stdout, reason = "the matrix is what this is for")]
fn the_full_matrix() {
    let device = std::env::var("WINDLASS_DEVICE").unwrap_or(DEVICE.to_owned());
    let scheme = device.split("://").next().unwrap();
    let driver = windlass::registry().driver(scheme).unwrap();
    let parts = std::env::var("CASES").unwrap_or_default();
    let mut cases = cases();
    cases.retain(|case| parts.split(',').any(|part| case.name.contains(part)));
    for_each(&chosen(), |saboteur| {
        let caught =
            |case: &&Case| matches!(saboteur.verdict(driver.clone(), &device, case.name), Verdict::Fail(_));
        let names: Vec<_> = cases.iter().filter(caught).map(|case| case.name).collect();
        println!("{}: {}", saboteur.name, names.join(" "));
    });
}
