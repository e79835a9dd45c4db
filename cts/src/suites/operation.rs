// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contracts of every kind of operation: it waits, it signals, it passes failures on, and it keeps the objects that
//! it uses.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use windlass_hal::{
    Buffer, BufferParams, CommandBuffer, Error, File, Function, HostCallFlags, Mapping, Point, Queue,
    Semaphore,
};

use super::dispatch::{bytes_of, over};
use crate::{
    check::{ensure, ensure_eq, names, same_bytes},
    context::Context,
    file_in_memory::FileInMemory,
    kernels,
    outcome::Outcome,
};

suite! { "operation";
    waits_barrier = |ctx| waits(ctx, OperationKind::Barrier),
        "A barrier starts after the last of its waits, whichever that is.";
    waits_alloca [Alloca] = |ctx| waits(ctx, OperationKind::Alloca),
        "An alloca starts after the last of its waits, whichever that is.";
    waits_dealloca [Alloca] = |ctx| waits(ctx, OperationKind::Dealloca),
        "A dealloca starts after the last of its waits, whichever that is.";
    #[smoke] waits_fill = |ctx| waits(ctx, OperationKind::Fill),
        "A fill starts after the last of its waits, whichever that is.";
    waits_update = |ctx| waits(ctx, OperationKind::Update),
        "An update starts after the last of its waits, whichever that is.";
    waits_copy = |ctx| waits(ctx, OperationKind::Copy),
        "A copy starts after the last of its waits, whichever that is.";
    waits_read [Files] = |ctx| waits(ctx, OperationKind::Read),
        "A read starts after the last of its waits, whichever that is.";
    waits_write [Files] = |ctx| waits(ctx, OperationKind::Write),
        "A write starts after the last of its waits, whichever that is.";
    waits_host_call [HostCalls] = |ctx| waits(ctx, OperationKind::HostCall),
        "A host call starts after the last of its waits, whichever that is.";
    #[smoke] waits_dispatch [Dispatch] = |ctx| waits(ctx, OperationKind::Dispatch),
        "A dispatch starts after the last of its waits, whichever that is.";
    waits_execute [CommandBuffers] = |ctx| waits(ctx, OperationKind::Execute),
        "An execution of a command buffer starts after the last of its waits, whichever that is.";
    signals_barrier = |ctx| signals(ctx, OperationKind::Barrier),
        "A barrier reaches each semaphore of its signal list at its own value.";
    signals_alloca [Alloca] = |ctx| signals(ctx, OperationKind::Alloca),
        "An alloca reaches each semaphore of its signal list at its own value.";
    signals_dealloca [Alloca] = |ctx| signals(ctx, OperationKind::Dealloca),
        "A dealloca reaches each semaphore of its signal list at its own value.";
    signals_fill = |ctx| signals(ctx, OperationKind::Fill),
        "A fill reaches each semaphore of its signal list at its own value.";
    signals_update = |ctx| signals(ctx, OperationKind::Update),
        "An update reaches each semaphore of its signal list at its own value.";
    signals_copy = |ctx| signals(ctx, OperationKind::Copy),
        "A copy reaches each semaphore of its signal list at its own value.";
    signals_read [Files] = |ctx| signals(ctx, OperationKind::Read),
        "A read reaches each semaphore of its signal list at its own value.";
    signals_write [Files] = |ctx| signals(ctx, OperationKind::Write),
        "A write reaches each semaphore of its signal list at its own value.";
    signals_host_call [HostCalls] = |ctx| signals(ctx, OperationKind::HostCall),
        "A host call reaches each semaphore of its signal list at its own value.";
    signals_dispatch [Dispatch] = |ctx| signals(ctx, OperationKind::Dispatch),
        "A dispatch reaches each semaphore of its signal list at its own value.";
    signals_execute [CommandBuffers] = |ctx| signals(ctx, OperationKind::Execute),
        "An execution of a command buffer reaches each semaphore of its signal list at its own value.";
    fails_barrier = |ctx| fails(ctx, OperationKind::Barrier),
        "A barrier whose wait fails fails each of its signals with that error, and does nothing.";
    fails_alloca [Alloca] = |ctx| fails(ctx, OperationKind::Alloca),
        "An alloca whose wait fails fails each of its signals with that error, and does nothing.";
    fails_dealloca [Alloca] = |ctx| fails(ctx, OperationKind::Dealloca),
        "A dealloca whose wait fails fails each of its signals with that error, and does nothing.";
    fails_fill = |ctx| fails(ctx, OperationKind::Fill),
        "A fill whose wait fails fails each of its signals with that error, and does nothing.";
    fails_update = |ctx| fails(ctx, OperationKind::Update),
        "An update whose wait fails fails each of its signals with that error, and does nothing.";
    fails_copy = |ctx| fails(ctx, OperationKind::Copy),
        "A copy whose wait fails fails each of its signals with that error, and does nothing.";
    fails_read [Files] = |ctx| fails(ctx, OperationKind::Read),
        "A read whose wait fails fails each of its signals with that error, and does nothing.";
    fails_write [Files] = |ctx| fails(ctx, OperationKind::Write),
        "A write whose wait fails fails each of its signals with that error, and does nothing.";
    fails_host_call [HostCalls] = |ctx| fails(ctx, OperationKind::HostCall),
        "A host call whose wait fails fails each of its signals with that error, and does nothing.";
    fails_dispatch [Dispatch] = |ctx| fails(ctx, OperationKind::Dispatch),
        "A dispatch whose wait fails fails each of its signals with that error, and does nothing.";
    fails_execute [CommandBuffers] = |ctx| fails(ctx, OperationKind::Execute),
        "An execution of a command buffer whose wait fails fails each of its signals with that error, and does nothing.";
    keeps_fill = |ctx| keeps(ctx, OperationKind::Fill),
        "A fill is completed although every handle of the objects that it uses is gone.";
    keeps_update = |ctx| keeps(ctx, OperationKind::Update),
        "An update is completed although every handle of the objects that it uses is gone.";
    keeps_copy = |ctx| keeps(ctx, OperationKind::Copy),
        "A copy is completed although every handle of the objects that it uses is gone.";
    keeps_read [Files] = |ctx| keeps(ctx, OperationKind::Read),
        "A read is completed although every handle of the objects that it uses is gone.";
    keeps_write [Files] = |ctx| keeps(ctx, OperationKind::Write),
        "A write is completed although every handle of the objects that it uses is gone.";
    keeps_host_call [HostCalls] = |ctx| keeps(ctx, OperationKind::HostCall),
        "A host call is completed although every handle of the objects that it uses is gone.";
    keeps_dispatch [Dispatch] = |ctx| keeps(ctx, OperationKind::Dispatch),
        "A dispatch is completed although every handle of the objects that it uses is gone.";
    keeps_execute [CommandBuffers] = |ctx| keeps(ctx, OperationKind::Execute),
        "An execution of a command buffer is completed although every handle of the objects that it uses is gone.";
}

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperationKind {
    Barrier,
    Alloca,
    Dealloca,
    Fill,
    Update,
    Copy,
    Read,
    Write,
    HostCall,
    Dispatch,
    Execute,
}

/// The bytes that an operation moves.
const SIZE: u64 = 64;

/// An operation for one submission, with all objects that it uses.
struct Trial {
    kind: OperationKind,
    source: Buffer,
    target: Buffer,
    file: File,
    called: Arc<AtomicBool>,
    function: Option<Function>,
    commands: Option<CommandBuffer>,
}

/// The effects of an operation. This holds no object that the operation reads.
struct Evidence {
    target: Mapping,
    storage: FileInMemory,
    called: Arc<AtomicBool>,
}

fn trial(ctx: &Context, kind: OperationKind) -> Outcome<(Trial, Evidence)> {
    // 1.0 in each element. A kernel that doubles the elements makes it 2.0.
    let content = bytes_of(&[1.0; SIZE as usize / 4], f32::to_le_bytes);
    let (source, target) = (ctx.upload(&content)?, ctx.host_buffer(SIZE)?);
    let mapping = target.map()?;
    mapping.write(0, &[0; SIZE as usize])?;
    let storage =
        FileInMemory::new(if kind == OperationKind::Read { content } else { vec![0; SIZE as usize] });
    let called = Arc::new(AtomicBool::new(false));
    let function = match kind {
        OperationKind::Dispatch => Some(ctx.function(&kernels::ENTRIES, "twice")?),
        _ => None,
    };
    let commands = match kind {
        OperationKind::Execute => {
            let mut recorder = ctx.device().record()?;
            recorder.copy(&source, &target)?;
            Some(recorder.finish()?)
        }
        _ => None,
    };
    let evidence = Evidence { target: mapping, storage: storage.clone(), called: called.clone() };
    Ok((Trial { kind, source, target, file: File::new(storage), called, function, commands }, evidence))
}

impl Trial {
    fn submit(&self, queue: &Queue, waits: &[Point], signals: &[Point]) -> Outcome {
        match self.kind {
            OperationKind::Barrier => queue.barrier(waits, signals)?,
            OperationKind::Alloca => drop(queue.alloca(waits, signals, &BufferParams::device(), SIZE)?),
            OperationKind::Dealloca => queue.dealloca(waits, signals, &self.source)?,
            OperationKind::Fill => queue.fill(waits, signals, &self.target, 1.0_f32)?,
            OperationKind::Update => {
                let bytes = bytes_of(&[1.0; SIZE as usize / 4], f32::to_le_bytes);
                queue.update(waits, signals, &bytes, &self.target)?;
            }
            OperationKind::Copy => queue.copy(waits, signals, &self.source, &self.target)?,
            OperationKind::Read => queue.read(waits, signals, &self.file, 0, &self.target)?,
            OperationKind::Write => queue.write(waits, signals, &self.source, &self.file, 0)?,
            OperationKind::HostCall => {
                let called = self.called.clone();
                queue.host_call(waits, signals, HostCallFlags::NONE, move |_| {
                    called.store(true, Ordering::Release);
                    Ok(())
                })?;
            }
            OperationKind::Dispatch => {
                let arguments = [self.source.arg(), self.target.arg(), (SIZE as i32 / 4).into()];
                if let Some(function) = &self.function {
                    queue.dispatch(waits, signals, function, over(SIZE as usize / 4), &arguments)?;
                }
            }
            OperationKind::Execute => {
                if let Some(commands) = &self.commands {
                    queue.execute(waits, signals, commands, [])?;
                }
            }
        }
        Ok(())
    }
}

impl Evidence {
    fn nothing_happened(&self, kind: OperationKind, when: &str) -> Outcome {
        same_bytes(&self.target.to_vec(), &[0; SIZE as usize], &format!("the target {when}"))?;
        if kind == OperationKind::Write {
            same_bytes(&self.storage.bytes(), &[0; SIZE as usize], &format!("the file {when}"))?;
        }
        ensure!(!self.called.load(Ordering::Acquire), "the host call ran {when}");
        Ok(())
    }

    fn all_happened(&self, kind: OperationKind) -> Outcome {
        let value = if kind == OperationKind::Dispatch { 2.0_f32 } else { 1.0 };
        let expected = bytes_of(&[value; SIZE as usize / 4], f32::to_le_bytes);
        match kind {
            OperationKind::Barrier | OperationKind::Alloca | OperationKind::Dealloca => Ok(()),
            OperationKind::Write => same_bytes(&self.storage.bytes(), &expected, "the file"),
            OperationKind::HostCall => {
                ensure!(self.called.load(Ordering::Acquire), "the host call did not run");
                Ok(())
            }
            _ => same_bytes(&self.target.to_vec(), &expected, "the target"),
        }
    }
}

/// Waits for all issued work, so that wrongly issued work shows. Pending work is not awaited.
fn drain(ctx: &Context) -> Outcome {
    Ok(ctx.device().drain(ctx.deadline())?)
}

fn waits(ctx: &Context, kind: OperationKind) -> Outcome {
    for last in 0..3 {
        let (trial, evidence) = trial(ctx, kind)?;
        let gates = [(); 3].map(|()| Semaphore::new(0));
        let done = Semaphore::new(0);
        let points = gates.each_ref().map(|gate| gate.at(1));
        trial.submit(&ctx.queue(last)?, &points, &[done.at(1)])?;
        let last = last as usize;
        for gate in (0..3).filter(|gate| *gate != last) {
            drain(ctx)?;
            ensure_eq!(done.query()?, 0, "the payload before gate {gate} opens");
            gates[gate].signal(1)?;
        }
        drain(ctx)?;
        ensure_eq!(done.query()?, 0, "the payload before the last gate, {last}, opens");
        evidence.nothing_happened(kind, &format!("before gate {last} opens"))?;
        gates[last].signal(1)?;
        ctx.wait(&done.at(1))?;
        evidence.all_happened(kind)?;
    }
    Ok(())
}

fn signals(ctx: &Context, kind: OperationKind) -> Outcome {
    let (trial, evidence) = trial(ctx, kind)?;
    let values = [1, 5, 1 << 40];
    let semaphores = values.map(|_| Semaphore::new(0));
    let points = [0, 1, 2].map(|index| semaphores[index].at(values[index]));
    trial.submit(&ctx.queue(0)?, &[], &points)?;
    for point in &points {
        ctx.wait(point)?;
        ensure_eq!(point.semaphore.query()?, point.value, "the payload");
    }
    evidence.all_happened(kind)
}

fn fails(ctx: &Context, kind: OperationKind) -> Outcome {
    for early in [false, true] {
        let (trial, evidence) = trial(ctx, kind)?;
        let (broken, reached) = (Semaphore::new(0), Semaphore::new(1));
        let points = [1, 5, 1 << 40].map(|value| Semaphore::new(0).at(value));
        let fail = || broken.fail(Error::data_loss("failed on purpose"));
        if early {
            fail();
        }
        trial.submit(&ctx.queue(0)?, &[reached.at(1), broken.at(1)], &points)?;
        if !early {
            fail();
        }
        for point in &points {
            let error = ctx.wait_for_failure(point)?;
            ensure_eq!(error.code(), windlass_hal::Code::DataLoss, "the failure's code");
            names(&error, "failed on purpose")?;
        }
        drain(ctx)?;
        evidence.nothing_happened(kind, "although a wait had failed")?;
    }
    Ok(())
}

fn keeps(ctx: &Context, kind: OperationKind) -> Outcome {
    let (trial, evidence) = trial(ctx, kind)?;
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    trial.submit(&ctx.queue(0)?, &[gate.at(1)], &[done.at(1)])?;
    drop(trial);
    // The memory of the dropped handles would be free for these buffers, if it were freed.
    let others: Vec<_> = (0..8).map(|_| ctx.filled(SIZE, 9)).collect::<Outcome<_>>()?;
    gate.signal(1)?;
    ctx.wait(&done.at(1))?;
    evidence.all_happened(kind)?;
    let nine = [9; SIZE as usize];
    others.iter().try_for_each(|other| same_bytes(&ctx.download(other)?, &nine, "another buffer"))
}
