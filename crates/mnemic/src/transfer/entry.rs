//! A memory on its way in, and the place where they wait: in memory while they are few, else in a temporary file. It
//! never touches the memory they are for.

use std::io::{BufReader, BufWriter, Seek, SeekFrom, Write};

use mnemic_schema::{Kind, Layer, Lifecycle, Timestamp, Usage};
use tempfile::SpooledTempFile;

use super::document::DocumentEntry;
use super::records::{IN_MEMORY, SPOOLING, block, cannot_spool};
use crate::types::StoredMemory;
use crate::{Error, ErrorKind, Result};

/// A memory that is to be taken in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// Which line or row it came from, from 1.
    pub(super) place: u64,
    pub(super) id: String,
    pub(super) content: String,
    pub(super) project: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
    pub(super) lifecycle: Lifecycle,
    pub(super) usage: Usage,
    /// Its entities, distinct, and whether they came along (else they were found here); `None`: not said.
    pub(super) entities: Option<(Vec<String>, bool)>,
    /// What it is beside that where it is a document; its text is the card then.
    pub(super) document: Option<Box<DocumentEntry>>,
    /// A vector, and whether it came along (else it was made here).
    pub(super) vector: Option<(Vec<f32>, bool)>,
}

impl Entry {
    /// Whether a stored memory is this one, vectors and use aside, and entities where they are not said.
    pub(super) fn is(&self, stored: &StoredMemory) -> bool {
        let StoredMemory {
            id,
            content,
            project,
            tags,
            created_at,
            updated_at,
            entities,
            lifecycle,
            usage: _,
        } = stored;
        self.id == *id
            && self.content == *content
            && self.project == *project
            && self.tags == *tags
            && self.created_at == *created_at
            && self.updated_at == *updated_at
            && self.lifecycle == *lifecycle
            && self
                .entities
                .as_ref()
                .is_none_or(|(own, came)| !came || own == entities)
    }
}

/// Entries written once and read as often as need be.
#[derive(Debug)]
pub(super) struct Spool {
    file: BufWriter<SpooledTempFile>,
    pub(super) len: u64,
}

/// What of an entry is written as JSON; its vector follows as bytes.
type Head = (
    u64,
    String,
    String,
    Option<String>,
    Vec<String>,
    i64,
    i64,
    Option<bool>,
    Option<Said>,
    (u64, Option<i64>),
    Option<(Vec<String>, bool)>,
    Option<Box<DocumentEntry>>,
);

/// A lifecycle: its numbers by their bits, as text might round them, and its times in microseconds.
type Said = (
    String,
    [u64; 3],
    bool,
    bool,
    Option<String>,
    [Option<i64>; 4],
    [Option<String>; 2],
);

fn said(lifecycle: Lifecycle) -> Option<Said> {
    if lifecycle == Lifecycle::default() {
        return None;
    }
    let micros = |time: Option<Timestamp>| time.map(Timestamp::as_micros);
    Some((
        lifecycle.kind.as_str().to_owned(),
        [
            lifecycle.importance.to_bits(),
            lifecycle.trust.to_bits(),
            lifecycle.decay_rate.to_bits(),
        ],
        lifecycle.layer == Layer::LongTerm,
        lifecycle.pinned,
        lifecycle.source,
        [
            micros(lifecycle.valid_from),
            micros(lifecycle.valid_until),
            micros(lifecycle.superseded_at),
            micros(lifecycle.forgotten_at),
        ],
        [lifecycle.causal_parent, lifecycle.superseded_by],
    ))
}

fn lifecycle(said: Option<Said>) -> std::io::Result<Lifecycle> {
    let mut lifecycle = Lifecycle::default();
    let Some((kind, [importance, trust, decay_rate], is_long, pinned, source, times, links)) = said
    else {
        return Ok(lifecycle);
    };
    lifecycle.kind = Kind::from(kind);
    lifecycle.importance = f64::from_bits(importance);
    lifecycle.trust = f64::from_bits(trust);
    lifecycle.decay_rate = f64::from_bits(decay_rate);
    if is_long {
        lifecycle.layer = Layer::LongTerm;
    }
    lifecycle.pinned = pinned;
    lifecycle.source = source;
    let [valid_from, valid_until, superseded_at, forgotten_at] = times;
    for (micros, to) in [
        (valid_from, &mut lifecycle.valid_from),
        (valid_until, &mut lifecycle.valid_until),
        (superseded_at, &mut lifecycle.superseded_at),
        (forgotten_at, &mut lifecycle.forgotten_at),
    ] {
        *to = micros.map(time).transpose()?;
    }
    [lifecycle.causal_parent, lifecycle.superseded_by] = links;
    Ok(lifecycle)
}

fn time(micros: i64) -> std::io::Result<Timestamp> {
    Timestamp::from_micros(micros).map_err(std::io::Error::other)
}

impl Spool {
    pub(super) fn new() -> Self {
        Self {
            file: BufWriter::new(tempfile::spooled_tempfile(IN_MEMORY)),
            len: 0,
        }
    }

    pub(super) fn push(&mut self, entry: Entry) -> Result<()> {
        let (vector, carried) = entry.vector.unzip();
        let head: Head = (
            entry.place,
            entry.id,
            entry.content,
            entry.project,
            entry.tags,
            entry.created_at.as_micros(),
            entry.updated_at.as_micros(),
            carried,
            said(entry.lifecycle),
            (
                entry.usage.accesses,
                entry.usage.last.map(Timestamp::as_micros),
            ),
            entry.entities,
            entry.document,
        );
        let head = serde_json::to_vec(&head)
            .map_err(|error| Error::caused(ErrorKind::Io, SPOOLING, error))?;
        let numbers = vector.unwrap_or_default();
        let vector: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.write(&head)
            .and_then(|()| self.write(&vector))
            .map_err(cannot_spool)?;
        self.len += 1;
        Ok(())
    }

    /// All entries, in the order in which they were pushed.
    pub(super) fn read(&mut self) -> Result<Entries<'_>> {
        self.file.flush().map_err(cannot_spool)?;
        let left = self.len;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(0)).map_err(cannot_spool)?;
        Ok(Entries {
            file: BufReader::new(file),
            left,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.write_all(&(bytes.len() as u64).to_le_bytes())?;
        self.file.write_all(bytes)
    }
}

#[derive(Debug)]
pub(super) struct Entries<'s> {
    file: BufReader<&'s mut SpooledTempFile>,
    left: u64,
}

impl Entries<'_> {
    fn next_entry(&mut self) -> std::io::Result<Entry> {
        let head = block(&mut self.file)?;
        let vector = block(&mut self.file)?;
        let (
            place,
            id,
            content,
            project,
            tags,
            created,
            updated,
            carried,
            said,
            used,
            entities,
            document,
        ): Head = serde_json::from_slice(&head)?;
        let mut usage = Usage::default();
        usage.accesses = used.0;
        usage.last = used.1.map(time).transpose()?;
        let numbers = || {
            let chunks = vector.chunks_exact(4);
            chunks
                .filter_map(|chunk| chunk.try_into().ok().map(f32::from_le_bytes))
                .collect()
        };
        Ok(Entry {
            place,
            id,
            content,
            project,
            tags,
            created_at: time(created)?,
            updated_at: time(updated)?,
            lifecycle: lifecycle(said)?,
            usage,
            entities,
            document,
            vector: carried.map(|carried| (numbers(), carried)),
        })
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Result<Entry>> {
        self.left = self.left.checked_sub(1)?;
        Some(self.next_entry().map_err(cannot_spool))
    }
}

/// What is wrong with an id, if anything: the file takes 1 to 64 visible ASCII characters.
pub(super) fn id_defect(id: &str) -> Option<&'static str> {
    let visible = id.bytes().all(|byte| byte.is_ascii_graphic());
    (id.is_empty() || id.len() > 64 || !visible)
        .then_some("it cannot be an id: 1 to 64 visible ASCII characters can")
}

/// A vector of unit length, as all vectors of a file are: one that has it but for rounding is left as it is, so that what
/// was exported comes back bit by bit. `Err` tells why it is none.
pub(super) fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>, mnemic_embed::Defect> {
    let square: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    if (square - 1.0).abs() > 1e-4 || !square.is_finite() {
        mnemic_embed::normalize(&mut vector)?;
    }
    Ok(vector)
}
