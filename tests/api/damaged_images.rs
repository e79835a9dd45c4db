// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code objects with damaged headers on the simulated GPU, whose loader and memory check every access. Each is refused
//! with a specific code, or it loads and all of its variables are usable.

use std::time::Duration;

use windlass::{Code, Device, Semaphore};

const GLOBALS: &[u8] = include_bytes!("../../cts/kernels/bundles/globals.gfx942.co");
const FUNCTIONS: &[u8] = include_bytes!("../../cts/kernels/bundles/functions.gfx942.co");
/// Longer than any step takes, so a timeout is a failure.
const SOON: Duration = Duration::from_secs(60);

fn number(bytes: &[u8], at: usize, size: usize) -> usize {
    bytes[at..at + size].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

/// The bytes of the ELF header, the program headers and the section headers.
fn headers(image: &[u8]) -> impl Iterator<Item = usize> {
    let programs = number(image, 32, 8);
    let sections = number(image, 40, 8);
    (0..64)
        .chain(programs..programs + 56 * number(image, 56, 2))
        .chain(sections..sections + 64 * number(image, 60, 2))
}

/// Whether the image loads. If so, writes to all of its variables.
fn load(device: &Device, image: &[u8], what: &str) -> bool {
    // SAFETY: the simulated GPU checks every access.
    let executable = match unsafe { device.load_executable(image) } {
        Ok(executable) => executable,
        Err(error) => {
            // The loader refuses segments that claim more memory than a GPU has.
            let refused =
                [Code::InvalidArgument, Code::NotFound, Code::FailedPrecondition, Code::ResourceExhausted];
            assert!(refused.contains(&error.code()), "{what}: {error}");
            return false;
        }
    };
    let queue = device.queue(0).expect("a queue");
    for global in executable.globals() {
        let buffer = executable.global(&global.name).unwrap_or_else(|error| panic!("{what}: {error}"));
        let done = Semaphore::new(0);
        queue.fill(&[], &[done.at(1)], &buffer, 0_u8).unwrap_or_else(|error| panic!("{what}: {error}"));
        done.wait_blocking(1, SOON).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
    true
}

#[test]
fn damaged_headers_are_refused_or_harmless() {
    let device = windlass::open("hip-sim://gfx942?threads=1").expect("the simulated GPU opens");
    for (name, image) in [("globals", GLOBALS), ("functions", FUNCTIONS)] {
        assert!(load(&device, image, name));
        let (mut loaded, mut refused) = (0, 0);
        let mut damaged = image.to_vec();
        for at in headers(image) {
            for other in [image[at] ^ 0x80, image[at].wrapping_add(1)] {
                damaged[at] = other;
                let what = format!("{name}, byte {at:#x} = {other:#x}");
                *(if load(&device, &damaged, &what) { &mut loaded } else { &mut refused }) += 1;
            }
            damaged[at] = image[at];
        }
        assert!(loaded > 100 && refused > 100, "{name}: {loaded} loaded, {refused} were refused");
    }
}
