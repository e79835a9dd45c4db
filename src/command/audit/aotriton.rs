// SPDX-License-Identifier: MIT OR Apache-2.0
//! AOTriton's images: `AKS2`, three numbers, and an xz stream of a directory and the code objects.

use windlass_codeobject::Budget;

use super::{
    packed::Method,
    store::{LARGEST, Store},
};

const MAGIC: &[u8] = b"AKS2";
/// The magic, the size of the content, the number of code objects, and the size of the directory.
const HEADER: usize = 16;
/// Shared memory, threads, offset behind the directory, size, and the length of the name with the zero at its end.
const ROW: usize = 20;

pub(super) fn is(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Reads the code objects of a file.
pub(super) fn read(bytes: &[u8], budget: &Budget) -> Result<Store, String> {
    let damaged = |problem: &str| format!("AOTriton's images are damaged: {problem}; fetch the file again");
    let cut = || damaged("the file is cut short");
    let (header, stream) = bytes.split_at_checked(HEADER).ok_or_else(cut)?;
    let number = |bytes: &[u8], index: usize| {
        let four = bytes.get(4 * index..4 * index + 4)?;
        Some(u32::from_le_bytes(four.try_into().ok()?) as usize)
    };
    let field = |index| number(header, index).unwrap_or_default();
    let [size, count, directory] = [1, 2, 3].map(field);
    if size as u64 > LARGEST {
        return Err(damaged(&format!("they would have {size} bytes")));
    }
    let content = Method::Xz.unpack(stream, |_| true, size as u64, budget)?.unwrap_or_default();
    if content.len() != size {
        return Err(damaged(&format!("they have {} bytes, and the header says {size}", content.len())));
    }
    let (mut rows, images) = content.split_at_checked(directory).ok_or_else(cut)?;
    let mut store = Store::new("AOTriton's images", bytes.len() as u64, budget);
    for _ in 0..count {
        let (row, rest) = rows.split_at_checked(ROW).ok_or_else(cut)?;
        let [offset, size, length] = [2, 3, 4].map(|index| number(row, index).unwrap_or_default());
        let (name, rest) = rest.split_at_checked(length).ok_or_else(cut)?;
        rows = rest;
        let name = String::from_utf8_lossy(name.strip_suffix(b"\0").unwrap_or(name)).into_owned();
        // A kernel that AOTriton could not compile has no code.
        if size == 0 {
            continue;
        }
        if budget.is_spent() {
            break;
        }
        match images.get(offset..).and_then(|images| images.get(..size)) {
            Some(image) => store.add(&name, image),
            None => store.problem(&name, "its code lies behind the end of the images"),
        }
    }
    Ok(store)
}
