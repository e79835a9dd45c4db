// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs: wrappers that break contracts, as the test of the suite itself.
//!
//! A [`Saboteur`] wraps a driver that conforms. It forwards everything, except that it breaks one contract. The cases
//! that it names state this contract, and each of them must fail over it. If a case passes, the suite would also pass
//! a driver with the same fault.
//!
//! Saboteurs run over any driver. Over your own driver they show whether the suite finds faults there too, which may
//! fail where the driver declares lacks:
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
//! Not every contract can be broken from outside a driver. [`held_otherwise`] lists the cases that no saboteur fails,
//! with the tests that hold their contracts instead.

use std::{io, sync::Arc, time::Duration};

use windlass_hal::{Feature, Registry, driver::Driver};

use crate::{Kernels, Level, Options, Verdict, cases, run_cases};

/// A table of saboteurs: for each its name, its fault, its implementation, and the cases that must fail over it.
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

mod collective;
mod command_buffer;
mod device;
mod dispatch;
mod event;
mod executable;
mod external_timepoint;
mod facts;
mod failure;
mod growable;
mod held_otherwise;
mod host_call;
mod import;
mod indirect;
mod lifetime;
mod linking;
mod memory;
mod pool;
mod profiling;
mod sabotage;
mod signal;
mod statistics;
mod topology;
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
    /// Its fault, in one sentence.
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
        topology::ALL,
        facts::ALL,
        growable::ALL,
        import::ALL,
        external_timepoint::ALL,
        host_call::ALL,
        collective::ALL,
        command_buffer::ALL,
        event::ALL,
        dispatch::ALL,
        indirect::ALL,
        executable::ALL,
        linking::ALL,
        lifetime::ALL,
        profiling::ALL,
        device::ALL,
    ]
    .concat()
}

/// A wrapper that breaks nothing. Every case must pass over it.
pub fn faithful() -> Saboteur {
    struct Faithful;
    impl Sabotage for Faithful {}
    Saboteur { name: "faithful", breaks: "Nothing is broken.", kills: &[], sabotage: || Arc::new(Faithful) }
}

/// A wrapper whose devices refuse every call. A case that passes over it calls no driver.
pub fn refusing() -> Saboteur {
    Saboteur {
        name: "refusing",
        breaks: "Everything is refused.",
        kills: &[],
        sabotage: || Arc::new(device::Refusing),
    }
}

impl Saboteur {
    /// Wraps `driver`. The wrapper has the same scheme, and differs only in this saboteur's fault.
    pub fn over(&self, driver: Arc<dyn Driver>) -> Arc<dyn Driver> {
        Arc::new(Saboteured { driver, sabotage: (self.sabotage)() })
    }

    /// The features that the device must have so that all `kills` can fail.
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

    /// The verdict of one case over this saboteur.
    pub fn verdict(&self, driver: Arc<dyn Driver>, uri: &str, case: &str) -> Verdict {
        verdict(self.over(driver), uri, case, &[])
    }

    /// Runs the cases that must fail over the sabotaged `driver`, opened as `uri`. Returns those that did not fail in
    /// five tries.
    pub fn survives(&self, driver: Arc<dyn Driver>, uri: &str) -> Vec<(&'static str, Verdict)> {
        self.survives_with(driver, uri, &[])
    }

    /// [`survives`](Self::survives) over a driver that runs no AMD code objects, with the suite's kernels in its
    /// format.
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

/// The number of tries of a case. Whether some faults show depends on which thread comes first.
const TRIES: u32 = 5;

/// The timeout of a case. Some saboteurs show by a deadline of half this time.
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
