// SPDX-License-Identifier: MIT OR Apache-2.0
//! Extracts one target from a fat binary, compared with libzstd alone.
//!
//! `cargo bench -p windlass-codeobject --bench extract` measures with criterion. With `-- table` it prints the table
//! of `docs/benchmarks.md` instead: the two alternate, and each ratio is the median over the pairs. Real files come
//! from `WINDLASS_FIXTURES`, and are skipped if it is unset; one bundle is generated here.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::{
    env, fs,
    hint::black_box,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use cpu_time::ThreadTime;
use criterion::Criterion;
use windlass_codeobject::{BundleWriter, Compression, Container, File, Method, Options, WriteOptions};
use zstd::zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

const AGENTS: [&str; 3] = ["gfx1030", "gfx1100", "gfx942:sramecc+:xnack-"];
const FILES: [&str; 4] = [
    "fatbin/libbitsandbytes_rocm64.hip_fatbin",
    "fatbin/libbitsandbytes_rocm71.hip_fatbin",
    "fatbin/many2000.compressed.hipfb",
    "fatbin/roofline-ubuntu22_04-rocm7",
];
const PAIRS: usize = 41;

/// A file, whole.
struct Case {
    name: String,
    bytes: Vec<u8>,
}

/// The place of a target's entry: the number of its bundle, and its end in the unpacked bundle.
#[derive(Clone, Copy)]
struct EntryPlace {
    bundle: usize,
    end: u64,
}

impl Case {
    fn named(name: &str) -> Option<Case> {
        let bytes = match name.strip_prefix("made") {
            Some(rest) => made(rest != " (plain)"),
            None => {
                fs::read(env::var_os("WINDLASS_FIXTURES").map(std::path::PathBuf::from)?.join(name)).ok()?
            }
        };
        Some(Case { name: name.to_owned(), bytes })
    }

    /// The file up to the first bundle with an entry for the target, and the entry's index.
    fn find(&self, agent: &str) -> Option<(File<'_>, usize)> {
        let (options, agent) = (Options::default(), agent.parse().ok()?);
        let mut best = None;
        let file = File::parse_until(&self.bytes, &options, |bundle| {
            best = bundle.select(&agent, &options).best;
            best.is_some()
        });
        Some((file.ok()?, best?))
    }

    /// The measured work: from the bytes of the file to the image of one target.
    fn extract(&self, agent: &str) -> Option<EntryPlace> {
        let (file, best) = self.find(agent)?;
        let bundle = file.bundles().last()?;
        black_box(bundle.take_image(best).ok()?);
        let entry = &bundle.entries()[best];
        Some(EntryPlace { bundle: bundle.index(), end: entry.offset() + entry.size() })
    }

    /// The zstd payload of a bundle and its unpacked size; `None` if it has none.
    fn payload(&self, bundle: usize) -> Option<(&[u8], usize)> {
        let file = File::parse(&self.bytes, &Options::default()).ok()?;
        let bundle = &file.bundles()[bundle];
        let Container::Ccob { version, method: Method::Zstd } = bundle.container() else { return None };
        let header = [20, 24, 32][usize::from(version) - 1];
        let start = usize::try_from(bundle.offset()).ok()?;
        let end = start + usize::try_from(bundle.stored_size()).ok()?;
        Some((&self.bytes[start + header..end], usize::try_from(bundle.unpacked_size()?).ok()?))
    }
}

/// libzstd alone: a fresh vector for the whole content, which is also the window, decoded block by block up to the
/// wanted byte.
fn libzstd(payload: &[u8], content: usize, end: usize) {
    let mut context = DCtx::create();
    context.set_parameter(DParameter::WindowLogMax(31)).expect("a parameter that zstd has");
    context.set_parameter(DParameter::StableOutBuffer(true)).expect("a parameter that zstd has");
    let mut out: Vec<u8> = Vec::with_capacity(content);
    let (mut position, mut next) = (0, 5);
    while out.len() < end {
        let mut input = InBuffer::around(&payload[position..(position + next).min(payload.len())]);
        let filled = out.len();
        next = context
            .decompress_stream(&mut OutBuffer::around_pos(&mut out, filled), &mut input)
            .expect("a sound payload");
        position += input.pos();
        if next == 0 {
            break;
        }
    }
    assert!(out.len() >= end, "the payload ends too early");
    black_box(out);
}

/// Eight targets of 3 MB each: common words with rare ones between, similar from target to target, like code.
fn made(compressed: bool) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let words: Vec<u32> = (0..4096).map(|_| random() as u32).collect();
    let mut code: Vec<u32> = (0..3 << 18)
        .map(|_| match random() {
            rare if rare % 8 == 0 => rare as u32,
            common => words[(common >> 32) as usize % 512 * (common as usize >> 8 & 7)],
        })
        .collect();
    let flags = [("gfx900", 0x12c), ("gfx906", 0x12f), ("gfx90a", 0x53f), ("gfx942", 0x54c)];
    let more = [("gfx1030", 0x36), ("gfx1100", 0x41), ("gfx1200", 0x48), ("gfx1201", 0x4e)];
    let images: Vec<(String, Vec<u8>)> = [more, flags]
        .concat()
        .into_iter()
        .map(|(target, flags)| {
            for _ in 0..code.len() / 16 {
                let at = random() as usize % code.len();
                code[at] = random() as u32;
            }
            let mut elf: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
            elf[..64].fill(0);
            elf[..9].copy_from_slice(b"\x7fELF\x02\x01\x01\x40\x02");
            elf[16..20].copy_from_slice(&[3, 0, 224, 0]);
            elf[20] = 1;
            elf[48..52].copy_from_slice(&u32::to_le_bytes(flags));
            elf[52] = 64;
            (format!("hipv4-amdgcn-amd-amdhsa--{target}"), elf)
        })
        .collect();
    let mut writer = BundleWriter::new();
    writer.add_unchecked("host-x86_64-unknown-linux-gnu-", b"").expect("an id that may be");
    for (id, elf) in &images {
        writer.add_unchecked(id, elf).expect("an id that may be");
    }
    let mut options = WriteOptions::default();
    options.align = 4096;
    if compressed {
        options.compression = Compression::ZSTD;
    }
    writer.write(&options).expect("a bundle")
}

fn cases() -> Vec<Case> {
    let names = FILES.into_iter().chain(["made", "made (plain)"]);
    names
        .filter_map(|name| {
            let case = Case::named(name);
            if case.is_none() {
                eprintln!("{name} is skipped: not found; WINDLASS_FIXTURES names the folder of real files");
            }
            case
        })
        .collect()
}

fn benchmarks(criterion: &mut Criterion) {
    for case in cases() {
        for agent in AGENTS {
            let Some(place) = case.extract(agent) else { continue };
            let mut group = criterion.benchmark_group(format!("{}/{agent}", case.name));
            group.bench_function("extract", |bencher| bencher.iter(|| case.extract(agent)));
            if let Some((payload, content)) = case.payload(place.bundle) {
                group.bench_function("libzstd", |bencher| {
                    bencher.iter(|| libzstd(payload, content, place.end as usize));
                });
            } else {
                group.bench_function("choose", |bencher| bencher.iter(|| case.find(agent)));
            }
            group.finish();
        }
    }
}

/// The CPU time of the work, with kernel time; other load does not count.
fn timed<R>(work: impl FnOnce() -> R) -> f64 {
    let start = ThreadTime::now();
    black_box(work());
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn table() {
    println!(
        "| file -> target | entry ends at | extract | libzstd to there | ratio | peak beyond the end | clang-offload-bundler-19 |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut plain = String::new();
    for case in cases() {
        for agent in AGENTS {
            let Some(EntryPlace { bundle, end }) = case.extract(agent) else { continue };
            let Some((payload, content)) = case.payload(bundle) else {
                let times = (0..PAIRS * 10).map(|_| timed(|| case.find(agent))).collect();
                plain.push_str(&format!("| {} -> {agent} | {:.1} us |\n", case.name, median(times) * 1e6));
                continue;
            };
            let mut pairs = Vec::new();
            for index in 0..PAIRS + 2 {
                let mut theirs = 0.0;
                if index % 2 == 0 {
                    theirs = timed(|| libzstd(payload, content, end as usize));
                }
                let ours = timed(|| case.extract(agent));
                if index % 2 == 1 {
                    theirs = timed(|| libzstd(payload, content, end as usize));
                }
                if index >= 2 {
                    pairs.push((ours, theirs));
                }
            }
            println!(
                "| {} -> {agent} | bundle {bundle}, {:.2} MB, {:.0} % | {:.2} ms | {:.2} ms | {:.2} | {} | {} |",
                case.name,
                end as f64 / 1e6,
                100.0 * end as f64 / content as f64,
                median(pairs.iter().map(|pair| pair.0).collect()) * 1e3,
                median(pairs.iter().map(|pair| pair.1).collect()) * 1e3,
                median(pairs.iter().map(|pair| pair.0 / pair.1).collect()),
                peak(&case.name, agent, end).unwrap_or_else(|| "unknown".to_owned()),
                bundler(&case, bundle, agent).unwrap_or_else(|| "cannot".to_owned()),
            );
        }
    }
    println!("\n| uncompressed file -> target | listed and chosen in |\n|---|---|\n{plain}");
}

/// The peak memory of a process of its own, minus the bytes up to the end of the entry.
fn peak(case: &str, agent: &str, end: u64) -> Option<String> {
    let child = Command::new(env::current_exe().ok()?).args(["peak", case, agent]).output().ok()?;
    let taken: f64 = String::from_utf8(child.stdout).ok()?.trim().parse().ok()?;
    Some(format!("{:+.2} MB", (taken - end as f64) / 1e6))
}

/// The child of [`peak`]: prints the maximum growth of the resident memory.
fn print_peak(case: &str, agent: &str) {
    let field = |name: &str| -> u64 {
        let status = fs::read_to_string("/proc/self/status").expect("Linux");
        let line = status.lines().find(|line| line.starts_with(name)).expect("a field of Linux");
        line.split_whitespace().nth(1).expect("a number").parse::<u64>().expect("a number") << 10
    };
    let case = Case::named(case).expect("the parent found it");
    // Loads the decoder's code first.
    assert!(File::parse(&case.bytes, &Options::default()).is_ok(), "the parent parsed it");
    fs::write("/proc/self/clear_refs", "5").expect("Linux");
    let before = field("VmRSS");
    assert!(case.extract(agent).is_some(), "the parent extracted it");
    println!("{}", field("VmHWM") - before);
}

/// LLVM's tool on the same bundle, as a process with its files.
fn bundler(case: &Case, bundle: usize, agent: &str) -> Option<String> {
    let folder = env::temp_dir().join(format!("windlass-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).ok()?;
    let (input, output) = (folder.join("in"), folder.join("out"));
    let result = (|| {
        let options = Options::default();
        let file = File::parse(&case.bytes, &options).ok()?;
        let bundle = &file.bundles()[bundle];
        let start = usize::try_from(bundle.offset()).ok()?;
        fs::write(&input, &case.bytes[start..start + usize::try_from(bundle.stored_size()).ok()?]).ok()?;
        let best = bundle.select(&agent.parse().ok()?, &options).best?;
        let id = bundle.entries()[best].id_text();
        let mut times = Vec::new();
        for _ in 0..5 {
            let start = Instant::now();
            let status = Command::new("clang-offload-bundler-19")
                .args(["--unbundle", "--type=o", &format!("--targets={id}")])
                .arg(format!("--input={}", input.display()))
                .arg(format!("--output={}", output.display()))
                .stderr(Stdio::null())
                .status()
                .ok()?;
            times.push(start.elapsed().as_secs_f64());
            if !status.success() {
                return None;
            }
        }
        Some(format!("{:.0} ms, a process", median(times) * 1e3))
    })();
    let _ = fs::remove_dir_all(&folder);
    result
}

fn main() {
    let words: Vec<String> = env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["table"] => table(),
        ["peak", case, agent] => print_peak(case, agent),
        _ => {
            let mut criterion = Criterion::default()
                .sample_size(20)
                .warm_up_time(Duration::from_millis(300))
                .measurement_time(Duration::from_secs(1))
                .configure_from_args();
            benchmarks(&mut criterion);
            criterion.final_summary();
        }
    }
}
