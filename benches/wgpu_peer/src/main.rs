// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass-wgpu-peer BINDINGS N MILLISECONDS`: encodes a compute pass of N dispatches, finishes and submits it, again
//! and again, on wgpu's backend that does nothing. Prints nanoseconds for each dispatch.
//!
//! Two bind groups alternate, so that each dispatch needs the result of the one before, as after a barrier.

use std::{
    env,
    error::Error,
    process::ExitCode,
    time::{Duration, Instant},
};

use wgpu::{BindGroup, Buffer, ComputePipeline, Device, Queue};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    if arguments.first().is_some_and(|argument| argument == "--version") {
        println!("windlass-wgpu-peer {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("windlass-wgpu-peer: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [bindings, n, milliseconds] = arguments else {
        return Err("three numbers are needed: BINDINGS N MILLISECONDS".into());
    };
    let (bindings, n) = (bindings.parse::<u32>()?, n.parse::<u32>()?);
    if bindings < 2 || n == 0 {
        return Err("at least 2 bindings and 1 dispatch are needed".into());
    }
    let time = Duration::from_millis(milliseconds.parse()?);
    let work = Work::new(bindings)?;
    // The first rounds fill wgpu's reserves.
    for _ in 0..10 {
        work.round(n)?;
    }
    let (mut rounds, start) = (0_u32, Instant::now());
    while start.elapsed() < time || rounds == 0 {
        work.round(n)?;
        rounds += 1;
    }
    println!("{}", start.elapsed().as_nanos() as f64 / (f64::from(rounds) * f64::from(n)));
    Ok(())
}

/// A device with a pipeline and its bind groups.
struct Work {
    device: Device,
    queue: Queue,
    pipeline: ComputePipeline,
    groups: [BindGroup; 2],
}

impl Work {
    fn new(bindings: u32) -> Result<Self, Box<dyn Error>> {
        let instance = wgpu::Instance::new(&wgpu::InstanceDescriptor {
            backends: wgpu::Backends::NOOP,
            backend_options: wgpu::BackendOptions {
                noop: wgpu::NoopBackendOptions { enable: true },
                ..wgpu::BackendOptions::default()
            },
            ..wgpu::InstanceDescriptor::default()
        });
        let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
        let mut limits = wgpu::Limits::default();
        limits.max_storage_buffers_per_shader_stage =
            limits.max_storage_buffers_per_shader_stage.max(bindings);
        let descriptor =
            wgpu::DeviceDescriptor { required_limits: limits, ..wgpu::DeviceDescriptor::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(shader(bindings).into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &shader,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let buffers: Vec<_> = (0..bindings).map(|_| buffer(&device)).collect();
        let layout = pipeline.get_bind_group_layout(0);
        let group = |from: &[&Buffer]| {
            let entries: Vec<_> = (0..)
                .zip(from)
                .map(|(binding, buffer)| wgpu::BindGroupEntry {
                    binding,
                    resource: buffer.as_entire_binding(),
                })
                .collect();
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout: &layout,
                entries: &entries,
            })
        };
        let forth: Vec<_> = buffers.iter().collect();
        let back: Vec<_> = buffers.iter().rev().collect();
        let groups = [group(&forth), group(&back)];
        Ok(Self { device, queue, pipeline, groups })
    }

    /// Encodes, finishes and submits.
    fn round(&self, n: u32) -> Result<(), Box<dyn Error>> {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&self.pipeline);
            for group in self.groups.iter().cycle().take(n as usize) {
                pass.set_bind_group(0, group, &[]);
                pass.dispatch_workgroups(1, 1, 1);
            }
        }
        self.queue.submit([encoder.finish()]);
        self.device.poll(wgpu::PollType::Poll)?;
        Ok(())
    }
}

fn buffer(device: &Device) -> Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 256,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    })
}

/// A shader that adds its inputs.
fn shader(bindings: u32) -> String {
    let last = bindings - 1;
    let inputs: String = (0..last)
        .map(|index| format!("@group(0) @binding({index}) var<storage, read> in{index}: array<u32>;\n"))
        .collect();
    let sum: String = (0..last).map(|index| format!(" + in{index}[i.x]")).collect();
    format!(
        "{inputs}@group(0) @binding({last}) var<storage, read_write> out: array<u32>;\n\
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) i: vec3<u32>) {{\n\
         out[i.x] = i.x{sum};\n}}\n"
    )
}
