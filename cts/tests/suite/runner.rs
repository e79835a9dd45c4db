// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runner: the selection of cases, their ends, its output, and its exit codes.

use std::time::Duration;

use crate::common::{
    FAILS, HANGS, LACKING, PANICS, PASSES, SKIPS, UNDECLARED, ends, options, registry, run, verdicts,
};
use windlass_cts::{Case, Exit, Format, Level, Options, Outcome, Shard, Stop, Verdict, cases, main_with};
use windlass_hal::Registry;

#[test]
fn names_are_unique_and_contracts_are_sentences() {
    let cases = cases();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    for (index, case) in cases.iter().enumerate() {
        assert!(case.name.split_once('.').is_some(), "{} is not suite.case", case.name);
        assert!(!cases[..index].iter().any(|other| other.name == case.name), "{} is there twice", case.name);
        assert!(case.contract.ends_with('.') && !case.contract.contains('\n'), "{}", case.contract);
        assert!(!case.contract.contains("  "), "{}", case.contract);
    }
}

#[test]
fn a_smoke_test_is_a_fraction_of_the_suite() {
    let all = cases();
    let of = |level| all.iter().filter(|case| case.level == level).count();
    assert!((30..all.len() / 3).contains(&of(Level::Smoke)), "{} of {}", of(Level::Smoke), all.len());
    assert!(of(Level::Stress) > 0 && of(Level::Stress) < of(Level::Full));
}

#[test]
fn counts_each_end_and_fails_if_one_failed() {
    let (summary, text) = run(&[PASSES, FAILS, SKIPS, LACKING], &options());
    assert_eq!((summary.passed(), summary.failed(), summary.skipped()), (1, 1, 2));
    assert_eq!(summary.exit, Exit::Failed);
    assert!(text.contains("null:// (Null device, none, simulated)"), "{text}");
    assert!(text.contains("pass  own.passes"), "{text}");
    assert!(text.contains("FAIL  own.fails\n      contract: It fails.\n      seen & expected"), "{text}");
    assert!(text.contains("skipped    1: no such thing here"), "{text}");
    assert!(
        text.contains("skipped    1: declared lack `dispatch`: the null device runs no kernels"),
        "{text}"
    );
    assert!(text.contains("test result: FAILED. 1 passed; 1 failed; 2 ignored;"), "{text}");
}

#[test]
fn skips_alone_are_no_failure() {
    let (summary, text) = run(&[PASSES, SKIPS], &options());
    assert_eq!(summary.exit, Exit::Passed);
    assert!(text.contains("test result: ok. 1 passed; 0 failed; 1 ignored;"), "{text}");
}

#[test]
fn an_undeclared_lack_fails() {
    let (summary, text) = run(&[UNDECLARED], &options());
    assert_eq!(summary.exit, Exit::Failed);
    assert!(text.contains("must declare the lack"), "{text}");
}

#[test]
fn a_panic_fails_its_case_alone() {
    let (summary, text) = run(&[PANICS, PASSES], &options());
    assert_eq!((summary.passed(), summary.failed()), (1, 1));
    assert!(text.contains("the case panicked: on purpose; a driver answers with an error"), "{text}");
    assert!(text.contains("`--exact own.panics`"), "{text}");
}

#[test]
fn a_hung_case_is_named_and_the_rest_goes_on() {
    let mut options = options();
    options.timeout = Duration::from_secs(2);
    let (summary, text) = run(&[HANGS, PASSES], &options);
    assert_eq!(summary.exit, Exit::Failed);
    assert_eq!(ends(&summary), ["fail", "pass"], "{text}");
    assert!(text.contains("FAIL  own.hangs"), "{text}");
    assert!(text.contains("hung: it did not end within 2 s; a wait without a deadline"), "{text}");
    assert!(text.contains("`--exact own.hangs --timeout 600`"), "{text}");
}

#[test]
fn a_case_finds_a_device_that_no_failure_has_touched() {
    let leaves_a_mess = |ctx: &windlass_cts::Context| {
        ctx.device().close();
        Err(Stop::fail("and now it is closed"))
    };
    let needs_order = |ctx: &windlass_cts::Context| ctx.upload(b"bytes").map(drop);
    let cases = [
        Case::new("own.mess", "It breaks what it was given.", &[], leaves_a_mess),
        Case::new("own.order", "It needs a device that works.", &[], needs_order),
    ];
    let (summary, text) = run(&cases, &options());
    assert_eq!(ends(&summary), ["fail", "pass"], "{text}");
}

#[test]
fn a_third_hung_case_ends_the_run() {
    let mut options = options();
    options.timeout = Duration::from_millis(500);
    let (summary, text) = run(&[HANGS, HANGS, HANGS, PASSES], &options);
    assert_eq!(ends(&summary), ["fail", "fail", "fail", "skip"], "{text}");
    assert!(text.contains("not run, because own.hangs, own.hangs, own.hangs hung"), "{text}");
}

#[test]
fn an_opening_that_hangs_is_given_up() {
    let mut options = Options::new("stuck://");
    options.timeout = Duration::from_millis(100);
    let (summary, text) = run(&[PASSES], &options);
    assert_eq!((summary.exit, ends(&summary)), (Exit::Failed, vec!["skip"]));
    assert!(text.contains("opening it hung"), "{text}");
    assert!(text.contains("`open` must answer every failure at once, with an error"), "{text}");
}

#[test]
fn an_opening_that_panics_is_an_error_of_the_device() {
    let (summary, text) = run(&[PASSES], &Options::new("panicky://"));
    assert_eq!((summary.exit, ends(&summary)), (Exit::Failed, vec!["skip"]));
    assert!(text.contains("opening it panicked: slipped; `open` must answer"), "{text}");
}

#[test]
fn a_program_without_drivers_says_so() {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = main_with(&Registry::new(), &[PASSES], Options::default(), &mut out, &mut err);
    let text = String::from_utf8(err).unwrap();
    assert_eq!(exit, Exit::Usage, "{text}");
    assert!(text.contains("no driver is registered"), "{text}");
}

#[test]
fn a_hang_in_the_driver_is_told_with_the_case_that_met_it() {
    let mut options = Options::new("endless://");
    options.timeout = Duration::from_millis(500);
    let drains = |ctx: &windlass_cts::Context| Ok(ctx.device().drain(ctx.deadline())?);
    let (summary, text) = run(&[Case::new("own.drains", "It drains.", &[], drains), PASSES], &options);
    assert_eq!(ends(&summary), ["fail", "pass"], "{text}");
    assert!(text.contains("FAIL  own.drains\n      contract: It drains.\n      the case hung"), "{text}");
}

#[test]
fn several_devices_are_tested_one_after_the_other() {
    let mut options = options();
    options.devices = vec!["null://".to_owned(), "absent://".to_owned(), "null://?memory=1048576".to_owned()];
    let (summary, text) = run(&[PASSES, FAILS], &options);
    assert_eq!(ends(&summary), ["pass", "fail", "skip", "skip", "pass", "fail"], "{text}");
    let devices: Vec<_> = summary.results.iter().map(|result| result.device).collect();
    assert_eq!(devices, [0, 0, 1, 1, 2, 2]);
    assert_eq!(summary.exit, Exit::Failed);
    assert!(text.contains("FAIL  own.fails on null://?memory=1048576"), "{text}");
    assert!(text.contains("skipped    2: absent:// could not be opened"), "{text}");
    let problem = summary.devices[1].problem.as_ref().unwrap();
    assert_eq!(problem.name(), "absent");
    // A failure takes precedence over an absent device.
    options.require = true;
    assert_eq!(run(&[PASSES, FAILS], &options).0.exit, Exit::Failed);
    assert_eq!(run(&[PASSES], &options).0.exit, Exit::Absent);
}

#[test]
fn shards_are_complete_disjoint_and_stable() {
    let all = cases();
    for count in [1, 2, 3, 4, 7] {
        let shards: Vec<_> = (1..=count).map(|index| Shard::new(index, count).unwrap()).collect();
        for case in &all {
            let holders = shards.iter().filter(|shard| shard.holds(case.name)).count();
            assert_eq!(holders, 1, "{} of {count} shards hold {}", holders, case.name);
        }
        let most = shards.iter().map(|shard| all.iter().filter(|case| shard.holds(case.name)).count()).max();
        let fair = all.len() / count as usize;
        assert!(most.is_some_and(|most| most <= fair + fair / 2), "{most:?} of {} in one shard", all.len());
    }
    // Users run shards of several releases, so a case must not move between shards.
    let shard = |name| (1..=4).find(|&index| Shard::new(index, 4).unwrap().holds(name)).unwrap();
    assert_eq!(["queue.diamond", "file.read_whole", "dispatch.vector_add"].map(shard), [3, 4, 1]);
    for wrong in ["0/4", "5/4", "1/0", "1", "/", "a/b", "-1/4", "1/4/4"] {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
    assert_eq!("2/4".parse::<Shard>().unwrap().to_string(), "2/4");
}

#[test]
fn a_run_takes_its_shard() {
    let mut options = options();
    let all = [PASSES, SKIPS, PANICS, FAILS];
    let mut names = Vec::new();
    for index in 1..=3 {
        options.shard = Shard::new(index, 3);
        let (summary, text) = run(&all, &options);
        assert!(text.contains(&format!("level full, shard {index}/3")), "{text}");
        names.extend(summary.results.iter().map(|result| result.case.name));
    }
    names.sort_unstable();
    assert_eq!(names, ["own.fails", "own.panics", "own.passes", "own.skips"]);
}

#[test]
fn a_probe_opens_and_runs_nothing() {
    let mut options = options();
    options.probe = true;
    let (summary, text) = run(&[FAILS], &options);
    assert!(summary.results.is_empty() && summary.exit == Exit::Passed);
    assert!(text.contains("null:// (Null device, none, simulated)"), "{text}");
}

#[test]
fn filters_select_by_part_or_by_whole_name() {
    let all = [PASSES, FAILS, SKIPS];
    let names = |options: &Options| {
        let (summary, _) = run(&all, options);
        let left_out = summary.filtered_out;
        let names: Vec<_> = summary.results.iter().map(|result| result.case.name).collect();
        assert_eq!(names.len() + left_out, 3);
        names
    };
    let mut options = options();
    options.filters = vec!["pass".to_owned(), "skip".to_owned()];
    assert_eq!(names(&options), ["own.passes", "own.skips"]);
    options.skip = vec!["skips".to_owned()];
    assert_eq!(names(&options), ["own.passes"]);
    options.exact = true;
    assert_eq!(names(&options), [""; 0]);
    options.filters = vec!["own.skips".to_owned()];
    assert_eq!(names(&options), ["own.skips"]);
}

#[test]
fn a_level_includes_those_before_it() {
    let all = [PASSES.level(Level::Smoke), SKIPS, PANICS.level(Level::Stress)];
    for (level, expected) in [(Level::Smoke, 1), (Level::Full, 2), (Level::Stress, 3)] {
        let mut options = options();
        options.level = level;
        let (summary, _) = run(&all, &options);
        assert_eq!((summary.results.len(), summary.filtered_out), (expected, 3 - expected));
    }
    assert_eq!(options().level, Level::Full);
}

#[test]
fn lists_without_running() {
    let mut options = options();
    options.list = true;
    let (summary, text) = run(&[FAILS, LACKING], &options);
    assert!(summary.results.is_empty() && summary.exit == Exit::Passed);
    assert!(
        text.lines().next().is_some_and(|line| line.starts_with("own.fails ") && line.ends_with("It fails."))
    );
    options.format = Format::Terse;
    assert_eq!(run(&[FAILS, LACKING], &options).1, "own.fails: test\nown.lacking: test\n");
}

#[test]
fn a_case_is_repeated_until_it_fails() {
    static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    fn third_fails(_: &windlass_cts::Context) -> Outcome {
        match RUNS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            2 => Err(Stop::fail("the third time")),
            _ => Ok(()),
        }
    }
    let mut options = options();
    options.repeat = 10;
    let (summary, _) = run(&[Case::new("own.third", "It fails the third time.", &[], third_fails)], &options);
    assert_eq!(
        verdicts(&summary),
        [&Verdict::Fail("the third time\nin repetition 3 of 10, --seed 3".to_owned())]
    );
    assert_eq!(RUNS.load(std::sync::atomic::Ordering::Relaxed), 3);
}

fn exit_of(options: Options) -> (Exit, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let exit = main_with(&registry(), &[PASSES, FAILS], options, &mut out, &mut err);
    out.extend(err);
    (exit, String::from_utf8(out).unwrap())
}

#[test]
fn exit_codes_say_what_happened() {
    let only_passes = |device: &str| {
        let mut options = Options::new(device);
        options.filters = vec!["passes".to_owned()];
        options
    };
    assert_eq!(exit_of(only_passes("null://")).0, Exit::Passed);
    assert_eq!(exit_of(options()).0, Exit::Failed);

    let (exit, text) = exit_of(only_passes("absent://"));
    assert_eq!(exit, Exit::Passed);
    assert!(text.contains("never there") && text.contains("1 ignored"), "{text}");
    let mut required = only_passes("absent://");
    required.require = true;
    assert_eq!(exit_of(required).0, Exit::Absent);
    // The driver that was registered last is the default.
    assert!(exit_of(only_passes("")).1.contains("absent://"));

    let (exit, text) = exit_of(only_passes("broken://"));
    assert_eq!(exit, Exit::Failed);
    assert!(text.contains("out of order") && text.contains("FAILED"), "{text}");
    let (exit, text) = exit_of(only_passes("nope://"));
    assert_eq!(exit, Exit::Usage);
    assert!(text.contains("null://"), "{text}");
    let (exit, text) = exit_of(only_passes("null://?colour=red"));
    assert_eq!(exit, Exit::Usage);
    assert!(text.contains("colour") && text.contains("FAILED"), "{text}");
    let mut nothing = options();
    nothing.filters = vec!["no such case".to_owned()];
    assert_eq!(exit_of(nothing.clone()).0, Exit::Usage);
    // It is no mistake if a shard holds none of the matching cases.
    nothing.filters = vec!["passes".to_owned()];
    nothing.shard = (1..=2).filter_map(|index| Shard::new(index, 2)).find(|shard| !shard.holds("own.passes"));
    assert_eq!(exit_of(nothing).0, Exit::Passed);
}

#[test]
fn filters_that_fit_nothing_are_told() {
    let with = |filters: &[&str], skip: &[&str], exact: bool| {
        let mut options = options();
        options.filters = filters.iter().map(|&filter| filter.to_owned()).collect();
        options.skip = skip.iter().map(|&filter| filter.to_owned()).collect();
        options.exact = exact;
        options
    };
    let (exit, text) = exit_of(with(&["own.passes", "own.fials"], &[], true));
    assert_eq!(exit, Exit::Usage);
    assert!(text.contains("no case is called `own.fials`; the nearest are `own.fails`"), "{text}");
    assert!(!text.contains("pass  own.passes"), "nothing is run: {text}");
    assert_eq!(exit_of(with(&[], &["own.fials"], true)).0, Exit::Usage);
    // Parts of names are often meant for several suites.
    let (exit, text) = exit_of(with(&["passes", "fials"], &["skips"], false));
    assert_eq!(exit, Exit::Passed, "{text}");
    assert!(text.contains("no name contains the filter `fials`"), "{text}");
    assert!(text.contains("no name contains the filter `skips`"), "{text}");
    let mut left_out = with(&["own.passes", "own.fails"], &["own.fails"], true);
    let (exit, text) = exit_of(left_out.clone());
    assert_eq!(exit, Exit::Passed);
    assert!(text.contains("`own.fails` is left out by the level or by --skip"), "{text}");
    // A case of another shard needs no warning.
    left_out.skip.clear();
    left_out.filters = vec!["own.passes".to_owned()];
    for shard in (1..=2).filter_map(|index| Shard::new(index, 2)) {
        left_out.shard = Some(shard);
        let (exit, text) = exit_of(left_out.clone());
        assert!(exit == Exit::Passed && !text.contains("cts: "), "{text}");
    }
}

#[test]
fn reads_command_lines() {
    let parse = |line: &str| Options::parse(line.split_whitespace());
    let options = parse(
        "cts --device null:// transfer. --skip large --format json --timeout 0.5 --repeat 3 --seed 9 \
               --device absent:// --level smoke --shard 2/4 --isolate --probe --expectations e.toml --json j \
               --junit x.xml --summary s.md",
    );
    let options = options.unwrap();
    assert_eq!(options.devices, ["null://", "absent://"]);
    assert_eq!((options.filters, options.skip), (vec!["transfer.".to_owned()], vec!["large".to_owned()]));
    assert_eq!(options.format, Format::Json);
    assert_eq!((options.timeout, options.repeat, options.seed), (Duration::from_millis(500), 3, 9));
    assert_eq!((options.level, options.shard), (Level::Smoke, Shard::new(2, 4)));
    assert!(options.isolate && options.probe && !options.require && !options.exact);
    let files = [options.expectations, options.json, options.junit, options.summary];
    assert_eq!(files.map(Option::unwrap), ["e.toml", "j", "x.xml", "s.md"].map(std::path::PathBuf::from));
    // Options that `cargo test` and `cargo nextest` pass to every test binary.
    assert!(parse("cts --nocapture --test-threads 4 --quiet --include-ignored").is_ok());
    assert_eq!(parse("cts --list --format terse").unwrap().format, Format::Terse);
    for wrong in [
        "cts --no-such-option",
        "cts --timeout 0",
        "cts --repeat 0",
        "cts --format yaml",
        "cts --level brief",
        "cts --shard 5/4",
        "cts --timeout 0s",
    ] {
        assert!(!parse(wrong).unwrap_err().is_help(), "{wrong}");
    }
    let one_file = parse("cts --summary s --json report --junit ./report").unwrap_err().to_string();
    assert!(one_file.contains("--json and --junit name one file"), "{one_file}");
    assert!(parse("cts --json /dev/null --junit /dev/null").is_ok());
    assert!(parse("cts --help").unwrap_err().is_help());
}
