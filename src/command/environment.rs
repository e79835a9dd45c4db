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
