// SPDX-License-Identifier: MIT OR Apache-2.0
//! Debug groups: named parts of a command buffer, for tools.

use std::fmt;

/// A named group of commands, with an optional colour and source location. See
/// [`Recorder::begin_debug_group`](crate::Recorder::begin_debug_group).
///
/// ```
/// use windlass_hal::DebugGroup;
/// let plain = DebugGroup::from("softmax");
/// let group = DebugGroup::new("softmax").color([0xff, 0x80, 0, 0xff]).location("model.mlir", 42);
/// assert_eq!(group.to_string(), "softmax (model.mlir:42)");
/// assert_eq!(plain.color, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DebugGroup {
    /// The name.
    pub label: String,
    /// Red, green, blue and alpha. `None` leaves the choice to the tool.
    pub color: Option<[u8; 4]>,
    /// The source location that the commands come from.
    pub location: Option<SourceLocation>,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
}

impl DebugGroup {
    /// A group with a name only.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), color: None, location: None }
    }

    /// Sets the colour: red, green, blue, alpha.
    #[must_use]
    pub fn color(mut self, rgba: [u8; 4]) -> Self {
        self.color = Some(rgba);
        self
    }

    /// Sets the source location.
    #[must_use]
    pub fn location(mut self, file: impl Into<String>, line: u32) -> Self {
        self.location = Some(SourceLocation { file: file.into(), line });
        self
    }
}

impl From<&str> for DebugGroup {
    fn from(label: &str) -> Self {
        Self::new(label)
    }
}

/// The name, followed by the source location if there is one.
impl fmt::Display for DebugGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)?;
        match &self.location {
            Some(location) => write!(f, " ({}:{})", location.file, location.line),
            None => Ok(()),
        }
    }
}
