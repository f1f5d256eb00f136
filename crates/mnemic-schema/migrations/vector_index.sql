-- Not a numbered migration: run when the first vector of a model is stored, {dims} being the model's width. Of memories
-- and of chunks, each with its own names.

DROP TRIGGER IF EXISTS {base}_vec_delete;

DROP TABLE IF EXISTS {vectors};

CREATE VIRTUAL TABLE {vectors} USING vec0 (
    {key} INTEGER PRIMARY KEY,
    embedding float[{dims}] distance_metric=cosine,
    -- vec0 keeps the vectors of a chunk in one value: to read one of them, SQLite walks the pages before it.
    chunk_size=16
);

CREATE TRIGGER {base}_vec_delete AFTER DELETE ON {base} BEGIN
    DELETE FROM {vectors} WHERE {key} = old.{key};
END;
