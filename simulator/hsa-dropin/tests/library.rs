// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library as programs find it: its names, their version, its marker; and a program in C that uses it.

mod common;

use std::path::PathBuf;
use std::process::Command;

use object::read::elf::{ElfFile64, FileHeader as _, Sym as _};

/// The library that has the simulator.
const CORE: &str = "libwindlass_simulator_core.so";

/// Cargo builds the library beside the tests of its package.
fn library() -> PathBuf {
    built("libhsa_runtime64.so")
}

fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let mut folders = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    folders.find(|path| path.exists()).expect("the library beside the tests")
}

/// AMD's HIP in the same process would take them for its own.
#[test]
fn the_simulators_library_exports_no_name_of_amds() {
    let bytes = std::fs::read(built(CORE)).unwrap();
    let file = ElfFile64::<object::Endianness>::parse(&*bytes).unwrap();
    let (endian, data) = (file.endian(), file.data());
    let sections = file.elf_header().sections(endian, data).unwrap();
    let table = sections.symbols(endian, data, object::elf::SHT_DYNSYM).unwrap();
    let defined = table.iter().filter(|symbol| symbol.st_shndx(endian) != object::elf::SHN_UNDEF);
    let names: Vec<_> =
        defined.map(|symbol| String::from_utf8_lossy(table.symbol_name(endian, symbol).unwrap())).collect();
    let others: Vec<_> = names.iter().filter(|name| !name.starts_with("windlass_simulator_")).collect();
    assert!(names.len() >= 2 && others.is_empty(), "{others:?}");
}

/// The library contains no second simulator.
#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stderr, reason = "a skip is told")]
fn the_library_leads_to_the_simulator_and_says_where_there_is_none() {
    let folder = std::env::temp_dir().join(format!("windlass-hsa-alone-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (alone, source, program) =
        (folder.join("libhsa-runtime64.so.1"), folder.join("init.c"), folder.join("init"));
    std::fs::copy(library(), &alone).unwrap();
    let bytes = std::fs::read(&alone).unwrap();
    assert!(!bytes.windows(10).any(|text| text == b"v_mfma_f32"), "the simulator's instructions are in it");
    std::fs::write(
        &source,
        "unsigned hsa_init(void); int main(void) { return hsa_init() == 0x1000 ? 7 : 8; }\n",
    )
    .unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let Ok(compiled) = Command::new(&compiler).arg("-o").arg(&program).arg(&source).arg(&alone).status()
    else {
        eprintln!("skipped: no C compiler ({compiler}); set CC");
        return;
    };
    assert!(compiled.success());
    let run = || Command::new(&program).env("LD_LIBRARY_PATH", &folder).output().unwrap();
    let ran = run();
    let log = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(7), "HSA_STATUS_ERROR: {log}");
    assert!(log.contains(CORE) && log.contains("there is none in") && log.contains("windlass exec"), "{log}");
    // A file of that name that is no library of the simulator.
    std::fs::copy(&alone, folder.join(CORE)).unwrap();
    let ran = run();
    let log = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(7), "HSA_STATUS_ERROR: {log}");
    assert!(log.contains("it is not the simulator's"), "{log}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn every_name_has_rocrs_version() {
    let bytes = std::fs::read(library()).unwrap();
    let file = ElfFile64::<object::Endianness>::parse(&*bytes).unwrap();
    let (endian, data) = (file.endian(), file.data());
    let sections = file.elf_header().sections(endian, data).unwrap();
    let table = sections.symbols(endian, data, object::elf::SHT_DYNSYM).unwrap();
    let versions = sections.versions(endian, data).unwrap();
    let mut names = Vec::new();
    for (index, symbol) in table.enumerate() {
        let name = String::from_utf8_lossy(table.symbol_name(endian, symbol).unwrap()).into_owned();
        if name.starts_with("hsa_") {
            // All have versions, if the linker accepts them.
            if let Some(versions) = &versions {
                let version = versions.version(versions.version_index(endian, index).index()).unwrap();
                assert_eq!(version.map(|version| version.name()), Some(&b"ROCR_1"[..]), "{name}");
            }
            names.push(name);
        }
    }
    for function in windlass_simulator::hsa::FUNCTIONS {
        assert!(names.iter().any(|name| name == function), "{function} is not exported");
    }
    assert!(table.iter().any(|symbol| table.symbol_name(endian, symbol) == Ok(b"windlass_simulator_marker")));
}

/// A program that links the library as programs link ROCr.
#[cfg(target_os = "linux")]
#[test]
#[allow(clippy::print_stderr, reason = "a skip is told")]
fn a_program_in_c_adds_vectors() {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    if Command::new(&compiler).arg("--version").output().is_err() {
        eprintln!("skipped: no C compiler ({compiler}); set CC");
        return;
    }
    let folder = std::env::temp_dir().join(format!("windlass-hsa-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(library(), folder.join("libhsa-runtime64.so.1")).unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vector_add.c");
    let code = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cts/kernels/bundles/vector_add.gfx942.co");
    let program = folder.join("vector_add");
    let compiled = Command::new(&compiler)
        .args(["-std=c11", "-Wall", "-Werror", source, "-o"])
        .arg(&program)
        .arg(folder.join("libhsa-runtime64.so.1"))
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&program)
        .arg(code)
        .env("LD_LIBRARY_PATH", &folder)
        .env("WINDLASS_SIM", "gfx942?memory=1G")
        .env("WINDLASS_LOG", "windlass::sim=trace")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let log = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}{log}");
    assert!(log.contains("hsa_signal_create") && !log.contains("panicked"), "{log}");
    assert!(said.contains("gfx942: 1000 sums are right"), "{said}");
    std::fs::remove_dir_all(&folder).unwrap();
}
