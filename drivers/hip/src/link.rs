// SPDX-License-Identifier: MIT OR Apache-2.0
//! Linking of code objects that use each other's symbols: finds the code object that defines each symbol, loads definers
//! first, and writes their addresses into copies of the others.
//!
//! HIP refuses a code object with a relocation against a symbol that the code object does not define. Once the definer is
//! loaded, the address of the symbol is known. Then it is written into the copy, and the relocation is removed from it.

use std::{collections::HashMap, sync::Arc};

use windlass_codeobject::{Binding, CodeObject, Image, Symbol, SymbolRole};
use windlass_hal::{Code, Error, Result};

use crate::images::{check, from_codeobject};

/// How many symbols an error names.
const NAMED: usize = 16;

/// How the images of an executable are linked.
pub(crate) struct Plan {
    /// The images in loading order: an image comes behind those that it needs.
    order: Vec<usize>,
    /// For each image the symbols that it does not define itself. A weak symbol may have no definer.
    wants: Vec<HashMap<String, Option<Definer>>>,
    names: Vec<String>,
}

/// The place where a symbol is defined.
#[derive(Clone, Copy)]
struct Definer {
    image: usize,
    symbol: usize,
}

impl Plan {
    /// Finds a definer for every symbol that an image lacks. `names` are the names of the images in messages.
    ///
    /// `NOT_FOUND` for symbols that no image defines, `FAILED_PRECONDITION` if images need each other in a circle.
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

    /// The images that an image needs.
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

    /// The images in loading order.
    pub(crate) fn order(&self) -> impl Iterator<Item = usize> {
        self.order.iter().copied()
    }

    /// The image to load, with all its symbols resolved. `address_of` gives the address of a symbol of an image that is
    /// already loaded.
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
            // A symbol without a definer is weak, and its address is null.
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

/// The definer of each name: the first image with a strong symbol of that name, else the first with a weak one.
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

/// The first few names, for a message.
fn some(all: &[String]) -> String {
    let mut text = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > NAMED {
        text.push_str(&format!(" and {} more", all.len() - NAMED));
    }
    text
}
