// SPDX-License-Identifier: MIT OR Apache-2.0
//! Helpers for the build scripts of libraries that replace AMD's. They set the library's name and, if the
//! linker accepts them, symbol versions. They also keep the library loaded, because its threads outlive a
//! `dlclose`.
//!
//! Functions name their versions by `.symver`, under `cfg(symbol_versions)`. A version map alone would have no effect,
//! because rustc passes the linker a map of its own, and LLD prefers the exact names of that map. Zig's linker reads
//! the last map only, so ours also says which names are exported.
#![allow(clippy::print_stdout, reason = "Cargo reads the lines that build scripts print")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::elf;
use object::read::elf::{ElfFile64, FileHeader as _};

/// The function of the library that shows whether the linker accepts versions.
const PROBE: &str = "windlass_simulator_probe";

/// Tells Cargo how to link a library named `soname` that exports the names of these patterns. Its functions have these
/// versions, each of which contains the one before.
///
/// # Errors
/// Cargo's variables are missing, or the compiler cannot be started.
pub fn link(soname: &str, exports: &[&str], versions: &[&str]) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(symbol_versions)");
    if std::env::var("CARGO_CFG_TARGET_OS")? != "linux" {
        return Ok(());
    }
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{soname}");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");

    let folder = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is unset")?);
    let map = folder.join("versions.map");
    std::fs::write(&map, linker_map(exports, versions)?)?;
    let argument = format!("-Wl,--version-script={}", map.display());
    let last = versions.last().copied().unwrap_or_default();
    if takes_versions(&folder, &argument, last)? {
        println!("cargo:rustc-cdylib-link-arg={argument}");
        println!("cargo:rustc-cfg=symbol_versions");
    } else {
        println!(
            "cargo:warning=this linker takes no symbol versions beside rustc's own map, so {soname} has none: programs \
             linked against ROCm run with it, and ld.so warns. LLD takes them (RUSTFLAGS=-Clink-arg=-fuse-ld=lld)"
        );
    }
    Ok(())
}

fn linker_map(exports: &[&str], versions: &[&str]) -> Result<String, std::fmt::Error> {
    let mut map = String::new();
    let mut before = "";
    let mut names = format!("global: windlass_simulator_*; {}; local: *;", exports.join("; "));
    for version in versions {
        writeln!(map, "{version} {{ {names} }} {before};")?;
        before = version;
        names.clear();
    }
    Ok(map)
}

/// Whether the linker accepts symbol versions: links a library of one function with the map, as Cargo will
/// link this one, and looks for the function's version. GNU ld refuses the map, and gold ignores it.
fn takes_versions(folder: &Path, argument: &str, version: &str) -> Result<bool, Box<dyn Error>> {
    let source = folder.join("probe.rs");
    let function = format!(
        "#![no_std]\n\
         #[panic_handler] fn panic(_: &core::panic::PanicInfo<'_>) -> ! {{ loop {{}} }}\n\
         #[unsafe(no_mangle)] pub extern \"C\" fn {PROBE}() {{}}\n\
         core::arch::global_asm!(\".symver {PROBE}, {PROBE}@@{version}\");\n"
    );
    std::fs::write(&source, function)?;
    let mut compiler = Command::new(std::env::var_os("RUSTC").ok_or("RUSTC is unset")?);
    compiler.args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "--target"]);
    compiler.arg(std::env::var("TARGET")?).arg(&source).arg("-o").arg(folder.join("probe.so"));
    compiler.arg("-Clink-arg=-nostartfiles").arg(format!("-Clink-arg={argument}"));
    if let Some(linker) = std::env::var_os("RUSTC_LINKER") {
        let mut setting = std::ffi::OsString::from("-Clinker=");
        setting.push(linker);
        compiler.arg(setting);
    }
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    compiler.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    Ok(compiler.output()?.status.success() && has_version(&std::fs::read(folder.join("probe.so"))?, version)?)
}

/// Whether a library's function [`PROBE`] has a version.
fn has_version(library: &[u8], wanted: &str) -> Result<bool, Box<dyn Error>> {
    let file = ElfFile64::<object::Endianness>::parse(library)?;
    let (endian, data) = (file.endian(), file.data());
    let sections = file.elf_header().sections(endian, data)?;
    let Some(versions) = sections.versions(endian, data)? else { return Ok(false) };
    let table = sections.symbols(endian, data, elf::SHT_DYNSYM)?;
    for (index, symbol) in table.enumerate() {
        if table.symbol_name(endian, symbol)? == PROBE.as_bytes() {
            let version = versions.version(versions.version_index(endian, index).index())?;
            return Ok(version.is_some_and(|version| version.name() == wanted.as_bytes()));
        }
    }
    Ok(false)
}
