// SPDX-License-Identifier: MIT OR Apache-2.0
//! One HIP library: its version, and the functions that it lacks. It is loaded into the process that examines it.

use std::path::Path;

use serde_json::{Value, json};
use windlass_hip_sys::{Api, Source};

/// Loads a library by its path, or by its name in the system's search.
pub(super) fn examine(name: &str) -> Value {
    // SAFETY: the library has the name of HIP's, in a folder in which Windlass looks for HIP, or the user named it as HIP.
    match unsafe { Api::load(&Source::Library(name.into())) } {
        Ok(api) => {
            let origin = api.origin();
            json!({
                "path": origin.path.as_deref().map(|path| path.display().to_string()),
                "version": origin.version.map(|version| version.to_string()),
                "simulated": origin.simulated,
                "missing": api.missing(),
            })
        }
        Err(error) => {
            let reasons = error.attempts().iter().map(|attempt| attempt.reason.to_string());
            json!({ "problem": reasons.collect::<Vec<_>>().join("; ") })
        }
    }
}

/// The build id of a library, by which its maker finds its symbols.
#[cfg(target_os = "linux")]
pub(super) fn build_id(path: &Path) -> Option<String> {
    use object::Object;

    /// No HIP library is larger. A file that is must not cost this machine's memory.
    const LARGEST: u64 = 1 << 30;
    let is_small = std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() <= LARGEST);
    let bytes = is_small.then(|| std::fs::read(path).ok())??;
    let file = object::File::parse(&*bytes).ok()?;
    let id = file.build_id().ok()??;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn build_id(_path: &Path) -> Option<String> {
    None
}
