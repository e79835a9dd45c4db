// SPDX-License-Identifier: MIT OR Apache-2.0
//! A part of the suite, for runs on several machines.

use std::{fmt, str::FromStr};

/// One of `count` parts of the suite. Each case is in exactly one part. The part depends only on the case's name, so
/// it does not change when cases are added or filtered out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// Part `index` of `count`, counted from 1. `None` if there is no such part.
    pub const fn new(index: u32, count: u32) -> Option<Self> {
        if index == 0 || index > count { None } else { Some(Self { index, count }) }
    }

    /// Whether a case belongs to this part.
    pub fn holds(self, name: &str) -> bool {
        hash(name) % u64::from(self.count) == u64::from(self.index) - 1
    }
}

/// FNV-1a, which is the same on every machine and with every version of Rust.
fn hash(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The form on the command line: `2/4`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once('/').and_then(|(index, count)| index.parse().ok().zip(count.parse().ok()));
        parts.and_then(|(index, count)| Self::new(index, count)).ok_or_else(|| {
            "a shard is I/N, the I-th of N parts, counted from 1: 1/4 to 4/4 for four parts".to_owned()
        })
    }
}
