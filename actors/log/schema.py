"""The tables and indexes of a log's file. docs/message-log.md describes them."""

from __future__ import annotations

APPLICATION_ID = 0x504C4F47
"""``PLOG``: tells a log from other SQLite files."""

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE message(
    sequence INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    sender TEXT NOT NULL,
    receiver TEXT NOT NULL,
    runtime TEXT,
    worker INTEGER,
    nonce TEXT,
    kind TEXT NOT NULL,
    ids TEXT NOT NULL,
    cause INTEGER,
    reply_to INTEGER,
    detail TEXT NOT NULL,
    payload BLOB NOT NULL,
    handled REAL,
    handled_order INTEGER,
    checksum INTEGER NOT NULL
);
CREATE INDEX message_kind ON message(kind);
"""
