// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions of HIP that the driver calls, by its source.

use std::{collections::BTreeSet, fs, path::Path};

use windlass_hip_sys::EntryPoints;

use crate::world::World;

/// The functions that the driver's source calls as methods of a table, in alphabetical order.
pub(crate) fn functions() -> BTreeSet<&'static str> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("drivers/hip/src");
    let mut called = BTreeSet::new();
    for entry in fs::read_dir(&folder).expect("the driver's source") {
        let path = entry.expect("an entry of the folder").path();
        assert!(path.is_file(), "{} is not looked into", path.display());
        called.extend(calls(&fs::read_to_string(&path).expect("a source file")));
    }
    called
}

/// The text between a full stop and a parenthesis, if it is a name of HIP's.
fn calls(text: &str) -> impl Iterator<Item = &'static str> {
    text.split('.').filter_map(|after| {
        let name = after.split('(').next().filter(|name| name.len() < after.len())?;
        EntryPoints::NAMES.iter().copied().find(|known| *known == name)
    })
}

/// Functions that return a thread's latest error, or the name of an error, and cannot fail.
pub(crate) const ASKS_FOR_ERRORS: [&str; 1] = ["hipGetLastError"];

#[test]
fn calls_are_found_in_source() {
    let text = "api.hipInit(0); self.api\n    .hipFree(p); hipMalloc(x); .hipSetDevice; .hipNothing(1)";
    assert_eq!(calls(text).collect::<Vec<_>>(), ["hipInit", "hipFree"]);
    let all = functions();
    for needed in ["hipModuleLaunchKernel", "hipMemcpyAsync", "hipEventRecord", "hipMalloc"] {
        assert!(all.contains(needed), "{needed} is not in {all:?}");
    }
}

/// Functions that tests of their own make fail, or call: `drivers/hip/tests/suite/profiling.rs` for the times of profiles,
/// `drivers/hip/tests/suite/external_timepoints.rs` for the streams of other libraries, and
/// `drivers/hip/tests/suite/channels/` for the wait of a group that cannot record its end.
const FAILS_ELSEWHERE: [&str; 8] = [
    "hipEventElapsedTime",
    "hipExtMallocWithFlags",
    "hipGetStreamDeviceId",
    "hipStreamGetDevice",
    "hipStreamIsCapturing",
    "hipStreamSynchronize",
    "hipStreamWaitValue64",
    "hipStreamWriteValue64",
];

/// A call that no run of the program makes would be untested.
#[test]
fn the_program_makes_every_call_of_the_driver_in_some_world() {
    let mut missing = functions();
    for name in ASKS_FOR_ERRORS.into_iter().chain(FAILS_ELSEWHERE) {
        assert!(missing.remove(name), "{name} is excused and not called");
    }
    for world in World::ALL {
        let bench = world.bench();
        bench.run().assert_healthy(world);
        bench.wait_until_released(&format!("a healthy run, {world:?}"), <[_]>::is_empty);
        for (name, _) in bench.interposer.calls() {
            missing.remove(name);
        }
    }
    assert!(
        missing.is_empty(),
        "the driver calls {missing:?}; let the program of this test do so in some world"
    );
}
