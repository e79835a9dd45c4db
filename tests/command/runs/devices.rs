// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices of another architecture than expected, and devices that do not recover from a failure.

use super::{BROKEN, FLAKY, SOUND, Scratch, cts, event, verdicts};
use crate::support::{command, finish};

#[test]
fn a_device_of_another_architecture_is_exit_code_3_before_anything_runs() {
    let case = ["queue.diamond"];
    for expected in ["gfx942", "gfx942:xnack-", "gfx942:sramecc+:xnack-"] {
        let (finished, events) = cts(SOUND, &case, &["--expect-arch", expected]);
        assert_eq!(finished.code, Some(0), "{expected}: {}", finished.stdout);
        assert_eq!(verdicts(&events), [("queue.diamond", "pass")]);
    }
    let junit = Scratch::new("xml");
    for expected in ["gfx90a", "gfx94", "gfx942:xnack+"] {
        let (finished, events) = cts(SOUND, &case, &["--expect-arch", expected, "--junit", junit.path()]);
        assert_eq!(finished.code, Some(3), "{expected}: {}", finished.stdout);
        assert!(verdicts(&events).is_empty(), "{}", finished.stdout);
        let words = format!("and --expect-arch expects {expected}");
        for text in [&finished.stderr, &finished.stdout, &junit.text()] {
            assert!(text.contains("it is gfx942:sramecc+:xnack-") && text.contains(&words), "{text}");
        }
        assert!(junit.text().contains("errors=\"1\""), "{}", junit.text());
    }
    // A device before the wrong one is not tested either.
    let second = ["--device", "hip-sim://gfx90a?threads=2", "--expect-arch", "gfx942"];
    let (finished, events) = cts(SOUND, &case, &second);
    assert_eq!(finished.code, Some(3), "{}", finished.stdout);
    assert!(verdicts(&events).is_empty(), "{}", finished.stdout);
    let (finished, _) = cts(SOUND, &case, &[&second[..], &["--expect-arch", "gfx90a"]].concat());
    assert_eq!(finished.code, Some(0), "{}", finished.stdout);
    // Nor does a device pass that is not there.
    let (finished, _) = cts("hip-sim://7", &case, &["--expect-arch", "gfx942"]);
    assert_eq!(finished.code, Some(3), "{}", finished.stdout);
}

#[test]
fn on_a_lost_device_the_rest_is_not_run() {
    let cases =
        ["queue.diamond", "dispatch.vector_add", "dispatch.positions", "dispatch.several_entry_points"];
    let file = Scratch::new("toml");
    let junit = Scratch::new("xml");
    for more in [&[][..], &["--isolate"], &["--jobs", "2"]] {
        let options = ["--recovery", "0", "--write-expectations", file.path(), "--junit", junit.path()];
        let (finished, events) = cts(BROKEN, &cases, &[&options, more].concat());
        assert_eq!(finished.code, Some(1), "{}", finished.stdout);
        let ends = verdicts(&events);
        assert_eq!(ends[..2], [("queue.diamond", "pass"), ("dispatch.vector_add", "fail")]);
        let failed = event(&events, "dispatch.vector_add")["message"].as_str().unwrap();
        assert!(failed.contains("the device is lost: it then failed 2 health checks"), "{failed}");
        assert_eq!(ends[3], ("dispatch.several_entry_points", "skip"), "{}", finished.stdout);
        let reason = event(&events, "dispatch.several_entry_points")["message"].as_str().unwrap();
        assert!(reason.starts_with("not run: after dispatch."), "{reason}");
        assert!(finished.stderr.contains("was lost: after dispatch."), "{}", finished.stderr);
        assert!(junit.text().contains("name=\"health\"") && junit.text().contains("errors=\"1\""));
    }
    // An expected failure that takes the device with it still fails the run.
    let (finished, _) = cts(BROKEN, &cases, &["--recovery", "0", "--expectations", file.path()]);
    assert_eq!(finished.code, Some(1), "{}", finished.stdout);
}

#[test]
fn a_device_that_works_when_opened_again_goes_on() {
    let cases = ["dispatch.vector_add", "dispatch.positions", "queue.diamond"];
    let (finished, events) = cts(FLAKY, &cases, &["--recovery", "0"]);
    assert_eq!(finished.code, Some(1), "{}", finished.stdout);
    let ends = [("queue.diamond", "pass"), ("dispatch.vector_add", "pass"), ("dispatch.positions", "fail")];
    assert_eq!(verdicts(&events), ends, "{}", finished.stdout);
    assert!(!finished.stdout.contains("was lost"), "{}", finished.stdout);
    // Failures of simulated devices may be meant: without the option each case is tried.
    let (_, events) = cts(BROKEN, &cases, &[]);
    let ends = [("queue.diamond", "pass"), ("dispatch.vector_add", "fail"), ("dispatch.positions", "fail")];
    assert_eq!(verdicts(&events), ends);
}

#[test]
fn a_simulated_gpu_is_refused_where_a_real_one_is_required() {
    let junit = Scratch::new("xml");
    let mut runs = vec![cts(SOUND, &["queue.diamond"], &["--real", "--junit", junit.path()]).0];
    // A simulated GPU behind the URI of real ones.
    #[cfg(target_os = "linux")]
    let library = crate::exec::library();
    #[cfg(not(target_os = "linux"))]
    let library: Option<std::path::PathBuf> = None;
    if let Some(library) = library {
        let words = ["cts", "--device", "hip://", "--exact", "queue.diamond", "--junit", junit.path()];
        let run = |more: &str| finish(command().args(words).arg(more).env("WINDLASS_HIP_LIBRARY", &library));
        assert_eq!(run("--require").code, Some(0));
        runs.push(run("--real"));
    }
    for finished in runs {
        assert_eq!(finished.code, Some(3), "{}{}", finished.stdout, finished.stderr);
        assert!(finished.stderr.contains("is not tested: it is simulated ("), "{}", finished.stderr);
        assert!(!finished.stdout.contains("pass  "), "{}", finished.stdout);
        assert!(junit.text().contains("errors=\"1\""), "{}", junit.text());
    }
    // It requires a device, and takes no simulated one where none is named.
    let finished =
        finish(command().args(["cts", "--real", "--exact", "queue.diamond", "--lock-timeout", "0"]));
    if !std::path::Path::new("/dev/kfd").exists() {
        assert_eq!(finished.code, Some(3), "{}{}", finished.stdout, finished.stderr);
        assert!(finished.stderr.contains("hip:// could not be opened"), "{}", finished.stderr);
    }
}
