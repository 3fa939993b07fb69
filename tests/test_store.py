"""What the store keeps: identity, sightings, signals, evidence."""

import sqlite3
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import schema
from memory.model import Candidate, Fragment, StatementId, statement_id
from memory.store import NewerStoreError, Store, Vote, query_hash
from shelf import NOW, put

LATER = date(2026, 7, 1)


def vote(statement: StatementId, query: str = "q", day: int = 16, score: float = 0.9) -> Vote:
    at = datetime(2026, 6, day, 10, tzinfo=UTC)
    return Vote(statement=statement, query=query, day=at.date(), score=score, surface="test", at=at)


def the(store: Store, one: Fragment) -> Candidate:
    (found,) = store.candidates([one.id], until=LATER)
    return found


def test_the_same_line_in_three_diaries_is_one_fragment_with_three_sightings() -> None:
    with Store.in_memory() as store:
        for day in (15, 16, 17):
            (one,) = put(store, f"memory/2026-06-{day}.md", "## Deploy\n- never on Fridays", date(2026, 6, day))
        assert store.counts()["fragments"] == 1
        assert the(store, one).evidence.sightings == 3


def test_sightings_are_no_recalls() -> None:
    with Store.in_memory() as store:
        (one,) = put(store, "memory/2026-06-15.md", "- never on Fridays")
        evidence = the(store, one).evidence
        assert (evidence.recalls, evidence.unique_queries, evidence.days) == (0, 0, ())
        assert evidence.total_score == pytest.approx(0.62)


def test_rereading_an_unchanged_note_is_no_evidence() -> None:
    with Store.in_memory() as store:
        (one,) = put(store, "memory/2026-06-15.md", "- never on Fridays")
        before = the(store, one)
        put(store, "memory/2026-06-15.md", "- never on Fridays")
        assert the(store, one) == before


def test_the_same_query_on_one_day_counts_once_however_it_is_spelt() -> None:
    with Store.in_memory() as store:
        (one,) = put(store, "memory/2026-06-15.md", "- never on Fridays")
        (key,) = one.statement_ids
        store.record([vote(key, "Which Day?"), vote(key, "which   day?"), vote(key, "Which day?")])
        assert the(store, one).evidence.recalls == 1


def test_no_query_is_stored_in_clear(tmp_path: Path) -> None:
    with Store.open(tmp_path / "recall.db") as store:
        (one,) = put(store, "memory/2026-06-15.md", "- never on Fridays")
        store.record([vote(one.statement_ids[0], "the surprise party for Mika")])
    assert b"surprise" not in (tmp_path / "recall.db").read_bytes()
    assert query_hash("a") != query_hash("b")


STEPS: tuple[Callable[[Store, Fragment], object], ...] = (
    lambda store, one: put(store, "memory/2026-06-15.md", "## Lab\n- the boiler wants 1.5 bar\n- ok then"),
    lambda store, one: put(
        store, "memory/2026-06-16.md", "## Lab\n- the boiler wants 1.5 bar\n- ok then", date(2026, 6, 16)
    ),
    lambda store, one: store.record([vote(one.statement_ids[0], "bar", 16, 0.4)]),
    lambda store, one: store.record([vote(one.statement_ids[0], "bar", 16, 0.9)]),
    lambda store, one: store.record([vote(one.statement_ids[1], "boiler", 17, 0.7)]),
    lambda store, one: store.record([vote(i, "pressure", 18, 0.33) for i in one.statement_ids]),
)


@given(st.permutations(range(len(STEPS))))
def test_the_order_of_signals_does_not_matter(order: list[int]) -> None:
    with Store.in_memory() as first, Store.in_memory() as second:
        (one,) = put(first, "memory/2026-06-15.md", "## Lab\n- the boiler wants 1.5 bar\n- ok then")
        for step in STEPS:
            step(first, one)
        for n in order:
            STEPS[n](second, one)
        assert the(first, one) == the(second, one)


def lines(*extra: str) -> str:
    return "\n".join(["## Rules", *extra, "- boiler wants 1.5 bar", "- tests use a real database", "- short answers"])


@pytest.mark.parametrize(
    "edited",
    [
        pytest.param("\n".join(f"- new line number {n}" for n in range(20)) + "\n\n" + lines(), id="20 lines above"),
        pytest.param(lines("- and one more bullet"), id="one more bullet above"),
        pytest.param("## Other\n- something else here\n\n" + lines(), id="reordered sections"),
        pytest.param(lines().replace("boiler wants", "boiler needs"), id="a neighbour's typo fixed"),
        pytest.param(lines().replace("\n- short answers", ""), id="a neighbour deleted"),
    ],
)
def test_an_edit_elsewhere_keeps_the_history_of_a_statement(edited: str) -> None:
    with Store.in_memory() as store:
        put(store, "memory/2026-06-15.md", lines())
        store.record([vote(statement_id("Rules", "tests use a real database"), f"q{n}", 15 + n) for n in range(3)])
        now = put(store, "memory/2026-06-15.md", edited)
        (one,) = [one for one in now if "tests use a real database" in one.statements]
        found = the(store, one)
        assert found.evidence.recalls == 3
        assert found.votes[one.statements.index("tests use a real database")] == 3
        assert found.sightings


def test_a_changed_statement_is_a_new_fragment_and_the_old_one_has_no_source() -> None:
    with Store.in_memory() as store:
        (old,) = put(store, "memory/2026-06-15.md", "- tests use a real database")
        store.record([vote(old.statement_ids[0])])
        (new,) = put(store, "memory/2026-06-15.md", "- tests use a fake database")
        assert the(store, new).evidence.recalls == 0
        assert the(store, old).sightings == ()
        assert the(store, old).evidence.recalls == 1


def test_fragments_are_forgotten_only_without_source_recall_and_promotion() -> None:
    with Store.in_memory() as store:
        (asked,) = put(store, "memory/2026-06-15.md", "- tests use a real database")
        store.record([vote(asked.statement_ids[0])])
        put(store, "memory/2026-06-15.md", "- somebody asked about the fridge")
        put(store, "memory/2026-06-15.md", "- and what stands here now")
        store.prune(before=NOW)
        assert store.counts()["fragments"] == 3, "gone since now is not gone before now"
        store.prune(before=NOW + timedelta(seconds=1))
        texts = {text for _, text in store.texts()}
        assert texts == {"tests use a real database", "and what stands here now"}


def test_a_store_of_a_newer_version_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "recall.db"
    Store.open(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.commit()
    connection.close()
    with pytest.raises(NewerStoreError, match="install the newest"):
        Store.open(path)


def test_the_number_of_migrations_is_the_version() -> None:
    with Store.in_memory() as store:
        assert len(schema.MIGRATIONS.applied(store.db)) == schema.VERSION


def test_many_writers_at_once_lose_no_vote(tmp_path: Path) -> None:
    path = tmp_path / "recall.db"
    errors: list[Exception] = []

    def write(writer: int) -> None:
        try:
            with Store.open(path) as store:
                for n in range(10):
                    store.record([vote(statement_id("", "shared"), f"{writer}-{n}")])
        except Exception as error:  # noqa: BLE001 - a thread must hand it over
            errors.append(error)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with Store.open(path) as store:
        assert store.db.conn.execute("SELECT count(*) FROM signal").fetchone()[0] == 120


def test_a_block_that_fails_leaves_nothing_behind() -> None:
    def fail(store: Store) -> Iterable[None]:
        with store.writing():
            put(store, "memory/2026-06-15.md", "- tests use a real database")
            raise KeyError
        yield

    with Store.in_memory() as store:
        with pytest.raises(KeyError):
            list(fail(store))
        assert store.counts()["fragments"] == 0
