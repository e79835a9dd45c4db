// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel metadata of a code object from version 3 on: a MessagePack map in each of its notes.
//!
//! Producers differ, so the reader is lenient: it skips unknown keys, converts scalars of the wrong type, and keeps the
//! damage of one kernel to that kernel.

use crate::bytes::text;
use crate::code::arg::{Access, AddressSpace, Arg, ArgKind};
use crate::code::kernel::KernelKind;
use crate::code::notes::MetadataNote;
use crate::error::Error;
use crate::warnings::Warnings;
use crate::words::msgpack::{Cursor, Token};

/// The metadata beside the kernels.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    /// `amdhsa.version`.
    pub(crate) version: Option<(u32, u32)>,
    /// `amdhsa.target`, from version 1.1 on.
    pub(crate) target: Option<String>,
}

/// A kernel in the metadata; `None` stands for an absent key.
#[derive(Debug, Default)]
pub(crate) struct KernelRecord<'a> {
    pub(crate) name: Option<&'a [u8]>,
    pub(crate) symbol: Option<&'a [u8]>,
    pub(crate) kernarg_size: Option<u32>,
    pub(crate) kernarg_align: Option<u32>,
    pub(crate) group_segment_size: Option<u32>,
    pub(crate) private_segment_size: Option<u32>,
    pub(crate) wavefront_size: Option<u32>,
    pub(crate) max_flat_workgroup_size: Option<u32>,
    pub(crate) reqd_workgroup_size: Option<[u32; 3]>,
    pub(crate) kind: Option<KernelKind>,
    pub(crate) args: Vec<Arg>,
    pub(crate) vgpr_count: Option<u32>,
    pub(crate) sgpr_count: Option<u32>,
    pub(crate) agpr_count: Option<u32>,
    pub(crate) vgpr_spill_count: Option<u32>,
    pub(crate) sgpr_spill_count: Option<u32>,
    pub(crate) uses_dynamic_stack: Option<bool>,
    pub(crate) workgroup_processor_mode: Option<bool>,
    pub(crate) uniform_workgroup_size: Option<bool>,
    /// The reason why the kernel cannot be launched, if there is one.
    pub(crate) problem: Option<String>,
}

impl Metadata {
    /// Reads the content of all notes, and passes each kernel to `kernel` at once.
    pub(crate) fn read<'a>(
        notes: &[MetadataNote<'a>],
        warnings: &mut Warnings,
        kernel: &mut dyn FnMut(KernelRecord<'a>, &mut Warnings),
    ) -> Result<Metadata, Error> {
        let mut metadata = Metadata::default();
        for (index, note) in (1..).zip(notes) {
            let MetadataNote::MessagePack(content) = note else {
                let advice = "no runtime of today starts its kernels; recompile with -mcode-object-version=5";
                return Err(Error::unsupported("code object v2", 0, advice));
            };
            let which = match notes.len() {
                1 => "the AMDGPU note".to_owned(),
                count => format!("AMDGPU note {index} of {count}"),
            };
            let next = Metadata::parse(content, &which, warnings, kernel)?;
            metadata.join(next, &which, warnings)?;
        }
        Ok(metadata)
    }

    fn parse<'a>(
        note: &'a [u8],
        which: &str,
        warnings: &mut Warnings,
        kernel: &mut dyn FnMut(KernelRecord<'a>, &mut Warnings),
    ) -> Result<Metadata, Error> {
        let mut reader = Reader { cursor: Cursor::new(note), warnings };
        let mut metadata = Metadata::default();
        reader.document(&mut metadata, kernel).ok_or_else(|| {
            let offset = reader.cursor.position() as u64;
            Error::malformed(format!("the kernel metadata (MessagePack in {which})"), offset, "it breaks off")
        })?;
        Ok(metadata)
    }

    /// Adds the statements of a further note. HIP refuses notes of different versions.
    fn join(&mut self, next: Metadata, which: &str, warnings: &mut Warnings) -> Result<(), Error> {
        if let (Some((major, minor)), Some((other, other_minor))) = (self.version, next.version)
            && (major, minor) != (other, other_minor)
        {
            let what = format!(
                "kernel metadata of version {other}.{other_minor} in {which}, behind version {major}.{minor}"
            );
            let advice = "link objects that were compiled with one -mcode-object-version";
            return Err(Error::unsupported(what, 0, advice));
        }
        if let (Some(target), Some(other)) = (&self.target, &next.target)
            && target != other
        {
            warnings.push(|| format!("{which} says {other}, an earlier one {target}; the first is believed"));
        }
        self.version = self.version.or(next.version);
        self.target = self.target.take().or(next.target);
        Ok(())
    }
}

/// Each method returns `None` if the document ends early.
struct Reader<'a, 'w> {
    cursor: Cursor<'a>,
    warnings: &'w mut Warnings,
}

impl<'a> Reader<'a, '_> {
    fn document(
        &mut self,
        metadata: &mut Metadata,
        kernel: &mut dyn FnMut(KernelRecord<'a>, &mut Warnings),
    ) -> Option<()> {
        let Token::Map(count) = self.cursor.token()? else { return None };
        for _ in 0..count {
            match self.key()? {
                b"amdhsa.version" => {
                    metadata.version = self.integers("amdhsa.version")?.map(|[major, minor]| (major, minor));
                }
                b"amdhsa.target" => metadata.target = self.string("amdhsa.target")?.map(text),
                b"amdhsa.kernels" => match self.cursor.token()? {
                    Token::Array(kernels) => {
                        for _ in 0..kernels {
                            let record = self.kernel()?;
                            kernel(record, self.warnings);
                        }
                    }
                    other => self.pass("amdhsa.kernels", other)?,
                },
                _ => self.skip_value()?,
            }
        }
        Some(())
    }

    fn kernel(&mut self) -> Option<KernelRecord<'a>> {
        let mut record = KernelRecord::default();
        let count = match self.cursor.token()? {
            Token::Map(count) => count,
            other => {
                record.problem = Some("its metadata is no map".to_owned());
                self.cursor.skip(other)?;
                return Some(record);
            }
        };
        for _ in 0..count {
            let key = self.key()?;
            match key {
                b".name" => record.name = self.string(".name")?,
                b".symbol" => record.symbol = self.string(".symbol")?,
                b".kernarg_segment_size" => record.kernarg_size = self.integer(key)?,
                b".kernarg_segment_align" => record.kernarg_align = self.integer(key)?,
                b".group_segment_fixed_size" => record.group_segment_size = self.integer(key)?,
                b".private_segment_fixed_size" => record.private_segment_size = self.integer(key)?,
                b".wavefront_size" => record.wavefront_size = self.integer(key)?,
                b".max_flat_workgroup_size" => record.max_flat_workgroup_size = self.integer(key)?,
                b".reqd_workgroup_size" if self.is_nil()? => {}
                b".reqd_workgroup_size" => {
                    record.reqd_workgroup_size = self.integers(".reqd_workgroup_size")?;
                    if record.reqd_workgroup_size.is_none() {
                        record.problem = Some("its .reqd_workgroup_size is not three numbers".to_owned());
                    }
                }
                b".kind" => {
                    record.kind = match self.string(".kind")? {
                        Some(b"init") => Some(KernelKind::Init),
                        Some(b"fini") => Some(KernelKind::Fini),
                        _ => Some(KernelKind::Normal),
                    }
                }
                b".vgpr_count" => record.vgpr_count = self.integer(key)?,
                b".sgpr_count" => record.sgpr_count = self.integer(key)?,
                b".agpr_count" => record.agpr_count = self.integer(key)?,
                b".vgpr_spill_count" => record.vgpr_spill_count = self.integer(key)?,
                b".sgpr_spill_count" => record.sgpr_spill_count = self.integer(key)?,
                b".uses_dynamic_stack" => record.uses_dynamic_stack = self.flag(key)?,
                b".workgroup_processor_mode" => record.workgroup_processor_mode = self.flag(key)?,
                b".uniform_work_group_size" => record.uniform_workgroup_size = self.flag(key)?,
                b".args" => self.args(&mut record)?,
                _ => self.skip_value()?,
            }
        }
        Some(record)
    }

    fn args(&mut self, record: &mut KernelRecord<'a>) -> Option<()> {
        let count = match self.cursor.token()? {
            Token::Array(count) => count,
            Token::Nil => return Some(()),
            other => {
                record.problem = Some("its .args is no list".to_owned());
                return self.cursor.skip(other);
            }
        };
        record.args.clear();
        for index in 0..count {
            match self.arg()? {
                Ok(arg) => record.args.push(arg),
                Err(problem) => record.problem = Some(format!("its argument {index} {problem}")),
            }
        }
        Some(())
    }

    fn arg(&mut self) -> Option<Result<Arg, &'static str>> {
        let count = match self.cursor.token()? {
            Token::Map(count) => count,
            other => {
                self.cursor.skip(other)?;
                return Some(Err("is no map"));
            }
        };
        let mut offset = None;
        let mut size = None;
        let mut kind = None;
        let mut arg = Arg::blank();
        for _ in 0..count {
            let key = self.key()?;
            match key {
                b".offset" => offset = self.integer(key)?,
                b".size" => size = self.integer(key)?,
                b".value_kind" => kind = self.word(".value_kind")?,
                b".name" => arg.name = self.word(".name")?,
                b".type_name" => arg.type_name = self.word(".type_name")?,
                b".address_space" => {
                    arg.address_space =
                        self.word(".address_space")?.and_then(|word| AddressSpace::from_metadata(&word));
                }
                b".access" => {
                    arg.access = self.word(".access")?.and_then(|word| Access::from_metadata(&word))
                }
                b".actual_access" => {
                    arg.actual_access =
                        self.word(".actual_access")?.and_then(|word| Access::from_metadata(&word));
                }
                b".pointee_align" => arg.pointee_align = self.integer(key)?,
                b".is_const" => arg.is_const = self.flag(key)?.unwrap_or(false),
                b".is_restrict" => arg.is_restrict = self.flag(key)?.unwrap_or(false),
                b".is_volatile" => arg.is_volatile = self.flag(key)?.unwrap_or(false),
                _ => self.skip_value()?,
            }
        }
        let (Some(offset), Some(size)) = (offset, size) else {
            return Some(Err("has no .offset or no .size"));
        };
        let Some(kind) = kind else { return Some(Err("has no .value_kind")) };
        Some(Ok(Arg { offset, size, kind: ArgKind::from_metadata(&kind), ..arg }))
    }

    /// A key; empty for one that is no string.
    fn key(&mut self) -> Option<&'a [u8]> {
        match self.cursor.token()? {
            Token::Str(key) | Token::Bin(key) => Some(key),
            other => {
                self.cursor.skip(other)?;
                Some(b"")
            }
        }
    }

    /// Whether a key has no value; if so, skips it.
    fn is_nil(&mut self) -> Option<bool> {
        let mut ahead = self.cursor.clone();
        let nil = ahead.token()? == Token::Nil;
        if nil {
            self.cursor = ahead;
        }
        Some(nil)
    }

    fn skip_value(&mut self) -> Option<()> {
        let token = self.cursor.token()?;
        self.cursor.skip(token)
    }

    /// Skips a value of the wrong type.
    fn pass(&mut self, key: &str, token: Token<'a>) -> Option<()> {
        self.warnings.push(|| format!("the metadata's {key} is not of the expected type, it is passed over"));
        self.cursor.skip(token)
    }

    /// A name; `None` for a value that is no string.
    fn string(&mut self, key: &str) -> Option<Option<&'a [u8]>> {
        match self.cursor.token()? {
            Token::Str(bytes) | Token::Bin(bytes) => Some(Some(bytes)),
            Token::Nil => Some(None),
            other => {
                self.pass(key, other)?;
                Some(None)
            }
        }
    }

    /// Text for people. YAML tools on the way to the note turn names such as N, y and 1 into booleans and numbers.
    fn word(&mut self, key: &str) -> Option<Option<String>> {
        let word = match self.cursor.token()? {
            Token::Str(bytes) | Token::Bin(bytes) => return Some(Some(text(bytes))),
            Token::Nil => return Some(None),
            Token::Bool(value) => value.to_string(),
            Token::Int(value) => value.to_string(),
            Token::Float(value) => value.to_string(),
            other => {
                self.pass(key, other)?;
                return Some(None);
            }
        };
        self.warnings.push(|| format!("the metadata's {key} is no string, it is read as `{word}`"));
        Some(Some(word))
    }

    fn integer(&mut self, key: &[u8]) -> Option<Option<u32>> {
        let value = match self.cursor.token()? {
            Token::Int(value) => u32::try_from(value).ok(),
            Token::Bool(value) => Some(value.into()),
            Token::Str(digits) => std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()),
            other => {
                self.cursor.skip(other)?;
                None
            }
        };
        if value.is_none() {
            self.warnings.push(|| format!("the metadata's {} is no number of 32 bits", text(key)));
        }
        Some(value)
    }

    fn flag(&mut self, key: &[u8]) -> Option<Option<bool>> {
        let value = match self.cursor.token()? {
            Token::Bool(value) => Some(value),
            Token::Int(value) => Some(value != 0),
            Token::Str(b"true") => Some(true),
            Token::Str(b"false") => Some(false),
            other => {
                self.cursor.skip(other)?;
                None
            }
        };
        if value.is_none() {
            self.warnings.push(|| format!("the metadata's {} is no truth value", text(key)));
        }
        Some(value)
    }

    fn integers<const N: usize>(&mut self, key: &str) -> Option<Option<[u32; N]>> {
        let count = match self.cursor.token()? {
            Token::Array(count) => count,
            other => {
                self.pass(key, other)?;
                return Some(None);
            }
        };
        let mut values = [None; N];
        for index in 0..count {
            let value = self.integer(key.as_bytes())?;
            if let Some(slot) = usize::try_from(index).ok().and_then(|index| values.get_mut(index)) {
                *slot = value;
            }
        }
        if usize::try_from(count) != Ok(N) || values.contains(&None) {
            return Some(None);
        }
        Some(Some(values.map(Option::unwrap_or_default)))
    }
}
