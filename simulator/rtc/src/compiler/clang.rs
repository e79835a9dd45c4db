// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compilation by a clang that is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::unit::{Link, Made, Unit};
use crate::child;
use crate::current;
use crate::folder::Folder;
use crate::headers;
use crate::target::Target;

/// A clang with its linker.
#[derive(Debug, Clone)]
pub(crate) struct Clang {
    pub(super) path: PathBuf,
    pub(super) linker: PathBuf,
    /// The folder of AMD's device libraries. Without them, hipRTC's header has what it needs of them.
    pub(super) libraries: Option<PathBuf>,
}

impl Clang {
    /// Whether it compiles an empty unit for the target. The error is what it says.
    pub(super) fn probe(&self, target: &Target) -> Result<(), String> {
        let failed = |error: std::io::Error| error.to_string();
        let folder = Folder::new().map_err(failed)?;
        let source =
            folder.write_source("probe.hip", b"__attribute__((global)) void probe() {}\n").map_err(failed)?;
        let mut command = self.driver(target);
        command.arg("-o").arg(folder.output("probe")).arg(source);
        let mut messages = String::new();
        let ended = run(&mut command, &folder, &mut messages).map_err(failed)?;
        if ended && folder.output("probe").is_file() { Ok(()) } else { Err(messages) }
    }

    /// clang for HIP's device code, which it leaves as a bare code object.
    fn driver(&self, target: &Target) -> Command {
        let mut command = Command::new(&self.path);
        command.args(["-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc"]);
        command.arg(format!("--offload-arch={}", target.id()));
        if target.has_pairs() {
            command.arg("-mcumode");
        }
        match &self.libraries {
            Some(folder) => command.arg(format!("--rocm-device-lib-path={}", folder.display())),
            None => command.arg("-nogpulib"),
        };
        command
    }

    pub(super) fn compile(&self, unit: &Unit<'_>, messages: &mut String) -> Option<Made> {
        let made = self.try_compile(unit, messages);
        made.unwrap_or_else(|error| {
            messages.push_str(&format!("error: {error}\n"));
            None
        })
    }

    fn try_compile(&self, unit: &Unit<'_>, messages: &mut String) -> std::io::Result<Option<Made>> {
        let folder = Folder::new()?;
        for (name, text) in unit.headers {
            folder.write_source(name, text.as_bytes())?;
        }
        let source = folder.write_source(unit.name, unit.source.as_bytes())?;
        let options = unit.options;
        let (target, code, bitcode) = (&options.target, folder.output("code"), folder.output("bitcode"));

        let mut command = self.driver(target);
        command.args(["-O3", "-Wno-missing-prototypes", "-Wno-gnu-line-marker"]);
        command.args(headers::DEFINITIONS);
        let version = options.code_object.unwrap_or_else(current::code_object);
        command.arg(format!("-mcode-object-version={version}")).arg(headers::code_object(version));
        let mut own = PathBuf::new();
        for (name, text) in headers::all() {
            own = folder.write_own(name, text)?;
        }
        if options.own_header {
            command.arg("-D__HIPCC_RTC__");
            if self.libraries.is_none() {
                command.arg(headers::WITHOUT_LIBRARIES);
            }
            if unit.brings_new {
                command.arg(headers::WITHOUT_NEW);
            }
            folder.write_own(headers::BEFORE_SOURCE, &headers::before_source(&options.passed))?;
            command.arg("-I").arg(own.join(headers::SYSTEM));
            command.arg("-include").arg(own.join(headers::BEFORE_SOURCE));
        }
        command.args(folder.names()).arg("-I").arg(folder.sources());
        command.args(&options.passed);
        if options.own_header {
            command.arg("-idirafter").arg(&own);
        }
        if options.bitcode {
            command.args(["-fgpu-rdc", "-c", "-emit-llvm", "-o"]).arg(&bitcode);
        } else {
            command.arg("-o").arg(&code);
        }
        command.arg(&source);
        if !run(&mut command, &folder, messages)? {
            return Ok(None);
        }
        if !options.bitcode {
            return Ok(read(&code, messages).map(|code| Made { code, bitcode: Vec::new() }));
        }
        let mut made = Made { code: Vec::new(), bitcode: read(&bitcode, messages).unwrap_or_default() };
        if unit.has_names && !made.bitcode.is_empty() {
            let mut command = self.linking(target, &code, "-r");
            if !run(command.arg(&bitcode), &folder, messages)? {
                return Ok(None);
            }
            made.code = read(&code, messages).unwrap_or_default();
        }
        Ok((!made.bitcode.is_empty()).then_some(made))
    }

    /// lld for bitcode, which it compiles for the target.
    fn linking(&self, target: &Target, code: &Path, kind: &str) -> Command {
        let mut command = Command::new(&self.linker);
        command.args(["-flavor", "gnu", "-m", "elf64_amdgpu", kind]);
        command.arg(format!("-plugin-opt=mcpu={}", target.processor()));
        let attributes = target.attributes();
        if !attributes.is_empty() {
            command.arg(format!("-plugin-opt=-mattr={attributes}"));
        }
        command.arg("-o").arg(code);
        command
    }

    pub(super) fn link(&self, link: &Link<'_>, messages: &mut String) -> Option<Vec<u8>> {
        let made = self.try_link(link, messages);
        made.unwrap_or_else(|error| {
            messages.push_str(&format!("error: {error}\n"));
            None
        })
    }

    fn try_link(&self, link: &Link<'_>, messages: &mut String) -> std::io::Result<Option<Vec<u8>>> {
        let folder = Folder::new()?;
        let code = folder.output("code");
        let mut command = self.linking(link.target, &code, "-shared");
        command.arg("--no-undefined");
        let mut options = link.options.iter();
        while let Some(option) = options.next() {
            match option.as_str() {
                "-mllvm" => command.arg("-mllvm").args(options.next()),
                "-O0" | "-O1" | "-O2" | "-O3" => {
                    command.arg(format!("-plugin-opt={}", option.trim_start_matches('-')))
                }
                _ => {
                    messages
                        .push_str(&format!("warning: the linker's option `{option}` has no effect here\n"));
                    continue;
                }
            };
        }
        for (index, bitcode) in link.bitcode.iter().enumerate() {
            command.arg(folder.write_source(&format!("{index}.bc"), bitcode)?);
        }
        let linked = run(&mut command, &folder, messages)?;
        Ok(if linked { read(&code, messages) } else { None })
    }
}

/// Runs a compiler and keeps its messages.
fn run(command: &mut Command, folder: &Folder, messages: &mut String) -> std::io::Result<bool> {
    let program = Path::new(command.get_program()).display().to_string();
    command.env("TMPDIR", folder.temporary());
    let ended = child::run(command).map_err(|error| std::io::Error::other(format!("{program}: {error}")))?;
    messages.push_str(&folder.strip(&ended.messages));
    if !ended.success && ended.messages.trim().is_empty() {
        messages.push_str(&format!("error: {program} failed without a message\n"));
    }
    Ok(ended.success)
}

/// The bytes that a compiler wrote. An option can make it write something else instead.
fn read(path: &Path, messages: &mut String) -> Option<Vec<u8>> {
    match std::fs::read(path) {
        Ok(bytes) if !bytes.is_empty() => Some(bytes),
        _ => {
            messages.push_str("error: the compiler wrote no code; an option asks for something else\n");
            None
        }
    }
}
