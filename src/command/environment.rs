// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of environment variables. `docs/environment.md` holds the same table.

/// Name, effect, example.
const VARIABLES: &[[&str; 3]] = &[
    [
        "WINDLASS_DEVICE",
        "the device that serves where none is named, as a URI; without it the first real GPU does",
        "hip-sim://gfx942",
    ],
    [
        "WINDLASS_HIP_LIBRARY",
        "the HIP library of hip://: a file, a folder that holds one, or a name to search for; nothing else is tried then",
        "/opt/rocm/lib/libamdhip64.so.7",
    ],
    [
        "WINDLASS_LOG",
        "what is logged to standard error: a level, or target=level pairs with commas between; targets are \
         windlass::queue, windlass::hip, windlass::codeobject, windlass::sim",
        "windlass::hip=trace",
    ],
    [
        "WINDLASS_SIM",
        "what a simulated machine consists of where the URI does not say, and for the drop-in libraries",
        "gfx942?devices=2&seed=7",
    ],
    [
        "WINDLASS_TALLY",
        "a file to which the drop-in libraries add launches and faults; windlass exec makes it",
        "/tmp/tally",
    ],
    [
        "WINDLASS_AMD_HIP",
        "the folder of AMD's HIP runtimes that simulator/interop/amd-hip unpacks and windlass exec --hip amd finds, each in a \
         folder named by its version; without it target/amd-hip",
        "/var/cache/amd-hip",
    ],
    [
        "WINDLASS_FIXTURES",
        "the folder of real inputs for tests; without it those tests are skipped",
        "../shared/fixtures",
    ],
    [
        "HIP_VISIBLE_DEVICES",
        "the GPUs that HIP shows, by number or UUID, with commas between; HIP itself reads it",
        "0,2",
    ],
    [
        "ROCM_PATH",
        "where ROCm is installed: its lib folder is searched for HIP last; without it HIP_PATH, else /opt/rocm",
        "/opt/rocm-7.1.0",
    ],
];

/// The table as Markdown.
pub(crate) fn table() -> String {
    let mut text = String::from("| variable | what it does | example |\n|---|---|---|\n");
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
