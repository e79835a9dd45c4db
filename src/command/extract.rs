// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass extract`: one code object of a file, as a file of its own.

use std::path::PathBuf;

use clap::Args;
use windlass_codeobject::Options;

use super::{
    failure::{Failure, Outcome, note},
    input, output,
};

/// Options of `extract`.
#[derive(Args)]
pub(crate) struct Extract {
    /// A code object, a fat binary (compressed or not), or a host object, library or executable with one
    file: PathBuf,
    /// What to extract code for, such as gfx942 or gfx942:sramecc+:xnack-
    #[arg(long, value_name = "TARGET")]
    target: String,
    /// Which bundle to take it from, as `inspect` numbers them; without it, the first that holds the target
    #[arg(long, value_name = "N")]
    bundle: Option<usize>,
    /// Where to write the code object
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Extract {
    /// Writes the best entry for the target.
    pub(crate) fn run(self) -> Outcome {
        let target = input::parse_target("--target", &self.target)?;
        let bytes = input::read(&self.file)?;
        let file = input::parse(&self.file, &bytes)?;
        let all = file.bundles();
        let bundles = match self.bundle {
            None => all,
            Some(index) => match all.iter().position(|bundle| bundle.index() == index) {
                Some(position) => &all[position..=position],
                None => {
                    return Err(Failure::input(format!(
                        "--bundle {index}: {} has {} bundle{}, numbered from 0",
                        self.file.display(),
                        all.len(),
                        if all.len() == 1 { "" } else { "s" }
                    )));
                }
            },
        };
        let mut refused = String::new();
        for bundle in bundles {
            let selection = bundle.select(&target, &Options::default());
            if let Some(index) = selection.best {
                let wrong = |error| Failure::input(format!("{}: {error}", self.file.display()));
                let image = bundle.image(index).map_err(wrong)?;
                output::write_file(&self.output, &image)?;
                let id = bundle.entries().get(index).map(|entry| entry.id_text()).unwrap_or_default();
                note(&format!(
                    "{}: {} bytes, entry {index} ({id}) of bundle {}",
                    self.output.display(),
                    image.len(),
                    bundle.index()
                ));
                return Ok(());
            }
            refused.push_str(&input::refusals(bundle, &selection));
        }
        Err(Failure::input(format!("{} holds no code for {target}{refused}", self.file.display())))
    }
}
