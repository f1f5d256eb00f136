-- The core: memories, their tags, their word index. The vector table is made when the first vector is stored, as its
-- width is the model's (see vector_index.sql).

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

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
) STRICT;

CREATE INDEX memories_by_project ON memories (project, created_at);
CREATE INDEX memories_by_created ON memories (created_at);

-- Derived from memories.tags, so that a filter by tag is a look-up: the tags as they are compared (NFC, lower case).
CREATE TABLE memory_tags (
    tag TEXT NOT NULL,
    seq INTEGER NOT NULL REFERENCES memories (seq) ON DELETE CASCADE,
    PRIMARY KEY (tag, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_tags_by_seq ON memory_tags (seq);

CREATE TRIGGER memories_tags_insert AFTER INSERT ON memories WHEN new.tags IS NOT NULL BEGIN
    INSERT OR IGNORE INTO memory_tags (tag, seq) SELECT mnemic_fold(value), new.seq FROM json_each(new.tags);
END;

CREATE TRIGGER memories_tags_update AFTER UPDATE OF tags ON memories BEGIN
    DELETE FROM memory_tags WHERE seq = old.seq;
    INSERT OR IGNORE INTO memory_tags (tag, seq) SELECT mnemic_fold(value), new.seq FROM json_each(new.tags);
END;

-- What the word index reads: the text in the form that is indexed (see text.rs).
CREATE VIEW memories_text AS
    SELECT seq, mnemic_text(content) AS content, mnemic_tag_text(tags) AS tags, mnemic_text(project) AS project
    FROM memories;

CREATE VIRTUAL TABLE memories_fts USING fts5 (
    content, tags, project,
    content = 'memories_text',
    content_rowid = 'seq',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);

CREATE TRIGGER memories_fts_insert AFTER INSERT ON memories BEGIN
    INSERT INTO memories_fts (rowid, content, tags, project)
    VALUES (new.seq, mnemic_text(new.content), mnemic_tag_text(new.tags), mnemic_text(new.project));
END;

CREATE TRIGGER memories_fts_delete AFTER DELETE ON memories BEGIN
    INSERT INTO memories_fts (memories_fts, rowid, content, tags, project)
    VALUES ('delete', old.seq, mnemic_text(old.content), mnemic_tag_text(old.tags), mnemic_text(old.project));
END;

-- Only what is indexed fires it: touching another column leaves the index alone.
CREATE TRIGGER memories_fts_update AFTER UPDATE OF content, tags, project ON memories BEGIN
    INSERT INTO memories_fts (memories_fts, rowid, content, tags, project)
    VALUES ('delete', old.seq, mnemic_text(old.content), mnemic_tag_text(old.tags), mnemic_text(old.project));
    INSERT INTO memories_fts (rowid, content, tags, project)
    VALUES (new.seq, mnemic_text(new.content), mnemic_tag_text(new.tags), mnemic_text(new.project));
END;

-- Which rows changed in what an index in memory holds of them (vector, project, time), other than by being inserted: so
-- that such an index, in any process, follows the file by reading this log and the rows after the last key it knows.
CREATE TABLE index_log (
    entry INTEGER PRIMARY KEY AUTOINCREMENT,
    seq   INTEGER NOT NULL
) STRICT;

CREATE TRIGGER memories_log_delete AFTER DELETE ON memories BEGIN
    INSERT INTO index_log (seq) VALUES (old.seq);
END;

CREATE TRIGGER memories_log_update AFTER UPDATE OF project, created_at ON memories BEGIN
    INSERT INTO index_log (seq) VALUES (new.seq);
END;
