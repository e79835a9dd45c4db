// SPDX-License-Identifier: MIT OR Apache-2.0
//! Performs a program by HIP's functions and compares it with the model.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_hip_sys::bindings::*;

use super::generate::{DEVICE, EVENTS, MEMORIES, NULL, Op, PINNED, POOLED, Program, STREAMS, Work};
use super::model::Expected;
use crate::common::{Block, Machine};

const ORDER: &[u8] = include_bytes!("../../../../cts/kernels/bundles/order.gfx942.co");
/// Words of each memory.
const WORDS: usize = 64;
const BYTES: usize = 4 * WORDS;

/// An error of the runtime, played by the performer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plant {
    Nothing,
    /// No wait of a stream for an event has an effect.
    LostWait,
    /// Each event is recorded before the operation in front of it.
    EarlyRecord,
    /// An allocation gets the memory of any earlier free.
    EarlyReuse,
}

/// The host functions that have run, the values that they found, and the first wrong order.
#[derive(Default)]
struct Ran {
    done: Vec<bool>,
    found: Vec<u32>,
    wrong: Option<String>,
}

struct Performer<'a> {
    machine: &'a Machine,
    function: hipFunction_t,
    module: hipModule_t,
    streams: [hipStream_t; STREAMS],
    /// Streams for captures alone.
    captured: [hipStream_t; 2],
    events: [hipEvent_t; EVENTS],
    joints: [hipEvent_t; 2],
    memories: [*mut c_void; MEMORIES],
    freed: Vec<*mut c_void>,
    ran: Arc<Mutex<Ran>>,
    plant: Plant,
}

/// Performs a program. The error tells the first difference.
pub(super) fn perform(
    machine: &Machine,
    program: &Program,
    expected: &Expected,
    plant: Plant,
) -> Result<(), String> {
    let mut performer = Performer::new(machine, program.functions, plant);
    let mut reads = Vec::new();
    let mut differs = Ok(());
    let mut order: Vec<usize> = (0..program.steps.len()).collect();
    if plant == Plant::EarlyRecord {
        for at in 1..order.len() {
            let is_record = matches!(program.steps[order[at]].op, Op::Record(_));
            let is_work = matches!(program.steps[order[at - 1]].op, Op::Work(_));
            if is_record && is_work {
                order.swap(at - 1, at);
            }
        }
    }
    for at in order {
        let step = &program.steps[at];
        match performer.step(step.stream, &step.op) {
            Ok(read) => reads.extend(read),
            Err(error) if differs.is_ok() => differs = Err(format!("step {at}: {error}")),
            Err(_) => {}
        }
    }
    let last = performer.end();
    differs?;
    let ran = performer.ran.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(wrong) = &ran.wrong {
        return Err(wrong.clone());
    }
    if reads != expected.reads {
        return Err(format!("the host read {reads:?} in place of {:?}", expected.reads));
    }
    if ran.found != expected.found {
        return Err(format!("host functions found {:?} in place of {:?}", ran.found, expected.found));
    }
    for (memory, (words, value)) in last.iter().zip(expected.last).enumerate() {
        let right = value.map(|value| vec![value; WORDS]);
        if *words != right {
            return Err(format!("memory {memory} has {words:?} in place of {value:?}"));
        }
    }
    Ok(())
}

impl<'a> Performer<'a> {
    fn new(machine: &'a Machine, functions: usize, plant: Plant) -> Self {
        let module = machine.load(ORDER);
        let mut streams = [(); STREAMS].map(|()| null_mut());
        for (at, stream) in streams.iter_mut().enumerate().filter(|(at, _)| *at != NULL) {
            *stream = machine.stream_with(u32::from(at != 1));
        }
        let mut memories = [null_mut(); MEMORIES];
        DEVICE.iter().for_each(|memory| memories[*memory] = machine.upload(&[0_u32; WORDS]));
        for memory in PINNED {
            ok!(machine, hipHostMalloc(&mut memories[memory], BYTES, 0));
            // SAFETY: the allocation has these bytes, and no work uses it yet.
            unsafe { memories[memory].write_bytes(0, BYTES) };
        }
        let ran = Ran { done: vec![false; functions], found: vec![0; functions], wrong: None };
        Self {
            machine,
            function: machine.function(module, c"multiply_add"),
            module,
            streams,
            captured: [(); 2].map(|()| machine.stream()),
            events: [(); EVENTS].map(|()| machine.event()),
            joints: [(); 2].map(|()| machine.event()),
            memories,
            freed: Vec::new(),
            ran: Arc::new(Mutex::new(ran)),
            plant,
        }
    }

    /// Whether host functions that must have run have.
    fn check(&self, behind: &[usize]) -> Result<(), String> {
        let ran = self.ran.lock().unwrap_or_else(PoisonError::into_inner);
        match behind.iter().find(|id| !ran.done[**id]) {
            Some(id) => Err(format!("host function {id} has not run")),
            None => Ok(()),
        }
    }

    fn work(&self, stream: hipStream_t, work: &Work) {
        let machine = self.machine;
        match *work {
            Work::Fill { memory, value } => {
                ok!(machine, hipMemsetD32Async(self.memories[memory], value as i32, WORDS, stream));
            }
            Work::Kernel { memory, factor, sum } => {
                let arguments = Block::default().pointer(self.memories[memory]).u32(WORDS as u32);
                let arguments = arguments.u32(factor).u32(sum).done();
                let launched = machine.launch(self.function, 1, WORDS as u32, stream, &arguments);
                assert_eq!(launched, hipError_t::hipSuccess);
            }
            Work::Copy { from, to } => {
                let kind = hipMemcpyKind::hipMemcpyDefault;
                let (from, to) = (self.memories[from], self.memories[to]);
                ok!(machine, hipMemcpyAsync(to, from, BYTES, kind, stream));
            }
            Work::Host { memory, factor, sum, id, ref behind } => {
                let (ran, behind) = (self.ran.clone(), behind.clone());
                let address = self.memories[memory] as usize;
                machine.call_on(stream, move || {
                    let words: *mut u32 = std::ptr::with_exposed_provenance_mut(address);
                    // SAFETY: pinned memory of this many words, which no other work uses now: programs have no races.
                    let words = unsafe { std::slice::from_raw_parts_mut(words, WORDS) };
                    let mut ran = ran.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(missing) = behind.iter().find(|other| !ran.done[**other]) {
                        ran.wrong = Some(format!("host function {id} runs before {missing}"));
                    }
                    ran.done[id] = true;
                    ran.found[id] = words[0];
                    words.iter_mut().for_each(|word| *word = word.wrapping_mul(factor).wrapping_add(sum));
                });
            }
        }
    }

    /// Performs a step. Returns the value that the host read.
    fn step(&mut self, stream: usize, op: &Op) -> Result<Option<u32>, String> {
        let machine = self.machine;
        let handle = self.streams[stream];
        match op {
            Op::Work(work) => self.work(handle, work),
            Op::Allocate(memory) => {
                let place = &mut self.memories[*memory];
                match self.freed.pop() {
                    Some(freed) => *place = freed,
                    None => ok!(machine, hipMallocAsync(place, BYTES, handle)),
                }
                ok!(machine, hipMemsetD32Async(*place, 1, WORDS, handle));
            }
            Op::Free(memory) => {
                let freed = std::mem::replace(&mut self.memories[*memory], null_mut());
                match self.plant {
                    Plant::EarlyReuse => self.freed.push(freed),
                    _ => ok!(machine, hipFreeAsync(freed, handle)),
                }
            }
            Op::Record(event) => ok!(machine, hipEventRecord(self.events[*event], handle)),
            Op::Wait(_) if self.plant == Plant::LostWait => {}
            Op::Wait(event) => ok!(machine, hipStreamWaitEvent(handle, self.events[*event], 0)),
            Op::Graph { branches, times } => self.graph(handle, branches, *times),
            Op::Query { event, behind } => match hip!(machine, hipEventQuery(self.events[*event])) {
                hipError_t::hipSuccess => self.check(behind)?,
                other => assert_eq!(other, hipError_t::hipErrorNotReady),
            },
            Op::WaitForEvent { event, behind } => {
                ok!(machine, hipEventSynchronize(self.events[*event]));
                self.check(behind)?;
            }
            Op::WaitForStream { behind } => {
                ok!(machine, hipStreamSynchronize(handle));
                self.check(behind)?;
            }
            Op::Read(memory) => {
                // SAFETY: pinned memory, which no work writes now.
                return Ok(Some(unsafe { self.memories[*memory].cast::<u32>().read() }));
            }
            Op::Write { memory, value } => {
                // SAFETY: pinned memory of this many words, which no work uses now.
                unsafe { std::slice::from_raw_parts_mut(self.memories[*memory].cast::<u32>(), WORDS) }
                    .fill(*value);
            }
        }
        Ok(None)
    }

    /// Captures two branches, and launches the graph.
    fn graph(&self, stream: hipStream_t, branches: &[Vec<Work>; 2], times: u32) {
        let (machine, [first, second], [fork, joint]) = (self.machine, self.captured, self.joints);
        let mode = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;
        ok!(machine, hipStreamBeginCapture(first, mode));
        ok!(machine, hipEventRecord(fork, first));
        ok!(machine, hipStreamWaitEvent(second, fork, 0));
        branches[0].iter().for_each(|work| self.work(first, work));
        branches[1].iter().for_each(|work| self.work(second, work));
        ok!(machine, hipEventRecord(joint, second));
        ok!(machine, hipStreamWaitEvent(first, joint, 0));
        let (mut graph, mut exec) = (null_mut(), null_mut());
        ok!(machine, hipStreamEndCapture(first, &mut graph));
        ok!(machine, hipGraphInstantiate(&mut exec, graph, null_mut(), null_mut(), 0));
        (0..times).for_each(|_| ok!(machine, hipGraphLaunch(exec, stream)));
        ok!(machine, hipGraphExecDestroy(exec));
        ok!(machine, hipGraphDestroy(graph));
    }

    /// Waits for everything, gives everything back, and returns the last words of the memories.
    fn end(&mut self) -> [Option<Vec<u32>>; MEMORIES] {
        let machine = self.machine;
        self.streams.iter().for_each(|stream| ok!(machine, hipStreamSynchronize(*stream)));
        let last = std::array::from_fn(|memory| {
            let pointer = self.memories[memory];
            (!pointer.is_null()).then(|| {
                let mut words = vec![0_u32; WORDS];
                let kind = hipMemcpyKind::hipMemcpyDefault;
                ok!(machine, hipMemcpy(words.as_mut_ptr().cast(), pointer, BYTES, kind));
                words
            })
        });
        // Pools get back what the program kept.
        for memory in POOLED.into_iter().filter(|memory| !self.memories[*memory].is_null()) {
            ok!(machine, hipFree(self.memories[memory]));
        }
        for memory in DEVICE {
            ok!(machine, hipFree(self.memories[memory]));
        }
        for memory in PINNED {
            ok!(machine, hipHostFree(self.memories[memory]));
        }
        for stream in self.streams.iter().chain(&self.captured).filter(|stream| !stream.is_null()) {
            ok!(machine, hipStreamDestroy(*stream));
        }
        self.events.iter().chain(&self.joints).for_each(|event| ok!(machine, hipEventDestroy(*event)));
        ok!(machine, hipModuleUnload(self.module));
        last
    }
}
