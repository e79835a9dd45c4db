// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random programs against the sequential model. See [`crate::program`].

use crate::{
    context::Context,
    outcome::{Level, Outcome, Stop},
    program::{Bench, Density, Mix, search},
};

suite! { "program";
    chain: "Random programs that one timeline orders leave every byte and every status as a sequential model says.";
    mixed: "Random programs that several timelines order leave every byte and every status as a sequential model says.";
    parallel: "Random programs that only hazards order leave every byte and every status as a sequential model says.";
    failures: "In random programs with injected failures, operations run, fail and pass failures on as a model allows.";
    failures_in_parallel: "The same holds for programs with injected failures that only hazards order.";
}

/// Runs programs on a new device, so that the run's seed also repeats the choices of a wrapper.
fn run(ctx: &Context, mix: impl FnOnce(Mix) -> Mix) -> Outcome {
    let count = if ctx.level() == Level::Stress { 2000 } else { 50 };
    let bench: Bench = ctx.bench()?;
    let seed = ctx.random().next_u64();
    search(&bench, seed, count, mix(bench.mix())).map_err(|found| Stop::fail(found.to_string()))
}

fn chain(ctx: &Context) -> Outcome {
    run(ctx, |mix| mix.with_density(Density::Chain))
}

fn mixed(ctx: &Context) -> Outcome {
    run(ctx, |mix| mix)
}

fn parallel(ctx: &Context) -> Outcome {
    run(ctx, |mix| mix.with_density(Density::Parallel))
}

fn failures(ctx: &Context) -> Outcome {
    run(ctx, Mix::with_failures)
}

fn failures_in_parallel(ctx: &Context) -> Outcome {
    run(ctx, |mix| mix.with_failures().with_density(Density::Parallel))
}
