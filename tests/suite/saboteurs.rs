// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite can fail: a driver that breaks a contract is caught by the case that states it.
//!
//! Over the simulated GPU, for saboteurs that need kernels or collectives; `cts/tests/suite/saboteurs.rs` has the others over the null
//! device.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use windlass_cts::{
    Case, Verdict, cases,
    saboteurs::{self, Saboteur},
};
use windlass_hal::Feature;

/// The device and its driver: two simulated GPUs, or the device in `WINDLASS_DEVICE`.
fn device() -> (Arc<dyn windlass_hal::driver::Driver>, String) {
    let device = std::env::var("WINDLASS_DEVICE").unwrap_or("hip-sim://gfx942?devices=2".to_owned());
    let scheme = device.split("://").next().expect("a scheme");
    (windlass::registry().driver(scheme).expect("a driver").clone(), device)
}

/// All saboteurs, or those of `SABOTEURS`: one whole name, or parts of names separated by commas.
fn chosen() -> Vec<Saboteur> {
    let parts = std::env::var("SABOTEURS").unwrap_or_default();
    let mut saboteurs = saboteurs::all();
    if let Some(place) = saboteurs.iter().position(|saboteur| saboteur.name == parts) {
        return vec![saboteurs.swap_remove(place)];
    }
    saboteurs.retain(|saboteur| parts.split(',').any(|part| saboteur.name.contains(part)));
    saboteurs
}

fn chosen_that_need_kernels() -> Vec<Saboteur> {
    let mut saboteurs = chosen();
    let is_here = |feature: &Feature| matches!(feature, Feature::Dispatch | Feature::Collectives);
    saboteurs.retain(|saboteur| saboteur.requires().iter().any(is_here));
    saboteurs
}

/// Runs a function for each saboteur, a few in parallel, because most tests wait for timeouts.
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
    let (driver, device) = device();
    let survivors = Mutex::new(Vec::new());
    for_each(&chosen_that_need_kernels(), |saboteur| {
        for (case, verdict) in saboteur.survives(driver.clone(), &device) {
            survivors.lock().unwrap().push(format!("{} over {case}: {verdict:?}", saboteur.name));
        }
    });
    let survivors = survivors.into_inner().unwrap();
    assert!(survivors.is_empty(), "not caught:\n{}", survivors.join("\n"));
}

/// Over AMD's HIP, faults of saboteurs' kernels end the process by a signal. A saboteur is skipped if all of its cases
/// are.
#[test]
#[ignore = "for devices over which a fault ends the process: .ci/amd-hip runs it"]
#[expect(clippy::print_stdout, reason = "the counts are what the script shows")]
fn what_needs_kernels_is_caught_in_processes_of_their_own() {
    let (survivors, signals, skips) = (Mutex::new(Vec::new()), AtomicUsize::new(0), AtomicUsize::new(0));
    let saboteurs = chosen_that_need_kernels();
    for_each(&saboteurs, |saboteur| {
        // Not `current_exe`, which may be the dynamic loader.
        let output = std::process::Command::new(std::env::args_os().next().expect("a path"))
            .args(["--exact", "saboteurs::what_needs_kernels_is_caught_over_the_simulated_gpu"])
            .env("SABOTEURS", saboteur.name)
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let mut alive =
            said.lines().filter(|line| line.starts_with(&format!("{} over ", saboteur.name))).peekable();
        match output.status.code() {
            Some(0) if said.contains("1 passed") => {}
            None => drop(signals.fetch_add(1, Ordering::Relaxed)),
            _ if alive.peek().is_some() && alive.all(|line| line.contains(": Skip(\"")) => {
                skips.fetch_add(1, Ordering::Relaxed);
            }
            _ => survivors.lock().unwrap().push(format!("{}: {}\n{said}", saboteur.name, output.status)),
        }
    });
    let survivors = survivors.into_inner().unwrap();
    assert!(survivors.is_empty(), "not caught:\n{}", survivors.join("\n"));
    let (signals, skips) = (signals.into_inner(), skips.into_inner());
    println!("{} caught, {signals} of them by a signal, {skips} skipped", saboteurs.len() - skips);
}

/// Runs every case over every saboteur, to find which case catches which saboteur. `CASES` has parts of the names of
/// cases. A slow case that exceeds its deadline looks caught.
#[test]
#[ignore = "prints the full matrix, which takes many minutes"]
#[expect(clippy::print_stdout, reason = "the matrix is what this is for")]
fn the_full_matrix() {
    let (driver, device) = device();
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
