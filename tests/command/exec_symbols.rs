// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass exec` with removed functions: the symbols that the dynamic linker finds, by `dlsym` and for linked
//! programs.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    exec::library,
    support::{Finished, command, finish, scratch},
};

/// Prints each name with whether it was found, then the result of `hipMalloc3D`.
const LOOK: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stddef.h>
struct pitched { void *ptr; size_t pitch, xsize, ysize; };
struct extent { size_t width, height, depth; };
int main(int count, char **names) {
    void *library = dlopen("libamdhip64.so", RTLD_NOW);
    if (!library) { puts(dlerror()); return 3; }
    for (int i = 1; i < count; ++i) printf("%s %d\n", names[i], dlsym(library, names[i]) != NULL);
    printf("versioned %d\n", dlvsym(library, "hipLaunchHostFunc", "hip_5.3") != NULL);
    int (*allocate)(struct pitched *, struct extent) = dlsym(library, "hipMalloc3D");
    struct pitched memory = {0};
    struct extent extent = {64, 2, 2};
    printf("hipMalloc3D %d\n", allocate(&memory, extent));
    return 0;
}
"#;

/// Calls a function that HIP 5.2 lacks if it gets an argument.
const LINKED: &str = r#"
#include <stdio.h>
extern int hipGetDeviceCount(int *), hipLaunchHostFunc(void *, void *, void *);
int main(int count, char **arguments) {
    int devices = 0, status = hipGetDeviceCount(&devices);
    printf("%d %d\n", status, devices);
    fflush(stdout);
    (void)arguments;
    return count > 1 ? hipLaunchHostFunc(NULL, NULL, NULL) : 0;
}
"#;

/// Compiles a C program; `None`, with a message, without a compiler.
fn compile(source: &str, arguments: &[&Path]) -> Option<PathBuf> {
    let (input, program) = (scratch("c"), scratch("program"));
    std::fs::write(&input, source).expect("a file");
    let mut compiler = Command::new("cc");
    // Names are looked up at their first call, unless the environment demands otherwise.
    compiler.arg("-Wl,-z,lazy").arg(&input).args(arguments).arg("-ldl").arg("-o").arg(&program);
    let Ok(output) = compiler.output() else {
        eprintln!("skipped: there is no C compiler by the name of cc");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::remove_file(input).expect("the file goes");
    Some(program)
}

fn run(library: &Path, machine: &str, program: &Path, arguments: &[&str], now: bool) -> Finished {
    let mut command = command();
    command.args(["exec", "--device", machine, "--library"]).arg(library).arg("--").arg(program);
    if now {
        command.env("LD_BIND_NOW", "1");
    }
    finish(command.args(arguments))
}

#[test]
fn dlsym_finds_what_the_machine_has() {
    let Some(library) = library() else { return };
    let Some(program) = compile(LOOK, &[]) else { return };
    let names = [
        "hipMalloc",
        "hipLaunchHostFunc",
        "hipLaunchHostFunc_spt",
        "hipMallocPitch",
        "hipMemcpyAsync_spt",
        "hipMemsetAsync_spt",
        "hipGetDevicePropertiesR0600",
        "hipExtHostAlloc",
        "hipGraphCreate",
        "windlass_simulator_marker",
    ];
    let seen = |machine: &str| {
        let finished = run(&library, machine, &program, &names, false);
        assert_eq!(finished.code, Some(0), "{machine}: {finished:?}");
        let lines = finished.stdout.lines().map(|line| line.rsplit_once(' ').expect("a name and a number"));
        lines.map(|(name, number)| (name.to_owned(), number.parse().expect("a number"))).collect::<Vec<_>>()
    };
    let without = |gone: &[&str], allocated: u32| {
        let found = names.iter().map(|name| (name.to_string(), u32::from(!gone.contains(name))));
        let versioned = u32::from(!gone.contains(&"hipLaunchHostFunc"));
        let last = [("versioned".to_owned(), versioned), ("hipMalloc3D".to_owned(), allocated)];
        found.chain(last).collect::<Vec<_>>()
    };
    assert_eq!(seen("hip-sim://"), without(&[], 0));
    let later_than_5_2 = [
        "hipLaunchHostFunc",
        "hipLaunchHostFunc_spt",
        "hipMemsetAsync_spt",
        "hipGetDevicePropertiesR0600",
        "hipExtHostAlloc",
    ];
    assert_eq!(seen("hip-sim://?hip=5.2"), without(&later_than_5_2, 0));
    assert_eq!(seen("hip-sim://?hip=6.2"), without(&["hipExtHostAlloc"], 0));
    let gone = ["hipLaunchHostFunc", "hipLaunchHostFunc_spt"];
    assert_eq!(seen("hip-sim://?without=hipLaunchHostFunc"), without(&gone, 0));
    // The library refers to the function too; the call is refused.
    assert_eq!(seen("hip-sim://?without=hipMallocPitch"), without(&["hipMallocPitch"], 801));
    std::fs::remove_file(program).expect("the program goes");
}

#[test]
fn a_linked_program_misses_what_the_machine_lacks() {
    let Some(library) = library() else { return };
    let Some(program) = compile(LINKED, &[&library]) else { return };
    let run = |machine: &str, arguments: &[&str], now: bool| run(&library, machine, &program, arguments, now);
    // 1 is hipErrorInvalidValue: the function is there.
    let whole = run("hip-sim://", &["call"], true);
    assert_eq!((whole.code, whole.stdout.as_str()), (Some(1), "0 1\n"), "{whole:?}");
    for machine in ["hip-sim://?hip=5.2", "hip-sim://?without=hipLaunchHostFunc"] {
        let bound_now = run(machine, &[], true);
        assert_eq!((bound_now.code, bound_now.stdout.as_str()), (Some(127), ""), "{bound_now:?}");
        assert!(bound_now.stderr.contains("undefined symbol: hipLaunchHostFunc"), "{bound_now:?}");
        let never_called = run(machine, &[], false);
        assert_eq!((never_called.code, never_called.stdout.as_str()), (Some(0), "0 1\n"), "{never_called:?}");
        let called = run(machine, &["call"], false);
        assert_eq!((called.code, called.stdout.as_str()), (Some(127), "0 1\n"), "{called:?}");
        assert!(called.stderr.contains("undefined symbol: hipLaunchHostFunc"), "{called:?}");
    }
    std::fs::remove_file(program).expect("the program goes");
}
