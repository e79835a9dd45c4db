// SPDX-License-Identifier: MIT OR Apache-2.0
//! One C source, compiled by clang for x86-64 and for each simulated GPU, gives the same results.
//!
//! `build.sh` makes the checked-in files: `inputs.bin`, the kernels' arguments; `expected.bin`, their results
//! on x86-64; `kernels.txt`, their names with the number of words that each work-item writes; and the code
//! objects for the GPUs, compiled without optimisation and with, those for the older ones as code objects v4 and v5.
//! Float results are compared bit by bit, a NaN as a NaN.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use windlass_codeobject::{EntryTarget, File, Options as FileOptions};
use windlass_simulated_gpu::Part;
use windlass_simulated_gpu::engine::{Engine, Fault, Launch, Module, unsupported};
use windlass_simulated_gpu::memory::{AllocationKind, Memory, MemoryOptions};

/// The same constants as in `src/twin.h`.
const BLOCK: u32 = 80;
const GROUPS: u32 = 2;
const PARAMS: usize = 32;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/twins")
}

fn read(name: &str) -> Vec<u8> {
    let path = folder().join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// The code object for a part in a bundle.
fn code_object(name: &str, part: &Part) -> Vec<u8> {
    let bytes = read(name);
    let file = File::parse(&bytes, &FileOptions::default()).unwrap();
    let bundle = file.bundles().first().expect("a bundle");
    let is_gpu =
        |target: &EntryTarget| matches!(target, EntryTarget::Gpu(target) if part.runs(target.processor()));
    let index = bundle.entries().iter().position(|entry| is_gpu(entry.target())).expect("code for a GPU");
    bundle.image(index).unwrap().into_owned()
}

/// A kernel, the number of words that each work-item writes, and all words on x86-64.
struct Twin {
    name: String,
    expected: Vec<u32>,
}

fn twins() -> Vec<Twin> {
    let list = String::from_utf8(read("kernels.txt")).unwrap();
    let expected = words(&read("expected.bin"));
    let mut expected = expected.into_iter();
    let twins: Vec<Twin> = list
        .lines()
        .map(|line| {
            let (name, own) = line.split_once(' ').expect("a name and a number");
            let count = own.parse::<u32>().unwrap() * BLOCK * GROUPS;
            Twin { name: name.to_owned(), expected: expected.by_ref().take(count as usize).collect() }
        })
        .collect();
    assert_eq!(expected.next(), None, "kernels.txt and expected.bin are not of one make");
    twins
}

struct Gpu {
    memory: Arc<Memory>,
    engine: Arc<Engine>,
    module: Arc<Module>,
    params: Vec<u8>,
    input: u64,
}

impl Gpu {
    fn new(code: &str, part: &'static Part) -> Self {
        let memory = Memory::new(MemoryOptions { capacity: 64 << 20, ..MemoryOptions::default() }).unwrap();
        let object = code_object(code, part);
        assert_eq!(unsupported(&object).unwrap(), [], "{code} on {}", part.name());
        let module = Module::load(part, &memory, &object).unwrap();
        let inputs = read("inputs.bin");
        let (params, input) = inputs.split_at(PARAMS);
        let address = memory.allocate(input.len() as u64, 256, AllocationKind::Device, "input").unwrap();
        memory.write(address, input).unwrap();
        Self { memory, engine: Engine::new(2), module, params: params.to_vec(), input: address }
    }

    /// The words that a kernel writes on the simulated GPU.
    fn run(&self, twin: &Twin) -> Result<Vec<u32>, Box<Fault>> {
        let mut output = vec![0; twin.expected.len() * 4];
        let address =
            self.memory.allocate(output.len() as u64, 256, AllocationKind::Device, "output").unwrap();
        self.memory.write(address, &output).unwrap();
        let kernel = self.module.kernel(&twin.name).unwrap_or_else(|| panic!("no kernel {}", twin.name));
        let mut arguments = [self.input.to_le_bytes(), address.to_le_bytes()].concat();
        arguments.extend(&self.params);
        let launch = Launch::new([GROUPS, 1, 1], [BLOCK, 1, 1], &arguments);
        self.engine.dispatch(&self.memory, &kernel, &launch)?;
        self.memory.read(address, &mut output).unwrap();
        self.memory.free(address).unwrap();
        Ok(words(&output))
    }
}

/// The first difference in a kernel's results, if there is one.
fn difference(gpu: &Gpu, twin: &Twin) -> Option<String> {
    let got = match gpu.run(twin) {
        Ok(got) => got,
        Err(fault) => return Some(fault.to_string()),
    };
    let wrong: Vec<usize> = (0..got.len()).filter(|&at| got[at] != twin.expected[at]).collect();
    let first = *wrong.first()?;
    let own = got.len() / (BLOCK * GROUPS) as usize;
    Some(format!(
        "{} of {} words differ; first: word {} of work-item {} is {:#x}, on x86-64 {:#x}",
        wrong.len(),
        got.len(),
        first % own,
        first / own,
        got[first],
        twin.expected[first]
    ))
}

/// The part that each instruction set is named after. Others have the same instructions. gfx1011 has those of gfx1010 and dot
/// products, which no kernel here uses; clang 19 does not compile for gfx950.
fn parts() -> impl Iterator<Item = &'static Part> {
    let named = || Part::all().iter().filter(|part| part.instructions().name() == part.name());
    for part in Part::all() {
        assert!(named().any(|other| other.instructions() == part.instructions()), "{}", part.name());
    }
    named().filter(|part| !["gfx1011", "gfx950"].contains(&part.name()))
}

fn agree(code: &str, parts: impl IntoIterator<Item = &'static Part>) {
    let twins = twins();
    assert!(twins.len() >= 100, "{} kernels", twins.len());
    for part in parts {
        let gpu = Gpu::new(code, part);
        let differing: Vec<String> = twins
            .iter()
            .filter_map(|twin| Some(format!("{}: {}", twin.name, difference(&gpu, twin)?)))
            .collect();
        assert!(differing.is_empty(), "{code} on {}:\n{}", part.name(), differing.join("\n"));
    }
}

#[test]
fn unoptimised_kernels_agree() {
    agree("kernels.O0.ccob", parts());
}

#[test]
fn optimised_kernels_agree() {
    agree("kernels.O3.ccob", parts());
}

#[test]
fn kernels_in_waves_of_64_lanes_agree() {
    for code in ["kernels.O0.wave64.ccob", "kernels.O3.wave64.ccob"] {
        agree(code, parts().filter(|part| part.wave_sizes().count() == 2));
    }
}

#[test]
fn a_difference_is_found() {
    let gpu = Gpu::new("kernels.O3.ccob", Part::named("gfx942").unwrap());
    let mut twin = twins().into_iter().find(|twin| twin.name == "recursion").unwrap();
    assert_eq!(difference(&gpu, &twin), None);
    twin.expected[100] ^= 1;
    assert!(difference(&gpu, &twin).unwrap().contains("word 0 of work-item 100"));
}

#[test]
#[allow(clippy::print_stderr)]
fn what_is_checked_in_is_what_clang_makes() {
    let script = folder().join("build.sh");
    let installed = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
    if !["clang-19", "clang-offload-bundler-19", "ld.lld-19"].into_iter().all(installed) {
        eprintln!("skipped: clang-19, clang-offload-bundler-19 and ld.lld-19 are not all installed");
        return;
    }
    let check = Command::new("bash").arg(script).arg("--check").output().unwrap();
    let said = String::from_utf8_lossy(&check.stdout).into_owned() + &String::from_utf8_lossy(&check.stderr);
    assert!(check.status.success(), "{said}");
}
