// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runner: what it selects, how cases end, what it writes, and its exit codes.

use std::{fs, sync::mpsc, time::Duration};

use windlass_cts::{
    Case, Exit, Format, Level, Options, Outcome, Stop, Summary, Verdict, cases, main_with, run_cases,
};
use windlass_hal::{Error, Feature, Registry};

fn registry() -> Registry {
    let mut registry = Registry::new();
    windlass_null::register(&mut registry);
    windlass_local_stand_in::register(&mut registry);
    registry
}

/// A driver whose device is never there.
mod windlass_local_stand_in {
    use std::sync::Arc;

    use windlass_hal::{DeviceInfo, Error, Registry, Result, Uri, driver};

    struct Absent;

    impl driver::Driver for Absent {
        fn scheme(&self) -> &str {
            "absent"
        }
        fn description(&self) -> String {
            "never there".to_owned()
        }
        fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
            Err(Error::unavailable("never there"))
        }
        fn open(&self, _: &Uri) -> Result<Arc<dyn driver::Device>> {
            Err(Error::unavailable("never there"))
        }
    }

    pub(super) fn register(registry: &mut Registry) {
        registry.register(Arc::new(Absent));
    }
}

fn passes(_: &windlass_cts::Context) -> Outcome {
    Ok(())
}

fn fails(_: &windlass_cts::Context) -> Outcome {
    Err(Stop::fail("seen & expected <differ>"))
}

fn skips(_: &windlass_cts::Context) -> Outcome {
    Err(Stop::skip("no such thing here"))
}

fn meets_a_lack(_: &windlass_cts::Context) -> Outcome {
    Err(Error::unimplemented("not built yet"))?
}

fn panics(_: &windlass_cts::Context) -> Outcome {
    std::panic::resume_unwind(Box::new("on purpose"))
}

fn hangs(_: &windlass_cts::Context) -> Outcome {
    let (_sender, receiver) = mpsc::channel::<()>();
    let _ = receiver.recv_timeout(Duration::from_secs(600));
    std::mem::forget(_sender);
    Ok(())
}

const PASSES: Case = Case::new("own.passes", "It passes.", &[], passes);
const FAILS: Case = Case::new("own.fails", "It fails.", &[], fails);
const SKIPS: Case = Case::new("own.skips", "It skips.", &[], skips);
const LACKING: Case = Case::new("own.lacking", "It needs kernels.", &[Feature::Dispatch], fails);
const UNDECLARED: Case = Case::new("own.undeclared", "It meets a lack.", &[], meets_a_lack);
const PANICS: Case = Case::new("own.panics", "It panics.", &[], panics);
const HANGS: Case = Case::new("own.hangs", "It hangs.", &[], hangs);

fn options() -> Options {
    Options::new("null://")
}

fn run(cases: &[Case], options: &Options) -> (Summary, String) {
    let mut out = Vec::new();
    let summary = run_cases(&registry(), cases, options, &mut out).unwrap();
    (summary, String::from_utf8(out).unwrap())
}

fn verdicts(summary: &Summary) -> Vec<&Verdict> {
    summary.results.iter().map(|result| &result.verdict).collect()
}

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
    assert!(text.contains("the case panicked: on purpose"), "{text}");
}

#[test]
fn a_hung_case_is_named_and_ends_the_run() {
    let mut options = options();
    options.timeout = Duration::from_millis(50);
    let (summary, text) = run(&[HANGS, PASSES], &options);
    assert_eq!(summary.exit, Exit::Failed);
    assert!(matches!(verdicts(&summary)[..], [Verdict::Fail(_), Verdict::Skip(_)]), "{text}");
    assert!(text.contains("hung: it did not end within 0.05 s"), "{text}");
    assert!(text.contains("not run, because own.hangs hung"), "{text}");
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
fn json_lines_hold_what_the_text_holds() {
    let mut options = options();
    options.format = Format::Json;
    let (_, text) = run(&[PASSES, FAILS, SKIPS], &options);
    let events: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 5);
    assert_eq!(events[0]["device"]["simulated"], true);
    assert_eq!(events[0]["device"]["lacks"][0]["feature"], "dispatch");
    assert_eq!((&events[1]["verdict"], &events[1]["message"]), (&"pass".into(), &serde_json::Value::Null));
    assert_eq!(events[2]["message"], "seen & expected <differ>");
    assert_eq!(events[4]["skip_reasons"]["no such thing here"], 1);
    assert_eq!((&events[4]["failed"], &events[4]["exit"]), (&1.into(), &1.into()));
}

#[test]
fn junit_holds_device_cases_and_messages() {
    let path = std::env::temp_dir().join(format!("windlass-cts-{}.xml", std::process::id()));
    let mut options = options();
    options.junit = Some(path.clone());
    run(&[PASSES, FAILS, SKIPS], &options);
    let xml = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert!(xml.contains(r#"tests="3""#) && xml.contains(r#"failures="1""#), "{xml}");
    assert!(xml.contains("seen &amp; expected &lt;differ&gt;"), "{xml}");
    assert!(xml.contains(r#"name="device" value="null://""#), "{xml}");
    assert!(xml.contains(r#"classname="windlass-cts.own""#), "{xml}");
    options.junit = Some("/no/such/folder/report.xml".into());
    let mut out = Vec::new();
    assert!(run_cases(&registry(), &[PASSES], &options, &mut out).is_err());
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
    assert_eq!(verdicts(&summary), [&Verdict::Fail("the third time".to_owned())]);
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
    // Registered last, and so the default.
    assert!(exit_of(only_passes("")).1.contains("absent://"));

    let (exit, text) = exit_of(only_passes("nope://"));
    assert_eq!(exit, Exit::Usage);
    assert!(text.contains("null://"), "{text}");
    let (exit, text) = exit_of(only_passes("null://?colour=red"));
    assert_eq!(exit, Exit::Usage);
    assert!(text.contains("colour") && text.contains("FAILED"), "{text}");
    let mut nothing = options();
    nothing.filters = vec!["no such case".to_owned()];
    assert_eq!(exit_of(nothing).0, Exit::Usage);
}

#[test]
fn reads_command_lines() {
    let parse = |line: &str| Options::parse(line.split_whitespace());
    let options =
        parse("cts --device null:// transfer. --skip large --format json --timeout 7 --repeat 3 --seed 9");
    let options = options.unwrap();
    assert_eq!(options.device, "null://");
    assert_eq!((options.filters, options.skip), (vec!["transfer.".to_owned()], vec!["large".to_owned()]));
    assert_eq!(options.format, Format::Json);
    assert_eq!((options.timeout, options.repeat, options.seed), (Duration::from_secs(7), 3, 9));
    // What `cargo test` and `cargo nextest` pass to any test binary.
    assert!(parse("cts --nocapture --test-threads 4 --quiet --include-ignored").is_ok());
    assert_eq!(parse("cts --list --format terse").unwrap().format, Format::Terse);
    for wrong in ["cts --no-such-option", "cts --timeout 0", "cts --repeat 0", "cts --format yaml"] {
        assert!(!parse(wrong).unwrap_err().is_help(), "{wrong}");
    }
    assert!(parse("cts --help").unwrap_err().is_help());
}
