// SPDX-License-Identifier: MIT OR Apache-2.0
//! No file costs more memory than its size, its declared size and the limits allow.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use windlass_codeobject::{CodeObject, Error, File, ImageCache, Input, Options, Wheel, bytes_at};

#[allow(dead_code, unused_imports, reason = "shared with the suite, of which this binary needs a part")]
mod support;

use support::{
    Ccob, ElfBuilder, KernelSpec, Row, amd1, archive, compressed_offload_binary, hip1, host_elf, kpack,
    offload_binary, plain, plain_rows, stripped_host_elf, zip, zlib, zstd_frame,
};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
/// The size limit of a single allocation.
static LARGEST: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The tests of this binary run one at a time, because they share the counters.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn grow(size: usize) {
    let now = NOW.fetch_add(size, Ordering::Relaxed) + size;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged, or refused.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
        grow(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > LARGEST.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
        // A shrinking allocation stays in place; a growing one may briefly exist twice.
        if size > layout.size() {
            grow(size);
            NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        } else {
            NOW.fetch_sub(layout.size() - size, Ordering::Relaxed);
        }
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SLACK: usize = 2 << 20;

/// The peak memory of `work`, beyond the memory in use before.
fn peak(work: impl FnOnce()) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    work();
    PEAK.load(Ordering::Relaxed) - before
}

fn read_everything(bytes: &[u8], options: &Options) {
    let _ = CodeObject::parse(bytes);
    let Ok(file) = File::parse(bytes, options) else { return };
    for bundle in file.bundles() {
        for agent in ["gfx942:sramecc+:xnack-", "gfx90a:sramecc+:xnack+", "gfx1100"] {
            bundle.select(&agent.parse().unwrap(), options);
        }
        for index in 0..bundle.entries().len() {
            let _ = bundle.with_image(index, |image| drop(CodeObject::parse(image)));
        }
        for index in 0..bundle.entries().len() {
            let _ = bundle.take_image(index).map(|image| image.code_object().is_ok());
        }
    }
}

#[test]
fn what_a_bundle_declares_is_not_believed() {
    let _turn = turn();
    let id = b"hip-amdgcn-amd-amdhsa--gfx942".to_vec();
    let table = |size| plain_rows(1, &[Row { offset: 4096, size, id_size: None, id: id.clone() }], b"");
    for declared in [512 << 20, 4 << 30, 1 << 60] {
        let content = table(declared - 4096);
        for ccob in [Ccob::zstd(3, &content), Ccob::zlib(3, &content)] {
            let bytes = Ccob { unpacked_size: declared, ..ccob }.bytes();
            let peak = peak(|| read_everything(&bytes, &Options::default()));
            assert!(peak < SLACK, "{declared} bytes are declared, {peak} were taken");
        }
    }
}

#[test]
fn a_bomb_stops_at_the_limit() {
    let _turn = turn();
    let size = 256 << 20;
    let id = "hip-amdgcn-amd-amdhsa--gfx942";
    let content = plain(&[(id, &vec![0; size])], 8);
    let bombs = [Ccob::zstd(3, &content), Ccob::zlib(3, &content)].map(|ccob| ccob.bytes());
    drop(content);
    let mut options = Options::default();
    options.max_unpacked = 16 << 20;
    for bytes in &bombs {
        let peak = peak(|| {
            let file = File::parse(bytes, &options).unwrap();
            assert!(file.bundles()[0].extract(0).is_err());
        });
        assert!(peak < SLACK, "{peak}");
    }
    options.max_unpacked = 300 << 20;
    for bytes in &bombs {
        let peak = peak(|| {
            let file = File::parse(bytes, &options).unwrap();
            assert_eq!(file.bundles()[0].with_image(0, <[u8]>::len), Ok(size));
        });
        assert!(peak >= size, "the bomb is real");
    }
}

#[test]
fn an_image_costs_the_bytes_up_to_its_end() {
    let _turn = turn();
    let ids = ["hip-amdgcn-amd-amdhsa--gfx942", "hip-amdgcn-amd-amdhsa--gfx90a"];
    // Half of it is noise, for sizes like those of real code.
    let noise = |at: u32| (at.wrapping_mul(0x9e37_79b1) ^ at.wrapping_mul(0x85eb_ca6b) >> 15) >> 13;
    let image: Vec<u8> = (0..8 << 20).map(|at| if at & 8 == 0 { 0 } else { noise(at) as u8 }).collect();
    let content = plain(&ids.map(|id| (id, &image[..])), 4096);
    let unpacked = content.len();
    for ccob in [Ccob::zstd(3, &content), Ccob::zlib(3, &content)] {
        let bytes = ccob.bytes();
        for entry in [0, 1] {
            let mut taken = None;
            let before = NOW.load(Ordering::Relaxed);
            let peak = peak(|| {
                let file = File::parse(&bytes, &Options::default()).unwrap();
                taken = Some(file.bundles()[0].take_image(entry).unwrap());
            });
            let held = NOW.load(Ordering::Relaxed) - before;
            assert!(taken.unwrap()[..] == image, "entry {entry}");
            assert!(peak < unpacked + SLACK, "entry {entry} took {peak}");
            assert!(held < 2 * image.len() + SLACK, "entry {entry} holds {held}");
        }
    }
}

#[test]
fn want_of_memory_passes() {
    let _turn = turn();
    let code = ElfBuilder::new(vec![KernelSpec::new("k")]).build();
    let host = vec![1; 8 << 20];
    let content =
        plain(&[("host-x86_64-unknown-linux", &host), ("hipv4-amdgcn-amd-amdhsa--gfx942", &code)], 4096);
    let (agent, options) = ("gfx942:sramecc+:xnack-".parse().unwrap(), Options::default());
    for bytes in [Ccob::zstd(3, &content).bytes(), Ccob::zlib(2, &content).bytes()] {
        let file = File::parse(&bytes, &options).unwrap();
        let cache = ImageCache::new(1 << 20);
        for _ in 0..2 {
            LARGEST.store(4 << 20, Ordering::Relaxed);
            let choice = cache.choose(&file.bundles()[0], &agent, &options);
            LARGEST.store(usize::MAX, Ordering::Relaxed);
            let choice = choice.unwrap();
            assert!(choice.image.is_none());
            let verdict = choice.selection.verdicts[1].to_string();
            assert!(verdict.contains("no memory for"), "{verdict}");
            assert_eq!((cache.stats().choices, cache.stats().bytes), (0, 0), "it is not kept");
        }
        let choice = cache.choose(&file.bundles()[0], &agent, &options).unwrap();
        assert!(choice.image.as_ref().unwrap()[..] == code);
        assert_eq!((cache.stats().decodes, cache.stats().hits), (3, 0));
    }
}

#[test]
fn bytes_that_were_never_packed_are_not_reserved() {
    let _turn = turn();
    let id = b"hip-amdgcn-amd-amdhsa--gfx942".to_vec();
    let size = 200 << 20;
    let content = plain_rows(1, &[Row { offset: 100, size: size - 100, id_size: None, id }], &[3; 1 << 20]);
    for payload in [(0, zlib(&content)), (1, zstd_frame(&content))] {
        let (method, payload) = payload;
        let bytes = Ccob { version: 3, method, payload, unpacked_size: size, stored_size: None }.bytes();
        let peak = peak(|| read_everything(&bytes, &Options::default()));
        assert!(peak < 3 * content.len() + SLACK, "{peak}");
    }
}

#[test]
fn metadata_costs_a_small_multiple_of_its_size() {
    let _turn = turn();
    // A list of empty maps, each of one byte, and one of empty arguments.
    let mut kernels = b"\x81\xaeamdhsa.kernels\xdd\x00\x0f\x00\x00".to_vec();
    kernels.resize(kernels.len() + 0xf_0000, 0x80);
    let mut args = b"\x81\xaeamdhsa.kernels\x91\x82\xa5.name\xa1k\xa5.args\xdd\x00\x0f\x00\x00".to_vec();
    args.resize(args.len() + 0xf_0000, 0x80);
    for note in [kernels, args] {
        let elf = raw_note(&note);
        let peak = peak(|| {
            let code = CodeObject::parse(&elf).unwrap();
            assert_eq!(code.kernels(), []);
            assert!(!code.rejected().is_empty());
        });
        assert!(peak < SLACK, "{peak}");
    }
}

/// An ELF that is a header, a note segment and nothing else.
fn raw_note(content: &[u8]) -> Vec<u8> {
    const NAME: &[u8] = b"AMDGPU\0\0";
    let mut builder = ElfBuilder::new(vec![]);
    builder.with_note = false;
    let mut elf = builder.build();
    let note = elf.len() as u64;
    elf.extend([NAME.len() as u32 - 1, content.len() as u32, 32].map(u32::to_le_bytes).concat());
    elf.extend(NAME);
    elf.extend(content);
    let size = elf.len() as u64 - note;
    elf.resize(elf.len().next_multiple_of(8), 0);
    let program = elf.len() as u64;
    elf.extend([4_u32, 4].map(u32::to_le_bytes).concat());
    elf.extend([note, note, note, size, size, 4].map(u64::to_le_bytes).concat());
    elf[32..40].copy_from_slice(&program.to_le_bytes());
    elf[56..58].copy_from_slice(&1_u16.to_le_bytes());
    elf
}

#[test]
fn symbols_that_share_a_long_name_are_bounded() {
    let _turn = turn();
    let mut builder = ElfBuilder::new(vec![]);
    builder.symbols = vec![(Vec::new(), 0x2000, 4, 0x11, 3); 10_000];
    for terminator in [&b"\0"[..], b""] {
        builder.strings = Some(([&vec![b'x'; 1 << 20][..], terminator].concat(), 1));
        let elf = builder.build();
        let peak = peak(|| assert!(CodeObject::parse(&elf).is_err()));
        assert!(peak < 5 * elf.len() + SLACK, "{peak}");
    }
}

#[test]
fn ids_are_bounded_whatever_a_table_unpacks_to() {
    let _turn = turn();
    for size in [100, 1000] {
        let row = Row { offset: 0, size: 0, id_size: None, id: vec![0xff; size] };
        let table = plain_rows(4096, &vec![row; 4096], b"");
        let bytes = Ccob::zlib(2, &table).bytes().repeat(16);
        let peak = peak(|| read_everything(&bytes, &Options::default()));
        assert!(peak < 2 * SLACK, "ids of {size} bytes took {peak}");
    }
}

#[test]
fn sections_that_share_a_name_cost_a_small_multiple_of_the_file() {
    let _turn = turn();
    let name = format!("__CLANG_OFFLOAD_BUNDLE__{}", "x".repeat(224));
    let mut object = host_elf(&[&[(name.as_str(), &b"x"[..])][..], &[("", &b"x"[..]); 4095]].concat());
    let table = u64::from_le_bytes(object[40..48].try_into().unwrap()) as usize;
    let shared: [u8; 4] = object[table + 64..table + 68].try_into().unwrap();
    for index in 2..4097 {
        object[table + 64 * index..table + 64 * index + 4].copy_from_slice(&shared);
    }
    let bytes = archive(&vec![("a.o", &object[..]); 20]);
    let peak = peak(|| {
        let file = File::parse(&bytes, &Options::default()).unwrap();
        assert!(matches!(file.problems().first(), Some(Error::Member { .. })));
    });
    assert!(peak < 2 * bytes.len() + SLACK, "{peak} for {}", bytes.len());
}

#[test]
fn hostile_files_stay_within_their_size() {
    let _turn = turn();
    let Some(root) = support::fixtures() else { return };
    for entry in std::fs::read_dir(root.join("hostile")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        // None of these files has more than 200 KB unpacked.
        let peak = peak(|| read_everything(&bytes, &Options::default()));
        assert!(peak < (200 << 10) + SLACK, "{}: {peak}", path.display());
    }
}

/// Each container once with code of 8 MB: unpacked data exists at most twice, as a bundle and as its image, and stored
/// data costs only the image. Above the cap nothing is unpacked.
#[test]
fn every_container_costs_what_is_unpacked() {
    let _turn = turn();
    let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
    builder.spare = 8 << 20;
    let elf = builder.build();
    let id = "hipv4-amdgcn-amd-amdhsa--gfx942";
    let bundle = plain(&[(id, &elf)], 4096);
    let host = host_elf(&[(".hip_fatbin", &bundle)]);
    let third = offload_binary(3, 4, "gfx942", &elf);
    let images = [("liba.so#0", "gfx942", &elf[..])];
    let inner = archive(&[("a.o/", &host)]);
    let containers = [
        ("bundle", 1, bundle.clone()),
        ("CCOB, zstd", 2, Ccob::zstd(3, &bundle).bytes()),
        ("CCOB, zlib", 2, Ccob::zlib(2, &bundle).bytes()),
        ("offload binary 1", 1, offload_binary(1, 4, "gfx942", &elf)),
        ("offload binary 2", 1, offload_binary(2, 4, "gfx942", &elf)),
        ("offload binary 3, packed", 2, compressed_offload_binary(&third, zstd_frame)),
        ("offload binary 3", 1, third),
        ("HIP1", 1, hip1(&[&elf])),
        ("AMD1", 1, amd1(&[&elf])),
        ("stored in a zip file", 1, zip(0, false, &[("a.co", &elf)])),
        ("kpack", 1, kpack(false, &images, |_| {})),
        ("kpack, packed", 2, kpack(true, &images, |_| {})),
        ("stripped host", 1, stripped_host_elf(&[&bundle], true)),
        ("archive in an archive", 1, archive(&[("b.a/", &inner)])),
        ("host", 1, host),
        ("archive", 1, inner),
    ];
    drop((bundle, images));
    let mut capped = Options::default();
    capped.max_unpacked = 1 << 20;
    for (name, copies, bytes) in &containers {
        let found = File::parse(bytes, &Options::default()).unwrap();
        assert!(*name == "archive in an archive" || !found.bundles().is_empty(), "{name}");
        drop(found);
        let peak_of = |options: &Options| peak(|| read_everything(bytes, options));
        let most = copies * (elf.len() + 4096);
        let taken = peak_of(&Options::default());
        assert!(taken < most + SLACK, "{name}: {taken} of {most}");
        if *copies == 2 {
            let taken = peak_of(&capped);
            assert!(taken < (1 << 20) + SLACK, "{name}, capped: {taken}");
        }
        for cut in [bytes.len() - 1, bytes.len() / 2, bytes.len() / 3] {
            let taken = peak(|| read_everything(&bytes[..cut], &Options::default()));
            assert!(taken < most + SLACK, "{name}, cut to {cut}: {taken} of {most}");
        }
    }
}

/// A folder of one test, deleted on drop.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("memory-{}-{name}", std::process::id());
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> std::path::PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn large_elf() -> Vec<u8> {
    let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
    builder.spare = 8 << 20;
    builder.build()
}

/// Opens a file, and finds its bundles.
fn open_everything(path: &std::path::Path, options: &Options) -> usize {
    let Ok(input) = Input::open(path, options) else { return 0 };
    input.file(options).map_or(0, |file| file.bundles().len())
}

#[test]
fn a_wheel_costs_itself_and_its_code_at_once_or_its_largest_member_one_at_a_time() {
    let _turn = turn();
    let folder = Folder::new("wheel");
    // Half of it is noise, for sizes like those of real code.
    let mut elf = large_elf();
    let mut state = 1_u32;
    elf.extend((0..8 << 20).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    }));
    let names = ["a.co", "b.co", "c.co"];
    let no_code = vec![7; 32 << 20];
    let members: Vec<_> =
        names.iter().map(|name| (*name, &elf[..])).chain([("data", &no_code[..])]).collect();
    let bytes = zip(8, false, &members);
    let path = folder.put("a.whl", &bytes);
    let stored = bytes.len();
    drop((bytes, no_code));
    let all = peak(|| assert_eq!(open_everything(&path, &Options::default()), 3));
    assert!(all < stored + 3 * elf.len() + SLACK, "{all}");
    let each = peak(|| {
        let options = Options::default();
        let wheel = Wheel::open(&path).unwrap();
        for member in wheel.members().filter(|member| member.may_hold_code().unwrap()) {
            let input = member.open(&options).unwrap();
            assert_eq!(input.file(&options).unwrap().bundles().len(), 1);
        }
    });
    assert!(each < elf.len() + SLACK, "{each}");
    let mut capped = Options::default();
    capped.max_unpacked = 1 << 20;
    let none = peak(|| assert_eq!(open_everything(&path, &capped), 0));
    assert!(none < stored + (1 << 20) + SLACK, "{none}");
    let wheel = Wheel::open(&path).unwrap();
    let none = peak(|| assert!(wheel.members().all(|member| member.open(&capped).is_err())));
    assert!(none < (1 << 20) + SLACK, "{none}");
}

/// Bytes that do not compress.
fn noise(size: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..size).map(|_| next()).collect()
}

#[test]
fn a_file_in_place_costs_one_entry() {
    let _turn = turn();
    const COUNT: usize = 10;
    let folder = Folder::new("in-place");
    let options = Options::default();
    let entry = noise(8 << 20);
    let bundle = plain(&[("hipv4-amdgcn-amd-amdhsa--gfx942", &entry)], 4096);
    let names: Vec<String> = (0..COUNT).map(|index| format!("lib{index}.so")).collect();
    let images: Vec<_> = names.iter().map(|name| (&name[..], "gfx942", &entry[..])).collect();
    let members: Vec<_> = names.iter().map(|name| (&name[..], &bundle[..])).collect();
    // The output of compressed bundles is reserved before it is written, which this count cannot tell from memory in use.
    for (name, bytes) in [
        ("plain.so", host_elf(&[(".hip_fatbin", &bundle.repeat(COUNT))])),
        ("plain.kpack", kpack(false, &images, |_| {})),
        ("a.a", archive(&members)),
    ] {
        let path = folder.put(name, &bytes);
        drop(bytes);
        let taken = peak(|| {
            let input = Input::open_in_place(&path, &options).unwrap();
            let file = input.file(&options).unwrap();
            assert_eq!(file.bundles().len(), COUNT, "{name}");
            for bundle in file.bundles() {
                bundle.with_image(0, |image| assert!(image == entry)).unwrap();
            }
        });
        assert!(taken < entry.len() + SLACK, "{name}: {taken}");
    }
}

#[test]
fn what_the_headers_of_a_file_in_place_claim_is_not_read() {
    let _turn = turn();
    let folder = Folder::new("claims");
    let mut elf = host_elf(&[(".hip_fatbin", b"code")]);
    let table = u64::from_le_bytes(elf[40..48].try_into().unwrap()) as usize;
    // The first section header states the number of headers if the ELF header has none.
    elf[60..62].fill(0);
    elf[table + 32..table + 40].copy_from_slice(&(30_u64 << 20).to_le_bytes());
    let path = folder.put("a.so", &elf);
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(2 << 30).unwrap();
    let options = Options::default();
    let taken = peak(|| {
        let input = Input::open_in_place(&path, &options).unwrap();
        assert!(input.file(&options).is_err());
    });
    assert!(taken < SLACK, "{taken}");
}

#[test]
fn members_that_declare_much_and_hold_little_cost_little() {
    let _turn = turn();
    let folder = Folder::new("liar");
    let elf = ElfBuilder::new(vec![KernelSpec::new("k")]).build();
    let honest = zip(8, false, &[("a.co", &elf)]);
    // The size that the directory and the member's own header declare, as zip's writers place it.
    let size = u32::try_from(elf.len()).unwrap().to_le_bytes();
    let mut bytes = honest.clone();
    for at in 0..bytes.len() - 4 {
        if honest[at..at + 4] == size {
            bytes[at..at + 4].copy_from_slice(&(900_u32 << 20).to_le_bytes());
        }
    }
    assert!(bytes != honest);
    let path = folder.put("a.whl", &bytes);
    let taken = peak(|| {
        open_everything(&path, &Options::default());
        let Ok(wheel) = Wheel::open(&path) else { return };
        for member in wheel.members() {
            assert!(member.open(&Options::default()).is_err(), "it has less than it says");
        }
    });
    assert!(taken < SLACK, "{taken}");
}

#[test]
fn what_lies_at_an_address_is_not_copied() {
    let _turn = turn();
    let elf = large_elf();
    let bundle = plain(&[("hipv4-amdgcn-amd-amdhsa--gfx942", &elf)], 4096);
    for bytes in [&elf, &bundle, &Ccob::zstd(3, &bundle).bytes(), &Ccob::zlib(1, &bundle).bytes()] {
        let taken = peak(|| {
            // SAFETY: the bytes exist and do not change.
            let found = unsafe { bytes_at(bytes.as_ptr(), &Options::default()) }.unwrap();
            assert_eq!(found.len(), bytes.len());
        });
        assert!(taken < SLACK, "{taken}");
    }
}

/// The limit is about time: unpacking each of them up to the cap of one bundle would take an hour for a file of a few
/// megabytes.
#[test]
fn ends_that_only_a_decoder_finds_have_a_limit_together() {
    let _turn = turn();
    let size = 200 << 20;
    let content = plain(&[("hip-amdgcn-amd-amdhsa--gfx942", &vec![0; size])], 8);
    let one = Ccob::zlib(1, &content).bytes();
    drop(content);
    let bytes = one.repeat(8);
    let taken = peak(|| {
        let file = File::parse(&bytes, &Options::default()).unwrap();
        assert!((5..8).contains(&file.bundles().len()), "{}", file.bundles().len());
        assert!(matches!(file.problems(), [Error::Limit { .. }, ..]), "{:?}", file.problems());
    });
    assert!(taken < 2 * SLACK, "{taken}");
    let few = one.repeat(4);
    assert_eq!(File::parse(&few, &Options::default()).unwrap().bundles().len(), 4);
}
