// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file of expectations: the failures that it forgives, those that it does not, and its refusals.

use std::{
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::common::{FAILS, HANGS, PASSES, SKIPS, Scratch, ends, options, registry, run, verdicts};
use windlass_cts::{Case, Context, Exit, Expectations, Options, Outcome, Stop, Verdict, main_with};
use windlass_hal::Registry;

const WHY: &str = "reason = \"a known fault\"\nlink = \"https://bugs.example/7\"\n";

fn entry(case: &str, kind: &str, more: &str) -> String {
    format!("[[expect]]\ncase = \"{case}\"\nkind = \"{kind}\"\n{WHY}{more}\n")
}

fn with(file: &Scratch) -> Options {
    let mut options = options();
    options.expectations = Some(file.0.clone());
    options
}

#[test]
fn an_expected_failure_fails_no_run_and_is_counted() {
    let file = Scratch::holding("toml", &entry("own.fa*", "expected-failure", ""));
    let mut options = with(&file);
    let junit = Scratch::new("xml");
    let page = Scratch::new("md");
    (options.junit, options.summary) = (Some(junit.0.clone()), Some(page.0.clone()));
    let (summary, text) = run(&[PASSES, FAILS], &options);
    assert_eq!((summary.exit, ends(&summary)), (Exit::Passed, vec!["pass", "expected_failure"]), "{text}");
    assert_eq!((summary.expected_failures(), summary.failed(), summary.skipped()), (1, 0, 0));
    let why = "expected-failure: a known fault (https://bugs.example/7)";
    assert!(text.contains(&format!("xfail own.fails: {why}")) && text.contains("seen & expected"), "{text}");
    assert!(text.contains("failed as expected own.fails"), "{text}");
    assert!(junit.text().contains("a known fault") && !junit.text().contains("<failure"), "{}", junit.text());
    assert!(page.text().contains("| own.fails | failed | a known fault (https://bugs.example/7) |"));
    let expectation = summary.results[1].expectation.as_ref().unwrap();
    assert_eq!((expectation.line, expectation.reason.as_str()), (1, "a known fault"));
}

#[test]
fn an_unexpected_pass_fails_the_run() {
    for kind in ["expected-failure", "unsupported"] {
        let file = Scratch::holding("toml", &format!("# known\n{}", entry("own.passes", kind, "")));
        let (summary, text) = run(&[PASSES], &with(&file));
        assert_eq!((summary.exit, ends(&summary)), (Exit::Failed, vec!["fail"]), "{text}");
        assert!(text.contains("it passed against line 2 of the expectations"), "{text}");
        assert!(text.contains("https://bugs.example/7"), "{text}");
    }
}

#[test]
fn what_is_unsupported_counts_as_a_skip_with_its_reason() {
    let file = Scratch::holding("toml", &entry("own.*", "unsupported", ""));
    // A case that skips itself states its own reason.
    let (summary, text) = run(&[FAILS, SKIPS], &with(&file));
    assert_eq!((summary.exit, ends(&summary)), (Exit::Passed, vec!["skip", "skip"]), "{text}");
    assert!(text.contains("skipped    1: unsupported: a known fault (https://bugs.example/7)"), "{text}");
    assert!(text.contains("skipped    1: no such thing here"), "{text}");
}

#[test]
fn what_must_not_be_run_is_not() {
    let file = Scratch::holding("toml", &entry("own.hangs", "expected-failure", "run = false"));
    let (summary, _) = run(&[HANGS, PASSES], &with(&file));
    assert_eq!((summary.exit, ends(&summary)), (Exit::Passed, vec!["skip", "pass"]));
}

/// A case that fails the given number of times, then passes.
macro_rules! flake {
    ($runs:ident, $failures:literal) => {{
        static $runs: AtomicU32 = AtomicU32::new(0);
        fn case(_: &Context) -> Outcome {
            match $runs.fetch_add(1, Ordering::Relaxed) {
                run if run < $failures => Err(Stop::fail(format!("failure {run}"))),
                _ => Ok(()),
            }
        }
        (Case::new("own.flake", "It passes at last.", &[], case), &$runs)
    }};
}

#[test]
fn a_flake_is_retried_and_reported() {
    let file = Scratch::holding("toml", &entry("own.flake", "flake", ""));
    let (case, runs) = flake!(TWICE, 2);
    let (summary, text) = run(&[case], &with(&file));
    assert_eq!(verdicts(&summary), [&Verdict::Flaky("failure 0".to_owned())], "{text}");
    assert_eq!((summary.exit, summary.passed(), summary.flaky()), (Exit::Passed, 1, 1));
    assert_eq!(runs.load(Ordering::Relaxed), 3);
    assert!(text.contains("flaky own.flake: passed at a retry; flake: a known fault"), "{text}");
    // A case that passes at once has nothing to report.
    assert_eq!(verdicts(&run(&[case], &with(&file)).0), [&Verdict::Pass]);

    let (case, runs) = flake!(THRICE, 3);
    let (summary, text) = run(&[case], &with(&file));
    assert_eq!((summary.exit, ends(&summary)), (Exit::Failed, vec!["fail"]));
    assert!(text.contains("failure 2\n      2 retries did not help"), "{text}");
    assert_eq!(runs.load(Ordering::Relaxed), 3);

    let file = Scratch::holding("toml", &entry("own.flake", "flake", "retries = 5"));
    let (case, _) = flake!(FIVE_TIMES, 5);
    assert_eq!(run(&[case], &with(&file)).0.flaky(), 1);
}

#[test]
fn an_entry_is_for_the_devices_that_it_describes() {
    for (condition, fits) in [
        ("driver = \"null\"", true),
        ("driver = \"absent\"", false),
        ("device = \"null://*\"", true),
        ("device = \"hip*\"", false),
        ("architecture = \"none\"", true),
        ("architecture = \"gfx9*\"", false),
        ("library = \"\"", true),
        ("library = \"*HIP 5.*\"", false),
        ("simulated = true", true),
        ("simulated = false", false),
        ("driver = \"null\"\nsimulated = false", false),
    ] {
        let file = Scratch::holding("toml", &entry("own.fails", "expected-failure", condition));
        let exit = run(&[FAILS], &with(&file)).0.exit;
        assert_eq!(exit == Exit::Passed, fits, "{condition}");
    }
}

#[test]
fn the_first_entry_that_fits_decides() {
    let entries = [
        entry("own.fails", "unsupported", "simulated = false"),
        entry("own.fails", "expected-failure", ""),
        entry("own.*", "unsupported", ""),
    ];
    let file = Scratch::holding("toml", &entries.concat());
    assert_eq!(ends(&run(&[FAILS], &with(&file)).0), ["expected_failure"]);
}

#[test]
fn a_shard_does_not_turn_entries_into_mistakes() {
    let file = Scratch::holding("toml", &entry("own.fails", "expected-failure", ""));
    let mut options = with(&file);
    options.filters = vec!["own.passes".to_owned()];
    assert_eq!(run(&[PASSES, FAILS], &options).0.exit, Exit::Passed);
}

#[test]
fn mistakes_are_refused_with_line_and_column() {
    let fine = entry("own.fails", "flake", "");
    for (text, message) in [
        (entry("own.fials", "flake", ""), "2:8: `own.fials` fits no case"),
        (entry("own.[", "flake", ""), "2:8: `own.[` is no pattern"),
        (entry("own.fails", "flakey", ""), "3:8: unknown variant `flakey`"),
        (entry("own.fails", "flake", "retries = 0"), "6:11: retries are 1 to 100"),
        (entry("own.fails", "flake", "retries = 101"), "6:11: retries are 1 to 100"),
        (entry("own.fails", "flake", "retries = -1"), "6:11: invalid value"),
        (entry("own.fails", "unsupported", "retries = 1"), "6:11: only a flake"),
        (entry("own.fails", "flake", "run = false"), "6:7: a flake is always run"),
        (entry("own.fails", "flake", "devise = \"null://\""), "6:1: unknown field `devise`"),
        (entry("own.fails", "flake", "driver = \"[\""), "6:10: `[` is no pattern"),
        (
            entry("own.fails", "flake", "driver = \"nul\""),
            "6:10: `nul` fits no driver; this build has absent, ",
        ),
        (entry("own.fails", "flake", "simulated = \"yes\""), "6:13: invalid type"),
        (fine.replace("a known fault", " "), "4:10: the reason is empty"),
        (fine.replace("https://bugs.example/7", "Jane knows"), "5:8: the link is no address"),
        (fine.replace("link", "#link"), "1:1: missing field `link`"),
        (fine.replace("reason", "#reason"), "1:1: missing field `reason`"),
        (fine.replace("kind = ", "kind "), "3:6: "),
        (fine.replace("[[expect]]", "[[expected]]"), "1:3: unknown field `expected`"),
        (format!("{fine}\n\u{e4}\u{e4} ="), "8:1: "),
    ] {
        let error = Expectations::parse(&text, &[PASSES, FAILS], &registry()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{message}\n{error}\n{text}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    assert!(Expectations::parse("", &[], &Registry::new()).is_ok());
    assert!(Expectations::parse(&fine, &[FAILS], &Registry::new()).is_ok());
}

#[test]
fn a_mistake_is_the_exit_code_of_a_wrong_command_line() {
    // The report of an earlier run does not stay either.
    let report = Scratch::holding("xml", "<testsuites failures=\"0\"/>");
    let exit_of = |path: &Path| {
        let mut options = options();
        options.expectations = Some(path.to_owned());
        options.junit = Some(report.0.clone());
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = main_with(&registry(), &[PASSES], options, &mut out, &mut err);
        assert!(out.is_empty(), "nothing is run");
        (exit, String::from_utf8(err).unwrap())
    };
    let unknown = Scratch::holding("toml", &entry("own.passes", "flake", "driver = \"hipp\""));
    let (exit, message) = exit_of(&unknown.0);
    assert_eq!(exit, Exit::Usage);
    assert!(message.contains(":6:10: `hipp` fits no driver"), "{message}");
    let file = Scratch::holding("toml", "[[expect]]\ncase = 1\n");
    let (exit, message) = exit_of(&file.0);
    assert_eq!(exit, Exit::Usage);
    assert!(message.contains(&format!("{}:2:8: invalid type", file.0.display())), "{message}");
    let (exit, message) = exit_of(Path::new("/no/such/file.toml"));
    assert_eq!(exit, Exit::Usage);
    assert!(message.contains("/no/such/file.toml could not be read"), "{message}");
    assert_eq!(std::fs::read(&report.0).unwrap(), b"");
}
