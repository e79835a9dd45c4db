// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decoded entries are shared: decoding, waiting, eviction.

use std::sync::{Arc, Barrier};
use std::thread;

use windlass_codeobject::{Choice, File, ImageCache, Options, TargetId};

use crate::support::{Ccob, ElfBuilder, KernelSpec, plain};

const ANY: &str = "hipv4-amdgcn-amd-amdhsa--gfx90a";
const ON: &str = "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+";
const OFF: &str = "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-";
/// The flags of an ELF for gfx90a, and its modes of xnack.
const GFX90A: u32 = 0x3f;
const XNACK_OFF: u32 = 0x200;
const XNACK_ON: u32 = 0x300;

fn elf(kernel: &str, flags: u32) -> Vec<u8> {
    let mut builder = ElfBuilder::new(vec![KernelSpec::new(kernel)]);
    builder.flags = flags;
    builder.build()
}

/// An ELF that can be chosen but not parsed. Under Miri it is cut short, because hashing all of it takes minutes
/// there.
fn elf_to_choose(kernel: &str, flags: u32) -> Vec<u8> {
    let mut code = elf(kernel, flags);
    if cfg!(miri) {
        code.truncate(1000);
    }
    code
}

fn agent(xnack: char) -> TargetId {
    format!("gfx90a:sramecc+:xnack{xnack}").parse().unwrap()
}

fn choose(cache: &ImageCache, bytes: &[u8], agent: &TargetId) -> Arc<Choice> {
    let options = Options::default();
    let file = File::parse(bytes, &options).unwrap();
    cache.choose(&file.bundles()[0], agent, &options).unwrap()
}

fn image(choice: &Choice) -> &[u8] {
    choice.image.as_ref().expect("an entry fits")
}

#[test]
fn the_second_gpu_does_not_decode() {
    let code = elf("k", GFX90A | 0x100);
    let bytes = Ccob::zstd(3, &plain(&[(ANY, &code)], 4096)).bytes();
    let cache = ImageCache::new(1 << 20);
    let first = choose(&cache, &bytes, &agent('-'));
    let second = choose(&cache, &bytes.clone(), &agent('-'));
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(image(&first), code);
    assert_eq!(image(&first).as_ptr().addr() % 4096, 0);
    let parsed = second.image.as_ref().unwrap().code_object().unwrap();
    assert_eq!(parsed.kernels()[0].name, "k");
    let stats = cache.stats();
    assert_eq!((stats.decodes, stats.hits, stats.choices, stats.evictions), (1, 1, 1, 0));
    assert!(stats.bytes > code.len() && stats.bytes < code.len() + (64 << 10), "{stats:?}");
    cache.clear();
    assert_eq!((cache.stats().choices, cache.stats().bytes), (0, 0));
    assert_eq!(image(&first), code, "an image lives while it is held");
    choose(&cache, &bytes, &agent('-'));
    assert_eq!(cache.stats().decodes, 2);
}

#[test]
fn each_mode_has_its_own() {
    let on = elf_to_choose("on", GFX90A | XNACK_ON);
    let off = elf_to_choose("off", GFX90A | XNACK_OFF);
    let bytes = Ccob::zlib(2, &plain(&[(ON, &on), (OFF, &off)], 4096)).bytes();
    let cache = ImageCache::new(1 << 20);
    for _ in 0..2 {
        assert_eq!(image(&choose(&cache, &bytes, &agent('+'))), on);
        assert_eq!(image(&choose(&cache, &bytes, &agent('-'))), off);
    }
    assert_eq!((cache.stats().decodes, cache.stats().hits), (2, 2));
}

#[test]
fn other_content_and_other_options_are_other_choices() {
    let code = elf("k", GFX90A | 0x100);
    let cache = ImageCache::new(1 << 20);
    let content = plain(&[(ANY, &code)], 4096);
    for bytes in [Ccob::zstd(3, &content).bytes(), Ccob::zstd(2, &content).bytes()] {
        choose(&cache, &bytes, &agent('-'));
    }
    assert_eq!(cache.stats().decodes, 2);
    let bytes = Ccob::zstd(3, &content).bytes();
    let mut options = Options::default();
    options.max_unpacked = 4096;
    let file = File::parse(&bytes, &options).unwrap();
    let refused = cache.choose(&file.bundles()[0], &agent('-'), &options).unwrap();
    assert!(refused.image.is_none() && refused.selection.best.is_none());
    assert!(refused.selection.verdicts[0].to_string().contains("max_unpacked"), "{refused:?}");
    assert_eq!(image(&choose(&cache, &bytes, &agent('-'))), code);
}

#[test]
fn what_was_not_used_for_longest_leaves() {
    let code = elf_to_choose("k", GFX90A | 0x100);
    let bundles: Vec<_> = (1_u64..=3)
        .map(|version| {
            let content =
                plain(&[(ANY, &code), ("host-x86_64-unknown-linux--", &vec![1; version as usize])], 4096);
            Ccob::zstd(3, &content).bytes()
        })
        .collect();
    let one = ImageCache::new(usize::MAX);
    choose(&one, &bundles[0], &agent('-'));
    let size = one.stats().bytes;
    let cache = ImageCache::new(2 * size + size / 2);
    let held = choose(&cache, &bundles[0], &agent('-'));
    choose(&cache, &bundles[1], &agent('-'));
    choose(&cache, &bundles[0], &agent('-'));
    choose(&cache, &bundles[2], &agent('-'));
    let stats = cache.stats();
    assert_eq!((stats.decodes, stats.hits, stats.choices, stats.evictions), (3, 1, 2, 1));
    assert!(stats.bytes <= 2 * size + size / 2);
    assert!(Arc::ptr_eq(&held, &choose(&cache, &bundles[0], &agent('-'))));
    choose(&cache, &bundles[1], &agent('-'));
    assert_eq!(cache.stats().decodes, 4, "the second was the one that left");

    let none = ImageCache::new(0);
    for _ in 0..2 {
        assert_eq!(image(&choose(&none, &bundles[0], &agent('-'))), code);
    }
    assert_eq!((none.stats().decodes, none.stats().bytes, none.stats().choices), (2, 0, 0));
}

#[test]
fn threads_that_ask_at_once_decode_once() {
    let code = elf_to_choose("k", GFX90A | 0x100);
    let bytes = Ccob::zstd(3, &plain(&[(ANY, &code)], 4096)).bytes();
    let cache = ImageCache::new(1 << 20);
    let start = Barrier::new(8);
    let choices: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    choose(&cache, &bytes, &agent('-'))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(choices.iter().all(|choice| Arc::ptr_eq(choice, &choices[0])));
    assert_eq!((cache.stats().decodes, cache.stats().hits), (1, 7));
}

#[test]
fn a_failure_is_not_kept() {
    let code = elf("k", GFX90A | 0x100);
    let content = plain(&[(ANY, &code)], 4096);
    let cut = content.len() - 8;
    let broken = Ccob { payload: crate::support::zstd_frame(&content[..cut]), ..Ccob::zstd(3, &content) };
    let bytes = broken.bytes();
    let file = File::parse(&bytes, &Options::default()).unwrap();
    let cache = ImageCache::new(1 << 20);
    for _ in 0..2 {
        let error = cache.choose(&file.bundles()[0], &agent('-'), &Options::default()).unwrap_err();
        assert!(error.to_string().contains("zstd"), "{error}");
    }
    assert_eq!((cache.stats().decodes, cache.stats().choices), (0, 0));
}

#[test]
fn what_is_not_compressed_is_copied_for_each() {
    let code = elf("k", GFX90A | 0x100);
    let bytes = plain(&[(ANY, &code)], 1);
    let cache = ImageCache::new(1 << 20);
    let (first, second) = (choose(&cache, &bytes, &agent('-')), choose(&cache, &bytes, &agent('-')));
    assert_eq!((image(&first), image(&second)), (&code[..], &code[..]));
    assert!(!Arc::ptr_eq(&first, &second));
    assert_eq!(cache.stats(), ImageCache::new(0).stats());
}

#[test]
fn what_was_parsed_of_an_image_counts() {
    const SYMBOLS: usize = if cfg!(miri) { 150 } else { 500 };
    let mut builder = ElfBuilder::new(Vec::new());
    builder.flags = GFX90A | 0x100;
    builder.symbols = (0..SYMBOLS).map(|_| (vec![b'v'; 100], 0x3000, 4, 0x11, 3)).collect();
    let bytes = Ccob::zstd(3, &plain(&[(ANY, &builder.build())], 4096)).bytes();
    let parse = |choice: Arc<Choice>| {
        choice.image.as_ref().unwrap().code_object().unwrap();
    };
    let one = ImageCache::new(usize::MAX);
    let choice = choose(&one, &bytes, &agent('-'));
    let before = one.stats().bytes;
    parse(choice);
    assert!(one.stats().bytes > before + SYMBOLS * 100, "{:?}", one.stats());

    // An image may take a page more, depending on the allocator.
    let cache = ImageCache::new(before + 2 * 4096);
    parse(choose(&cache, &bytes, &agent('-')));
    assert_eq!(cache.stats().choices, 1);
    choose(&cache, &bytes, &agent('-'));
    assert_eq!(
        (cache.stats().hits, cache.stats().choices, cache.stats().bytes),
        (1, 0, 0),
        "it grew too large"
    );
}

/// Many devices request few bundles, and the cache has no room for all of them.
#[test]
fn threads_that_push_each_others_choices_out() {
    const THREADS: usize = if cfg!(miri) { 2 } else { 8 };
    const ROUNDS: usize = if cfg!(miri) { 2 } else { 200 };
    let code = |key: usize| elf_to_choose(&format!("kernel{key}"), GFX90A | [XNACK_ON, XNACK_OFF][key % 2]);
    let codes: Vec<Vec<u8>> = (0..4).map(code).collect();
    let bundle = |key: usize| Ccob::zstd(3, &plain(&[([ON, OFF][key % 2], &codes[key])], 4096)).bytes();
    let bundles: Vec<Vec<u8>> = (0..4).map(bundle).collect();
    let one = ImageCache::new(usize::MAX);
    choose(&one, &bundles[0], &agent('+'));
    // Nothing, one and a half, three, all.
    for room in [0, 3, 6, 20] {
        let cache = ImageCache::new(one.stats().bytes * room / 2);
        let start = Barrier::new(THREADS);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (cache, start, codes, bundles) = (&cache, &start, &codes, &bundles);
                scope.spawn(move || {
                    start.wait();
                    let mut random = thread as u32 + 1;
                    for _ in 0..ROUNDS {
                        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        let key = (random >> 24) as usize % 4;
                        let choice = choose(cache, &bundles[key], &agent(['+', '-'][key % 2]));
                        assert_eq!(image(&choice), codes[key]);
                        if random >> 16 & 0x3f == 0 {
                            cache.clear();
                        }
                    }
                });
            }
        });
        let stats = cache.stats();
        assert_eq!(stats.hits + stats.decodes, (THREADS * ROUNDS) as u64, "{stats:?}");
        assert!(stats.bytes <= one.stats().bytes * room / 2, "{stats:?}");
        assert!(stats.choices <= 4 && stats.evictions <= stats.decodes, "{stats:?}");
    }
}
