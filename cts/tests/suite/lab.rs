// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runner on hardware that others use too: locks, and the kernel's messages. A driver here says that it is hardware.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
        mpsc::{Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::common::{FAILS, PASSES, Scratch, ends, registry, run};
use windlass_cts::{Case, Context, Exit, Options, Outcome, Stop, Summary, run_cases};
use windlass_hal::{DeviceInfo, Error, Registry, Result, Uri, driver};

fn with(device: &str, timeout: Duration) -> Options {
    let mut options = Options::new(device);
    options.lock_dir = Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
    options.lock_timeout = timeout;
    // The system's messages would differ between machines.
    options.kernel_log = Some("/dev/null".into());
    options
}

/// Runs a second run, and states how it ended.
fn runs_another(device: &str) -> Outcome {
    let (summary, text) = run(&[PASSES], &with(device, Duration::ZERO));
    Err(Stop::fail(format!("{:?} {:?} {text}", summary.exit, ends(&summary))))
}

#[test]
fn a_gpu_of_another_run_is_refused_and_free_again_after_it() {
    let inner = |ctx: &Context| runs_another(ctx.uri());
    let case = Case::new("own.nested", "It runs another run.", &[], inner);
    let options = with("real://one", Duration::ZERO);
    let (_, text) = run(&[case], &options);
    assert!(text.contains("Absent [\"skip\"]"), "{text}");
    assert!(text.contains("real://one is in use: another run holds "), "{text}");
    assert!(text.contains("windlass-GPU-one.lock for longer than the 0 s of --lock-timeout"), "{text}");
    let (summary, text) = run(&[PASSES], &options);
    assert_eq!(summary.exit, Exit::Passed, "{text}");
}

#[test]
fn only_a_regular_file_is_a_lock() {
    let lock =
        |device: &str| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("windlass-GPU-{device}.lock"));
    let pipe = lock("pipe");
    let _ = fs::remove_file(&pipe);
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let target = lock("target");
    fs::write(&target, "").unwrap();
    let link = lock("link");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&target, &link).unwrap();
    for (device, path, kind) in [("pipe", pipe, "a pipe"), ("link", link, "a symbolic link")] {
        let (summary, text) = run(&[PASSES], &with(&format!("real://{device}"), Duration::ZERO));
        assert_eq!(summary.exit, Exit::Failed, "{text}");
        let words = format!(
            "the lock {} cannot be opened: it is {kind}, not a regular file; remove it, or name another folder with --lock-dir",
            path.display()
        );
        assert!(text.contains(&words), "{text}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn each_gpu_has_a_lock_and_simulated_devices_have_none() {
    for (inner, words) in [
        (|_: &Context| runs_another("real://seven"), "Passed [\"pass\"]"),
        (|_: &Context| runs_another("real://six,eight"), "Passed [\"pass\"]"),
        (|_: &Context| runs_another("real://nine,five"), "Absent [\"skip\"]"),
    ] as [(fn(&Context) -> Outcome, &str); 3]
    {
        let case = Case::new("own.nested", "It runs another run.", &[], inner);
        let (_, text) = run(&[case], &with("real://four,five", Duration::ZERO));
        assert!(text.contains(words), "{text}");
    }
    let inner = |_: &Context| runs_another("null://");
    let case = Case::new("own.nested", "It runs another run.", &[], inner);
    assert!(run(&[case], &with("null://", Duration::ZERO)).1.contains("Passed [\"pass\"]"));
}

#[test]
fn a_run_waits_for_a_gpu_and_says_so() {
    static OTHER: Mutex<Option<JoinHandle<Exit>>> = Mutex::new(None);
    /// Output that tells when the run says that it waits.
    struct Watched(Vec<u8>, Sender<()>);
    impl Write for Watched {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.extend(bytes);
            if String::from_utf8_lossy(&self.0)
                .contains("waiting       real://ten is in use: another run holds")
            {
                let _ = self.1.send(());
            }
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let inner = |_: &Context| {
        let (sender, waits) = channel();
        *OTHER.lock().unwrap() = Some(thread::spawn(move || {
            let mut out = Watched(Vec::new(), sender);
            let options = with("real://ten", Duration::from_secs(60));
            run_cases(&registry(), &[PASSES], &options, &mut out).unwrap().exit
        }));
        // A run that does not wait ends, and so closes the channel.
        waits.recv().map_err(|_| Stop::fail("the other run did not wait"))
    };
    let case = Case::new("own.holds", "It holds the device until another run waits for it.", &[], inner);
    let (summary, text) = run(&[case], &with("real://ten", Duration::ZERO));
    assert_eq!(ends(&summary), ["pass"], "{text}");
    assert_eq!(OTHER.lock().unwrap().take().unwrap().join().unwrap(), Exit::Passed);
}

#[test]
fn a_failure_has_the_kernels_messages_of_its_time() {
    static LOG: Mutex<Option<PathBuf>> = Mutex::new(None);
    fn kernel_says(text: &str) {
        let path = LOG.lock().unwrap().clone().unwrap();
        File::options().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }
    fn quiet(_: &Context) -> Outcome {
        kernel_says("6,10,100,-;amdgpu 0000:03:00.0: a message of a case that passes\n");
        Ok(())
    }
    fn resets(_: &Context) -> Outcome {
        kernel_says("3,11,200,-;amdgpu 0000:03:00.0: amdgpu: GPU reset begin!\n SUBSYSTEM=pci\n");
        kernel_says("6,12,300,-;usb 1-1: new device\n");
        kernel_says("[   12.3] mce: [Hardware Error]: Machine check events logged\n");
        Err(Stop::fail("the device hung"))
    }
    let file = Scratch::holding("log", "3,9,50,-;amdgpu: from before the run\n");
    *LOG.lock().unwrap() = Some(file.0.clone());
    let mut options = Options::new("null://");
    options.kernel_log = Some(file.0.clone());
    let cases = [
        Case::new("own.quiet", "The kernel says something.", &[], quiet),
        Case::new("own.resets", "The kernel resets the device.", &[], resets),
        FAILS,
    ];
    let (summary, text) = run(&cases, &options);
    let failures: Vec<_> = summary.results.iter().filter_map(|result| result.verdict.message()).collect();
    let expected = "the device hung\nkernel: amdgpu 0000:03:00.0: amdgpu: GPU reset begin!\n\
                    kernel: [   12.3] mce: [Hardware Error]: Machine check events logged";
    assert_eq!(failures[0], expected, "{text}");
    assert!(!failures[1].contains("kernel: "), "{text}");
    assert!(!text.contains("kernel log"), "{text}");
}

#[test]
fn a_kernel_log_that_cannot_be_read_is_told_once_and_fails_nothing() {
    let gone = Scratch::new("log");
    let mut options = Options::new("null://");
    options.kernel_log = Some(gone.0.clone());
    let (summary, text) = run(&[PASSES, FAILS, FAILS], &options);
    assert_eq!(ends(&summary), ["pass", "fail", "fail"]);
    assert_eq!(text.matches("kernel log    none, because ").count(), 1, "{text}");
    assert!(text.contains(&gone.0.display().to_string()) && fs::metadata(&gone.0).is_err(), "{text}");
}

/// `vanishing://`: hardware that cannot be opened again so many times after the first.
struct Vanishing(AtomicU32);

impl driver::Driver for Vanishing {
    fn scheme(&self) -> &str {
        "vanishing"
    }
    fn description(&self) -> String {
        "goes, and comes back".to_owned()
    }
    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(Vec::new())
    }
    fn open(&self, uri: &Uri) -> Result<Arc<dyn driver::RawDevice>> {
        let times: u32 = uri.path().parse().unwrap();
        if (1..=times).contains(&self.0.fetch_add(1, Ordering::Relaxed)) {
            return Err(Error::unavailable("it fell off the bus"));
        }
        registry().driver("real")?.open(&"real://vanishing".parse()?)
    }
}

fn run_vanishing(device: &str, cases: &[Case], recovery: Option<Duration>) -> (Summary, String) {
    let mut registry = Registry::new();
    registry.register(Arc::new(Vanishing(AtomicU32::new(0))));
    let mut options = with(device, Duration::from_secs(60));
    options.recovery = recovery;
    let mut out = Vec::new();
    let summary = run_cases(&registry, cases, &options, &mut out).unwrap();
    (summary, String::from_utf8(out).unwrap())
}

#[test]
fn hardware_that_comes_back_is_tested_further() {
    let (summary, text) = run_vanishing("vanishing://3", &[FAILS, PASSES], None);
    assert_eq!(ends(&summary), ["fail", "pass"], "{text}");
    let message = summary.results[0].verdict.message().unwrap();
    let words =
        "it then failed a health check, and works since it was opened again: the device could not be opened";
    assert!(message.contains(words), "{message}");
}

#[test]
fn hardware_that_stays_away_is_lost_and_the_rest_is_not_run() {
    let cases = [PASSES, FAILS, PASSES, PASSES];
    let (summary, text) = run_vanishing("vanishing://1000000", &cases, Some(Duration::ZERO));
    assert_eq!(ends(&summary), ["pass", "fail", "skip", "skip"], "{text}");
    assert_eq!(summary.exit, Exit::Failed);
    let reason = summary.results[3].verdict.message().unwrap();
    assert!(reason.starts_with("not run: after own.fails the device failed the health check: "), "{reason}");
    assert!(reason.contains("it fell off the bus"), "{reason}");
    assert_eq!(summary.devices[0].problem.as_ref().unwrap().name(), "lost");
    assert!(text.contains("error         vanishing://1000000 was lost"), "{text}");
}
