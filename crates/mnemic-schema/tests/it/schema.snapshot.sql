index memories_by_created
CREATE INDEX memories_by_created ON memories (created_at)

index memories_by_project
CREATE INDEX memories_by_project ON memories (project, created_at)

index memory_tags_by_seq
CREATE INDEX memory_tags_by_seq ON memory_tags (seq)

index sqlite_autoindex_memories_1

index sqlite_autoindex_memory_vec_info_1

index sqlite_autoindex_memory_vec_vector_chunks00_1

table index_log
CREATE TABLE index_log (
    entry INTEGER PRIMARY KEY AUTOINCREMENT,
    seq   INTEGER NOT NULL
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

table sqlite_sequence
CREATE TABLE sqlite_sequence(name,seq)

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

view memories_text
CREATE VIEW memories_text AS
    SELECT seq, mnemic_text(content) AS content, mnemic_tag_text(tags) AS tags, mnemic_text(project) AS project
    FROM memories
