// SPDX-License-Identifier: MIT OR Apache-2.0
//! The error of a failed search for RCCL: every attempt with its reason.

use std::fmt;
use std::path::PathBuf;

use super::api::{Found, LIBRARY_VARIABLE};
use super::types::Version;

/// No RCCL could be used. The message lists every attempt, and gives advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    attempts: Vec<Attempt>,
    /// The HIP in this process that has no RCCL.
    hip: Option<String>,
}

/// A library that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// The requested path, or the name for the system's search.
    pub library: PathBuf,
    /// The origin of the request.
    pub found: Found,
    /// Why the library could not be used.
    pub reason: Reason,
}

/// Why a library could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It could not be opened. The text is the system's message.
    NotOpened(String),
    /// It is Windlass's, for simulated GPUs, and the HIP in use is not.
    Simulated,
    /// It is for AMD's HIP, and the HIP in use is a simulated one.
    NotSimulated,
    /// It is linked to another HIP than the one in use. Handles of one are garbage to the other.
    OtherHip {
        /// The file of its HIP.
        linked: PathBuf,
        /// The file of the HIP in use.
        in_use: PathBuf,
    },
    /// It lacks functions that every RCCL has.
    MissingFunctions {
        /// The missing functions.
        names: Vec<&'static str>,
        /// The version that the library reports.
        version: Option<Version>,
    },
}

impl LoadError {
    pub(super) fn new(attempts: Vec<Attempt>) -> Self {
        Self { attempts, hip: None }
    }

    /// The error of a HIP in this process without RCCL.
    pub(super) fn of_process(hip: String) -> Self {
        Self { attempts: Vec::new(), hip: Some(hip) }
    }

    /// The attempts, in order. None if HIP itself is in this process and has no RCCL.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(hip) = &self.hip {
            return write!(
                f,
                "there is no RCCL for {hip}, which is a HIP in this process; use hip-sim://, which has one, or a HIP that \
                 is a library"
            );
        }
        f.write_str("no RCCL library could be used; tried")?;
        for attempt in &self.attempts {
            write!(f, "\n  {attempt}")?;
        }
        write!(
            f,
            "\ninstall RCCL from AMD's ROCm (the package rccl), or name its library by {LIBRARY_VARIABLE}"
        )
    }
}

impl std::error::Error for LoadError {}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.library.display().to_string();
        f.write_str(&name)?;
        if self.found != Found::Search {
            write!(f, " ({})", self.found)?;
        }
        match &self.reason {
            // The system's message usually begins with the requested name.
            Reason::NotOpened(words) => {
                let rest = words.strip_prefix(&name).and_then(|rest| rest.strip_prefix(": "));
                write!(f, ": {}", rest.unwrap_or(words))
            }
            reason => write!(f, ": {reason}"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 4;
        match self {
            Self::NotOpened(words) => f.write_str(words),
            Self::Simulated => f.write_str("is for Windlass's simulated GPUs, and HIP is not simulated"),
            Self::NotSimulated => f.write_str("is for AMD's HIP, and HIP is simulated"),
            Self::OtherHip { linked, in_use } => write!(
                f,
                "is linked to the HIP {}, and the HIP in use is {}: take both from one installation",
                linked.display(),
                in_use.display()
            ),
            Self::MissingFunctions { names, version } => {
                match version {
                    Some(version) => write!(f, "RCCL {version}")?,
                    None => f.write_str("a library that does not tell its version")?,
                }
                f.write_str(", lacks ")?;
                for (index, name) in names.iter().take(SHOWN).enumerate() {
                    write!(f, "{}{name}", if index == 0 { "" } else { ", " })?;
                }
                match names.len().saturating_sub(SHOWN) {
                    0 => f.write_str(", which every RCCL has"),
                    more => write!(f, " and {more} more functions, which every RCCL has"),
                }
            }
        }
    }
}
