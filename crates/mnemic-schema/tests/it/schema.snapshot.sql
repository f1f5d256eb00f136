index documents_by_origin
CREATE INDEX documents_by_origin ON documents (origin) WHERE origin IS NOT NULL

index documents_unchunked
CREATE INDEX documents_unchunked ON documents (seq) WHERE chunked = 0

index lifecycle_by_forgotten
CREATE INDEX lifecycle_by_forgotten ON lifecycle (forgotten_at) WHERE forgotten_at IS NOT NULL

index lifecycle_by_kind
CREATE INDEX lifecycle_by_kind ON lifecycle (kind)

index lifecycle_by_parent
CREATE INDEX lifecycle_by_parent ON lifecycle (causal_parent) WHERE causal_parent IS NOT NULL

index lifecycle_by_superseded
CREATE INDEX lifecycle_by_superseded ON lifecycle (superseded_at) WHERE superseded_at IS NOT NULL

index lifecycle_by_superseding
CREATE INDEX lifecycle_by_superseding ON lifecycle (superseded_by) WHERE superseded_by IS NOT NULL

index lifecycle_by_valid_from
CREATE INDEX lifecycle_by_valid_from ON lifecycle (valid_from) WHERE valid_from IS NOT NULL

index lifecycle_by_valid_until
CREATE INDEX lifecycle_by_valid_until ON lifecycle (valid_until) WHERE valid_until IS NOT NULL

index memories_by_created
CREATE INDEX memories_by_created ON memories (created_at)

index memories_by_project
CREATE INDEX memories_by_project ON memories (project, created_at)

index memory_entities_by_seq
CREATE INDEX memory_entities_by_seq ON memory_entities (seq, place)

index memory_events_by_memory
CREATE INDEX memory_events_by_memory ON memory_events (memory, event)

index memory_events_by_time
CREATE INDEX memory_events_by_time ON memory_events (at, event)

index memory_events_by_undone
CREATE INDEX memory_events_by_undone ON memory_events (undoes) WHERE undoes IS NOT NULL

index memory_tags_by_seq
CREATE INDEX memory_tags_by_seq ON memory_tags (seq)

index relations_by_to
CREATE INDEX relations_by_to ON relations (to_seq, kind)

index sqlite_autoindex_chunks_1

index sqlite_autoindex_memories_1

index sqlite_autoindex_memory_vec_info_1

index sqlite_autoindex_memory_vec_vector_chunks00_1

index sqlite_autoindex_relations_1

table chunk_log
CREATE TABLE chunk_log (
    entry INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk INTEGER NOT NULL
) STRICT

table chunks
CREATE TABLE chunks (
    -- The key of every index of chunks: as memories.seq, never used twice.
    chunk       INTEGER PRIMARY KEY AUTOINCREMENT,
    seq         INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    -- From 0, in the order of the source.
    place       INTEGER NOT NULL,
    -- The span in the source, in bytes of its UTF-8 and in code points: the text is exactly what is there.
    start_byte  INTEGER NOT NULL,
    end_byte    INTEGER NOT NULL,
    start_char  INTEGER NOT NULL,
    end_char    INTEGER NOT NULL,
    -- The space of the model that found nothing to embed in the text, which therefore has no vector; else NULL.
    nothing_for TEXT,
    metadata    TEXT CHECK (metadata IS NULL OR json_valid(metadata)),
    text        TEXT NOT NULL,
    UNIQUE (seq, place),
    CHECK (0 <= start_byte AND start_byte < end_byte AND 0 <= start_char AND start_char < end_char)
) STRICT

table chunks_fts
CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    text,
    content = 'chunks_text',
    content_rowid = 'chunk',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
)

table chunks_fts_config
CREATE TABLE 'chunks_fts_config'(k PRIMARY KEY, v) WITHOUT ROWID

table chunks_fts_data
CREATE TABLE 'chunks_fts_data'(id INTEGER PRIMARY KEY, block BLOB)

table chunks_fts_docsize
CREATE TABLE 'chunks_fts_docsize'(id INTEGER PRIMARY KEY, sz BLOB)

table chunks_fts_idx
CREATE TABLE 'chunks_fts_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID

table documents
CREATE TABLE documents (
    seq         INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
    title       TEXT NOT NULL CHECK (title <> ''),
    description TEXT,
    link        TEXT,
    metadata    TEXT CHECK (metadata IS NULL OR json_valid(metadata)),
    event_date  TEXT CHECK (event_date GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*'),
    -- Where the source came from (a path, say), and what told its version there: opaque texts.
    origin      TEXT,
    origin_hash TEXT,
    -- How the source is cut: JSON, as the library writes it.
    chunking    TEXT NOT NULL CHECK (json_valid(chunking)),
    -- How many characters of the source the card holds at most.
    preview     INTEGER NOT NULL CHECK (preview >= 0),
    -- Whether the chunks are those of the source as it is now. That each has a vector is another fact: see chunk_vec.
    chunked     INTEGER NOT NULL DEFAULT 0 CHECK (chunked IN (0, 1)),
    -- Last, so that the others are read without it.
    source      TEXT NOT NULL
) STRICT

table index_log
CREATE TABLE index_log (
    entry INTEGER PRIMARY KEY AUTOINCREMENT,
    seq   INTEGER NOT NULL
) STRICT

table lifecycle
CREATE TABLE lifecycle (
    seq           INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
    kind          TEXT NOT NULL DEFAULT 'semantic' CHECK (kind <> ''),
    importance    REAL NOT NULL DEFAULT 0.5 CHECK (importance BETWEEN 0 AND 1),
    -- As it was given: what time and relations make of it is computed, and never written back.
    trust         REAL NOT NULL DEFAULT 0.75 CHECK (trust BETWEEN 0 AND 1),
    layer         TEXT NOT NULL DEFAULT 'short_term' CHECK (layer IN ('short_term', 'long_term')),
    -- A day.
    decay_rate    REAL NOT NULL DEFAULT 0.1 CHECK (decay_rate >= 0),
    pinned        INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    source        TEXT,
    -- When what it says holds: from the first instant, until just before the second. NULL is always.
    valid_from    TEXT CHECK (valid_from GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*'),
    valid_until   TEXT CHECK (valid_until GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*'),
    causal_parent INTEGER REFERENCES memories (seq) ON DELETE SET NULL CHECK (causal_parent <> seq),
    superseded_at TEXT CHECK (superseded_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*'),
    -- NULL also where the memory that superseded it is gone: it stays superseded.
    superseded_by INTEGER REFERENCES memories (seq) ON DELETE SET NULL CHECK (superseded_by <> seq),
    -- Forgotten: kept, but not recalled.
    forgotten_at  TEXT CHECK (forgotten_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*'),
    CHECK (valid_from < valid_until)
) STRICT

table memories
CREATE TABLE memories (
    -- The key of every index: never the implicit rowid, which VACUUM may renumber; never used twice (AUTOINCREMENT).
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(8)))) CHECK (length(id) BETWEEN 1 AND 64),
    content    TEXT NOT NULL,
    -- NULL is global.
    project    TEXT,
    -- A JSON array of strings; NULL is none.
    tags       TEXT CHECK (tags IS NULL OR (json_valid(tags) AND json_type(tags) = 'array')),
    -- YYYY-MM-DD HH:MM:SS in UTC, then a fraction only where there is one: text order is time order.
    created_at TEXT NOT NULL DEFAULT (datetime('now'))
        CHECK (created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*'),
    updated_at TEXT NOT NULL DEFAULT (datetime('now'))
        CHECK (updated_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*')
) STRICT

table memories_fts
CREATE VIRTUAL TABLE memories_fts USING fts5 (
    content, tags, project,
    content = 'memories_text',
    content_rowid = 'seq',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
)

table memories_fts_config
CREATE TABLE 'memories_fts_config'(k PRIMARY KEY, v) WITHOUT ROWID

table memories_fts_data
CREATE TABLE 'memories_fts_data'(id INTEGER PRIMARY KEY, block BLOB)

table memories_fts_docsize
CREATE TABLE 'memories_fts_docsize'(id INTEGER PRIMARY KEY, sz BLOB)

table memories_fts_idx
CREATE TABLE 'memories_fts_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID

table memory_access
CREATE TABLE memory_access (
    seq         INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
    accesses    INTEGER NOT NULL DEFAULT 0 CHECK (accesses >= 0),
    accessed_at TEXT NOT NULL
        CHECK (accessed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*')
) STRICT

table memory_entities
CREATE TABLE memory_entities (
    entity TEXT NOT NULL CHECK (entity <> ''),
    seq    INTEGER NOT NULL REFERENCES memories (seq) ON DELETE CASCADE,
    name   TEXT NOT NULL,
    -- The place among the entities of the memory: the first is what it is about first of all.
    place  INTEGER NOT NULL,
    PRIMARY KEY (entity, seq)
) STRICT, WITHOUT ROWID

table memory_events
CREATE TABLE memory_events (
    event   INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL
        CHECK (at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*'),
    action  TEXT NOT NULL CHECK (action <> ''),
    memory  TEXT NOT NULL,
    project TEXT,
    actor   TEXT,
    -- The first event of the same change: those of one batch were made together.
    batch   INTEGER NOT NULL,
    -- A JSON object: the reason, the other memory, …
    detail  TEXT CHECK (detail IS NULL OR json_valid(detail)),
    -- The memory as it was before, as JSON; NULL where nothing was, or it was erased.
    before  TEXT CHECK (before IS NULL OR json_valid(before)),
    -- The event that this one undid.
    undoes  INTEGER
) STRICT

table memory_tags
CREATE TABLE memory_tags (
    tag TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES memories (seq) ON DELETE CASCADE,
    PRIMARY KEY (tag, seq)
) STRICT, WITHOUT ROWID

table memory_vec
CREATE VIRTUAL TABLE memory_vec USING vec0 (
    seq INTEGER PRIMARY KEY,
    embedding float[4] distance_metric=cosine,
    -- vec0 keeps the vectors of a chunk in one value: to read one of them, SQLite walks the pages before it.
    chunk_size=16
)

table memory_vec_chunks
CREATE TABLE "memory_vec_chunks"(chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,size INTEGER NOT NULL,validity BLOB NOT NULL,rowids BLOB NOT NULL)

table memory_vec_info
CREATE TABLE "memory_vec_info" (key text primary key, value any)

table memory_vec_rowids
CREATE TABLE "memory_vec_rowids"(rowid INTEGER PRIMARY KEY AUTOINCREMENT,id,chunk_id INTEGER,chunk_offset INTEGER)

table memory_vec_vector_chunks00
CREATE TABLE "memory_vec_vector_chunks00"(rowid PRIMARY KEY,vectors BLOB NOT NULL)

table meta
CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID

table relations
CREATE TABLE relations (
    relation    INTEGER PRIMARY KEY AUTOINCREMENT,
    from_seq    INTEGER NOT NULL REFERENCES memories (seq) ON DELETE CASCADE,
    to_seq      INTEGER NOT NULL REFERENCES memories (seq) ON DELETE CASCADE,
    kind        TEXT NOT NULL CHECK (kind <> ''),
    explanation TEXT,
    context     TEXT CHECK (context IS NULL OR json_valid(context)),
    source      TEXT,
    created_at  TEXT NOT NULL
        CHECK (created_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*'),
    UNIQUE (from_seq, to_seq, kind),
    CHECK (from_seq <> to_seq)
) STRICT

table sqlite_sequence
CREATE TABLE sqlite_sequence(name,seq)

trigger chunks_fts_delete
CREATE TRIGGER chunks_fts_delete AFTER DELETE ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, text) VALUES ('delete', old.chunk, mnemic_text(old.text));
END

trigger chunks_fts_insert
CREATE TRIGGER chunks_fts_insert AFTER INSERT ON chunks BEGIN
    INSERT INTO chunks_fts (rowid, text) VALUES (new.chunk, mnemic_text(new.text));
END

trigger chunks_fts_update
CREATE TRIGGER chunks_fts_update AFTER UPDATE OF text ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, text) VALUES ('delete', old.chunk, mnemic_text(old.text));
    INSERT INTO chunks_fts (rowid, text) VALUES (new.chunk, mnemic_text(new.text));
END

trigger chunks_log_delete
CREATE TRIGGER chunks_log_delete AFTER DELETE ON chunks BEGIN
    INSERT INTO chunk_log (chunk) VALUES (old.chunk);
END

trigger documents_source_update
CREATE TRIGGER documents_source_update AFTER UPDATE OF source, chunking ON documents BEGIN
    UPDATE documents SET chunked = 0 WHERE seq = new.seq;
END

trigger index_log_chunks
CREATE TRIGGER index_log_chunks AFTER INSERT ON index_log BEGIN
    INSERT INTO chunk_log (chunk) SELECT chunk FROM chunks WHERE seq = new.seq;
END

trigger lifecycle_log_delete
CREATE TRIGGER lifecycle_log_delete AFTER DELETE ON lifecycle BEGIN
    INSERT INTO index_log (seq) SELECT seq FROM memories WHERE seq = old.seq;
END

trigger lifecycle_log_insert
CREATE TRIGGER lifecycle_log_insert AFTER INSERT ON lifecycle BEGIN
    INSERT INTO index_log (seq) VALUES (new.seq);
END

trigger lifecycle_log_update
CREATE TRIGGER lifecycle_log_update AFTER UPDATE OF kind, importance, trust, layer, pinned, source, valid_from, valid_until, superseded_at, forgotten_at ON lifecycle BEGIN
    INSERT INTO index_log (seq) VALUES (new.seq);
END

trigger memories_fts_delete
CREATE TRIGGER memories_fts_delete AFTER DELETE ON memories BEGIN
    INSERT INTO memories_fts (memories_fts, rowid, content, tags, project)
    VALUES ('delete', old.seq, mnemic_text(old.content), mnemic_tag_text(old.tags), mnemic_text(old.project));
END

trigger memories_fts_insert
CREATE TRIGGER memories_fts_insert AFTER INSERT ON memories BEGIN
    INSERT INTO memories_fts (rowid, content, tags, project)
    VALUES (new.seq, mnemic_text(new.content), mnemic_tag_text(new.tags), mnemic_text(new.project));
END

trigger memories_fts_update
CREATE TRIGGER memories_fts_update AFTER UPDATE OF content, tags, project ON memories BEGIN
    INSERT INTO memories_fts (memories_fts, rowid, content, tags, project)
    VALUES ('delete', old.seq, mnemic_text(old.content), mnemic_tag_text(old.tags), mnemic_text(old.project));
    INSERT INTO memories_fts (rowid, content, tags, project)
    VALUES (new.seq, mnemic_text(new.content), mnemic_tag_text(new.tags), mnemic_text(new.project));
END

trigger memories_log_delete
CREATE TRIGGER memories_log_delete AFTER DELETE ON memories BEGIN
    INSERT INTO index_log (seq) VALUES (old.seq);
END

trigger memories_log_update
CREATE TRIGGER memories_log_update AFTER UPDATE OF project, created_at ON memories BEGIN
    INSERT INTO index_log (seq) VALUES (new.seq);
END

trigger memories_tags_insert
CREATE TRIGGER memories_tags_insert AFTER INSERT ON memories WHEN new.tags IS NOT NULL BEGIN
    INSERT OR IGNORE INTO memory_tags (tag, seq) SELECT mnemic_fold(value), new.seq FROM json_each(new.tags);
END

trigger memories_tags_update
CREATE TRIGGER memories_tags_update AFTER UPDATE OF tags ON memories BEGIN
    DELETE FROM memory_tags WHERE seq = old.seq;
    INSERT OR IGNORE INTO memory_tags (tag, seq) SELECT mnemic_fold(value), new.seq FROM json_each(new.tags);
END

trigger memories_vec_delete
CREATE TRIGGER memories_vec_delete AFTER DELETE ON memories BEGIN
    DELETE FROM memory_vec WHERE seq = old.seq;
END

trigger memory_entities_log_delete
CREATE TRIGGER memory_entities_log_delete AFTER DELETE ON memory_entities BEGIN
    INSERT INTO index_log (seq) SELECT seq FROM memories WHERE seq = old.seq;
END

trigger memory_entities_log_insert
CREATE TRIGGER memory_entities_log_insert AFTER INSERT ON memory_entities BEGIN
    INSERT INTO index_log (seq) VALUES (new.seq);
END

trigger memory_events_append_only
CREATE TRIGGER memory_events_append_only BEFORE UPDATE ON memory_events
WHEN new.event IS NOT old.event OR new.at IS NOT old.at OR new.action IS NOT old.action OR new.memory IS NOT old.memory
  OR new.actor IS NOT old.actor OR new.batch IS NOT old.batch OR new.undoes IS NOT old.undoes
  OR coalesce(new.project, old.project) IS NOT old.project OR coalesce(new.before, old.before) IS NOT old.before
  OR coalesce(new.detail, old.detail) IS NOT old.detail
BEGIN
    SELECT RAISE(ABORT, 'events are only ever added to');
END

view chunks_text
CREATE VIEW chunks_text AS SELECT chunk, mnemic_text(text) AS text FROM chunks

view memories_text
CREATE VIEW memories_text AS
    SELECT seq, mnemic_text(content) AS content, mnemic_tag_text(tags) AS tags, mnemic_text(project) AS project
    FROM memories
