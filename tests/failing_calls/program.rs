// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program that uses every part of a device, and knows the bytes that each of its steps must leave.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

use windlass::{
    Buffer, BufferParams, Code, Device, DispatchConfig, Error, File, HostCallFlags, IndirectParameters,
    Point, Result, Semaphore, file::Storage,
};

use crate::{
    parts::{At, COUNT, Parts, SIZE, Tried, grid, indirect_grid, words},
    world::{SOON, World},
};

/// The result of a run.
pub(crate) struct Report {
    /// The first call that failed, and its purpose. Nothing was submitted after it.
    pub(crate) at_once: Option<(&'static str, Error)>,
    pub(crate) steps: Vec<Step>,
    /// Held so that the caller decides when the device is dropped.
    device: Option<Device>,
}

/// A submitted operation.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// The steps that it waits for.
    pub(crate) waits: Vec<usize>,
    pub(crate) outcome: Result<()>,
}

impl Report {
    pub(crate) fn errors(&self) -> impl Iterator<Item = &Error> {
        let at_once = self.at_once.iter().map(|(_, error)| error);
        at_once.chain(self.steps.iter().filter_map(|step| step.outcome.as_ref().err()))
    }

    /// Whether the device is lost.
    pub(crate) fn lost(&self) -> bool {
        let refusal = self.device.as_ref().and_then(|device| device.drain(SOON).err());
        refusal.is_some_and(|error| error.to_string().contains("which is lost now"))
    }

    /// Whether a device was opened.
    pub(crate) fn opened(&self) -> bool {
        !matches!(self.at_once, Some(("open", _)))
    }

    /// The steps that failed although all steps that they wait for succeeded.
    pub(crate) fn roots(&self) -> Vec<&Step> {
        let failed = |step: &&Step| step.outcome.is_err();
        let innocent = |step: &&Step| step.waits.iter().all(|wait| self.steps[*wait].outcome.is_ok());
        self.steps.iter().filter(failed).filter(innocent).collect()
    }

    /// No step succeeded after one that failed.
    #[track_caller]
    pub(crate) fn assert_failures_spread(&self, case: &str) {
        for step in self.steps.iter().filter(|step| step.outcome.is_ok()) {
            for wait in &step.waits {
                let before = &self.steps[*wait];
                assert!(before.outcome.is_ok(), "{} ran behind {before:?}: {case}", step.name);
            }
        }
    }

    #[track_caller]
    pub(crate) fn assert_healthy(&self, world: World) {
        let errors: Vec<_> = self.errors().map(ToString::to_string).collect();
        assert_eq!(errors, [""; 0], "{world:?}");
        assert!(self.steps.len() > 20, "{:?}", self.steps);
    }
}

impl std::fmt::Debug for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let failed: Vec<_> = self.steps.iter().filter(|step| step.outcome.is_err()).collect();
        write!(f, "at once {:?}, of {} steps {failed:?}", self.at_once, self.steps.len())
    }
}

/// The bytes that a step leaves in host memory or elsewhere.
struct Expected {
    step: usize,
    actual: Box<dyn Fn() -> Vec<u8>>,
    bytes: Vec<u8>,
}

#[derive(Default)]
pub(crate) struct Program {
    submitted: Vec<(&'static str, Vec<usize>, Semaphore)>,
    expected: Vec<Expected>,
}

impl Program {
    /// Runs the whole program on a device from `open`. Calls `submitted` when all work is submitted.
    pub(crate) fn run(world: World, open: impl FnOnce() -> Result<Device>, submitted: impl Fn()) -> Report {
        let mut program = Self::default();
        let (device, at_once) = match open().at("open") {
            Ok(device) => {
                let at_once = program.on(world, &device, &submitted).err();
                (Some(device), at_once)
            }
            Err(error) => (None, Some(error)),
        };
        submitted();
        let outcomes: Vec<_> =
            program.submitted.iter().enumerate().map(|(index, (_, _, done))| outcome(index, done)).collect();
        for expected in &program.expected {
            let name = program.submitted[expected.step].0;
            if outcomes[expected.step].is_ok() {
                assert_eq!((expected.actual)(), expected.bytes, "{name} succeeded and left this");
            }
        }
        let steps = program.submitted.into_iter().zip(outcomes);
        let steps = steps.map(|((name, waits, _), outcome)| Step { name, waits, outcome }).collect();
        Report { at_once, steps, device }
    }

    fn on(&mut self, world: World, device: &Device, submitted: &impl Fn()) -> Tried<()> {
        let parts = Parts::prepare(world, device)?;
        let gate = Semaphore::new(0);
        self.submit(world, &parts, &gate);
        submitted();
        let regrown = parts.grown.as_ref().map_or(Ok(()), |(grown, _)| {
            // Work in flight and a buffer keep the pages.
            grown.shrink_to(0).at("shrink")?;
            grown.grow_to(3 * grown.granularity()).at("grow")
        });
        // Work that waits for the host enters its stream now.
        gate.signal(1).at("signal")?;
        regrown?;
        device.trim();
        let most = device.allocate_device(1 << 50).expect_err("a pebibyte");
        if most.code() != Code::ResourceExhausted {
            return Err(("allocate too much", most));
        }
        let last: Vec<_> = self.submitted.iter().map(|(_, _, done)| done.at(1)).collect();
        let download = parts.queues[0].download(&last, &parts.sum).at("download")?;
        let bytes = pollster::block_on(download).at("download")?;
        assert_eq!(bytes, words(if world.computes() { 3.5 } else { 9.0 }), "a download succeeded with this");
        device.drain(SOON).at("drain")?;
        device.trim();
        let statistics = device.statistics();
        assert!(statistics.device_bytes_used >= SIZE * 8, "{statistics:?}");
        Ok(())
    }

    /// Submits a step behind others. The submitter must pass on a refusal, as here.
    fn step(
        &mut self,
        name: &'static str,
        waits: &[usize],
        submit: impl FnOnce(&[Point], &[Point]) -> Result<()>,
    ) -> usize {
        self.step_behind(name, waits, None, submit)
    }

    fn step_behind(
        &mut self,
        name: &'static str,
        waits: &[usize],
        host: Option<Point>,
        submit: impl FnOnce(&[Point], &[Point]) -> Result<()>,
    ) -> usize {
        let done = Semaphore::new(0);
        let points: Vec<_> = waits.iter().map(|wait| self.submitted[*wait].2.at(1)).chain(host).collect();
        if let Err(error) = submit(&points, &[done.at(1)]) {
            done.fail(error);
        }
        self.submitted.push((name, waits.to_vec(), done));
        self.submitted.len() - 1
    }

    /// Host memory must hold `bytes` once `step` has succeeded.
    fn expect(&mut self, step: usize, memory: &Buffer, bytes: Vec<u8>) {
        let memory = memory.clone();
        let actual = Box::new(move || memory.map().expect("host memory").to_vec());
        self.expected.push(Expected { step, actual, bytes });
    }

    /// Submits independent chains, and joins them.
    fn submit(&mut self, world: World, parts: &Parts, gate: &Semaphore) {
        let Parts { queues: [q0, q1, q2, q3], sum, hosts, .. } = parts;
        let [a, b, c, d] = &parts.inputs;
        let sums = words(if world.computes() { 3.5 } else { 9.0 });

        // A kernel over three queues.
        let fill_a = self.step("fill a", &[], |waits, signals| q0.fill(waits, signals, a, 1.5_f32));
        let fill_b = self.step("update b", &[], |waits, signals| q1.update(waits, signals, &words(2.0), b));
        let clear = self.step("fill sum", &[], |waits, signals| q3.fill(waits, signals, sum, 9.0_f32));
        let add = self.step("dispatch", &[fill_a, fill_b, clear], |waits, signals| {
            q2.dispatch(waits, signals, &parts.add, grid(), &parts.add_arguments(sum))
        });
        let copied = self.step("copy sum", &[add], |waits, signals| q3.copy(waits, signals, sum, &hosts[0]));
        self.expect(copied, &hosts[0], sums.clone());

        // Fills of other sizes, and a file.
        let bytes = self.step("fill bytes", &[], |waits, signals| q1.fill(waits, signals, c, 0x5a_u8));
        let shorts = self.step("fill shorts", &[], |waits, signals| q2.fill(waits, signals, d, 0x1234_u16));
        let copied =
            self.step("copy bytes", &[bytes], |waits, signals| q0.copy(waits, signals, c, &hosts[1]));
        self.expect(copied, &hosts[1], vec![0x5a; SIZE as usize]);
        let file = MemoryFile::default();
        let written = self.step("write", &[shorts], |waits, signals| {
            q1.write(waits, signals, d, &File::new(file.clone()), 0)
        });
        let shorts: Vec<u8> = 0x1234_u16.to_le_bytes().repeat(2 * COUNT);
        let stored = file.clone();
        let actual = Box::new(move || stored.0.lock().expect("sound").clone());
        self.expected.push(Expected { step: written, actual, bytes: shorts.clone() });
        let read = self.step("read", &[written, copied], |waits, signals| {
            q2.read(waits, signals, &File::new(file), 0, c)
        });
        let copied = self.step("copy read", &[read], |waits, signals| q3.copy(waits, signals, c, &hosts[2]));
        self.expect(copied, &hosts[2], shorts);

        // Memory that grew, over the edge of its parts.
        if let Some((_, part)) = &parts.grown {
            let filled =
                self.step("fill grown", &[], |waits, signals| q0.fill(waits, signals, part, 0x77_u8));
            let copied = self
                .step("copy grown", &[filled], |waits, signals| q3.copy(waits, signals, part, &hosts[14]));
            self.expect(copied, &hosts[14], vec![0x77; SIZE as usize]);
        }

        // Command buffers: one with direct ranges, one with a table, twice and in parallel.
        let direct = self.step("execute", &[fill_a, fill_b], |waits, signals| {
            q1.execute(waits, signals, &parts.direct, [])
        });
        self.expect(direct, &hosts[3], sums.clone());
        let mut patched = vec![0x11; SIZE as usize];
        patched[..16].fill(0x22);
        self.expect(direct, &hosts[4], patched);
        for (queue, output, host) in [(q2, 0, 5), (q3, 1, 6)] {
            let table = [b.clone(), parts.outputs[output].clone(), hosts[host].clone()];
            let name = if output == 0 { "execute by table" } else { "execute by table again" };
            let by_table = self.step(name, &[fill_b], |waits, signals| {
                queue.execute(waits, signals, &parts.by_table, table)
            });
            self.expect(by_table, &hosts[host], words(if world.computes() { 4.0 } else { 5.0 }));
        }

        // Variables of a module keep their values from one dispatch to the next.
        let counted = self.step("count", &[], |waits, signals| {
            let arguments = [parts.outputs[4].arg(), 32_i32.into()];
            q0.dispatch(
                waits,
                signals,
                &parts.count,
                DispatchConfig::new([1; 3]).workgroup_size([32, 1, 1]),
                &arguments,
            )
        });
        let shown = self.step("show", &[counted], |waits, signals| {
            let once = DispatchConfig::new([1; 3]).workgroup_size([1; 3]);
            q1.dispatch(waits, signals, &parts.show, once, &[hosts[7].subspan(0, 4)?.arg()])
        });
        let mut counter = vec![0; SIZE as usize];
        counter[..4].copy_from_slice(&(if world.computes() { 39_i32 } else { 0 }).to_le_bytes());
        self.expect(shown, &hosts[7], counter);

        // Workgroup counts in device memory.
        let one =
            self.step("fill counts", &[], |waits, signals| q0.fill(waits, signals, &parts.counts, 1_u32));
        let clear =
            self.step("fill", &[], |waits, signals| q1.fill(waits, signals, &parts.outputs[5], 9.0_f32));
        let launched = self.step("dispatch indirect", &[one, clear, fill_a, fill_b], |waits, signals| {
            let config = indirect_grid(IndirectParameters::Static(parts.counts.clone().into()));
            q2.dispatch_indirect(waits, signals, &parts.add, config, &parts.add_arguments(&parts.outputs[5]))
        });
        let indirect = self.step("copy indirect", &[launched], |waits, signals| {
            q3.copy(waits, signals, &parts.outputs[5], &hosts[11])
        });
        self.expect(indirect, &hosts[11], sums.clone());
        let executed = self.step("execute indirect", &[fill_a, fill_b], |waits, signals| {
            q0.execute(waits, signals, &parts.indirect, [])
        });
        self.expect(executed, &hosts[12], sums);

        // Queue-ordered memory, and its reuse.
        let mut transient = None;
        let allocated = self.step("alloca", &[], |waits, signals| {
            q0.alloca(waits, signals, &BufferParams::device(), SIZE).map(|buffer| transient = Some(buffer))
        });
        let mut ends = vec![copied, direct, shown, indirect, executed];
        if let Some(transient) = transient {
            let filled = self.step("fill transient", &[allocated], |waits, signals| {
                q1.fill(waits, signals, &transient, 7_u32)
            });
            let copied = self.step("copy transient", &[filled], |waits, signals| {
                q2.copy(waits, signals, &transient, &hosts[8])
            });
            self.expect(copied, &hosts[8], 7_u32.to_le_bytes().repeat(COUNT));
            let gone =
                self.step("dealloca", &[copied], |waits, signals| q3.dealloca(waits, signals, &transient));
            ends.push(gone);
        }
        let mut again = None;
        let allocated = self.step("alloca again", &[], |waits, signals| {
            q1.alloca(waits, signals, &BufferParams::device(), SIZE).map(|buffer| again = Some(buffer))
        });
        if let Some(again) = again {
            let filled = self
                .step("fill again", &[allocated], |waits, signals| q1.fill(waits, signals, &again, 8_u32));
            let copied = self
                .step("copy again", &[filled], |waits, signals| q1.copy(waits, signals, &again, &hosts[9]));
            self.expect(copied, &hosts[9], 8_u32.to_le_bytes().repeat(COUNT));
        }

        // Imported memory.
        let lent = self.step("copy to lent memory", &[add], |waits, signals| {
            q1.copy(waits, signals, sum, &parts.lent_host)
        });
        self.expect(lent, &parts.lent_host, words(if world.computes() { 3.5 } else { 9.0 }));
        let filled = self.step("fill lent device memory", &[], |waits, signals| {
            q2.fill(waits, signals, &parts.lent_device, 6_u32)
        });
        let copied = self.step("copy lent device memory", &[filled], |waits, signals| {
            q0.copy(waits, signals, &parts.lent_device, &hosts[13])
        });
        self.expect(copied, &hosts[13], 6_u32.to_le_bytes().repeat(COUNT));
        ends.extend([lent, copied]);

        // Work that waits for the host, and a host call behind everything.
        let gated = self.step_behind("gated fill", &[], Some(gate.at(1)), |waits, signals| {
            q2.fill(waits, signals, &parts.outputs[3], 3_u32)
        });
        let copied = self.step("copy gated", &[gated], |waits, signals| {
            q0.copy(waits, signals, &parts.outputs[3], &hosts[10])
        });
        self.expect(copied, &hosts[10], 3_u32.to_le_bytes().repeat(COUNT));
        ends.push(copied);
        let called = Arc::new(AtomicU32::new(0));
        let calls = called.clone();
        let call = self.step("host call", &ends, |waits, signals| {
            q3.host_call(waits, signals, HostCallFlags::NONE, move |_| {
                calls.fetch_add(1, SeqCst);
                Ok(())
            })
        });
        let actual = Box::new(move || called.load(SeqCst).to_le_bytes().to_vec());
        self.expected.push(Expected { step: call, actual, bytes: 1_u32.to_le_bytes().to_vec() });
        self.step("barrier", &[call], |waits, signals| q2.barrier(waits, signals));
    }
}

/// The end of a step, observed in one of several ways.
fn outcome(index: usize, done: &Semaphore) -> Result<()> {
    if index.is_multiple_of(2) { done.wait_blocking(1, SOON) } else { pollster::block_on(done.wait(1)) }
}

/// A file in memory.
#[derive(Clone, Default)]
struct MemoryFile(Arc<Mutex<Vec<u8>>>);

impl Storage for MemoryFile {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let file = self.0.lock().expect("sound");
        let from = file.get(offset as usize..).and_then(|from| from.get(..bytes.len()));
        bytes.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0.lock().expect("sound");
        let end = offset as usize + bytes.len();
        if file.len() < end {
            file.resize(end, 0);
        }
        file[offset as usize..end].copy_from_slice(bytes);
        Ok(())
    }
}
