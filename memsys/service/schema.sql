CREATE TABLE IF NOT EXISTS memories (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, shelf TEXT NOT NULL,
    user_id TEXT, agent_id TEXT, run_id TEXT, content TEXT NOT NULL, index_text TEXT NOT NULL,
    kind TEXT NOT NULL, time TEXT NOT NULL, speaker TEXT NOT NULL, turns TEXT NOT NULL,
    importance REAL NOT NULL, metadata TEXT NOT NULL, vector BLOB NOT NULL, created TEXT NOT NULL,
    updated TEXT NOT NULL, accesses INTEGER NOT NULL DEFAULT 0, accessed TEXT,
    title TEXT NOT NULL DEFAULT '', event_time TEXT);
-- AUTOINCREMENT: numbers are never reused, so each process knows which changes it has applied.
CREATE TABLE IF NOT EXISTS changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT, memory TEXT NOT NULL, shelf TEXT NOT NULL,
    event TEXT NOT NULL, old TEXT, new TEXT, time TEXT NOT NULL,
    user_id TEXT, agent_id TEXT, run_id TEXT,
    turns TEXT);
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS dialogues (owner TEXT PRIMARY KEY, said TEXT, summary TEXT);
-- The parts of a relation store, each of one user, agent and run.
CREATE TABLE IF NOT EXISTS relation_parts (
    key TEXT PRIMARY KEY, user_id TEXT, agent_id TEXT, run_id TEXT, version INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS by_user ON memories (user_id);
CREATE INDEX IF NOT EXISTS by_agent ON memories (agent_id);
CREATE INDEX IF NOT EXISTS by_run ON memories (run_id);
CREATE INDEX IF NOT EXISTS by_memory ON changes (memory);
