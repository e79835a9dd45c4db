// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program of hipRTC: a source with its headers and what was made of it.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fmt::Write as _;

use crate::code::Code;
use crate::compiler::{self, Made, Unit};
use crate::names;
use crate::options::Options;

/// The file name of a source without a name.
const UNNAMED: &str = "CompileSource";
/// The longest file name that is used.
const LONGEST_NAME: usize = 200;

/// A source, and the code that it became.
#[derive(Default)]
pub struct Program {
    source: String,
    /// The name that the program gave to it.
    name: String,
    /// The name of its file for the compiler.
    file_name: String,
    headers: Vec<(String, String)>,
    /// Name expressions, and their lowered names once the program is compiled.
    names: BTreeMap<String, CString>,
    log: String,
    made: Made,
}

impl Program {
    /// A program from a source, a name for messages, and headers by their names. hipRTC refuses what is empty, but for the name.
    ///
    /// # Errors
    /// `HIPRTC_ERROR_INVALID_INPUT`.
    pub fn new(source: String, name: &str, headers: Vec<(String, String)>) -> Result<Self, Code> {
        if source.is_empty() || headers.iter().any(|(name, text)| name.is_empty() || text.is_empty()) {
            return Err(Code::ERROR_INVALID_INPUT);
        }
        let last = name.rsplit('/').next().unwrap_or_default();
        let usable = !matches!(last, "" | "." | "..") && last.len() <= LONGEST_NAME;
        let file_name = if usable { last } else { UNNAMED }.to_owned();
        let name = if name.is_empty() { UNNAMED } else { name }.to_owned();
        Ok(Self { source, name, file_name, headers, ..Self::default() })
    }

    /// Has the name of a kernel or variable looked up when the program is compiled.
    ///
    /// # Errors
    /// `HIPRTC_ERROR_INVALID_INPUT` for an empty expression.
    pub fn add_name_expression(&mut self, expression: &str) -> Result<(), Code> {
        let expression = names::stripped(expression);
        if expression.is_empty() {
            return Err(Code::ERROR_INVALID_INPUT);
        }
        self.names.entry(expression.to_owned()).or_default();
        Ok(())
    }

    /// Compiles the source with clang's options.
    ///
    /// # Errors
    /// `HIPRTC_ERROR_COMPILATION`, and the log has the reason.
    pub fn compile(&mut self, options: &[String]) -> Result<(), Code> {
        self.log.clear();
        self.made = Made::default();
        let mut log = String::new();
        let made = self.make(options, &mut log);
        self.log = log;
        self.made = made.ok_or(Code::ERROR_COMPILATION)?;
        Ok(())
    }

    fn make(&mut self, options: &[String], log: &mut String) -> Option<Made> {
        for lowered in self.names.values_mut() {
            *lowered = CString::default();
        }
        let options = match Options::read(options) {
            Ok(options) => options,
            Err(reason) => {
                log.push_str(&reason);
                log.push('\n');
                return None;
            }
        };
        // The source goes by the name that the program gave to it, in messages and in `__FILE__`.
        let source = format!(
            "#line 1 \"{}\"\n{}{}",
            names::quoted(&self.name),
            self.source,
            names::table(self.names.keys().map(String::as_str))
        );
        let mut unit = Unit {
            name: &self.file_name,
            source: &source,
            headers: &self.headers,
            options: &options,
            has_names: !self.names.is_empty(),
            brings_new: false,
        };
        let mut messages = String::new();
        let mut made = compiler::compile(&unit, &mut messages);
        if made.is_none() && messages.contains("redefinition of 'operator ") {
            unit.brings_new = true;
            messages.clear();
            made = compiler::compile(&unit, &mut messages);
        }
        log.push_str(&messages);
        let made = made?;
        if !self.names.is_empty() {
            let Some(lowered) = names::lowered(&made.code, self.names.len()) else {
                log.push_str("error: the names in the code cannot be read\n");
                return None;
            };
            for ((expression, place), name) in self.names.iter_mut().zip(lowered) {
                if name.is_none() {
                    let _ = writeln!(
                        log,
                        "warning: the name expression `{expression}` has no lowered name: the code has no symbol for it, as for \
                         something `static`"
                    );
                }
                *place = name.and_then(|name| CString::new(name).ok()).unwrap_or_default();
            }
        }
        Some(made)
    }

    /// The lowered name of an expression that was added before the program was compiled.
    ///
    /// # Errors
    /// `HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID`.
    pub fn lowered_name(&self, expression: &str) -> Result<&CStr, Code> {
        let name = self.names.get(names::stripped(expression)).filter(|name| !name.is_empty());
        name.map(CString::as_c_str).ok_or(Code::ERROR_NAME_EXPRESSION_NOT_VALID)
    }

    /// The compiler's messages.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The code object; empty before the program is compiled, and for a program that becomes bitcode.
    pub fn code(&self) -> &[u8] {
        if self.made.bitcode.is_empty() { &self.made.code } else { &[] }
    }

    /// The bitcode of a program that was compiled with `-fgpu-rdc`.
    ///
    /// # Errors
    /// `HIPRTC_ERROR_INVALID_PROGRAM` if there is none.
    pub fn bitcode(&self) -> Result<&[u8], Code> {
        if self.made.bitcode.is_empty() { Err(Code::ERROR_INVALID_PROGRAM) } else { Ok(&self.made.bitcode) }
    }
}
