// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass bundle`: writes code objects and the entries of bundles as one bundle.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use windlass_codeobject::{
    Bundle as Source, BundleWriter, Compression, Container, EntryKind, EntryTarget, TargetId, WriteError,
    WriteOptions,
};

use super::{
    escape,
    failure::{Failure, Outcome, note},
    input, output,
};

/// Options of `bundle`.
#[derive(Args)]
pub(crate) struct Bundle {
    /// Code objects, whose target is read from the ELF; `ID=FILE` or `TARGET=FILE` to state the target; or files with
    /// bundles, whose entries are copied
    #[arg(required_unless_present = "entry", value_name = "INPUT")]
    inputs: Vec<String>,
    /// A file under an id, written unchanged, such as hipv4-amdgcn-amd-amdhsa--gfx942=k.co; comes after the inputs
    #[arg(long, value_name = "ID=FILE")]
    entry: Vec<String>,
    /// Where to write the bundle
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The compression method
    #[arg(long, value_enum, default_value = "none")]
    compress: Method,
    /// The compression level: for zstd 1 to 22, or less than 0 for speed (default 3); for zlib 0 to 9 (default 6)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    level: Option<i32>,
    /// The version of a compressed bundle's header. ROCm 6.4 and 7.0 write 2, the default, up to 4 GiB; ROCm 7.1 and
    /// later write 3; 1 is old
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=3))]
    ccob_version: Option<u16>,
    /// Begin each image at a multiple of this many bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4096)]
    align: u64,
    /// Write no empty host entry in front
    #[arg(long, conflicts_with = "host_triple")]
    no_host: bool,
    /// The triple of the host entry; by default that of the first bundle among the inputs, else
    /// x86_64-unknown-linux-gnu-
    #[arg(long, value_name = "TRIPLE")]
    host_triple: Option<String>,
    /// Take only this bundle of inputs with several, as `inspect` numbers them
    #[arg(long, value_name = "N")]
    bundle: Option<usize>,
    /// Also write entries that are no code object for their id: bitcode, SPIR-V, objects of the compiler
    #[arg(long)]
    unchecked: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Method {
    None,
    Zstd,
    Zlib,
}

/// An entry to write.
struct Item {
    /// `None` if the target is read from the code object.
    id: Option<Id>,
    bytes: Vec<u8>,
    /// The file of the entry, for messages.
    from: String,
    /// Whether that file has several bundles.
    several: bool,
    /// Whether the bytes may be something that no loader takes, such as bitcode.
    unchecked: bool,
}

enum Id {
    Whole(String),
    Target(TargetId),
}

impl Bundle {
    /// Writes the bundle and prints its content.
    pub(crate) fn run(self) -> Outcome {
        for path in self.paths() {
            if output::is_same_file(path, &self.output) {
                return Err(Failure::input(format!(
                    "-o {}: this is an input file, which would be overwritten; name another file",
                    escape::path(&self.output)
                )));
            }
        }
        let (items, found_host) = self.gather()?;
        let mut writer = BundleWriter::new();
        for item in &items {
            item.add(&mut writer, self.unchecked)
                .map_err(|error| self.refuse(item, &error, &writer, &items))?;
        }
        let options = self.options(found_host)?;
        let bytes = writer.write(&options).map_err(|error| Failure::input(error.to_string()))?;
        output::write_file(&self.output, &bytes)?;
        self.tell(&writer, &options, &bytes);
        Ok(())
    }

    /// The error for an input that cannot be added, naming the other input of a conflict.
    fn refuse(&self, item: &Item, error: &WriteError, writer: &BundleWriter<'_>, items: &[Item]) -> Failure {
        let mut message = format!("{}: {error}", item.from);
        match error {
            WriteError::Duplicate { first, .. } | WriteError::MixedFeatures { first, .. } => {
                let other = writer.entries().position(|(id, _)| id == first).and_then(|at| items.get(at));
                if let Some(other) = other {
                    message.push_str(&format!("\n  the first of them is from {}", other.from));
                }
                if self.bundle.is_none() && item.several {
                    message.push_str("\n  --bundle N takes one bundle of a file with several");
                }
            }
            WriteError::NotForTarget { .. } => message.push_str("\n  --unchecked writes it anyway"),
            _ => {}
        }
        Failure::input(message)
    }

    fn options(&self, found_host: Option<String>) -> Outcome<WriteOptions> {
        let mut options = WriteOptions::default();
        options.align = self.align;
        match self.ccob_version {
            Some(_) if self.compress == Method::None => {
                return Err(Failure::input(
                    "--ccob-version applies to compressed bundles; give --compress zstd or zlib with it",
                ));
            }
            Some(version) => options.ccob_version = version,
            None => {}
        }
        options.compression = match (self.compress, self.level) {
            (Method::None, Some(_)) => {
                return Err(Failure::input(
                    "--level applies to compressed bundles; give --compress zstd or zlib with it",
                ));
            }
            (Method::None, None) => Compression::None,
            (Method::Zstd, None) => Compression::ZSTD,
            (Method::Zstd, Some(level)) => Compression::Zstd { level },
            (Method::Zlib, None) => Compression::ZLIB,
            (Method::Zlib, Some(level)) => Compression::Zlib {
                level: u32::try_from(level)
                    .map_err(|_| Failure::input(format!("--level {level}: zlib has levels 0 to 9")))?,
            },
        };
        if self.no_host {
            options.host = None;
        } else if let Some(triple) = &self.host_triple {
            options.host = Some(format!("host-{triple}"));
        } else if found_host.is_some() {
            options.host = found_host;
        }
        Ok(options)
    }

    /// The files of all inputs.
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let inputs = self.inputs.iter().map(|text| split_input(text).map_or(text.as_str(), |(_, path)| path));
        let entries = self.entry.iter().filter_map(|text| text.split_once('=')).map(|(_, path)| path);
        inputs.chain(entries).map(Path::new)
    }

    /// The entries of all inputs, and the id of the first empty host entry among them.
    fn gather(&self) -> Outcome<(Vec<Item>, Option<String>)> {
        let mut items = Vec::new();
        let mut host = None;
        for text in &self.inputs {
            match split_input(text) {
                Some((id, path)) => items.push(whole_file(id, path)?),
                None => self.take_over(Path::new(text), &mut items, &mut host)?,
            }
        }
        for text in &self.entry {
            let (id, path) = text
                .split_once('=')
                .ok_or_else(|| Failure::input(format!("--entry {text}: write it like ID=FILE")))?;
            items.push(whole_file(Id::Whole(id.to_owned()), path)?);
        }
        Ok((items, host))
    }

    /// All entries of a file with code.
    fn take_over(&self, path: &Path, items: &mut Vec<Item>, host: &mut Option<String>) -> Outcome {
        let input = input::open(path)?;
        let file = input::file(&input)?;
        let bundles = input::bundles(path, &file, self.bundle)?;
        for bundle in bundles {
            Self::take_bundle(path, bundle, file.bundles().len() > 1, items, host)?;
        }
        Ok(())
    }

    fn take_bundle(
        path: &Path,
        bundle: &Source<'_>,
        several: bool,
        items: &mut Vec<Item>,
        host: &mut Option<String>,
    ) -> Outcome {
        for (index, entry) in bundle.entries().iter().enumerate() {
            let from = format!("{}, bundle {}, entry {index}", escape::path(path), bundle.index());
            if *entry.kind() == EntryKind::Host && entry.size() == 0 {
                host.get_or_insert_with(|| entry.id_text());
                continue;
            }
            let bytes = bundle.extract(index).map_err(|error| Failure::input(format!("{from}: {error}")))?;
            let id = match (bundle.container(), entry.target()) {
                // The id of such an entry is only its target. If it states features, the written entry states them as
                // well.
                (Container::RawElf | Container::Kpack { .. }, EntryTarget::Gpu(target))
                    if target.features().next().is_some() =>
                {
                    Some(Id::Target(target.clone()))
                }
                (Container::RawElf | Container::Kpack { .. }, _) => None,
                _ => Some(Id::Whole(entry.id_text())),
            };
            let unchecked = !matches!(entry.target(), EntryTarget::Gpu(_));
            items.push(Item { id, bytes, from, several, unchecked });
        }
        Ok(())
    }

    /// Prints the content of the written bundle.
    fn tell(&self, writer: &BundleWriter<'_>, options: &WriteOptions, bytes: &[u8]) {
        let how = match self.compress {
            Method::None => "offload bundle".to_owned(),
            Method::Zstd => format!("compressed offload bundle (CCOB v{}, zstd)", options.ccob_version),
            Method::Zlib => format!("compressed offload bundle (CCOB v{}, zlib)", options.ccob_version),
        };
        note(&format!("{}: {how}", escape::path(&self.output)));
        let has_host = writer.entries().any(|(id, _)| id.starts_with("host-"));
        let host = options.host.as_deref().filter(|_| !has_host).map(|id| (id, 0));
        let width = writer.entries().map(|(_, size)| size.to_string().len()).max().unwrap_or(0);
        for (index, (id, size)) in host.into_iter().chain(writer.entries()).enumerate() {
            note(&format!("  entry {index:<2}  {size:>width$} bytes  {id}"));
        }
        let code: u64 = writer.entries().map(|(_, size)| size).sum();
        let ratio = code as f64 / bytes.len() as f64;
        note(&format!("{code} bytes of code in {} bytes (ratio {ratio:.2})", bytes.len()));
    }
}

impl Item {
    fn add<'a>(&'a self, writer: &mut BundleWriter<'a>, unchecked: bool) -> Result<(), WriteError> {
        let added = match &self.id {
            None => writer.add_code_object(&self.bytes),
            Some(Id::Target(target)) if unchecked => {
                let id = format!("hipv4-amdgcn-amd-amdhsa--{target}");
                writer.add_unchecked(&id, &self.bytes)
            }
            Some(Id::Target(target)) => writer.add_target(&EntryKind::HipV4, target, &self.bytes),
            Some(Id::Whole(id)) if unchecked || self.unchecked => writer.add_unchecked(id, &self.bytes),
            Some(Id::Whole(id)) => writer.add(id, &self.bytes),
        };
        added.map(drop)
    }
}

/// The parts of `ID=FILE` or `TARGET=FILE`; `None` for a path.
fn split_input(text: &str) -> Option<(Id, &str)> {
    let (id, path) = text.split_once('=')?;
    let kinds = ["host-", "hip-", "hipv4-", "openmp-", "hcc-"];
    if kinds.iter().any(|kind| id.starts_with(kind)) {
        return Some((Id::Whole(id.to_owned()), path));
    }
    let target = id.parse().ok().filter(|target: &TargetId| target.processor().starts_with("gfx"))?;
    Some((Id::Target(target), path))
}

fn whole_file(id: Id, path: &str) -> Outcome<Item> {
    let bytes = input::read(Path::new(path))?;
    Ok(Item { id: Some(id), bytes, from: path.to_owned(), several: false, unchecked: false })
}
