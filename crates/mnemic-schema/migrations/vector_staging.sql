-- Not a numbered migration: run when a re-embedding begins. The vectors of the coming model, gathered beside the live
-- ones. Dropped when they have taken their place, or when the re-embedding is abandoned. Of memories and of chunks, each
-- with its own names; that of a chunk is NULL where the coming model finds nothing to embed in it.

DROP TRIGGER IF EXISTS {staging}_delete;

DROP TRIGGER IF EXISTS {staging}_update;

DROP TABLE IF EXISTS {staging};

CREATE TABLE {staging} (
    {key}    INTEGER PRIMARY KEY,
    vector BLOB{not_null}
) STRICT;

-- The keys alone, a hundredth of the table: what is missing is looked up in them again and again.
CREATE INDEX {staging}_keys ON {staging} ({key});

CREATE TRIGGER {staging}_delete AFTER DELETE ON {base} BEGIN
    DELETE FROM {staging} WHERE {key} = old.{key};
END;

-- Another text needs another vector: without one, it is found missing and embedded again.
CREATE TRIGGER {staging}_update AFTER UPDATE OF {text} ON {base} BEGIN
    DELETE FROM {staging} WHERE {key} = old.{key};
END;
