// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of the recordings that this process has begun. No recording replaces another one of the same process.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

static USED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The name itself for the first recording, `NAME.2` for the second and so on.
pub(super) fn take(name: &Path) -> PathBuf {
    let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
    let numbered = (2_u64..).map(|number| {
        let mut numbered = name.as_os_str().to_owned();
        numbered.push(format!(".{number}"));
        PathBuf::from(numbered)
    });
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let free = names.find(|name| !used.contains(name)).unwrap_or_else(|| name.to_owned());
    used.insert(free.clone());
    free
}
