// SPDX-License-Identifier: MIT OR Apache-2.0
//! Listing and choosing in an uncompressed bundle touches only its table and the chosen entry; in a program, its
//! headers too. All other pages are unreadable here, so reading one ends the process. Miri has no such pages.
#![cfg(all(target_os = "linux", not(miri)))]

use std::ptr;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use windlass_codeobject::{File, ImageCache, Options};

#[allow(dead_code, unused_imports, reason = "shared with the suite, of which this binary needs a part")]
mod support;

use support::{ElfBuilder, KernelSpec, host_elf, plain};

const PAGE: usize = 4096;
/// Pages of an entry; the first holds the head of its ELF.
const PAGES: usize = 64;
const TARGETS: [&str; 6] = ["gfx900", "gfx90a:xnack+", "gfx90a:xnack-", "gfx942", "gfx1030", "gfx1100"];
const FLAGS: [u32; 6] = [0x12c, 0x73f, 0x63f, 0x54c, 0x36, 0x41];

/// Memory with some unreadable pages.
struct Fenced {
    start: *mut u8,
    len: usize,
    mapped: usize,
}

impl Fenced {
    /// A copy of `bytes`; `open` tells for each page whether it is readable.
    fn new(bytes: &[u8], open: impl Fn(usize) -> bool) -> Fenced {
        let mapped = bytes.len().next_multiple_of(PAGE);
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at any address.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), mapped, access, MapFlags::PRIVATE) }
            .expect("a mapping")
            .cast::<u8>();
        // SAFETY: the mapping has at least that many bytes, and no other code knows it.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
        for page in (0..mapped / PAGE).filter(|page| !open(*page)) {
            // SAFETY: the page lies in the mapping, and nothing borrows it yet.
            unsafe { mprotect(start.add(page * PAGE).cast(), PAGE, MprotectFlags::empty()) }
                .expect("a fence");
        }
        Fenced { start, len: bytes.len(), mapped }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping lives as long as `self`, and no code writes to it. The tests check that no code reads
        // the unreadable pages: doing so ends the process.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no borrow of it is left.
        unsafe { munmap(self.start.cast(), self.mapped) }.expect("unmaps");
    }
}

fn bundle() -> Vec<u8> {
    let images: Vec<Vec<u8>> = FLAGS
        .iter()
        .map(|flags| {
            let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
            builder.flags = *flags;
            let mut elf = builder.build();
            assert!(elf.len() < PAGES * PAGE);
            elf.resize(PAGES * PAGE, 0);
            elf
        })
        .collect();
    let ids = TARGETS.map(|target| format!("hipv4-amdgcn-amd-amdhsa--{target}"));
    let mut entries = vec![("host-x86_64-unknown-linux-gnu-", &[][..])];
    entries.extend(ids.iter().zip(&images).map(|(id, image)| (&id[..], &image[..])));
    plain(&entries, PAGE)
}

#[test]
fn choosing_reads_the_table_and_the_head_of_the_choice() {
    let bytes = bundle();
    let options = Options::default();
    for (agent, best) in [("gfx90a:sramecc+:xnack-", 3), ("gfx942:sramecc+:xnack-", 4), ("gfx1100", 6)] {
        let head = 1 + (best - 1) * PAGES;
        let fenced = Fenced::new(&bytes, |page| page == 0 || page == head);
        let file = File::parse(fenced.bytes(), &options).unwrap();
        assert_eq!(file.bundles()[0].select(&agent.parse().unwrap(), &options).best, Some(best));
    }
}

#[test]
fn loading_reads_the_chosen_entry_besides() {
    let bytes = bundle();
    let options = Options::default();
    let first = 1 + 3 * PAGES;
    let fenced = Fenced::new(&bytes, |page| page == 0 || (first..first + PAGES).contains(&page));
    let file = File::parse(fenced.bytes(), &options).unwrap();
    let agent = "gfx942:sramecc+:xnack-".parse().unwrap();
    let choice = ImageCache::new(0).choose(&file.bundles()[0], &agent, &options).unwrap();
    assert_eq!(choice.image.as_ref().unwrap()[..], bytes[first * PAGE..][..PAGES * PAGE]);
}

#[test]
fn choosing_in_a_program_reads_its_headers_besides() {
    let code = [0x90; 8 * PAGE];
    let (code, data) = (&code[64..], &code[..]);
    let bundle = bundle();
    let sections = [(".text", code), (".hip_fatbin", &bundle[..]), (".data", data)];
    let program = host_elf(&sections);
    let options = Options::default();
    let (table, head) = (8, 8 + 1 + 3 * PAGES);
    let headers = 8 + bundle.len() / PAGE + 8;
    let fenced = Fenced::new(&program, |page| page >= headers || [0, table, head].contains(&page));
    let file = File::parse(fenced.bytes(), &options).unwrap();
    assert_eq!(file.bundles()[0].select(&"gfx942".parse().unwrap(), &options).best, Some(4));
}
