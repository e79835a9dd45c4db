// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file: a magic number, a version, and chunks with a length and a checksum each.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, BufReader, Read, Seek, SeekFrom, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

use windlass_hal::{Error, Result};

use super::{
    coding::{Bytes, Coded, In, Out},
    event::{Event, Header},
};

const MAGIC: &[u8; 16] = b"windlass-record\n";

/// The version of the format that this crate writes, and the only one that it reads.
pub(crate) const VERSION: u32 = 1;

const HEADER: u8 = 0;
const EVENT: u8 = 1;
const DATA: u8 = 2;

/// The most bytes of a data chunk.
const PIECE: usize = 1 << 20;
/// The most bytes of any chunk.
const MOST: u32 = 1 << 30;

/// Appends events to a new file.
pub(crate) struct Writer {
    file: File,
    next_data: u32,
}

impl Writer {
    /// Makes the file. An older one keeps its contents for programs that have it open.
    pub(crate) fn create(path: &Path, header: &Header) -> io::Result<Self> {
        if fs::symlink_metadata(path).is_ok_and(|old| old.is_file()) {
            fs::remove_file(path)?;
        }
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        file.write_all(MAGIC)?;
        file.write_all(&VERSION.to_le_bytes())?;
        let mut writer = Self { file, next_data: 0 };
        writer.write(HEADER, header)?;
        Ok(writer)
    }

    /// Appends an event. It is in the file, for other programs to read, when this returns.
    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
        self.write(EVENT, event)
    }

    fn write(&mut self, kind: u8, value: &impl Coded) -> io::Result<()> {
        let mut out = Out { next: self.next_data, ..Out::default() };
        value.put(&mut out);
        self.next_data = out.next;
        for (number, bytes) in &out.apart {
            for piece in bytes.chunks(PIECE) {
                let mut payload = Vec::with_capacity(4 + piece.len());
                payload.extend_from_slice(&number.to_le_bytes());
                payload.extend_from_slice(piece);
                self.chunk(DATA, &payload)?;
            }
        }
        self.chunk(kind, &out.bytes)
    }

    fn chunk(&mut self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).ok().filter(|length| *length <= MOST);
        let length = length.ok_or_else(|| io::Error::other("an event of more than 1 GiB"))?;
        let mut chunk = Vec::with_capacity(payload.len() + 9);
        chunk.push(kind);
        chunk.extend_from_slice(&length.to_le_bytes());
        chunk.extend_from_slice(payload);
        chunk.extend_from_slice(&crc32fast::hash(&chunk).to_le_bytes());
        self.file.write_all(&chunk)
    }
}

/// The pieces of bytes that are apart from their event: offset in the file and length, in bytes.
type Pieces = Vec<(u64, u32)>;

/// The data chunks of an open file.
#[derive(Debug)]
pub(crate) struct Data {
    file: Mutex<File>,
    pieces: HashMap<u32, Pieces>,
}

/// Everything in a file.
pub(crate) struct Contents {
    pub(crate) header: Header,
    /// Each event with the offset of its chunk in the file.
    pub(crate) events: Vec<(u64, Event)>,
    pub(crate) data: Data,
    /// The offset at which the file was cut short, if it was.
    pub(crate) cut: Option<u64>,
}

/// Reads a file. `DATA_LOSS` for a file that is no recording, has another version or is damaged, and the error of the
/// system where it cannot be read.
pub(crate) fn read(path: &Path) -> Result<Contents> {
    let unreadable = |error: io::Error| {
        let make = match error.kind() {
            io::ErrorKind::NotFound => Error::not_found,
            io::ErrorKind::PermissionDenied => Error::permission_denied,
            _ => Error::unavailable,
        };
        make(format!("cannot read {}: {error}", path.display()))
    };
    let damaged = |at: u64, what: String| {
        Error::data_loss(format!("{} is no whole recording: at byte {at}, {what}", path.display()))
    };
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let mut start = [0; 20];
    if length < 20 || reader.read_exact(&mut start).is_err() || &start[..16] != MAGIC {
        return Err(damaged(0, "the magic number of a recording is missing".to_owned()));
    }
    let version = u32::from_le_bytes([start[16], start[17], start[18], start[19]]);
    if version != VERSION {
        return Err(Error::data_loss(format!(
            "{} has version {version} of the format, and this program reads version {VERSION}; replay it with the \
             version of Windlass that made it",
            path.display()
        )));
    }
    let (mut at, mut header, mut cut) = (20_u64, None, None);
    let (mut events, mut pieces) = (Vec::new(), HashMap::<u32, Pieces>::new());
    while at < length {
        let left = length - at;
        let mut head = [0; 5];
        if left >= 5 {
            reader.read_exact(&mut head).map_err(unreadable)?;
        }
        let size = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
        if left >= 5 && size > MOST {
            return Err(damaged(at, format!("a chunk of {size} bytes")));
        }
        if left < 9 + u64::from(size) {
            cut = Some(at);
            break;
        }
        let mut payload = vec![0; size as usize + 4];
        reader.read_exact(&mut payload).map_err(unreadable)?;
        let sum = payload.split_off(size as usize);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&head);
        hasher.update(&payload);
        if hasher.finalize().to_le_bytes() != sum[..] {
            return Err(damaged(at, "a chunk whose checksum is wrong".to_owned()));
        }
        let decode = |error: Error| damaged(at, error.message().to_owned());
        let mut from = In::new(&payload);
        match head[0] {
            HEADER if header.is_none() => header = Some(Header::take(&mut from).map_err(decode)?),
            EVENT if header.is_some() => events.push((at, Event::take(&mut from).map_err(decode)?)),
            DATA if header.is_some() && payload.len() > 4 => {
                let number = u32::take(&mut from).map_err(decode)?;
                pieces.entry(number).or_default().push((at + 9, size - 4));
            }
            other => return Err(damaged(at, format!("a chunk of kind {other}"))),
        }
        if head[0] != DATA && !from.is_empty() {
            return Err(damaged(at, "bytes behind the end of an event".to_owned()));
        }
        at += 9 + u64::from(size);
    }
    let Some(header) = header else { return Err(damaged(20, "the header is missing".to_owned())) };
    Ok(Contents { header, events, data: Data { file: Mutex::new(reader.into_inner()), pieces }, cut })
}

impl Data {
    /// Whether all of these bytes are in the file.
    pub(crate) fn holds(&self, bytes: &Bytes) -> bool {
        match bytes {
            Bytes::Here(_) => true,
            Bytes::Apart { data, length } => {
                let pieces = self.pieces.get(data).into_iter().flatten();
                pieces.map(|(_, length)| u64::from(*length)).sum::<u64>() == *length
            }
        }
    }

    /// The bytes themselves.
    pub(crate) fn get(&self, bytes: &Bytes) -> Result<Vec<u8>> {
        let (data, length) = match bytes {
            Bytes::Here(bytes) => return Ok(bytes.clone()),
            Bytes::Apart { data, length } => (data, *length),
        };
        let mut all = Vec::new();
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, length) in self.pieces.get(data).into_iter().flatten() {
            let start = all.len();
            all.resize(start + *length as usize, 0);
            file.seek(SeekFrom::Start(*at))
                .and_then(|_| file.read_exact(&mut all[start..]))
                .map_err(|error| Error::data_loss(format!("the recording can no longer be read: {error}")))?;
        }
        if all.len() as u64 != length {
            return Err(Error::data_loss(format!("{} of {length} bytes are in the recording", all.len())));
        }
        Ok(all)
    }
}
