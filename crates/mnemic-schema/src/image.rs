//! A memory with all that belongs to it as one JSON text, for the history; and putting one back. It never embeds.

use rusqlite::OptionalExtension;
use serde::Deserialize;

use crate::error::{Doing, SchemaError};
use crate::events::{Action, Event};
use crate::lifecycle::{Kind, Layer, Lifecycle, Usage};
use crate::read::Snapshot;
use crate::row::{Embedded, NewRow, RowChange, text};
use crate::timestamp::Timestamp;
use crate::write::WriteTransaction;

/// A memory as it was.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Image {
    /// The id.
    pub id: String,
    /// The text.
    pub content: String,
    /// The project; `None` is global.
    pub project: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// What was said of it.
    pub lifecycle: Lifecycle,
    /// How often it was used.
    pub usage: Usage,
    /// What it was about.
    pub entities: Vec<String>,
    relations: Vec<ImageRelation>,
    effects: Vec<String>,
    superseded: Vec<String>,
    document: Option<ImageDocument>,
}

/// What it was as a document, its source included; its chunks are made of that again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct ImageDocument {
    title: String,
    description: Option<String>,
    link: Option<String>,
    metadata: Option<String>,
    event_date: Option<String>,
    origin: Option<String>,
    origin_hash: Option<String>,
    chunking: String,
    preview: u32,
    source: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct ImageRelation {
    from: String,
    to: String,
    kind: String,
    explanation: Option<String>,
    context: Option<String>,
    source: Option<String>,
    created_at: String,
}

/// As it is written.
#[derive(Deserialize)]
struct Written {
    id: String,
    content: String,
    project: Option<String>,
    #[serde(default)]
    tags: Option<Vec<String>>,
    created_at: String,
    updated_at: String,
    lifecycle: Option<WrittenLife>,
    accesses: Option<u64>,
    accessed_at: Option<String>,
    #[serde(default)]
    entities: Vec<String>,
    #[serde(default)]
    relations: Vec<ImageRelation>,
    #[serde(default)]
    effects: Vec<String>,
    #[serde(default)]
    superseded: Vec<String>,
    document: Option<ImageDocument>,
}

#[derive(Deserialize)]
struct WrittenLife {
    kind: String,
    importance: f64,
    trust: f64,
    layer: String,
    decay_rate: f64,
    pinned: i64,
    source: Option<String>,
    valid_from: Option<String>,
    valid_until: Option<String>,
    causal_parent: Option<String>,
    superseded_at: Option<String>,
    superseded_by: Option<String>,
    forgotten_at: Option<String>,
}

/// The image of the memory with a key. Tags that are no list are left to the row's own reading: they become none.
const IMAGE: &str = "
SELECT json_object(
    'id', m.id, 'content', m.content, 'project', m.project,
    'tags', CASE WHEN json_valid(m.tags) THEN json(m.tags) END,
    'created_at', m.created_at, 'updated_at', m.updated_at,
    'lifecycle', CASE WHEN l.seq IS NOT NULL THEN json_object(
        'kind', l.kind, 'importance', l.importance, 'trust', l.trust, 'layer', l.layer, 'decay_rate', l.decay_rate,
        'pinned', l.pinned, 'source', l.source, 'valid_from', l.valid_from, 'valid_until', l.valid_until,
        'causal_parent', (SELECT p.id FROM memories p WHERE p.seq = l.causal_parent),
        'superseded_at', l.superseded_at,
        'superseded_by', (SELECT p.id FROM memories p WHERE p.seq = l.superseded_by),
        'forgotten_at', l.forgotten_at) END,
    'accesses', a.accesses, 'accessed_at', a.accessed_at,
    'entities', json((SELECT json_group_array(name) FROM (SELECT name FROM memory_entities WHERE seq = m.seq ORDER BY place))),
    'relations', json((SELECT json_group_array(json_object(
        'from', f.id, 'to', t.id, 'kind', r.kind, 'explanation', r.explanation, 'context', r.context, 'source', r.source,
        'created_at', r.created_at))
        FROM relations r JOIN memories f ON f.seq = r.from_seq JOIN memories t ON t.seq = r.to_seq
        WHERE r.from_seq = m.seq OR r.to_seq = m.seq)),
    'effects', json((SELECT json_group_array(c.id) FROM lifecycle e JOIN memories c ON c.seq = e.seq WHERE e.causal_parent = m.seq)),
    'superseded', json((SELECT json_group_array(c.id) FROM lifecycle e JOIN memories c ON c.seq = e.seq WHERE e.superseded_by = m.seq)),
    'document', json((SELECT json_object(
        'title', d.title, 'description', d.description, 'link', d.link, 'metadata', d.metadata, 'event_date', d.event_date,
        'origin', d.origin, 'origin_hash', d.origin_hash, 'chunking', d.chunking, 'preview', d.preview, 'source', d.source)
        FROM documents d WHERE d.seq = m.seq))
) FROM memories m LEFT JOIN lifecycle l ON l.seq = m.seq LEFT JOIN memory_access a ON a.seq = m.seq WHERE m.seq = ?1";

impl Image {
    /// Reads what [`Snapshot::image`] wrote.
    ///
    /// # Errors
    /// [`SchemaError::BadRow`] where it is none.
    pub(crate) fn parse(json: &str) -> Result<Self, SchemaError> {
        let bad = |found: String| SchemaError::BadRow {
            id: "of an event".to_owned(),
            found,
        };
        let written: Written = serde_json::from_str(json)
            .map_err(|error| bad(format!("an image that is none: {error}")))?;
        let time = |text: &str| -> Result<Timestamp, SchemaError> {
            text.parse()
                .map_err(|error| bad(format!("an image with {error}")))
        };
        let optional = |text: &Option<String>| text.as_deref().map(time).transpose();
        let lifecycle = match written.lifecycle {
            None => Lifecycle::default(),
            Some(life) => Lifecycle {
                kind: Kind::from(life.kind),
                importance: life.importance,
                trust: life.trust,
                layer: Layer::named(&life.layer).unwrap_or_default(),
                decay_rate: life.decay_rate,
                pinned: life.pinned != 0,
                source: life.source,
                valid_from: optional(&life.valid_from)?,
                valid_until: optional(&life.valid_until)?,
                causal_parent: life.causal_parent,
                superseded_at: optional(&life.superseded_at)?,
                superseded_by: life.superseded_by,
                forgotten_at: optional(&life.forgotten_at)?,
            },
        };
        Ok(Self {
            id: written.id,
            content: written.content,
            project: written.project,
            tags: written.tags.unwrap_or_default(),
            created_at: time(&written.created_at)?,
            updated_at: time(&written.updated_at)?,
            lifecycle,
            usage: Usage {
                accesses: written.accesses.unwrap_or_default(),
                last: optional(&written.accessed_at)?,
            },
            entities: written.entities,
            relations: written.relations,
            effects: written.effects,
            superseded: written.superseded,
            document: written.document,
        })
    }
}

impl Image {
    /// Whether it was a document: put back, it is to be cut anew.
    #[must_use]
    pub fn is_document(&self) -> bool {
        self.document.is_some()
    }
}

impl Snapshot<'_> {
    /// The image of the memory with a key, as JSON.
    pub(crate) fn image(&self, seq: i64) -> Result<Option<String>, SchemaError> {
        self.connection()
            .prepare_cached(IMAGE)
            .and_then(|mut statement| statement.query_row([seq], |row| text(row, 0)).optional())
            .map(Option::flatten)
            .doing("taking the image of a memory")
    }
}

impl WriteTransaction<'_> {
    /// Makes a memory what its image says: in place where it is there, else stored again under its id, with its relations
    /// to what is there still. A text that is not the one there needs its vector, as in [`WriteTransaction::insert`].
    ///
    /// # Errors
    /// As [`WriteTransaction::insert`] and [`WriteTransaction::update`].
    pub fn put_back(
        &mut self,
        image: &Image,
        embedded: Option<Embedded<'_>>,
    ) -> Result<(), SchemaError> {
        let id = image.id.as_str();
        let there = self.row(id)?;
        let is_new = there.is_none();
        match there {
            None => {
                let row = NewRow {
                    id: Some(image.id.clone()),
                    content: image.content.clone(),
                    project: image.project.clone(),
                    tags: image.tags.clone(),
                    created_at: image.created_at,
                    entities: image.entities.clone(),
                };
                self.insert(&row, embedded)?;
                self.set_usage(id, image.usage)?;
                self.put_back_document(image)?;
            }
            Some(there) => {
                // First, as the text of a document that is changed by itself is refused.
                self.put_back_document(image)?;
                let there_is = image.document.is_some();
                if there_is && there.content != image.content {
                    self.put_back_card(image, embedded)?;
                }
                let change = RowChange {
                    content: (!there_is && there.content != image.content)
                        .then(|| image.content.clone()),
                    project: (there.project != image.project).then(|| image.project.clone()),
                    tags: (there.tags != image.tags).then(|| image.tags.clone()),
                    entities: None,
                };
                let embedded = embedded.filter(|_| change.content.is_some());
                self.update(id, &change, image.updated_at, embedded)?;
            }
        }
        self.set_times(id, image.created_at, image.updated_at)?;
        self.set_lifecycle(id, &self.of_what_is_there(&image.lifecycle)?)?;
        self.put_back_entities(id, &image.entities)?;
        if is_new {
            self.put_back_links(image)?;
        }
        Ok(())
    }

    /// Makes a document what its image says; to be cut anew where its source or its chunking is another then.
    fn put_back_document(&self, image: &Image) -> Result<(), SchemaError> {
        let Some(document) = &image.document else {
            return Ok(());
        };
        self.execute(
            "putting back a document",
            "INSERT INTO documents
                 (seq, title, description, link, metadata, event_date, origin, origin_hash, chunking, preview, source)
             SELECT seq, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 FROM memories WHERE id = ?1
             ON CONFLICT (seq) DO UPDATE SET title = excluded.title, description = excluded.description,
                 link = excluded.link, metadata = excluded.metadata, event_date = excluded.event_date,
                 origin = excluded.origin, origin_hash = excluded.origin_hash, preview = excluded.preview",
            rusqlite::params![
                image.id,
                document.title,
                document.description,
                document.link,
                document.metadata,
                document.event_date,
                document.origin,
                document.origin_hash,
                document.chunking,
                document.preview,
                document.source
            ],
        )?;
        // Apart, as whatever is set here says that the source is to be cut again.
        self.execute(
            "putting back a document",
            "UPDATE documents SET source = ?2, chunking = ?3
             WHERE seq = (SELECT seq FROM memories WHERE id = ?1) AND (source IS NOT ?2 OR chunking IS NOT ?3)",
            rusqlite::params![image.id, document.source, document.chunking],
        )?;
        Ok(())
    }

    /// Puts back the card of a document that is there, with its vector.
    fn put_back_card(
        &mut self,
        image: &Image,
        embedded: Option<Embedded<'_>>,
    ) -> Result<(), SchemaError> {
        self.admit(embedded.map(|embedded| embedded.model))?;
        let doing = "putting back the card of a document";
        let seq = self.must_have(&image.id)?;
        self.execute(
            doing,
            "UPDATE memories SET content = ?2 WHERE seq = ?1",
            rusqlite::params![seq, image.content],
        )?;
        if let Some(embedded) = embedded {
            self.execute(doing, "DELETE FROM memory_vec WHERE seq = ?1", [seq])?;
            self.insert_vector(seq, &image.id, embedded)?;
        }
        self.log(seq)
    }

    /// A lifecycle that names only memories that are there.
    fn of_what_is_there(&self, lifecycle: &Lifecycle) -> Result<Lifecycle, SchemaError> {
        let there = |id: &Option<String>| -> Result<Option<String>, SchemaError> {
            match id {
                Some(id) if self.key_of(id)?.is_some() => Ok(Some(id.clone())),
                _ => Ok(None),
            }
        };
        Ok(Lifecycle {
            causal_parent: there(&lifecycle.causal_parent)?,
            superseded_by: there(&lifecycle.superseded_by)?,
            ..lifecycle.clone()
        })
    }

    fn put_back_entities(&self, id: &str, entities: &[String]) -> Result<(), SchemaError> {
        let doing = "putting back what a memory is about";
        let seq = self.must_have(id)?;
        let same: bool = self
            .connection()
            .prepare_cached(
                "SELECT (SELECT json_group_array(name) FROM (SELECT name FROM memory_entities WHERE seq = ?1 ORDER BY place)) = json(?2)",
            )
            .and_then(|mut statement| {
                statement.query_row(
                    rusqlite::params![seq, serde_json::Value::from(entities).to_string()],
                    |row| row.get(0),
                )
            })
            .doing(doing)?;
        if same {
            return Ok(());
        }
        self.execute(doing, "DELETE FROM memory_entities WHERE seq = ?1", [seq])?;
        for (place, name) in (0i64..).zip(entities) {
            self.execute(
                doing,
                "INSERT OR IGNORE INTO memory_entities (entity, seq, name, place) VALUES (mnemic_fold(?2), ?1, ?2, ?3)",
                rusqlite::params![seq, name, place],
            )?;
        }
        Ok(())
    }

    /// Its relations, and those that it led to or stood in the place of, as far as they are there and name no other since.
    fn put_back_links(&self, image: &Image) -> Result<(), SchemaError> {
        let doing = "putting back the relations of a memory";
        for relation in &image.relations {
            self.put_back_relation(relation)?;
        }
        let seq = self.must_have(&image.id)?;
        for effect in &image.effects {
            let Some(effect) = self.key_of(effect)? else {
                continue;
            };
            if !self.is_among_causes(effect, seq)? {
                self.execute(
                    doing,
                    "UPDATE lifecycle SET causal_parent = ?2 WHERE seq = ?1 AND causal_parent IS NULL",
                    [effect, seq],
                )?;
            }
        }
        for superseded in &image.superseded {
            let Some(superseded) = self.key_of(superseded)? else {
                continue;
            };
            if !self.stands_for(superseded, seq)? {
                self.execute(
                    doing,
                    "UPDATE lifecycle SET superseded_by = ?2
                     WHERE seq = ?1 AND superseded_by IS NULL AND superseded_at IS NOT NULL",
                    [superseded, seq],
                )?;
            }
        }
        Ok(())
    }
}

impl WriteTransaction<'_> {
    /// Makes the edge of a superseding of a memory what the memory's image says: where the image has it, it is there, else
    /// it is taken out. Events that are neither a superseding nor the undoing of one, at whatever remove, leave it alone.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn put_back_superseding(&self, image: &Image, event: &Event) -> Result<(), SchemaError> {
        let Some(by) = self.superseded_in(event)? else {
            return Ok(());
        };
        let edge = image.relations.iter().find(|relation| {
            relation.kind == "supersedes" && relation.from == by && relation.to == image.id
        });
        if let Some(edge) = edge {
            return self.put_back_relation(edge);
        }
        self.execute(
            "taking out the relation of a superseding",
            "DELETE FROM relations WHERE kind = 'supersedes'
               AND from_seq = (SELECT seq FROM memories WHERE id = ?1) AND to_seq = (SELECT seq FROM memories WHERE id = ?2)",
            [by, image.id.clone()],
        )?;
        Ok(())
    }

    /// By what the memory of an event was superseded in it, or in the event that it undid, and so on.
    fn superseded_in(&self, event: &Event) -> Result<Option<String>, SchemaError> {
        let mut event = event.clone();
        while let Some(undone) = event.undoes.filter(|undone| *undone < event.number) {
            match self.event(undone)? {
                Some((earlier, _)) => event = earlier,
                None => return Ok(None),
            }
        }
        if event.action != Action::Superseded {
            return Ok(None);
        }
        let detail: Option<serde_json::Value> = event
            .detail
            .and_then(|detail| serde_json::from_str(&detail).ok());
        let by = detail.and_then(|detail| Some(detail.get("by")?.as_str()?.to_owned()));
        Ok(by)
    }

    fn put_back_relation(&self, relation: &ImageRelation) -> Result<(), SchemaError> {
        self.execute(
            "putting back a relation",
            "INSERT OR IGNORE INTO relations (from_seq, to_seq, kind, explanation, context, source, created_at)
             SELECT f.seq, t.seq, ?3, ?4, ?5, ?6, ?7 FROM memories f, memories t WHERE f.id = ?1 AND t.id = ?2",
            rusqlite::params![
                relation.from,
                relation.to,
                relation.kind,
                relation.explanation,
                relation.context,
                relation.source,
                relation.created_at
            ],
        )?;
        Ok(())
    }

    /// Deletes a memory whose storing is undone, which is noted already; tells whether it was there.
    ///
    /// # Errors
    /// What SQLite reports.
    pub fn remove_again(&self, id: &str) -> Result<bool, SchemaError> {
        self.erase_row(id)
    }
}
