// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass extract`: writes one entry of a file to a file of its own.

use std::path::PathBuf;

use clap::Args;
use windlass_codeobject::{Bundle, Fit, Options, TargetId};

use super::{
    escape,
    failure::{Failure, Outcome, note},
    input, output,
};

/// Options of `extract`.
#[derive(Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["target", "entry", "id"]))]
pub(crate) struct Extract {
    /// A code object, a fat binary (compressed or not), a host object, library or executable with one, an archive of
    /// objects, a kpack archive, a module of IREE, or a wheel with any of these
    file: PathBuf,
    /// The target to extract code for, such as gfx942 or gfx942:sramecc+:xnack-
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// With --target: also take code of another processor of the same ISA-compatible family if there is no better
    #[arg(long, requires = "target")]
    compat: bool,
    /// Extract the entry of this number, of any kind, as `inspect` numbers them
    #[arg(long, value_name = "N")]
    entry: Option<usize>,
    /// Extract the first entry with this id, of any kind
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// The bundle to take the entry from, as `inspect` numbers them; by default the first that has the entry
    #[arg(long, value_name = "N")]
    bundle: Option<usize>,
    /// Where to write it
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Extract {
    /// Writes the entry to the output file.
    pub(crate) fn run(self) -> Outcome {
        let target = self.target.as_deref().map(|text| input::parse_target("--target", text)).transpose()?;
        if output::is_same_file(&self.file, &self.output) {
            return Err(Failure::input(format!(
                "-o {}: this is the input file, which would be overwritten; name another file",
                escape::path(&self.output)
            )));
        }
        let input = input::open_in_place(&self.file)?;
        let file = input::file_until(&input, |bundle| match (self.bundle, &target) {
            (Some(number), _) => bundle.index() == number,
            (None, Some(target)) => bundle.select(target, &self.options()).best.is_some(),
            (None, None) => self.position(bundle).is_some(),
        })?;
        let bundles = input::bundles(&self.file, &file, self.bundle)?;
        let (bundle, entry) = match (target, self.entry, &self.id) {
            (Some(target), ..) => self.for_target(bundles, &target)?,
            (None, Some(number), _) => self.by_number(bundles, number)?,
            (None, None, id) => self.by_id(bundles, id.as_deref().unwrap_or_default())?,
        };
        let wrong = |error| {
            let place = format!("{}, bundle {}, entry {entry}", escape::path(&self.file), bundle.index());
            Failure::input(escape::line(&format!("{place}: {error}")))
        };
        // Written from the decoder's memory: a copy would take as much memory again.
        let write = |image: &[u8]| {
            input::check(&input)?;
            output::write_file(&self.output, image).map(|()| image.len())
        };
        let size = bundle.with_image(entry, write).map_err(wrong)??;
        let id = bundle.entries().get(entry).map(|entry| entry.id_text()).unwrap_or_default();
        note(&format!(
            "{}: {size} bytes, entry {entry} ({}) of bundle {}",
            escape::path(&self.output),
            escape::line(&id),
            bundle.index()
        ));
        // As with `unzip`, damaged bytes are written and the exit code is a failure.
        bundle.damage().map_or(Ok(()), |damage| Err(Failure::failed(damage.to_owned())))
    }

    fn options(&self) -> Options {
        let mut options = Options::default();
        options.compatible_families = self.compat;
        options
    }

    /// The index of the entry that `--entry` or `--id` names.
    fn position(&self, bundle: &Bundle<'_>) -> Option<usize> {
        match (self.entry, &self.id) {
            (Some(number), _) => (number < bundle.entries().len()).then_some(number),
            (None, id) => bundle.entries().iter().position(|entry| Some(entry.id_text()) == *id),
        }
    }

    fn for_target<'f, 'a>(
        &self,
        bundles: &'f [Bundle<'a>],
        target: &TargetId,
    ) -> Outcome<(&'f Bundle<'a>, usize)> {
        let mut options = self.options();
        let mut refused = String::new();
        for bundle in bundles {
            let selection = bundle.select(target, &options);
            if let Some(entry) = selection.best {
                if selection.fit() == Some(Fit::Family) {
                    note(&format!(
                        "the code is for another processor: only a patched ROCm loads it on {target}"
                    ));
                }
                return Ok((bundle, entry));
            }
            refused.push_str(&input::refusals(bundle, &selection));
        }
        options.compatible_families = true;
        if bundles.iter().any(|bundle| bundle.select(target, &options).best.is_some()) {
            refused.push_str("\n  --compat takes code of a compatible processor");
        }
        Err(Failure::input(format!("{} holds no code for {target}{refused}", escape::path(&self.file))))
    }

    fn by_number<'f, 'a>(
        &self,
        bundles: &'f [Bundle<'a>],
        number: usize,
    ) -> Outcome<(&'f Bundle<'a>, usize)> {
        self.first(bundles).ok_or_else(|| {
            let most = bundles.iter().map(|bundle| bundle.entries().len()).max().unwrap_or(0);
            let have = input::count(most, "entry", "entries");
            let path = escape::path(&self.file);
            Failure::input(format!(
                "--entry {number}: a bundle of {path} has at most {have}, numbered from 0"
            ))
        })
    }

    fn first<'f, 'a>(&self, bundles: &'f [Bundle<'a>]) -> Option<(&'f Bundle<'a>, usize)> {
        bundles.iter().find_map(|bundle| Some((bundle, self.position(bundle)?)))
    }

    fn by_id<'f, 'a>(&self, bundles: &'f [Bundle<'a>], id: &str) -> Outcome<(&'f Bundle<'a>, usize)> {
        self.first(bundles).ok_or_else(|| {
            let ids: Vec<_> =
                bundles.iter().flat_map(|bundle| bundle.entries()).map(|entry| entry.id_text()).collect();
            let known = input::names(ids.iter().map(String::as_str));
            Failure::input(format!("--id {}: {} has {known}", escape::line(id), escape::path(&self.file)))
        })
    }
}
