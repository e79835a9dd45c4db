// SPDX-License-Identifier: MIT OR Apache-2.0
//! The choice of the entry that a GPU gets, with the reason for each that it does not get.

use std::cmp::Reverse;
use std::fmt;

use crate::bundle::Bundle;
use crate::code::elf_flags::ElfHead;
use crate::entry::{Entry, EntryKind, EntryTarget};
use crate::error::Error;
use crate::options::Options;
use crate::words::magic::Format;
use crate::words::processor::{self, Membership};
use crate::words::target::TargetId;

/// The fit of an entry's code to a GPU; a later variant is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Fit {
    /// The code is for another processor of the same ISA-compatible family
    /// ([`compatible_families`](Options::compatible_families)).
    Family,
    /// The code is for a generic target that covers the GPU.
    Generic,
    /// The code is for this processor.
    Exact,
}

/// The verdict on one entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The entry's index in its bundle.
    pub entry: usize,
    /// The fit of its code; `None` if it was refused.
    pub fit: Option<Fit>,
    /// The reason in words.
    pub reason: String,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fit.is_none() {
            f.write_str("refused: ")?;
        }
        f.write_str(&self.reason)
    }
}

/// The entry that a GPU gets, and a verdict on each entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selection {
    /// The index of the best entry; `None` if none fits.
    pub best: Option<usize>,
    /// One verdict for each entry, in their order.
    pub verdicts: Vec<Verdict>,
    /// Whether an entry was refused for lack of memory, so that a later choice may differ.
    lacked_memory: bool,
}

impl Selection {
    pub(crate) fn lacked_memory(&self) -> bool {
        self.lacked_memory
    }

    /// The fit of the best entry; `None` if none fits.
    pub fn fit(&self) -> Option<Fit> {
        self.verdicts.get(self.best?)?.fit
    }
}

impl Bundle<'_> {
    /// Finds the entry that fits a GPU best: one for its own processor, else one for a generic target, else, if
    /// `options` allow it, one for a processor of its family. Among equals, the entry that states more features wins,
    /// then the first. `agent` must state the mode of each feature that the GPU has, as HIP's `gcnArchName` does.
    ///
    /// An id counts only if the code object itself agrees, so the head of the candidate is read. In a compressed bundle
    /// this decodes up to it. If that fails, the error is the entry's verdict.
    pub fn select(&self, agent: &TargetId, options: &Options) -> Selection {
        let mut verdicts: Vec<Verdict> = Vec::with_capacity(self.entries().len());
        let mut candidates = Vec::new();
        for (index, entry) in self.entries().iter().enumerate() {
            let verdict = match judge_id(entry, agent, options) {
                Ok(Candidate { fit, target, membership, reason }) => {
                    candidates.push((Reverse((fit, membership, target.features().count())), index, target));
                    Verdict { entry: index, fit: Some(fit), reason }
                }
                Err(reason) => Verdict { entry: index, fit: None, reason },
            };
            verdicts.push(verdict);
        }
        candidates.sort_by_key(|(rank, index, _)| (*rank, *index));
        let (mut best, mut lacked_memory) = (None, false);
        for (_, index, target) in candidates {
            let Some(verdict) = verdicts.get_mut(index) else { continue };
            if let Some(best) = best {
                verdict.reason.push_str(&format!(" (entry {best} is preferred)"));
                continue;
            }
            match self.judge_elf(index, target, agent, &mut lacked_memory) {
                Ok(()) => best = Some(index),
                Err(reason) => *verdict = Verdict { entry: index, fit: None, reason },
            }
        }
        tracing::debug!(target: "windlass::codeobject", bundle = self.index(), %agent, ?best, "selected");
        Selection { best, verdicts, lacked_memory }
    }

    /// Compares the code object's own flags with its id and with the GPU.
    fn judge_elf(
        &self,
        entry: usize,
        id: &TargetId,
        agent: &TargetId,
        lacked_memory: &mut bool,
    ) -> Result<(), String> {
        let bytes = self.head(entry).map_err(|error| {
            *lacked_memory |= matches!(error, Error::Memory { .. });
            format!("it cannot be read: {error}")
        })?;
        if let Some(format) = Format::of(&bytes).filter(|format| !format.is_elf()) {
            return Err(format!("it is {format}; {}", format.advice()));
        }
        let head = ElfHead::read(&bytes).ok_or("its bytes are no 64-bit little-endian ELF")?;
        if !head.is_amdgpu() {
            return Err(format!("its ELF is for machine {}, not for amdgpu (224)", head.machine));
        }
        if !ElfHead::is_hsa(&bytes) {
            return Err("its ELF is not for the HSA system that ROCm runs".to_owned());
        }
        if !head.is_linked() {
            return Err("its ELF is an object of the compiler; link it with ld.lld -shared first".to_owned());
        }
        let elf = head.target();
        let numbered = match processor::to_mach(id.processor()) {
            Some(mach) => head.mach() == mach,
            // A processor that the table lacks has a number that the table lacks.
            None => head.processor().is_none() && head.mach() != ElfHead::NO_MACH,
        };
        if !numbered {
            return Err(format!("its id says {id}, but its ELF is for {elf}"));
        }
        for (feature, on) in elf.features() {
            if id.feature(feature).is_some_and(|stated| stated != on) {
                return Err(format!("its id says {id}, but its ELF is for {elf}"));
            }
        }
        features_fit(&elf, agent)?;
        if id.is_generic() && head.generic_version() == 0 {
            return Err(format!(
                "{id} needs code object version 6 with a generic version, its ELF has neither; rebuild it with \
                 -mcode-object-version=6"
            ));
        }
        Ok(())
    }
}

impl TargetId {
    /// The fit of code for `code`'s processor to this GPU, whatever the modes of their features; `None` if it does not
    /// fit.
    ///
    /// ```
    /// use windlass_codeobject::{Fit, Options, TargetId};
    ///
    /// let (gpu, code): (TargetId, TargetId) = ("gfx906".parse()?, "gfx900:xnack-".parse()?);
    /// let mut options = Options::default();
    /// assert_eq!(gpu.processor_fit(&code, &options), None);
    /// options.compatible_families = true;
    /// assert_eq!(gpu.processor_fit(&code, &options), Some(Fit::Family));
    /// # Ok::<(), windlass_codeobject::Error>(())
    /// ```
    pub fn processor_fit(&self, code: &TargetId, options: &Options) -> Option<Fit> {
        processors_fit(code, self.processor(), options).ok().map(|candidate| candidate.fit)
    }
}

/// An entry that fits by its id.
struct Candidate<'e> {
    fit: Fit,
    /// The way in which a generic target is known to cover the GPU.
    membership: Option<Membership>,
    target: &'e TargetId,
    reason: String,
}

/// Judges an entry by its id alone.
fn judge_id<'e>(entry: &'e Entry, agent: &TargetId, options: &Options) -> Result<Candidate<'e>, String> {
    let target = match entry.target() {
        EntryTarget::Gpu(target) => target,
        EntryTarget::Host => return Err("it is the host's part".to_owned()),
        EntryTarget::SpirV => {
            return Err("it is SPIR-V, which must first be compiled for the GPU; build for the GPU's target"
                .to_owned());
        }
        EntryTarget::Unknown(why) => return Err(format!("its id is not understood: {why}")),
    };
    if !matches!(entry.kind(), EntryKind::Hip | EntryKind::HipV4) {
        return Err(format!("it is code for {}, not for HIP", entry.kind()));
    }
    if let Some(problem) = entry.problem() {
        return Err(problem.to_owned());
    }
    if entry.size() == 0 {
        return Err("it is empty".to_owned());
    }
    let candidate = processors_fit(target, agent.processor(), options)?;
    features_fit(target, agent)?;
    Ok(candidate)
}

fn processors_fit<'e>(target: &'e TargetId, agent: &str, options: &Options) -> Result<Candidate<'e>, String> {
    let code = target.processor();
    let fits = |fit, reason| Ok(Candidate { fit, membership: None, target, reason });
    if code == agent {
        fits(Fit::Exact, format!("exact {target}"))
    } else if let Some(membership) = processor::generic_serves(code, agent) {
        let known = if membership == Membership::Listed { "" } else { " (by its number)" };
        let reason = format!("generic {target}{known}");
        Ok(Candidate { fit: Fit::Generic, membership: Some(membership), target, reason })
    } else if processor::is_generic(code) {
        Err(format!("{code} does not cover {agent}"))
    } else if !processor::family_serves(code, agent) {
        Err(format!("{code} is another processor than {agent}"))
    } else if options.compatible_families {
        fits(Fit::Family, format!("compatible {target}"))
    } else {
        Err(format!(
            "{code} is another processor than {agent}; their ISAs are compatible, allow it with \
             `compatible_families`"
        ))
    }
}

fn features_fit(code: &TargetId, agent: &TargetId) -> Result<(), String> {
    for (feature, on) in code.features() {
        let stated = format!("{feature}{}", if on { '+' } else { '-' });
        match agent.feature(feature) {
            Some(mode) if mode == on => {}
            Some(_) => return Err(format!("{code} needs {stated}, the GPU runs {agent}")),
            None => {
                return Err(format!(
                    "{code} needs {stated}, which {agent} leaves open; ask for {agent}:{stated}"
                ));
            }
        }
    }
    Ok(())
}
