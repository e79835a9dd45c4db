// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device files of GPUs, and whether this process may open them.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::system::{Files, file_name, is_numbered};

/// Groups that distributions make for GPUs. The names of other groups may be those of users.
const GROUPS: [&str; 2] = ["video", "render"];

pub(super) fn device_files(files: &Files) -> Value {
    let groups = groups(files);
    let nodes = files.entries("dev/dri");
    let render = nodes.iter().filter(|path| is_numbered(&file_name(path), "renderD"));
    let kfd = files.path("dev/kfd");
    let told: Vec<_> = std::iter::once(&kfd).chain(render).map(|path| device_file(path, &groups)).collect();
    json!({ "files": told, "groups_of_this_process": own_groups(files, &groups) })
}

/// The number and the name of each group for GPUs.
fn groups(files: &Files) -> Vec<(u32, &'static str)> {
    let text = files.text("etc/group").unwrap_or_default();
    let number = |line: &str| line.split(':').nth(2)?.parse().ok();
    let named = |line: &str| GROUPS.into_iter().find(|name| line.split(':').next() == Some(name));
    text.lines().filter_map(|line| Some((number(line)?, named(line)?))).collect()
}

/// The groups for GPUs of this process.
fn own_groups(files: &Files, groups: &[(u32, &'static str)]) -> Vec<&'static str> {
    let status = files.text("proc/self/status").unwrap_or_default();
    let lines = status.lines().filter_map(|line| line.strip_prefix("Groups:").or(line.strip_prefix("Gid:")));
    let own: Vec<u32> =
        lines.flat_map(str::split_whitespace).filter_map(|number| number.parse().ok()).collect();
    groups.iter().filter(|(number, _)| own.contains(number)).map(|(_, name)| *name).collect()
}

fn device_file(path: &Path, groups: &[(u32, &'static str)]) -> Value {
    let (mode, group) = mode_and_group(path, groups);
    let opened = fs::File::options().read(true).write(true).open(path);
    json!({
        "file": path.display().to_string(),
        "mode": mode,
        "group": group,
        "opens": opened.is_ok(),
        "problem": opened.err().map(|error| error.to_string()),
    })
}

#[cfg(unix)]
fn mode_and_group(path: &Path, groups: &[(u32, &'static str)]) -> (Option<String>, Option<String>) {
    use std::os::unix::fs::MetadataExt;
    let Ok(data) = fs::metadata(path) else { return (None, None) };
    let name = groups.iter().find(|(number, _)| *number == data.gid()).map(|(_, name)| *name);
    let group = name.map_or_else(|| format!("group {}", data.gid()), str::to_owned);
    (Some(format!("{:03o}", data.mode() & 0o7777)), Some(group))
}

#[cfg(not(unix))]
fn mode_and_group(_path: &Path, _groups: &[(u32, &'static str)]) -> (Option<String>, Option<String>) {
    (None, None)
}
