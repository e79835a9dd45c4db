// SPDX-License-Identifier: MIT OR Apache-2.0
//! The crate's results and errors on inputs that are built here and, if available, on real ones.

#[cfg_attr(not(any(feature = "zstd-c", feature = "zstd-pure")), allow(dead_code, unused_imports))]
#[path = "../support/mod.rs"]
mod support;

#[cfg(all(target_os = "linux", any(feature = "zstd-c", feature = "zstd-pure")))]
mod address;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod bundler;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod carriers;
mod code_objects;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod containers;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod damaged_neighbours;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod damaged_streams;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod fixtures;
#[cfg(all(target_os = "linux", any(feature = "zstd-c", feature = "zstd-pure")))]
mod guarded;
mod host_library;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod hostile;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod image_cache;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod in_place;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod input;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod iree;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod kpack;
mod metadata;
mod mutations;
mod notes;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod resolve;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod selection;
mod shared_bytes;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod stripped_hosts;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod symbols;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod tools;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod until;
mod validate;
#[cfg(not(any(feature = "zstd-c", feature = "zstd-pure")))]
mod without_zstd;
mod writer;
#[cfg(any(feature = "zstd-c", feature = "zstd-pure"))]
mod zips;

const GFX942: &str = "hipv4-amdgcn-amd-amdhsa--gfx942";
const HOST: &str = "host-x86_64-unknown-linux-gnu-";

fn send_and_sync<T: Send + Sync>(_: &T) {}

#[test]
fn a_file_can_be_shared_by_threads() {
    let elf = support::ElfBuilder::new(vec![support::KernelSpec::new("k")]).build();
    let bytes = support::Ccob::zlib(3, &support::plain(&[(HOST, b""), (GFX942, &elf)], 8)).bytes();
    let file = windlass_codeobject::File::parse(&bytes, &windlass_codeobject::Options::default()).unwrap();
    send_and_sync(&file);
    let images: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(|| file.bundles()[0].extract(1).unwrap())).collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    assert!(images.iter().all(|image| *image == elf));
}
