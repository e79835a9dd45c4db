// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cursor over MessagePack that allocates nothing and skips unknown parts.

use rmp::Marker;

/// A position in a MessagePack document.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    data: &'a [u8],
    position: usize,
}

/// One value, or the head of a value whose parts follow in the document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Token<'a> {
    Nil,
    Bool(bool),
    Int(i128),
    Float(f64),
    Str(&'a [u8]),
    Bin(&'a [u8]),
    Ext,
    Array(u32),
    /// The number of pairs of key and value.
    Map(u32),
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Cursor<'a> {
        Cursor { data, position: 0 }
    }

    /// The number of bytes before the cursor.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// The next token; `None` if the document ends early or has a byte that begins no value.
    pub(crate) fn token(&mut self) -> Option<Token<'a>> {
        let [marker] = self.array()?;
        Some(match Marker::from_u8(marker) {
            Marker::Null => Token::Nil,
            Marker::False => Token::Bool(false),
            Marker::True => Token::Bool(true),
            Marker::FixPos(value) => Token::Int(value.into()),
            Marker::FixNeg(value) => Token::Int(value.into()),
            Marker::U8 => Token::Int(u8::from_be_bytes(self.array()?).into()),
            Marker::U16 => Token::Int(u16::from_be_bytes(self.array()?).into()),
            Marker::U32 => Token::Int(u32::from_be_bytes(self.array()?).into()),
            Marker::U64 => Token::Int(u64::from_be_bytes(self.array()?).into()),
            Marker::I8 => Token::Int(i8::from_be_bytes(self.array()?).into()),
            Marker::I16 => Token::Int(i16::from_be_bytes(self.array()?).into()),
            Marker::I32 => Token::Int(i32::from_be_bytes(self.array()?).into()),
            Marker::I64 => Token::Int(i64::from_be_bytes(self.array()?).into()),
            Marker::F32 => Token::Float(f32::from_be_bytes(self.array()?).into()),
            Marker::F64 => Token::Float(f64::from_be_bytes(self.array()?)),
            Marker::FixStr(size) => Token::Str(self.bytes(size.into())?),
            Marker::Str8 => Token::Str(self.sized8()?),
            Marker::Str16 => Token::Str(self.sized16()?),
            Marker::Str32 => Token::Str(self.sized32()?),
            Marker::Bin8 => Token::Bin(self.sized8()?),
            Marker::Bin16 => Token::Bin(self.sized16()?),
            Marker::Bin32 => Token::Bin(self.sized32()?),
            Marker::FixArray(count) => Token::Array(count.into()),
            Marker::Array16 => Token::Array(u16::from_be_bytes(self.array()?).into()),
            Marker::Array32 => Token::Array(u32::from_be_bytes(self.array()?)),
            Marker::FixMap(count) => Token::Map(count.into()),
            Marker::Map16 => Token::Map(u16::from_be_bytes(self.array()?).into()),
            Marker::Map32 => Token::Map(u32::from_be_bytes(self.array()?)),
            Marker::FixExt1 => self.ext(1)?,
            Marker::FixExt2 => self.ext(2)?,
            Marker::FixExt4 => self.ext(4)?,
            Marker::FixExt8 => self.ext(8)?,
            Marker::FixExt16 => self.ext(16)?,
            Marker::Ext8 => {
                let size = u8::from_be_bytes(self.array()?).into();
                self.ext(size)?
            }
            Marker::Ext16 => {
                let size = u16::from_be_bytes(self.array()?).into();
                self.ext(size)?
            }
            Marker::Ext32 => {
                let size = u32::from_be_bytes(self.array()?);
                self.ext(size)?
            }
            Marker::Reserved => return None,
        })
    }

    /// Skips everything that belongs to `token`, at any depth, in constant space.
    pub(crate) fn skip(&mut self, token: Token<'a>) -> Option<()> {
        let children = |token| match token {
            Token::Array(count) => u64::from(count),
            Token::Map(count) => u64::from(count) * 2,
            _ => 0,
        };
        let mut pending = children(token);
        while pending > 0 {
            // Each value takes at least one byte, so the document's end bounds the loop and the sum.
            pending = pending - 1 + children(self.token()?);
        }
        Some(())
    }

    fn ext(&mut self, size: u32) -> Option<Token<'a>> {
        let [_kind] = self.array()?;
        self.bytes(size)?;
        Some(Token::Ext)
    }

    fn sized8(&mut self) -> Option<&'a [u8]> {
        let size = u8::from_be_bytes(self.array()?);
        self.bytes(size.into())
    }

    fn sized16(&mut self) -> Option<&'a [u8]> {
        let size = u16::from_be_bytes(self.array()?);
        self.bytes(size.into())
    }

    fn sized32(&mut self) -> Option<&'a [u8]> {
        let size = u32::from_be_bytes(self.array()?);
        self.bytes(size)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(u32::try_from(N).ok()?)?.try_into().ok()
    }

    fn bytes(&mut self, size: u32) -> Option<&'a [u8]> {
        let end = self.position.checked_add(usize::try_from(size).ok()?)?;
        let bytes = self.data.get(self.position..end)?;
        self.position = end;
        Some(bytes)
    }
}

/// Calls `each` with the key of each pair of the map at the cursor, and with the cursor at the value. `each` must bring the
/// cursor to the end of the value. Pairs whose key is no string are skipped.
pub(crate) fn for_each_pair<'a>(
    cursor: &mut Cursor<'a>,
    mut each: impl FnMut(&'a [u8], &mut Cursor<'a>) -> Option<()>,
) -> Option<()> {
    let Token::Map(count) = cursor.token()? else { return None };
    for _ in 0..count {
        match cursor.token()? {
            Token::Str(key) => each(key, cursor)?,
            other => {
                cursor.skip(other)?;
                skip_value(cursor)?;
            }
        }
    }
    Some(())
}

/// Skips the value at the cursor.
pub(crate) fn skip_value(cursor: &mut Cursor<'_>) -> Option<()> {
    let token = cursor.token()?;
    cursor.skip(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_nesting_is_stepped_over_without_a_stack() {
        let mut document = vec![0x91; if cfg!(miri) { 1000 } else { 1_000_000 }];
        document.push(0xc0);
        document.push(0x07);
        let mut cursor = Cursor::new(&document);
        let token = cursor.token().unwrap();
        assert_eq!(cursor.skip(token), Some(()));
        assert_eq!(cursor.token(), Some(Token::Int(7)));
        assert_eq!(cursor.token(), None);
    }

    #[test]
    fn counts_that_the_document_cannot_hold_end_with_it() {
        let mut cursor = Cursor::new(&[0xdf, 0xff, 0xff, 0xff, 0xff, 0xdd, 0xff, 0xff, 0xff, 0xff, 0x01]);
        let token = cursor.token().unwrap();
        assert_eq!(token, Token::Map(u32::MAX));
        assert_eq!(cursor.skip(token), None);
    }

    #[test]
    fn strings_past_the_end_are_refused() {
        assert_eq!(Cursor::new(&[0xdb, 0xff, 0xff, 0xff, 0xff, b'a']).token(), None);
        assert_eq!(Cursor::new(&[0xa2, b'a', b'b']).token(), Some(Token::Str(b"ab")));
        assert_eq!(Cursor::new(&[0xc1]).token(), None);
    }
}
