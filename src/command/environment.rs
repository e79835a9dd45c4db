// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of environment variables. `docs/environment.md` holds the same table.

/// Name, effect, example.
pub(super) const VARIABLES: &[[&str; 3]] = &[
    [
        "WINDLASS_DEVICE",
        "the device for programs that name none, as a URI; the default is the first real GPU",
        "hip-sim://gfx942",
    ],
    [
        "WINDLASS_HIP_LIBRARY",
        "the HIP library of hip://: a file, a folder that holds one, or a name to search for; no other library is tried",
        "/opt/rocm/lib/libamdhip64.so.7",
    ],
    [
        "WINDLASS_RCCL_LIBRARY",
        "the RCCL library for collectives over hip://: a file, a folder that holds one, or a name to search for; no other library is tried",
        "/opt/rocm/lib/librccl.so.1",
    ],
    [
        "WINDLASS_LIBRARY",
        "the libwindlass.so of the Python package; the default is the one that the wheel installs",
        "target/release/libwindlass.so",
    ],
    [
        "WINDLASS_LOG",
        "the log on standard error: a level, or target=level pairs separated by commas; targets are \
         windlass::queue, windlass::device, windlass::hip, windlass::rccl, windlass::local, windlass::shuffle, windlass::record, windlass::codeobject, \
         windlass::exec, windlass::sim",
        "windlass::hip=trace",
    ],
    [
        "WINDLASS_SIM",
        "the simulated machine, for keys that the URI omits, and for the drop-in libraries",
        "gfx942?devices=2&seed=7",
    ],
    [
        "WINDLASS_TALLY",
        "a file to which the drop-in libraries add launches and faults; windlass exec makes it",
        "/tmp/tally",
    ],
    [
        "WINDLASS_RTC_CLANG",
        "the clang of the simulated GPU's hipRTC, with lld beside it; no other clang is tried",
        "/usr/lib/llvm-19/bin/clang",
    ],
    [
        "WINDLASS_RTC_SECONDS",
        "the seconds after which hipRTC stops a clang that has not ended; the default is 600",
        "60",
    ],
    [
        "WINDLASS_AMD_HIP",
        "the folder of AMD's HIP runtimes, each in a subfolder named by its version: simulator/interop/amd-hip unpacks them and windlass exec --hip amd finds them; the default is target/amd-hip",
        "/var/cache/amd-hip",
    ],
    [
        "WINDLASS_MGPU_ERRORS",
        "what libwindlass_mgpu.so does after a failure, which it tells on standard error: exit (the default), continue or abort",
        "continue",
    ],
    [
        "WINDLASS_FIXTURES",
        "the folder of real inputs for tests; without it those tests are skipped",
        "../shared/fixtures",
    ],
    [
        "HIP_VISIBLE_DEVICES",
        "the GPUs that HIP shows, by number or UUID, separated by commas; HIP itself reads it",
        "0,2",
    ],
    [
        "ROCM_PATH",
        "the folder of ROCm, whose lib folder is searched last for HIP; the default is HIP_PATH, else /opt/rocm",
        "/opt/rocm-7.1.0",
    ],
];

/// The table as Markdown.
pub(crate) fn table() -> String {
    let mut text = String::from("| variable | effect | example |\n|---|---|---|\n");
    for [name, meaning, example] in VARIABLES {
        text.push_str(&format!("| `{name}` | {meaning} | `{example}` |\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_documentation_has_the_same_table() {
        let page = include_str!("../../docs/environment.md");
        assert!(
            page.contains(&super::table()),
            "docs/environment.md must hold what `windlass help environment` prints"
        );
    }
}
