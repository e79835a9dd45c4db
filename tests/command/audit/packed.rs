// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code in compressed files, in AOTriton's images and in MIOpen's databases.

use std::{fs, io::Write};

#[cfg(feature = "miopen")]
use rusqlite::Connection;

use super::made::wheel;
use super::{Folder, audit, file, report, verdicts};

const CODE: &str = "cts/kernels/bundles/vector_add.gfx942.co";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// AOTriton's images: the code objects under their names.
fn aks2(images: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut directory, mut content) = (Vec::new(), Vec::new());
    for (name, image) in images {
        for number in [0, 256, content.len(), image.len(), name.len() + 1] {
            directory.extend((number as u32).to_le_bytes());
        }
        directory.extend([name.as_bytes(), b"\0"].concat());
        content.extend(*image);
    }
    let numbers = [directory.len() + content.len(), images.len(), directory.len()];
    let mut file = b"AKS2".to_vec();
    file.extend(numbers.into_iter().flat_map(|number| (number as u32).to_le_bytes()));
    file.extend(xz(&[directory, content].concat()));
    file
}

/// MIOpen's database: name, code and stated size of each kernel.
#[cfg(feature = "miopen")]
fn database(path: &str, kernels: &[(&str, Vec<u8>, usize)]) {
    let connection = Connection::open(path).unwrap();
    let table = "CREATE TABLE kern_db (id INTEGER PRIMARY KEY, kernel_name TEXT NOT NULL, kernel_args TEXT NOT NULL, \
                 kernel_blob BLOB NOT NULL, kernel_hash TEXT NOT NULL, uncompressed_size INT NOT NULL)";
    connection.execute(table, []).unwrap();
    let row = "INSERT INTO kern_db (kernel_name, kernel_args, kernel_blob, kernel_hash, uncompressed_size) \
               VALUES (?1, '-mcpu=gfx942', ?2, '', ?3)";
    for (name, blob, size) in kernels {
        connection.execute(row, (name, blob, *size as i64)).unwrap();
    }
}

#[test]
fn compressed_files_are_looked_into() {
    let folder = Folder::new();
    let code = fs::read(CODE).unwrap();
    let bundle = fs::read("cts/kernels/bundles/vector_add.ccob").unwrap();
    folder.put("kernel_gfx942.fatbin.zst", &zstd(&bundle));
    folder.put("a.gz", &gzip(&code));
    folder.put("b.xz", &xz(&code));
    folder.put("c.bz2", &bzip2(&code));
    folder.put("twice", &zstd(&gzip(&code)));
    folder.put("manual.1.gz", &gzip(b"no code"));
    folder.put("zeros.zst", &zstd(&vec![0; 64 << 20]));
    folder.put(
        "blender.whl",
        &wheel(&[("bpy/kernel.fatbin.zst", &zstd(&bundle)), ("data.gz", &gzip(b"data"))]),
    );
    let (code, report) = report(&[folder.path()], "gfx942,gfx1100");
    assert_eq!(code, Some(1), "{report:#}");
    assert_eq!((&report["problems"], &report["notes"]), (&serde_json::json!([]), &serde_json::json!([])));
    for both in ["kernel_gfx942.fatbin.zst", "blender.whl(bpy/kernel.fatbin.zst)"] {
        assert_eq!(verdicts(file(&report, both)), ["exact", "exact"]);
    }
    for one in ["a.gz", "b.xz", "c.bz2", "twice"] {
        assert_eq!(verdicts(file(&report, one)), ["exact", "none"]);
    }
    assert_eq!(report["files"].as_array().unwrap().len(), 6, "{report:#}");
}

#[test]
fn compressed_files_that_cannot_be_judged_are_problems() {
    let code = fs::read(CODE).unwrap();
    for (name, bytes, reason) in [
        ("cut.zst", zstd(&code)[..900].to_vec(), "its zstd stream cannot be unpacked"),
        ("cut.gz", gzip(&code)[..900].to_vec(), "its gzip stream cannot be unpacked"),
        ("cut.xz", xz(&code)[..900].to_vec(), "its xz stream cannot be unpacked"),
        ("cut.bz2", bzip2(&code)[..900].to_vec(), "its bzip2 stream cannot be unpacked"),
        ("zip.zst", zstd(&wheel(&[("a.co", &code)])), "zip files in compressed streams are not examined"),
    ] {
        let folder = Folder::new();
        let path = folder.put(name, &bytes);
        let finished = audit(&[&path], "gfx942");
        assert_eq!(finished.code, Some(1), "{name}: {}{}", finished.stdout, finished.stderr);
        assert!(finished.stdout.contains(reason), "{name}: {}", finished.stdout);
        // Beside code that is fine, too.
        assert_eq!(audit(&[&path, CODE], "gfx942").code, Some(1), "{name}");
    }
}

#[test]
fn the_images_of_aotriton_are_read() {
    let folder = Folder::new();
    let code = fs::read(CODE).unwrap();
    let other = fs::read(folder.extract("cts/kernels/bundles/vector_add.ccob", "gfx1100", "x.co")).unwrap();
    fs::remove_file(folder.0.join("x.co")).unwrap();
    let images = aks2(&[("attn_fwd-a", &code), ("attn_fwd-b", &code), ("not compiled", b"")]);
    folder.put("amd-gfx942/flash/attn_fwd.aks2", &images);
    folder.put("amd-gfx1100/flash/attn_fwd.aks2", &aks2(&[("attn_fwd-a", &other)]));
    folder.put("torch.whl", &wheel(&[("lib/aotriton.images/amd-gfx942/a.aks2", &images)]));
    let (status, whole) = report(&[folder.path()], "gfx942,gfx1100");
    assert_eq!(status, Some(1), "the wheel has no code for gfx1100: {whole:#}");
    let family = file(&whole, "amd-*/flash/attn_fwd.aks2");
    assert_eq!((verdicts(family), &family["kind"]), (vec!["exact", "exact"], &"AOTriton's images".into()));
    assert_eq!(family["unpacked_size"], 2 * code.len() + other.len());
    assert_eq!(verdicts(file(&whole, "torch.whl(lib/aotriton.images/amd-gfx942/a.aks2)")), ["exact", "none"]);
    // The size that the header states, the end of the stream, and an image that is no code.
    let mut larger = images.clone();
    larger[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    for (bytes, reason) in [
        (larger, "they would have 4294967295 bytes"),
        (images[..images.len() / 2].to_vec(), "its xz stream cannot be unpacked"),
        (aks2(&[("fwd", &code), ("bwd", b"no code")]), "bwd: "),
    ] {
        let path = folder.put("broken.aks2", &bytes);
        let finished = audit(&[&path], "gfx942");
        assert_eq!(finished.code, Some(1), "{}", finished.stdout);
        assert!(finished.stdout.contains(reason), "{reason}: {}", finished.stdout);
    }
}

/// SQL of the file would run where a view, a virtual table or a generated column is read.
#[cfg(feature = "miopen")]
#[test]
fn a_database_runs_no_code_of_its_own() {
    let folder = Folder::new();
    let view = "CREATE VIEW kern_db AS SELECT 'a' kernel_name, '' kernel_args, zeroblob(1000000000) kernel_blob, \
                0 uncompressed_size";
    let posing = format!(
        "{view}; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'table' WHERE name = 'kern_db'"
    );
    let generated = "CREATE TABLE kern_db (kernel_name TEXT, kernel_args TEXT, uncompressed_size INT, \
                     kernel_blob AS (zeroblob(1000000000))); INSERT INTO kern_db VALUES ('a', '', 0)";
    let stored = generated.replace("1000000000))", "1000)) STORED");
    let hidden =
        "CREATE VIRTUAL TABLE kern_db USING fts5(kernel_name, kernel_args, kernel_blob, uncompressed_size)";
    for (name, schema, reason) in [
        ("view", view, "`kern_db` is a view, not a table"),
        ("posing", &posing, "malformed database schema (kern_db)"),
        ("generated", generated, "has the generated or hidden column `kernel_blob`"),
        ("stored", &stored, "has the generated or hidden column `kernel_blob`"),
        ("hidden", hidden, "`kern_db` is a virtual table, not a table"),
    ] {
        let path = folder.0.join(format!("{name}.kdb"));
        let made = Connection::open(&path).unwrap().execute_batch(schema);
        // A build of SQLite without full-text search.
        if name == "hidden" && made.is_err() {
            continue;
        }
        made.unwrap();
        let finished = audit(&[path.to_str().unwrap()], "gfx942");
        assert_eq!(finished.code, Some(1), "{name}: {}{}", finished.stdout, finished.stderr);
        assert!(finished.stdout.contains(reason), "{name}: {}", finished.stdout);
    }
}

/// Rows of a database count for the budget of its file.
#[cfg(feature = "miopen")]
#[test]
fn the_rows_of_a_database_share_a_budget() {
    let folder = Folder::new();
    let path = folder.0.join("bomb.kdb").display().to_string();
    let size = 48 << 20;
    let bomb = bzip2(&vec![0; size]);
    database(&path, &Vec::from_iter((0..8).map(|_| ("bomb", bomb.clone(), size))));
    let finished = audit(&[&path], "gfx942");
    assert_eq!(finished.code, Some(1), "{}{}", finished.stdout, finished.stderr);
    assert!(finished.stdout.contains("it unpacks to more than "), "{}", finished.stdout);
    assert!(finished.stdout.contains("the limit for a file of "), "{}", finished.stdout);
}

#[cfg(feature = "miopen")]
#[test]
fn the_databases_of_miopen_are_read() {
    let folder = Folder::new();
    let code = fs::read(CODE).unwrap();
    let path = |name: &str| folder.0.join(name).display().to_string();
    let good = ("conv.cpp.o", bzip2(&code), code.len());
    database(&path("gfx942.kdb"), &[good.clone(), ("plain.o", code.clone(), 0)]);
    Connection::open(path("other.db")).unwrap().execute("CREATE TABLE kernels (a INT)", []).unwrap();
    // A database that was written with a log beside it.
    database(&path("logged.kdb"), std::slice::from_ref(&good));
    let logged = Connection::open(path("logged.kdb")).unwrap();
    logged.pragma_update(None, "journal_mode", "wal").unwrap();
    drop(logged);
    folder.put("miopen.whl", &wheel(&[("db/gfx942.kdb", &fs::read(path("gfx942.kdb")).unwrap())]));
    let (status, whole) = report(&[folder.path()], "gfx942");
    assert_eq!(status, Some(0), "{whole:#}");
    for name in ["gfx942.kdb", "logged.kdb", "miopen.whl(db/gfx942.kdb)"] {
        assert_eq!(verdicts(file(&whole, name)), ["exact"], "{name}");
    }
    assert_eq!(file(&whole, "/gfx942.kdb")["unpacked_size"], 2 * code.len());
    assert_eq!(audit(&[&path("gfx942.kdb")], "gfx1100").code, Some(1));
    for (name, blob, size, reason) in [
        ("bomb", bzip2(&vec![0; 32 << 20]), code.len(), "it unpacks to more than"),
        ("large", bzip2(&code), usize::MAX >> 1, "its code would have more bytes than any code"),
        ("cut", bzip2(&code)[..900].to_vec(), code.len(), "its bzip2 stream cannot be unpacked"),
        ("text", bzip2(b"no code"), 7, "text -mcpu=gfx942: "),
    ] {
        let broken = path(&format!("{name}.kdb"));
        database(&broken, &[good.clone(), (name, blob, size)]);
        let finished = audit(&[&broken], "gfx942");
        assert_eq!(finished.code, Some(1), "{name}: {}", finished.stdout);
        assert!(finished.stdout.contains(reason), "{name}: {}", finished.stdout);
    }
    let damaged = fs::read(path("gfx942.kdb")).unwrap();
    let cut = folder.put("damaged.kdb", &damaged[..damaged.len() / 2]);
    assert_eq!(audit(&[&cut], "gfx942").code, Some(1));
}
