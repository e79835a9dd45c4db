// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drivers that lie: the test of the suite itself.
//!
//! A [`Saboteur`] stands between the interface and a driver that conforms, forwards everything, and breaks one
//! contract on the way. The cases that it names state that contract, and each of them must fail over it. A suite that
//! lets a saboteur pass would let a driver pass with the same mistake.
//!
//! They run over any driver. Over one of your own they tell whether the suite has teeth there too, which it may lack
//! where the driver declares what it lacks:
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use windlass_hal::driver::Driver;
//! fn the_suite_has_teeth(my_driver: impl Fn() -> Arc<dyn Driver>) {
//!     for saboteur in windlass_cts::saboteurs::all() {
//!         let survived = saboteur.survives(my_driver(), "mine://");
//!         assert!(survived.is_empty(), "{}: {survived:#?}", saboteur.name);
//!     }
//! }
//! ```
//!
//! Not every contract can be broken from outside a driver: [`held_otherwise`] names the cases that no saboteur fails,
//! each with what holds it instead.

use std::{io, sync::Arc, time::Duration};

use windlass_hal::{Feature, Registry, driver::Driver};

use crate::{Kernels, Level, Options, Verdict, cases, run_cases};

/// A table of saboteurs: for each its name, what it breaks, how, and the cases that must fail over it.
macro_rules! saboteurs {
    ($($name:ident: $breaks:literal, $sabotage:expr, [$($kill:literal),* $(,)?];)*) => {
        pub(super) const ALL: &[$crate::saboteurs::Saboteur] = &[$(
            $crate::saboteurs::Saboteur {
                name: stringify!($name),
                breaks: $breaks,
                kills: &[$($kill),*],
                sabotage: || std::sync::Arc::new($sabotage),
            },
        )*];
    };
}

mod command_buffer;
mod device;
mod dispatch;
mod event;
mod executable;
mod failure;
mod held_otherwise;
mod host_call;
mod import;
mod indirect;
mod lifetime;
mod linking;
mod memory;
mod pool;
mod sabotage;
mod signal;
mod statistics;
mod transfer;
mod wait;

pub use held_otherwise::{Held, held_otherwise};
use sabotage::{Sabotage, Saboteured};

/// A way to break one contract.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Saboteur {
    /// A few words with underscores.
    pub name: &'static str,
    /// What it does wrong, in one sentence.
    pub breaks: &'static str,
    /// The cases that must fail over it.
    pub kills: &'static [&'static str],
    sabotage: fn() -> Arc<dyn Sabotage>,
}

/// Every saboteur.
pub fn all() -> Vec<Saboteur> {
    [
        wait::ALL,
        signal::ALL,
        failure::ALL,
        transfer::ALL,
        memory::ALL,
        pool::ALL,
        statistics::ALL,
        import::ALL,
        host_call::ALL,
        command_buffer::ALL,
        event::ALL,
        dispatch::ALL,
        indirect::ALL,
        executable::ALL,
        linking::ALL,
        lifetime::ALL,
        device::ALL,
    ]
    .concat()
}

/// One that breaks nothing: every case must pass over it.
pub fn faithful() -> Saboteur {
    struct Faithful;
    impl Sabotage for Faithful {}
    Saboteur { name: "faithful", breaks: "Nothing is broken.", kills: &[], sabotage: || Arc::new(Faithful) }
}

/// One whose devices refuse all that they are asked for. What passes over it asks no driver.
pub fn refusing() -> Saboteur {
    Saboteur {
        name: "refusing",
        breaks: "Everything is refused.",
        kills: &[],
        sabotage: || Arc::new(device::Refusing),
    }
}

impl Saboteur {
    /// A driver with the same scheme that is `driver` but for what this saboteur breaks.
    pub fn over(&self, driver: Arc<dyn Driver>) -> Arc<dyn Driver> {
        Arc::new(Saboteured { driver, sabotage: (self.sabotage)() })
    }

    /// What the device must offer for every kill to show.
    pub fn requires(&self) -> Vec<Feature> {
        let mut features: Vec<Feature> = Vec::new();
        for case in cases().iter().filter(|case| self.kills.contains(&case.name)) {
            features.extend(
                case.requires
                    .iter()
                    .filter(|feature| !features.contains(feature))
                    .copied()
                    .collect::<Vec<_>>(),
            );
        }
        features
    }

    /// How one case ends over this saboteur.
    pub fn verdict(&self, driver: Arc<dyn Driver>, uri: &str, case: &str) -> Verdict {
        verdict(self.over(driver), uri, case, &[])
    }

    /// Runs the cases that must fail over `driver` sabotaged, opened as `uri`, and returns those that did not in
    /// five tries.
    pub fn survives(&self, driver: Arc<dyn Driver>, uri: &str) -> Vec<(&'static str, Verdict)> {
        self.survives_with(driver, uri, &[])
    }

    /// [`survives`](Self::survives) over a driver that runs no AMD code objects, with the suite's kernels in its form.
    pub fn survives_with(
        &self,
        driver: Arc<dyn Driver>,
        uri: &str,
        kernels: &[Kernels],
    ) -> Vec<(&'static str, Verdict)> {
        let mut survivors = Vec::new();
        for case in self.kills {
            let again = || verdict(self.over(driver.clone()), uri, case, kernels);
            let mut verdict = again();
            for _ in 1..TRIES {
                if !matches!(verdict, Verdict::Fail(_)) {
                    verdict = again();
                }
            }
            if !matches!(verdict, Verdict::Fail(_)) {
                survivors.push((*case, verdict));
            }
        }
        survivors
    }
}

impl std::fmt::Debug for Saboteur {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Saboteur")
            .field("name", &self.name)
            .field("breaks", &self.breaks)
            .finish_non_exhaustive()
    }
}

/// How often a case may try: whether some lies show depends on which thread comes first.
const TRIES: u32 = 5;

/// How long a case may take. Some saboteurs show by a deadline that passes, which is half of this.
const TIMEOUT: Duration = Duration::from_secs(1);

fn verdict(driver: Arc<dyn Driver>, uri: &str, case: &str, kernels: &[Kernels]) -> Verdict {
    let mut registry = Registry::new();
    registry.register(driver);
    let mut options = Options::new(uri);
    options.filters = vec![case.to_owned()];
    options.exact = true;
    options.level = Level::Stress;
    options.kernels = kernels.to_vec();
    options.timeout = TIMEOUT;
    match run_cases(&registry, &cases(), &options, &mut io::sink()) {
        Ok(summary) => match summary.results.first() {
            Some(result) => result.verdict.clone(),
            None => Verdict::Skip(format!("there is no case {case}")),
        },
        Err(error) => Verdict::Skip(format!("nowhere to write the results: {error}")),
    }
}
