// SPDX-License-Identifier: MIT OR Apache-2.0
//! How to replay, and the result of a replay.

use std::{fmt, path::PathBuf, time::Duration};

/// The order of the operations of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The wait lists, and the program: an operation is submitted after all operations that had ended when the program
    /// submitted it. So a program that waits on the host between two operations is replayed correctly.
    #[default]
    Program,
    /// The wait lists alone, where no memory of the host is involved. Over `shuffle://` this finds edges that the wait
    /// lists lack. It also finds those that the program replaces by waits on the host.
    Waits,
}

/// How to replay a recording.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReplayOptions {
    /// The order of the operations.
    pub order: Order,
    /// Whether the results are not compared with the recorded ones.
    pub unchecked: bool,
    /// A folder for the last bytes of each buffer, as `buffer-N.bin`. Buffers of the device alone are read back for this.
    pub dump: Option<PathBuf>,
    /// The longest time to wait for one operation; none by default.
    pub limit: Option<Duration>,
}

impl ReplayOptions {
    /// The default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Leaves the results uncompared.
    #[must_use]
    pub fn unchecked(mut self) -> Self {
        self.unchecked = true;
        self
    }

    /// Sets the folder for the buffers' last bytes.
    #[must_use]
    pub fn dump(mut self, folder: impl Into<PathBuf>) -> Self {
        self.dump = Some(folder.into());
        self
    }

    /// Sets the longest time to wait for one operation.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// A result that differs from the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// Bytes that the host sees after an operation.
    Bytes {
        /// The number of the operation.
        operation: u32,
        /// The number of the buffer; `None` for a file.
        buffer: Option<u32>,
        /// The first byte that differs, as an offset in the buffer or the file.
        offset: u64,
        /// Up to 16 recorded bytes from there on.
        recorded: Vec<u8>,
        /// The bytes of the replay.
        replayed: Vec<u8>,
    },
    /// The end of an operation: one of both failed.
    End {
        /// The number of the operation.
        operation: u32,
        /// The recorded failure, if it failed.
        recorded: Option<String>,
        /// The failure of the replay, if it failed.
        replayed: Option<String>,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        match self {
            Self::Bytes { operation, buffer, offset, recorded, replayed } => {
                let place = match buffer {
                    Some(buffer) => format!("buffer {buffer}"),
                    None => "the file".to_owned(),
                };
                let (recorded, replayed) = (hex(recorded), hex(replayed));
                write!(
                    f,
                    "after operation {operation}, byte {offset} of {place}: recorded {recorded}, replayed {replayed}"
                )
            }
            Self::End { operation, recorded, replayed } => {
                let end = |failure: &Option<String>| match failure {
                    Some(failure) => format!("failed ({failure})"),
                    None => "succeeded".to_owned(),
                };
                write!(
                    f,
                    "operation {operation} {} in the recording and {} in the replay",
                    end(recorded),
                    end(replayed)
                )
            }
        }
    }
}

/// The result of a replay that ran to its end.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Replayed {
    /// The operations that ran.
    pub operations: u64,
    /// The bytes that were compared with the recording.
    pub compared: u64,
    /// The first differences, at most 16, in the order of the recording.
    pub differences: Vec<Difference>,
    /// The number of all differences.
    pub differing: u64,
    /// The time from the first submission to the end of the last operation.
    pub time: Duration,
}
