// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite bites over this driver too: each saboteur in front of it is caught by the case that states the broken
//! contract.

mod kernels;

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use postfix_driver::PostfixDriver;
use windlass_cts::{
    Kernels,
    saboteurs::{self, Saboteur},
};
use windlass_hal::driver::Driver;

/// Saboteurs without effect over this driver, each with the reason.
const HARMLESS: [(&str, &str); 1] =
    [("allows_much_local_memory", "the machine takes local memory from the host, which has more")];

/// The saboteurs that break kernels and their argument blocks, which are this driver's own code. Their effect shows
/// in bytes, on any machine and each time. Forgotten waits show less reliably over one in-order stream; `shuffle://`
/// is for them.
fn chosen() -> Vec<Saboteur> {
    let lacks = &PostfixDriver.enumerate().unwrap()[0].lacks;
    let own = |case: &&str| case.starts_with("dispatch.") || case.starts_with("command_buffer_dispatch.");
    let mut saboteurs = saboteurs::all();
    saboteurs.retain(|saboteur| {
        let needs = saboteur.requires();
        saboteur.kills.iter().all(own)
            && !lacks.iter().any(|lack| needs.contains(&lack.feature))
            && !HARMLESS.iter().any(|(name, _)| *name == saboteur.name)
    });
    saboteurs
}

#[test]
fn what_breaks_a_contract_is_caught() {
    let saboteurs = chosen();
    assert!(saboteurs.len() > 10, "{saboteurs:?}");
    let kernels = [Kernels::new(postfix_driver::FORMAT, kernels::find)];
    let (next, survivors) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        // Many saboteurs show only by a deadline, so they take time and no processor.
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(saboteur) = saboteurs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let survived = saboteur.survives_with(Arc::new(PostfixDriver), "postfix://", &kernels);
                    survivors.lock().unwrap().extend(
                        survived
                            .into_iter()
                            .map(|(case, verdict)| format!("{} over {case}: {verdict:?}", saboteur.name)),
                    );
                }
            });
        }
    });
    let survivors = survivors.into_inner().unwrap();
    assert!(survivors.is_empty(), "not caught:\n{}", survivors.join("\n"));
}
