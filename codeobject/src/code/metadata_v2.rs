// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel metadata of code object version 2: YAML in a note.
//!
//! Every scalar is taken verbatim, for what the schema says that it is: an argument called `N` is no boolean. What the
//! schema does not know passes, and what is wrong with one kernel stays with that kernel.

use std::borrow::Cow;
use std::str::FromStr;

use saphyr_parser::{BufferedInput, Event, Parser, ScalarStyle};

use crate::code::arg::{Access, AddressSpace, Arg, ArgKind};
use crate::code::lookahead::Lookahead;
use crate::code::metadata::{KernelRecord, Metadata};
use crate::error::Error;
use crate::warnings::Warnings;

/// The most bytes of YAML that are read. A thousand kernels take half a megabyte.
const MAX_NOTE: usize = 4 << 20;
/// How deep what no schema asks for may nest. The schema itself goes five deep.
const MAX_DEPTH: u32 = 64;

/// Reads the note's content and hands each kernel to `kernel` as soon as it is read.
pub(crate) fn parse(
    note: &[u8],
    warnings: &mut Warnings,
    kernel: &mut dyn FnMut(KernelRecord<'static>, &mut Warnings),
) -> Result<Metadata, Error> {
    if note.len() > MAX_NOTE {
        return Err(Error::Limit {
            what: "the kernel metadata of code object version 2 (YAML)".to_owned(),
            offset: 0,
            value: note.len() as u64,
            limit: MAX_NOTE as u64,
            advice: "no compiler writes so much, the input is damaged".to_owned(),
        });
    }
    // Writers pad the note with NUL bytes, which are no YAML.
    let end = note.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let note = &note[..end];
    let lookahead = Lookahead::new();
    let parser = Parser::new_from_iter(lookahead.characters(note));
    let mut reader = Reader { parser, lookahead, problem: None, warnings };
    let mut metadata = Metadata::default();
    if reader.document(&mut metadata, kernel).is_none() {
        let problem = reader.problem.unwrap_or_else(|| "it breaks off".to_owned());
        return Err(Error::malformed("the kernel metadata of code object version 2 (YAML)", 0, problem));
    }
    Ok(metadata)
}

/// Each method gives `None` where the document itself breaks off.
struct Reader<'d, 'w, C: Iterator<Item = char>> {
    parser: Parser<'d, BufferedInput<C>>,
    lookahead: Lookahead,
    problem: Option<String>,
    warnings: &'w mut Warnings,
}

impl<'d, C: Iterator<Item = char>> Reader<'d, '_, C> {
    fn document(
        &mut self,
        metadata: &mut Metadata,
        kernel: &mut dyn FnMut(KernelRecord<'static>, &mut Warnings),
    ) -> Option<()> {
        loop {
            match self.event()? {
                Event::MappingStart(..) => break,
                Event::StreamStart | Event::DocumentStart(_) => {}
                _ => {
                    self.problem = Some("it is no map".to_owned());
                    return None;
                }
            }
        }
        while let Some(key) = self.key()? {
            match &*key {
                "Version" => {
                    metadata.version = self.integers("Version")?.map(|[major, minor]| (major, minor));
                }
                "Kernels" => match self.event()? {
                    Event::SequenceStart(..) => loop {
                        let event = self.event()?;
                        if event == Event::SequenceEnd {
                            break;
                        }
                        let record = self.kernel(event)?;
                        kernel(record, self.warnings);
                    },
                    other => self.pass("Kernels", other)?,
                },
                _ => self.skip_value()?,
            }
        }
        Some(())
    }

    fn kernel(&mut self, event: Event<'d>) -> Option<KernelRecord<'static>> {
        let mut record = KernelRecord::default();
        if !matches!(event, Event::MappingStart(..)) {
            record.problem = Some("its metadata is no map".to_owned());
            self.skip(event)?;
            return Some(record);
        }
        while let Some(key) = self.key()? {
            match &*key {
                "Name" => record.name = self.name("Name")?,
                "SymbolName" => record.symbol = self.name("SymbolName")?,
                "Attrs" | "CodeProps" => self.properties(&key, &mut record)?,
                "Args" => self.args(&mut record)?,
                _ => self.skip_value()?,
            }
        }
        Some(record)
    }

    fn properties(&mut self, group: &str, record: &mut KernelRecord<'static>) -> Option<()> {
        let event = self.event()?;
        if !matches!(event, Event::MappingStart(..)) {
            return self.pass(group, event);
        }
        while let Some(key) = self.key()? {
            match &*key {
                "KernargSegmentSize" => record.kernarg_size = self.number(&key)?,
                "KernargSegmentAlign" => record.kernarg_align = self.number(&key)?,
                "GroupSegmentFixedSize" => record.group_segment_size = self.number(&key)?,
                "PrivateSegmentFixedSize" => record.private_segment_size = self.number(&key)?,
                "WavefrontSize" => record.wavefront_size = self.number(&key)?,
                "MaxFlatWorkGroupSize" => record.max_flat_workgroup_size = self.number(&key)?,
                "NumVGPRs" => record.vgpr_count = self.number(&key)?,
                "NumSGPRs" => record.sgpr_count = self.number(&key)?,
                "NumSpilledVGPRs" => record.vgpr_spill_count = self.number(&key)?,
                "NumSpilledSGPRs" => record.sgpr_spill_count = self.number(&key)?,
                "IsDynamicCallStack" => record.uses_dynamic_stack = self.flag(&key)?,
                "ReqdWorkGroupSize" => {
                    record.reqd_workgroup_size = self.integers(&key)?;
                    if record.reqd_workgroup_size.is_none() {
                        record.problem = Some("its ReqdWorkGroupSize is not three numbers".to_owned());
                    }
                }
                _ => self.skip_value()?,
            }
        }
        Some(())
    }

    fn args(&mut self, record: &mut KernelRecord<'static>) -> Option<()> {
        let event = self.event()?;
        if !matches!(event, Event::SequenceStart(..)) {
            if !is_null(&event) {
                record.problem = Some("its Args is no list".to_owned());
            }
            return self.skip(event);
        }
        record.args.clear();
        let mut end = Some(0);
        for index in 0_u64.. {
            let event = self.event()?;
            if event == Event::SequenceEnd {
                break;
            }
            match self.arg(event, &mut end)? {
                Ok(arg) => record.args.push(arg),
                Err(problem) => record.problem = Some(format!("its argument {index} {problem}")),
            }
        }
        Some(())
    }

    /// An argument, which begins at the first multiple of its alignment that is not below `end`.
    fn arg(&mut self, event: Event<'d>, end: &mut Option<u32>) -> Option<Result<Arg, &'static str>> {
        if !matches!(event, Event::MappingStart(..)) {
            self.skip(event)?;
            return Some(Err("is no map"));
        }
        let (mut size, mut align, mut kind) = (None, None, None);
        let mut arg = Arg::blank();
        while let Some(key) = self.key()? {
            match &*key {
                "Name" => arg.name = self.scalar(&key)?.map(Cow::into_owned),
                "TypeName" => arg.type_name = self.scalar(&key)?.map(Cow::into_owned),
                "Size" => size = self.number(&key)?,
                "Align" => align = self.number(&key)?,
                "ValueKind" => kind = self.word(&key)?,
                "AddrSpaceQual" => {
                    arg.address_space = self.word(&key)?.and_then(|word| AddressSpace::from_metadata(&word));
                }
                "AccQual" => arg.access = self.word(&key)?.and_then(|word| Access::from_metadata(&word)),
                "ActualAccQual" => {
                    arg.actual_access = self.word(&key)?.and_then(|word| Access::from_metadata(&word));
                }
                "PointeeAlign" => arg.pointee_align = self.number(&key)?,
                "IsConst" => arg.is_const = self.flag(&key)?.unwrap_or(false),
                "IsRestrict" => arg.is_restrict = self.flag(&key)?.unwrap_or(false),
                "IsVolatile" => arg.is_volatile = self.flag(&key)?.unwrap_or(false),
                _ => self.skip_value()?,
            }
        }
        let (Some(size), Some(kind)) = (size, kind) else { return Some(Err("has no Size or no ValueKind")) };
        let align = align.filter(|align: &u32| align.is_power_of_two()).unwrap_or(1);
        let offset = end.and_then(|end| end.checked_next_multiple_of(align));
        *end = offset.and_then(|offset| offset.checked_add(size));
        let (Some(offset), Some(_)) = (offset, *end) else { return Some(Err("ends past 4 GiB")) };
        Some(Ok(Arg { offset, size, kind: ArgKind::from_metadata(&kind), ..arg }))
    }

    fn event(&mut self) -> Option<Event<'d>> {
        let event = self.parser.next_event();
        if self.lookahead.is_exhausted() {
            let problem = "more of it belongs together than any compiler writes: a list in brackets, one long word, or a comment";
            self.problem = Some(problem.to_owned());
            return None;
        }
        self.lookahead.renew();
        let problem = match event? {
            // The parser remembers every anchor, so a document of nothing else would take many times its size.
            Ok((event, _)) if anchored(&event) => {
                "it has an anchor or an alias, which no compiler writes".to_owned()
            }
            Ok((event, _)) => return Some(event),
            Err(error) => error.to_string(),
        };
        self.problem = Some(problem);
        None
    }

    /// The next key of a map, `None` at its end; one that is no scalar matches none that is asked for.
    fn key(&mut self) -> Option<Option<Cow<'d, str>>> {
        match self.event()? {
            Event::MappingEnd => Some(None),
            Event::Scalar(key, ..) => Some(Some(key)),
            other => {
                self.skip(other)?;
                Some(Some(Cow::Borrowed("")))
            }
        }
    }

    fn scalar(&mut self, key: &str) -> Option<Option<Cow<'d, str>>> {
        match self.event()? {
            event if is_null(&event) => Some(None),
            Event::Scalar(value, ..) => Some(Some(value)),
            other => {
                self.pass(key, other)?;
                Some(None)
            }
        }
    }

    fn name(&mut self, key: &str) -> Option<Option<Cow<'static, [u8]>>> {
        Some(self.scalar(key)?.map(|name| Cow::Owned(name.into_owned().into_bytes())))
    }

    /// A word of the schema, spelled as the later metadata spell it.
    fn word(&mut self, key: &str) -> Option<Option<String>> {
        Some(self.scalar(key)?.map(|word| match &*word {
            "HiddenMultiGridSyncArg" => "hidden_multigrid_sync_arg".to_owned(),
            word => snake_case(word),
        }))
    }

    fn number(&mut self, key: &str) -> Option<Option<u32>> {
        self.parsed(key, "number of 32 bits")
    }

    fn flag(&mut self, key: &str) -> Option<Option<bool>> {
        self.parsed(key, "truth value")
    }

    fn parsed<T: FromStr>(&mut self, key: &str, what: &str) -> Option<Option<T>> {
        let Some(scalar) = self.scalar(key)? else { return Some(None) };
        let value = scalar.parse().ok();
        if value.is_none() {
            self.warnings.push(|| format!("the metadata's {key} is no {what}"));
        }
        Some(value)
    }

    fn integers<const N: usize>(&mut self, key: &str) -> Option<Option<[u32; N]>> {
        let event = self.event()?;
        if !matches!(event, Event::SequenceStart(..)) {
            self.pass(key, event)?;
            return Some(None);
        }
        let mut values = [None; N];
        let mut count = 0;
        loop {
            match self.event()? {
                Event::SequenceEnd => break,
                Event::Scalar(digits, ..) => {
                    if let Some(slot) = values.get_mut(count) {
                        *slot = digits.parse().ok();
                    }
                }
                other => self.skip(other)?,
            }
            count += 1;
        }
        if count != N || values.contains(&None) {
            return Some(None);
        }
        Some(Some(values.map(Option::unwrap_or_default)))
    }

    fn skip_value(&mut self) -> Option<()> {
        let event = self.event()?;
        self.skip(event)
    }

    /// Steps over a value of a type that its key does not have.
    fn pass(&mut self, key: &str, event: Event<'d>) -> Option<()> {
        self.warnings.push(|| format!("the metadata's {key} is not of the expected type, it is passed over"));
        self.skip(event)
    }

    /// Steps over everything that belongs to `event`.
    fn skip(&mut self, mut event: Event<'d>) -> Option<()> {
        let mut depth = 0_u32;
        loop {
            match event {
                Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
                Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Some(());
            }
            if depth > MAX_DEPTH {
                self.problem = Some(format!("it nests more than {MAX_DEPTH} levels deep"));
                return None;
            }
            event = self.event()?;
        }
    }
}

fn anchored(event: &Event<'_>) -> bool {
    match event {
        Event::Alias(_) => true,
        Event::Scalar(_, _, anchor, _) | Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
            *anchor != 0
        }
        _ => false,
    }
}

/// Whether a key has no value at all.
fn is_null(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(value, style, ..)
        if value.is_empty() && *style == ScalarStyle::Plain)
}

/// `GlobalBuffer` as `global_buffer`.
fn snake_case(word: &str) -> String {
    let mut out = String::with_capacity(word.len() + 4);
    for letter in word.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}
