"""The tables, indexes and views of a log's file. docs/message-log.md describes them.

The tables hold everything; the views are there for people, and nothing of ours reads them.
"""

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

VIEWS = """
CREATE VIEW frontiers AS
    SELECT sequence, time, moved.key AS id, moved.value AS upper
    FROM message, json_each(message.detail, '$.frontiers') AS moved
    WHERE kind = 'FromReplica';
CREATE VIEW peeks AS
    SELECT peek.sequence AS sequence,
        json_extract(peek.detail, '$.uuid') AS uuid,
        json_extract(peek.detail, '$.target') AS target,
        json_extract(peek.detail, '$.timestamp') AS timestamp,
        peek.time AS sent,
        answers.time AS answered,
        answers.time - peek.time AS waited,
        answers.outcome AS outcome
    FROM message AS peek
    LEFT JOIN (
        SELECT time, answer.key AS uuid, answer.value AS outcome
        FROM message, json_each(message.detail, '$.answered') AS answer
        WHERE kind = 'FromReplica'
    ) AS answers ON answers.uuid = json_extract(peek.detail, '$.uuid')
    WHERE peek.kind = 'Peek';
"""
