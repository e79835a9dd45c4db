// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values as bytes: little-endian numbers, lists and texts behind their length, choices behind the number of the variant.

use windlass_hal::{Error, Result};

/// The longest bytes that an event holds itself. Longer ones are in chunks of their own.
pub(crate) const INLINE: usize = 1 << 16;

/// Bytes of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// In the event.
    Here(Vec<u8>),
    /// In data chunks of the file.
    Apart {
        /// The number that the chunks carry.
        data: u32,
        /// The number of bytes.
        length: u64,
    },
}

impl Bytes {
    /// The number of bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Here(bytes) => bytes.len() as u64,
            Self::Apart { length, .. } => *length,
        }
    }
}

/// Where values are written.
#[derive(Default)]
pub(crate) struct Out {
    pub(crate) bytes: Vec<u8>,
    /// The bytes that go to chunks of their own, each with its number.
    pub(crate) apart: Vec<(u32, Vec<u8>)>,
    /// The next of these numbers.
    pub(crate) next: u32,
}

/// Where values are read.
pub(crate) struct In<'a> {
    rest: &'a [u8],
}

impl<'a> In<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(Error::data_loss(format!(
                "{length} bytes are announced where {} are left",
                self.rest.len()
            )));
        };
        self.rest = rest;
        Ok(taken)
    }
}

/// A value with a form in bytes.
pub(crate) trait Coded: Sized {
    fn put(&self, out: &mut Out);
    fn take(from: &mut In<'_>) -> Result<Self>;
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Coded for $type {
            fn put(&self, out: &mut Out) {
                out.bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn take(from: &mut In<'_>) -> Result<Self> {
                let mut bytes = [0; size_of::<Self>()];
                bytes.copy_from_slice(from.take(size_of::<Self>())?);
                Ok(Self::from_le_bytes(bytes))
            }
        }
    )*};
}
numbers!(u8, u32, u64);

impl Coded for Bytes {
    fn put(&self, out: &mut Out) {
        match self {
            Self::Here(bytes) if bytes.len() <= INLINE => {
                out.bytes.push(0);
                (bytes.len() as u32).put(out);
                out.bytes.extend_from_slice(bytes);
            }
            Self::Here(bytes) => {
                let data = out.next;
                out.next += 1;
                out.apart.push((data, bytes.clone()));
                Self::Apart { data, length: bytes.len() as u64 }.put(out);
            }
            Self::Apart { data, length } => {
                out.bytes.push(1);
                data.put(out);
                length.put(out);
            }
        }
    }

    fn take(from: &mut In<'_>) -> Result<Self> {
        match u8::take(from)? {
            0 => {
                let length = u32::take(from)?;
                Ok(Self::Here(from.take(length as usize)?.to_vec()))
            }
            1 => Ok(Self::Apart { data: u32::take(from)?, length: u64::take(from)? }),
            other => Err(unknown("bytes", other)),
        }
    }
}

impl Coded for String {
    fn put(&self, out: &mut Out) {
        (self.len() as u32).put(out);
        out.bytes.extend_from_slice(self.as_bytes());
    }

    fn take(from: &mut In<'_>) -> Result<Self> {
        let length = u32::take(from)?;
        let bytes = from.take(length as usize)?.to_vec();
        Self::from_utf8(bytes).map_err(|_| Error::data_loss("a text is not UTF-8"))
    }
}

impl<T: Coded> Coded for Vec<T> {
    fn put(&self, out: &mut Out) {
        (self.len() as u32).put(out);
        self.iter().for_each(|element| element.put(out));
    }

    /// Memory grows with the elements that are there and not with their announced number.
    fn take(from: &mut In<'_>) -> Result<Self> {
        (0..u32::take(from)?).map(|_| T::take(from)).collect()
    }
}

impl<T: Coded> Coded for Option<T> {
    fn put(&self, out: &mut Out) {
        match self {
            None => out.bytes.push(0),
            Some(value) => {
                out.bytes.push(1);
                value.put(out);
            }
        }
    }

    fn take(from: &mut In<'_>) -> Result<Self> {
        match u8::take(from)? {
            0 => Ok(None),
            1 => T::take(from).map(Some),
            other => Err(unknown("an optional value", other)),
        }
    }
}

impl<T: Coded + Copy + Default, const N: usize> Coded for [T; N] {
    fn put(&self, out: &mut Out) {
        self.iter().for_each(|element| element.put(out));
    }

    fn take(from: &mut In<'_>) -> Result<Self> {
        let mut all = [T::default(); N];
        for element in &mut all {
            *element = T::take(from)?;
        }
        Ok(all)
    }
}

/// A struct: its fields one after the other.
macro_rules! structure {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::format::coding::Coded for $name {
            fn put(&self, out: &mut $crate::format::coding::Out) {
                $($crate::format::coding::Coded::put(&self.$field, out);)*
            }
            fn take(from: &mut $crate::format::coding::In<'_>) -> windlass_hal::Result<Self> {
                Ok(Self { $($field: $crate::format::coding::Coded::take(from)?),* })
            }
        }
    };
}

/// An enum: the number of the variant in one byte, then its fields.
macro_rules! choice {
    ($name:ident, $what:literal { $($number:literal => $variant:ident { $($field:ident),* $(,)? }),* $(,)? }) => {
        impl $crate::format::coding::Coded for $name {
            fn put(&self, out: &mut $crate::format::coding::Out) {
                match self {
                    $(Self::$variant { $($field),* } => {
                        out.bytes.push($number);
                        $($crate::format::coding::Coded::put($field, out);)*
                    })*
                }
            }
            fn take(from: &mut $crate::format::coding::In<'_>) -> windlass_hal::Result<Self> {
                match <u8 as $crate::format::coding::Coded>::take(from)? {
                    $($number => Ok(Self::$variant { $($field: $crate::format::coding::Coded::take(from)?),* }),)*
                    other => Err($crate::format::coding::unknown($what, other)),
                }
            }
        }
    };
}

pub(crate) use {choice, structure};

#[cold]
pub(crate) fn unknown(what: &str, number: u8) -> Error {
    Error::data_loss(format!("{what} of the unknown kind {number}"))
}
