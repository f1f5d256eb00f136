-- Documents: memories with a long source, which is cut into chunks that are searched by word and by meaning. The text of
-- such a memory (memories.content) is the document's card: title, description and the beginning of the source. The table
-- of chunk vectors is made when the first one is stored (see vector_index.sql).

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
) STRICT;

CREATE INDEX documents_by_origin ON documents (origin) WHERE origin IS NOT NULL;
CREATE INDEX documents_unchunked ON documents (seq) WHERE chunked = 0;

-- Whoever writes another source, in whatever way, has to cut it: until then its chunks are known to be of an older one.
CREATE TRIGGER documents_source_update AFTER UPDATE OF source, chunking ON documents BEGIN
    UPDATE documents SET chunked = 0 WHERE seq = new.seq;
END;

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
) STRICT;

CREATE VIEW chunks_text AS SELECT chunk, mnemic_text(text) AS text FROM chunks;

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    text,
    content = 'chunks_text',
    content_rowid = 'chunk',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);

CREATE TRIGGER chunks_fts_insert AFTER INSERT ON chunks BEGIN
    INSERT INTO chunks_fts (rowid, text) VALUES (new.chunk, mnemic_text(new.text));
END;

CREATE TRIGGER chunks_fts_delete AFTER DELETE ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, text) VALUES ('delete', old.chunk, mnemic_text(old.text));
END;

CREATE TRIGGER chunks_fts_update AFTER UPDATE OF text ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, text) VALUES ('delete', old.chunk, mnemic_text(old.text));
    INSERT INTO chunks_fts (rowid, text) VALUES (new.chunk, mnemic_text(new.text));
END;

-- As index_log, of chunks. What an index in memory holds of a chunk is also what it holds of its memory.
CREATE TABLE chunk_log (
    entry INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk INTEGER NOT NULL
) STRICT;

CREATE TRIGGER chunks_log_delete AFTER DELETE ON chunks BEGIN
    INSERT INTO chunk_log (chunk) VALUES (old.chunk);
END;

CREATE TRIGGER index_log_chunks AFTER INSERT ON index_log BEGIN
    INSERT INTO chunk_log (chunk) SELECT chunk FROM chunks WHERE seq = new.seq;
END;
