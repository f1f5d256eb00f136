//! What the strength of memories and the health of a store are judged by, read in pages; and the moves that follow. It judges
//! nothing.

use rusqlite::{OptionalExtension, Row, params, params_from_iter, types::Value};

use crate::error::{Doing, SchemaError};
use crate::events::Action;
use crate::filter::Filter;
use crate::lifecycle::{Layer, Lifecycle};
use crate::read::Snapshot;
use crate::row::text;
use crate::timestamp::Timestamp;
use crate::write::WriteTransaction;

/// What a memory is judged by.
#[derive(Debug, Clone, PartialEq)]
pub struct LifeRow {
    /// The key.
    pub seq: i64,
    /// The id.
    pub id: String,
    /// As in [`Lifecycle`].
    pub importance: f64,
    /// As in [`Lifecycle`]: as it was given.
    pub trust: f64,
    /// As in [`Lifecycle`].
    pub layer: Layer,
    /// As in [`Lifecycle`].
    pub decay_rate: f64,
    /// As in [`Lifecycle`].
    pub pinned: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// How often it was used.
    pub accesses: u64,
    /// When it was last used; where never, when it was created.
    pub last_used: Timestamp,
    /// Relations `supports` to it, from current memories.
    pub corroborations: u64,
    /// Relations `contradicts` between it and current memories, in either direction.
    pub contradictions: u64,
    /// Relations and causal links of any kind that it has.
    pub links: u64,
}

/// Of a memory `m` joined as in [`LIFE_JOINS`]. Memories that another one stands in the place of, or that are forgotten,
/// speak for and against nothing.
const LIFE_COLUMNS: &str = "m.seq, m.id, l.importance, l.trust, l.layer, l.decay_rate, l.pinned, m.created_at, a.accesses, a.accessed_at,
    (SELECT count(*) FROM relations r LEFT JOIN lifecycle o ON o.seq = r.from_seq
        WHERE r.to_seq = m.seq AND r.kind = 'supports' AND o.superseded_at IS NULL AND o.forgotten_at IS NULL),
    (SELECT count(DISTINCT r.from_seq + r.to_seq) FROM relations r LEFT JOIN lifecycle o ON o.seq = r.from_seq + r.to_seq - m.seq
        WHERE (r.to_seq = m.seq OR r.from_seq = m.seq) AND r.kind = 'contradicts'
          AND o.superseded_at IS NULL AND o.forgotten_at IS NULL),
    (SELECT count(*) FROM relations r WHERE r.to_seq = m.seq OR r.from_seq = m.seq)
        + (l.causal_parent IS NOT NULL) + (SELECT count(*) FROM lifecycle e WHERE e.causal_parent = m.seq)";

const LIFE_JOINS: &str =
    "memories m LEFT JOIN lifecycle l ON l.seq = m.seq LEFT JOIN memory_access a ON a.seq = m.seq";

/// Neither superseded nor forgotten.
const CURRENT: &str = "l.superseded_at IS NULL AND l.forgotten_at IS NULL";

fn life_row(row: &Row<'_>) -> rusqlite::Result<LifeRow> {
    let unsaid = Lifecycle::default();
    let time = |column: usize| -> rusqlite::Result<Option<Timestamp>> {
        Ok(text(row, column)?.and_then(|time| time.parse().ok()))
    };
    let created_at = time(7)?.unwrap_or(Timestamp::MIN);
    let count = |column: usize| -> rusqlite::Result<u64> {
        Ok(row
            .get::<_, Option<i64>>(column)?
            .map_or(0, i64::unsigned_abs))
    };
    Ok(LifeRow {
        seq: row.get(0)?,
        id: text(row, 1)?.unwrap_or_default(),
        importance: row.get::<_, Option<f64>>(2)?.unwrap_or(unsaid.importance),
        trust: row.get::<_, Option<f64>>(3)?.unwrap_or(unsaid.trust),
        layer: text(row, 4)?
            .and_then(|name| Layer::named(&name))
            .unwrap_or_default(),
        decay_rate: row.get::<_, Option<f64>>(5)?.unwrap_or(unsaid.decay_rate),
        pinned: row.get::<_, Option<bool>>(6)?.unwrap_or(unsaid.pinned),
        created_at,
        accesses: count(8)?,
        last_used: time(9)?.unwrap_or(created_at),
        corroborations: count(10)?,
        contradictions: count(11)?,
        links: count(12)?,
    })
}

impl Snapshot<'_> {
    /// What the next memories after a key are judged by, in the order of their keys: at most `limit` of those that pass a
    /// filter and are neither superseded nor forgotten.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn life_rows_after(
        &self,
        seq: i64,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<LifeRow>, SchemaError> {
        let (conditions, filter_values) = filter.clause();
        let sql = format!(
            "SELECT {LIFE_COLUMNS} FROM {LIFE_JOINS} WHERE m.seq > ? AND {CURRENT}{conditions} ORDER BY m.seq LIMIT ?"
        );
        let mut values = vec![Value::Integer(seq)];
        values.extend(filter_values);
        values.push(Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
        self.connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| {
                statement
                    .query_map(params_from_iter(values), life_row)?
                    .collect()
            })
            .doing("reading what memories are judged by")
    }

    /// The same of one memory; `None` where it is gone, superseded or forgotten.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn life_row(&self, seq: i64) -> Result<Option<LifeRow>, SchemaError> {
        let sql = format!("SELECT {LIFE_COLUMNS} FROM {LIFE_JOINS} WHERE m.seq = ?1 AND {CURRENT}");
        self.connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| statement.query_row([seq], life_row).optional())
            .doing("reading what a memory is judged by")
    }

    /// How many memories of a filter are superseded, and how many forgotten.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn gone_counts(&self, filter: &Filter) -> Result<(u64, u64), SchemaError> {
        let (conditions, values) = filter.clause();
        let sql = format!(
            "SELECT count(l.superseded_at), count(l.forgotten_at) FROM memories m JOIN lifecycle l ON l.seq = m.seq WHERE TRUE{conditions}"
        );
        self.connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| {
                statement.query_row(params_from_iter(values), |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
                })
            })
            .map(|(superseded, forgotten)| (superseded.unsigned_abs(), forgotten.unsigned_abs()))
            .doing("counting how memories stand")
    }

    /// Pairs of memories that contradict each other and both stand, of a filter both, each once, by their keys; at most
    /// `limit`.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn contradictions(
        &self,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<(String, String)>, SchemaError> {
        let (conditions, filter_values) = filter.clause();
        let among = format!(
            "(SELECT m.seq FROM memories m LEFT JOIN lifecycle l ON l.seq = m.seq WHERE {CURRENT}{conditions})"
        );
        let sql = format!(
            "SELECT f.id, t.id FROM (SELECT DISTINCT min(from_seq, to_seq) AS one, max(from_seq, to_seq) AS other
                                     FROM relations WHERE kind = 'contradicts') r
             JOIN memories f ON f.seq = r.one JOIN memories t ON t.seq = r.other
             WHERE r.one IN {among} AND r.other IN {among} ORDER BY r.one, r.other LIMIT ?"
        );
        let mut values = filter_values.clone();
        values.extend(filter_values);
        values.push(Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX)));
        self.connection()
            .prepare_cached(&sql)
            .and_then(|mut statement| {
                statement
                    .query_map(params_from_iter(values), |row| {
                        Ok((
                            text(row, 0)?.unwrap_or_default(),
                            text(row, 1)?.unwrap_or_default(),
                        ))
                    })?
                    .collect()
            })
            .doing("looking for contradictions")
    }
}

impl WriteTransaction<'_> {
    /// Has a memory go over to a layer.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn move_to(
        &mut self,
        row: &LifeRow,
        layer: Layer,
        detail: Option<String>,
    ) -> Result<(), SchemaError> {
        let action = match layer {
            Layer::LongTerm => Action::Promoted,
            Layer::ShortTerm => Action::Demoted,
        };
        self.note_change(&row.id, &action, detail)?;
        self.execute(
            "moving a memory to another layer",
            "INSERT INTO lifecycle (seq, layer) VALUES (?1, ?2) ON CONFLICT (seq) DO UPDATE SET layer = excluded.layer",
            params![row.seq, layer.as_str()],
        )?;
        Ok(())
    }

    /// Forgets a memory that is not forgotten yet.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn forget(
        &mut self,
        row: &LifeRow,
        at: Timestamp,
        detail: Option<String>,
    ) -> Result<(), SchemaError> {
        self.note_change(&row.id, &Action::Forgotten, detail)?;
        self.execute(
            "forgetting a memory",
            "INSERT INTO lifecycle (seq, forgotten_at) VALUES (?1, ?2)
             ON CONFLICT (seq) DO UPDATE SET forgotten_at = excluded.forgotten_at WHERE forgotten_at IS NULL",
            params![row.seq, at.to_string()],
        )?;
        Ok(())
    }
}
