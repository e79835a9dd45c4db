// SPDX-License-Identifier: MIT OR Apache-2.0
//! IREE's HAL as a peer: its tool replays a command buffer of the same shape, over the same HIP library or on the CPU.

use std::{
    cell::OnceCell,
    fmt::Write,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{program, ready::Ready};
use crate::command::bench::{
    row::Row,
    shape::Shape,
    stop::{Stop, Work},
    target::Target,
};

/// Advice for a machine without IREE.
const INSTALL: &str =
    "python3 -m pip install iree-base-runtime iree-base-compiler, and name that Python by --python";

/// The most buffers of a kernel in IREE's HIP driver.
const MOST_BINDINGS: u32 = 16;

/// Prints the folders of the two packages.
const FIND: &str = "import os, iree.runtime, iree.compiler\n\
                    print(os.path.join(os.path.dirname(os.path.dirname(iree.runtime.__file__)), '_runtime_libs'))\n\
                    print(os.path.join(os.path.dirname(iree.compiler.__file__), '_mlir_libs'))";

/// IREE's tools, searched for when a row first wants them.
pub(super) struct Iree {
    python: PathBuf,
    tools: OnceCell<Result<Tools, String>>,
}

#[derive(Clone)]
struct Tools {
    benchmark: PathBuf,
    compiler: PathBuf,
}

impl Iree {
    pub(super) fn new(python: &Path) -> Self {
        Self { python: python.to_owned(), tools: OnceCell::new() }
    }

    /// Compiles a kernel of the row's shape. `None` for rows that are no replay of direct buffers.
    pub(super) fn prepare(&self, row: &Row, target: &Target) -> Option<Work<Box<dyn Ready>>> {
        let shape = row.shape.filter(|shape| row.name.starts_with("dispatch/replay") && !shape.by_table)?;
        Some(self.ready(shape, target))
    }

    fn ready(&self, shape: Shape, target: &Target) -> Work<Box<dyn Ready>> {
        let tools = self.tools.get_or_init(|| find(&self.python)).clone().map_err(Stop::Lacks)?;
        let (device, compiler_flags) = flags(shape, target)?;
        let failed =
            |error: std::io::Error| Stop::Failed(format!("writing a file for iree-compile: {error}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let (source, code) = (folder.path().join("shape.mlir"), folder.path().join("shape.bin"));
        std::fs::write(&source, module(shape)).map_err(failed)?;
        let mut compile = Command::new(&tools.compiler);
        compile.arg("--compile-mode=hal-executable").args(compiler_flags).arg(&source).arg("-o").arg(&code);
        program::output(&mut compile)?;
        let architecture = &target.device.info().architecture;
        let processor = architecture.split(':').next().unwrap_or_default().to_owned();
        Ok(Box::new(Replay { tools, device, code, shape, processor, _folder: folder }))
    }
}

fn find(python: &Path) -> Result<Tools, String> {
    let lacks = |reason: String| format!("IREE is not there: {reason}; install it with {INSTALL}");
    let mut command = Command::new(python);
    let said = match program::output(command.args(["-c", FIND])) {
        Ok(said) => said,
        Err(Stop::Failed(reason)) => return Err(lacks(reason)),
        Err(_) => return Err(lacks("the Python was interrupted".to_owned())),
    };
    let mut folders = said.lines();
    let mut tool = |name: &str| {
        let path = PathBuf::from(folders.next().unwrap_or_default()).join(name);
        if path.exists() { Ok(path) } else { Err(lacks(format!("there is no {}", path.display()))) }
    };
    Ok(Tools { benchmark: tool("iree-benchmark-executable")?, compiler: tool("iree-compile")? })
}

/// The flags of IREE's tool for a device, and those of its compiler.
fn flags(shape: Shape, target: &Target) -> Work<(Vec<String>, Vec<String>)> {
    let scheme = target.uri.split("://").next().unwrap_or_default();
    match scheme {
        "local" => {
            let device = ["--device=local-sync", "--executable_format=embedded-elf-x86_64"];
            let compiler = [
                "--iree-hal-target-device=local",
                "--iree-hal-local-target-device-backends=llvm-cpu",
                "--iree-llvmcpu-target-cpu=generic",
            ];
            Ok((device.map(str::to_owned).to_vec(), compiler.map(str::to_owned).to_vec()))
        }
        "hip" | "hip-sim" if shape.bindings > MOST_BINDINGS => {
            Err(Stop::Lacks(format!("IREE's HIP driver takes at most {MOST_BINDINGS} buffers of a kernel")))
        }
        "hip" | "hip-sim" => {
            let library = library(target)?;
            let architecture = target.device.info().architecture.clone();
            let processor = architecture.split(':').next().unwrap_or_default();
            let device = vec![
                "--device=hip".to_owned(),
                format!("--hip_dylib_path=file:{}", library.display()),
                "--executable_format=rocm-hsaco-fb".to_owned(),
            ];
            let compiler =
                vec!["--iree-hal-target-device=hip".to_owned(), format!("--iree-rocm-target={processor}")];
            Ok((device, compiler))
        }
        "hip-null" => Err(Stop::Lacks(
            "the HIP of hip-null:// lies in this process, where IREE cannot find it; `cargo build --release \
             --manifest-path benches/null_hip/Cargo.toml` makes it a library, and --device \
             hip://?library=benches/null_hip/target/release measures both over that"
                .to_owned(),
        )),
        _ => Err(Stop::Lacks(format!("IREE has no device like {scheme}://"))),
    }
}

/// The file of the device's HIP library, which need not have the one name that IREE looks for in a folder.
#[cfg(feature = "hip")]
fn library(target: &Target) -> Work<PathBuf> {
    let path = target.hip.as_ref().and_then(|hip| hip.origin().path.clone());
    #[cfg(all(feature = "sim", target_os = "linux"))]
    let path = match path {
        // The simulator of this process is also a library.
        None => crate::command::exec::simulated_hip().map_err(Stop::Lacks).map(Some)?,
        path => path,
    };
    path.ok_or_else(|| Stop::Lacks("the HIP of the device is no file that IREE could load".to_owned()))
}

#[cfg(not(feature = "hip"))]
fn library(_: &Target) -> Work<PathBuf> {
    Err(Stop::Lacks("this build has no HIP".to_owned()))
}

/// A compiled shape.
struct Replay {
    tools: Tools,
    device: Vec<String>,
    code: PathBuf,
    shape: Shape,
    processor: String,
    _folder: tempfile::TempDir,
}

impl Ready for Replay {
    fn name(&self) -> String {
        let device = self.device.first().map_or("", |device| device.trim_start_matches("--device="));
        format!("IREE {device}, iree-benchmark-executable")
    }

    /// The tool submits a prepared command buffer and waits, and prints the time of a dispatch.
    fn sample(&self, time: Duration) -> Work<f64> {
        let Shape { bindings, constants, n, .. } = self.shape;
        let mut command = Command::new(&self.tools.benchmark);
        // The simulator's library learns the machine from the variable; other libraries do not read it.
        command.env("WINDLASS_SIM", &self.processor);
        command.args(&self.device).arg(format!("--executable_file={}", self.code.display()));
        command.args(["--entry_point=0", "--workgroup_count=1,1,1"]);
        command.args((0..bindings).map(|_| "--binding=64xi32"));
        command.args((0..constants).map(|_| "--constant=1"));
        command.arg(format!("--batch_size={n}"));
        command.arg(format!("--benchmark_min_time={}s", time.as_secs_f64().max(0.01)));
        parse(&program::output(&mut command)?)
    }
}

/// Nanoseconds from the line of the tool's output.
fn parse(text: &str) -> Work<f64> {
    let told = || Stop::Failed(format!("iree-benchmark-executable printed no time: {}", text.trim()));
    let words = text.lines().find_map(|line| line.split_once("real_time ")).ok_or_else(told)?.1;
    let mut words = words.split_whitespace();
    let (time, unit) = (words.next().ok_or_else(told)?, words.next().ok_or_else(told)?);
    let unit = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        _ => return Err(told()),
    };
    Ok(time.parse::<f64>().map_err(|_| told())? * unit)
}

/// One kernel that adds its inputs and its constants, in IREE's MLIR.
fn module(shape: Shape) -> String {
    const TENSOR: &str = "tensor<64xi32>";
    let (bindings, constants, last) = (shape.bindings, shape.constants, shape.bindings.saturating_sub(1));
    let slots = vec!["#hal.pipeline.binding<storage_buffer>"; bindings as usize].join(", ");
    let mut body = String::new();
    for index in 0..last {
        let kind = format!("!iree_tensor_ext.dispatch.tensor<readonly:{TENSOR}>");
        let _ = writeln!(
            body,
            "%from{index} = hal.interface.binding.subspan layout(#layout) binding({index}) alignment(32) : {kind}\n\
             %in{index} = iree_tensor_ext.dispatch.tensor.load %from{index}, offsets = [0], sizes = [64], strides = [1] : {kind} -> {TENSOR}"
        );
    }
    for index in 0..constants {
        let _ =
            writeln!(body, "%c{index} = hal.interface.constant.load layout(#layout) ordinal({index}) : i32");
    }
    let list = |name: &str| (0..last).map(|index| format!("%{name}{index}")).collect::<Vec<_>>().join(", ");
    let maps = vec!["affine_map<(d0) -> (d0)>"; bindings as usize].join(", ");
    let elements: Vec<_> = (0..last).map(|index| format!("%x{index}: i32")).collect();
    let inputs = match last {
        0 => String::new(),
        _ => format!("ins({} : {}) ", list("in"), vec![TENSOR; last as usize].join(", ")),
    };
    let elements = elements.into_iter().chain(["%old: i32".to_owned()]).collect::<Vec<_>>().join(", ");
    let mut sum = "%zero".to_owned();
    let mut adds = String::new();
    let terms =
        (0..last).map(|index| format!("%x{index}")).chain((0..constants).map(|index| format!("%c{index}")));
    for (index, term) in terms.enumerate() {
        let _ = writeln!(adds, "%sum{index} = arith.addi {sum}, {term} : i32");
        sum = format!("%sum{index}");
    }
    let out = format!("!iree_tensor_ext.dispatch.tensor<writeonly:{TENSOR}>");
    format!(
        "#layout = #hal.pipeline.layout<constants = {constants}, bindings = [{slots}]>\n\
         hal.executable.source public @shape {{\n\
         hal.executable.export public @add ordinal(0) layout(#layout) count(%device: !hal.device) -> (index, index, index) {{\n\
         %c1 = arith.constant 1 : index\n\
         hal.return %c1, %c1, %c1 : index, index, index\n\
         }}\n\
         builtin.module {{\n\
         func.func @add() {{\n\
         %zero = arith.constant 0 : i32\n\
         {body}\
         %to = hal.interface.binding.subspan layout(#layout) binding({last}) alignment(32) : {out}\n\
         %empty = tensor.empty() : {TENSOR}\n\
         %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = [\"parallel\"]}} {inputs}outs(%empty : {TENSOR}) {{\n\
         ^bb0({elements}):\n\
         {adds}\
         linalg.yield {sum} : i32\n\
         }} -> {TENSOR}\n\
         iree_tensor_ext.dispatch.tensor.store %y, %to, offsets = [0], sizes = [64], strides = [1] : {TENSOR} -> {out}\n\
         return\n\
         }}\n}}\n}}\n"
    )
}
