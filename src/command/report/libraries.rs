// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every HIP library that a search finds, not only the first, and why the others do not load.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use windlass_hip_sys::Search;

use super::{
    library,
    part::{End, Found},
    worker,
};

/// The time for one library.
const LIMIT: Duration = Duration::from_secs(10);

/// Asks each candidate in a process of its own.
pub(super) fn run(limit: Duration, say: &dyn Fn(String)) -> Found {
    let until = Instant::now() + limit;
    let (mut libraries, mut absent) = (Vec::<Value>::new(), Vec::new());
    let mut worst = End::Done;
    for candidate in candidates() {
        say(candidate.name.display().to_string());
        let left = LIMIT.min(until.saturating_duration_since(Instant::now()));
        let name = candidate.name.to_string_lossy().into_owned();
        let mut answer = match worker::ask("library", &name, left) {
            Ok(answer) => answer,
            Err(silence) => {
                worst = silence.stopped.into();
                json!({ "problem": silence.message, "stopped": silence.stopped })
            }
        };
        // The system's message begins with the library that is not there: this one, or one that it needs.
        let is_absent = answer["problem"].as_str().is_some_and(|problem| problem.starts_with(&name));
        if is_absent && !candidate.is_file && answer["stopped"].is_null() {
            absent.push(json!({ "name": name, "reason": answer["problem"] }));
            continue;
        }
        let path = answer["path"].as_str().map_or_else(|| candidate.name.clone(), PathBuf::from);
        let file = fs::canonicalize(&path).unwrap_or(path);
        let key = Value::from(file.display().to_string());
        if let Some(names) = known(&mut libraries, &key) {
            names.push(name.into());
            continue;
        }
        answer["path"] = key;
        answer["names"] = json!([name]);
        answer["found"] = candidate.found.into();
        answer["build_id"] = library::build_id(&file).into();
        libraries.push(answer);
    }
    let message = match libraries.len() {
        0 => "no HIP library was found".to_owned(),
        count => format!("{} found", crate::command::input::count(count, "library", "libraries")),
    };
    Found::new(worst, message, json!({ "libraries": libraries, "not_found": absent }))
}

/// The names of a library that is in the list already.
fn known<'a>(libraries: &'a mut [Value], path: &Value) -> Option<&'a mut Vec<Value>> {
    libraries.iter_mut().find(|library| library["path"] == *path)?["names"].as_array_mut()
}

/// A name under which a library may be found.
struct Candidate {
    name: PathBuf,
    found: &'static str,
    is_file: bool,
}

/// The library that the environment names, the names of the system's search, and the files of ROCm's folders.
fn candidates() -> Vec<Candidate> {
    let search = Search::from_environment();
    let candidate = |name: PathBuf, found| {
        let is_file = name.components().count() > 1 && fs::symlink_metadata(&name).is_ok();
        Candidate { name, found, is_file }
    };
    let named = search.variable.iter().map(|name| candidate(name.into(), "WINDLASS_HIP_LIBRARY"));
    let by_name = search.names.iter().map(|name| candidate(name.into(), "the system's search"));
    let in_folder = |folder: &Path| {
        let paths: Vec<_> = search.names.iter().map(|name| folder.join(name)).collect();
        paths.into_iter().map(|path| candidate(path, "a folder of ROCm"))
    };
    let in_folders = search.folders.iter().flat_map(|folder| in_folder(folder));
    named.chain(by_name).chain(in_folders.filter(|candidate| candidate.is_file)).collect()
}
