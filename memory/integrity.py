"""Whether a store is whole: what SQLite says of its file, and which of its rows lead nowhere or are dated too late."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from memory import schema
from memory.model import FragmentId
from memory.rows import listed, stamp
from memory.store import BrokenStoreError, Store, sql

MOST_NAMED = 5
"""What SQLite finds wrong with a file, named one by one; a damaged page has hundreds."""
CASCADING = {
    "statement": "fragment NOT IN (SELECT key FROM fragment)",
    "sighting": "fragment NOT IN (SELECT key FROM fragment) OR path NOT IN (SELECT path FROM source_file)",
    "vector": "fragment NOT IN (SELECT key FROM fragment)",
    "promoted_statement": "promotion NOT IN (SELECT id FROM promotion)",
    "told": "NOT EXISTS (SELECT 1 FROM narrative AS n WHERE n.night = told.night AND n.phase = told.phase)",
}
"""Tables whose rows go with what they belong to, and which of their rows are left over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What can be said of the file of a store before it is opened.

    `version` is that of its schema; `dangling` counts rows by table that belong to nothing; `index` tells whether the
    words are found that stand there. Nothing but the damage is known of a damaged file.
    """

    version: int
    damage: tuple[str, ...] = ()
    dangling: tuple[tuple[str, int], ...] = ()
    index: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """Something and the day or moment it is dated with, as the row has it."""

    what: str
    at: str


def copied(source: Path, target: Path) -> None:
    """Copy a store without leaving a trace beside it, as it is at one moment; raise BrokenStoreError.

    Where somebody has it open, or died with it open, SQLite copies it; else its files are copied.
    """
    wal, shm = (source.with_name(f"{source.name}-{end}") for end in ("wal", "shm"))
    try:
        before = source.stat()
        if not shm.exists():
            shutil.copyfile(source, target)
            if wal.exists():
                shutil.copyfile(wal, target.with_name(f"{target.name}-wal"))
            after = source.stat()
            if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and not shm.exists():
                return
            for part in (target, target.with_name(f"{target.name}-wal")):
                part.unlink(missing_ok=True)
        Store.backup(source, target)
    except sqlite3.DatabaseError as error:
        raise BrokenStoreError(source, str(error)) from error
    except OSError as error:
        raise BrokenStoreError(source, error.strerror or str(error)) from error


def snapshot(source: Path, target: Path) -> None:
    """Copy a store as one file with the same bytes for the same rows; raise BrokenStoreError."""
    with tempfile.TemporaryDirectory(prefix="dream-") as folder:
        copy = Path(folder) / source.name
        copied(source, copy)
        try:
            Store.backup(copy, target)
        except sqlite3.DatabaseError as error:
            raise BrokenStoreError(source, str(error)) from error


def replaced(target: Path, source: Path) -> None:
    """Put the rows of another store in the place of all that are in one, which others may have open: all or none.

    Raise BrokenStoreError when the file is no store.
    """
    try:
        Store.backup(source, target)
    except sqlite3.DatabaseError as error:
        raise BrokenStoreError(target, str(error)) from error


def health(copy: Path) -> Health:
    """Examine a copy of a store; it is written to, which tests the index of words."""
    try:
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            said = [row[0] for row in connection.execute(f"PRAGMA integrity_check({MOST_NAMED})")]
            if said != ["ok"]:
                return Health(version=version, damage=tuple(" ".join(one.split()) for one in said))
            return Health(version=version, dangling=_dangling(connection), index=_finds(connection))
    except sqlite3.DatabaseError as error:
        return Health(version=0, damage=(str(error),))


def _dangling(connection: sqlite3.Connection) -> tuple[tuple[str, int], ...]:
    counts: dict[str, int] = {}
    for table, *_ in connection.execute("PRAGMA foreign_key_check"):
        counts[table] = counts.get(table, 0) + 1
    return tuple(sorted(counts.items()))


def _finds(connection: sqlite3.Connection) -> bool:
    """Tell whether the index of words agrees with the fragments; a store of another schema may have none."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'fragment_fts'").fetchone():
        return True
    try:
        connection.execute("INSERT INTO fragment_fts (fragment_fts, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError:
        return False
    return True


def is_older(found: Health) -> bool:
    """Tell whether a store was made by an older version of this program; an empty file is about to become one."""
    return 0 < found.version < schema.VERSION


def is_newer(found: Health) -> bool:
    """Tell whether a store was made by a newer version of this program."""
    return found.version > schema.VERSION


class Integrity:
    """What of an opened store contradicts the rest, and how that is mended; whoever mends holds a transaction."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.connection = store.db.conn

    # -- what is wrong ------------------------------------------------------------------------------------------

    def wordless(self) -> tuple[FragmentId, ...]:
        """Return the fragments without a statement: nothing of them can ever be promoted."""
        return self._ids("SELECT id FROM fragment WHERE key NOT IN (SELECT fragment FROM statement) ORDER BY key")

    def misplaced(self) -> tuple[FragmentId, ...]:
        """Return the fragments that stand nowhere and are not known to be gone, or the other way round."""
        return self._ids(
            "SELECT id FROM fragment WHERE (gone_at IS NULL) <> (key IN (SELECT fragment FROM sighting)) ORDER BY key"
        )

    def orphan_images(self) -> tuple[str, ...]:
        """Return the digests of pictures that no change needs, nor a picture that one needs."""
        return tuple(row[0] for row in self.connection.execute(sql("orphan_images")).fetchall())

    def nights_after(self, day: date, now: datetime) -> tuple[Dated, ...]:
        """Return the nights that are named by a later day, or began at a later moment."""
        return self._dated(
            "SELECT date, max(date, started_at) FROM night WHERE date > :day OR started_at > :now ORDER BY date",
            day=day.isoformat(),
            now=stamp(now),
        )

    def sightings_after(self, day: date) -> tuple[Dated, ...]:
        """Return the files with sightings of a later day, each with the latest."""
        return self._dated(
            "SELECT path, max(day) FROM sighting WHERE day > :day GROUP BY path ORDER BY path", day=day.isoformat()
        )

    def signals_after(self, now: datetime) -> tuple[Dated, ...]:
        """Return the surfaces on which something was asked for at a later moment, each with the latest."""
        return self._dated(
            "SELECT surface, max(at) FROM signal WHERE at > :now GROUP BY surface ORDER BY surface", now=stamp(now)
        )

    def nights_out_of_order(self) -> tuple[Dated, ...]:
        """Return the nights that began before one of an earlier date did."""
        return self._dated(
            "SELECT date, started_at FROM ("
            " SELECT date, started_at, max(started_at) OVER (ORDER BY date ROWS UNBOUNDED PRECEDING) AS latest"
            " FROM night) WHERE started_at < latest ORDER BY date"
        )

    # -- how it is mended ---------------------------------------------------------------------------------------

    def drop_dangling(self) -> None:
        """Delete the rows whose fragment, file, promotion or entry is gone: they should have gone with it."""
        for table, left in CASCADING.items():
            self.connection.execute(f"DELETE FROM {table} WHERE {left}")

    def drop_images(self, digests: Iterable[str]) -> None:
        """Delete pictures that nothing needs."""
        self.connection.execute("PRAGMA defer_foreign_keys = ON")  # one may stand on another
        self.connection.executemany("DELETE FROM image WHERE digest = ?", [(digest,) for digest in digests])

    def drop_fragments(self, ids: Sequence[FragmentId]) -> None:
        """Delete fragments; what was asked for of their statements stays."""
        self.connection.execute("DELETE FROM fragment WHERE id IN (SELECT value FROM json_each(?))", (listed(ids),))

    def place(self, ids: Sequence[FragmentId], *, now: datetime) -> None:
        """Note of fragments whether they stand somewhere or are gone."""
        self.connection.execute(
            "UPDATE fragment SET gone_at = CASE WHEN key IN (SELECT fragment FROM sighting) THEN NULL ELSE ? END"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (stamp(now), listed(ids)),
        )

    def index_anew(self) -> None:
        """Make the index of words anew from the fragments."""
        self.connection.execute("INSERT INTO fragment_fts (fragment_fts) VALUES ('rebuild')")

    def _ids(self, statement: str) -> tuple[FragmentId, ...]:
        return tuple(FragmentId(row[0]) for row in self.connection.execute(statement).fetchall())

    def _dated(self, statement: str, **values: Any) -> tuple[Dated, ...]:
        return tuple(Dated(what=row[0], at=row[1]) for row in self.connection.execute(statement, values).fetchall())
