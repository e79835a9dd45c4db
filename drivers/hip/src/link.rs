// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linking: which code object defines what another one lacks, in which order they can be loaded, and the copy of the
//! latter that HIP is shown, in which nothing is missing.
//!
//! HIP refuses a code object with a relocation against a symbol that it does not define. Once the definer is loaded, the
//! address is known: it is written into the copy, and the relocation is taken out of it.

use std::{collections::HashMap, sync::Arc};

use windlass_codeobject::{Binding, CodeObject, Image, Symbol, SymbolRole};
use windlass_hal::{Code, Error, Result};

use crate::images::{check, from_codeobject};

/// How many symbols an error names.
const NAMED: usize = 16;

/// How the images of an executable fit together.
pub(crate) struct Plan {
    /// The images, those that others need first.
    order: Vec<usize>,
    /// For each image the symbols that it lacks.
    wants: Vec<HashMap<String, Option<Definer>>>,
    names: Vec<String>,
}

/// Where a symbol is defined.
#[derive(Clone, Copy)]
struct Definer {
    image: usize,
    symbol: usize,
}

impl Plan {
    /// Finds a definer for everything that the images lack. `names` are what the images are called in messages.
    ///
    /// `NOT_FOUND` for symbols that none defines, `FAILED_PRECONDITION` where images need each other in a circle.
    pub(crate) fn new(images: &[Arc<Image>], names: &[String]) -> Result<Self> {
        let codes = images.iter().map(|image| image.code_object().map_err(|error| from_codeobject(&error)));
        let codes = codes.collect::<Result<Vec<_>>>()?;
        let mut plan = Self { order: Vec::new(), wants: Vec::new(), names: names.to_vec() };
        if codes.iter().all(|code| code.unresolved().next().is_none()) {
            plan.order = (0..images.len()).collect();
            plan.wants = vec![HashMap::new(); images.len()];
            return Ok(plan);
        }
        let definers = definers(&codes);
        let mut missing = Vec::new();
        for (code, name) in codes.iter().zip(names) {
            let mut wants = HashMap::new();
            for (_, symbol) in code.unresolved() {
                let definer = definers.get(symbol.name.as_str()).copied();
                let known = wants.insert(symbol.name.clone(), definer).is_some();
                if !known && definer.is_none() && symbol.binding != Binding::Weak {
                    missing.push(format!("{name} needs `{}`", symbol.name));
                }
            }
            plan.wants.push(wants);
        }
        if !missing.is_empty() {
            return Err(Error::not_found(format!(
                "symbols that no code defines: {}; load the code that defines them together with this one \
                 (Device::load_linked), or link it in when this one is built",
                some(&missing)
            )));
        }
        plan.sort()?;
        Ok(plan)
    }

    /// Puts definers before those that need them.
    fn sort(&mut self) -> Result<()> {
        let mut placed = vec![false; self.wants.len()];
        while self.order.len() < placed.len() {
            let before = self.order.len();
            for image in 0..placed.len() {
                if !placed[image] && self.needs(image).all(|needed| placed[needed]) {
                    placed[image] = true;
                    self.order.push(image);
                }
            }
            if self.order.len() == before {
                let left: Vec<usize> = (0..placed.len()).filter(|image| !placed[*image]).collect();
                return Err(self.circle(&left));
            }
        }
        Ok(())
    }

    /// The images that one needs.
    fn needs(&self, image: usize) -> impl Iterator<Item = usize> {
        self.wants[image].values().flatten().map(|definer| definer.image)
    }

    fn circle(&self, images: &[usize]) -> Error {
        let mut edges = Vec::new();
        for image in images {
            for (symbol, definer) in &self.wants[*image] {
                if let Some(definer) = definer.filter(|definer| images.contains(&definer.image)) {
                    let (from, to) = (&self.names[*image], &self.names[definer.image]);
                    edges.push(format!("{from} needs `{symbol}` of {to}"));
                }
            }
        }
        edges.sort();
        let circle = format!(
            "code objects that need each other in a circle: {}; HIP takes one after the other, so link them into one \
             when they are built (hipcc -fgpu-rdc, or ld.lld -shared over the objects)",
            some(&edges)
        );
        Error::new(Code::FailedPrecondition, circle)
    }

    /// The images in the order in which they can be loaded.
    pub(crate) fn order(&self) -> impl Iterator<Item = usize> {
        self.order.iter().copied()
    }

    /// What HIP is to be shown for an image, given where a symbol of an image that is loaded already lies.
    pub(crate) fn link(
        &self,
        number: usize,
        images: &[Arc<Image>],
        mut address_of: impl FnMut(usize, &Symbol) -> Result<Option<u64>>,
    ) -> Result<Arc<Image>> {
        let image = &images[number];
        let wants = &self.wants[number];
        if wants.is_empty() {
            return Ok(image.clone());
        }
        let mut addresses = HashMap::new();
        for (name, definer) in wants {
            // What nobody defines is weak, and null.
            let Some(definer) = definer else { continue };
            let code = images[definer.image].code_object().map_err(|error| from_codeobject(&error))?;
            let address = address_of(definer.image, &code.symbols()[definer.symbol])?;
            let address = address.ok_or_else(|| self.unknown(number, name, definer.image))?;
            addresses.insert(name.as_str(), address);
        }
        let code = image.code_object().map_err(|error| from_codeobject(&error))?;
        let mut bytes = image.to_vec();
        let address = |symbol: &Symbol| Some(addresses.get(symbol.name.as_str()).copied().unwrap_or(0));
        let resolved = code.resolve(&mut bytes, address).and_then(|()| Image::copy(&bytes));
        let linked =
            Arc::new(resolved.map_err(|error| {
                from_codeobject(&error).context(format!("linking {}", self.names[number]))
            })?);
        check(&linked)?;
        Ok(linked)
    }

    fn unknown(&self, number: usize, symbol: &str, definer: usize) -> Error {
        let (user, definer) = (&self.names[number], &self.names[definer]);
        Error::new(
            Code::FailedPrecondition,
            format!(
                "{user} needs `{symbol}` of {definer}, and HIP does not tell where {definer} is loaded, because it has no \
                 variable to ask for; give it a __device__ variable (hipcc does so with -fuse-cuid=hash), or link both into one \
                 code object when they are built"
            ),
        )
    }
}

/// Who defines each name: the first image that has it, one that has it as a strong symbol before any other.
fn definers<'c>(codes: &[&'c CodeObject]) -> HashMap<&'c str, Definer> {
    let mut found: HashMap<&str, (Definer, Binding)> = HashMap::new();
    for (image, code) in codes.iter().enumerate() {
        for (symbol, entry) in code.symbols().iter().enumerate().filter(|(_, entry)| entry.exported) {
            let defined = matches!(
                entry.role,
                SymbolRole::Variable
                    | SymbolRole::Function
                    | SymbolRole::KernelEntry
                    | SymbolRole::KernelDescriptor
            );
            if defined && entry.binding != Binding::Local {
                let known = found.entry(&entry.name).or_insert((Definer { image, symbol }, entry.binding));
                if known.1 == Binding::Weak && entry.binding == Binding::Global {
                    *known = (Definer { image, symbol }, entry.binding);
                }
            }
        }
    }
    found.into_iter().map(|(name, (definer, _))| (name, definer)).collect()
}

/// A few of many, for a message.
fn some(all: &[String]) -> String {
    let mut text = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > NAMED {
        text.push_str(&format!(" and {} more", all.len() - NAMED));
    }
    text
}
