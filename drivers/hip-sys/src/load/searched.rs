// SPDX-License-Identifier: MIT OR Apache-2.0
//! The libraries that searches loaded into this process, so that later searches find them with the same origin.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api::{Api, Origin};

/// The libraries found by search, by the address of one of their functions. A library is never closed, so an address
/// never stands for another one.
#[derive(Default)]
pub(super) struct Searched(Vec<(usize, Origin)>);

static SEARCHED: Mutex<Searched> = Mutex::new(Searched(Vec::new()));

/// Searches run one at a time. A second one between the opening of a library and its record would not recognize it.
pub(super) fn lock() -> MutexGuard<'static, Searched> {
    SEARCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(api: &Api) -> Option<usize> {
    api.entries().address("hipGetDeviceCount").map(|address| address.addr())
}

impl Searched {
    /// Records a library that a search opened, unless an earlier search did.
    pub(super) fn keep(&mut self, api: Api) -> Api {
        let api = self.recall(api);
        if let Some(key) = key(&api).filter(|key| self.origin(*key).is_none()) {
            self.0.push((key, api.origin().clone()));
        }
        api
    }

    /// The library, with the origin of an earlier search if one found it.
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
