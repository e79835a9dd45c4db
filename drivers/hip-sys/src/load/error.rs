// SPDX-License-Identifier: MIT OR Apache-2.0
//! The error of a failed search for HIP: every attempt with its reason.

use std::fmt;
use std::path::PathBuf;

use super::LIBRARY_VARIABLE;
use crate::api::{Found, Version};

/// No HIP library could be used.
///
/// The message lists every attempt, and gives advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    attempts: Vec<Attempt>,
}

/// A library that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// It is Windlass's software GPU, which a search skips.
    Simulated,
    /// It lacks functions that every driver needs.
    MissingEntryPoints {
        /// The missing functions.
        names: Vec<&'static str>,
        /// The version that the library reports.
        version: Option<Version>,
    },
}

impl LoadError {
    pub(super) fn new(attempts: Vec<Attempt>) -> Self {
        Self { attempts }
    }

    /// The attempts, in order.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no HIP library could be used; tried")?;
        for attempt in &self.attempts {
            write!(f, "\n  {attempt}")?;
        }
        write!(
            f,
            "\ninstall AMD's ROCm, or name its library by {LIBRARY_VARIABLE} or hip://?library=PATH, or use the software GPU \
             by hip-sim://"
        )
    }
}

impl std::error::Error for LoadError {}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.library.display())?;
        if self.found != Found::Search {
            write!(f, " ({})", self.found)?;
        }
        match &self.reason {
            // The system's message usually begins with the requested name.
            Reason::NotOpened(words) => {
                let name = self.library.display().to_string();
                let words =
                    words.strip_prefix(&name).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(words);
                write!(f, ": {words}")
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
            Self::Simulated => {
                write!(
                    f,
                    "is Windlass's software GPU, which is used only where a path or {LIBRARY_VARIABLE} names it"
                )
            }
            Self::MissingEntryPoints { names, version } => {
                match version {
                    Some(version) => write!(f, "HIP {version}")?,
                    None => f.write_str("a library that does not tell its version")?,
                }
                f.write_str(", lacks ")?;
                for (index, name) in names.iter().take(SHOWN).enumerate() {
                    write!(f, "{}{name}", if index == 0 { "" } else { ", " })?;
                }
                match names.len().saturating_sub(SHOWN) {
                    0 => f.write_str(", without which no driver can work"),
                    more => write!(f, " and {more} more functions, without which no driver can work"),
                }
            }
        }
    }
}
