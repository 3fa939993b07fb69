"""Taking out of the store what was kept under other rules of what must be hidden, down to the bytes of the file."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from memory.model import statement_id
from memory.store import Store

Hiding = Callable[[str], str]


def purge(store: Store, hiding: Hiding) -> None:
    """Forget what says what must be hidden now; the votes stay, for what will be read in its place.

    `rewrite` the file when nothing is being written any more.
    """
    connection = store.db.conn
    rows = connection.execute("SELECT key, heading, text FROM fragment").fetchall()
    stale = [(key, heading) for key, heading, text in rows if hiding(text) != text]
    for key, heading in stale:
        statements = connection.execute("SELECT id, text FROM statement WHERE fragment = ?", (key,)).fetchall()
        moved = [(statement_id(hiding(heading), hiding(text)), old) for old, text in statements]
        for table in ("signal", "promoted_statement"):
            connection.executemany(f"UPDATE OR IGNORE {table} SET statement = ? WHERE statement = ?", moved)
    connection.executemany("DELETE FROM fragment WHERE key = ?", [(key,) for key, _ in stale])
    for table, column in (("promotion", "text"), ("refusal", "reason"), ("narrative", "prose")):
        _replace(store, table, column, hiding)
    _replace(store, "telling", "material", partial(_hidden_within, hiding))


def _replace(store: Store, table: str, column: str, hiding: Hiding) -> None:
    connection = store.db.conn
    texts = [row[0] for row in connection.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall()]
    changed = [(new, old) for old, new in ((text, hiding(text)) for text in texts) if new != old]
    connection.executemany(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", changed)


def _hidden_within(hiding: Hiding, document: str) -> str:
    """Return a JSON document with each of its texts hidden as it must be; the same one when none is."""
    said = json.loads(document)
    plain = _each(hiding, said)
    return document if plain == said else json.dumps(plain, ensure_ascii=False)


def _each(hiding: Hiding, said: Any) -> Any:
    match said:
        case str():
            return hiding(said)
        case list():
            return [_each(hiding, one) for one in said]
        case dict():
            return {key: _each(hiding, value) for key, value in said.items()}
    return said


def rewrite(store: Store) -> None:
    """Write the file anew, without the pages and index entries of what was deleted; not while somebody else reads."""
    with suppress(sqlite3.OperationalError):
        store.db.conn.execute("INSERT INTO fragment_fts (fragment_fts) VALUES ('rebuild')")
        store.db.conn.execute("VACUUM")
        store.db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
