// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass exec`: other programs on the simulated GPU. The program is this command itself, on `hip://`, or a shell.

use std::{
    ffi::OsStr,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::support::{Finished, command, finish, scratch};

const WINDLASS: &str = env!("CARGO_BIN_EXE_windlass");
const VADD: &str = "cts/kernels/bundles/vector_add.ccob";

/// The newest drop-in library of this build beside the command: cargo builds it with the whole workspace.
pub(crate) fn library() -> Option<PathBuf> {
    let folder = Path::new(WINDLASS).parent().expect("a folder");
    let places = [folder.join("deps/libamdhip64.so"), folder.join("libamdhip64.so")];
    let modified = |path: &PathBuf| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let newest = places.into_iter().filter(|path| path.exists()).max_by_key(modified);
    if newest.is_none() {
        eprintln!("skipped: the drop-in library is not built; `cargo test --workspace` builds it");
    }
    newest
}

/// A copy of the library in a folder of its own, without the other library beside it.
fn lonely() -> Option<PathBuf> {
    let folder = scratch("alone");
    let alone = folder.join("libamdhip64.so");
    let library = library()?;
    std::fs::create_dir_all(&folder).expect("a folder");
    let core = "libwindlass_simulator_core.so";
    let cores = [library.with_file_name("deps").join(core), library.with_file_name(core)];
    let core_beside = cores.iter().find(|path| path.exists()).expect("Cargo builds it with the library");
    std::fs::hard_link(core_beside, folder.join(core)).expect("a link");
    std::fs::hard_link(library, &alone).expect("a link");
    Some(alone)
}

fn exec<S: AsRef<OsStr>>(library: &Path, program: impl IntoIterator<Item = S>) -> Command {
    let mut command = command();
    command.args(["exec", "--library"]).arg(library).arg("--").args(program);
    command
}

fn shell(library: &Path, script: &str) -> Finished {
    finish(&mut exec(library, ["sh", "-c", script]))
}

/// Runs a kernel by this command on a GPU that it takes for a real one; `elements` may exceed the buffers.
fn run(elements: u32) -> Vec<String> {
    let fixed = [WINDLASS, "run", VADD, "--kernel", "vector_add", "--device", "hip://", "--grid", "4"];
    let mut words = fixed.map(str::to_owned).to_vec();
    let buffers = ["--block", "256", "--arg", "1024xf32=1.5", "--arg", "1024xf32=2", "--arg", "1024xf32=0"];
    words.extend(buffers.map(str::to_owned));
    words.extend(["--arg".to_owned(), format!("i32={elements}")]);
    words.extend(["--expect", "2=1024xf32=3.5"].map(str::to_owned));
    words
}

#[test]
fn a_hip_program_runs_and_its_launches_are_counted() {
    let Some(library) = library() else { return };
    let finished = finish(&mut exec(&library, run(1024)));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.stderr.ends_with("windlass exec: 1 launch and 0 faults on a simulated gfx942\n"),
        "{finished:?}"
    );
}

#[test]
fn an_inner_exec_has_counts_of_its_own() {
    let Some(library) = library() else { return };
    let inner = [WINDLASS, "exec", "--library", library.to_str().expect("text"), "--"].map(str::to_owned);
    let finished = finish(&mut exec(&library, inner.into_iter().chain(run(1024))));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let counts: Vec<_> = finished.stderr.lines().filter(|line| line.starts_with("windlass exec: ")).collect();
    let [inner, outer] = counts[..] else { panic!("{finished:?}") };
    assert_eq!(inner, "windlass exec: 1 launch and 0 faults on a simulated gfx942");
    assert!(outer.starts_with("windlass exec: nothing used the simulated GPU"), "{outer}");
}

#[test]
fn the_machine_is_what_the_device_says() {
    let Some(library) = library() else { return };
    let list = |options: &[&str], variable: &str| {
        let mut command = command();
        command.env("WINDLASS_SIM", variable).args(["exec", "--library"]).arg(&library).args(options);
        let finished = finish(command.args(["--", WINDLASS, "devices", "--json"]));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        let sources: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
        let hip =
            sources.as_array().expect("a list").iter().find(|source| source["scheme"] == "hip").expect("hip");
        hip["devices"].as_array().expect("a list").iter().filter(|device| device["simulated"] == true).count()
    };
    assert_eq!(list(&[], ""), 1);
    assert_eq!(list(&["--device", "hip-sim://gfx942?devices=3"], ""), 3);
    assert_eq!(list(&["--device", "hip-sim://?threads=1"], "gfx942?devices=2"), 2);
}

#[test]
fn a_program_sees_the_gpus_of_a_mixed_machine_in_their_order() {
    let Some(library) = library() else { return };
    let list = |visible: &str| {
        let mut command = command();
        command.env("HIP_VISIBLE_DEVICES", visible).args([
            "exec",
            "--device",
            "hip-sim://gfx942,gfx908,gfx90a",
        ]);
        command.arg("--library").arg(&library);
        let finished = finish(command.args(["--", WINDLASS, "devices", "--json"]));
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert!(finished.stderr.contains("on a simulated gfx942 + gfx908 + gfx90a"), "{finished:?}");
        let sources: serde_json::Value = serde_json::from_str(&finished.stdout).expect("JSON");
        let mut sources = sources.as_array().expect("a list").iter();
        let hip = sources.find(|source| source["scheme"] == "hip").expect("hip");
        let devices = hip["devices"].as_array().expect("a list");
        let names = devices.iter().map(|device| device["architecture"].as_str().expect("text"));
        names.map(|name| name.split(':').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(list("0,1,2"), ["gfx942", "gfx908", "gfx90a"]);
    assert_eq!(list("2,1"), ["gfx90a", "gfx908"]);
}

#[test]
fn exit_codes_and_signals_are_passed_on() {
    let Some(library) = library() else { return };
    let nothing = "windlass exec: nothing used the simulated GPU";
    for (script, code, said) in [
        ("exit 0", 0, nothing),
        ("exit 7", 7, nothing),
        ("exit 255", 255, nothing),
        ("kill -KILL $$", 137, "the program was ended by SIGKILL"),
        ("kill -SEGV $$", 139, "the program was ended by SIGSEGV"),
    ] {
        let finished = shell(&library, script);
        assert_eq!(finished.code, Some(code), "{script}: {finished:?}");
        let last = finished.stderr.lines().last().unwrap_or_default();
        assert!(last.contains(said) && finished.stdout.is_empty(), "{script}: {finished:?}");
    }
}

#[test]
fn a_check_fails_what_faulted_or_used_no_gpu() {
    let Some(library) = library() else { return };
    let check = |device: &str, script: &str| {
        let mut command = command();
        command.args(["exec", "--check", "--device", device, "--library"]).arg(&library);
        finish(command.args(["--", "sh", "-c", script]))
    };
    let right = run(1024).join(" ");
    let faulty = format!("{}; true", run(1 << 20).join(" ").replace("--grid 4", "--grid 64"));
    let refused = format!("{right}; true");
    for (device, script, code, said) in [
        ("hip-sim://", &*right, 0, "windlass exec: 1 launch and 0 faults on a simulated gfx942"),
        ("hip-sim://", &faulty, 1, "error: --check: a kernel, a copy or a fill faulted"),
        ("hip-sim://gfx942?fail=hipModuleLaunchKernel", &refused, 1, "error: --check: a launch was refused"),
        ("hip-sim://", "true", 4, "error: --check: no process used the simulated GPU"),
        // The program's own code says more.
        ("hip-sim://", "exit 7", 7, "windlass exec: nothing used"),
        ("hip-sim://", &format!("{faulty}; exit 7"), 7, "1 fault on a simulated gfx942"),
    ] {
        let finished = check(device, script);
        assert_eq!(finished.code, Some(code), "{script}: {finished:?}");
        let last = finished.stderr.lines().last().unwrap_or_default();
        assert!(last.contains(said), "{script}: {finished:?}");
    }
    assert_eq!(finish(&mut exec(&library, ["sh", "-c", &faulty])).code, Some(0));
}

#[test]
fn what_happened_before_a_violent_end_is_known() {
    let Some(library) = library() else { return };
    let quoted = |elements| run(elements).join(" ");
    // The second run reads far past the ends of its buffers.
    let script =
        format!("{}; {} ; kill -KILL $$", quoted(1024), quoted(1 << 24).replace("--grid 4", "--grid 65536"));
    let finished = shell(&library, &script);
    assert_eq!(finished.code, Some(137), "{finished:?}");
    let last = finished.stderr.lines().last().unwrap_or_default();
    let expected = "windlass exec: 2 launches and 1 fault on a simulated gfx942, by 2 processes; \
                    the program was ended by SIGKILL";
    assert_eq!(last, expected, "{finished:?}");
}

#[test]
fn programs_find_the_library_by_every_usual_way_and_the_folder_goes() {
    let Some(library) = lonely() else { return };
    let rocm = scratch("rocm");
    std::fs::create_dir_all(rocm.join("lib")).expect("a folder");
    std::fs::create_dir_all(rocm.join("llvm")).expect("a folder");
    for name in ["lib/libamdhip64.so.6", "lib/libhsa-runtime64.so"] {
        std::fs::write(rocm.join(name), "not a library").expect("a file");
    }
    let script = "echo \"$ROCM_PATH\"; ls -A \"$ROCM_PATH\"; ls -A \"$ROCM_PATH/lib\"; readlink -f \"$TRITON_LIBHIP_PATH\"; \
                  readlink -f \"$ROCM_PATH/lib/libamdhip64.so.6\"; echo \"$LD_LIBRARY_PATH\"";
    let mut command = exec(&library, ["sh", "-c", script]);
    let finished = finish(command.env("LD_LIBRARY_PATH", "/own").env("ROCM_PATH", &rocm));
    let lines: Vec<_> = finished.stdout.lines().collect();
    let [folder, top @ .., first, second, path] = &lines[..] else { panic!("{finished:?}") };
    let names = [
        "libamdhip64.so",
        "libamdhip64.so.5",
        "libamdhip64.so.6",
        "libamdhip64.so.7",
        "libamdhip64.so.8",
        "libhsa-runtime64.so",
        "libwindlass_simulator_core.so",
    ];
    let expected: Vec<_> = ["lib", "llvm", "windlass-tally"].into_iter().chain(names).collect();
    assert_eq!(top, expected, "{finished:?}");
    let real = std::fs::canonicalize(&library).expect("a path");
    assert_eq!((Path::new(first), Path::new(second)), (&*real, &*real));
    assert_eq!(*path, format!("{folder}/lib:/own"));
    assert!(!Path::new(folder).exists(), "{folder} is still there");
    std::fs::remove_dir_all(rocm).expect("the folder goes");
    std::fs::remove_dir_all(library.parent().expect("a folder")).expect("the folder goes");
}

/// The other libraries of a ROCm stay, and its RCCL gives way to the simulator's.
#[test]
fn programs_of_rccl_find_the_simulators() {
    let Some(library) = lonely() else { return };
    let own = library.parent().expect("a folder");
    let rccl = own.join("librccl.so");
    std::fs::write(&rccl, b"librccl.so.1\0windlass_simulator_marker\0").expect("a file");
    let rocm = own.join("rocm");
    std::fs::create_dir_all(rocm.join("lib")).expect("a folder");
    for name in ["lib/librccl.so", "lib/librccl.so.1"] {
        std::fs::write(rocm.join(name), "ROCm's").expect("a file");
    }
    let script = "cd \"$ROCM_PATH/lib\"; readlink -f librccl.so librccl.so.1";
    let finished = finish(exec(&library, ["sh", "-c", script]).env("ROCM_PATH", &rocm));
    let real = std::fs::canonicalize(&rccl).expect("a path");
    let found: Vec<_> = finished.stdout.lines().map(PathBuf::from).collect();
    assert_eq!(found, [real.clone(), real], "{finished:?}");
    std::fs::remove_dir_all(own).expect("the folder goes");
}

/// hipRTC has the versions of HIP, and ROCm's gives way to the simulator's.
#[test]
fn programs_of_hiprtc_find_the_simulators() {
    let Some(library) = lonely() else { return };
    let own = library.parent().expect("a folder");
    let rtc = own.join("libhiprtc.so");
    std::fs::write(&rtc, b"libhiprtc.so.7\0windlass_simulator_marker\0").expect("a file");
    let rocm = own.join("rocm");
    std::fs::create_dir_all(rocm.join("lib")).expect("a folder");
    for name in ["lib/libhiprtc.so.7", "lib/libhiprtc-builtins.so.7"] {
        std::fs::write(rocm.join(name), "ROCm's").expect("a file");
    }
    let script = "cd \"$ROCM_PATH/lib\"; readlink -f libhiprtc.so libhiprtc.so.5 libhiprtc.so.6 libhiprtc.so.7 libhiprtc.so.8 \
                  libhiprtc-builtins.so.7";
    let finished = finish(exec(&library, ["sh", "-c", script]).env("ROCM_PATH", &rocm));
    let real = |path: &Path| std::fs::canonicalize(path).expect("a path");
    let found: Vec<_> = finished.stdout.lines().map(PathBuf::from).collect();
    let mut expected = vec![real(&rtc); 5];
    expected.push(real(&rocm.join("lib/libhiprtc-builtins.so.7")));
    assert_eq!(found, expected, "{finished:?}");
    std::fs::remove_dir_all(own).expect("the folder goes");
}

#[test]
fn programs_of_hsa_find_the_library_of_hsa() {
    let Some(library) = lonely() else { return };
    let own = library.parent().expect("a folder");
    let hsa = own.join("libhsa_runtime64.so");
    std::fs::write(&hsa, b"libhsa-runtime64.so.1\0windlass_simulator_marker\0").expect("a file");
    let rocm = own.join("rocm");
    std::fs::create_dir_all(rocm.join("lib")).expect("a folder");
    for name in ["lib/libhsa-runtime64.so", "lib/libhsa-runtime64.so.1", "lib/libhsa-runtime64.so.1.15.0"] {
        std::fs::write(rocm.join(name), "ROCm's").expect("a file");
    }
    let script = "cd \"$ROCM_PATH/lib\"; readlink -f libhsa-runtime64.so libhsa-runtime64.so.1 libhsa-runtime64.so.1.15.0";
    let finished = finish(exec(&library, ["sh", "-c", script]).env("ROCM_PATH", &rocm));
    let real = |path: &Path| std::fs::canonicalize(path).expect("a path");
    let found: Vec<_> = finished.stdout.lines().map(PathBuf::from).collect();
    let others = real(&rocm.join("lib/libhsa-runtime64.so.1.15.0"));
    assert_eq!(found, [real(&hsa), real(&hsa), others], "{finished:?}");
    // AMD's own library is not the simulator's.
    std::fs::write(&hsa, b"\0windlass\0").expect("a file");
    let finished = finish(exec(&library, ["sh", "-c", script]).env("ROCM_PATH", &rocm));
    assert!(finished.stdout.starts_with(rocm.join("lib").to_str().expect("text")), "{finished:?}");
    std::fs::remove_dir_all(own).expect("the folder goes");
}

#[test]
fn schedules_are_counted_and_each_is_written_down() {
    let Some(library) = library() else { return };
    let folder = scratch("logs");
    std::fs::create_dir_all(&folder).expect("a folder");
    let log = folder.join("run.log");
    let run = run(1024).join(" ");
    let closing = |device: String, script: String| {
        let mut command = command();
        command
            .args(["exec", "--device", &device, "--library"])
            .arg(&library)
            .args(["--", "sh", "-c", &script]);
        let finished = finish(&mut command);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        finished.stderr.lines().last().unwrap_or_default().to_owned()
    };
    let device = format!("hip-sim://gfx942?seed=7&record={}", log.display());
    let one = closing(device.clone(), run.clone());
    assert!(
        one.contains("1 launch and 0 faults on a simulated gfx942; 1 schedule under seed 7 with "),
        "{one}"
    );
    assert!(one.ends_with(" choices"), "{one}");
    assert!(closing("hip-sim://".to_owned(), run.clone()).ends_with("on a simulated gfx942"));
    let two = closing(device, format!("{run}; {run}"));
    assert!(two.contains("by 2 processes; ") && two.contains(" under seed 7 with "), "{two}");
    // The log of the previous run is replaced; the logs of one run are kept.
    let mut names: Vec<_> =
        std::fs::read_dir(&folder).expect("a folder").map(|log| log.expect("a log").path()).collect();
    names.sort();
    assert_eq!(names, [log, folder.join("run.log.1")]);
    for name in names {
        let text = std::fs::read_to_string(&name).expect("a log");
        assert!(text.contains("hipModuleLaunchKernel"), "{}: {text}", name.display());
    }
    std::fs::remove_dir_all(folder).expect("the folder goes");
}

#[test]
fn a_request_to_end_reaches_the_program() {
    let Some(library) = library() else { return };
    for (signal, code) in [("-TERM", 143), ("-INT", 130), ("-QUIT", 131), ("-HUP", 129)] {
        // The program ends by itself later, so that a signal that is lost fails the test.
        let mut command = exec(&library, ["sh", "-c", "ulimit -c 0; echo \"$ROCM_PATH\"; exec sleep 5"]);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
        let mut folder = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut folder).expect("a line");
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(killed.expect("kill starts").success());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(code), "{signal}: {output:?}");
        assert!(!Path::new(folder.trim_end()).exists(), "{folder} is still there");
    }
}

#[test]
fn schedules_that_cannot_be_read_or_written_are_refused_before_the_start() {
    let Some(library) = library() else { return };
    let folder = scratch("logs");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = |name: &str| folder.join(name).to_str().expect("text").to_owned();
    std::fs::write(file("empty"), "").expect("a file");
    std::fs::write(file("binary"), [0xff; 64]).expect("a file");
    std::fs::write(file("cut"), "windlass schedule 1 seed 7\ncall nobody\nstep\n").expect("a file");
    let folder_name = folder.to_str().expect("text").to_owned();
    for (settings, said) in [
        (format!("replay={}", file("none")), "none"),
        (format!("replay={}", file("empty")), "first line"),
        (format!("replay={}", file("binary")), "UTF-8"),
        (format!("replay={}", file("cut")), "line 2"),
        (format!("replay={folder_name}"), "regular file"),
        ("replay=/dev/zero".to_owned(), "regular file"),
        (format!("seed=1&record={}", file("none/log")), "record="),
        (format!("seed=1&record={folder_name}"), "record="),
    ] {
        let mut command = command();
        command.args(["exec", "--device", &format!("hip-sim://gfx942?{settings}"), "--library"]);
        let finished = finish(command.arg(&library).args(["--", "echo", "started"]));
        assert_eq!(finished.code, Some(2), "{settings}: {finished:?}");
        assert!(finished.stderr.contains(said), "{settings}: {finished:?}");
        assert!(!finished.stdout.contains("started"), "{settings}: {finished:?}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn mistakes_are_named() {
    let text = scratch("so");
    std::fs::write(&text, "no library").expect("a file");
    let text = text.to_str().expect("text");
    for (arguments, said) in [
        (&["exec"][..], "COMMAND"),
        (&["exec", "--", "no-such-program-anywhere"], "cargo build --release --workspace"),
        (&["exec", "--library", "/no/such", "--", "true"], "cargo build --release --workspace"),
        (&["exec", "--library", text, "--", "true"], "not the simulator's"),
        (&["exec", "--device", "hip://", "--", "true"], "hip-sim://"),
        (&["exec", "--device", "hip-sim://gfx1250", "--", "true"], "gfx942"),
        (&["exec", "--device", "hip-sim://1", "--", "true"], "HIP_VISIBLE_DEVICES=1"),
        (&["exec", "--device", "hip-sim://gfx942?colour=red", "--", "true"], "devices"),
        (&["exec", "--device", "hip-sim://gfx942,gfx90a?devices=3", "--", "true"], "devices=2"),
    ] {
        // Under another name, without the library beside it.
        let folder = scratch("bin");
        std::fs::create_dir_all(&folder).expect("a folder");
        let lonely = folder.join("windlass");
        std::fs::hard_link(WINDLASS, &lonely).expect("a link");
        let finished = finish(Command::new(&lonely).args(arguments).env_remove("WINDLASS_SIM"));
        std::fs::remove_dir_all(&folder).expect("the folder goes");
        assert_eq!(finished.code, Some(2), "{arguments:?}: {finished:?}");
        assert!(finished.stderr.contains(said), "{arguments:?}: {finished:?}");
    }
    let Some(library) = library() else { return };
    let finished = finish(&mut exec(&library, ["no-such-program-anywhere"]));
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert!(finished.stderr.contains("cannot run no-such-program-anywhere"), "{finished:?}");
    let colon = scratch("a:b");
    std::fs::create_dir_all(&colon).expect("a folder");
    let finished = finish(exec(&library, ["true"]).env("TMPDIR", &colon));
    std::fs::remove_dir_all(&colon).expect("the folder goes");
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert!(finished.stderr.contains("TMPDIR"), "{finished:?}");
    for folder in ["/nonexistent", "/proc"] {
        let finished = finish(exec(&library, ["true"]).env("TMPDIR", folder));
        assert_eq!(finished.code, Some(2), "{finished:?}");
        assert!(finished.stderr.contains(folder) && finished.stderr.contains("TMPDIR"), "{finished:?}");
    }
}

#[test]
fn the_folder_may_have_any_name_that_the_loader_can_find() {
    let Some(library) = library() else { return };
    for (name, works) in
        [("with space", true), ("\u{e4}", true), ("$ORIGIN", false), ("${LIB}", false), ("a;b", false)]
    {
        let folder = scratch(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let finished = finish(exec(&library, run(1024)).env("TMPDIR", &folder));
        std::fs::remove_dir_all(&folder).expect("the folder goes");
        if works {
            assert_eq!(finished.code, Some(0), "{name}: {finished:?}");
            assert!(finished.stderr.contains("1 launch and 0 faults"), "{name}: {finished:?}");
        } else {
            assert_eq!(finished.code, Some(2), "{name}: {finished:?}");
            assert!(
                finished.stderr.contains("TMPDIR") && finished.stderr.contains(name),
                "{name}: {finished:?}"
            );
        }
    }
}

/// A program of rocminfo's name, which looks in the same places as rocminfo 5.2 to 6.4.
#[test]
fn rocminfo_sees_a_kernel_driver_and_others_where_they_ask() {
    let Some(library) = library() else { return };
    let folder = scratch("kernel-driver");
    std::fs::create_dir_all(&folder).expect("a folder");
    let script = "#!/bin/sh\nlsmod | grep amdgpu\n[ -w /dev/kfd ] && echo opened\ncat /sys/module/amdgpu/initstate\n\
                  [ -c /dev/null ] && echo \"$1\"\nexit 7\n";
    let text = folder.join("script");
    std::fs::write(&text, script).expect("a script");
    for (name, option, sees) in
        [("rocminfo", None, true), ("other", None, false), ("other", Some("--kernel-driver"), true)]
    {
        let program = folder.join(name);
        // Written by another process: a child of a concurrent test could hold a file open that this process writes.
        let made = Command::new("install").args(["-m", "755"]).arg(&text).arg(&program).status();
        assert!(made.expect("install").success());
        let mut command = command();
        command.args(["exec", "--library"]).arg(&library).args(option).arg("--").arg(&program).arg("a word");
        let finished = finish(&mut command);
        if finished.stderr.contains("needs a mount namespace") {
            eprintln!("skipped: this machine gives no mount namespaces: {}", finished.stderr);
            return;
        }
        assert_eq!(finished.code, Some(7), "{finished:?}");
        assert!(finished.stdout.contains("a word\n"), "/dev has lost what it had: {finished:?}");
        if !Path::new("/dev/kfd").exists() {
            let told = ["simulated by Windlass\n", "opened\n", "live\n"];
            assert_eq!(
                told.map(|line| finished.stdout.contains(line)),
                [sees; 3],
                "{name} {option:?}: {finished:?}"
            );
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

/// ROCm's own program, if it is installed.
#[test]
fn the_installed_rocminfo_lists_the_simulated_agents() {
    let Some(library) = library() else { return };
    if !library.with_file_name("libhsa_runtime64.so").exists() || Command::new("rocminfo").output().is_err() {
        eprintln!("skipped: rocminfo is not installed, or the simulated HSA is not built");
        return;
    }
    let mut command = command();
    command
        .args(["exec", "--device", "hip-sim://gfx942?devices=2", "--library"])
        .arg(&library)
        .args(["--", "rocminfo"]);
    let finished = finish(&mut command);
    if finished.stderr.contains("needs a mount namespace") {
        eprintln!("skipped: this machine gives no mount namespaces: {}", finished.stderr);
        return;
    }
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(finished.stdout.matches("Simulated MI300X (gfx942)").count(), 2, "{finished:?}");
    assert!(finished.stdout.contains("amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"), "{finished:?}");
}

#[test]
fn variables_serve_programs_that_somebody_else_starts() {
    let Some(library) = library() else { return };
    let mut command = command();
    command.args(["exec", "--print-env", "--library"]).arg(&library);
    let mut holder = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a start");
    let mut lines = BufReader::new(holder.stdout.take().expect("a pipe")).lines();
    let mut answer = || -> serde_json::Value {
        let line = lines.next().expect("a line").expect("text");
        serde_json::from_str(&line).expect("JSON")
    };
    let variables = answer();
    let variables = variables.as_object().expect("an object");
    let folder = variables["ROCM_PATH"].as_str().expect("a folder").to_owned();
    let mut question = holder.stdin.take().expect("a pipe");
    for (elements, faults) in [(1024, 0), (1 << 20, 1)] {
        // More work-items than the buffers have elements.
        let words = run(elements).into_iter().map(|word| if word == "4" { "64".to_owned() } else { word });
        let words: Vec<_> = words.collect();
        let mut program = Command::new(&words[0]);
        program.args(&words[1..]);
        for (name, value) in variables {
            match value.as_str() {
                Some(value) => program.env(name, value),
                None => program.env_remove(name),
            };
        }
        let finished = finish(&mut program);
        assert_eq!(finished.code, Some(i32::from(faults > 0)), "{finished:?}");
        question.write_all(format!("after {elements}\n").as_bytes()).expect("a question");
        let counts = answer();
        assert_eq!(counts["question"], format!("after {elements}"), "{counts}");
        assert_eq!(counts["faults"], faults, "{counts}");
        let reports = counts["reports"].as_array().expect("a list");
        assert_eq!(reports.len(), faults, "{counts}");
        assert!(reports.iter().all(|report| report.as_str().is_some_and(|text| text.contains("vector_add"))));
    }
    drop(question);
    assert!(holder.wait().expect("an end").success());
    assert!(!Path::new(&folder).exists(), "{folder} is still there");
}
