// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine of a report, as `/proc`, `/sys`, `/etc` and `/dev` tell. No program is run, and no HIP call is made.
//!
//! A process of its own reads them: the kernel may not answer a read about a GPU that hangs. Nothing is read that names a
//! single machine or GPU, such as serial numbers and host names.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use serde_json::{Map, Value, json};

use super::{
    access, gpus,
    part::{End, Found},
    worker::Worker,
};

/// Variables with these beginnings change the behaviour of HIP or of Windlass.
const VARIABLES: [&str; 8] = ["AMD_", "GPU_", "HIP_", "HSA_", "ROCM_", "ROCR_", "WINDLASS_", "AMDGPU_"];
/// Files by which containers are known.
const CONTAINERS: [(&str, &str); 2] = [(".dockerenv", "docker"), ("run/.containerenv", "podman")];

/// Reads a section.
type Section = fn(&Files) -> Value;

/// Answers with the sections one by one, those about GPUs last, so that a read that hangs costs the rest only.
pub(super) fn answer(tell: impl Fn(Value)) {
    let files = Files::new("/");
    let sections: [(&str, Section); 7] = [
        ("software", software),
        ("machine", machine),
        ("environment", |_| environment()),
        ("device_files", access::device_files),
        ("kernel_driver", gpus::kernel_driver),
        ("topology", gpus::topology),
        ("gpus", gpus::cards),
    ];
    for (name, section) in sections {
        tell(json!({ "section": name, "begun": true }));
        tell(json!({ "section": name, "value": section(&files) }));
    }
    tell(json!({ "over": true }));
}

/// The machine, in the words of a process that reads its files.
pub(super) fn run(limit: Duration) -> Found {
    let mut worker = match Worker::start("system", "", limit) {
        Ok(worker) => worker,
        Err(silence) => return Found::none(silence.stopped.into(), silence.message),
    };
    let (mut sections, mut last) = (Map::new(), String::new());
    loop {
        match worker.answer() {
            Ok(answer) if answer["over"] == true => break,
            Ok(mut answer) => {
                last = answer["section"].as_str().unwrap_or_default().to_owned();
                if let Some(value) = answer.get_mut("value") {
                    sections.insert(last.clone(), value.take());
                }
            }
            Err(silence) => {
                let message = format!("the section {last}: {}", silence.message);
                return Found::new(silence.stopped.into(), message, Value::Object(sections));
            }
        }
    }
    Found { end: End::Done, message: None, result: Value::Object(sections) }
}

/// The files of a machine.
pub(super) struct Files(PathBuf);

impl Files {
    pub(super) fn new(root: &str) -> Self {
        Self(root.into())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        text(&self.path(name))
    }

    /// The entries of a folder, in the order of their names and numbers.
    pub(super) fn entries(&self, folder: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort_by_key(|path| {
            let name = file_name(path);
            let letters = name.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
            let number = name.strip_prefix(&letters).and_then(|digits| digits.parse::<u64>().ok());
            (letters, number)
        });
        paths
    }
}

/// The trimmed text of a file, if there is any.
pub(super) fn text(path: &Path) -> Option<String> {
    let text = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn software(files: &Files) -> Value {
    let release = files.text("etc/os-release").unwrap_or_default();
    let field = |name: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    let kernel = files.text("proc/sys/kernel/osrelease");
    json!({
        "distribution": field("PRETTY_NAME"),
        "container": container(files, kernel.as_deref().unwrap_or_default()),
        "kernel": kernel,
        "architecture": std::env::consts::ARCH,
        "locked_memory": locked_memory(files),
    })
}

/// The kind of container or virtual system, if files tell.
fn container(files: &Files, kernel: &str) -> Option<String> {
    if kernel.to_lowercase().contains("microsoft") {
        return Some("WSL".to_owned());
    }
    let by_file = CONTAINERS.iter().find(|(file, _)| files.path(file).exists());
    let groups = files.text("proc/1/cgroup").unwrap_or_default();
    let by_group = ["kubepods", "docker", "containerd", "lxc", "libpod"].into_iter();
    by_file
        .map(|(_, name)| *name)
        .or_else(|| by_group.into_iter().find(|name| groups.contains(name)))
        .map(str::to_owned)
}

/// The memory that the process may pin, soft and hard.
fn locked_memory(files: &Files) -> Option<String> {
    let limits = files.text("proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"))?;
    Some(line.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn machine(files: &Files) -> Value {
    let cpus = files.text("proc/cpuinfo").unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let memory = files.text("proc/meminfo").unwrap_or_default();
    let dmi = |name: &str| files.text(&format!("sys/class/dmi/id/{name}"));
    let nodes = files.entries("sys/devices/system/node");
    json!({
        "cpu": field(&cpus, "model name"),
        "cpus": cpus.lines().filter(|line| line.starts_with("processor")).count(),
        "cpus_of_this_process": thread::available_parallelism().map_or(1, usize::from),
        "numa_nodes": nodes.iter().filter(|path| is_numbered(&file_name(path), "node")).count(),
        "memory": field(&memory, "MemTotal"),
        "vendor": dmi("sys_vendor"),
        "product": dmi("product_name"),
        "firmware": dmi("bios_version"),
    })
}

/// Whether a name is a word with a number.
pub(super) fn is_numbered(name: &str, word: &str) -> bool {
    let digits = name.strip_prefix(word).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn environment() -> Value {
    let is_told = |name: &str| VARIABLES.iter().any(|beginning| name.starts_with(beginning));
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok().filter(|name| is_told(name))?;
        Some((name, Value::String(value.to_string_lossy().into_owned())))
    });
    Value::Object(variables.collect())
}
