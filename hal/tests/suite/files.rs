// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files over a device whose memory the host cannot reach. The test decides when its copies end.

use std::{
    io, mem,
    sync::{Arc, Condvar, Mutex},
};

use windlass_hal::{
    Buffer, BufferParams, Code, CommandList, Deadline, DeviceInfo, Error, HostCalls, Limits, MemoryType,
    OperationRef, Point, Points, QueueAffinity, Result, Semaphore, Statistics, WaitPolicy,
    driver::{self, RawDevice as _},
    edge::Domain,
    file::{self, File, Storage},
    host_memory::{self, HostBuffer, HostHeap, HostMemory},
    pending,
    pool::SlabSource,
    wait_all,
};

const PIECE: usize = 4 << 20;
/// Miri copies byte by byte, so the files are small there.
const LONG: usize = if cfg!(miri) { 3001 } else { 2 * PIECE + 4099 };

/// The device's treatment of copies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copies {
    AtOnce,
    WhenLetGo,
    Refused,
    Failed,
}

struct Device {
    info: DeviceInfo,
    limits: Limits,
    domain: Domain,
    calls: HostCalls,
    copies: Copies,
    held: Mutex<Vec<(Buffer, Buffer, Points)>>,
    changed: Condvar,
}

impl Device {
    fn new(copies: Copies) -> Arc<Self> {
        Arc::new(Self {
            info: DeviceInfo::default(),
            limits: Limits::default(),
            domain: Domain::unique(),
            calls: HostCalls::default(),
            copies,
            held: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Device memory, which the host cannot reach.
    fn buffer(&self, bytes: &[u8]) -> (Buffer, Arc<HostMemory>) {
        let memory = Arc::new(HostMemory::of(bytes, 256).expect("memory"));
        let buffer = Arc::new(HostBuffer::new(self.domain, memory.clone()));
        (Buffer::from_driver(buffer, BufferParams::device()), memory)
    }

    /// Takes the oldest held copy, once the device holds this many.
    fn take(&self, count: usize) -> (Buffer, Buffer, Points) {
        let mut held = self.held.lock().unwrap();
        while held.len() < count {
            held = self.changed.wait(held).unwrap();
        }
        assert_eq!(held.len(), count, "copies at once");
        held.remove(0)
    }

    fn let_go(&self, count: usize) {
        let (source, target, signals) = self.take(count);
        host_memory::copy(&source, &target).expect("copies");
        drop((source, target));
        pending::reach(&signals);
    }

    fn read(self: &Arc<Self>, file: File, offset: u64, target: Buffer) -> Point {
        let done = Semaphore::new(0).at(1);
        let points = (&[][..], &[done.clone()][..]);
        // SAFETY: a range of the device's own memory, which no other thread accesses.
        unsafe { file::read_through_host(self.clone(), QueueAffinity::ANY, points, &file, offset, &target) }
            .expect("submits");
        done
    }

    fn write(self: &Arc<Self>, source: Buffer, file: File, offset: u64) -> Point {
        let done = Semaphore::new(0).at(1);
        let points = (&[][..], &[done.clone()][..]);
        // SAFETY: as above.
        unsafe { file::write_through_host(self.clone(), QueueAffinity::ANY, points, &source, &file, offset) }
            .expect("submits");
        done
    }
}

// SAFETY: the domain and the limits never change, and no other device takes its objects.
unsafe impl driver::RawDevice for Device {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn limits(&self) -> &Limits {
        &self.limits
    }
    fn domain(&self) -> Domain {
        self.domain
    }
    fn allocate(&self, params: &BufferParams, size: u64) -> Result<Arc<dyn driver::RawBuffer>> {
        assert!(params.memory_type.contains(MemoryType::HOST_VISIBLE), "staging memory alone");
        let memory = Arc::new(HostMemory::new(size, 256, 0xcd)?);
        Ok(Arc::new(HostBuffer::new(self.domain, memory).host_visible()))
    }
    fn reserve(
        &self,
        _: QueueAffinity,
        params: &BufferParams,
        size: u64,
    ) -> Result<Arc<dyn driver::RawBuffer>> {
        self.allocate(params, size)
    }
    fn memory(&self) -> Arc<dyn SlabSource> {
        Arc::new(HostHeap::new(self.domain, 0, ""))
    }
    unsafe fn load_executable(&self, _: &[u8]) -> Result<Arc<dyn driver::RawExecutable>> {
        Err(Error::unimplemented("no code"))
    }
    unsafe fn prepare(&self, _: CommandList) -> Result<Arc<dyn driver::RawCommandBuffer>> {
        Err(Error::unimplemented("no lists"))
    }
    unsafe fn submit(
        &self,
        _: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        assert!(waits.is_empty());
        let signals = Points::from(signals);
        match (operation, self.copies) {
            (OperationRef::HostCall(call), _) => self.calls.spawn(call, signals),
            (OperationRef::Copy { .. }, Copies::Refused) => {
                return Err(Error::unavailable("refused on purpose"));
            }
            (OperationRef::Copy { .. }, Copies::Failed) => {
                pending::fail(&signals, &Error::data_loss("failed on purpose"));
            }
            (OperationRef::Copy { source, target }, Copies::AtOnce) => {
                host_memory::copy(source, target)?;
                pending::reach(&signals);
            }
            (OperationRef::Copy { source, target }, Copies::WhenLetGo) => {
                self.held.lock().unwrap().push((source.clone(), target.clone(), signals));
                self.changed.notify_all();
            }
            (other, _) => return Err(Error::unimplemented(other.name())),
        }
        Ok(())
    }
    fn poll(&self) {}
    fn drain(&self, deadline: Deadline) -> Result<()> {
        wait_all(&self.calls.ends(), deadline, WaitPolicy::default())
    }
    fn close(&self) {}
    fn trim(&self) {}
    fn statistics(&self) -> Statistics {
        Statistics::default()
    }
}

/// A file in memory. It notes its calls, and fails from a length on.
#[derive(Clone, Default)]
struct Noted {
    bytes: Arc<Mutex<Vec<u8>>>,
    asked: Arc<Mutex<Vec<(usize, usize)>>>,
}

impl Noted {
    fn new(bytes: &[u8]) -> Self {
        Self { bytes: Arc::new(Mutex::new(bytes.to_vec())), asked: Arc::default() }
    }

    fn asked(&self) -> Vec<(usize, usize)> {
        mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Storage for Noted {
    fn read_at(&self, offset: u64, to: &mut [u8]) -> io::Result<()> {
        let (offset, bytes) = (offset as usize, self.bytes.lock().unwrap());
        self.asked.lock().unwrap().push((offset, to.len()));
        to.copy_from_slice(bytes.get(offset..offset + to.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        let (offset, mut bytes) = (offset as usize, self.bytes.lock().unwrap());
        self.asked.lock().unwrap().push((offset, from.len()));
        let to = bytes.get_mut(offset..offset + from.len()).ok_or(io::ErrorKind::StorageFull)?;
        to.copy_from_slice(from);
        Ok(())
    }
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 31 / 7 + at / 251) as u8).collect()
}

fn bytes_of(memory: &HostMemory) -> Vec<u8> {
    memory.bytes().iter().map(|byte| byte.load(std::sync::atomic::Ordering::Relaxed)).collect()
}

fn wait(point: &Point) -> Result<()> {
    point.semaphore.wait_blocking(point.value, Deadline::NEVER)
}

/// The way in which a test asks for a range at an offset.
fn pieces(offset: usize, length: usize) -> Vec<(usize, usize)> {
    (0..length).step_by(PIECE).map(|at| (offset + at, PIECE.min(length - at))).collect()
}

#[test]
fn bytes_go_through_staging_memory_in_order() {
    let (device, bytes) = (Device::new(Copies::AtOnce), content(LONG + 20));
    let file = Noted::new(&bytes);
    let (target, memory) = device.buffer(&vec![0xee; LONG + 9]);
    let range = target.subspan(5, LONG as u64).expect("in bounds");
    wait(&device.read(File::new(file.clone()), 13, range.clone())).expect("reads");
    let found = bytes_of(&memory);
    assert!(found[5..LONG + 5] == bytes[13..LONG + 13], "what was read");
    assert_eq!((&found[..5], &found[LONG + 5..]), (&[0xee; 5][..], &[0xee; 4][..]), "beside it");
    assert_eq!(file.asked(), pieces(13, LONG));
    wait(&device.write(range, File::new(file.clone()), 3)).expect("writes");
    let expected = [&bytes[..3], &bytes[13..LONG + 13], &bytes[LONG + 3..]].concat();
    assert!(*file.bytes.lock().unwrap() == expected, "what was written");
    assert_eq!(file.asked(), pieces(3, LONG));
    device.drain(Deadline::NEVER).expect("nothing is left");
}

#[test]
fn the_copy_of_a_piece_overlaps_the_file_of_the_next() {
    if cfg!(miri) {
        return;
    }
    let (device, bytes) = (Device::new(Copies::WhenLetGo), content(LONG));
    let file = Noted::new(&bytes);
    let (target, memory) = device.buffer(&vec![0; LONG]);
    let done = device.read(File::new(file.clone()), 0, target.clone());
    // Two copies are in flight, and there is no memory for a third piece.
    device.let_go(2);
    device.let_go(2);
    assert_eq!(done.semaphore.query().expect("goes on"), 0, "with a copy under way");
    device.let_go(1);
    wait(&done).expect("reads");
    assert!(bytes_of(&memory) == bytes, "what was read");
    assert_eq!(file.asked(), pieces(0, LONG));

    let done = device.write(target, File::new(file.clone()), 0);
    // The second copy ends before the first piece can be written.
    device.let_go(2);
    device.let_go(2);
    device.let_go(1);
    wait(&done).expect("writes");
    assert_eq!(file.asked(), pieces(0, LONG));
}

#[test]
fn a_failure_is_told_when_no_copy_touches_memory_any_more() {
    if cfg!(miri) {
        return;
    }
    let device = Device::new(Copies::WhenLetGo);
    let file = Noted::new(&content(PIECE + 9));
    let (target, memory) = device.buffer(&vec![0; LONG]);
    let done = device.read(File::new(file.clone()), 0, target);
    let copy = device.take(1);
    while file.asked.lock().unwrap().len() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(
        device.drain(Deadline::now()).expect_err("a copy is under way").code(),
        Code::DeadlineExceeded
    );
    assert_eq!(done.semaphore.query().expect("not told yet"), 0);
    host_memory::copy(&copy.0, &copy.1).expect("copies");
    pending::reach(&copy.2);
    assert_eq!(wait(&done).expect_err("the file is too short").code(), Code::OutOfRange);
    assert!(bytes_of(&memory)[PIECE..].iter().all(|byte| *byte == 0), "nothing is copied after a failure");
    drop(copy);
    device.drain(Deadline::NEVER).expect("nothing is left");
}

#[test]
fn a_copy_that_fails_fails_the_transfer() {
    for (copies, code) in [(Copies::Refused, Code::Unavailable), (Copies::Failed, Code::DataLoss)] {
        let device = Device::new(copies);
        let (buffer, memory) = device.buffer(&[7; 100]);
        let file = Noted::new(&[1; 100]);
        let read = device.read(File::new(file.clone()), 0, buffer.clone());
        assert_eq!(wait(&read).expect_err("a read").code(), code);
        let written = device.write(buffer, File::new(file.clone()), 0);
        assert_eq!(wait(&written).expect_err("a write").code(), code);
        assert_eq!(file.asked(), [(0, 100)], "a write asks for nothing that was not copied");
        assert_eq!((bytes_of(&memory), &*file.bytes.lock().unwrap()), (vec![7; 100], &vec![1; 100]));
        // The objects of the transfer are dropped before its end is reported.
        assert_eq!(Arc::strong_count(&memory), 1);
        device.drain(Deadline::NEVER).expect("nothing is left");
        assert_eq!(Arc::strong_count(&device), 1);
    }
}
