// SPDX-License-Identifier: MIT OR Apache-2.0
//! A damaged compressed bundle gives the same answer for each entry, independent of earlier calls.

use std::fmt::Write as _;

use windlass_codeobject::{Bundle, Error, File, Options};

use crate::support::{Ccob, ElfBuilder, KernelSpec, kpack, plain, zlib, zstd_frame, zstd_frame_without_size};
use crate::{GFX942, HOST};

type Way = fn(&Bundle<'_>, usize) -> Result<Vec<u8>, Error>;

/// Calls that give an entry's bytes. The last one asks for all heads first.
const WAYS: [Way; 4] = [
    |bundle, entry| bundle.extract(entry),
    |bundle, entry| bundle.take_image(entry).map(|image| image.to_vec()),
    |bundle, entry| bundle.with_image(entry, <[u8]>::to_vec),
    |bundle, entry| {
        bundle.select(&"gfx942:sramecc+:xnack-".parse().unwrap(), &Options::default());
        bundle.image(entry).map(std::borrow::Cow::into_owned)
    },
];

/// The results of calls in that order: for each entry its bytes, or none.
fn ask(bytes: &[u8], order: &[(usize, usize)]) -> Vec<(usize, Option<Vec<u8>>)> {
    let file = File::parse(bytes, &Options::default()).unwrap();
    let bundle = &file.bundles()[0];
    order.iter().map(|&(way, entry)| (entry, WAYS[way](bundle, entry).ok())).collect()
}

/// Reads each entry alone, then all in many orders. Returns the readable entries.
fn verdicts(bytes: &[u8], entries: usize, what: &str) -> Vec<bool> {
    let alone: Vec<Option<Vec<u8>>> =
        (0..entries).map(|entry| ask(bytes, &[(0, entry)]).remove(0).1).collect();
    let calls: Vec<(usize, usize)> =
        (0..WAYS.len()).flat_map(|way| (0..entries).map(move |entry| (way, entry))).collect();
    let pairs = calls.iter().flat_map(|first| calls.iter().map(move |second| (first, second)));
    // Miri runs a few of them, in which each way and each entry occurs.
    for (first, second) in pairs.step_by(if cfg!(miri) { 5 * calls.len() + 7 } else { 1 }) {
        for (entry, answer) in ask(bytes, &[*first, *second, *first]) {
            assert!(answer == alone[entry], "{what}: entry {entry}, asked {first:?} and {second:?}");
        }
    }
    alone.iter().map(Option::is_some).collect()
}

fn content() -> Vec<u8> {
    let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
    let (head, noise, packed, second) =
        if cfg!(miri) { (1000, 200, 200, 700) } else { (usize::MAX, 6000, 3000, 9000) };
    builder.spare = 3000;
    let mut elf = builder.build();
    elf.truncate(head);
    // Noise, which compressors store, and compressible data.
    elf.extend((0_u32..noise).map(|at| (at.wrapping_mul(0x9e37_79b1) >> 13) as u8));
    elf.extend(vec![7; packed]);
    let ids = [GFX942, "hipv4-amdgcn-amd-amdhsa--gfx90a", "hipv4-amdgcn-amd-amdhsa--gfx1100"];
    plain(&[(HOST, b""), (ids[0], &elf), (ids[1], &elf[..second]), (ids[2], &elf)], 64)
}

/// Streams of all kinds, with whether they end in a checksum; the zstd frames for Miri have none.
fn streams(content: &[u8]) -> Vec<(&'static str, Ccob, bool)> {
    let stored = {
        use std::io::Write as _;
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    };
    let cut = content.len() / 2;
    let frames = [&content[..cut], &content[cut..]].map(zstd_frame_without_size).concat();
    let zstd = |payload| Ccob { payload, ..Ccob::zstd(3, content) };
    let streams = [
        ("zlib", Ccob::zlib(3, content), true),
        ("zlib, stored", Ccob { payload: stored, ..Ccob::zlib(2, content) }, true),
        ("zstd", zstd(zstd_frame(content)), false),
        ("zstd with a checksum", zstd(zstd_frame_without_size(content)), !cfg!(miri)),
        ("zstd in two frames", zstd(frames), !cfg!(miri)),
    ];
    streams.into_iter().step_by(if cfg!(miri) { 2 } else { 1 }).collect()
}

#[test]
fn damage_anywhere_gives_one_answer_in_every_order() {
    let content = content();
    let mut seen = String::new();
    for (what, ccob, _) in streams(&content) {
        let size = ccob.payload.len();
        for part in (2..=16).step_by(if cfg!(miri) { 9 } else { 1 }) {
            let at = (size - 1) * part / 16;
            let (mut flipped, mut cut) = (ccob.clone(), ccob.clone());
            flipped.payload[at] ^= 0x55;
            cut.payload.truncate(at);
            for (how, ccob) in [("flipped", flipped), ("cut", cut)] {
                let bytes = ccob.bytes();
                let Ok(file) = File::parse(&bytes, &Options::default()) else { continue };
                let entries = file.bundles()[0].entries().len();
                let good = verdicts(&bytes, entries, &format!("{what}, {how} at {at} of {size}"));
                assert!(
                    good.is_sorted_by(|before, behind| before >= behind),
                    "what lies before damage is good"
                );
                writeln!(seen, "{}", good.iter().filter(|good| **good).count()).unwrap();
            }
        }
    }
    for good in ["1", "2", "3"] {
        assert!(seen.lines().any(|line| line == good), "no damage left {good} entries:\n{seen}");
    }
}

#[test]
fn a_wrong_checksum_costs_the_entry_at_the_end_and_no_other() {
    let content = content();
    for (what, mut ccob, has_checksum) in streams(&content) {
        assert_eq!(verdicts(&ccob.bytes(), 4, what), [true; 4]);
        if has_checksum {
            *ccob.payload.last_mut().unwrap() ^= 1;
            assert_eq!(verdicts(&ccob.bytes(), 4, what), [true, true, true, false], "{what}");
            if cfg!(not(feature = "zstd-c")) && ccob.method == 1 {
                // The pure decoder reads the checksum before it releases the window.
                continue;
            }
            ccob.payload.truncate(ccob.payload.len() - 2);
            assert_eq!(verdicts(&ccob.bytes(), 4, what), [true, true, true, false], "{what}, cut");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes: more than a megabyte, which is what may be reserved")]
fn a_stream_that_declares_more_than_may_be_reserved_gives_one_answer_too() {
    // Zeros compress so well that their declared size is not plausible.
    let blank = vec![0; 3 << 20];
    let ids = [GFX942, "hipv4-amdgcn-amd-amdhsa--gfx90a"];
    let content = plain(&[(HOST, b""), (ids[0], &blank), (ids[1], &blank[..100_000])], 64);
    for ccob in [Ccob::zlib(3, &content), Ccob { payload: zlib(&content), ..Ccob::zlib(1, &content) }] {
        let size = ccob.payload.len();
        damage(ccob, &[size / 2, size - 200, size - 20, size - 1]);
    }
    // Entries that end in the first megabyte, which proves the declared size, and behind it.
    let sizes = [65_536, 100_000, 1 << 20];
    let images: Vec<Vec<u8>> = sizes.iter().map(|&size| blank[..size].to_vec()).collect();
    let ids: Vec<String> =
        (0..sizes.len()).map(|index| format!("hipv4-amdgcn-amd-amdhsa--gfx10{}", 30 + index)).collect();
    let entries: Vec<(&str, &[u8])> =
        ids.iter().zip(&images).map(|(id, image)| (id.as_str(), image.as_slice())).collect();
    let content = plain(&entries, 64);
    for payload in [zstd_frame(&content), zstd_frame_without_size(&content)] {
        let ccob = Ccob { payload, ..Ccob::zstd(3, &content) };
        let size = ccob.payload.len();
        let places: Vec<usize> = (1..=20).map(|part| (size - 1) * part / 20).collect();
        damage(ccob, &places);
    }
    // Several frames, one of which has a wrong checksum.
    let frames = [&content[..80_000], &content[80_000..]].map(zstd_frame_without_size);
    let ccob = Ccob { payload: frames.concat(), ..Ccob::zstd(3, &content) };
    damage(ccob, &[frames[0].len() - 1, frames[0].len() - 2, frames[0].len() + 1]);
}

/// Reads the entries one after another, with one wrong byte.
fn damage(mut ccob: Ccob, places: &[usize]) {
    for &at in places {
        ccob.payload[at] ^= 0x55;
        let bytes = ccob.bytes();
        if let Ok(file) = File::parse(&bytes, &Options::default()) {
            verdicts(&bytes, file.bundles()[0].entries().len(), &format!("damaged at {at}"));
        }
        ccob.payload[at] ^= 0x55;
    }
}

#[test]
fn a_stream_that_holds_more_than_is_declared_gives_one_answer_wherever_its_memory_lies() {
    let content = content();
    let more = |size: usize| [&content[..], &vec![1; size]].concat();
    let mut held = Vec::new();
    let sizes: &[usize] = if cfg!(miri) { &[1, 4000] } else { &[1, 4000, 6000, 8200, 200_000] };
    for &size in sizes {
        let whole = zstd_frame_without_size(&more(size));
        let frames = [zstd_frame_without_size(&content), zstd_frame(&vec![1; size])].concat();
        for payload in [whole, frames, zlib(&more(size))] {
            let form = if payload[0] == 0x78 { Ccob::zlib(3, &content) } else { Ccob::zstd(3, &content) };
            let bytes = Ccob { payload, ..form }.bytes();
            let first = ask(&bytes, &[(0, 1), (0, 3)]);
            for round in 0..if cfg!(miri) { 1 } else { 40 } {
                held.push(vec![0_u8; 1 + round * 331 % 4999]);
                assert!(ask(&bytes, &[(0, 1), (0, 3)]) == first, "{size} more, round {round}");
            }
        }
    }
}

#[test]
fn each_kernel_of_a_kpack_archive_must_end_well() {
    let elf = ElfBuilder::new(vec![KernelSpec::new("k")]).build();
    let bytes = kpack(true, &[("liba.so#0", "gfx942", &elf[..]), ("liba.so#0", "gfx90a", &elf[..])], |_| {});
    let magic = 0xfd2f_b528_u32.to_le_bytes();
    let frame = bytes.windows(4).position(|bytes| bytes == magic).unwrap();
    assert_eq!(verdicts(&bytes, 2, "whole"), [true, true]);
    let mut damaged = bytes.clone();
    damaged[frame + elf.len() / 64] ^= 0x55;
    let file = File::parse(&damaged, &Options::default()).unwrap();
    let good = verdicts(&damaged, file.bundles()[0].entries().len(), "damaged");
    assert!(good[1], "a stream of its own");
}
