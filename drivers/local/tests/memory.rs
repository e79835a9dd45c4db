// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes to and from memory: through mappings of every length, and through files in pieces.

use std::{
    io,
    sync::{Arc, Mutex},
};

use windlass_hal::{
    BufferParams, Deadline, Device, Registry, Semaphore,
    file::{File, Storage},
};
use windlass_local::LocalDriver;

fn device() -> Device {
    let mut registry = Registry::new();
    registry.register(Arc::new(LocalDriver::new()));
    registry.open("local://?threads=0").expect("the local device opens")
}

#[test]
fn a_mapping_copies_exactly_what_is_asked_for_at_any_length_and_offset() {
    let buffer = device().allocate(&BufferParams::host(), 1024).expect("memory");
    let mapping = buffer.map().expect("host memory maps");
    let source: Vec<u8> = (0..1024).map(|at| (at % 251 + 1) as u8).collect();
    for length in (0..300).chain([511, 512, 513, 1024]) {
        for offset in [0, 1, 7, 64].into_iter().filter(|offset| offset + length <= 1024) {
            mapping.write(0, &[0; 1024]).expect("in bounds");
            mapping.write(offset as u64, &source[..length]).expect("in bounds");
            let mut expected = vec![0; 1024];
            expected[offset..offset + length].copy_from_slice(&source[..length]);
            assert_eq!(mapping.to_vec(), expected, "{length} bytes at {offset}");
            let mut back = vec![0xEE; length + 2];
            mapping.read(offset as u64, &mut back[1..=length]).expect("in bounds");
            assert_eq!(back[1..=length], source[..length]);
            assert_eq!((back[0], back[length + 1]), (0xEE, 0xEE), "beside {length} bytes at {offset}");
        }
    }
}

/// A file of generated content that notes the requested ranges.
#[derive(Clone, Default)]
struct Watched {
    asked: Arc<Mutex<Vec<(u64, u64)>>>,
    written: Arc<Mutex<Vec<u8>>>,
}

fn content(at: u64) -> u8 {
    (at * 31 / 7) as u8
}

impl Storage for Watched {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.asked.lock().unwrap().push((offset, bytes.len() as u64));
        (offset..).zip(bytes).for_each(|(at, byte)| *byte = content(at));
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.asked.lock().unwrap().push((offset, bytes.len() as u64));
        self.written.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }
}

#[test]
fn a_file_goes_through_bounded_memory_piece_by_piece() {
    const PIECE: u64 = 4 << 20;
    for length in [1, PIECE, PIECE + 1, 3 * PIECE + 5] {
        let device = device();
        let queue = device.queue(0).expect("a queue");
        let buffer = device.allocate_device(length).expect("memory");
        let (file, done) = (Watched::default(), Semaphore::new(0));
        queue.read(&[], &[done.at(1)], &File::new(file.clone()), 9, &buffer).expect("submits");
        done.wait_blocking(1, Deadline::NEVER).expect("reads");
        queue.write(&[], &[done.at(2)], &buffer, &File::new(file.clone()), 9).expect("submits");
        done.wait_blocking(2, Deadline::NEVER).expect("writes");
        let expected: Vec<u8> = (9..9 + length).map(content).collect();
        assert!(*file.written.lock().unwrap() == expected, "{length} bytes differ");
        let starts = (0..length).step_by(PIECE as usize);
        let pieces: Vec<_> = starts.map(|at| (9 + at, PIECE.min(length - at))).collect();
        assert_eq!(*file.asked.lock().unwrap(), [pieces.clone(), pieces].concat());
    }
}
