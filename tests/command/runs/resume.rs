// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs that continue others.

use std::fs;

use super::{SOUND, Scratch, cts, event, verdicts};

const CASES: [&str; 4] =
    ["semaphore.starts_at_initial", "queue.diamond", "dispatch.vector_add", "dispatch.positions"];

#[test]
fn a_run_continues_where_the_machine_went_down() {
    let file = Scratch::new("run");
    let junit = Scratch::new("xml");
    let resume = ["--resume", file.path(), "--junit", junit.path()];
    let (finished, _) = cts(SOUND, &CASES, &resume);
    assert_eq!(finished.code, Some(0), "{}{}", finished.stdout, finished.stderr);
    let whole = file.text();
    // The disk holds all that a machine wrote before it went down in the third case.
    let begun = whole.find("\"begin\":\"dispatch.vector_add\"").unwrap();
    let end = begun + whole[begun..].find('\n').unwrap() + 1;
    let torn = format!("{}{{\"device\":0,\"en", &whole[..end]);
    // The verdict is the file's, and not that of another run of the case.
    fs::write(&file.0, torn.replace("\"verdict\":\"pass\"", "\"verdict\":\"flaky\"")).unwrap();

    let (finished, events) = cts(SOUND, &CASES, &resume);
    assert_eq!(finished.code, Some(1), "{}{}", finished.stdout, finished.stderr);
    assert!(finished.stdout.contains("it has the verdicts of 2 of 4 cases"), "{}", finished.stdout);
    let expected = [
        ("semaphore.starts_at_initial", "flaky"),
        ("queue.diamond", "flaky"),
        ("dispatch.vector_add", "fail"),
        ("dispatch.positions", "pass"),
    ];
    assert_eq!(verdicts(&events), expected, "{}", finished.stdout);
    let message = event(&events, "dispatch.vector_add")["message"].as_str().unwrap();
    assert_eq!(message, "the machine went down or the runner was killed during it");
    let xml = junit.text();
    assert!(xml.contains("tests=\"4\" failures=\"1\""), "{xml}");

    // That run came to its end, so the next one begins anew.
    let (finished, events) = cts(SOUND, &CASES, &resume);
    assert_eq!(finished.code, Some(0), "{}", finished.stdout);
    assert!(verdicts(&events).iter().all(|(_, verdict)| *verdict == "pass"), "{}", finished.stdout);
    assert!(!finished.stdout.contains("resumed"), "{}", finished.stdout);
}

#[test]
fn a_file_that_is_torn_inside_of_a_letter_is_continued() {
    let file = Scratch::new("run");
    let resume = ["--resume", file.path()];
    cts(SOUND, &CASES, &resume);
    let whole = file.text().replace("{\"over\":true}\n", "");
    let mut torn = whole.into_bytes();
    torn.extend("{\"device\":0,\"end\":\"dispatch.positions\",\"message\":\"ö".as_bytes());
    torn.pop();
    fs::write(&file.0, &torn).unwrap();
    let (finished, _) = cts(SOUND, &CASES, &resume);
    assert_eq!(finished.code, Some(0), "{}{}", finished.stdout, finished.stderr);
    assert!(finished.stdout.contains("it has the verdicts of 4 of 4 cases"), "{}", finished.stdout);
}

#[test]
fn messages_of_a_file_have_no_effect_on_the_terminal() {
    let file = Scratch::new("run");
    let resume = ["--resume", file.path()];
    cts(SOUND, &CASES, &resume);
    let whole = file.text().replace("{\"over\":true}\n", "");
    let hostile = r#""message":"\u001b]2;title\u0007\u009b1m","#;
    fs::write(&file.0, whole.replace(r#""message":null,"#, hostile).replace("\"pass\"", "\"fail\"")).unwrap();
    let (finished, _) = cts(SOUND, &CASES, &resume);
    assert_eq!(finished.code, Some(1), "{}{}", finished.stdout, finished.stderr);
    assert!(finished.stdout.contains("\\x1b]2;title\\x07\\u{9b}1m"), "{}", finished.stdout);
    assert!(
        !finished.stdout.chars().any(|letter| letter.is_control() && letter != '\n'),
        "{}",
        finished.stdout
    );
}

#[test]
fn a_pipe_is_no_file_to_resume() {
    let file = Scratch::new("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&file.0).status().unwrap().success());
    let (finished, _) = cts(SOUND, &CASES, &["--resume", file.path()]);
    assert_eq!(finished.code, Some(2), "{}{}", finished.stdout, finished.stderr);
    assert!(finished.stderr.contains("it is a pipe, not a regular file"), "{}", finished.stderr);
}

#[test]
fn cases_that_a_lost_device_left_out_are_run_after_the_reboot() {
    let file = Scratch::new("run");
    let device = "hip-sim://gfx942?threads=2&fail=hipModuleLaunchKernel";
    let resume = ["--resume", file.path(), "--recovery", "0"];
    let (_, events) = cts(device, &CASES, &resume);
    assert_eq!(verdicts(&events)[3], ("dispatch.positions", "skip"));
    let (finished, events) = cts(device, &CASES, &resume);
    assert_eq!(finished.code, Some(1), "{}", finished.stdout);
    assert!(finished.stdout.contains("it has the verdicts of 3 of 4 cases"), "{}", finished.stdout);
    assert_eq!(verdicts(&events)[3], ("dispatch.positions", "fail"), "{}", finished.stdout);
}

#[test]
fn a_file_of_another_run_is_refused() {
    let file = Scratch::new("run");
    let resume = ["--resume", file.path()];
    cts(SOUND, &CASES, &resume);
    let whole = file.text();
    let unfinished = whole.replace("{\"over\":true}\n", "");
    for (cases, options, words) in [
        (&CASES[..2], &[][..], "with another selection of cases"),
        (&CASES, &["--seed", "7"], "with another seed"),
        (&CASES, &["--device", "null://"], "with another list of devices"),
    ] {
        fs::write(&file.0, &unfinished).unwrap();
        let (finished, _) = cts(SOUND, cases, &[&resume[..], options].concat());
        assert_eq!(finished.code, Some(2), "{words}: {}", finished.stdout);
        assert!(
            finished.stderr.contains(words) && finished.stderr.contains("remove the file"),
            "{}",
            finished.stderr
        );
        assert_eq!(file.text(), unfinished);
    }
    fs::write(&file.0, "notes of somebody\n").unwrap();
    let (finished, _) = cts(SOUND, &CASES, &resume);
    assert_eq!((finished.code, &*file.text()), (Some(2), "notes of somebody\n"), "{}", finished.stderr);
    // Of a run that went down in its first line nothing is known.
    fs::write(&file.0, &whole[..20]).unwrap();
    assert_eq!(cts(SOUND, &CASES, &resume).0.code, Some(0));
}

#[test]
#[cfg(unix)]
fn files_without_an_end_are_refused() {
    let folder = Scratch::new("folder");
    fs::create_dir_all(&folder.0).unwrap();
    for (option, file, words) in [
        ("--resume", "/dev/full", "not a regular file"),
        ("--resume", folder.path(), "director"),
        ("--expectations", "/dev/zero", "it has more than 16 MiB"),
    ] {
        let (finished, _) = cts(SOUND, &CASES, &[option, file]);
        assert_eq!(finished.code, Some(2), "{option} {file}: {}", finished.stderr);
        assert!(finished.stderr.contains(file), "{}", finished.stderr);
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
    fs::remove_dir(&folder.0).unwrap();
    let file = Scratch::new("run");
    fs::File::create(&file.0).unwrap().set_len(1 << 40).unwrap();
    let (finished, _) = cts(SOUND, &CASES, &["--resume", file.path()]);
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
    assert!(finished.stderr.contains("it has more than 256 MiB"), "{}", finished.stderr);
    let finished = crate::support::windlass(["cts", "compare", file.path(), "/dev/zero"]);
    assert_eq!(finished.code, Some(2), "{}", finished.stderr);
}
