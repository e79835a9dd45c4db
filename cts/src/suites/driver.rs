// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finding and opening devices, and their descriptions.

use windlass_hal::{ChannelId, ChannelParams, Code, Feature, QueueAffinity, Semaphore};

use crate::{
    check::{ensure, ensure_eq, names, refused},
    context::{Context, queue_of},
    kernels,
    outcome::Outcome,
};

suite! { "driver";
    #[smoke] reports_itself: "A device names itself, its architecture and its driver's scheme, and its limits make sense.";
    opens_by_reported_uri: "The URI that a device reports opens the same device.";
    enumerated_devices_open: "Every device that a driver lists can be opened by its listed URI.";
    unknown_key_refused: "A URI parameter that the driver does not know is INVALID_ARGUMENT and named.";
    #[smoke] every_queue_works: "Each queue below Limits::queues takes work; a queue beyond is OUT_OF_RANGE.";
    queue_sets: "A queue may stand for a set of queues; a set without any queue of the device is refused.";
    devices_are_independent: "Closing one opened device leaves another of the same URI at work.";
    foreign_objects_refused: "Buffers of another device are INVALID_ARGUMENT, and the signal list stays untouched.";
    foreign_command_buffer_refused [CommandBuffers]:
        "A command buffer that was recorded on another device is INVALID_ARGUMENT.";
    semaphores_order_across_devices: "A semaphore that one device signals orders work of another.";
    #[smoke] lacks_are_true: "A feature that a device declares a lack is UNIMPLEMENTED when it is used.";
}

fn reports_itself(ctx: &Context) -> Outcome {
    let (info, limits) = (ctx.device().info(), ctx.device().limits());
    let scheme = ctx.uri().split("://").next().unwrap_or_default();
    ensure!(info.uri.starts_with(&format!("{scheme}://")), "the URI {} is not of {scheme}://", info.uri);
    ensure!(!info.name.is_empty() && !info.architecture.is_empty(), "no name or no architecture: {info:?}");
    ensure!((1..=64).contains(&limits.queues), "{} queues", limits.queues);
    ensure!(
        limits.allocation_alignment.is_power_of_two(),
        "an allocation alignment of {}",
        limits.allocation_alignment
    );
    for (index, lack) in info.lacks.iter().enumerate() {
        ensure!(!lack.reason.is_empty(), "the lack of {} has no reason", lack.feature.name());
        let twice = info.lacks[..index].iter().any(|other| other.feature == lack.feature);
        ensure!(!twice, "{} is declared twice", lack.feature.name());
    }
    Ok(())
}

fn opens_by_reported_uri(ctx: &Context) -> Outcome {
    let info = ctx.device().info();
    let again = ctx.registry().open(&info.uri)?;
    ensure_eq!(again.info(), info, "the device of the reported URI");
    ensure_eq!(again.limits(), ctx.device().limits(), "its limits");
    Ok(())
}

fn enumerated_devices_open(ctx: &Context) -> Outcome {
    let scheme = ctx.uri().split("://").next().unwrap_or_default();
    for listed in ctx.registry().driver(scheme)?.enumerate()? {
        let opened = ctx.registry().open(&listed.uri)?;
        ensure_eq!(opened.info().architecture, listed.architecture, "the architecture of {}", listed.uri);
        ensure_eq!(opened.info().uuid, listed.uuid, "the identity of {}", listed.uri);
        ensure_eq!(opened.info().simulated, listed.simulated, "whether {} is simulated", listed.uri);
    }
    Ok(())
}

fn unknown_key_refused(ctx: &Context) -> Outcome {
    // Before the other keys, because keys after `over=` belong to the wrapped device.
    let uri = match ctx.uri().split_once('?') {
        Some((device, keys)) => format!("{device}?no-such-key=1&{keys}"),
        None => format!("{}?no-such-key=1", ctx.uri()),
    };
    let error = refused(ctx.registry().open(&uri), Code::InvalidArgument, &uri)?;
    names(&error, "no-such-key")
}

fn every_queue_works(ctx: &Context) -> Outcome {
    let queues = ctx.device().limits().queues;
    for index in 0..queues {
        let done = Semaphore::new(0);
        ctx.device().queue(index)?.barrier(&[], &[done.at(1)])?;
        ctx.wait(&done.at(1))?;
    }
    refused(ctx.device().queue(queues), Code::OutOfRange, "a queue beyond the last")?;
    refused(ctx.device().queue(u32::MAX), Code::OutOfRange, "queue 2^32 - 1")?;
    Ok(())
}

fn queue_sets(ctx: &Context) -> Outcome {
    let queues = ctx.device().limits().queues;
    let all = ctx.device().queue_of(QueueAffinity::ANY)?;
    let first = ctx.device().queue_of(QueueAffinity::queue(0))?;
    let done = Semaphore::new(0);
    for value in 1..=20 {
        let queue = if value % 2 == 0 { &first } else { &all };
        queue.barrier(&[done.at(value - 1)], &[done.at(value)])?;
    }
    ctx.wait(&done.at(20))?;
    if queues < 64 {
        let beyond = QueueAffinity::queue(queues);
        refused(ctx.device().queue_of(beyond), Code::OutOfRange, "a set of a queue beyond the last")?;
    }
    Ok(())
}

fn devices_are_independent(ctx: &Context) -> Outcome {
    let (one, other) = (ctx.open()?, ctx.open()?);
    let gate = Semaphore::new(0);
    let (of_one, of_other) = (Semaphore::new(0), Semaphore::new(0));
    queue_of(&one, 0)?.barrier(&[gate.at(1)], &[of_one.at(1)])?;
    queue_of(&other, 0)?.barrier(&[gate.at(1)], &[of_other.at(1)])?;
    one.close();
    let error = ctx.wait_for_failure(&of_one.at(1))?;
    ensure_eq!(
        error.code(),
        Code::Cancelled,
        "the failure of work that was not issued when the device was closed"
    );
    gate.signal(1)?;
    ctx.wait(&of_other.at(1))
}

fn foreign_objects_refused(ctx: &Context) -> Outcome {
    let stranger = ctx.open()?;
    let foreign = stranger.allocate_device(64)?;
    let own = ctx.device().allocate_device(64)?;
    let (queue, done) = (ctx.queue(0)?, Semaphore::new(0));
    let signals = [done.at(1)];
    refused(queue.fill(&[], &signals, &foreign, 1_u32), Code::InvalidArgument, "a fill of a foreign buffer")?;
    refused(
        queue.update(&[], &signals, &[0; 64], &foreign),
        Code::InvalidArgument,
        "an update of a foreign buffer",
    )?;
    refused(
        queue.copy(&[], &signals, &foreign, &own),
        Code::InvalidArgument,
        "a copy from a foreign buffer",
    )?;
    refused(queue.copy(&[], &signals, &own, &foreign), Code::InvalidArgument, "a copy to a foreign buffer")?;
    refused(
        queue.dealloca(&[], &signals, &foreign),
        Code::InvalidArgument,
        "a dealloca of a foreign buffer",
    )?;
    ensure_eq!(done.query()?, 0, "the semaphore of refused work");
    Ok(())
}

fn foreign_command_buffer_refused(ctx: &Context) -> Outcome {
    let commands = ctx.open()?.record()?.finish()?;
    let done = Semaphore::new(0);
    refused(
        ctx.queue(0)?.execute(&[], &[done.at(1)], &commands, []),
        Code::InvalidArgument,
        "a foreign command buffer",
    )?;
    ensure_eq!(done.query()?, 0, "the semaphore of refused work");
    Ok(())
}

fn semaphores_order_across_devices(ctx: &Context) -> Outcome {
    let other = ctx.open()?;
    let (ours, theirs) = (ctx.queue(0)?, queue_of(&other, 0)?);
    let ball = Semaphore::new(0);
    for round in 0..20 {
        let value = 2 * round;
        theirs.barrier(&[ball.at(value + 1)], &[ball.at(value + 2)])?;
        ours.barrier(&[ball.at(value)], &[ball.at(value + 1)])?;
    }
    ctx.wait(&ball.at(40))
}

fn lacks_are_true(ctx: &Context) -> Outcome {
    for lack in &ctx.device().info().lacks {
        let what = format!("`{}`, which is declared a lack,", lack.feature.name());
        let done = Semaphore::new(0);
        let (queue, signals) = (ctx.queue(0)?, [done.at(1)]);
        match lack.feature {
            Feature::Alloca => {
                let params = windlass_hal::BufferParams::device();
                drop(refused(queue.alloca(&[], &signals, &params, 64), Code::Unimplemented, &what)?);
            }
            Feature::Collectives => {
                drop(refused(ctx.device().channel_id(), Code::Unimplemented, &what)?);
                let params = ChannelParams::new(ChannelId::from_bytes([1; ChannelId::BYTES]), 0, 1);
                // SAFETY: no channel is made.
                let made = unsafe { ctx.device().create_channel(&params) };
                drop(refused(made, Code::Unimplemented, &what)?);
            }
            Feature::CommandBuffers => {
                let recorded = ctx.device().record().and_then(|recorder| recorder.finish());
                drop(refused(recorded, Code::Unimplemented, &what)?);
            }
            Feature::Dispatch => {
                // SAFETY: the kernel is the suite's own, and it is refused, or dropped without a dispatch.
                let loaded = unsafe { ctx.device().load_executable(kernels::VECTOR_ADD.bytes) };
                drop(refused(loaded, Code::Unimplemented, &what)?);
            }
            Feature::Files => {
                let file = windlass_hal::File::new(crate::file_in_memory::FileInMemory::default());
                let target = ctx.device().allocate_device(4)?;
                drop(refused(queue.read(&[], &signals, &file, 0, &target), Code::Unimplemented, &what)?);
            }
            Feature::HostCalls => {
                let flags = windlass_hal::HostCallFlags::NONE;
                let called = queue.host_call(&[], &signals, flags, |_| Ok(()));
                drop(refused(called, Code::Unimplemented, &what)?);
            }
            Feature::Linking => {
                let parts = [kernels::LINK_USER.bytes, kernels::LINK_PROVIDER.bytes];
                // SAFETY: as for one piece.
                let linked = unsafe { ctx.device().load_linked(&parts) };
                drop(refused(linked, Code::Unimplemented, &what)?);
            }
            Feature::VirtualMemory => {
                let reserved = ctx.device().reserve_growable(&windlass_hal::BufferParams::device(), 4096);
                drop(refused(reserved, Code::Unimplemented, &what)?);
            }
            _ => {}
        }
    }
    Ok(())
}
