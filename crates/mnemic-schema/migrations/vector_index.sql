-- Not a numbered migration: run when the first vector of a model is stored, {dims} being the model's width.

DROP TRIGGER IF EXISTS memories_vec_delete;

DROP TABLE IF EXISTS memory_vec;

CREATE VIRTUAL TABLE memory_vec USING vec0 (
    seq INTEGER PRIMARY KEY,
    embedding float[{dims}] distance_metric=cosine,
    -- vec0 keeps the vectors of a chunk in one value: to read one of them, SQLite walks the pages before it.
    chunk_size=16
);

CREATE TRIGGER memories_vec_delete AFTER DELETE ON memories BEGIN
    DELETE FROM memory_vec WHERE seq = old.seq;
END;
