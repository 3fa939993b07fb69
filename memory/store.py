"""The recall store: fragments, where they stand, and the votes they got, in one SQLite file."""

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unicodedata import category, normalize

from sqlite_utils import Database

from memory import schema
from memory.model import Candidate, Evidence, Fragment, FragmentId, PhaseHistory, StatementId
from memory.rows import as_evidence, as_fragment, as_history, as_sighting, grouped, is_cjk, listed, stamp
from memory.writable import writable

BUSY_SECONDS = 60.0
"""How long a writer waits for another one before it gives up; a first night commits far more often."""
WAL_ATTEMPTS = 200
"""SQLite does not wait when two processes switch a new file to WAL at once, so this does, 10 ms a time."""


class NewerStoreError(Exception):
    """The store was made by a newer version of this program."""

    def __init__(self, path: Path, version: int) -> None:
        self.path = path
        self.version = version
        super().__init__(
            f"{path} was written by a newer version (schema {version}, this one knows {schema.VERSION}); "
            "install the newest nightly-dreaming and run this again"
        )


class BrokenStoreError(Exception):
    """The store cannot be opened."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path} cannot be used ({reason}); check its permissions, or move it away to start afresh")


class BusyStoreError(Exception):
    """Another process kept the store locked."""

    def __init__(self) -> None:
        super().__init__("the recall store is locked by another process; try again once that has ended")


class NotRecordedError(Exception):
    """The store refused a vote."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the recall was not recorded ({reason}); search again once nothing else writes to the store")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """A signal for one statement; `query` is compared folded and stored only as a hash."""

    statement: StatementId
    query: str
    day: date
    score: float
    surface: str
    at: datetime
    kind: str = "recall"


class Store:
    """The only place that runs SQL for fragments, sightings and signals; opened per command, closed by `with`."""

    def __init__(self, db: Database, path: Path) -> None:
        self.db = db
        self.path = path

    @classmethod
    def open(cls, path: Path) -> "Store":
        """Open or create the store; raise NewerStoreError, or BrokenStoreError with the reason."""
        for part in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            if _is_read_only(part):
                # SQLite would give its side files the same mode, and they stay so.
                raise BrokenStoreError(part, "it is read-only")
        try:
            connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        except sqlite3.DatabaseError as error:
            raise BrokenStoreError(path, str(error)) from error
        try:
            _into_wal(connection)
            return cls._migrated(connection, path)
        except sqlite3.DatabaseError as error:
            connection.close()
            raise BrokenStoreError(path, str(error)) from error

    @classmethod
    def in_memory(cls) -> "Store":
        """Return an empty store that is gone when closed."""
        return cls._migrated(sqlite3.connect(":memory:", isolation_level=None), Path(":memory:"))

    @classmethod
    def _migrated(cls, connection: sqlite3.Connection, path: Path) -> "Store":
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        store = cls(Database(connection, execute_plugins=False), path)
        version = store._version()
        if version > schema.VERSION:
            connection.close()
            raise NewerStoreError(path, version)
        if version < schema.VERSION:
            with store.writing():
                schema.MIGRATIONS.apply(store.db)
        return store

    @staticmethod
    def backup(source: Path, target: Path) -> None:
        """Copy a store that others have open, as it is at one moment."""
        origin = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
        copy = sqlite3.connect(target)
        try:
            origin.backup(copy)
        finally:
            copy.close()
            origin.close()

    def _version(self) -> int:
        return int(self.db.conn.execute("PRAGMA user_version").fetchone()[0])

    def close(self) -> None:
        """Close the file; the last one to close it leaves no WAL behind."""
        self.db.conn.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        self.close()
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise BusyStoreError from error
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.IntegrityError):
            raise BrokenStoreError(self.path, str(error)) from error

    @contextmanager
    def writing(self, *, lasting: bool = False) -> Iterator[None]:
        """Hold the write lock for the block: all of it is kept, or nothing; nested blocks join the outer one.

        What is `lasting` outlives a power cut from its end on; a vote may be lost in one.
        """
        connection = self.db.conn
        if connection.in_transaction:
            yield
            return
        connection.execute(f"PRAGMA synchronous = {'FULL' if lasting else 'NORMAL'}")
        # A deferred transaction that turns into a write fails at once when another one wrote in between.
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            connection.rollback()
            raise
        connection.execute("COMMIT")

    def setting(self, name: str) -> str | None:
        """Return a setting of the store itself, such as how tags were made."""
        row = self._one("SELECT value FROM setting WHERE name = :name", name=name)
        return None if row is None else str(row[0])

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting of the store itself."""
        self._run("INSERT OR REPLACE INTO setting (name, value) VALUES (:name, :value)", name=name, value=value)

    # -- sources ------------------------------------------------------------------------------------------------

    def texts(self) -> Iterator[tuple[FragmentId, str]]:
        """Return id and text of every fragment, for work that depends on the text alone."""
        for row in self.db.conn.execute("SELECT id, text FROM fragment ORDER BY key").fetchall():
            yield FragmentId(row[0]), row[1]

    def retag(self, tags: Iterable[tuple[FragmentId, Sequence[str]]]) -> None:
        """Replace the concept tags of fragments."""
        rows = [(listed(found), fragment) for fragment, found in tags]
        self.db.conn.executemany("UPDATE fragment SET tags = ? WHERE id = ?", rows)

    def redate(self, moment_of: Callable[[date], datetime]) -> None:
        """Set the time of every sighting anew from its day, as when the time zone changed."""
        days = [date.fromisoformat(row[0]) for row in self._all("SELECT DISTINCT day FROM sighting")]
        rows = [(stamp(moment_of(day)), day.isoformat()) for day in days]
        self.db.conn.executemany("UPDATE sighting SET at = ? WHERE day = ?", rows)

    def prune(self, *, before: datetime) -> int:
        """Forget fragments whose source is gone, that nobody recalled or promoted; return how many."""
        cursor = self.db.conn.execute(sql("prune"), {"before": stamp(before)})
        return max(0, cursor.rowcount)

    # -- signals ------------------------------------------------------------------------------------------------

    def record(self, votes: Iterable[Vote]) -> None:
        """Count votes; the same query for a statement on one day is one signal, whatever the order of arrival.

        Raise NotRecordedError when the store refuses; a search that found something is not spoilt by that.
        """
        rows = [
            {
                "statement": vote.statement, "kind": vote.kind, "query_hash": query_hash(vote.query),
                "day": vote.day.isoformat(), "score": vote.score, "surface": vote.surface, "at": stamp(vote.at),
            }
            for vote in votes
        ]  # fmt: skip
        try:
            with self.writing():
                self.db.conn.executemany(sql("record"), rows)
        except sqlite3.Error as error:
            raise NotRecordedError(str(error)) from error

    # -- candidates ---------------------------------------------------------------------------------------------

    def active(self, *, since: datetime, until: datetime, tonight: date) -> tuple[FragmentId, ...]:
        """Return the live fragments with a signal in that time and a statement not promoted on another night."""
        return self._ids(sql("active"), since=stamp(since), until=stamp(until), tonight=tonight.isoformat())

    def recalled(self, *, tonight: date | None = None) -> tuple[FragmentId, ...]:
        """Return the fragments anybody asked for; what ended `tonight` counts as standing still."""
        return self._ids(sql("recalled"), tonight=None if tonight is None else tonight.isoformat())

    def every(self) -> tuple[FragmentId, ...]:
        """Return all fragments that stand somewhere or were recalled, oldest first."""
        return self._ids(sql("every"))

    def silent_count(self) -> int:
        """Return how many fragments stand somewhere and were never recalled."""
        row = self._one(sql("silent"))
        return int(row[0]) if row else 0

    def at_lines(self, path: str, start: int, end: int) -> tuple[FragmentId, ...]:
        """Return the fragments that stand on any of the lines, in file order."""
        return self._ids(
            "SELECT f.id FROM sighting AS s JOIN fragment AS f ON f.key = s.fragment"
            " WHERE s.path = :path AND s.end_line >= :start AND s.start_line <= :end ORDER BY s.start_line, f.key",
            path=path,
            start=start,
            end=end,
        )

    def containing(self, text: str) -> tuple[FragmentId, ...]:
        """Return the fragments whose text contains the text, in whatever case, or whose id begins with it."""
        return self._ids(
            "SELECT id FROM fragment"
            " WHERE instr(text, :text) > 0 OR instr(lower(text), lower(:text)) > 0 OR id GLOB :prefix ORDER BY key",
            text=text,
            prefix=f"{text}*" if text.isalnum() else "-",
        )

    def candidates(
        self,
        ids: Sequence[FragmentId],
        *,
        until: date,
        tonight: date | None = None,
        but: Mapping[FragmentId, Sequence[int]] = MappingProxyType({}),
    ) -> tuple[Candidate, ...]:
        """Return the fragments with all that speaks for them, and the phases up to a night, in the order of `ids`.

        Votes for statements that were promoted no longer count, unless all are promoted, and those for statements that
        may not be written, or are left out (`but`, by their positions), do not either; what was promoted `tonight`
        counts as not yet promoted.
        """
        found: dict[FragmentId, Candidate] = {}
        for start in range(0, len(ids), 5000):
            found |= self._candidates(ids[start : start + 5000], until, tonight, but)
        return tuple(found[i] for i in ids if i in found)

    def _candidates(
        self, ids: Sequence[FragmentId], until: date, tonight: date | None, but: Mapping[FragmentId, Sequence[int]]
    ) -> dict[FragmentId, Candidate]:
        wanted: dict[str, str | None] = {
            "ids": listed(ids),
            "until": until.isoformat(),
            "tonight": None if tonight is None else tonight.isoformat(),
        }
        history = {row[0]: as_history(row) for row in self.db.conn.execute(sql("history"), wanted)}
        sightings = grouped(self.db.conn.execute(sql("sightings"), wanted), as_sighting)
        statements = grouped(self.db.conn.execute(sql("statements"), wanted), tuple)
        fragments = {
            FragmentId(row[0]): as_fragment(row, statements[row[0]])
            for row in self.db.conn.execute(sql("fragments"), wanted)
        }
        asked_for = {key: one for key, one in fragments.items() if any(s[1] for s in statements[key])}
        wanted["withheld"] = withheld(asked_for, but)
        evidence = {row[0]: as_evidence(row) for row in self.db.conn.execute(sql("evidence"), wanted)}
        return {
            key: Candidate(
                fragment=fragment,
                evidence=evidence.get(key, Evidence()),
                history=history.get(key, PhaseHistory()),
                sightings=tuple(sightings.get(key, ())),
                votes=tuple(int(s[1]) for s in statements[key]),
                promoted=tuple(None if s[2] is None else date.fromisoformat(s[2]) for s in statements[key]),
                withheld=tuple(but.get(key, ())),
            )
            for key, fragment in fragments.items()
        }

    def statements(self, ids: Sequence[FragmentId]) -> dict[FragmentId, list[tuple[StatementId, str]]]:
        """Return id and text of the statements of fragments, in their order."""
        rows = self.db.conn.execute(sql("said_by"), {"ids": listed(ids)})
        return grouped(rows, lambda row: (StatementId(row[0]), row[1]))

    def counts(self) -> Mapping[str, int]:
        """Return how much the store holds: fragments, live ones, sightings, recalls, source files."""
        return dict(zip(COUNTED, self.db.conn.execute(sql("counts")).fetchone(), strict=True))

    def _ids(self, statement: str, **values: object) -> tuple[FragmentId, ...]:
        return tuple(FragmentId(row[0]) for row in self._all(statement, **values))

    def _run(self, statement: str, **values: object) -> None:
        self.db.conn.execute(statement, values)

    def _all(self, statement: str, **values: object) -> list[Any]:
        return self.db.conn.execute(statement, values).fetchall()

    def _one(self, statement: str, **values: object) -> Any:
        return self.db.conn.execute(statement, values).fetchone()


def withheld(fragments: Mapping[FragmentId, Fragment], but: Mapping[FragmentId, Sequence[int]]) -> str:
    """Return the statements that the evidence leaves out, those that may not be written and others: ids, positions."""
    left_out = [
        (key, n)
        for key, fragment in fragments.items()
        if len(fragment.statements) > 1
        for n in sorted({*range(len(fragment.statements))} - ({*writable(fragment)} - {*but.get(key, ())}))
    ]
    return json.dumps(left_out)


COUNTED = ("fragments", "standing", "sightings", "recalls", "sources")


def query_hash(query: str) -> str:
    """Return what is stored of a query: a hash of its words, folded and NFKC, without punctuation, in any order.

    Words in Han, kana or Hangul keep their order, and a mark between two digits (`1.5`) belongs to a number.
    """
    folded = normalize("NFKC", query).casefold()
    around = zip(f" {folded}", folded, f"{folded[1:]} ", strict=False)
    bare = (
        " " if category(mark)[0] == "P" and not (before.isdigit() and after.isdigit()) else mark
        for before, mark, after in around
    )
    words = "".join(bare).split() or folded.split()
    ordered = sorted(words, key=lambda word: (True, "") if any(map(is_cjk, word)) else (False, word))
    return sha256(" ".join(ordered).encode("utf-8", "replace")).hexdigest()[:16]


def _is_read_only(part: Path) -> bool:
    """Tell whether a file is there and cannot be written; others make and remove the side files all the time."""
    try:
        before = part.stat()
        writable = os.access(part, os.W_OK)
        after = part.stat()
    except OSError:
        return False
    # One that was removed, or made anew, while it was looked at could not be written for that reason.
    return not writable and (before.st_ino, before.st_ctime_ns) == (after.st_ino, after.st_ctime_ns)


def _into_wal(connection: sqlite3.Connection) -> None:
    for attempt in range(WAL_ATTEMPTS):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or attempt == WAL_ATTEMPTS - 1:
                raise
            time.sleep(0.01)
        else:
            return


@cache
def sql(name: str) -> str:
    """Return the text of `memory/sql/<name>.sql`."""
    return (files("memory") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
