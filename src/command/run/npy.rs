// SPDX-License-Identifier: MIT OR Apache-2.0
//! NumPy's `.npy` files: one dense little-endian array each.
//!
//! Read here rather than by a crate: the header is one line of three known fields, and the crates for it depend on a
//! parser generator.

use crate::{ElementType, Literal, Shape};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The limit of the header's size in bytes. The header of a file with one plain array is far shorter.
pub(crate) const LONGEST_HEADER: u64 = 1 << 16;

/// Whether the bytes are an `.npy` file.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The array of a file.
#[derive(Debug)]
pub(crate) struct Array<'a> {
    /// NumPy's name of the element type, such as `<f4`.
    descr: String,
    shape: Shape,
    data: &'a [u8],
}

/// Reads the header of a file.
pub(crate) fn decode(bytes: &[u8]) -> Result<Array<'_>, String> {
    let cut = || "the .npy file is cut short".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is no .npy file: it does not begin with \\x93NUMPY; give raw bytes with a type and shape, such as 1024xf32=@FILE")?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = match version[0] {
        1 => rest.split_first_chunk::<2>().map(|(length, rest)| (u16::from_le_bytes(*length).into(), rest)),
        2 | 3 => {
            rest.split_first_chunk::<4>().map(|(length, rest)| (u32::from_le_bytes(*length) as usize, rest))
        }
        other => return Err(format!("version {other} of .npy is not known")),
    }
    .ok_or_else(cut)?;
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header =
        std::str::from_utf8(header).map_err(|_| "the header of the .npy file is no text".to_owned())?;
    let field = |name: &str| {
        let quoted = format!("'{name}':");
        header
            .split_once(&quoted)
            .map(|(_, value)| value.trim_start())
            .ok_or_else(|| format!("the header of the .npy file lacks `{name}`"))
    };
    let descr = field("descr")?
        .strip_prefix('\'')
        .and_then(|text| text.split_once('\''))
        .map(|(descr, _)| descr.to_owned())
        .ok_or("its elements are structures; save plain numbers")?;
    let shape = field("shape")?
        .strip_prefix('(')
        .and_then(|text| text.split_once(')'))
        .ok_or("the shape in its header is malformed")?
        .0;
    let dimensions: Vec<u64> = shape
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().map_err(|_| format!("`{part}` in its header is no dimension")))
        .collect::<Result<_, _>>()?;
    if dimensions.len() > 1 && !field("fortran_order")?.starts_with("False") {
        return Err("it is in column-major order; save it with numpy.ascontiguousarray".to_owned());
    }
    Ok(Array { descr, shape: Shape::new(dimensions), data })
}

impl Array<'_> {
    /// The array with the type that the file states.
    pub(crate) fn literal(self) -> Result<Literal, String> {
        let element_type = self.element_type().ok_or_else(|| {
            format!(
                "numbers of type {} are not known here; save i1 to i8, u1 to u8, f2, f4, f8 or b1, little-endian{}",
                self.descr,
                if self.is_void() { "; for bfloat16 state type and shape, such as 1024xbf16=@FILE.npy" } else { "" }
            )
        })?;
        make(self.shape, element_type, self.data)
    }

    /// The array with a stated type and shape, which must match the file's.
    pub(crate) fn literal_as(self, shape: Shape, element_type: ElementType) -> Result<Literal, String> {
        let found = self.element_type();
        let fits = match found {
            Some(found) => {
                same_numbers(found, element_type)
                    || (found, element_type) == (ElementType::Uint16, ElementType::Bfloat16)
            }
            None => self.is_void() && element_type == ElementType::Bfloat16,
        };
        if !fits || shape != self.shape {
            let found = found.map_or_else(|| self.descr.clone(), |found| found.to_string());
            let dimensions = self.shape.to_string();
            let x = if dimensions.is_empty() { "" } else { "x" };
            return Err(format!("it holds {dimensions}{x}{found}, not {}", shape.with(element_type)));
        }
        make(shape, element_type, self.data)
    }

    fn element_type(&self) -> Option<ElementType> {
        Some(match self.descr.as_str() {
            "|b1" => ElementType::Bool8,
            "|i1" | "<i1" => ElementType::Int8,
            "<i2" => ElementType::Int16,
            "<i4" => ElementType::Int32,
            "<i8" => ElementType::Int64,
            "|u1" | "<u1" => ElementType::Uint8,
            "<u2" => ElementType::Uint16,
            "<u4" => ElementType::Uint32,
            "<u8" => ElementType::Uint64,
            "<f2" => ElementType::Float16,
            "<f4" => ElementType::Float32,
            "<f8" => ElementType::Float64,
            _ => return None,
        })
    }

    /// NumPy has no bfloat16; ml_dtypes saves it as a void type of two bytes.
    fn is_void(&self) -> bool {
        matches!(self.descr.as_str(), "|V2" | "<V2")
    }
}

fn make(shape: Shape, element_type: ElementType, data: &[u8]) -> Result<Literal, String> {
    Literal::new(shape, element_type, data.to_vec())
        .map_err(|error| format!("the file is cut short or too long: {}", error.message()))
}

/// Whether two types have the same representation, apart from the sign of integers.
pub(crate) fn same_numbers(left: ElementType, right: ElementType) -> bool {
    left == right || {
        let plain = |kind: ElementType| !kind.is_float() && kind != ElementType::Bool8;
        plain(left) && plain(right) && left.size() == right.size()
    }
}

/// The bytes of a file that holds an array.
pub(crate) fn encode(literal: &Literal) -> Vec<u8> {
    let (kind, size) = (literal.element_type(), literal.element_type().size());
    let letter = match kind {
        ElementType::Bool8 => 'b',
        ElementType::Bfloat16 => 'V',
        kind if kind.is_float() => 'f',
        ElementType::Uint8 | ElementType::Uint16 | ElementType::Uint32 | ElementType::Uint64 => 'u',
        _ => 'i',
    };
    let order = if size == 1 { '|' } else { '<' };
    let dimensions: String =
        literal.shape().dimensions().iter().map(|dimension| format!("{dimension}, ")).collect();
    let shape = match literal.shape().dimensions() {
        [_] => dimensions.trim_end(),
        _ => dimensions.trim_end_matches(", "),
    };
    let mut header =
        format!("{{'descr': '{order}{letter}{size}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Magic, version and length take ten bytes. The header with its newline is padded to a multiple of 64.
    let padding = 64 - (10 + header.len() + 1) % 64;
    header.extend(std::iter::repeat_n(' ', padding % 64));
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    match u16::try_from(header.len()) {
        Ok(length) => {
            bytes.extend_from_slice(&[1, 0]);
            bytes.extend_from_slice(&length.to_le_bytes());
        }
        Err(_) => {
            bytes.extend_from_slice(&[2, 0]);
            bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        }
    }
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(literal.bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of `numpy.save` for `numpy.array([[1, 2, 3]], numpy.int16)`.
    fn by_numpy() -> Vec<u8> {
        let mut bytes =
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<i2', 'fortran_order': False, 'shape': (1, 3), }".to_vec();
        bytes.resize(127, b' ');
        bytes.push(b'\n');
        bytes.extend_from_slice(&[1, 0, 2, 0, 3, 0]);
        bytes
    }

    #[test]
    fn files_of_numpy_are_read_and_written() {
        let literal = decode(&by_numpy()).unwrap().literal().unwrap();
        assert_eq!(literal.to_string(), "1x3xi16=[1 2 3]");
        assert_eq!(encode(&literal), by_numpy());
        for text in ["f32=1", "2xbf16=1 2", "2x0x3xf64=", "3xui8=1 2 3", "2xi1=1 0"] {
            let literal: Literal = text.parse().unwrap();
            let file = encode(&literal);
            assert_eq!((file.len() - literal.bytes().len()) % 64, 0, "{text}");
            let back = decode(&file).unwrap().literal_as(literal.shape().clone(), literal.element_type());
            assert_eq!(back.unwrap(), literal, "{text}");
        }
    }

    #[test]
    fn what_does_not_match_is_named() {
        let file = by_numpy();
        let array = || decode(&file).unwrap();
        assert!(array().literal_as(Shape::new([1, 3]), ElementType::Sint16).is_ok());
        let message = array().literal_as(Shape::new([3]), ElementType::Int16).unwrap_err();
        assert!(message.contains("1x3xi16, not 3xi16"), "{message}");
        assert!(array().literal_as(Shape::new([1, 3]), ElementType::Float16).is_err());
    }

    #[test]
    fn damaged_files_are_refused() {
        let file = by_numpy();
        for length in 0..file.len() {
            let cut = decode(&file[..length]).and_then(Array::literal);
            assert!(cut.is_err(), "{length} bytes");
        }
        for (from, to) in
            [("<i2", ">i2"), ("False", "True "), ("(1, 3)", "(1, x)"), ("shape", "shade"), ("'<i2'", "[[2]]")]
        {
            let text = String::from_utf8_lossy(&file[10..127]).replace(from, to);
            let mut changed = file[..10].to_vec();
            changed.extend_from_slice(text.as_bytes());
            changed.extend_from_slice(&file[127..]);
            assert!(decode(&changed).and_then(Array::literal).is_err(), "{to}");
        }
    }
}
