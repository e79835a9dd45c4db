// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cases in processes of their own: a crash ends only its case.
//!
//! This test binary is also the program under test. With `cts` as its first argument it is a runner over cases that
//! crash. The test starts this runner, and the runner starts itself again for each case.

mod common;

use std::{
    env,
    io::Write as _,
    process::{Command, ExitCode},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use common::{FAILS, HANGS, PASSES, SKIPS, Scratch, registry};
use serde_json::Value;
use windlass_cts::{Case, Context, Harness, Outcome, Stop};

fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn aborts(_: &Context) -> Outcome {
    (0..100).for_each(|number| say(&format!("line {number}")));
    std::process::abort()
}

fn exits(_: &Context) -> Outcome {
    std::process::exit(77)
}

/// Dies after its result is out, like a library that crashes in its teardown.
fn dies_late(_: &Context) -> Outcome {
    TEARDOWN_ABORTS.store(true, Ordering::Relaxed);
    Ok(())
}

static TEARDOWN_ABORTS: AtomicBool = AtomicBool::new(false);

/// Prints without a newline before the next result, like a chatty library.
fn chatters(_: &Context) -> Outcome {
    let mut out = std::io::stdout();
    let _ = write!(out, "{{\"event\":\"case\",\n{{}}\nnot JSON {{\nloading ...").and_then(|()| out.flush());
    Ok(())
}

/// The file by which processes of one test tell each other that they ran.
const MARK: &str = "WINDLASS_TEST_MARK";

/// Crashes in the first process that runs it, and passes in the next.
fn crashes_once(_: &Context) -> Outcome {
    let mark = env::var_os(MARK).ok_or_else(|| Stop::skip("no file for the mark"))?;
    if std::fs::File::create_new(mark).is_ok() {
        std::process::abort();
    }
    Ok(())
}

/// Kills the runner, and writes to the mark if it outlives it.
#[cfg(target_os = "linux")]
fn kills_the_runner(_: &Context) -> Outcome {
    let mark = env::var_os(MARK).ok_or_else(|| Stop::skip("no file for the mark"))?;
    let file = std::fs::File::create(&mark).map_err(|error| Stop::fail(error.to_string()))?;
    let _locked = lock(&file);
    // SAFETY: the call has no other effect than the signal.
    unsafe { libc::kill(libc::getppid(), libc::SIGKILL) };
    thread::park_timeout(std::time::Duration::from_secs(5));
    let _ = std::fs::write(mark, "it went on");
    Ok(())
}

/// Waits until no other process has the file locked.
#[cfg(target_os = "linux")]
fn lock(file: &std::fs::File) -> i32 {
    // SAFETY: the descriptor is open during the call.
    unsafe { libc::flock(std::os::fd::AsRawFd::as_raw_fd(file), libc::LOCK_EX) }
}

/// Ends after [`second`], which runs at the same time.
fn first(ctx: &Context) -> Outcome {
    let mark = env::var_os(MARK).ok_or_else(|| Stop::skip("no file for the mark"))?;
    ctx.until("the second case has run", || std::path::Path::new(&mark).exists())?;
    Err(Stop::fail("the first's failure"))
}

fn second(_: &Context) -> Outcome {
    let mark = env::var_os(MARK).ok_or_else(|| Stop::skip("no file for the mark"))?;
    std::fs::write(mark, "").map_err(|error| Stop::fail(error.to_string()))?;
    Err(Stop::fail("the second's failure"))
}

fn draws(ctx: &Context) -> Outcome {
    Err(Stop::fail(format!("drew {}", ctx.random().next_u64())))
}

fn cases() -> Vec<Case> {
    let case = |name, run| Case::new(name, "It ends in its own way.", &[], run);
    vec![
        PASSES,
        case("crash.aborts", aborts),
        case("crash.exits", exits),
        case("crash.dies_late", dies_late),
        FAILS,
        SKIPS,
        HANGS,
        case("own.chatters", chatters),
        case("own.draws", draws),
        case("crash.once", crashes_once),
        case("order.first", first),
        case("order.second", second),
        #[cfg(target_os = "linux")]
        case("crash.runner", kills_the_runner),
    ]
}

fn runner(arguments: &[&str]) -> (Option<i32>, String) {
    runner_with(arguments, None)
}

/// The exit code and the output of the runner, whose processes share a mark.
fn runner_with(arguments: &[&str], mark: Option<&Scratch>) -> (Option<i32>, String) {
    let mut command = Command::new(env::current_exe().unwrap());
    if let Some(mark) = mark {
        command.env(MARK, &mark.0);
    }
    let output = command.arg("cts").args(arguments).env_remove("WINDLASS_DEVICE").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout) + &text(output.stderr))
}

fn crashes_fail_their_cases_alone() {
    let json = Scratch::new("jsonl");
    let junit = Scratch::new("xml");
    let (code, text) = runner(&[
        "--device",
        "null://",
        "--isolate",
        "--timeout",
        "2",
        "--json",
        json.0.to_str().unwrap(),
        "--junit",
        junit.0.to_str().unwrap(),
        "--skip",
        "draws",
        "--skip",
        "once",
        "--skip",
        "order.",
        "--skip",
        "crash.runner",
    ]);
    assert_eq!(code, Some(1), "{text}");
    let events: Vec<Value> = json.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdict = |name: &str| {
        let event =
            events.iter().find(|event| event["case"] == name).unwrap_or_else(|| panic!("{name}: {text}"));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&event["verdict"]), text(&event["message"]))
    };
    assert_eq!(verdict("own.passes").0, "pass");
    let (end, message) = verdict("crash.aborts");
    assert_eq!(end, "fail");
    if cfg!(unix) {
        assert!(message.starts_with("its process died of SIGABRT"), "{message}");
    }
    assert!(message.ends_with("line 98\n  line 99") && message.contains("line 80"), "{message}");
    assert!(!message.contains("line 79\n"), "{message}");
    assert!(verdict("crash.exits").1.contains("77"), "{text}");
    assert!(verdict("crash.dies_late").1.starts_with("its process reported pass\nand then "), "{text}");
    assert!(verdict("own.fails").1.contains("seen & expected"), "{text}");
    assert_eq!(verdict("own.skips"), ("skip".to_owned(), "no such thing here".to_owned()));
    assert!(verdict("own.hangs").1.contains("hung: it did not end within 2 s"), "{text}");
    assert_eq!(verdict("own.chatters").0, "pass", "{text}");
    let device = &events[0]["device"];
    assert_eq!((&device["uri"], &device["simulated"]), (&"null://".into(), &true.into()));
    assert_eq!(device["lacks"][0]["feature"], "dispatch");
    assert_eq!(events.last().unwrap()["failed"], 5);
    let report = quick_junit::Report::deserialize_from_str(&junit.text()).unwrap();
    assert_eq!((report.tests, report.failures), (8, 5));
}

fn what_cannot_be_opened_is_told_as_without_isolation() {
    let (code, text) = runner(&["--device", "absent://", "--isolate", "passes"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("skipped    1: absent:// could not be opened: UNAVAILABLE: never there"), "{text}");
    assert!(text.contains("how to mend it"), "{text}");
    let (code, text) = runner(&["--device", "absent://", "--isolate", "--require", "passes"]);
    assert_eq!(code, Some(3), "{text}");
    let (code, text) = runner(&["--device", "null://?colour=red", "--isolate", "passes"]);
    assert_eq!(code, Some(2), "{text}");
    let (code, text) = runner(&["--device", "broken://", "--isolate", "passes"]);
    assert_eq!((code, text.contains("out of order")), (Some(1), true), "{text}");
}

fn a_crash_that_is_expected_fails_no_run() {
    let file = Scratch::holding(
        "toml",
        "[[expect]]\ncase = \"crash.aborts\"\nkind = \"expected-failure\"\ndriver = \"null\"\n\
         reason = \"it aborts\"\nlink = \"https://bugs.example/8\"\n",
    );
    let path = file.0.to_str().unwrap();
    let arguments =
        ["--device", "null://", "--isolate", "--expectations", path, "--exact", "crash.aborts", "own.passes"];
    let (code, text) = runner(&arguments);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("xfail crash.aborts: expected-failure: it aborts"), "{text}");
}

fn random_choices_are_those_without_isolation() {
    let drawn = |arguments: &[&str]| {
        let (code, text) = runner(&[&["--device", "null://", "--exact", "own.draws"], arguments].concat());
        assert_eq!(code, Some(1), "{text}");
        let line = text.lines().find(|line| line.contains("drew")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{text}"))
    };
    let seventh = drawn(&["--seed", "7"]);
    assert_eq!(drawn(&["--seed", "7", "--isolate"]), seventh);
    assert_ne!(drawn(&["--isolate"]), seventh);
}

fn a_retry_has_a_fresh_process() {
    let mark = Scratch::new("mark");
    let arguments = ["--device", "null://", "--isolate", "--retry", "1", "--exact", "crash.once"];
    let (code, text) = runner_with(&arguments, Some(&mark));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("flaky crash.once: passed at a retry\n      its process died"), "{text}");
}

#[cfg(target_os = "linux")]
fn no_case_goes_on_after_its_runner() {
    let mark = Scratch::new("mark");
    let arguments = ["--device", "null://", "--isolate", "--exact", "crash.runner"];
    let (code, text) = runner_with(&arguments, Some(&mark));
    assert_eq!(code, None, "{text}");
    let file = std::fs::File::open(&mark.0).unwrap();
    assert_eq!(lock(&file), 0);
    assert_eq!(mark.text(), "", "the case went on without its runner");
}

fn a_crash_of_one_of_several_jobs_costs_its_case_alone() {
    let arguments = [
        "--device",
        "null://",
        "--timeout",
        "2",
        "--skip",
        "draws",
        "--skip",
        "once",
        "--skip",
        "order.",
        "--skip",
        "crash.runner",
    ];
    let verdicts = |more: &[&str]| {
        let (code, text) = runner(&[&arguments, more].concat());
        let words = ["pass  ", "skip  ", "FAIL  "];
        let lines = text.lines().filter(|line| words.iter().any(|word| line.starts_with(word)));
        (code, lines.map(str::to_owned).collect::<Vec<_>>())
    };
    let (several, one) = thread::scope(|scope| {
        let one = scope.spawn(|| verdicts(&["--isolate"]));
        (verdicts(&["--jobs", "3"]), one.join().unwrap())
    });
    assert_eq!(one.1.len(), 8, "{one:?}");
    assert_eq!(several, one);
}

fn results_of_several_jobs_are_in_the_order_of_the_cases() {
    let mark = Scratch::new("mark");
    let arguments = ["--device", "null://", "--timeout", "20", "--jobs", "2", "order."];
    let (code, text) = runner_with(&arguments, Some(&mark));
    assert_eq!(code, Some(1), "{text}");
    let told = ["FAIL  order.first\n", "the first's failure", "FAIL  order.second\n", "the second's failure"];
    let places: Vec<_> =
        told.iter().map(|words| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"))).collect();
    assert!(places.is_sorted(), "{text}");
}

fn a_case_that_kills_the_runner_fails_in_the_run_that_continues() {
    let file = Scratch::new("run");
    let path = file.0.to_str().unwrap();
    let arguments = ["--device", "null://", "--resume", path, "crash.aborts", "crash.exits", "own.passes"];
    let codes: Vec<_> = (0..2).map(|_| runner(&arguments).0).collect();
    // The first run dies of a signal in the second case, the next one exits in the third.
    assert_eq!(codes, [None, Some(77)], "{}", file.text());
    let (code, text) = runner(&arguments);
    assert_eq!(code, Some(1), "{text}");
    for name in ["crash.aborts", "crash.exits"] {
        let words = "the machine went down or the runner was killed during it";
        assert!(
            text.contains(&format!("FAIL  {name}\n      contract: It ends in its own way.\n      {words}")),
            "{text}"
        );
    }
    assert!(text.contains("1 passed; 2 failed; 0 ignored"), "{text}");
}

fn main() -> ExitCode {
    let mut arguments = env::args_os();
    let program = arguments.next().unwrap();
    let rest: Vec<_> = arguments.collect();
    if rest.first().is_some_and(|word| word == "cts") {
        let code = Harness::new(registry()).cases(cases()).program([program, "cts".into()]).run(rest);
        if TEARDOWN_ABORTS.load(Ordering::Relaxed) {
            std::process::abort();
        }
        return code;
    }
    if rest.iter().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    let tests: &[fn()] = &[
        crashes_fail_their_cases_alone,
        what_cannot_be_opened_is_told_as_without_isolation,
        a_crash_that_is_expected_fails_no_run,
        random_choices_are_those_without_isolation,
        a_retry_has_a_fresh_process,
        #[cfg(target_os = "linux")]
        no_case_goes_on_after_its_runner,
        a_crash_of_one_of_several_jobs_costs_its_case_alone,
        results_of_several_jobs_are_in_the_order_of_the_cases,
        a_case_that_kills_the_runner_fails_in_the_run_that_continues,
    ];
    // Cases that hang cost most of the time.
    thread::scope(|scope| {
        for test in tests {
            scope.spawn(test);
        }
    });
    ExitCode::SUCCESS
}
