"""The files that were read into a store: what is known of each, and what was seen in it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from memory.model import Fragment, FragmentId, Kind, Sighting, place
from memory.rows import listed, row_of, stamp
from memory.store import Store, sql

Stamp = tuple[str, int, int, int]
"""Day, size, mtime and ctime of a file, as rows have them: ten years of files are compared before every search."""


INTO_SIGHTING = (
    "INSERT OR IGNORE INTO sighting (path, start_line, end_line, fragment, kind, day, score, at, quoted)"
    " SELECT ?, ?, ?, key, ?, ?, ?, ?, ? FROM fragment WHERE id = ?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """What was read of a file; `stamp` is size, mtime and ctime in nanoseconds.

    `cursor` says where reading goes on, for a file that only grows; None for one that is read whole.
    """

    path: str
    kind: Kind
    day: date
    stamp: tuple[int, int, int]
    digest: str
    cursor: Mapping[str, Any] | None = None


class Sources:
    """The rows about files in a store; whoever writes holds a transaction of the store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.connection = store.db.conn

    def known(self, *kinds: Kind) -> dict[str, Stamp]:
        """Return day and stamp of each file of some kinds, by path: what tells whether it must be read again."""
        rows = self.connection.execute(
            "SELECT path, day, size, mtime_ns, ctime_ns FROM source_file"
            " WHERE kind IN (SELECT value FROM json_each(?))",
            (listed(kinds),),
        )
        return {row[0]: row[1:] for row in rows}

    def stamps(self, paths: Iterable[str]) -> dict[str, Stamp]:
        """Return day and stamp of those of some files that are known, by path."""
        rows = self.connection.execute(
            "SELECT path, day, size, mtime_ns, ctime_ns FROM source_file"
            " WHERE path IN (SELECT value FROM json_each(?))",
            (listed(paths),),
        )
        return {row[0]: row[1:] for row in rows}

    def digest(self, path: str) -> str | None:
        """Return the digest of the bytes a file had when it was read."""
        row = self.connection.execute("SELECT digest FROM source_file WHERE path = ?", (path,)).fetchone()
        return None if row is None else str(row[0])

    def cursors(self, kind: Kind) -> dict[str, Mapping[str, Any]]:
        """Return where reading goes on in each file of a kind, by path."""
        rows = self.connection.execute(
            "SELECT path, cursor FROM source_file WHERE kind = ? AND cursor IS NOT NULL", (kind,)
        )
        return {row[0]: json.loads(row[1]) for row in rows}

    def read_anew(self) -> None:
        """Make every file be read again, as when the rules of reading changed."""
        self.connection.execute("UPDATE source_file SET size = -1, digest = '', cursor = NULL")

    def touch(self, source: SourceFile) -> None:
        """Note that a file's stamp changed but not its text."""
        self.connection.execute(
            "UPDATE source_file SET size = ?, mtime_ns = ?, ctime_ns = ? WHERE path = ?", (*source.stamp, source.path)
        )

    def forget(self, path: str, *, now: datetime) -> None:
        """Drop the sightings of a file that is gone; its fragments and their history stay."""
        rows = self.connection.execute("SELECT fragment FROM sighting WHERE path = ?", (path,)).fetchall()
        self.connection.execute("DELETE FROM source_file WHERE path = ?", (path,))
        if rows:
            self.connection.executemany(sql("gone"), [{"key": row[0], "now": stamp(now)} for row in rows])

    def replace(self, source: SourceFile, seen: Iterable[tuple[Fragment, Sighting]], *, now: datetime) -> None:
        """Replace all that was seen in a file by what stands there now."""
        self.forget(source.path, now=now)
        self.add(source, seen)

    def add(self, source: SourceFile, seen: Iterable[tuple[Fragment, Sighting]]) -> None:
        """Note what was read of a file, and add what was seen in it to what is known of it."""
        self.connection.execute(
            sql("keep_source"),
            {
                "path": source.path,
                "kind": source.kind,
                "day": source.day.isoformat(),
                "size": source.stamp[0],
                "mtime_ns": source.stamp[1],
                "ctime_ns": source.stamp[2],
                "digest": source.digest,
                "cursor": None if source.cursor is None else json.dumps(source.cursor, sort_keys=True),
            },
        )
        rows = [(one.id, one, sighting) for one, sighting in seen]
        self._keep({key: one for key, one, _ in rows})
        self.also((key, sighting) for key, _, sighting in rows)

    def also(self, seen: Iterable[tuple[FragmentId, Sighting]]) -> None:
        """Add places where fragments that are known stand as well."""
        self.connection.executemany(
            INTO_SIGHTING,
            [
                (s.path, s.start_line, s.end_line, s.kind, s.day.isoformat(), s.score, stamp(s.at), s.quoted, key)
                for key, s in seen
            ],
        )

    def saying(self, statements: Sequence[str]) -> dict[str, FragmentId]:
        """Return for statements that stand in a diary or a saved memory the newest fragment that makes them."""
        rows = self.connection.execute(sql("saying"), {"texts": listed(statements)})
        return {row[0]: FragmentId(row[1]) for row in rows}

    def said_on(self, day: date) -> tuple[tuple[str, str], ...]:
        """Return place and text of what was said on a day, by session and line."""
        rows = self.connection.execute(sql("said_on"), {"day": day.isoformat()})
        return tuple((place(row[0], row[1], row[1]), row[2]) for row in rows)

    def withdraw(self, path: str, *, now: datetime) -> None:
        """Forget a file that its owner deleted: what stood only there is gone at once, unless it was promoted."""
        rows = self.connection.execute("SELECT fragment FROM sighting WHERE path = ?", (path,)).fetchall()
        self.forget(path, now=now)
        gone = self.connection.execute(sql("withdraw"), {"keys": json.dumps([row[0] for row in rows])}).fetchall()
        self.connection.execute(sql("untell"), {"ids": json.dumps([row[0] for row in gone])})

    def _keep(self, fragments: Mapping[FragmentId, Fragment]) -> None:
        """Keep what is new of the fragments; one that was gone stands somewhere again."""
        self.connection.execute(sql("back"), {"ids": listed(fragments)})
        self.connection.executemany(sql("keep"), [row_of(key, one) for key, one in fragments.items()])
        self.connection.executemany(
            "INSERT OR IGNORE INTO statement SELECT key, ?, ?, ? FROM fragment WHERE id = ?",
            [
                (position, statement, text, key)
                for key, one in fragments.items()
                for position, (statement, text) in enumerate(zip(one.statement_ids, one.statements, strict=True))
            ],
        )
