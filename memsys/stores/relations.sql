CREATE TABLE IF NOT EXISTS nodes (
    owner TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
    vector BLOB NOT NULL, mentions INTEGER NOT NULL, created TEXT NOT NULL,
    last_seen TEXT NOT NULL, PRIMARY KEY (owner, id));
CREATE TABLE IF NOT EXISTS relations (
    owner TEXT NOT NULL, source TEXT NOT NULL, name TEXT NOT NULL, target TEXT NOT NULL,
    mentions INTEGER NOT NULL, created TEXT NOT NULL, last_seen TEXT NOT NULL, ended TEXT,
    turns TEXT NOT NULL, PRIMARY KEY (owner, source, name, target));
-- One row for each owner with nodes. A change gives it a number that was never used before.
CREATE TABLE IF NOT EXISTS owners (
    version INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL UNIQUE);
