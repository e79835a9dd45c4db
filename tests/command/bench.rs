// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass bench`: rows, formats, mistakes, comparisons, budgets. No test looks at a time.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::Value;

use super::support::{Finished, command, finish, scratch, windlass};

const NULL: [&str; 4] = ["bench", "--quick", "--device", "hip-null://"];

fn bench(arguments: &[&str]) -> Finished {
    windlass(NULL.iter().chain(arguments))
}

/// The objects of a kind in the output of `--format jsonl`.
fn objects(output: &str, kind: &str) -> Vec<Value> {
    let objects = output.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
    objects.filter(|object| object["kind"] == kind).collect()
}

/// A file with this text.
fn file(text: &str) -> PathBuf {
    let path = scratch("jsonl");
    fs::write(&path, text).expect("a scratch file");
    path
}

#[test]
fn names_of_rows_are_those_that_older_files_have() {
    let listed = windlass(["bench", "--list"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let known = include_str!("bench_rows.txt");
    assert_eq!(listed.stdout, known, "a new name belongs into tests/command/bench_rows.txt");
}

#[test]
fn a_list_for_programs_is_an_object_for_each_row() {
    let listed = windlass(["bench", "--list", "--format", "jsonl", "dispatch/arm"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let rows: Vec<Value> =
        listed.stdout.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(rows.len(), 3);
    assert_eq!(
        (&rows[0]["row"], &rows[0]["unit"]),
        (&"dispatch/arm n=100 fence=none".into(), &"ns/dispatch".into())
    );
    for format in ["bmf", "github", "gbench"] {
        let refused = windlass(["bench", "--list", "--format", format]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
        assert!(refused.stderr.contains("table or jsonl"), "{}", refused.stderr);
    }
}

#[test]
fn every_row_works_on_the_null_hip() {
    // The null HIP of a debug build takes a second for each long transfer.
    let names = include_str!("bench_rows.txt").lines().filter(|name| !name.contains("MiB"));
    // Its kernels take no time, which completions need.
    let names: Vec<_> = names.filter(|name| !name.starts_with("completion")).collect();
    let run = windlass(NULL.iter().chain(&["--format", "jsonl"]).chain(&names));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let rows = objects(&run.stdout, "row");
    assert_eq!(rows.len(), names.len());
    for row in rows {
        if row["row"] == "semaphore/wake waiter=hot" && row["status"] == "skipped" {
            // This machine has one CPU.
            continue;
        }
        assert_eq!(row["status"], "measured", "{row}");
        assert!(row["min"].as_f64() > Some(0.0) && row["min"].as_f64() <= row["median"].as_f64(), "{row}");
        assert!(row["median"].as_f64() <= row["p99"].as_f64() && row["mad"].is_number(), "{row}");
        assert!(row["device_clock"].is_null() && row["simulated"] == true, "{row}");
    }
}

#[test]
fn completions_are_measured_where_a_kernel_takes_a_known_time() {
    let names: Vec<_> =
        include_str!("bench_rows.txt").lines().filter(|name| name.starts_with("completion")).collect();
    let run = |uri: &str| {
        let options = ["bench", "--quick", "--format", "jsonl", "--device", uri];
        let run = windlass(options.iter().chain(&names));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let rows = objects(&run.stdout, "row");
        assert_eq!(rows.len(), names.len());
        rows
    };
    for row in run("hip-null://?kernel=1ms") {
        assert_eq!((&row["status"], &row["batch"]), (&"measured".into(), &1.into()), "{row}");
        assert!(row["floor"]["min"].as_f64() > Some(0.0), "{row}");
    }
    for row in run("hip-null://") {
        assert_eq!(row["status"], "skipped", "{row}");
        assert!(row["reason"].as_str().unwrap().contains("hip-null://?kernel=1ms"), "{row}");
    }
    let wrong = windlass(["bench", "--device", "hip-null://?kernel=1", "completion"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("such as 1ms"), "{}", wrong.stderr);
}

#[test]
fn rows_say_which_numbers_are_no_gpu_s() {
    for (uri, mark) in [("hip-null://", "no kernel runs"), ("hip-sim://gfx942", "functional")] {
        let arguments = ["bench", "--quick", "--device", uri, "dispatch/replay bindings=8 n=1000 form=table"];
        let run = windlass(arguments.iter().chain(&["--format", "jsonl"]));
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let (rows, devices) = (objects(&run.stdout, "row"), objects(&run.stdout, "device"));
        assert_eq!(rows[0]["marks"][0], mark);
        assert!(rows[0]["floor"]["ratio_median"].as_f64() > Some(0.0), "{}", rows[0]);
        assert_eq!((&devices[0]["simulated"], &devices[0]["uri"]), (&Value::Bool(true), &Value::from(uri)));
        let table = windlass(arguments);
        let row = table.stdout.lines().find(|line| line.starts_with("dispatch/")).expect("a row");
        assert!(row.contains(mark), "{row}");
    }
}

#[test]
fn a_gpu_for_which_there_is_no_kernel_leaves_rows_out() {
    for (arch, status) in [("gfx1201", "measured"), ("gfx1030", "measured"), ("gfx803", "skipped")] {
        let uri = format!("hip-null://?arch={arch}");
        let run = windlass(["bench", "--quick", "--device", &uri, "--format", "jsonl", "dispatch/direct"]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let rows = objects(&run.stdout, "row");
        assert_eq!(rows[0]["status"], status, "{}", rows[0]);
        assert!(
            status == "measured" || rows[0]["reason"].as_str().unwrap().contains("gfx803"),
            "{}",
            rows[0]
        );
    }
}

#[cfg(feature = "local")]
#[test]
fn the_cpu_has_the_rows_and_no_floor_of_hip() {
    let rows = ["dispatch/oneshot bindings=2 n=1 form", "semaphore/signal", "indirect count=dynamic"];
    let run = windlass(["bench", "--quick", "--device", "local://", "--format", "jsonl"].iter().chain(&rows));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let rows = objects(&run.stdout, "row");
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["status"] == "measured" && row["simulated"] == false), "{rows:?}");
    assert!(rows[0].get("floor").is_none() && rows[1]["floor"]["name"].is_string());
}

#[test]
fn the_formats_of_other_tools_hold_their_fields() {
    let rows = ["floor/event", "semaphore/query"];
    let parsed = |format: &str| -> Value {
        let run = bench(&["--format", format, rows[0], rows[1]]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        serde_json::from_str(&run.stdout).expect("JSON")
    };
    let bmf = parsed("bmf");
    let latency = &bmf["semaphore/query @ hip-null://"]["latency"];
    assert!(["value", "lower_value", "upper_value"].iter().all(|field| latency[field].is_number()), "{bmf}");

    let github = parsed("github");
    let benchmarks = github.as_array().expect("a list");
    assert_eq!(benchmarks.len(), 2);
    for benchmark in benchmarks {
        assert!(benchmark["name"].is_string() && benchmark["value"].is_number(), "{benchmark}");
        assert!(benchmark["unit"].as_str().unwrap().starts_with("ns/"), "{benchmark}");
        assert!(benchmark["extra"].as_str().unwrap().contains("*simulated*"), "{benchmark}");
    }

    let gbench = parsed("gbench");
    assert!(gbench["context"]["num_cpus"].is_number() && gbench["context"]["devices"][0]["uri"].is_string());
    for benchmark in gbench["benchmarks"].as_array().expect("a list") {
        assert!(benchmark["real_time"].is_number() && benchmark["cpu_time"].is_number(), "{benchmark}");
        assert_eq!((&benchmark["time_unit"], &benchmark["run_type"]), (&"ns".into(), &"iteration".into()));
    }
}

#[test]
fn a_mistake_is_answered_with_the_right_names() {
    let cases: [(&[&str], &str); 5] = [
        (&["bench", "no-such-row"], "semaphore/query"),
        (&["bench", "--format", "xml"], "table, jsonl, bmf, github, gbench"),
        (&["bench", "--device", "gpu://"], "hip-sim://"),
        (&["bench", "--device", "hip-sim://gfx942?no=1"], "hardware_queues"),
        (&["bench", "--time", "fast"], "300ms"),
    ];
    for (arguments, answer) in cases {
        let run = windlass(arguments);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(answer), "{arguments:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_message_says_which_of_option_and_variable_names_a_device() {
    for (uri, answer) in [("gpu://", "hip-sim://"), ("hip-null://?no=1", "arch")] {
        let variable = finish(command().env("WINDLASS_DEVICE", uri).args(["bench", "semaphore/query"]));
        let option = windlass(["bench", "--device", uri, "semaphore/query"]);
        for (run, origin) in
            [(variable, format!("WINDLASS_DEVICE={uri}")), (option, format!("--device {uri}"))]
        {
            assert_eq!(run.code, Some(2), "{}", run.stderr);
            assert!(run.stderr.contains(&origin) && run.stderr.contains(answer), "{}", run.stderr);
        }
    }
}

#[test]
fn an_absent_device_is_a_row_with_the_reason() {
    let absent =
        ["--device", "hip://?library=/nonexistent/libamdhip64.so", "--format", "jsonl", "semaphore/query"];
    let run = bench(&absent);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let rows = objects(&run.stdout, "row");
    assert_eq!((&rows[0]["status"], &rows[1]["status"]), (&"measured".into(), &"absent".into()));
    assert!(rows[1]["reason"].as_str().unwrap().contains("/nonexistent"), "{}", rows[1]);
    let required = windlass(NULL.iter().chain(&absent).chain(&["--require"]));
    assert_eq!(required.code, Some(3), "{}", required.stderr);
    assert!(required.stderr.contains("/nonexistent"), "{}", required.stderr);
}

#[test]
fn a_call_that_fails_ends_its_row_alone() {
    let uri = "hip-sim://gfx942?fail=hipModuleLaunchKernel@2-";
    let rows = ["dispatch/direct", "transfer/copy bytes=4KiB", "semaphore/query"];
    let run = windlass(["bench", "--quick", "--device", uri, "--format", "jsonl"].iter().chain(&rows));
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("1 row failed: dispatch/direct bindings=2"), "{}", run.stderr);
    let results = objects(&run.stdout, "row");
    let status: Vec<_> = results.iter().map(|row| row["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["failed", "measured", "measured"], "{results:?}");
    assert!(results[0]["reason"].as_str().unwrap().contains("hipModuleLaunchKernel"), "{}", results[0]);
}

#[test]
fn a_submission_makes_one_call_for_each_dispatch_and_a_few_more() {
    let run = bench(&["--format", "jsonl", "dispatch/calls"]);
    let calls: Vec<_> =
        objects(&run.stdout, "row").iter().map(|row| row["median"].as_f64().expect("a number")).collect();
    let [one, thousand] = calls[..] else { panic!("{calls:?}") };
    assert_eq!(thousand - one, 999.0);
    assert!(one <= 6.0, "{one} calls for a submission of one with its wait");
}

// ---- comparisons ----

/// A line of a file, with every sample in a range of 2 % around the median.
fn line(row: &str, median: f64) -> String {
    format!(
        "{{\"kind\":\"row\",\"row\":\"{row}\",\"device\":\"hip-null://\",\"simulated\":true,\"status\":\"measured\",\
         \"unit\":\"ns/x\",\"n\":100,\"batch\":1,\"min\":{},\"median\":{median},\"p99\":{},\"mad\":{}}}\n",
        median * 0.99,
        median * 1.01,
        median * 0.005
    )
}

fn compare(old: &str, new: &str, options: &[&str]) -> Finished {
    let (old, new) = (file(old), file(new));
    let paths = [old.display().to_string(), new.display().to_string()];
    let run = windlass(
        ["bench", "compare"]
            .into_iter()
            .chain(paths.iter().map(String::as_str))
            .chain(options.iter().copied()),
    );
    let _ = (fs::remove_file(old), fs::remove_file(new));
    run
}

#[test]
fn a_row_that_became_slower_fails_a_comparison() {
    let old = [line("a", 100.0), line("b", 50.0)].concat();
    let same = compare(&old, &old, &[]);
    assert_eq!(same.code, Some(0), "{}", same.stderr);
    let slower = compare(&old, &[line("a", 110.0), line("b", 40.0)].concat(), &[]);
    assert_eq!(slower.code, Some(1), "{}", slower.stdout);
    assert!(slower.stderr.contains("slower: a @ hip-null://"), "{}", slower.stderr);
    assert!(!slower.stderr.contains("slower: b"), "{}", slower.stderr);
    assert!(slower.stdout.contains("+10.0%") && slower.stdout.contains("faster"), "{}", slower.stdout);
    let allowed = compare(&old, &[line("a", 110.0), line("b", 40.0)].concat(), &["--threshold", "15%"]);
    assert_eq!(allowed.code, Some(0), "{}", allowed.stderr);
}

#[test]
fn pairs_of_runs_show_what_the_machine_hides() {
    // Each run is on a machine of another speed, and the new build is 10 % slower in all of them.
    let runs = |factor: f64| [100.0, 180.0, 130.0].map(|time| line("a", time * factor)).concat();
    let apart = compare(&runs(1.0), &runs(1.1), &["--paired"]);
    assert_eq!(apart.code, Some(1), "{}", apart.stdout);
    assert_eq!(compare(&runs(1.0), &runs(1.0), &["--paired"]).code, Some(0));
    let few = compare(&line("a", 1.0), &line("a", 1.0), &["--paired"]);
    assert_eq!(few.code, Some(2), "{}", few.stderr);
    assert!(few.stderr.contains("at least 3 runs"), "{}", few.stderr);
}

#[test]
fn a_comparison_refuses_what_it_cannot_compare() {
    let other = compare(&line("a", 1.0), &line("b", 1.0), &[]);
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    let counted = compare(&line("a", 1.0), &line("a", 1.0).replace("ns/x", "instructions/x"), &[]);
    assert_eq!(counted.code, Some(2), "{}", counted.stderr);
    let damaged = compare("row  min\n", &line("b", 1.0), &[]);
    assert_eq!(damaged.code, Some(2), "{}", damaged.stderr);
    assert!(
        damaged.stderr.contains("line 1") && damaged.stderr.contains("--format jsonl"),
        "{}",
        damaged.stderr
    );
    let failed =
        line("a", 1.0).replace("measured", "failed").replace("\"n\":100,", "\"reason\":\"it broke\",");
    let failed = compare(&line("a", 1.0), &failed, &[]);
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    assert!(failed.stderr.contains("failed: a @ hip-null://: it broke"), "{}", failed.stderr);
}

#[test]
fn a_file_without_rows_is_refused() {
    let end = "{\"kind\":\"end\",\"load\":null}\n";
    for (new, reason) in
        [("", "the file is empty"), ("\n", "the file is empty"), (end, "the file has no row")]
    {
        let run = compare(&line("a", 1.0), new, &[]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(reason), "{}", run.stderr);
    }
}

#[test]
fn a_comparison_names_the_rows_of_one_file_only() {
    let (a, b) = (line("a", 1.0), line("b", 1.0));
    let both = [a.as_str(), &b].concat();
    for (old, new, answer) in [
        (&both, &a, "1 row of OLD is not measured in NEW: b @ hip-null://"),
        (&a, &both, "1 row of NEW is not measured in OLD: b @ hip-null://"),
    ] {
        let run = compare(old, new, &[]);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(run.stderr.contains(answer), "{}", run.stderr);
    }
    let many = compare(&a, &[&both, &line("c", 1.0)].map(String::as_str).concat(), &[]);
    assert!(many.stderr.contains("2 rows of NEW are not measured in OLD"), "{}", many.stderr);
    let other = compare(&a, &a.replace("hip-null", "local"), &[]);
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    assert!(other.stderr.contains("OLD measured hip-null://, and NEW local://"), "{}", other.stderr);
}

#[test]
fn facts_that_differ_are_said_and_change_no_exit_code() {
    let of = |commit: &str, governor: &str, library: &str| {
        let machine = format!(
            "{{\"kind\":\"machine\",\"commit\":\"{commit}\",\"cpu\":\"A\",\"governor\":{governor},\"load\":{}}}",
            library.len()
        );
        let device = format!("{{\"kind\":\"device\",\"uri\":\"hip-null://\",\"library\":\"{library}\"}}");
        format!("{machine}\n{device}\n{}", line("a", 1.0))
    };
    let run = compare(&of("123", "null", "one"), &of("456", "\"powersave\"", "other"), &[]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for difference in [
        "the commit differs: 123 in OLD, 456 in NEW",
        "the governor differs: unknown in OLD, powersave in NEW",
        "the library of hip-null:// differs: one in OLD, other in NEW",
    ] {
        assert!(run.stderr.contains(difference), "{}", run.stderr);
    }
    assert_eq!(run.stderr.lines().count(), 3, "{}", run.stderr);
}

#[test]
fn a_real_run_is_as_fast_as_itself() {
    let run = bench(&["--format", "jsonl", "semaphore/", "dispatch/calls"]);
    let same = compare(&run.stdout, &run.stdout, &[]);
    assert_eq!(same.code, Some(0), "{}", same.stderr);
}

// ---- instructions ----

fn has_valgrind() -> bool {
    let has = Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has {
        eprintln!("skipped: valgrind is not installed");
    }
    has
}

#[test]
fn a_count_above_its_budget_is_refused_by_name() {
    if !has_valgrind() {
        return;
    }
    let row = "semaphore/query";
    let run = |budget: &str| {
        let path = file(&format!("# comment\n\n{budget} hip-null:// {row}\n"));
        let run = windlass(
            ["bench", "--icount", "--budgets"]
                .map(String::from)
                .into_iter()
                .chain([path.display().to_string()]),
        );
        let _ = fs::remove_file(path);
        run
    };
    let enough = run("1000000");
    assert_eq!(enough.code, Some(0), "{}", enough.stderr);
    assert!(enough.stdout.contains("instructions/query"), "{}", enough.stdout);
    let exceeded = run("1");
    assert_eq!(exceeded.code, Some(1), "{}", exceeded.stderr);
    assert!(
        exceeded.stderr.contains(row) && exceeded.stderr.contains("its budget is 1.0"),
        "{}",
        exceeded.stderr
    );
}

#[test]
fn a_file_of_budgets_names_rows_that_are_counted() {
    if !has_valgrind() {
        return;
    }
    for (text, answer) in [
        ("7 hip-null:// no/row", "there is no row `no/row`"),
        ("7 hip-null:// semaphore/wake waiter=hot", "are not counted"),
        ("seven hip-null:// semaphore/query", "write a number, a device and a row"),
        ("7 gpu:// semaphore/query", "gpu://: "),
        ("7 hip-null://?no=1 semaphore/query", "knows"),
    ] {
        let path = file(text);
        let run =
            windlass(["bench".into(), "--icount".into(), "--budgets".into(), path.clone().into_os_string()]);
        let _ = fs::remove_file(path);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(answer) && run.stderr.contains("line 1"), "{}", run.stderr);
    }
}

#[test]
fn the_budgets_of_the_tree_name_rows_that_exist() {
    let rows: Vec<_> = include_str!("bench_rows.txt").lines().collect();
    let budgets = include_str!("../../benches/budgets.txt").lines();
    let budgets: Vec<_> = budgets.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(!budgets.is_empty());
    for budget in budgets {
        let row = budget.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
        assert!(rows.contains(&row.as_str()), "{budget}");
    }
}

// ---- peers ----

#[test]
fn a_peer_that_is_absent_is_a_row_with_advice() {
    let run = bench(&[
        "--peer",
        "iree",
        "--peer",
        "wgpu",
        "--python",
        "/nonexistent/python",
        "--format",
        "jsonl",
        "dispatch/oneshot bindings=2 n=1 form",
        "dispatch/replay bindings=2 n=1 form=direct",
    ]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let rows = objects(&run.stdout, "row");
    let reason = |peer: &str| {
        let row =
            rows.iter().find(|row| row["row"].as_str().unwrap().ends_with(peer)).expect("a row of the peer");
        row["reason"].as_str().unwrap_or_default().to_owned()
    };
    assert!(reason(" peer=iree").contains("pip install iree-base-runtime"), "{}", reason(" peer=iree"));
    // It may be installed here.
    let wgpu = reason(" peer=wgpu");
    assert!(wgpu.is_empty() || wgpu.contains("cargo install --path benches/wgpu_peer"), "{wgpu}");
}

// ---- the end ----

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_run_leaves_whole_rows() {
    let mut command = command();
    command.args([
        "bench",
        "--device",
        "hip-null://",
        "--time",
        "60s",
        "--format",
        "jsonl",
        "dispatch/calls",
        "semaphore/",
    ]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let mut output = BufReader::new(child.stdout.take().expect("its output"));
    let mut text = String::new();
    while !text.contains("\"kind\":\"row\"") {
        output.read_line(&mut text).expect("a line");
    }
    // SAFETY: the process is a child that was not waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    output.read_to_string(&mut text).expect("the rest");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert!(text.ends_with('\n'));
    assert!(objects(&text, "row").iter().all(|row| row["status"] == "measured"));
    let mut said = String::new();
    child.stderr.take().expect("its messages").read_to_string(&mut said).expect("text");
    assert!(said.contains("interrupted after"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_second_interrupt_ends_a_run_that_hangs() {
    let mut command = command();
    // The row waits for a kernel that takes an hour. Before it waits, one signal is enough to end the run in order.
    command.args(["bench", "--device", "hip-null://?kernel=3600s", "--format", "jsonl", "dispatch/direct"]);
    command.env("WINDLASS_LOG", "windlass::hip=trace");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the command starts");
    let log = &mut BufReader::new(child.stderr.take().expect("its log")).lines();
    for call in ["hipModuleLaunchKernel", "hipEventQuery"] {
        assert!(log.any(|line| line.expect("a line").contains(call)), "no {call}");
    }
    // Two signals may become one on their way, so this thread sends them until the process has ended.
    let code = loop {
        if let Some(status) = child.try_wait().expect("a status") {
            break status.code();
        }
        // SAFETY: the process is a child that was not waited for.
        unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
        std::thread::yield_now();
    };
    assert_eq!(code, Some(130));
}

#[test]
fn one_cpu_is_enough() {
    let run = finish(command().args(NULL).args(["--cpus", "one", "--format", "jsonl", "semaphore/wake"]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(objects(&run.stdout, "machine")[0]["cpus"], 1);
}
