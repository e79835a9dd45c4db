// SPDX-License-Identifier: MIT OR Apache-2.0
//! The linker of hipRTC: bitcode becomes one code object for the current GPU.

use windlass_codeobject as codeobject;

use crate::code::Code;
use crate::compiler::{self, Link};
use crate::current;

/// The first bytes of bitcode.
const BITCODE: &[u8] = b"BC\xc0\xde";

/// A kind of input. hipRTC refuses all other kinds of its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Bitcode for one GPU.
    Bitcode,
    /// A bundle of bitcode for several GPUs.
    Bundle,
    /// An archive of such bundles.
    Archive,
    /// SPIR-V, which HIP's own linker takes.
    SpirV,
}

/// Bitcode that becomes a code object.
#[derive(Debug, Default)]
pub struct Linker {
    options: Vec<String>,
    inputs: Vec<(Input, Vec<u8>)>,
    code: Vec<u8>,
    log: String,
}

impl Linker {
    /// A linker with options for the compiler: `-O3`, `-mllvm` with an argument.
    pub fn new(options: Vec<String>) -> Self {
        Self { options, ..Self::default() }
    }

    /// Adds what will be linked. As with AMD's linker, bytes that are something else are an error of the linking.
    pub fn add(&mut self, kind: Input, bytes: &[u8]) {
        // AMD's takes bare bitcode in the place of a bundle too.
        let kind = if bytes.starts_with(BITCODE) { Input::Bitcode } else { kind };
        self.inputs.push((kind, bytes.to_vec()));
    }

    /// Links what was added for the current GPU.
    ///
    /// # Errors
    /// `HIPRTC_ERROR_LINKING`, and the log has the reason.
    pub fn complete(&mut self) -> Result<&[u8], Code> {
        self.log.clear();
        self.code.clear();
        match self.link() {
            Ok(code) => {
                self.code = code;
                Ok(&self.code)
            }
            Err(reason) => {
                self.log.push_str(&reason);
                tracing::error!(target: crate::log::TARGET, "hipRTC's linker failed: {}", self.log.trim_end());
                Err(Code::ERROR_LINKING)
            }
        }
    }

    fn link(&mut self) -> Result<Vec<u8>, String> {
        let target = current::target().map_err(|reason| format!("error: {reason}\n"))?;
        let mut bitcode = Vec::new();
        for (kind, bytes) in &self.inputs {
            match kind {
                Input::Bitcode => bitcode.push(bytes.clone()),
                Input::Bundle | Input::Archive => bitcode.extend(unbundled(bytes, target.id())?),
                Input::SpirV => {
                    return Err("error: SPIR-V is not translated here; link bitcode by hiprtcLinkAddData\n"
                        .to_owned());
                }
            }
        }
        if bitcode.is_empty() {
            return Err("error: nothing was added to the linker\n".to_owned());
        }
        let link = Link { target: &target, bitcode: &bitcode, options: &self.options };
        let mut messages = String::new();
        let code = compiler::link(&link, &mut messages);
        self.log.push_str(&messages);
        code.ok_or_else(String::new)
    }

    /// The compiler's messages.
    pub fn log(&self) -> &str {
        &self.log
    }
}

/// The bitcode for a target of each bundle.
fn unbundled(bytes: &[u8], target: &str) -> Result<Vec<Vec<u8>>, String> {
    let options = codeobject::Options::default();
    let failed = |error: codeobject::Error| format!("error: a bundle of bitcode: {error}\n");
    let file = codeobject::File::parse(bytes, &options).map_err(failed)?;
    let agent: codeobject::TargetId =
        target.parse().map_err(|error| format!("error: the GPU `{target}`: {error}\n"))?;
    // Bitcode says nothing of its target itself, so an entry's name decides.
    let fits = |entry: &codeobject::Entry| match entry.target() {
        codeobject::EntryTarget::Gpu(of) => {
            of.processor() == agent.processor()
                && of.features().all(|(name, on)| agent.feature(name).is_none_or(|state| state == on))
        }
        _ => false,
    };
    let mut found = Vec::new();
    for bundle in file.bundles() {
        if let Some(entry) = bundle.entries().iter().position(fits) {
            found.push(bundle.extract(entry).map_err(failed)?);
        }
    }
    if found.is_empty() {
        return Err(format!("error: a bundle has no bitcode for {target}\n"));
    }
    Ok(found)
}
