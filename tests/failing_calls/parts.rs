// SPDX-License-Identifier: MIT OR Apache-2.0
//! The objects that the program has before its first submission: queues, memory, code, command buffers.

use windlass::{
    Argument, Buffer, BufferParams, BufferRef, BufferUsage, Code, CommandBuffer, Device, DispatchConfig,
    Error, Executable, Feature, Function, GrowableBuffer, IndirectDispatchConfig, IndirectParameters, Queue,
    QueueAffinity, Result,
};

use crate::world::World;

const VECTOR_ADD: &[u8] = include_bytes!("../../cts/kernels/bundles/vector_add.ccob");
const GLOBALS: &[u8] = include_bytes!("../../cts/kernels/bundles/globals.ccob");
/// The buffers of device memory that the program holds from its first step to its last.
pub(crate) const BUFFERS: i64 = 16;
/// Floats in a buffer.
pub(crate) const COUNT: usize = 64;
/// Bytes of a buffer.
pub(crate) const SIZE: u64 = 4 * COUNT as u64;

/// An error with the attempted action.
pub(crate) type Tried<T> = std::result::Result<T, (&'static str, Error)>;

pub(crate) trait At<T> {
    fn at(self, what: &'static str) -> Tried<T>;
}

impl<T> At<T> for Result<T> {
    fn at(self, what: &'static str) -> Tried<T> {
        self.map_err(|error| (what, error))
    }
}

/// The objects that exist before the first submission.
pub(crate) struct Parts {
    pub(crate) queues: [Queue; 4],
    pub(crate) inputs: [Buffer; 4],
    pub(crate) outputs: [Buffer; 7],
    pub(crate) sum: Buffer,
    /// A workgroup count.
    pub(crate) counts: Buffer,
    pub(crate) hosts: Vec<Buffer>,
    /// The program's own memory, and memory of the device under another handle.
    pub(crate) lent_host: Buffer,
    pub(crate) lent_device: Buffer,
    _lender: Buffer,
    /// Memory that grew twice, and a buffer over both parts, where the device has such memory.
    pub(crate) grown: Option<(GrowableBuffer, Buffer)>,
    pub(crate) add: Function,
    pub(crate) count: Function,
    pub(crate) show: Function,
    pub(crate) direct: CommandBuffer,
    pub(crate) by_table: CommandBuffer,
    pub(crate) indirect: CommandBuffer,
}

impl Parts {
    pub(crate) fn prepare(world: World, device: &Device) -> Tried<Self> {
        let queue = |index| device.queue(index).at("queue");
        let queues = [queue(0)?, queue(1)?, queue(2)?, queue(3)?];
        let memory = || device.allocate_device(SIZE).at("allocate");
        let inputs = [memory()?, memory()?, memory()?, memory()?];
        let outputs = [memory()?, memory()?, memory()?, memory()?, memory()?, memory()?, memory()?];
        let sum = memory()?;
        let mut hosts = Vec::new();
        for _ in 0..15 {
            let host = device.allocate(&BufferParams::host(), SIZE).at("allocate host")?;
            host.map().at("map")?.write(0, &[0; SIZE as usize]).at("map")?;
            hosts.push(host);
        }
        let lent_host =
            device.import_host(&BufferParams::host(), vec![0; SIZE as usize]).at("import host")?;
        let lender = memory()?;
        let address = lender.device_address();
        // Not by the release, because a lost device keeps the memory forever.
        let release = || {};
        // SAFETY: memory of this device, which the program holds as long as the buffer.
        let lent_device =
            unsafe { device.import_device_address(&BufferParams::device(), address, SIZE, release) };
        let lent_device = lent_device.at("import device")?;
        let grown = grow(device)?;
        let topology = device.topology().at("topology")?;
        device.raw().edge_to(0, &topology.nodes[0]);
        let vector_add = load(device, VECTOR_ADD)?;
        let globals = load(device, GLOBALS)?;
        match globals.global_on("counter", QueueAffinity::queue(0)) {
            Ok(counter) => assert_eq!(counter.len(), 4),
            Err(error) if !world.computes() && error.code() == Code::NotFound => {}
            Err(error) => return Err(("global", error)),
        }
        let add = vector_add.function("vector_add").at("function")?;
        assert!(add.occupancy(COUNT as u32, 0).at("occupancy")?.workgroups_per_compute_unit > 0);
        assert!(add.suggested_workgroup(0).at("suggested workgroup")?.threads > 0);
        let count = globals.function("use_globals").at("function")?;
        let show = globals.function("read_counter").at("function")?;

        let scratch = memory()?;
        let mut recorder = device.record().at("record")?;
        recorder.fill(&scratch, 0x11_u8).at("record")?;
        recorder.fill(&outputs[2], 9.0_f32).at("record")?;
        recorder.barrier();
        recorder.update(&[0x22; 16], &scratch.subspan(0, 16).at("subspan")?).at("record")?;
        let arguments = [inputs[0].arg(), inputs[1].arg(), outputs[2].arg(), (COUNT as i32).into()];
        recorder.dispatch(&add, grid(), &arguments).at("record")?;
        recorder.barrier();
        recorder.copy(&outputs[2], &hosts[3]).at("record")?;
        recorder.copy(&scratch, &hosts[4]).at("record")?;
        let direct = recorder.finish().at("finish")?;

        let slot = |slot| Argument::Slot { slot, offset: 0, length: SIZE };
        let mut recorder = device.record_with_slots(3).at("record")?;
        recorder.fill(BufferRef::slot(1, 0, SIZE), 5.0_f32).at("record")?;
        recorder.barrier();
        recorder.dispatch(&add, grid(), &[slot(0), slot(0), slot(1), (COUNT as i32).into()]).at("record")?;
        recorder.barrier();
        recorder.copy(BufferRef::slot(1, 0, SIZE), BufferRef::slot(2, 0, SIZE)).at("record")?;
        let by_table = recorder.finish().at("finish")?;

        let usage = BufferUsage::DEFAULT | BufferUsage::DISPATCH_INDIRECT_PARAMETERS;
        let count_memory = || device.allocate(&BufferParams::device().with_usage(usage), 12).at("allocate");
        let (counts, own_counts) = (count_memory()?, count_memory()?);
        let mut recorder = device.record().at("record")?;
        recorder.fill(&own_counts, 1_u32).at("record")?;
        recorder.fill(&outputs[6], 9.0_f32).at("record")?;
        let event = recorder.event();
        recorder.signal_event(event).at("record")?;
        recorder.wait_events(&[event]).at("record")?;
        let arguments = [inputs[0].arg(), inputs[1].arg(), outputs[6].arg(), (COUNT as i32).into()];
        let config = indirect_grid(IndirectParameters::Dynamic(own_counts.into()));
        recorder.dispatch_indirect(&add, config, &arguments).at("record")?;
        recorder.barrier();
        recorder.copy(&outputs[6], &hosts[12]).at("record")?;
        let indirect = recorder.finish().at("finish")?;
        Ok(Self {
            queues,
            inputs,
            outputs,
            sum,
            counts,
            hosts,
            lent_host,
            lent_device,
            _lender: lender,
            grown,
            add,
            count,
            show,
            direct,
            by_table,
            indirect,
        })
    }

    pub(crate) fn add_arguments<'a>(&'a self, sum: &'a Buffer) -> [Argument<'a>; 4] {
        [self.inputs[0].arg(), self.inputs[1].arg(), sum.arg(), (COUNT as i32).into()]
    }
}

/// Memory that grows, unless the device lacks it.
fn grow(device: &Device) -> Tried<Option<(GrowableBuffer, Buffer)>> {
    if device.info().lacks.iter().any(|lack| lack.feature == Feature::VirtualMemory) {
        return Ok(None);
    }
    let grown = device.reserve_growable(&BufferParams::device(), 1 << 23).at("reserve")?;
    let granule = grown.granularity();
    grown.grow_to(granule).at("grow")?;
    grown.grow_to(2 * granule).at("grow")?;
    let part = grown.buffer(granule - SIZE / 2..granule + SIZE / 2).at("buffer")?;
    Ok(Some((grown, part)))
}

fn load(device: &Device, code: &[u8]) -> Tried<Executable> {
    // SAFETY: the project's own kernels, which stay within the buffers of their arguments.
    unsafe { device.load_executable(code) }.at("load")
}

/// This many floats.
pub(crate) fn words(value: f32) -> Vec<u8> {
    value.to_le_bytes().repeat(COUNT)
}

pub(crate) fn grid() -> DispatchConfig {
    DispatchConfig::new([1; 3]).workgroup_size([COUNT as u32, 1, 1])
}

/// A grid whose count is in a buffer.
pub(crate) fn indirect_grid(parameters: IndirectParameters) -> IndirectDispatchConfig {
    IndirectDispatchConfig::new(parameters).workgroup_size([COUNT as u32, 1, 1])
}
