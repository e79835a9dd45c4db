// SPDX-License-Identifier: MIT OR Apache-2.0
//! The form of code: kernels as text.
//!
//! ```text
//! postfix 1
//! # out[i] = a[i] + b[i] for i < n
//! kernel vector_add a:buffer b:buffer out:buffer n:i32 threads=1024
//! code
//!   id n < ?
//!   a id 4[] @4  b id 4[] @4  f+  out id 4[] !4
//! end.
//! ```
//!
//! White space separates words. `#` begins a comment that ends with its line. A text begins with `postfix 1` and
//! holds one or more kernels. Each kernel ends with `end`, the last with `end.`, so a truncated text is invalid.
//!
//! # Head
//!
//! The head is `kernel NAME`, the parameters in their order, and the kernel's limits: `size=X,Y,Z` for workgroups of
//! this size only, `threads=N` for workgroups of at most N work-items, `local=N` for bytes of local memory. A
//! parameter is `NAME:TYPE`. The type is `buffer`, `u8` to `u64`, `i8` to `i64`, `f32`, `f64`, or a number of bytes
//! for a struct by value. Parameters lie in the argument block as in a C struct. A struct is aligned to the largest
//! power of two that divides its size, at most 8.
//!
//! # Code
//!
//! Each work-item has variables and a stack of 64-bit numbers. A number pushes itself. A parameter pushes its value:
//! the address of a buffer, the number (sign-extended if it is signed), or the offset of a struct in the argument
//! block. `=NAME` pops a number and keeps it in a variable of that name, and `NAME` then pushes it.
//!
//! | words | |
//! |---|---|
//! | `dup drop` | the stack |
//! | `+ - * half and <` | whole numbers modulo 2^64; `<` is signed and gives 1 or 0 |
//! | `4[] 8[]` | base and index to the address of an element of 4 or 8 bytes |
//! | `f+ f* fmax fma fneg fabs`, `dma` | f32; `dma` is `fma` of f64 |
//! | `i>f f>i d>i h>f` | conversions between whole numbers, f32 (`f`), f64 (`d`) and f16 (`h`) |
//! | `item.x` ... `group.x` ... `size.x` ... `count.x` ..., `id` | the work-item's position; `id` is `group.x *
//! size.x + item.x` |
//! | `@1 @2 @4 @8`, `!1 !2 !4 !8` | load: address to number; store: number and address to nothing |
//! | `$1 $2 $4 $8` | load from an offset in the argument block |
//! | `+! f+! fmax!` | number and address: replaces the four bytes there, atomically, and pushes their old value |
//! | `local` | the address of the workgroup's local memory |
//! | `?` | ends the work-item if the number is 0 |
//! | `begin TEST while BODY repeat` | runs BODY as long as TEST leaves a number that is not 0 |
//! | `if BODY then` | runs BODY if the number is not 0 |
//! | `barrier` | waits until each work-item of the workgroup is here or has ended |
//! | `trap` | fails the dispatch |
//!
//! An access outside of allocated memory fails the dispatch. So does a stack that runs empty or holds more than 256
//! numbers. An endless loop occupies the machine for ever, as on a GPU.

use windlass_hal::{Error, FunctionInfo, Parameter, ParameterKind, Result};

use crate::words::{self, Word};

/// One kernel: its head and its code.
pub(crate) struct Kernel {
    pub(crate) info: FunctionInfo,
    pub(crate) code: Vec<Instruction>,
    pub(crate) variables: usize,
}

/// A step of the code, and its line in the text.
#[derive(Clone, Copy)]
pub(crate) struct Instruction {
    pub(crate) act: Act,
    pub(crate) line: usize,
}

#[derive(Clone, Copy)]
pub(crate) enum Act {
    Push(u64),
    /// A number in the argument block: its offset, its size in bytes, and whether it is signed.
    Argument {
        offset: usize,
        size: usize,
        signed: bool,
    },
    Get(usize),
    Set(usize),
    Jump(usize),
    JumpIfZero(usize),
    Word(&'static str, Word),
    End,
}

/// The meaning of a name in a kernel.
enum Name {
    Parameter(Act),
    Variable(usize),
}

/// The largest argument block in bytes.
const LARGEST_BLOCK: u32 = 4096;

/// Parses a text, which may be hostile. `INVALID_ARGUMENT` names the line of the fault.
pub(crate) fn parse(code: &[u8]) -> Result<Vec<Kernel>> {
    let text = std::str::from_utf8(code)
        .map_err(|error| invalid(1, format!("no text: byte {} is no UTF-8", error.valid_up_to())))?;
    let lines =
        text.lines().enumerate().map(|(index, line)| (index + 1, line.split('#').next().unwrap_or("")));
    let words: Vec<_> =
        lines.flat_map(|(line, text)| text.split_whitespace().map(move |word| (line, word))).collect();
    let mut words = Words { words: &words, at: 0 };
    if (words.next()?, words.next()?) != ("postfix", "1") {
        return Err(invalid(1, "no program: one begins with `postfix 1`"));
    }
    let mut kernels: Vec<Kernel> = Vec::new();
    loop {
        let (kernel, last) = words.kernel()?;
        if kernels.iter().any(|other| other.info.name == kernel.info.name) {
            return Err(words.invalid(format!("a second kernel `{}`", kernel.info.name)));
        }
        kernels.push(kernel);
        if last {
            break;
        }
    }
    match words.next() {
        Ok(word) => Err(words.invalid(format!("`{word}` behind `end.`"))),
        Err(_) => Ok(kernels),
    }
}

fn invalid(line: usize, what: impl std::fmt::Display) -> Error {
    Error::invalid_argument(format!("a postfix program, line {line}: {what}"))
}

struct Words<'a> {
    words: &'a [(usize, &'a str)],
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Result<&'a str> {
        let next = self.words.get(self.at).map(|(_, word)| *word);
        self.at += 1;
        next.ok_or_else(|| self.invalid("the text ends before its `end.`"))
    }

    fn line(&self) -> usize {
        let last = self.words.len().saturating_sub(1);
        self.words.get(self.at.saturating_sub(1).min(last)).map_or(1, |(line, _)| *line)
    }

    fn invalid(&self, what: impl std::fmt::Display) -> Error {
        invalid(self.line(), what)
    }

    /// Parses a kernel. Returns also whether it is the last.
    fn kernel(&mut self) -> Result<(Kernel, bool)> {
        let word = self.next()?;
        if word != "kernel" {
            return Err(self.invalid(format!("`{word}` where `kernel` belongs")));
        }
        let mut kernel = Kernel { info: FunctionInfo::default(), code: Vec::new(), variables: 0 };
        kernel.info.name = self.next()?.to_owned();
        let mut names = Vec::new();
        loop {
            match self.next()? {
                "code" => break,
                word => self.head(word, &mut kernel.info, &mut names)?,
            }
        }
        let last = self.code(&mut kernel, &mut names)?;
        Ok((kernel, last))
    }

    /// Parses a parameter or a limit of the kernel.
    fn head(&self, word: &'a str, info: &mut FunctionInfo, names: &mut Vec<(&'a str, Name)>) -> Result<()> {
        let number =
            |text: &str| text.parse::<u32>().map_err(|_| self.invalid(format!("no number: `{word}`")));
        if let Some((name, kind)) = word.split_once(':') {
            let (parameter, size, signed) = match kind {
                "buffer" => (ParameterKind::Buffer, 8, Some(false)),
                "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "f32" | "f64" => {
                    (ParameterKind::Value, number(&kind[1..])? / 8, Some(kind.starts_with('i')))
                }
                bytes => (ParameterKind::Value, number(bytes)?, None),
            };
            let alignment = 1 << size.trailing_zeros().min(3);
            let offset = info.argument_size.next_multiple_of(alignment);
            if size == 0 || size > LARGEST_BLOCK || offset + size > LARGEST_BLOCK {
                return Err(
                    self.invalid(format!("`{word}` does not fit: a block has 1 to {LARGEST_BLOCK} bytes"))
                );
            }
            let act = match signed {
                Some(signed) => Act::Argument { offset: offset as usize, size: size as usize, signed },
                None => Act::Push(u64::from(offset)),
            };
            names.push((name, Name::Parameter(act)));
            info.parameters.push(Parameter::new(parameter, offset, size).named(Some(name.to_owned())));
            info.argument_size = offset + size;
            return Ok(());
        }
        match word.split_once('=') {
            Some(("threads", text)) => info.max_workgroup_threads = number(text)?,
            Some(("local", text)) => info.static_local_memory = number(text)?,
            Some(("size", text)) => {
                let axes = text.split(',').map(number).collect::<Result<Vec<_>>>()?;
                let size = axes.try_into().ok().filter(|size: &[u32; 3]| !size.contains(&0));
                let size = size.ok_or_else(|| self.invalid(format!("`{word}` is no size X,Y,Z")))?;
                info.workgroup_size = Some(size);
                info.max_workgroup_threads =
                    size.iter().fold(1, |threads, axis| threads.saturating_mul(*axis));
            }
            _ => {
                return Err(
                    self.invalid(format!("`{word}` in the head of a kernel: NAME:TYPE, or a known NAME=N"))
                );
            }
        }
        Ok(())
    }

    /// Parses the code up to its end. Returns whether that ends the text.
    fn code(&mut self, kernel: &mut Kernel, names: &mut Vec<(&'a str, Name)>) -> Result<bool> {
        let Kernel { code, variables, .. } = kernel;
        // The open loops and conditions: the step to which a loop returns, and the jump that leaves the loop or is
        // the `if`.
        let mut open: Vec<(&str, usize)> = Vec::new();
        loop {
            let (word, at) = (self.next()?, code.len());
            let named = names.iter().find(|(name, _)| *name == word).map(|(_, name)| name);
            let unmatched = || self.invalid(format!("`{word}` without its opening word"));
            let act = match (named, word) {
                (Some(Name::Parameter(act)), _) => *act,
                (Some(Name::Variable(variable)), _) => Act::Get(*variable),
                (None, "begin") => {
                    open.push((word, at));
                    continue;
                }
                (None, "while" | "if") => {
                    open.push((word, at));
                    Act::JumpIfZero(0)
                }
                (None, "repeat") => {
                    let (Some(("while", leave)), Some(("begin", back))) = (open.pop(), open.pop()) else {
                        return Err(unmatched());
                    };
                    code[leave].act = Act::JumpIfZero(at + 1);
                    Act::Jump(back)
                }
                (None, "then") => {
                    let Some(("if", leave)) = open.pop() else { return Err(unmatched()) };
                    code[leave].act = Act::JumpIfZero(at);
                    continue;
                }
                (None, "end" | "end.") => {
                    if let Some((opened, _)) = open.last() {
                        return Err(self.invalid(format!("the kernel ends within `{opened}`")));
                    }
                    code.push(Instruction { act: Act::End, line: self.line() });
                    return Ok(word == "end.");
                }
                (None, _) => match (word.strip_prefix('='), words::find(word), number(word)) {
                    (Some(name), None, _) if !name.is_empty() => {
                        let known = names.iter().find(|(known, _)| *known == name).map(|(_, name)| name);
                        match known {
                            Some(Name::Variable(variable)) => Act::Set(*variable),
                            Some(Name::Parameter(_)) => {
                                return Err(self.invalid(format!("`{word}`: a parameter keeps its value")));
                            }
                            None => {
                                names.push((name, Name::Variable(*variables)));
                                *variables += 1;
                                Act::Set(*variables - 1)
                            }
                        }
                    }
                    (_, Some((name, found)), _) => Act::Word(name, found),
                    (_, _, Some(number)) => Act::Push(number),
                    _ => return Err(self.invalid(format!("unknown word `{word}`"))),
                },
            };
            code.push(Instruction { act, line: self.line() });
        }
    }
}

/// Parses a whole number, or an f32 with a point or an `f` before it: `7`, `-1`, `1.5`, `-inf`.
fn number(word: &str) -> Option<u64> {
    let whole = word.parse::<i128>().ok().filter(|n| *n >= i64::MIN.into() && *n <= u64::MAX.into());
    whole.map(|n| n as u64).or_else(|| word.parse::<f32>().ok().map(|value| u64::from(value.to_bits())))
}
