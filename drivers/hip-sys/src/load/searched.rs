// SPDX-License-Identifier: MIT OR Apache-2.0
//! The libraries that searches brought into this process, so that each later search finds them as the first one did.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api::{Api, Origin};

/// What was found by search, by the address of one of its functions. A library is never closed, so no address comes to
/// stand for another.
#[derive(Default)]
pub(super) struct Searched(Vec<(usize, Origin)>);

static SEARCHED: Mutex<Searched> = Mutex::new(Searched(Vec::new()));

/// One search at a time: another that came between the opening of a library and its note would find a stranger.
pub(super) fn lock() -> MutexGuard<'static, Searched> {
    SEARCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(api: &Api) -> Option<usize> {
    api.entries().address("hipGetDeviceCount").map(|address| address.addr())
}

impl Searched {
    /// Notes what a search has opened, unless an earlier one did: then that one's origin holds.
    pub(super) fn keep(&mut self, api: Api) -> Api {
        let api = self.recall(api);
        if let Some(key) = key(&api).filter(|key| self.origin(*key).is_none()) {
            self.0.push((key, api.origin().clone()));
        }
        api
    }

    /// The same library with the origin of an earlier search, if one found it.
    pub(super) fn recall(&self, api: Api) -> Api {
        match key(&api).and_then(|key| self.origin(key)) {
            Some(origin) => api.with_origin(origin.clone()),
            None => api,
        }
    }

    fn origin(&self, key: usize) -> Option<&Origin> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, origin)| origin)
    }
}
