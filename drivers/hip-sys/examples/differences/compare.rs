// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs all cases on both HIPs, in separate processes, and compares the answers.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::ops::Range;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail};

use crate::cases::{self, Group};
use crate::known::{Known, machine};
use crate::perform::{BEGIN, HUNG, RESULT};

/// The answers by the name of the case.
type Results = BTreeMap<String, String>;

/// The exit status of a process, as shells count.
fn ending(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    match code {
        HUNG => "hung".to_owned(),
        134 => "crashed (SIGABRT)".to_owned(),
        135 => "crashed (SIGBUS)".to_owned(),
        136 => "crashed (SIGFPE)".to_owned(),
        139 => "crashed (SIGSEGV)".to_owned(),
        code => format!("ended with {code}"),
    }
}

/// Runs cases of a group, in a new process, and in another one after each case that ends one.
fn run(group: &Group, cases: Range<usize>, prefix: &[&str], machine: Option<&str>) -> Result<Results> {
    let own = std::env::current_exe()?;
    let own = own.to_str().context("a path in UTF-8")?;
    let mut results = Results::new();
    let mut next = cases.start;
    while next < cases.end {
        let from = next.to_string();
        let before = next;
        let mut words = prefix.to_vec();
        words.extend([own, "group", &group.name, &from]);
        words.extend(machine);
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(if std::env::var_os("DIFFERENCES_STDERR").is_some() {
                Stdio::inherit()
            } else {
                Stdio::null()
            })
            .spawn()
            .with_context(|| format!("starting {}", words.join(" ")))?;
        let mut begun = None;
        for line in BufReader::new(child.stdout.take().context("its output")?).split(b'\n') {
            let line = String::from_utf8_lossy(&line?).into_owned();
            if let Some(name) = line.strip_prefix(BEGIN) {
                begun = Some(name.to_owned());
            } else if let (Some(result), Some(name)) =
                (line.strip_prefix(RESULT), begun.take_if(|_| line.starts_with(RESULT)))
            {
                results.insert(name, result.to_owned());
                next += 1;
                if next == cases.end && next < group.cases.len() {
                    child.kill()?;
                    break;
                }
            }
        }
        let ended = child.wait()?;
        match begun {
            Some(name) => {
                results.insert(name, ending(ended));
                next += 1;
            }
            None if next == before => {
                bail!("{}: no case was begun, {}", words.join(" "), ending(ended));
            }
            None => {}
        }
    }
    Ok(results)
}

/// Runs all groups on both, in as many parallel processes as there are processors.
fn run_both(groups: &[Group], prefix: &[&str], machine: &str) -> Result<(Results, Results)> {
    let (amd, ours) = (Mutex::new(Results::new()), Mutex::new(Results::new()));
    let next = AtomicUsize::new(0);
    let worker = || -> Result<()> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(group) = groups.get(index / 2) else { return Ok(()) };
            let (sum, results) = match index % 2 {
                0 => (&amd, run(group, 0..group.cases.len(), prefix, None)?),
                _ => (&ours, run(group, 0..group.cases.len(), &[], Some(machine))?),
            };
            sum.lock().expect("no worker panics").extend(results);
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
    })?;
    Ok((amd.into_inner()?, ours.into_inner()?))
}

/// Where AMD's library follows freed memory, its answer is chance, and it may crash in a later case. A difference with a
/// cause is there each time: with its group, and, at each second try, in a process of its own.
const TRIES: usize = 5;

/// The list of differences against the answers of both.
#[derive(Default)]
struct Verdict {
    same: usize,
    listed: usize,
    /// The cases with a difference that the list lacks, and those of lines without a difference, each with a message.
    unexpected: Vec<(String, String)>,
}

fn judge(known: &Known, version: &str, amd: &Results, ours: &Results, all: bool) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let mut used = vec![false; known.entries.len()];
    for (name, theirs) in amd {
        let ours = ours.get(name).with_context(|| format!("{name} is not in both"))?;
        let entries = known.find(version, name, theirs, ours);
        if theirs == ours {
            verdict.same += 1;
        } else if entries.is_empty() {
            let message = format!("DIFFERS: {name} | {theirs} | {ours}");
            verdict.unexpected.push((name.clone(), message));
        } else {
            entries.into_iter().for_each(|place| used[place] = true);
            verdict.listed += 1;
        }
    }
    for (entry, used) in known.entries.iter().zip(used) {
        if !used && all && entry.must_occur(version) {
            let what = entry.describe();
            let message =
                format!("STALE: {what} is listed, and no such difference was seen: take the line away");
            verdict.unexpected.push((entry.case.clone(), message));
        }
    }
    Ok(verdict)
}

/// Compares the two and reports differences that the list lacks, and stale lines.
pub(crate) fn compare(version: &str, list: &Path, prefix: &[&str]) -> Result<ExitCode> {
    let known = Known::read(list)?;
    let wanted = std::env::var("DIFFERENCES_GROUPS").unwrap_or_default();
    let mut groups = cases::groups()?;
    groups.retain(|group| wanted.is_empty() || wanted.split(',').any(|name| name == group.name));
    let (mut amd, ours) = run_both(&groups, prefix, machine(version)?)?;
    let mut verdict = judge(&known, version, &amd, &ours, wanted.is_empty())?;
    for attempt in 1..TRIES {
        if verdict.unexpected.is_empty() {
            break;
        }
        for group in &groups {
            let again: Vec<usize> = (0..group.cases.len())
                .filter(|index| {
                    let name = group.cases[*index].name();
                    verdict.unexpected.iter().any(|(unexpected, _)| *unexpected == name)
                })
                .collect();
            if again.is_empty() {
                continue;
            }
            println!("once more, as some of AMD's answers are chance: {}", group.name);
            if attempt % 2 == 0 {
                for index in again {
                    amd.extend(run(group, index..index + 1, prefix, None)?);
                }
                continue;
            }
            let results = run(group, 0..group.cases.len(), prefix, None)?;
            let names: Vec<String> = again.into_iter().map(|index| group.cases[index].name()).collect();
            amd.extend(results.into_iter().filter(|(name, _)| names.contains(name)));
        }
        verdict = judge(&known, version, &amd, &ours, wanted.is_empty())?;
    }
    verdict.unexpected.iter().for_each(|(_, message)| println!("{message}"));
    let (same, listed, failed) = (verdict.same, verdict.listed, verdict.unexpected.len());
    println!("\n| HIP {version} | cases | same | listed | unexpected or stale |\n|---|---|---|---|---|");
    println!("| AMD's beside the simulated | {} | {same} | {listed} | {failed} |", amd.len());
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
