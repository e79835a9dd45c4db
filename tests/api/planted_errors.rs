// SPDX-License-Identifier: MIT OR Apache-2.0
//! `shuffle://` finds a missing edge in a program, over every kind of device, within a hundred seeds. The table in
//! `docs/random-programs.md` lists the seeds.

use std::{collections::BTreeMap, path::Path, time::Duration};

use windlass_cts::{
    Kernels,
    program::{Bench, Mix, Plant, Program},
    shuffle,
};
use windlass_hal::Device;

/// Longer than any step takes, so a timeout is a failure.
const LIMIT: Duration = Duration::from_secs(120);

const DEVICES: [&str; 4] =
    ["null://", "local://?threads=0", "hip-sim://gfx942", "hip-sim://gfx942?devices=2"];

/// The number of programs with each kind of error, the first ones of the generator's seed.
const PROGRAMS: usize = 6;

/// A program without an edge, and the complete one.
struct Broken {
    program: Program,
    whole: Program,
}

fn broken(bench: &Bench) -> BTreeMap<Plant, Vec<Broken>> {
    let mut broken = BTreeMap::new();
    let mut mix = bench.mix();
    // Several ranks end together, so operations cannot go one at a time.
    let collectives = mix.ranks == 1;
    mix.ranks = 0;
    let others = Plant::ALL.into_iter().filter(|plant| *plant != Plant::Collective);
    add(&mut broken, mix, &others.collect::<Vec<_>>());
    if collectives {
        mix.ranks = 1;
        add(&mut broken, mix, &[Plant::Collective]);
    }
    broken
}

/// Adds the first programs of a mix with errors of these kinds.
fn add(broken: &mut BTreeMap<Plant, Vec<Broken>>, mix: Mix, plants: &[Plant]) {
    for whole in Program::random(11, mix) {
        for (plant, program) in whole.planted(1).into_iter().filter(|(plant, _)| plants.contains(plant)) {
            let of_this_kind = broken.entry(plant).or_default();
            if of_this_kind.len() < PROGRAMS {
                of_this_kind.push(Broken { program, whole: whole.clone() });
            }
        }
        if plants.iter().all(|plant| broken.get(plant).is_some_and(|found| found.len() == PROGRAMS)) {
            break;
        }
    }
}

/// For each kind of error and each program, the first seed that finds it. Even seeds pass operations on one at a time,
/// so the result depends on the seed alone, for any number of threads.
fn first_seeds(uri: &str) -> BTreeMap<Plant, Vec<u64>> {
    let parsed = uri.parse().unwrap();
    let scheme = uri.split("://").next().unwrap();
    let raw = windlass::registry().driver(scheme).unwrap().open(&parsed).unwrap();
    let shuffled = shuffle::Device::with_patience(raw, 2, LIMIT);
    let kernels = [Kernels::new(windlass_local::FORMAT, windlass_local::conformance::find)];
    let bench = Bench::new(Device::from_driver(shuffled.clone()), &kernels, LIMIT).unwrap();
    let first = |broken: &Broken| {
        let finds = |seed: &u64| {
            shuffled.reseed(*seed);
            bench.run_as(&broken.program, &broken.whole).is_err()
        };
        let first = (2..=100).step_by(2).find(finds);
        shuffled.reseed(2);
        bench.run(&broken.whole).unwrap_or_else(|difference| panic!("{uri}: {difference}\n{}", broken.whole));
        first.unwrap_or_else(|| panic!("{uri}: no seed finds the missing edge in\n{}", broken.program))
    };
    broken(&bench).iter().map(|(plant, broken)| (*plant, broken.iter().map(first).collect())).collect()
}

fn table() -> String {
    let rows: Vec<_> = std::thread::scope(|scope| {
        let devices = DEVICES.map(|uri| scope.spawn(move || first_seeds(uri)));
        devices.into_iter().map(|device| device.join().unwrap()).collect()
    });
    let mut table = String::from("| missing edge |");
    DEVICES.iter().for_each(|uri| table.push_str(&format!(" `{uri}` |")));
    table.push_str(&format!("\n|---|{}\n", "---|".repeat(DEVICES.len())));
    for plant in Plant::ALL {
        table.push_str(&format!("| {plant} |"));
        for device in &rows {
            let seeds: Vec<_> = device.get(&plant).into_iter().flatten().map(u64::to_string).collect();
            table.push_str(&format!(" {} |", seeds.join(", ")));
        }
        table.push('\n');
    }
    table
}

/// The text before and after the table.
const BEGIN: &str = "<!-- written by tests/api/planted_errors.rs -->\n";
const END: &str = "<!-- end -->\n";

fn page() -> (std::path::PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/random-programs.md");
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

#[test]
fn each_missing_edge_is_found_with_the_seed_that_the_table_says() {
    let (_, page) = page();
    let written = page.split(BEGIN).nth(1).unwrap().split(END).next().unwrap();
    assert_eq!(
        written,
        table(),
        "write docs/random-programs.md with `cargo test --test planted_errors -- --ignored`"
    );
}

#[test]
#[ignore = "writes docs/random-programs.md"]
fn write_the_table() {
    let (path, page) = page();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, behind) = rest.split_once(END).unwrap();
    std::fs::write(path, format!("{before}{BEGIN}{}{END}{behind}", table())).unwrap();
}
