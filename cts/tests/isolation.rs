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
    ]
}

fn runner(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env::current_exe().unwrap());
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
        "5",
        "--json",
        json.0.to_str().unwrap(),
        "--junit",
        junit.0.to_str().unwrap(),
        "--skip",
        "draws",
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
    assert!(verdict("own.hangs").1.contains("hung: it did not end within 5 s"), "{text}");
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
    crashes_fail_their_cases_alone();
    what_cannot_be_opened_is_told_as_without_isolation();
    a_crash_that_is_expected_fails_no_run();
    random_choices_are_those_without_isolation();
    ExitCode::SUCCESS
}
