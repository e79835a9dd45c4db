// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that stay where they are: the same results as bytes in memory, and an error where the file changes.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use windlass_codeobject::{Error, Input, Options, TargetId};

use crate::input::{Folder, elf, split_elf};
use crate::mutations::seeds;
use crate::support::{Ccob, archive, host_elf, kpack, plain, stripped_host_elf};
use crate::{GFX942, HOST};

/// Everything that an input gives, as text.
fn told(input: Result<Input, Error>, options: &Options) -> Vec<String> {
    let input = match input {
        Ok(input) => input,
        Err(error) => return vec![error.to_string()],
    };
    let file = match input.file(options) {
        Ok(file) => file,
        Err(error) => return vec![format!("{} bytes: {error}", input.size())],
    };
    let agents = ["gfx942:sramecc+:xnack-", "gfx90a:sramecc+:xnack+"].map(|agent| agent.parse().unwrap());
    let mut told = vec![format!("{} bytes, {:?}: {file:?}", input.size(), input.kpack_reference())];
    for bundle in file.bundles() {
        told.push(format!("{:?} {:?}", bundle.hash(), bundle.digest()));
        told.extend(agents.iter().map(|agent: &TargetId| format!("{:?}", bundle.select(agent, options))));
        for index in (0..bundle.entries().len()).rev() {
            told.push(format!("{:?}", bundle.with_image(index, <[u8]>::to_vec)));
            told.push(format!("{:?}", bundle.image(index)));
            told.push(format!("{:?}", bundle.take_image(index).map(|image| image.to_vec())));
        }
    }
    input.check().unwrap();
    told
}

fn both_tell_the_same(path: &Path) {
    let mut options = Options::default();
    options.max_unpacked = 4 << 20;
    let in_memory = told(Input::open(path, &options), &options);
    let in_place = told(Input::open_in_place(path, &options), &options);
    for (here, there) in in_place.iter().zip(&in_memory) {
        assert_eq!(here, there, "{}", path.display());
    }
    assert_eq!(in_place.len(), in_memory.len());
}

#[test]
fn a_file_in_place_tells_what_its_bytes_tell() {
    let folder = Folder::new();
    for (index, seed) in seeds().iter().enumerate() {
        both_tell_the_same(&folder.put(&format!("{index}.so"), seed));
    }
}

/// Bytes that do not compress.
fn noise(size: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    (0..size).map(|_| next()).collect()
}

/// Larger than the windows in which a file is searched and decoded.
#[test]
fn nothing_is_lost_where_one_window_ends() {
    let folder = Folder::new();
    let kernel = elf("k");
    let bundle = plain(&[(HOST, b""), (GFX942, &noise(700_000)), (GFX942, &kernel)], 64);
    let zeros = [0; 200_001];
    let mut unknown_end = plain(&[(GFX942, &kernel)], 64);
    unknown_end[24] = 0xff;
    unknown_end.resize(200_704, 1);
    for version in [1, 2, 3] {
        for ccob in [Ccob::zlib(version, &bundle), Ccob::zstd(version, &bundle)] {
            let row = [&ccob.bytes()[..], &zeros, &ccob.bytes(), &unknown_end, &bundle].concat();
            both_tell_the_same(&folder.put("a.so", &host_elf(&[(".hip_fatbin", &row)])));
        }
    }
    let bundles = vec![plain(&[(GFX942, &[7; 8])], 8); 3500];
    let bundles: Vec<&[u8]> = bundles.iter().map(Vec::as_slice).collect();
    for movable in [false, true] {
        let path = folder.put("a.so", &stripped_host_elf(&bundles, movable));
        let options = Options::default();
        let input = Input::open_in_place(&path, &options).unwrap();
        assert_eq!(input.file(&options).unwrap().bundles().len(), bundles.len(), "{movable}");
    }
}

#[test]
fn archives_beside_a_file_stay_in_place_too() {
    let folder = Folder::new();
    let (first, second) = (elf("first"), elf("second"));
    for compressed in [false, true] {
        let images = [("lib/liba.so", "gfx942", &first[..]), ("lib/liba.so", "gfx90a", &second)];
        folder.put(".kpack/a_gfx942.kpack", &kpack(compressed, &images, |_| {}));
        let path =
            folder.put("lib/liba.so", &split_elf("lib/liba.so", &["../.kpack/a_@GFXARCH@.kpack"], &[]));
        both_tell_the_same(&path);
        let options = Options::default();
        let input = Input::open_in_place(&path, &options).unwrap();
        assert_eq!(input.file(&options).unwrap().bundles()[0].extract(0).unwrap(), first);
    }
}

#[test]
fn bytes_and_places() {
    let folder = Folder::new();
    let kernel = elf("k");
    let path =
        folder.put("a.so", &host_elf(&[(".hip_fatbin", &plain(&[(HOST, b""), (GFX942, &kernel)], 64))]));
    let options = Options::default();
    let [read, placed] =
        [Input::open(&path, &options), Input::open_in_place(&path, &options)].map(Result::unwrap);
    assert_eq!(read.bytes().map(<[u8]>::len), Some(read.size() as usize));
    assert!(placed.bytes().is_none());
    let file = placed.file(&options).unwrap();
    let bundle = &file.bundles()[0];
    assert_eq!(bundle.stored_bytes(1), None);
    let place = bundle.stored_place(1).unwrap();
    assert_eq!(place.end - place.start, kernel.len() as u64);
    let other = Input::open_in_place(&path, &options).unwrap();
    let other = other.file(&options).unwrap().bundles()[0].stored_place(1).unwrap();
    assert!(other.end <= place.start || place.end <= other.start, "two files have no place in common");
}

#[test]
fn a_file_that_shrinks_is_an_error() {
    let folder = Folder::new();
    let kernel = elf("k");
    let large = plain(&[(HOST, b""), (GFX942, &kernel), (GFX942, &[7; 100_000])], 4096);
    for (name, bytes) in [
        ("plain.so", host_elf(&[(".hip_fatbin", &large)])),
        ("packed.hipfb", Ccob::zlib(3, &large).bytes()),
        ("a.a", archive(&[("a.co/", &kernel), ("b.fb/", &large)])),
    ] {
        let path = folder.put(name, &bytes);
        let options = Options::default();
        let input = Input::open_in_place(&path, &options).unwrap();
        let file = input.file(&options).unwrap();
        let last = file.bundles().last().unwrap();
        last.forget_unpacked();
        let cut = fs::OpenOptions::new().write(true).open(&path).unwrap();
        cut.set_len(64).unwrap();
        let shrunk = format!("shrank from {} to 64 bytes while it was read", bytes.len());
        for error in
            [last.extract(1).unwrap_err(), input.check().unwrap_err(), input.file(&options).unwrap_err()]
        {
            assert!(matches!(&error, Error::Read { path: named, .. } if *named == path), "{name}: {error:?}");
            assert!(error.to_string().contains(&shrunk), "{name}: {error}");
        }
    }
}

#[test]
fn a_file_that_is_written_is_an_error() {
    let folder = Folder::new();
    let path = folder.put("a.co", &elf("k"));
    let options = Options::default();
    let input = Input::open_in_place(&path, &options).unwrap();
    input.check().unwrap();
    let mut longer = fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut longer, b"more").unwrap();
    let error = input.check().unwrap_err().to_string();
    assert!(error.contains("was written while it was read"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 1 } else { 300 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_tell_the_same_in_place(
        seed in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::bool::weighted(0.33), any::<u8>()), 1..12),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let seeds = seeds();
        let mut bytes = seed.get(&seeds).clone();
        for (at, low, value) in changes {
            let size = if low { bytes.len().min(256) } else { bytes.len() };
            bytes[at.index(size)] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let folder = Folder::new();
        both_tell_the_same(&folder.put("a.so", &bytes));
    }
}
