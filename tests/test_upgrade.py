"""Upgrades: a store of every shipped version opens with all that was in it; one of a newer version is left alone."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlite_utils import Database

from dreaming.cli import dream
from memory import schema
from memory.changes import Changes
from memory.journal import Journal
from memory.model import FragmentId, Phase
from memory.narratives import Narratives
from memory.promotions import Promotions, State
from memory.store import BrokenStoreError, NewerStoreError, Store

NAMES = [migration.name for migration in schema.MIGRATIONS.pending(Database(memory=True))]
"""Every migration there is, in order: a version is how many of them a store has."""
AT = "2026-06-15T19:00:00+00:00"
ROWS: Mapping[str, Mapping[str, object]] = {
    "fragment": {
        "key": 1, "id": "f" * 16, "heading": "Lab", "text": "Lab: the boiler wants 1.5 bar", "style": "list",
        "origin": "diary", "language": "en", "tags": '["boiler"]', "flaws": "[]",
        "search_text": "Lab: the boiler wants 1.5 bar", "gone_at": None,
    },
    "statement": {"fragment": 1, "position": 0, "id": "s" * 16, "text": "the boiler wants 1.5 bar"},
    "source_file": {
        "path": "memory/2026-06-15.md", "kind": "diary", "day": "2026-06-15", "size": 9, "mtime_ns": 1, "ctime_ns": 1,
        "digest": "d" * 64, "cursor": None,
    },
    "sighting": {
        "path": "memory/2026-06-15.md", "start_line": 2, "end_line": 2, "fragment": 1, "kind": "diary",
        "day": "2026-06-15", "score": 0.62, "at": AT, "quoted": 0,
    },
    "signal": {
        "statement": "s" * 16, "kind": "recall", "query_hash": "q" * 16, "day": "2026-06-15", "score": 0.9,
        "surface": "search", "at": AT,
    },
    "night": {"date": "2026-06-16", "started_at": AT, "finished_at": AT},
    "phase_run": {"night": "2026-06-16", "phase": "deep", "at": AT, "report": '{"promoted": 1}'},
    "phase_signal": {"fragment": "f" * 16, "mark": "staged", "night": "2026-06-16", "at": AT, "signals": 2},
    "promotion": {
        "id": 7, "fragment": "f" * 16, "statements": "1", "night": "2026-06-16", "score": 0.87, "boost": 0.01,
        "components": '{"recency": 1.0}', "recalls": 5, "text": "the boiler wants 1.5 bar",
        "path": "memory/2026-06-15.md", "start_line": 2, "end_line": 2, "state": "in force", "ended_at": None,
        "ended_on": None, "replaces": None, "basis": None,
    },
    "promoted_statement": {"statement": "s" * 16, "promotion": 7},
    "refusal": {"night": "2026-06-16", "fragment": "e" * 16, "gate": "score", "reason": "0.5 of 0.8"},
    "deep_night": {"night": "2026-06-16", "refused": '{"score": 1}', "material": "m" * 16},
    "narrative": {
        "night": "2026-06-16", "phase": "deep", "stamp": "June 16, 2026", "language": "en", "narrator": "plain",
        "prose": "I keep the boiler.", "written": 1, "taken_back": 0,
    },
    "told": {"night": "2026-06-16", "phase": "deep", "fragment": "f" * 16},
    "setting": {"name": "zone", "value": "Asia/Shanghai"},
    "vector": {"fragment": 1, "model": "m", "dimension": 2, "value": b"\0\0\0\0"},
    "telling": {
        "night": "2026-06-16", "phase": "deep", "stamp": "June 16, 2026", "asked": "plain", "material": "{}",
        "fragments": "[]", "refused": "[]", "prompt_tokens": 0, "answer_tokens": 0,
    },
    "image": {
        "digest": "i" * 64, "base": None, "depth": 0, "first": 0, "last": 0,
        "content": b"x\x9c\x03\x00\x00\x00\x00\x01",
    },
    "change": {
        "id": 3, "at": AT, "on_day": "2026-06-16", "night": "2026-06-16", "kind": "promotions", "file": "MEMORY.md",
        "reason": "what the night promoted", "before": None, "after": "i" * 64,
        "effects": '[[7, "planned", "in force"]]', "undoes": "[]", "state": "applied",
    },
}  # fmt: skip
"""A row for every table of the newest version; an older one has fewer tables and columns."""
MADE_ANEW = {3: {"vector"}}
"""By the version that brings it: what a migration empties on purpose, because it can be made again."""


def tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE '%_fts%'"
        " AND name NOT LIKE '%sqlite_migrations' ORDER BY rowid"
    )
    return [row[0] for row in rows]


def columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info([{table}])")]


def made(path: Path, version: int) -> dict[str, dict[str, object]]:
    """Make a store as the first migrations leave it, a row in every table; return the rows."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        stop = NAMES[version] if version < len(NAMES) else None
        schema.MIGRATIONS.apply(Database(connection, execute_plugins=False), stop_before=stop)
        assert connection.execute("PRAGMA user_version").fetchone() == (version,)
        connection.execute("PRAGMA foreign_keys = OFF")
        written = {}
        for table in tables(connection):
            row = {name: ROWS[table][name] for name in columns(connection, table)}
            marks = ", ".join(f":{name}" for name in row)
            connection.execute(f"INSERT INTO [{table}] ({', '.join(row)}) VALUES ({marks})", row)
            written[table] = row
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        return written


@pytest.fixture
def store(tmp_path: Path, version: int) -> Iterator[Store]:
    """A store of a version, opened by this program."""
    made(tmp_path / "recall.db", version)
    with Store.open(tmp_path / "recall.db") as store:
        yield store


versions = pytest.mark.parametrize("version", range(1, schema.VERSION + 1))


@versions
def test_every_row_of_every_table_survives(tmp_path: Path, version: int) -> None:
    before = made(tmp_path / "recall.db", version)
    emptied = set().union(*(names for at, names in MADE_ANEW.items() if version < at))
    with Store.open(tmp_path / "recall.db") as store:
        for table, row in before.items():
            names = [name for name in row if name in columns(store.db.conn, table)]
            found = store.db.conn.execute(f"SELECT {', '.join(names)} FROM [{table}]").fetchall()
            wanted = tuple(row[name] for name in names)
            if table == "setting":
                assert wanted in found
            else:
                assert found == ([] if table in emptied else [wanted]), table


@versions
def test_an_upgraded_store_has_the_tables_of_a_new_one_and_is_whole(store: Store) -> None:
    with Store.in_memory() as new:
        shape = "SELECT name, type FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' ORDER BY name"
        assert store.db.conn.execute(shape).fetchall() == new.db.conn.execute(shape).fetchall()
        for table in tables(new.db.conn):
            assert columns(store.db.conn, table) == columns(new.db.conn, table)
    assert store.db.conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert store.db.conn.execute("PRAGMA foreign_key_check").fetchall() == []
    store.db.conn.execute("INSERT INTO fragment_fts (fragment_fts, rank) VALUES ('integrity-check', 1)")
    assert store.db.conn.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


@versions
def test_promotions_stand_as_they_stood_with_their_statements(store: Store) -> None:
    (promotion,) = Promotions(store).all()
    assert (promotion.id, promotion.state, promotion.key) == (7, State.IN_FORCE, ("f" * 16, "1"))
    assert (promotion.text, promotion.score, promotion.recalls) == ("the boiler wants 1.5 bar", 0.87, 5)
    assert promotion.statements == ("s" * 16,)
    (candidate,) = store.candidates([FragmentId("f" * 16)], until=date(2026, 7, 1))
    assert candidate.promoted == (date(2026, 6, 16),)
    assert candidate.history.light_hits == 1


@versions
def test_what_was_remembered_counts_on(store: Store) -> None:
    (candidate,) = store.candidates([FragmentId("f" * 16)], until=date(2026, 7, 1), tonight=date(2026, 6, 16))
    assert (candidate.fragment.text, candidate.evidence.recalls) == ("Lab: the boiler wants 1.5 bar", 1)
    assert [sighting.place for sighting in candidate.sightings] == ["memory/2026-06-15.md:2-2"]
    assert store.containing("boiler") == ("f" * 16,)
    (night,) = Journal(store).nights(limit=9)
    assert night.reports[Phase.DEEP]["promoted"] == 1
    (narrative,) = Narratives(store).told()
    assert narrative.prose == "I keep the boiler."


@versions
def test_an_upgraded_store_takes_what_is_new(store: Store) -> None:
    promotions, changes = Promotions(store), Changes(store)
    with store.writing():
        promotions.settle([7], State.UNDONE, now=datetime(2026, 7, 1, tzinfo=UTC))
    assert [promotion.state for promotion in promotions.all()] == [State.UNDONE]
    assert all(change.made for change in changes.all())


@pytest.mark.parametrize("version", range(1, 6))
def test_a_store_whose_upgrade_fails_on_the_way_is_as_it_was(tmp_path: Path, version: int) -> None:
    path = tmp_path / "recall.db"
    made(path, version)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE image (in_the_way TEXT)")
        before = list(connection.iterdump())
    with pytest.raises(BrokenStoreError, match="image already exists"):
        Store.open(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (version,)
        assert list(connection.iterdump()) == before


def test_the_names_of_the_migrations_are_as_many_as_the_version() -> None:
    assert len(NAMES) == schema.VERSION
    assert sorted(NAMES) == NAMES


def test_a_newer_store_is_refused_with_the_way_out_and_untouched(tmp_path: Path) -> None:
    state = tmp_path / "memory/.dreams"
    state.mkdir(parents=True)
    path = state / "recall.db"
    made(path, schema.VERSION)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    before = path.read_bytes()
    sentence = (
        f"was written by a newer version (schema {schema.VERSION + 1}, this one knows {schema.VERSION}); "
        "install the newest nightly-dreaming and run this again"
    )
    with pytest.raises(NewerStoreError) as refused:
        Store.open(path)
    assert str(refused.value) == f"{path} {sentence}"
    for command in ([], ["status"], ["search", "boiler"], ["undo"], ["--dry-run"]):
        result = CliRunner().invoke(dream, ["--workspace", str(tmp_path), *command])
        assert (result.exit_code, sentence in result.stderr) == (1, True)
    assert path.read_bytes() == before
