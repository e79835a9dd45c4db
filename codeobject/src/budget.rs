// SPDX-License-Identifier: MIT OR Apache-2.0
//! A limit on unpacked bytes that several reads share.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Error;

/// A limit on the bytes that several reads may unpack together, as [`Options::budget`](crate::Options::budget). Clones share
/// it, also across threads. The default has no limit.
///
/// A small file may hold thousands of members that each unpack to a gigabyte. A limit for each of them does not bound the
/// time of reading them all; this one does.
///
/// ```
/// use windlass_codeobject::Budget;
///
/// let budget = Budget::new(100);
/// assert!(budget.take("a member", 60).is_ok());
/// assert!(budget.clone().take("another member", 60).is_err());
/// assert!(budget.is_spent());
/// ```
#[derive(Clone, Default)]
pub struct Budget(Option<Arc<State>>);

struct State {
    total: u64,
    /// The bytes that are left, and [`SPENT`] once a request was refused.
    left: AtomicU64,
}

/// No budget has so many bytes.
const SPENT: u64 = u64::MAX;

impl Budget {
    /// A budget of so many bytes.
    pub fn new(bytes: u64) -> Budget {
        let total = bytes.min(SPENT - 1);
        Budget(Some(Arc::new(State { total, left: AtomicU64::new(total) })))
    }

    /// Takes bytes for the part that `what` names.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if fewer bytes are left. Each later request fails too, so that a search ends there.
    pub fn take(&self, what: &str, bytes: u64) -> Result<(), Error> {
        let Some(state) = &self.0 else { return Ok(()) };
        let rest = |left: u64| match left {
            SPENT => None,
            left => Some(left.checked_sub(bytes).unwrap_or(SPENT)),
        };
        let before = state.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
        match before {
            Ok(left) if bytes <= left => Ok(()),
            _ => Err(Error::Limit {
                what: format!("unpacking {what} with all that was unpacked before"),
                offset: 0,
                value: state.total.saturating_add(1),
                limit: state.total,
                advice: "unpack the file, and give its content".to_owned(),
            }),
        }
    }

    /// The bytes that are left; `u64::MAX` without a limit.
    pub fn left(&self) -> u64 {
        match self.0.as_ref().map(|state| state.left.load(Ordering::Relaxed)) {
            Some(SPENT) => 0,
            Some(left) => left,
            None => u64::MAX,
        }
    }

    /// The bytes of the new budget; `u64::MAX` without a limit.
    pub fn total(&self) -> u64 {
        self.0.as_ref().map_or(u64::MAX, |state| state.total)
    }

    /// Whether a request was refused.
    pub fn is_spent(&self) -> bool {
        self.0.as_ref().is_some_and(|state| state.left.load(Ordering::Relaxed) == SPENT)
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("Budget(no limit)"),
            Some(state) => write!(f, "Budget({} of {} bytes left)", self.left(), state.total),
        }
    }
}

/// Equal budgets are the same one.
impl PartialEq for Budget {
    fn eq(&self, other: &Budget) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for Budget {}
