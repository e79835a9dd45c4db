// SPDX-License-Identifier: MIT OR Apache-2.0
//! Little-endian numbers from untrusted bytes.

/// The `N` bytes of `data` at `offset`; `None` if `data` is too short.
pub(crate) fn array<const N: usize>(data: &[u8], offset: u64) -> Option<[u8; N]> {
    range(data, offset, N as u64)?.try_into().ok()
}

/// The `size` bytes of `data` at `offset`; `None` if `data` is too short.
pub(crate) fn range(data: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    let end = usize::try_from(offset.checked_add(size)?).ok()?;
    data.get(start..end)
}

pub(crate) fn u16_at(data: &[u8], offset: u64) -> Option<u16> {
    array(data, offset).map(u16::from_le_bytes)
}

pub(crate) fn u32_at(data: &[u8], offset: u64) -> Option<u32> {
    array(data, offset).map(u32::from_le_bytes)
}

pub(crate) fn u64_at(data: &[u8], offset: u64) -> Option<u64> {
    array(data, offset).map(u64::from_le_bytes)
}

/// Text from bytes that should be UTF-8. Other bytes are written as `\xNN`, so that different bytes stay different.
pub(crate) fn text(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().copied().flat_map(escaped));
    }
    out
}

/// A byte as `\xNN`.
fn escaped(byte: u8) -> [char; 4] {
    let [high, low] =
        [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or_default());
    ['\\', 'x', high, low]
}

/// The first bytes of unknown data, for a message.
pub(crate) fn glimpse(data: &[u8]) -> String {
    let head = &data[..data.len().min(16)];
    if head.is_empty() {
        return "none, the input ends".to_owned();
    }
    if head.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ') {
        return format!("`{}`", text(head));
    }
    head.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_wrap_are_not_there() {
        let data = [1, 2, 3, 4];
        assert_eq!(range(&data, 1, 2), Some(&data[1..3]));
        assert_eq!(range(&data, 4, 0), Some(&data[4..]));
        assert_eq!(range(&data, 1, u64::MAX), None);
        assert_eq!(range(&data, u64::MAX, 2), None);
        assert_eq!(u32_at(&data, 0), Some(0x0403_0201));
        assert_eq!(u32_at(&data, 1), None);
    }

    #[test]
    fn text_keeps_different_bytes_apart() {
        assert_eq!(text(b"k\xffernel"), "k\\xffernel");
        assert_ne!(text(b"\xfe"), text(b"\xff"));
    }
}
