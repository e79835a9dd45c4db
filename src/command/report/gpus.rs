// SPDX-License-Identifier: MIT OR Apache-2.0
//! The GPUs and their firmware, as the kernel driver describes them.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::system::{Files, file_name, is_numbered, text};

/// AMD, as PCI numbers vendors.
const AMD: &str = "0x1002";
/// The files of a GPU that tell its kind and state, and not which one it is.
const FACTS: [&str; 12] = [
    "device",
    "revision",
    "subsystem_vendor",
    "subsystem_device",
    "product_name",
    "vbios_version",
    "mem_info_vram_total",
    "current_link_speed",
    "current_link_width",
    "current_compute_partition",
    "current_memory_partition",
    "power_dpm_force_performance_level",
];
/// The properties of a node that tell its kind.
const PROPERTIES: [&str; 12] = [
    "cpu_cores_count",
    "simd_count",
    "simd_per_cu",
    "array_count",
    "num_xcc",
    "max_waves_per_simd",
    "lds_size_in_kb",
    "wave_front_size",
    "drm_render_minor",
    "fw_version",
    "sdma_fw_version",
    "capability",
];

pub(super) fn kernel_driver(files: &Files) -> Value {
    let fact = |name: &str| files.text(&format!("sys/module/amdgpu/{name}"));
    json!({
        "loaded": files.path("sys/module/amdgpu").exists(),
        // Only AMD's own package has a version. The kernel's driver has that of the kernel.
        "version": fact("version"),
        "source": fact("srcversion"),
    })
}

/// The cards of AMD with the versions of their firmware.
pub(super) fn cards(files: &Files) -> Value {
    let cards = files.entries("sys/class/drm");
    let cards = cards.iter().filter(|path| is_numbered(&file_name(path), "card"));
    let devices = cards.map(|path| (file_name(path), path.join("device")));
    let ours = devices.filter(|(_, device)| text(&device.join("vendor")).as_deref() == Some(AMD));
    ours.map(|(name, device)| card(&name, &device)).collect()
}

fn card(name: &str, device: &Path) -> Value {
    let fact = |name: &&str| Some(((*name).to_owned(), Value::String(text(&device.join(name))?)));
    let facts: Map<_, _> = FACTS.iter().filter_map(fact).collect();
    json!({ "card": name, "facts": facts, "firmware": firmware(device) })
}

/// The version of each firmware, by its name without the ending.
fn firmware(device: &Path) -> Map<String, Value> {
    let files = std::fs::read_dir(device.join("fw_version")).into_iter().flatten().flatten();
    let version = |path: &Path| {
        let name = file_name(path).trim_end_matches("_fw_version").to_owned();
        Some((name, Value::String(text(path)?)))
    };
    files.filter_map(|entry| version(&entry.path())).collect()
}

/// The nodes of the kernel's compute driver.
pub(super) fn topology(files: &Files) -> Value {
    files.entries("sys/class/kfd/kfd/topology/nodes").iter().map(|node| describe(node)).collect()
}

fn describe(node: &Path) -> Value {
    let properties = text(&node.join("properties")).unwrap_or_default();
    let property = |name: &str| {
        let line = properties.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line?.trim().parse::<u64>().ok()
    };
    let told: Map<_, _> =
        PROPERTIES.iter().filter_map(|name| Some(((*name).to_owned(), property(name)?.into()))).collect();
    json!({
        "node": file_name(node),
        "name": text(&node.join("name")),
        "target": property("gfx_target_version").and_then(target),
        "properties": told,
    })
}

/// The name of a target by its number: 90402 is gfx942, and 90010 is gfx90a.
fn target(number: u64) -> Option<String> {
    let (major, minor, step) = (number / 10_000, number / 100 % 100, number % 100);
    (number > 0).then(|| format!("gfx{major}{minor:x}{step:x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_named_as_compilers_do() {
        let names = [90_402, 90_010, 110_000, 100_301, 0].map(target);
        let names = names.each_ref().map(|name| name.as_deref().unwrap_or("none"));
        assert_eq!(names, ["gfx942", "gfx90a", "gfx1100", "gfx1031", "none"]);
    }

    #[test]
    fn a_gpu_is_described_without_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for (name, text) in [
            ("vendor", "0x1002\n"),
            ("device", "0x74a1\n"),
            ("unique_id", "5ec2e7\n"),
            ("serial_number", "PCB01\n"),
            ("fw_version/mec_fw_version", "0x0000009b\n"),
        ] {
            write(&format!("sys/class/drm/card1/device/{name}"), text);
        }
        write("sys/class/drm/card0/device/vendor", "0x1a03\n");
        write("sys/class/drm/card1-DP-1/device/vendor", "0x1002\n");
        let node = "sys/class/kfd/kfd/topology/nodes/1";
        write(&format!("{node}/name"), "aqua_vanjaram\n");
        write(&format!("{node}/properties"), "simd_count 1216\nunique_id 77\ngfx_target_version 90402\n");
        let files = Files::new(&folder.path().display().to_string());
        let cards = cards(&files);
        assert_eq!(
            cards,
            json!([{ "card": "card1", "facts": { "device": "0x74a1" }, "firmware": { "mec": "0x0000009b" } }])
        );
        let topology = topology(&files);
        assert_eq!(
            (&topology[0]["target"], &topology[0]["name"]),
            (&"gfx942".into(), &"aqua_vanjaram".into())
        );
        assert_eq!(topology[0]["properties"], json!({ "simd_count": 1216 }));
    }
}
