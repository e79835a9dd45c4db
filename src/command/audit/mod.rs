// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass audit`: which GPUs the code in files and folders serves, and which it does not. The verdict is per bundle
//! ([`slot`]) and per file ([`unit`]).

mod aotriton;
mod examine;
mod images;
mod miopen;
mod packed;
mod report;
mod search;
mod slot;
#[cfg(feature = "miopen")]
mod sqlite;
mod store;
mod text;
mod unit;

use std::path::PathBuf;

use clap::Args;
use windlass_codeobject::Options;

use self::{report::Report, search::Search};
use super::{
    asked, escape,
    failure::{Failure, Outcome},
    input, output,
};

/// Options of `audit`.
#[derive(Args)]
#[command(after_long_help = "\
    Files are known by their content: host libraries, executables, objects and archives, code objects, bundles, kpack \
    archives, IREE's modules, AOTriton's images, MIOpen's databases, zstd, gzip, xz and bzip2 streams of these, and the \
    members of wheels. Links in folders are not followed. Files for one target each \
    count as one file (*) if their paths differ in the target alone.\n\n\
    Zip files are examined member by member, also inside of each other and behind a script or other bytes without code. \
    Tar files and packages of Debian, RPM and conda are reported, and not examined, which is exit code 1. SPIR-V alone serves no GPU.\n\n\
    A target without features stands for every mode of them. The report names the modes that a file serves if it does not \
    serve all. For a single mode, write gfx90a:xnack-.\n\n\
    Exit codes: 0 every target has code in every file with GPU code, for one of its modes at least; 1 a target has no \
    code in a file, or a file is damaged, cannot be read, is not examined, or is named and has no code; 2 the command line is wrong, or there is no GPU code at all.")]
pub(crate) struct Audit {
    /// Files and folders
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The GPUs to be served, such as gfx1031,gfx1100 or gfx90a:xnack+; `compat` among them means --compat
    #[arg(long, value_name = "TARGET,...", value_delimiter = ',', required = true)]
    targets: Vec<String>,
    /// Also count code of another processor of the same ISA-compatible family, which patched builds of ROCm load
    #[arg(long)]
    compat: bool,
    /// Print JSON, which holds everything
    #[arg(long)]
    json: bool,
}

impl Audit {
    /// Prints the report. The outcome is the verdict.
    pub(crate) fn run(self) -> Outcome {
        let mut options = Options::default();
        options.max_unpacked = input::LONGEST;
        let (targets, compat) = asked::targets("--targets", &self.targets)?;
        options.compatible_families = self.compat || compat;
        for path in &self.paths {
            path.metadata()
                .map_err(|error| Failure::input(format!("cannot read {}: {error}", escape::path(path))))?;
        }
        let found = Search::new(&targets, &options).all(&self.paths);
        let report = Report::new(&targets, &options, found);
        if self.json {
            output::write_json(&report)?;
        } else {
            output::write(&report.text())?;
        }
        report.judge()
    }
}
