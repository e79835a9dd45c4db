// SPDX-License-Identifier: MIT OR Apache-2.0
//! `local://` beside IREE's CPU drivers, with the same kernels, in one run.
//!
//! `cargo bench --bench local_peers` compiles `tiny.c` with `cc` and `tiny.mlir` with `iree-compile`, and measures
//! both alternately: the time of a submission with its wait, of a prepared command buffer of N dispatches with a
//! barrier after each, and of one dispatch of 100 000 workgroups. Rows are the minimum and the median of the rounds.
//! The cost of a dispatch is the slope between two lengths, so that starting, waking and waiting cancel out. Valgrind
//! counts instructions, for Windlass alone, as the difference of two runs. Missing tools are reported and their rows
//! left out: `cc`, `valgrind`, and IREE's tools, which are searched on the PATH and in Python's packages
//! (iree-base-compiler, iree-base-runtime).

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};

use windlass::{BindingTable, Deadline, DispatchConfig, Semaphore};

const ROUNDS: usize = 7;
/// The longer list of a slope.
const LONG: u64 = 20_000;
const WORKGROUPS: u32 = 100_000;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().collect();
    let result = match arguments.iter().position(|argument| argument == "--measure") {
        Some(at) => measure(&arguments[at + 1..]),
        None => compare(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("local_peers: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One measurement, in a process of its own: `FILE URI KERNEL WORKGROUPS DISPATCHES SUBMISSIONS`. Prints nanoseconds for
/// each submission.
fn measure(arguments: &[String]) -> Result<()> {
    let [file, uri, kernel, workgroups, dispatches, submissions] = arguments else {
        return Err("--measure FILE URI KERNEL WORKGROUPS DISPATCHES SUBMISSIONS".into());
    };
    let (workgroups, dispatches) = (workgroups.parse::<u32>()?, dispatches.parse::<u64>()?);
    let submissions = submissions.parse::<u64>()?;
    let device = windlass::open(uri)?;
    // SAFETY: the kernels of tiny.c stay within 16 bytes, or four for each workgroup.
    let function = unsafe { device.load_executable(&fs::read(file)?) }?.function(kernel)?;
    let bytes = u64::from(workgroups.max(4)) * 4;
    let [input, output] = [device.allocate_device(bytes)?, device.allocate_device(bytes)?];
    let mut recorder = device.record()?;
    let grid = DispatchConfig::new([workgroups, 1, 1]).workgroup_size([1; 3]);
    for _ in 0..dispatches {
        recorder.dispatch(&function, grid, &[input.arg(), output.arg()])?;
        recorder.barrier();
    }
    let list = recorder.finish()?;
    let (queue, done) = (device.queue(0)?, Semaphore::new(0));
    let run = |value: u64| -> Result<()> {
        queue.execute(&[], &[done.at(value)], &list, BindingTable::empty())?;
        Ok(done.wait_blocking(value, Deadline::NEVER)?)
    };
    run(1)?;
    let start = Instant::now();
    for value in 2..submissions + 2 {
        run(value)?;
    }
    println!("{}", start.elapsed().as_nanos() as f64 / submissions as f64);
    Ok(())
}

/// One thing to measure, as a command that prints its time.
struct Row {
    name: String,
    program: PathBuf,
    arguments: Vec<String>,
    /// IREE's tool divides by the length of the list.
    is_iree: bool,
}

/// A load: a kernel, a number of workgroups, and a number of dispatches.
#[derive(Clone, Copy)]
struct Load {
    kernel: &'static str,
    entry_point: u32,
    workgroups: u32,
    dispatches: u64,
    submissions: u64,
}

const REPLAY: Load =
    Load { kernel: "copies_four", entry_point: 0, workgroups: 1, dispatches: 1, submissions: 4000 };
const GRID: Load =
    Load { kernel: "doubles_one", entry_point: 1, workgroups: WORKGROUPS, dispatches: 1, submissions: 200 };

fn compare() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/local_peers");
    let scratch = env::temp_dir().join(format!("windlass-local-peers-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let result = compare_in(&folder, &scratch);
    fs::remove_dir_all(&scratch)?;
    result
}

fn compare_in(folder: &Path, scratch: &Path) -> Result<()> {
    let object = scratch.join("tiny.so");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("drivers/local/include");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-shared", "-fPIC", "-I"]).arg(include).arg("-o").arg(&object).arg(folder.join("tiny.c"));
    if !cc.status().is_ok_and(|status| status.success()) {
        println!("skipped: no C compiler `cc` that makes tiny.c a shared object");
        return Ok(());
    }
    let own = |uri: &str| Row {
        name: uri.to_owned(),
        program: env::current_exe().unwrap_or_default(),
        arguments: vec!["--measure".to_owned(), object.display().to_string(), uri.to_owned()],
        is_iree: false,
    };
    instructions(&own("local://?threads=0"))?;

    let iree = iree(folder, scratch);
    let iree = |name: &str, flags: &[&str]| {
        let (tool, module) = iree.as_ref()?;
        let mut arguments: Vec<_> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        arguments.push("--executable_format=embedded-elf-x86_64".to_owned());
        arguments.push(format!("--executable_file={}", module.display()));
        Some(Row { name: name.to_owned(), program: tool.clone(), arguments, is_iree: true })
    };
    let one_worker = ["--device=local-task", "--task_topology_group_count=1"];
    let two_workers = ["--device=local-task", "--task_topology_group_count=2"];

    println!("\nreplay of one workgroup of `{}` and a barrier, ns for each dispatch", REPLAY.kernel);
    let rows = [
        Some(own("local://?threads=0")),
        iree("IREE local-sync", &["--device=local-sync"]),
        Some(own("local://?threads=1")),
        iree("IREE local-task, 1 worker", &one_worker),
    ];
    let rows: Vec<_> = rows.into_iter().flatten().collect();
    let long = Load { dispatches: LONG, submissions: 20, ..REPLAY };
    let times = rounds(&rows, &[REPLAY, long])?;
    for (row, times) in rows.iter().zip(&times) {
        let slope = |pick: fn(&[f64]) -> f64| (pick(&times[1]) - pick(&times[0])) / (LONG - 1) as f64;
        let submission = |pick: fn(&[f64]) -> f64| pick(&times[0]) / 1e3;
        println!(
            "  {:28} least {:7.2}  median {:7.2}   submission of one with its wait, us: {:8.2} {:8.2}",
            row.name,
            slope(least),
            slope(median),
            submission(least),
            submission(median)
        );
    }

    println!("\none dispatch of {WORKGROUPS} workgroups of `{}`, submitted and waited for, us", GRID.kernel);
    let rows = [
        Some(own("local://?threads=0")),
        Some(own("local://?threads=1")),
        Some(own("local://?threads=2")),
        iree("IREE local-sync", &["--device=local-sync"]),
        iree("IREE local-task, 1 worker", &one_worker),
        iree("IREE local-task, 2 workers", &two_workers),
    ];
    let rows: Vec<_> = rows.into_iter().flatten().collect();
    let times = rounds(&rows, &[GRID])?;
    for (row, times) in rows.iter().zip(&times) {
        let [least, median] = [least(&times[0]), median(&times[0])];
        println!(
            "  {:28} least {:9.1}  median {:9.1}   ns for each workgroup: {:6.2}",
            row.name,
            least / 1e3,
            median / 1e3,
            least / f64::from(WORKGROUPS)
        );
    }
    Ok(())
}

/// Prints the instructions of an inline replay: the slope over the length of the list, of the slope over the number of
/// submissions.
fn instructions(row: &Row) -> Result<()> {
    let count = |dispatches: u64, submissions: u64| -> Result<Option<f64>> {
        let load = Load { dispatches, submissions, ..REPLAY };
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&row.program);
        let Ok(output) = valgrind.args(row.with(load)).output() else { return Ok(None) };
        let text = String::from_utf8_lossy(&output.stderr);
        let collected =
            text.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, count)| count.trim());
        match collected {
            Some(count) => Ok(Some(count.parse()?)),
            None => Err(format!("valgrind counted nothing: {text}").into()),
        }
    };
    let submission = |dispatches| -> Result<Option<f64>> {
        let (Some(less), Some(more)) = (count(dispatches, 20)?, count(dispatches, 40)?) else {
            return Ok(None);
        };
        Ok(Some((more - less) / 20.0))
    };
    match (submission(1)?, submission(2001)?) {
        (Some(one), Some(many)) => println!(
            "instructions, {}: {:.1} for each dispatch of a replay, {one:.0} for a submission of one with its wait",
            row.name,
            (many - one) / 2000.0
        ),
        _ => println!("skipped: no valgrind to count instructions with"),
    }
    Ok(())
}

/// IREE's tool and the compiled kernels.
fn iree(folder: &Path, scratch: &Path) -> Option<(PathBuf, PathBuf)> {
    let packages = "import iree.runtime, os; print(os.path.dirname(os.path.dirname(iree.runtime.__file__)))";
    let packages = Command::new("python3").args(["-c", packages]).output().ok();
    let packages = packages.filter(|output| output.status.success());
    let packages = packages.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    let tool = packages.map(|packages| packages.join("_runtime_libs/iree-benchmark-executable"));
    let tool = tool.filter(|tool| tool.exists());
    let module = scratch.join("tiny.bin");
    let compiled = Command::new("iree-compile")
        .args(["--compile-mode=hal-executable", "--iree-hal-target-device=local"])
        .args(["--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic"])
        .arg(folder.join("tiny.mlir"))
        .arg("-o")
        .arg(&module)
        .status();
    match (tool, compiled) {
        (Some(tool), Ok(status)) if status.success() => Some((tool, module)),
        _ => {
            println!(
                "skipped: IREE's tools; pip install iree-base-compiler iree-base-runtime, and put them on the PATH"
            );
            None
        }
    }
}

impl Row {
    fn with(&self, load: Load) -> Vec<String> {
        let mut arguments = self.arguments.clone();
        let Load { kernel, entry_point, workgroups, dispatches, submissions } = load;
        if self.is_iree {
            let binding = format!("--binding={}xf32", workgroups.max(4));
            arguments.extend([
                format!("--entry_point={entry_point}"),
                format!("--workgroup_count={workgroups},1,1"),
                binding.clone(),
                binding,
                format!("--batch_size={dispatches}"),
                format!("--benchmark_min_time={}x", dispatches * submissions),
            ]);
        } else {
            let numbers = [u64::from(workgroups), dispatches, submissions].map(|number| number.to_string());
            arguments.push(kernel.to_owned());
            arguments.extend(numbers);
        }
        arguments
    }

    /// Nanoseconds for each submission.
    fn run(&self, load: Load) -> Result<f64> {
        let output = Command::new(&self.program).args(self.with(load)).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let told = || format!("{}: {text}{}", self.name, String::from_utf8_lossy(&output.stderr));
        if !self.is_iree {
            return Ok(text.trim().parse().map_err(|_| told())?);
        }
        let words = text.lines().find_map(|line| line.split_once("real_time ")).ok_or_else(told)?.1;
        let mut words = words.split_whitespace();
        let (time, unit) = (words.next().ok_or_else(told)?, words.next().ok_or_else(told)?);
        let unit = match unit {
            "ns" => 1.0,
            "us" => 1e3,
            "ms" => 1e6,
            _ => return Err(told().into()),
        };
        Ok(time.parse::<f64>()? * unit * load.dispatches as f64)
    }
}

/// The times of all rounds for each row and load, measured alternately.
fn rounds(rows: &[Row], loads: &[Load]) -> Result<Vec<Vec<Vec<f64>>>> {
    let mut times = vec![vec![Vec::new(); loads.len()]; rows.len()];
    for _ in 0..ROUNDS {
        for (row, times) in rows.iter().zip(&mut times) {
            for (load, times) in loads.iter().zip(times) {
                times.push(row.run(*load)?);
            }
        }
    }
    Ok(times)
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
