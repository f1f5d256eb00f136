-- Not a numbered migration: run when a re-embedding begins. The vectors of the coming model, gathered beside the live
-- ones. Dropped when they have taken their place, or when the re-embedding is abandoned.

DROP TRIGGER IF EXISTS vector_staging_delete;

DROP TRIGGER IF EXISTS vector_staging_update;

DROP TABLE IF EXISTS vector_staging;

CREATE TABLE vector_staging (
    seq    INTEGER PRIMARY KEY,
    vector BLOB NOT NULL
) STRICT;

CREATE TRIGGER vector_staging_delete AFTER DELETE ON memories BEGIN
    DELETE FROM vector_staging WHERE seq = old.seq;
END;

-- Another text needs another vector: without one, it is found missing and embedded again.
CREATE TRIGGER vector_staging_update AFTER UPDATE OF content ON memories BEGIN
    DELETE FROM vector_staging WHERE seq = old.seq;
END;
