// SPDX-License-Identifier: MIT OR Apache-2.0
//! LLVM's text of an instruction, parsed.

use super::real::{self, Format};

/// An instruction as LLVM prints it.
#[derive(Debug)]
pub(super) struct Line<'t> {
    /// The mnemonic without the suffix of an encoding.
    pub(super) name: &'t str,
    /// The suffix: `e32`, `e64`, `dpp`, `sdwa` or nothing.
    pub(super) form: &'t str,
    pub(super) operands: Vec<Operand<'t>>,
    modifiers: Vec<(&'t str, &'t str)>,
}

/// An operand with its signs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand<'t> {
    pub(super) negative: bool,
    pub(super) absolute: bool,
    pub(super) sext: bool,
    pub(super) what: What<'t>,
}

/// The thing that an operand names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What<'t> {
    /// The first of vector registers; accumulation registers from 256.
    Vector(usize),
    /// The first of scalar registers, by hardware number.
    Scalar(usize),
    /// A constant, as written.
    Constant(&'t str),
    /// Anything else, as written.
    Other(&'t str),
}

impl<'t> Line<'t> {
    pub(super) fn parse(text: &'t str) -> Self {
        let (first, mut rest) = text.split_once(' ').unwrap_or((text, ""));
        let (name, form) = ["e32", "e64", "dpp", "sdwa"]
            .iter()
            .find_map(|form| Some((first.strip_suffix(form)?.strip_suffix('_')?, *form)))
            .unwrap_or((first, ""));
        let mut operands = Vec::new();
        let mut modifiers = Vec::new();
        loop {
            let piece = upto_comma(rest);
            let (last, after) = match rest.get(piece.len()..).and_then(|rest| rest.strip_prefix(", ")) {
                Some(after) => (false, after),
                None => (true, ""),
            };
            let mut words = piece.split(' ');
            // The last operand is followed by the modifiers.
            let operand = words.next().unwrap_or("");
            if operand.contains(':') && !operand.contains('[') || is_flag(operand) {
                words = piece.split(' ');
            } else if !operand.is_empty() {
                let whole = if last { operand } else { piece };
                operands.push(Operand::parse(if whole.contains('(') && !whole.starts_with("sext") {
                    piece
                } else {
                    whole
                }));
            }
            if last {
                for word in words.filter(|word| !word.is_empty()) {
                    modifiers.push(word.split_once(':').unwrap_or((word, "1")));
                }
                break;
            }
            rest = after;
        }
        Self { name, form, operands, modifiers }
    }

    /// The text behind a modifier's colon; `1` without a colon.
    pub(super) fn modifier(&self, name: &str) -> Option<&'t str> {
        self.modifiers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.modifier(name).is_some()
    }

    /// A modifier's number, 0 if it is absent.
    pub(super) fn number(&self, name: &str) -> i64 {
        self.modifier(name).map_or(0, integer)
    }

    /// One entry of a modifier in brackets.
    pub(super) fn list(&self, name: &str, index: usize) -> Option<i64> {
        let list = self.modifier(name)?.trim_start_matches('[').trim_end_matches(']');
        list.split(',').nth(index).map(integer)
    }
}

fn is_flag(word: &str) -> bool {
    matches!(word, "sc0" | "sc1" | "nt" | "glc" | "offen" | "idxen" | "gds" | "clamp" | "lds")
}

/// `text` up to the first ", " outside of parentheses.
fn upto_comma(text: &str) -> &str {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 && text[at..].starts_with(", ") => return &text[..at],
            _ => {}
        }
    }
    text
}

/// A decimal or hexadecimal integer.
pub(super) fn integer(text: &str) -> i64 {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    let value = value.unwrap_or_else(|error| panic!("{text:?} is no integer: {error}"));
    if negative { -value } else { value }
}

impl<'t> Operand<'t> {
    fn parse(text: &'t str) -> Self {
        let plain = Operand { negative: false, absolute: false, sext: false, what: What::Other(text) };
        if let Some(inner) = text.strip_prefix("sext(").and_then(|text| text.strip_suffix(')')) {
            return Operand { sext: true, ..Self::parse(inner) };
        }
        if let Some(inner) = text.strip_prefix('|').and_then(|text| text.strip_suffix('|')) {
            return Operand { absolute: true, ..Self::parse(inner) };
        }
        if let Some(inner) = text.strip_prefix('-')
            && !inner.starts_with(|c: char| c.is_ascii_digit())
        {
            return Operand { negative: true, ..Self::parse(inner) };
        }
        if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Operand { what: What::Constant(text), ..plain };
        }
        let what = match text {
            "vcc" | "vcc_lo" => What::Scalar(106),
            "vcc_hi" => What::Scalar(107),
            "m0" => What::Scalar(124),
            "exec" | "exec_lo" => What::Scalar(126),
            "exec_hi" => What::Scalar(127),
            "flat_scratch" | "flat_scratch_lo" => What::Scalar(102),
            "xnack_mask" | "xnack_mask_lo" => What::Scalar(104),
            _ => match (text.get(..1), first_number(&text[1..])) {
                (Some("v"), Some(number)) => What::Vector(number),
                (Some("a"), Some(number)) => What::Vector(256 + number),
                (Some("s"), Some(number)) => What::Scalar(number),
                _ => What::Other(text),
            },
        };
        Operand { what, ..plain }
    }

    /// The bits of a constant in an operand of a float format, or of an integer of the same width.
    pub(super) fn constant(text: &str, format: Format) -> u64 {
        if text.contains('.') {
            let value: f64 = text.parse().unwrap_or_else(|_| panic!("{text:?} is no constant"));
            // LLVM prints 1/(2 pi) with too few digits.
            let value = if (value - 0.15915494).abs() < 1e-4 { 0.159_154_943_091_895_32 } else { value };
            let bits = real::from_f64(format, value);
            return if (value - 0.159_154_943_091_895_32).abs() < 1e-9 {
                match format {
                    real::F16 => 0x3118,
                    real::F64 => 0x3fc4_5f30_6dc9_c882,
                    _ => 0x3e22_f983,
                }
            } else {
                bits
            };
        }
        let literal = text.starts_with("0x");
        let value = integer(text);
        match format {
            real::F16 => value as u64 & 0xffff,
            real::F64 if literal => (value as u64) << 32,
            real::F64 => value as u64,
            _ => value as u64 & 0xffff_ffff,
        }
    }
}

/// The number in `12` or `[12:13]`.
fn first_number(text: &str) -> Option<usize> {
    let text = text.strip_prefix('[').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[test]
fn text_is_taken_apart() {
    let line = Line::parse("v_add_f32_dpp v40, -v4, |v10| row_shr:1 row_mask:0xb bank_mask:0xf bound_ctrl:1");
    assert_eq!((line.name, line.form, line.operands.len()), ("v_add_f32", "dpp", 3));
    assert!(line.operands[1].negative && line.operands[2].absolute);
    assert_eq!((line.number("row_mask"), line.number("bound_ctrl"), line.has("quad_perm")), (11, 1, false));
    let line = Line::parse("v_fma_f16 v40, v4, s8, -2.0 op_sel:[1,0,0,1] clamp");
    assert_eq!(line.operands[3].what, What::Constant("-2.0"));
    assert_eq!((line.list("op_sel", 3), line.list("op_sel", 1), line.has("clamp")), (Some(1), Some(0), true));
    let line = Line::parse("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0");
    assert_eq!(line.operands[0].what, What::Other("hwreg(HW_REG_MODE, 4, 2)"));
    let line = Line::parse("buffer_load_dword v1, off, s[8:11], 0 offset:4 sc0");
    assert_eq!((line.operands.len(), line.number("offset"), line.has("sc0")), (4, 4, true));
    let line = Line::parse("v_add_u32_sdwa v40, sext(v4), s9 dst_sel:BYTE_1");
    assert!(line.operands[1].sext);
    assert_eq!(line.modifier("dst_sel"), Some("BYTE_1"));
    assert_eq!(Line::parse("s_barrier").operands.len(), 0);
    assert_eq!(Line::parse("ds_nop").name, "ds_nop");
    assert_eq!(Operand::constant("-7", real::F32), 0xffff_fff9);
    assert_eq!(Operand::constant("1.0", real::F16), 0x3c00);
}
