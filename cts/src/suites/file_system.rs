// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of the operating system. A driver may move their bytes without a thread of its own.

use std::{
    env, fs, io,
    path::PathBuf,
    process,
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
};

use windlass_hal::{
    Buffer, Code, Error, File, HostCallFlags, Semaphore, WaitPolicy, file::Storage, wait_all,
};

use crate::{
    check::{ensure_eq, names, same_bytes},
    context::Context,
    outcome::{Level, Outcome, Stop},
};

suite! { "file_system";
    #[smoke] round_trip [Files]: "Megabytes at odd offsets go through a file of the system unchanged, and neighbouring bytes stay unchanged.";
    same_as_called [Files]: "The system moves the same bytes as calls of a storage do.";
    errors_have_codes [Files]: "The system's error about a file decides the code of the operation, and the message has the file's name.";
    ends_in_the_midst [Files]: "A read beyond the end of a file fails with OUT_OF_RANGE and writes nothing to the file.";
    many_at_once [Files]: "Each of a thousand transfers that start at once moves its own bytes.";
    order_is_by_semaphores [Files]: "Reads and writes of one file that were submitted in reverse follow their semaphores.";
    goes_on_while_calls_block [Files, HostCalls]: "Reads and writes go on while host calls block.";
}

/// A file of the system, deleted when this is dropped.
struct Scratch {
    path: PathBuf,
    file: fs::File,
}

impl Scratch {
    /// Creates a file. Skips the case if the system has no room for files.
    fn new(bytes: &[u8]) -> Outcome<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("windlass-cts-{}-{number}", process::id()));
        let made =
            fs::write(&path, bytes).and_then(|()| fs::File::options().read(true).write(true).open(&path));
        let file =
            made.map_err(|error| Stop::skip(format!("no room for a file {}: {error}", path.display())))?;
        Ok(Self { path, file })
    }

    /// A handle for queues.
    fn handle(&self) -> Outcome<File> {
        Ok(File::from(
            self.file.try_clone().map_err(|error| Stop::fail(format!("a second handle: {error}")))?,
        ))
    }

    fn bytes(&self) -> Outcome<Vec<u8>> {
        fs::read(&self.path).map_err(|error| Stop::fail(format!("reading {}: {error}", self.path.display())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A file without a descriptor, so that a driver must call its methods.
struct Called(fs::File);

impl Storage for Called {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        Storage::read_at(&self.0, offset, bytes)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        Storage::write_at(&self.0, offset, bytes)
    }
}

/// Longer than several pieces in which a driver moves files.
const LONG: u64 = (9 << 20) + 4097;
/// Enough to see that transfers work.
const SHORT: u64 = 5000;

fn round_trip(ctx: &Context) -> Outcome {
    round_trip_of(ctx, LONG)
}

fn round_trip_of(ctx: &Context, length: u64) -> Outcome {
    let bytes = ctx.random().bytes(length as usize + 13);
    let (from, queue) = (Scratch::new(&bytes)?, ctx.queue(0)?);
    for buffer in [ctx.filled(length + 32, 0xee)?, filled_host(ctx, length + 32)?] {
        let (to, order) = (Scratch::new(&[0x11; 9])?, Semaphore::new(0));
        let range = buffer.subspan(3, length)?;
        queue.read(&[], &[order.at(1)], &from.handle()?, 13, &range)?;
        queue.write(&[order.at(1)], &[order.at(2)], &range, &to.handle()?, 5)?;
        let found = ctx.download_after(&order.at(2), &buffer)?;
        same_bytes(&found, &[&[0xee; 3], &bytes[13..], &[0xee; 29]].concat(), "the buffer after the read")?;
        same_bytes(&to.bytes()?, &[&[0x11; 5], &bytes[13..]].concat(), "the file after the write")?;
    }
    Ok(())
}

fn filled_host(ctx: &Context, length: u64) -> Outcome<Buffer> {
    let (buffer, done) = (ctx.host_buffer(length)?, Semaphore::new(0));
    ctx.queue(0)?.fill(&[], &[done.at(1)], &buffer, 0xee_u8)?;
    ctx.wait(&done.at(1))?;
    Ok(buffer)
}

fn same_as_called(ctx: &Context) -> Outcome {
    let mut random = ctx.random();
    let bytes = random.bytes(200_000);
    let (file, queue) = (Scratch::new(&bytes)?, ctx.queue(0)?);
    let again = file.file.try_clone().map_err(|error| Stop::fail(format!("a second handle: {error}")))?;
    let (by_itself, called) = (file.handle()?, File::new(Called(again)));
    for _ in 0..20 {
        let length = 1 + random.below(100_000);
        let (offset, at) = (random.below(200_000 - length), random.below(16));
        let (expected, range) = (&bytes[offset..offset + length], at..at + length);
        let (length, offset, at) = (length as u64, offset as u64, at as u64);
        let (first, second) = (ctx.filled(length + 16, 7)?, ctx.filled(length + 16, 7)?);
        let (one, two) = (Semaphore::new(0), Semaphore::new(0));
        queue.read(&[], &[one.at(1)], &by_itself, offset, &first.subspan(at, length)?)?;
        queue.read(&[], &[two.at(1)], &called, offset, &second.subspan(at, length)?)?;
        let found = ctx.download_after(&two.at(1), &second)?;
        same_bytes(&found[range], expected, "the bytes that calls read")?;
        same_bytes(&ctx.download_after(&one.at(1), &first)?, &found, "the bytes that the system read")?;
    }
    Ok(())
}

fn errors_have_codes(ctx: &Context) -> Outcome {
    let file = Scratch::new(&[1; 100])?;
    let opened = |options: &mut fs::OpenOptions| {
        let opened = options.open(&file.path);
        opened
            .map(File::from)
            .map_err(|error| Stop::fail(format!("opening {}: {error}", file.path.display())))
    };
    let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (buffer, queue) = (ctx.filled(64, 1)?, ctx.queue(0)?);
    let fails = |file: &File, writes: bool, offset: u64, code: Code| {
        let done = Semaphore::new(0);
        match writes {
            true => queue.write(&[], &[done.at(1)], &buffer, file, offset)?,
            false => queue.read(&[], &[done.at(1)], file, offset, &buffer)?,
        }
        let error = ctx.wait_for_failure(&done.at(1))?;
        ensure_eq!(error.code(), code, "64 bytes at {offset}, write: {writes}");
        names(&error, &format!("64 bytes at {offset} of"))?;
        // Windows and other systems may not know the path of an open file.
        if cfg!(target_os = "linux") { names(&error, &name) } else { Ok(()) }
    };
    let both = file.handle()?;
    fails(&both, false, 37, Code::OutOfRange)?;
    fails(&both, false, 1 << 40, Code::OutOfRange)?;
    for far in [i64::MAX as u64 - 7, 1 << 63, u64::MAX - 7] {
        fails(&both, false, far, Code::OutOfRange)?;
        fails(&both, true, far, Code::OutOfRange)?;
    }
    fails(&opened(fs::File::options().read(true))?, true, 0, Code::PermissionDenied)?;
    fails(&opened(fs::File::options().write(true))?, false, 0, Code::PermissionDenied)?;
    same_bytes(&file.bytes()?, &[1; 100], "the file after all refusals")?;
    round_trip_of(ctx, SHORT)
}

fn ends_in_the_midst(ctx: &Context) -> Outcome {
    let bytes = vec![5; LONG as usize];
    let file = Scratch::new(&bytes)?;
    for buffer in [ctx.filled(LONG + 1, 9)?, filled_host(ctx, LONG + 1)?] {
        let done = Semaphore::new(0);
        ctx.queue(0)?.read(&[], &[done.at(1)], &file.handle()?, 0, &buffer)?;
        let error = ctx.wait_for_failure(&done.at(1))?;
        ensure_eq!(error.code(), Code::OutOfRange, "a read of one byte more than the file has");
        ensure_eq!(file.bytes()?.len() as u64, LONG, "the length of the file");
    }
    Ok(())
}

/// Adjacent ranges of odd lengths, as offset and length.
fn ranges(count: u64) -> impl Iterator<Item = (u64, u64)> {
    let length = |index: u64| 1 + index * 37 % 4001;
    (0..count).scan(0, move |at, index| {
        let range = (*at, length(index));
        *at += range.1;
        Some(range)
    })
}

fn many_at_once(ctx: &Context) -> Outcome {
    let count = if ctx.level() == Level::Stress { 4000 } else { 1000 };
    let total: u64 = ranges(count).map(|(_, length)| length).sum();
    let bytes = ctx.random().bytes(total as usize);
    let (from, to) = (Scratch::new(&bytes)?, Scratch::new(&[])?);
    let (from_file, to_file) = (from.handle()?, to.handle()?);
    let (buffer, gate, queue) = (ctx.filled(total, 0)?, Semaphore::new(0), ctx.queue(0)?);
    let mut written = Vec::new();
    for (at, length) in ranges(count) {
        let (order, range) = (Semaphore::new(0), buffer.subspan(at, length)?);
        queue.read(&[gate.at(1)], &[order.at(1)], &from_file, at, &range)?;
        queue.write(&[order.at(1)], &[order.at(2)], &range, &to_file, at)?;
        written.push(order.at(2));
    }
    gate.signal(1)?;
    wait_all(&written, ctx.deadline(), WaitPolicy::default())?;
    same_bytes(&to.bytes()?, &bytes, "the bytes that a thousand reads and writes copied")
}

fn order_is_by_semaphores(ctx: &Context) -> Outcome {
    const STEPS: u64 = 100;
    let bytes = ctx.random().bytes(1000);
    let file = Scratch::new(&bytes)?;
    let (handle, buffer, order) = (file.handle()?, ctx.filled(1000, 0)?, Semaphore::new(0));
    // Each step moves the bytes by one range along the file. The last step is submitted first.
    for step in (0..STEPS).rev() {
        let queue = ctx.queue(step as u32)?;
        let (before, between, after) = (order.at(2 * step), order.at(2 * step + 1), order.at(2 * step + 2));
        queue.write(std::slice::from_ref(&between), &[after], &buffer, &handle, step + 1)?;
        queue.read(&[before], &[between], &handle, step, &buffer)?;
    }
    same_bytes(
        &ctx.download_after(&order.at(2 * STEPS), &buffer)?,
        &bytes,
        "the buffer after the last step",
    )?;
    same_bytes(&file.bytes()?[STEPS as usize..], &bytes, "the file after the last step")
}

fn goes_on_while_calls_block(ctx: &Context) -> Outcome {
    const CALLS: usize = 32;
    let queue = ctx.queue(0)?;
    let mut held = Vec::new();
    for _ in 0..CALLS {
        let (go, wait_for_go) = mpsc::channel::<()>();
        let (begun, ended) = (Semaphore::new(0), Semaphore::new(0));
        let told = begun.clone();
        queue.host_call(&[], &[ended.at(1)], HostCallFlags::NONE, move |_| {
            told.signal(1)?;
            wait_for_go.recv().map_err(|_| Error::cancelled("the case has ended"))
        })?;
        held.push((go, begun, ended));
    }
    for (_, begun, _) in &held {
        ctx.wait(&begun.at(1))?;
    }
    round_trip_of(ctx, SHORT)?;
    for (go, _, ended) in held {
        go.send(()).unwrap_or_default();
        ctx.wait(&ended.at(1))?;
    }
    Ok(())
}
