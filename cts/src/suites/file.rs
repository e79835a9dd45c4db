// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading and writing files in the order of a queue.

use std::{io, time::Duration};

use windlass_hal::{Code, Deadline, File, Semaphore, file::Storage};

use crate::{
    check::{ensure_eq, names, refused, same_bytes},
    context::{Context, queue_of},
    file_in_memory::FileInMemory,
    outcome::Outcome,
};

suite! { "file";
    #[smoke] read_whole [Files]: "A read fills the buffer with the file's bytes.";
    read_subrange [Files]: "A read takes bytes from its offset, and leaves the buffer around its target unchanged.";
    write_subrange [Files]: "A write puts bytes at its offset, and leaves the rest of the file unchanged.";
    #[smoke] write_then_read [Files]: "A read that waits for a write sees the written bytes.";
    large_round_trip [Files]: "Megabytes go through a file unchanged.";
    waits_are_waited_for [Files]: "A read or a write does not touch the file before its waits are reached.";
    read_past_the_end_fails [Files]: "Reading beyond the end fails the signal list with OUT_OF_RANGE.";
    storage_error_fails [Files]: "An error of the storage fails the signal list, and the device stays usable.";
    storage_errors_have_codes [Files]: "The kind of a storage's error decides the code, and the message has the storage's name, the offset and the length.";
    storage_panic_fails [Files]: "A storage that panics fails the signal list with ABORTED and the panic's text.";
    storage_blocks_nobody [Files]: "Independent work, on other files too, goes on while a storage blocks.";
    drain_waits_for_files [Files]: "A drain waits for reads and writes that have begun.";
    closed_in_the_midst [Files]: "Closing a device returns while a storage blocks, and the signals are reached or failed once the storage goes on.";
    empty_read_signals [Files]: "A read of no bytes reaches its signals.";
    foreign_buffer_refused [Files]: "A read into a buffer of another device is INVALID_ARGUMENT.";
}

/// A file that can be neither read nor written.
struct Broken;

impl Storage for Broken {
    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        Err(io::Error::other("broken on purpose"))
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

fn read_whole(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes(1000);
    let file = File::new(FileInMemory::new(bytes.clone()));
    let (target, done) = (ctx.filled(1000, 0xee)?, Semaphore::new(0));
    ctx.queue(0)?.read(&[], &[done.at(1)], &file, 0, &target)?;
    same_bytes(&ctx.download_after(&done.at(1), &target)?, &bytes, "the buffer after the read")
}

fn read_subrange(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes(1000);
    let file = File::new(FileInMemory::new(bytes.clone()));
    let (target, done) = (ctx.filled(256, 0xee)?, Semaphore::new(0));
    ctx.queue(0)?.read(&[], &[done.at(1)], &file, 333, &target.subspan(17, 100)?)?;
    let mut expected = vec![0xee; 256];
    expected[17..117].copy_from_slice(&bytes[333..433]);
    same_bytes(&ctx.download_after(&done.at(1), &target)?, &expected, "the buffer after the read")
}

fn write_subrange(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes(256);
    let memory = FileInMemory::new(vec![0x11; 300]);
    let (source, done) = (ctx.upload(&bytes)?, Semaphore::new(0));
    let file = File::new(memory.clone());
    ctx.queue(0)?.write(&[], &[done.at(1)], &source.subspan(5, 99)?, &file, 201)?;
    ctx.wait(&done.at(1))?;
    let mut expected = vec![0x11; 300];
    expected[201..300].copy_from_slice(&bytes[5..104]);
    same_bytes(&memory.bytes(), &expected, "the file after the write")
}

fn write_then_read(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes(777);
    let file = File::new(FileInMemory::new(vec![0; 777]));
    let (source, target, order) = (ctx.upload(&bytes)?, ctx.filled(777, 0)?, Semaphore::new(0));
    // The reader is submitted first, so the order comes only from the semaphore.
    ctx.queue(1)?.read(&[order.at(1)], &[order.at(2)], &file, 0, &target)?;
    ctx.queue(0)?.write(&[], &[order.at(1)], &source, &file, 0)?;
    same_bytes(&ctx.download_after(&order.at(2), &target)?, &bytes, "the bytes read back")
}

fn large_round_trip(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes((4 << 20) + 3);
    let memory = FileInMemory::default();
    let (file, order) = (File::new(memory.clone()), Semaphore::new(0));
    let (source, target) = (ctx.upload(&bytes)?, ctx.device().allocate_device(bytes.len() as u64)?);
    ctx.queue(0)?.write(&[], &[order.at(1)], &source, &file, 0)?;
    ctx.queue(0)?.read(&[order.at(1)], &[order.at(2)], &file, 0, &target)?;
    same_bytes(&ctx.download_after(&order.at(2), &target)?, &bytes, "the bytes read back")?;
    same_bytes(&memory.bytes(), &bytes, "the file")
}

fn waits_are_waited_for(ctx: &Context) -> Outcome {
    let memory = FileInMemory::new(vec![1; 64]);
    let file = File::new(memory.clone());
    let (source, target) = (ctx.filled(64, 2)?, ctx.filled(64, 3)?);
    let (gate, read, written) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.read(&[gate.at(1)], &[read.at(1)], &file, 0, &target)?;
    ctx.queue(0)?.write(&[read.at(1), gate.at(2)], &[written.at(1)], &source, &file, 0)?;
    same_bytes(&ctx.download(&target)?, &[3; 64], "the target before the read's wait is reached")?;
    file_write_now(&memory, &[9; 64])?;
    gate.signal(1)?;
    same_bytes(&ctx.download_after(&read.at(1), &target)?, &[9; 64], "the bytes read after the wait")?;
    same_bytes(&memory.bytes(), &[9; 64], "the file before the write's wait is reached")?;
    gate.signal(2)?;
    ctx.wait(&written.at(1))?;
    same_bytes(&memory.bytes(), &[2; 64], "the file after the write")
}

fn file_write_now(memory: &FileInMemory, bytes: &[u8]) -> Outcome {
    memory.write_at(0, bytes).map_err(|error| crate::Stop::fail(format!("writing to memory: {error}")))
}

fn read_past_the_end_fails(ctx: &Context) -> Outcome {
    let file = File::new(FileInMemory::new(vec![1; 64]));
    let (target, done) = (ctx.device().allocate_device(64)?, Semaphore::new(0));
    ctx.queue(0)?.read(&[], &[done.at(1)], &file, 1, &target)?;
    let error = ctx.wait_for_failure(&done.at(1))?;
    ensure_eq!(error.code(), Code::OutOfRange, "reading 64 bytes at 1 of a file of 64");
    Ok(())
}

fn storage_error_fails(ctx: &Context) -> Outcome {
    let file = File::new(Broken);
    let (buffer, read, written) = (ctx.filled(64, 1)?, Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.read(&[], &[read.at(1)], &file, 0, &buffer)?;
    names(&ctx.wait_for_failure(&read.at(1))?, "broken on purpose")?;
    ctx.queue(0)?.write(&[], &[written.at(1)], &buffer, &file, 0)?;
    let error = ctx.wait_for_failure(&written.at(1))?;
    ensure_eq!(error.code(), Code::PermissionDenied, "a write that the storage denies");
    read_whole(ctx)
}

/// A file whose calls all fail with this error.
struct Ends(io::ErrorKind);

impl Storage for Ends {
    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        Err(self.0.into())
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(self.0.into())
    }

    fn name(&self) -> String {
        "the file that ends".to_owned()
    }
}

fn storage_errors_have_codes(ctx: &Context) -> Outcome {
    let (buffer, queue) = (ctx.filled(64, 1)?, ctx.queue(0)?);
    for (kind, code) in [
        (io::ErrorKind::StorageFull, Code::ResourceExhausted),
        (io::ErrorKind::PermissionDenied, Code::PermissionDenied),
        (io::ErrorKind::NotFound, Code::NotFound),
        (io::ErrorKind::IsADirectory, Code::InvalidArgument),
        (io::ErrorKind::UnexpectedEof, Code::OutOfRange),
        (io::ErrorKind::Other, Code::Unknown),
    ] {
        let (file, read, written) = (File::new(Ends(kind)), Semaphore::new(0), Semaphore::new(0));
        queue.read(&[], &[read.at(1)], &file, 7, &buffer)?;
        queue.write(&[], &[written.at(1)], &buffer, &file, 7)?;
        for (what, done) in [("a read", read), ("a write", written)] {
            let error = ctx.wait_for_failure(&done.at(1))?;
            ensure_eq!(error.code(), code, "{what} that ends in {kind:?}");
            names(&error, "64 bytes at 7 of the file that ends")?;
        }
    }
    Ok(())
}

/// A file that blocks until the case releases it.
#[derive(Clone, Default)]
struct Slow {
    begun: Semaphore,
    go: Semaphore,
}

impl Slow {
    fn wait(&self) -> io::Result<()> {
        let waited = self.begun.signal(1).and_then(|()| self.go.wait_blocking(1, Deadline::NEVER));
        waited.map_err(io::Error::other)
    }
}

impl Storage for Slow {
    fn read_at(&self, _: u64, bytes: &mut [u8]) -> io::Result<()> {
        bytes.fill(7);
        self.wait()
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        self.wait()
    }
}

/// Releases a slow file at the end of a case, also after a failure.
struct LetsGo(Slow);

impl Drop for LetsGo {
    fn drop(&mut self) {
        let _ = self.0.go.signal(1);
    }
}

const PANIC: &str = "a panic on purpose";

/// A file that panics.
struct Bomb;

/// `resume_unwind` does not call the hook, which would print this intended panic.
fn panics() -> ! {
    std::panic::resume_unwind(Box::new(PANIC))
}

impl Storage for Bomb {
    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        panics()
    }

    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        panics()
    }
}

fn storage_panic_fails(ctx: &Context) -> Outcome {
    let (file, buffer, queue) = (File::new(Bomb), ctx.filled(64, 1)?, ctx.queue(0)?);
    let (read, written) = (Semaphore::new(0), Semaphore::new(0));
    queue.read(&[], &[read.at(1)], &file, 0, &buffer)?;
    queue.write(&[], &[written.at(1)], &buffer, &file, 0)?;
    for done in [read, written] {
        let error = ctx.wait_for_failure(&done.at(1))?;
        ensure_eq!(error.code(), Code::Aborted, "a storage that panics");
        names(&error, PANIC)?;
    }
    read_whole(ctx)
}

fn storage_blocks_nobody(ctx: &Context) -> Outcome {
    let (slow, queue) = (Slow::default(), ctx.queue(0)?);
    let _end = LetsGo(slow.clone());
    let (buffer, mut ends) = (ctx.filled(64, 1)?, Vec::new());
    for reads in [true, false].repeat(10) {
        let done = Semaphore::new(0);
        match reads {
            true => queue.read(&[], &[done.at(1)], &File::new(slow.clone()), 0, &ctx.filled(64, 1)?)?,
            false => queue.write(&[], &[done.at(1)], &buffer, &File::new(slow.clone()), 0)?,
        }
        ends.push(done.at(1));
    }
    ctx.wait(&slow.begun.at(1))?;
    write_then_read(ctx)?;
    for end in &ends {
        ensure_eq!(end.semaphore.query()?, 0, "the payload while the storage blocks");
    }
    slow.go.signal(1)?;
    ends.iter().try_for_each(|end| ctx.wait(end))
}

fn drain_waits_for_files(ctx: &Context) -> Outcome {
    let (device, slow, done) = (ctx.open()?, Slow::default(), Semaphore::new(0));
    let _end = LetsGo(slow.clone());
    let buffer = device.allocate_device(64)?;
    queue_of(&device, 0)?.read(&[], &[done.at(1)], &File::new(slow.clone()), 0, &buffer)?;
    ctx.wait(&slow.begun.at(1))?;
    refused(device.drain(Duration::from_millis(1)), Code::DeadlineExceeded, "a drain while a file is read")?;
    slow.go.signal(1)?;
    device.drain(ctx.deadline())?;
    ensure_eq!(done.query()?, 1, "the payload after the drain");
    Ok(())
}

fn closed_in_the_midst(ctx: &Context) -> Outcome {
    for explicitly in [true, false] {
        let (device, slow, done) = (ctx.open()?, Slow::default(), Semaphore::new(0));
        let _end = LetsGo(slow.clone());
        let buffer = device.allocate_device(64)?;
        queue_of(&device, 0)?.read(&[], &[done.at(1)], &File::new(slow.clone()), 0, &buffer)?;
        ctx.wait(&slow.begun.at(1))?;
        if explicitly {
            device.close();
        }
        drop((device, buffer));
        ensure_eq!(done.query()?, 0, "the payload while the file is read");
        slow.go.signal(1)?;
        match done.wait_blocking(1, ctx.deadline()) {
            Ok(()) => {}
            Err(error) => ensure_eq!(error.code(), Code::Cancelled, "the end of the read: {error}"),
        }
    }
    Ok(())
}

fn empty_read_signals(ctx: &Context) -> Outcome {
    let (file, done) = (File::new(Broken), Semaphore::new(0));
    let nothing = ctx.device().allocate_device(64)?.subspan(64, 0)?;
    ctx.queue(0)?.read(&[], &[done.at(1)], &file, 0, &nothing)?;
    ctx.queue(0)?.write(&[done.at(1)], &[done.at(2)], &nothing, &file, 0)?;
    ctx.wait(&done.at(2))
}

fn foreign_buffer_refused(ctx: &Context) -> Outcome {
    let foreign = ctx.open()?.allocate_device(64)?;
    let (file, done) = (File::new(FileInMemory::new(vec![0; 64])), Semaphore::new(0));
    let queue = ctx.queue(0)?;
    refused(
        queue.read(&[], &[done.at(1)], &file, 0, &foreign),
        Code::InvalidArgument,
        "a read into a foreign buffer",
    )?;
    ensure_eq!(done.query()?, 0, "the semaphore of a refused read");
    Ok(())
}
