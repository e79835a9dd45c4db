// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of dispatches: recording, submission, completion, one-shot command buffers, and the three arms.

use std::time::Instant;

use crate::Feature;

use super::load::{Load, Timeline};
use crate::command::bench::{
    row::{Prepared, Row},
    shape::{GRID, Shape},
    stop::Work,
    subject::{Floor, partly, whole},
    target::Target,
};

const COMMANDS: &[Feature] = &[Feature::CommandBuffers, Feature::Dispatch];
const DISPATCH: &[Feature] = &[Feature::Dispatch];

/// Submissions of an arm.
const ARM: u32 = 100;

pub(super) fn add(rows: &mut Vec<Row>) {
    let recorded =
        [Shape::direct(2, 1), Shape::direct(1, 1000), Shape::direct(2, 1000), Shape::table(2, 1000)];
    let wide = [Shape::direct(8, 1000), Shape::direct(32, 1000), Shape::constants(1000)];
    for shape in recorded.into_iter().chain(wide) {
        rows.push(of("dispatch/record", shape, record));
    }
    let returned = [Shape::direct(2, 1), Shape::table(2, 1), Shape::direct(2, 1000), Shape::table(2, 1000)];
    for shape in returned {
        // A round also completes, which the clock leaves out and an instruction count cannot.
        rows.push(of("dispatch/submit", shape, submit).uncounted());
    }
    for n in [1, 10, 100, 1000] {
        rows.push(of("dispatch/replay", Shape::direct(2, n), replay));
        rows.push(of("dispatch/replay", Shape::table(2, n), replay));
    }
    let more = [Shape::direct(1, 1000), Shape::direct(8, 1000), Shape::direct(32, 1000)];
    let tables = [Shape::table(8, 1000), Shape::table(32, 1000), Shape::constants(1000)];
    for shape in more.into_iter().chain(tables) {
        rows.push(of("dispatch/replay", shape, replay));
    }
    rows.extend([1, 1000].map(|n| of("dispatch/oneshot", Shape::direct(2, n), oneshot)));
    rows.push(Row::new("dispatch/direct bindings=2", (1, "dispatch"), direct).needs(DISPATCH));
    for fence in ["none", "after", "each"] {
        let name = format!("dispatch/arm n={ARM} fence={fence}");
        let row = Row::new(name, (ARM.into(), "dispatch"), move |target| arm(target, fence)).needs(COMMANDS);
        rows.push(if fence == "none" { row.uncounted() } else { row });
    }
    #[cfg(feature = "hip")]
    for n in [1, 1000] {
        let name = format!("dispatch/calls n={n}");
        let row = Row::new(name, (1, "submission"), move |_| calls(n));
        rows.push(row.needs(COMMANDS).unit("calls").schemes(&["hip-null"]).uncounted());
    }
}

fn of(theme: &str, shape: Shape, prepare: fn(&Target, Shape) -> Work<Prepared>) -> Row {
    let name = format!("{theme} {}", shape.text());
    let row = Row::new(name, (shape.n.into(), "dispatch"), move |target| prepare(target, shape));
    row.needs(COMMANDS).shape(shape)
}

/// Recording with its validation, and dropping the result.
fn record(target: &Target, shape: Shape) -> Work<Prepared> {
    let load = Load::new(target, shape)?;
    let round = move || load.record().map(drop);
    Ok(Prepared::Timed(whole(round), None))
}

/// A submission up to its return. The wait between two submissions is not measured.
fn submit(target: &Target, shape: Shape) -> Work<Prepared> {
    let load = Load::new(target, shape)?;
    let (commands, table) = (load.record()?, load.table());
    let mut timeline = Timeline::default();
    let subject = partly(move || {
        let value = timeline.next();
        let signals = [timeline.semaphore.at(value)];
        let start = Instant::now();
        load.queue.execute(&[], &signals, &commands, table.clone())?;
        let returned = start.elapsed();
        timeline.wait()?;
        Ok(returned)
    });
    Ok(Prepared::Timed(subject, launches(target, shape)?))
}

/// A submission of a recorded command buffer up to its completion.
fn replay(target: &Target, shape: Shape) -> Work<Prepared> {
    let load = Load::new(target, shape)?;
    let (commands, table) = (load.record()?, load.table());
    let mut timeline = Timeline::default();
    let subject = whole(move || {
        let value = timeline.next();
        let (waits, signals) = ([timeline.semaphore.at(value - 1)], [timeline.semaphore.at(value)]);
        load.queue.execute(&waits, &signals, &commands, table.clone())?;
        timeline.wait()
    });
    Ok(Prepared::Timed(subject, completed(target, shape)?))
}

/// Recording a command buffer, submitting it and waiting for it.
fn oneshot(target: &Target, shape: Shape) -> Work<Prepared> {
    let load = Load::new(target, shape)?;
    let mut timeline = Timeline::default();
    let subject = whole(move || {
        let commands = load.record()?;
        let value = timeline.next();
        load.queue.execute(&[], &[timeline.semaphore.at(value)], &commands, load.table())?;
        timeline.wait()
    });
    Ok(Prepared::Timed(subject, completed(target, shape)?))
}

/// A dispatch without a command buffer, up to its completion.
fn direct(target: &Target) -> Work<Prepared> {
    let shape = Shape::direct(2, 1);
    let load = Load::new(target, shape)?;
    load.check(target, |done| {
        load.queue.dispatch(&[], &[done.at(1)], &load.function, GRID, &load.arguments())?;
        Ok(())
    })?;
    let mut timeline = Timeline::default();
    let subject = whole(move || {
        let value = timeline.next();
        let signals = [timeline.semaphore.at(value)];
        load.queue.dispatch(&[], &signals, &load.function, GRID, &load.arguments())?;
        timeline.wait()
    });
    Ok(Prepared::Timed(subject, completed(target, shape)?))
}

/// Submissions of one dispatch each: without a wait, with one wait at the end, and with a wait after each.
fn arm(target: &Target, fence: &'static str) -> Work<Prepared> {
    let load = Load::new(target, Shape::direct(2, 1))?;
    let commands = load.record()?;
    let mut timeline = Timeline::default();
    let subject = partly(move || {
        let start = Instant::now();
        for _ in 0..ARM {
            let value = timeline.next();
            load.queue.execute(&[], &[timeline.semaphore.at(value)], &commands, load.table())?;
            if fence == "each" {
                timeline.wait()?;
            }
        }
        let submitted = start.elapsed();
        timeline.wait()?;
        Ok(if fence == "none" { submitted } else { start.elapsed() })
    });
    Ok(Prepared::Timed(subject, arm_floor(target, fence)?))
}

/// HIP calls of a submission with satisfied waits, with its wait, counted by the null HIP.
#[cfg(feature = "hip")]
fn calls(n: u32) -> Work<Prepared> {
    use windlass_hip_sys::null::{Instance, Options};

    const ROUNDS: u32 = 64;
    let instance = Instance::new(Options::default());
    let driver = windlass_hip::Driver::new("hip-null", windlass_hip::table(instance.api()));
    let mut registry = crate::Registry::new();
    registry.register(driver);
    let target = Target::of("hip-null://", registry.open("hip-null://")?);
    let load = Load::new(&target, Shape::direct(2, n))?;
    let commands = load.record()?;
    let mut timeline = Timeline::default();
    let mut rounds = || -> Work {
        for _ in 0..ROUNDS {
            let value = timeline.next();
            let (waits, signals) = ([timeline.semaphore.at(value - 1)], [timeline.semaphore.at(value)]);
            load.queue.execute(&waits, &signals, &commands, load.table())?;
            timeline.wait()?;
        }
        Ok(())
    };
    // The first rounds fill the driver's reserves.
    rounds()?;
    instance.reset_counts();
    rounds()?;
    let made: u64 = instance.calls().iter().map(|(_, count)| count).sum();
    Ok(Prepared::Exact(made as f64 / f64::from(ROUNDS)))
}

/// Bare launches.
#[cfg(feature = "hip")]
fn launches(target: &Target, shape: Shape) -> Work<Option<Floor>> {
    let Some(hip) = &target.hip else { return Ok(None) };
    Ok(Some(Floor::new("launches", shape.n.into(), hip.launches(shape)?)))
}

/// Bare launches, an event behind them and a query of it.
#[cfg(feature = "hip")]
fn completed(target: &Target, shape: Shape) -> Work<Option<Floor>> {
    let Some(hip) = &target.hip else { return Ok(None) };
    Ok(Some(Floor::new("launches, event, query", shape.n.into(), hip.completed(shape)?)))
}

#[cfg(feature = "hip")]
fn arm_floor(target: &Target, fence: &str) -> Work<Option<Floor>> {
    let Some(hip) = &target.hip else { return Ok(None) };
    let many = Shape::direct(2, ARM);
    Ok(Some(match fence {
        "none" => Floor::new("launches", ARM.into(), hip.launches(many)?),
        "after" => Floor::new("launches, event, query", ARM.into(), hip.completed(many)?),
        _ => Floor::new("launch, event, query", 1, hip.completed(Shape::direct(2, 1))?),
    }))
}

#[cfg(not(feature = "hip"))]
fn launches(_: &Target, _: Shape) -> Work<Option<Floor>> {
    Ok(None)
}

#[cfg(not(feature = "hip"))]
fn completed(_: &Target, _: Shape) -> Work<Option<Floor>> {
    Ok(None)
}

#[cfg(not(feature = "hip"))]
fn arm_floor(_: &Target, _: &str) -> Work<Option<Floor>> {
    Ok(None)
}
