// SPDX-License-Identifier: MIT OR Apache-2.0
//! A part of the build script: builds the simulator's libraries and packs them, so that a command that `cargo install`
//! makes from a package has them in itself.
//!
//! A checkout needs none of this, because `cargo build --workspace` leaves the libraries beside the command. There
//! `WINDLASS_EMBED=1` asks for them, and `WINDLASS_EMBED=FOLDER` packs those in a folder. A build as a dependency of another
//! program makes no command, and skips them.

use std::{
    collections::hash_map::DefaultHasher,
    env, fs,
    hash::{Hash, Hasher},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The packages of the libraries, with their folders in a checkout and the names of their files.
const LIBRARIES: [(&str, &str, &str); 6] = [
    ("windlass-simulator-core", "simulator/core", "libwindlass_simulator_core.so"),
    ("windlass-simulator-dropin", "simulator/dropin", "libamdhip64.so"),
    ("windlass-simulator-hsa-dropin", "simulator/hsa-dropin", "libhsa_runtime64.so"),
    ("windlass-simulator-rccl-dropin", "simulator/rccl-dropin", "librccl.so"),
    ("windlass-simulator-rtc-dropin", "simulator/rtc-dropin", "libhiprtc.so"),
    ("windlass-restart", "simulator/restart", "libwindlass_restart.so"),
];
const ASKED: &str = "WINDLASS_EMBED";

/// The program that packs the libraries: an empty crate depends on them, and this is its only function.
const PACK: &str = r#"
fn main() -> std::io::Result<()> {
    let mut paths = std::env::args_os().skip(1);
    while let (Some(from), Some(to)) = (paths.next(), paths.next()) {
        let packed = zstd::encode_all(&*std::fs::read(from)?, 19)?;
        std::fs::write(to, packed)?;
    }
    Ok(())
}
"#;

/// Writes `embedded_libraries.rs`: the packed libraries, none as a rule, and a name for them.
pub(crate) fn write(root: &Path, out: &Path) {
    println!("cargo::rerun-if-env-changed={ASKED}");
    println!("cargo::rerun-if-changed=src/command/exec/build_libraries.rs");
    let feature = |name: &str| env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    let has_exec = feature("COMMAND")
        && feature("SIM")
        && env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    let is_checkout = LIBRARIES.iter().all(|(_, folder, _)| root.join(folder).exists());
    let source = match env::var(ASKED).as_deref() {
        Ok("1") => Source::of_packages(root, is_checkout),
        Ok("0") => Source::None,
        Ok(folder) if !folder.is_empty() => Source::Built(PathBuf::from(folder)),
        // Cargo sets the variable while it compiles this script, unless the package is a dependency.
        _ if !is_checkout && option_env!("CARGO_PRIMARY_PACKAGE").is_some() => Source::Registry,
        _ => Source::None,
    };
    let packed = if has_exec { pack(root, out, &source) } else { Ok(Vec::new()) };
    let packed = packed.unwrap_or_else(|reason| {
        println!("cargo::warning=`windlass exec` will need --library: {reason}");
        Vec::new()
    });
    let mut hasher = DefaultHasher::new();
    let mut entries = String::new();
    for path in packed {
        fs::read(&path).unwrap_or_default().hash(&mut hasher);
        let name = path.file_stem().unwrap_or_default();
        entries.push_str(&format!("({name:?}, include_bytes!({path:?})),"));
    }
    let text = format!(
        "/// The libraries, each with its file name and packed by zstd.\n\
         pub(super) const PACKED: &[(&str, &[u8])] = &[{entries}];\n\
         /// A name that no other libraries have.\n\
         pub(super) const NAME: &str = \"{}-{:016x}\";\n",
        env::var("CARGO_PKG_VERSION").unwrap_or_default(),
        hasher.finish()
    );
    if let Err(error) = fs::write(out.join("embedded_libraries.rs"), text) {
        println!("cargo::error=cannot write embedded_libraries.rs: {error}");
    }
}

/// Where the libraries come from.
enum Source {
    /// They are not wanted.
    None,
    /// A folder that has them.
    Built(PathBuf),
    /// Their packages in this checkout.
    Checkout(PathBuf),
    /// Their packages in the registry, as the one that is built.
    Registry,
}

impl Source {
    fn of_packages(root: &Path, is_checkout: bool) -> Self {
        if is_checkout { Self::Checkout(root.to_owned()) } else { Self::Registry }
    }
}

/// Builds the libraries unless they are built, and packs them. Returns the packed files.
fn pack(root: &Path, out: &Path, source: &Source) -> Result<Vec<PathBuf>, String> {
    if matches!(source, Source::None) {
        return Ok(Vec::new());
    }
    let at = |what: &str| {
        let what = what.to_owned();
        move |error: std::io::Error| format!("{what}: {error}")
    };
    let folder = out.join("libraries");
    let (sources, target) = (folder.join("src"), folder.join("target"));
    fs::create_dir_all(&sources).map_err(at("a folder for the simulator's libraries"))?;
    let of_windlass = fs::read_to_string(root.join("Cargo.toml")).map_err(at("Windlass's Cargo.toml"))?;
    println!("cargo::rerun-if-changed=Cargo.toml");
    let manifest = manifest(source, &of_windlass);
    fs::write(folder.join("Cargo.toml"), manifest).map_err(at("Cargo.toml"))?;
    fs::write(sources.join("main.rs"), PACK).map_err(at("main.rs"))?;
    // The same versions of all packages as in this build, where Cargo tells them.
    let _ = fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"));
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["build", "--profile", "dist", "--message-format=json-render-diagnostics", "--manifest-path"]);
    cargo.arg(folder.join("Cargo.toml")).arg("--target-dir").arg(&target).stderr(Stdio::inherit());
    let output = cargo.output().map_err(at("cargo"))?;
    if !output.status.success() {
        return Err(format!("cargo could not build the simulator's libraries: {}", output.status));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut pack = Command::new(target.join("dist/windlass-libraries"));
    let mut packed = Vec::new();
    for (package, _, file) in LIBRARIES {
        let path = match source {
            Source::Built(folder) => {
                let path = folder.join(file);
                println!("cargo::rerun-if-changed={}", path.display());
                path
            }
            _ => built(&messages, file).ok_or_else(|| format!("{package} made no {file}"))?,
        };
        let to = out.join(format!("{file}.zst"));
        pack.arg(path).arg(&to);
        packed.push(to);
    }
    let status = pack.status().map_err(at("packing the simulator's libraries"))?;
    // It is larger than all else.
    let _ = fs::remove_dir_all(&target);
    if status.success() { Ok(packed) } else { Err(format!("packing the simulator's libraries: {status}")) }
}

/// The path of the library in Cargo's messages.
fn built(messages: &str, file: &str) -> Option<PathBuf> {
    let stem = file.trim_end_matches(".so");
    let is_it = |path: &&str| {
        let name = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        path.ends_with(".so")
            && name.strip_prefix(stem).is_some_and(|rest| rest == ".so" || rest.starts_with('-'))
    };
    messages.split('"').find(is_it).map(PathBuf::from)
}

/// The manifest of the crate that depends on the libraries. They are built as in a release.
fn manifest(source: &Source, of_windlass: &str) -> String {
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let mut text = "[package]\nname = \"windlass-libraries\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
                    [workspace]\n\
                    [dependencies]\nzstd = { version = \"0.13\", default-features = false }\n"
        .to_owned();
    for (package, folder, _) in LIBRARIES {
        let place = match source {
            Source::Checkout(root) => format!("path = {:?}", root.join(folder)),
            Source::Registry => format!("version = \"={version}\""),
            Source::None | Source::Built(_) => continue,
        };
        text.push_str(&format!("{package} = {{ {place} }}\n"));
    }
    let mut is_profile = false;
    for line in of_windlass.lines() {
        if line.starts_with('[') {
            is_profile = ["[profile.release", "[profile.dist"].iter().any(|name| line.starts_with(name));
        }
        if is_profile {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}
