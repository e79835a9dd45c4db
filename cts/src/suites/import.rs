// SPDX-License-Identifier: MIT OR Apache-2.0
//! Imports of host memory that the program owns. Imports of device memory are in `export`.

use std::{
    ops::Range,
    ptr::NonNull,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, AtomicU32, Ordering::SeqCst},
    },
};

use windlass_hal::{Buffer, BufferParams, BufferRef, BufferUsage, Code, Device, Error, Result, Semaphore};

use super::dispatch::{bytes_of, over, to_floats};
use crate::{
    check::{ensure, ensure_eq, refused, same_bytes, same_items},
    context::{Context, queue_of},
    kernels,
    outcome::{Outcome, Stop},
};

suite! { "import";
    #[smoke] contents [ImportHost]: "An import of bytes that the program owns is a buffer with their length and contents.";
    written_by_transfers [ImportHost]: "Fills, updates and copies to an import change the program's own memory.";
    read_by_transfers [ImportHost]: "Copies from an import read the program's own memory at the time when they run.";
    mapped [ImportHost]: "A mapping of an import shows the program's own memory.";
    any_alignment [ImportHost]: "An import may begin at any byte and have any length.";
    subspans [ImportHost]: "A subspan of an import counts from its first byte.";
    argument [ImportHost, Dispatch]: "A kernel reads and writes imported memory.";
    table [ImportHost, CommandBuffers]: "A command buffer takes imports as direct ranges and through a table.";
    #[smoke] released_with_the_last_handle [ImportHost]: "The release is called once, after the last handle is dropped and not before.";
    released_after_the_work [ImportHost]: "The release is called after the in-flight work that uses the import, not before.";
    released_after_failed_work [ImportHost]: "Work that fails before it runs releases its imports.";
    released_by_a_command_buffer [ImportHost, CommandBuffers]: "A command buffer keeps its recorded imports until it is dropped.";
    released_after_the_device [ImportHost]: "An import outlives its device, and is released after it.";
    released_on_many_threads [ImportHost]: "Imports can be made, used and dropped on many threads; each is released once.";
    imported_again [ImportHost]: "Memory that was released can be imported again.";
    overlaps [ImportHost]: "A second import of the same memory is ALREADY_EXISTS, or both imports are the same bytes.";
    dealloca_is_a_barrier [ImportHost, Alloca]: "A dealloca of an import signals, and the memory stays the import's.";
    not_counted [ImportHost]: "Statistics do not count imports.";
    empty_refused [ImportHost]: "An import of no bytes is INVALID_ARGUMENT.";
    misaligned_refused [ImportHost]: "A pointer that is no multiple of the requested alignment is INVALID_ARGUMENT.";
    memory_type_refused [ImportHost]: "An import of host memory as device-only memory is INVALID_ARGUMENT.";
    beyond_the_addresses_refused [ImportHost]: "An import that ends beyond the address space is OUT_OF_RANGE.";
    refusals_release_nothing [ImportHost]: "A refused import drops the release without calling it.";
    usage_is_enforced [ImportHost]: "Use without the usage flag of the import is INVALID_ARGUMENT.";
    belongs_to_its_device [ImportHost]: "An import of another device is INVALID_ARGUMENT.";
}

const HOST: BufferParams = BufferParams::host();

/// Memory of the program that can be lent, with a count of its releases.
#[derive(Clone)]
pub(super) struct Loan {
    bytes: Arc<[AtomicU8]>,
    releases: Arc<AtomicU32>,
}

impl Loan {
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.iter().copied().map(AtomicU8::new).collect(), releases: Arc::default() }
    }

    fn whole(&self, device: &Device) -> Result<Buffer> {
        self.part(device, &HOST, 0..self.bytes.len(), || {})
    }

    /// Lends a part of the bytes. `released` is called with the bytes at the release.
    fn part(
        &self,
        device: &Device,
        params: &BufferParams,
        range: Range<usize>,
        released: impl FnOnce() + Send + 'static,
    ) -> Result<Buffer> {
        let (bytes, releases, size) = (self.bytes.clone(), self.releases.clone(), range.len() as u64);
        let pointer = NonNull::from(&self.bytes[range]).cast();
        let release = move || {
            released();
            drop(bytes);
            releases.fetch_add(1, SeqCst);
        };
        // SAFETY: the release keeps the bytes, which are atomics. If a case imports bytes twice, the device refuses
        // or uses the host's own address for them.
        unsafe { device.import_host_pointer(params, pointer, size, release) }
    }

    fn to_vec(&self) -> Vec<u8> {
        self.bytes.iter().map(|byte| byte.load(SeqCst)).collect()
    }

    fn fill(&self, value: u8) {
        self.bytes.iter().for_each(|byte| byte.store(value, SeqCst));
    }

    fn releases(&self) -> u32 {
        self.releases.load(SeqCst)
    }

    /// Waits until `times` releases have happened.
    fn released(&self, ctx: &Context, times: u32) -> Outcome {
        ctx.until("the memory is given back", || self.releases() >= times)?;
        ensure_eq!(self.releases(), times, "calls of the release");
        Ok(())
    }
}

fn contents(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes(5000);
    let buffer = ctx.device().import_host(&HOST, bytes.clone())?;
    ensure_eq!((buffer.len(), buffer.offset(), buffer.params()), (5000, 0, HOST), "the buffer");
    ensure!(buffer.device_address() != 0, "the address is null");
    same_bytes(&buffer.map()?.to_vec(), &bytes, "the mapping")?;
    same_bytes(&ctx.download(&buffer)?, &bytes, "the download")
}

fn written_by_transfers(ctx: &Context) -> Outcome {
    let (loan, queue, done) = (Loan::new(&[0; 96]), ctx.queue(0)?, Semaphore::new(0));
    let (buffer, source) = (loan.whole(ctx.device())?, ctx.filled(32, 3)?);
    queue.fill(&[], &[done.at(1)], &buffer.subspan(0, 32)?, 1_u8)?;
    queue.update(&[done.at(1)], &[done.at(2)], &[2; 32], &buffer.subspan(32, 32)?)?;
    queue.copy(&[done.at(2)], &[done.at(3)], &source, &buffer.subspan(64, 32)?)?;
    ctx.wait(&done.at(3))?;
    same_bytes(&loan.to_vec(), &[[1; 32], [2; 32], [3; 32]].concat(), "the program's memory")
}

fn read_by_transfers(ctx: &Context) -> Outcome {
    let (loan, gate, target) = (Loan::new(&[0; 64]), Semaphore::new(0), ctx.filled(64, 0)?);
    let buffer = loan.whole(ctx.device())?;
    let done = Semaphore::new(0);
    for value in 1..=5_u8 {
        let point = done.at(value.into());
        ctx.queue(0)?.copy(&[gate.at(value.into())], std::slice::from_ref(&point), &buffer, &target)?;
        loan.fill(value);
        gate.signal(value.into())?;
        same_bytes(&ctx.download_after(&point, &target)?, &[value; 64], "the copy")?;
    }
    Ok(())
}

fn mapped(ctx: &Context) -> Outcome {
    let loan = Loan::new(&[4; 64]);
    let mapping = loan.whole(ctx.device())?.map()?;
    same_bytes(&mapping.to_vec(), &[4; 64], "the mapping")?;
    mapping.write(8, &[5; 8])?;
    let mut expected = [4; 64];
    expected[8..16].fill(5);
    same_bytes(&loan.to_vec(), &expected, "the program's memory")?;
    drop(mapping);
    loan.released(ctx, 1)
}

fn any_alignment(ctx: &Context) -> Outcome {
    for (start, length) in [(0, 1), (1, 1), (3, 5), (63, 64), (65, 4096), (4095, 4097), (1, 8191)] {
        let (loan, done) = (Loan::new(&[1; 8192]), Semaphore::new(0));
        let part = start..start + length;
        let buffer = loan.part(ctx.device(), &HOST, part.clone(), || {})?;
        ctx.queue(0)?.fill(&[], &[done.at(1)], &buffer, 2_u8)?;
        ctx.wait(&done.at(1))?;
        let mut expected = vec![1; 8192];
        expected[part].fill(2);
        same_bytes(&loan.to_vec(), &expected, &format!("{length} bytes at {start}"))?;
    }
    Ok(())
}

fn subspans(ctx: &Context) -> Outcome {
    let (loan, done) = (Loan::new(&[0; 256]), Semaphore::new(0));
    let buffer = loan.part(ctx.device(), &HOST, 16..240, || {})?;
    let inner = buffer.subspan(16, 64)?.subspan(8, 16)?;
    ensure_eq!(inner.device_address() - buffer.device_address(), 24, "the subspan's address");
    refused(buffer.subspan(0, 225), Code::OutOfRange, "a subspan that leaves the import")?;
    ctx.queue(0)?.fill(&[], &[done.at(1)], &inner, 7_u8)?;
    ctx.wait(&done.at(1))?;
    let mut expected = [0; 256];
    expected[40..56].fill(7);
    same_bytes(&loan.to_vec(), &expected, "the program's memory")
}

fn argument(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ENTRIES, "twice")?;
    let input: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let (source, out) = (Loan::new(&bytes_of(&input, f32::to_le_bytes)), Loan::new(&[0; 400]));
    let (from, to) = (source.whole(ctx.device())?, out.whole(ctx.device())?);
    let done = Semaphore::new(0);
    let arguments = [from.arg(), to.arg(), 100_i32.into()];
    ctx.queue(0)?.dispatch(&[], &[done.at(1)], &function, over(100), &arguments)?;
    drop((from, to));
    ctx.wait(&done.at(1))?;
    source.released(ctx, 1)?;
    out.released(ctx, 1)?;
    let expected: Vec<f32> = input.iter().map(|x| x + x).collect();
    same_items(&to_floats(&out.to_vec()), &expected, "twice each element")
}

fn table(ctx: &Context) -> Outcome {
    let (source, direct, by_table) = (Loan::new(&[6; 64]), Loan::new(&[0; 64]), Loan::new(&[0; 64]));
    let from = source.whole(ctx.device())?;
    let mut recorder = ctx.device().record_with_slots(1)?;
    recorder.copy(&from, &direct.whole(ctx.device())?)?;
    recorder.copy(&from, BufferRef::slot(0, 0, 64))?;
    let (commands, done) = (recorder.finish()?, Semaphore::new(0));
    ctx.queue(0)?.execute(&[], &[done.at(1)], &commands, [by_table.whole(ctx.device())?])?;
    ctx.wait(&done.at(1))?;
    same_bytes(&direct.to_vec(), &[6; 64], "the direct range")?;
    same_bytes(&by_table.to_vec(), &[6; 64], "the range of the table")
}

fn released_with_the_last_handle(ctx: &Context) -> Outcome {
    let loan = Loan::new(&[1; 64]);
    let buffer = loan.whole(ctx.device())?;
    let (clone, part) = (buffer.clone(), buffer.subspan(8, 8)?);
    for handle in [buffer, clone] {
        drop(handle);
        ctx.device().poll();
        ensure_eq!(loan.releases(), 0, "calls of the release while a handle lives");
    }
    drop(part);
    loan.released(ctx, 1)?;
    // In the safe function, the release drops the owner of the bytes.
    let owned = Arc::new(());
    let buffer = loan.part(ctx.device(), &HOST, 0..64, {
        let owner = owned.clone();
        move || drop(owner)
    })?;
    ensure_eq!(Arc::strong_count(&owned), 2, "owners while the buffer lives");
    drop(buffer);
    ctx.until("the release is dropped", || Arc::strong_count(&owned) == 1)
}

fn released_after_the_work(ctx: &Context) -> Outcome {
    let (loan, gate, done) = (Loan::new(&[1; 4096]), Semaphore::new(0), Semaphore::new(0));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (bytes, sight) = (loan.bytes.clone(), seen.clone());
    let buffer = loan.part(ctx.device(), &HOST, 0..4096, move || {
        let now = bytes.iter().map(|byte| byte.load(SeqCst));
        sight.lock().unwrap_or_else(PoisonError::into_inner).extend(now);
    })?;
    let queue = ctx.queue(0)?;
    queue.fill(&[gate.at(1)], &[done.at(1)], &buffer, 2_u8)?;
    let target = ctx.filled(4096, 0)?;
    queue.copy(&[done.at(1)], &[done.at(2)], &buffer, &target)?;
    drop(buffer);
    for _ in 0..20 {
        ctx.device().poll();
        std::thread::yield_now();
    }
    ensure_eq!(loan.releases(), 0, "calls of the release while work is in flight");
    gate.signal(1)?;
    same_bytes(&ctx.download_after(&done.at(2), &target)?, &[2; 4096], "the copy")?;
    loan.released(ctx, 1)?;
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    same_bytes(&seen, &[2; 4096], "the memory when it was given back")
}

fn released_after_failed_work(ctx: &Context) -> Outcome {
    let (loan, gate, done) = (Loan::new(&[1; 64]), Semaphore::new(0), Semaphore::new(0));
    let buffer = loan.whole(ctx.device())?;
    ctx.queue(0)?.fill(&[gate.at(1)], &[done.at(1)], &buffer, 2_u8)?;
    drop(buffer);
    gate.fail(Error::aborted("the case says so"));
    ctx.wait_for_failure(&done.at(1))?;
    loan.released(ctx, 1)?;
    same_bytes(&loan.to_vec(), &[1; 64], "memory of work that did not run")
}

fn released_by_a_command_buffer(ctx: &Context) -> Outcome {
    let (loan, done) = (Loan::new(&[1; 64]), Semaphore::new(0));
    let mut recorder = ctx.device().record()?;
    recorder.fill(&loan.whole(ctx.device())?, 2_u8)?;
    let commands = recorder.finish()?;
    for value in 1..=2 {
        loan.fill(1);
        ctx.queue(0)?.execute(&[], &[done.at(value)], &commands, [])?;
        ctx.wait(&done.at(value))?;
        same_bytes(&loan.to_vec(), &[2; 64], "the program's memory")?;
    }
    ensure_eq!(loan.releases(), 0, "calls of the release while the command buffer lives");
    drop(commands);
    loan.released(ctx, 1)
}

fn released_after_the_device(ctx: &Context) -> Outcome {
    let (device, loan) = (ctx.open()?, Loan::new(&[1; 64]));
    let (buffer, done) = (loan.whole(&device)?, Semaphore::new(0));
    queue_of(&device, 0)?.fill(&[], &[done.at(1)], &buffer, 2_u8)?;
    drop(device);
    ctx.wait(&done.at(1))?;
    same_bytes(&buffer.map()?.to_vec(), &[2; 64], "the mapping")?;
    ensure_eq!(loan.releases(), 0, "calls of the release while a handle lives");
    drop(buffer);
    loan.released(ctx, 1)
}

fn released_on_many_threads(ctx: &Context) -> Outcome {
    let loans: Vec<_> = (0..8).map(|value| Loan::new(&[value; 1000])).collect();
    std::thread::scope(|scope| {
        let threads = (0_u8..).zip(&loans).map(|(value, loan)| {
            scope.spawn(move || {
                for round in 1..=10 {
                    let done = Semaphore::new(0);
                    let buffer = loan.whole(ctx.device())?;
                    ctx.queue(value.into())?.fill(&[], &[done.at(1)], &buffer, value + round)?;
                    drop(buffer);
                    ctx.wait(&done.at(1))?;
                    loan.released(ctx, round.into())?;
                    same_bytes(&loan.to_vec(), &[value + round; 1000], "the program's memory")?;
                }
                Ok(())
            })
        });
        // All threads are started before the first is joined.
        let threads: Vec<_> = threads.collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(Stop::fail("a thread panicked"))))
    })
}

fn imported_again(ctx: &Context) -> Outcome {
    let loan = Loan::new(&[0; 512]);
    for round in 1..=10_u8 {
        let (buffer, done) = (loan.whole(ctx.device())?, Semaphore::new(0));
        ctx.queue(0)?.fill(&[], &[done.at(1)], &buffer, round)?;
        ctx.wait(&done.at(1))?;
        drop(buffer);
        loan.released(ctx, round.into())?;
        same_bytes(&loan.to_vec(), &[round; 512], "the program's memory")?;
    }
    Ok(())
}

fn overlaps(ctx: &Context) -> Outcome {
    let loan = Loan::new(&[0; 4096]);
    let whole = loan.whole(ctx.device())?;
    for range in [0..4096, 0..64, 100..200, 4095..4096] {
        match loan.part(ctx.device(), &HOST, range.clone(), || {}) {
            Err(error) if error.code() == Code::AlreadyExists => continue,
            Err(error) => return Err(error.into()),
            Ok(again) => {
                let done = Semaphore::new(0);
                ctx.queue(0)?.fill(&[], &[done.at(1)], &again, 9_u8)?;
                let bytes = ctx.download_after(&done.at(1), &whole)?;
                same_bytes(&bytes[range.clone()], &vec![9; range.len()], "the first import")?;
            }
        }
    }
    let done = Semaphore::new(0);
    ctx.queue(0)?.fill(&[], &[done.at(1)], &whole, 3_u8)?;
    ctx.wait(&done.at(1))?;
    same_bytes(&loan.to_vec(), &[3; 4096], "the program's memory afterwards")
}

fn dealloca_is_a_barrier(ctx: &Context) -> Outcome {
    let (loan, queue, done) = (Loan::new(&[1; 64]), ctx.queue(0)?, Semaphore::new(0));
    let buffer = loan.whole(ctx.device())?;
    queue.dealloca(&[], &[done.at(1)], &buffer)?;
    ctx.wait(&done.at(1))?;
    ensure_eq!(loan.releases(), 0, "calls of the release while a handle lives");
    queue.fill(&[], &[done.at(2)], &buffer, 2_u8)?;
    ctx.wait(&done.at(2))?;
    same_bytes(&loan.to_vec(), &[2; 64], "the program's memory")?;
    drop(buffer);
    loan.released(ctx, 1)
}

fn not_counted(ctx: &Context) -> Outcome {
    let (device, loan) = (ctx.open()?, Loan::new(&[1; 1 << 16]));
    let before = device.statistics();
    let buffer = loan.whole(&device)?;
    ensure_eq!(device.statistics(), before, "the statistics with an import");
    drop(buffer);
    loan.released(ctx, 1)?;
    ensure_eq!(device.statistics(), before, "the statistics after the release");
    Ok(())
}

fn empty_refused(ctx: &Context) -> Outcome {
    let loan = Loan::new(&[1; 64]);
    let none = loan.part(ctx.device(), &HOST, 8..8, || {});
    refused(none, Code::InvalidArgument, "an import of no bytes")?;
    refused(ctx.device().import_host(&HOST, []), Code::InvalidArgument, "an import of no bytes")?;
    Ok(())
}

fn misaligned_refused(ctx: &Context) -> Outcome {
    let loan = Loan::new(&[1; 512]);
    let first = loan.bytes.as_ptr().align_offset(256);
    let aligned = HOST.with_min_alignment(256);
    for offset in [1, 4, 128, 255] {
        let range = first + offset..first + offset + 1;
        refused(
            loan.part(ctx.device(), &aligned, range, || {}),
            Code::InvalidArgument,
            &format!("a pointer {offset} bytes behind a multiple of 256"),
        )?;
    }
    let odd = HOST.with_min_alignment(48);
    refused(loan.part(ctx.device(), &odd, 0..64, || {}), Code::InvalidArgument, "an odd alignment")?;
    let buffer = loan.part(ctx.device(), &aligned, first..first + 64, || {})?;
    ensure_eq!(buffer.len(), 64, "the length");
    Ok(())
}

fn memory_type_refused(ctx: &Context) -> Outcome {
    let loan = Loan::new(&[1; 64]);
    let device = BufferParams::device();
    refused(
        loan.part(ctx.device(), &device, 0..64, || {}),
        Code::InvalidArgument,
        "host memory as device memory",
    )?;
    refused(ctx.device().import_host(&device, [0; 64]), Code::InvalidArgument, "bytes as device memory")?;
    Ok(())
}

fn beyond_the_addresses_refused(ctx: &Context) -> Outcome {
    let loan = Loan::new(&[1; 64]);
    let pointer = NonNull::from(&loan.bytes[..]).cast();
    for size in [u64::MAX, u64::MAX - 64, 1 << 63 | u64::MAX >> 1] {
        // SAFETY: no memory can be at this range, so nothing is imported.
        let import = unsafe { ctx.device().import_host_pointer(&HOST, pointer, size, || {}) };
        refused(import, Code::OutOfRange, &format!("{size} bytes"))?;
    }
    Ok(())
}

fn refusals_release_nothing(ctx: &Context) -> Outcome {
    let (loan, owned) = (Loan::new(&[1; 64]), Arc::new(()));
    for (params, range) in
        [(HOST, 0..0), (HOST.with_min_alignment(48), 0..64), (BufferParams::device(), 0..64)]
    {
        let owner = owned.clone();
        let import = loan.part(ctx.device(), &params, range, move || drop(owner));
        refused(import, Code::InvalidArgument, "an import")?;
        ensure_eq!(Arc::strong_count(&owned), 1, "owners after a refusal");
    }
    ensure_eq!(loan.releases(), 0, "calls of the release");
    Ok(())
}

fn usage_is_enforced(ctx: &Context) -> Outcome {
    let (loan, done) = (Loan::new(&[1; 64]), Semaphore::new(0));
    let params = HOST.with_usage(BufferUsage::TRANSFER_SOURCE);
    let buffer = loan.part(ctx.device(), &params, 0..64, || {})?;
    let fill = ctx.queue(0)?.fill(&[], &[done.at(1)], &buffer, 2_u8);
    refused(fill, Code::InvalidArgument, "a fill of a source")?;
    refused(buffer.map(), Code::FailedPrecondition, "mapping without usage MAPPING")?;
    ensure_eq!(done.query()?, 0, "the semaphore of refused work");
    same_bytes(&ctx.download(&buffer)?, &[1; 64], "the download")
}

fn belongs_to_its_device(ctx: &Context) -> Outcome {
    let (device, loan, done) = (ctx.open()?, Loan::new(&[1; 64]), Semaphore::new(0));
    let buffer = loan.whole(&device)?;
    let fill = ctx.queue(0)?.fill(&[], &[done.at(1)], &buffer, 2_u8);
    refused(fill, Code::InvalidArgument, "an import of another device")?;
    ensure_eq!(done.query()?, 0, "the semaphore of refused work");
    Ok(())
}
