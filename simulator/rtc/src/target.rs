// SPDX-License-Identifier: MIT OR Apache-2.0
//! The GPU for which code is compiled: `gfx942`, or `gfx942:sramecc+:xnack-`.

/// A processor with its features, by its name alone harmless in a command line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target(String);

impl Target {
    /// `None` if the text is no target.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let processor = parts.next().unwrap_or_default();
        let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let is_feature = |text: &str| {
            text.strip_suffix(['+', '-'])
                .is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        };
        let known = processor.starts_with("gfx") && processor.len() < 64 && is_name(processor);
        (known && parts.all(is_feature)).then(|| Self(text.to_owned()))
    }

    /// As clang's `--offload-arch` spells it.
    pub(crate) fn id(&self) -> &str {
        &self.0
    }

    /// As comgr names it.
    pub(crate) fn isa(&self) -> String {
        format!("amdgcn-amd-amdhsa--{}", self.0)
    }

    pub(crate) fn processor(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }

    /// Its features as LLVM's attributes: `+sramecc,-xnack`.
    pub(crate) fn attributes(&self) -> String {
        let features = self.0.split(':').skip(1).map(|feature| {
            let (name, sign) = feature.split_at(feature.len() - 1);
            format!("{sign}{name}")
        });
        features.collect::<Vec<_>>().join(",")
    }

    /// Whether a workgroup's waves may share one of two compute units, as from gfx10 on.
    pub(crate) fn has_pairs(&self) -> bool {
        !self.processor().starts_with("gfx9")
    }
}
