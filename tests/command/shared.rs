// SPDX-License-Identifier: MIT OR Apache-2.0
//! `inspect` and `audit` on files that name the same bytes many times, or have code in unexpected places.

use std::{fs, io::Write, process::Command};

use md5::{Digest, Md5};
use serde_json::Value;

use crate::support::{finish, scratch};

const SAXPY: &str = "cts/kernels/bundles/saxpy.gfx942.co";
const VECTOR_ADD: &str = "cts/kernels/bundles/vector_add.gfx942.co";

/// The output of the command for a file, within 600 MB of address space, most of which is the program itself.
fn limited(command: &str, bytes: &[u8], arguments: &[&str]) -> String {
    let path = scratch("bin");
    fs::write(&path, bytes).unwrap();
    let limit = "ulimit -v 600000 && exec \"$0\" \"$@\"";
    let limited = ["-c", limit, env!("CARGO_BIN_EXE_windlass"), command, path.to_str().unwrap()];
    let mut command = Command::new("sh");
    command.args(limited).args(arguments);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let finished = finish(&mut command);
    let _ = fs::remove_file(path);
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    finished.stdout
}

fn inspect(bytes: &[u8], arguments: &[&str]) -> String {
    limited("inspect", bytes, &[&["--target", "gfx942"], arguments].concat())
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_str(&inspect(bytes, &["--json"])).unwrap()
}

/// A compressed bundle of version 3 with one entry for gfx942, whose sizes do not depend on the code.
fn compressed(code: &str) -> Vec<u8> {
    const ID: &[u8] = b"hipv4-amdgcn-amd-amdhsa--gfx942";
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bundle.extend([1, 4096, 0x8000, ID.len() as u64].map(u64::to_le_bytes).concat());
    bundle.extend(ID);
    bundle.resize(4096, 0);
    bundle.extend(fs::read(code).unwrap());
    bundle.resize(4096 + 0x8000, 0);
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&bundle).unwrap();
    let mut payload = encoder.finish().unwrap();
    payload.resize(0x6000, 0xee);
    let sizes = [32 + payload.len(), bundle.len()].map(|size| (size as u64).to_le_bytes()).concat();
    [b"CCOB\x03\0\0\0", &sizes[..], &Md5::digest(&bundle)[..8], &payload].concat()
}

/// A zip file whose first member is stored, and whose second is deflated.
fn zip(stored: &[u8], deflated: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut out);
    for (name, bytes, method) in [
        ("data.bin", stored, rawzip::CompressionMethod::STORE),
        ("k.hipfb", deflated, rawzip::CompressionMethod::DEFLATE),
    ] {
        let (mut entry, config) = archive.new_file(name).compression_method(method).start().unwrap();
        let packed: Box<dyn Write> = match method {
            rawzip::CompressionMethod::STORE => Box::new(&mut entry),
            _ => Box::new(flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast())),
        };
        let mut writer = config.wrap(packed);
        writer.write_all(bytes).unwrap();
        let (packed, descriptor) = writer.finish().unwrap();
        drop(packed);
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    out
}

#[test]
fn what_is_told_of_a_compressed_bundle_is_of_its_own_bytes() {
    let (own, decoy) = (compressed(VECTOR_ADD), compressed(SAXPY));
    assert_eq!(own.len(), decoy.len());
    let data = [b"no code by its head".to_vec(), decoy.clone()].concat();
    // The member's bundle has the same offset within the member as the decoy within the file.
    let at = zip(&data, &[]).windows(decoy.len()).position(|bytes| bytes == decoy).unwrap();
    let mut member = b"__CLANG_OFFLOAD_BUNDLE__\0\0\0\0\0\0\0\0".to_vec();
    member.resize(at, 0);
    member.extend(own);
    let report = json(&zip(&data, &member));
    let bundles = report["bundles"].as_array().unwrap();
    assert_eq!(bundles.len(), 2, "{report:#}");
    assert_eq!(bundles[1]["offset"], at);
    assert_eq!(bundles[1]["entries"][0]["kernels"][0]["name"], "vector_add");
    assert!(bundles[1]["decode_ms"].as_f64().unwrap() > 0.0);
}

/// A HIP executable of IREE in which all exports share one table, and all modules do.
struct Shared<'a> {
    exports: usize,
    name: &'a [u8],
    bindings: usize,
    modules: usize,
    image: &'a [u8],
}

impl Shared<'_> {
    fn bytes(&self) -> Vec<u8> {
        let mut flat = b"\0\0\0\0HIP1".to_vec();
        let point = |flat: &mut Vec<u8>, at: usize| {
            flat.resize(flat.len().next_multiple_of(4), 0);
            let distance = (flat.len() - at) as u32;
            flat[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        };
        // A table of field offsets, then the table itself with an offset for each present field.
        let table = |flat: &mut Vec<u8>, places: &[u16]| {
            flat.resize(flat.len().next_multiple_of(4), 0);
            let sizes = [4 + 2 * places.len() as u16, 12];
            let directory = flat.len();
            flat.extend(sizes.iter().chain(places).flat_map(|number| number.to_le_bytes()));
            flat.resize(flat.len().next_multiple_of(4), 0);
            let start = flat.len();
            flat.extend(((start - directory) as i32).to_le_bytes());
            flat.extend([0; 8]);
            start
        };
        let list = |flat: &mut Vec<u8>, at: usize, count: usize, bytes: &[u8]| {
            point(flat, at);
            flat.extend((count as u32).to_le_bytes());
            flat.extend(bytes);
            flat.len() - bytes.len()
        };
        let root = table(&mut flat, &[4, 8]);
        flat[..4].copy_from_slice(&(root as u32).to_le_bytes());
        let mut places = [(root + 4, self.exports), (root + 8, self.modules)].map(|(at, count)| {
            let start = list(&mut flat, at, count, &vec![0; 4 * count]);
            (start..start + 4 * count).step_by(4)
        });
        let export = table(&mut flat, &[0, 4, 0, 0, 0, 8]);
        let module = table(&mut flat, &[4]);
        for (places, to) in places.iter_mut().zip([export, module]) {
            for at in places {
                flat[at..at + 4].copy_from_slice(&((to - at) as u32).to_le_bytes());
            }
        }
        list(&mut flat, export + 4, self.name.len(), self.name);
        list(&mut flat, export + 8, self.bindings, &vec![1; 8 * self.bindings]);
        list(&mut flat, module + 4, self.image.len(), self.image);
        let size = (flat.len() as u64).to_le_bytes();
        [b"HIP1\0\0\0\0", &size[..], &[0; 48], &flat].concat()
    }
}

#[test]
fn an_image_that_many_bundles_share_is_told_once() {
    for image in [fs::read(SAXPY).unwrap(), compressed(SAXPY)] {
        let file = Shared { exports: 1, name: b"saxpy", bindings: 2, modules: 3000, image: &image };
        let report = json(&file.bytes());
        let bundles = report["bundles"].as_array().unwrap();
        assert_eq!(bundles.len(), 3000);
        let entry = |bundle: &Value| bundle["entries"][0].clone();
        assert_eq!(entry(&bundles[0])["kernels"][0]["name"], "saxpy");
        for bundle in &bundles[1..] {
            let entry = entry(bundle);
            assert_eq!((&entry["same_as"], &entry["same_as_bundle"]), (&0.into(), &0.into()), "{bundle:#}");
            assert_eq!((entry.get("kernels"), &bundle["decode_ms"]), (None, &Value::Null), "{bundle:#}");
        }
        let all = inspect(&file.bytes(), &["--all"]);
        assert_eq!(all.matches("the same bytes as entry 0 of bundle 0").count(), 2999);
        assert_eq!(all.matches("saxpy(").count(), 1);
        let audit = limited("audit", &file.bytes(), &["--targets", "gfx942", "--json"]);
        let audit: Value = serde_json::from_str(&audit).unwrap();
        assert_eq!(audit["files"][0]["targets"][0]["verdict"], "exact", "{audit:#}");
        let summary = inspect(&file.bytes(), &[]);
        assert!(summary.contains("the same bytes as entry 0 of bundle 0"), "{summary}");
    }
}

#[test]
fn long_names_in_tables_are_cut() {
    let image = fs::read(SAXPY).unwrap();
    let name = [&b"n".repeat(70_000)[..], b"END"].concat();
    let file = Shared { exports: 1, name: &name, bindings: 1, modules: 1, image: &image }.bytes();
    let text = inspect(&file, &["--all"]);
    assert!(text.contains("nnn…") && !text.contains("END"), "{text}");
    assert_eq!(json(&file)["iree_executables"][0]["exports"][0]["name"], {
        String::from_utf8(name).unwrap()
    });
}
