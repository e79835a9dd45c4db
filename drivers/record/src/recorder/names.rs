// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of recordings that this process is writing. A name in use gets a number.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

static USED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A name that no other recording of this process uses while this lives.
pub(super) struct Taken(PathBuf);

impl Taken {
    /// The name itself, or `NAME.2`, `NAME.3` and so on while devices record to those before.
    pub(super) fn new(name: &Path) -> Self {
        let mut used = USED.lock().unwrap_or_else(PoisonError::into_inner);
        let numbered = (2_u64..).map(|number| {
            let mut numbered = name.as_os_str().to_owned();
            numbered.push(format!(".{number}"));
            PathBuf::from(numbered)
        });
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let free = names.find(|name| !used.contains(name)).unwrap_or_else(|| name.to_owned());
        used.insert(free.clone());
        Self(free)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        USED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}
