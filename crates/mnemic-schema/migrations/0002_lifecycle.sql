-- Lifecycle, relations, entities and events, beside the memories: a memory of which nothing of this is said has no row in
-- any of these tables, and its own row stays as it is whatever happens here (so that no index of it is rewritten).

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
) STRICT;

-- The few rows that recall leaves out unless asked for them, and the parents to clear when one goes.
CREATE INDEX lifecycle_by_superseded ON lifecycle (superseded_at) WHERE superseded_at IS NOT NULL;
CREATE INDEX lifecycle_by_forgotten ON lifecycle (forgotten_at) WHERE forgotten_at IS NOT NULL;
CREATE INDEX lifecycle_by_valid_from ON lifecycle (valid_from) WHERE valid_from IS NOT NULL;
CREATE INDEX lifecycle_by_valid_until ON lifecycle (valid_until) WHERE valid_until IS NOT NULL;
CREATE INDEX lifecycle_by_parent ON lifecycle (causal_parent) WHERE causal_parent IS NOT NULL;
CREATE INDEX lifecycle_by_superseding ON lifecycle (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX lifecycle_by_kind ON lifecycle (kind);

CREATE TRIGGER lifecycle_log_insert AFTER INSERT ON lifecycle BEGIN
    INSERT INTO index_log (seq) VALUES (new.seq);
END;

CREATE TRIGGER lifecycle_log_update AFTER UPDATE OF kind, importance, trust, layer, pinned, source, valid_from, valid_until, superseded_at, forgotten_at ON lifecycle BEGIN
    INSERT INTO index_log (seq) VALUES (new.seq);
END;

-- Not when the memory itself goes, which is logged as that.
CREATE TRIGGER lifecycle_log_delete AFTER DELETE ON lifecycle BEGIN
    INSERT INTO index_log (seq) SELECT seq FROM memories WHERE seq = old.seq;
END;

-- How often and when a memory was last used, where somebody says so.
CREATE TABLE memory_access (
    seq         INTEGER PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
    accesses    INTEGER NOT NULL DEFAULT 0 CHECK (accesses >= 0),
    accessed_at TEXT NOT NULL
        CHECK (accessed_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]*')
) STRICT;

-- Directed: `from_seq` derives from, supersedes, supports, contradicts, … `to_seq`.
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
) STRICT;

CREATE INDEX relations_by_to ON relations (to_seq, kind);

-- What a memory is about: people, places, code, by name. `entity` is the name as it is compared (NFC, lower case).
CREATE TABLE memory_entities (
    entity TEXT NOT NULL CHECK (entity <> ''),
    seq    INTEGER NOT NULL REFERENCES memories (seq) ON DELETE CASCADE,
    name   TEXT NOT NULL,
    -- The place among the entities of the memory: the first is what it is about first of all.
    place  INTEGER NOT NULL,
    PRIMARY KEY (entity, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_entities_by_seq ON memory_entities (seq, place);

CREATE TRIGGER memory_entities_log_insert AFTER INSERT ON memory_entities BEGIN
    INSERT INTO index_log (seq) VALUES (new.seq);
END;

CREATE TRIGGER memory_entities_log_delete AFTER DELETE ON memory_entities BEGIN
    INSERT INTO index_log (seq) SELECT seq FROM memories WHERE seq = old.seq;
END;

-- What happened to a memory and who did it: only ever added to. The memory may be gone, so it is named by its id.
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
) STRICT;

CREATE INDEX memory_events_by_memory ON memory_events (memory, event);
CREATE INDEX memory_events_by_time ON memory_events (at, event);
CREATE INDEX memory_events_by_undone ON memory_events (undoes) WHERE undoes IS NOT NULL;

-- Only what tells of a memory's text may be taken out of an event, when it is erased.
CREATE TRIGGER memory_events_append_only BEFORE UPDATE ON memory_events
WHEN new.event IS NOT old.event OR new.at IS NOT old.at OR new.action IS NOT old.action OR new.memory IS NOT old.memory
  OR new.actor IS NOT old.actor OR new.batch IS NOT old.batch OR new.undoes IS NOT old.undoes
  OR coalesce(new.project, old.project) IS NOT old.project OR coalesce(new.before, old.before) IS NOT old.before
  OR coalesce(new.detail, old.detail) IS NOT old.detail
BEGIN
    SELECT RAISE(ABORT, 'events are only ever added to');
END;
