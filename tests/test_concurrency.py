"""Many agents search while nights run: nobody is turned away, and no vote is lost. `SOAK=1` lasts a minute."""

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import quantiles
from threading import Event

import pytest

from dreaming.home import STORE, Home
from dreaming.observing.observe import READING_FILES
from dreaming.reading import search
from house import House, moment
from memory.store import query_hash
from workspace.lock import turn

SOAK = "SOAK" in os.environ
SEARCHERS, SECONDS = (50, 60.0) if SOAK else (8, 5.0)
PAUSE, BETWEEN_NIGHTS = (2.0, 5.0) if SOAK else (0.0, 0.0)
"""Seconds between an agent's searches, half to one and a half of them, and between nights; 0 crowds them."""
DAY = "2026-03-05"
TOPICS = ("garage", "boat", "router", "harbour", "walnut", "kettle", "bicycle", "lantern")
Vote = tuple[str, str]
"""The hash of a query and the id of a fragment that it recalled."""

pytestmark = pytest.mark.timeout(600 if SOAK else 120)


def begin(root: Path, ready: Barrier) -> None:
    """Load what a first search loads, and begin when all others have."""
    with House(root).home() as home:
        search(home, TOPICS[0], now=moment(f"{DAY}T12:00"))
    ready.wait()


def searched(root: Path, number: int) -> tuple[list[float], set[Vote], list[str]]:
    """Search for a while; return how long each search took, the votes it was told of, and what went wrong."""
    house = House(root)
    took: list[float] = []
    votes: set[Vote] = set()
    problems: list[str] = []
    pause = random.Random(number)
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        time.sleep(PAUSE * (0.5 + pause.random()))
        query = f"{TOPICS[len(took) % len(TOPICS)]} shelf {number} {len(took)}"
        start = time.perf_counter()
        with house.home() as home:
            found = search(home, query, now=moment(f"{DAY}T12:00"))
        took.append(time.perf_counter() - start)
        votes |= {(query_hash(query), one.id) for one in found.results if one.recorded and one.id}
        problems += found.problems
    return took, votes, problems


def slept(root: Path) -> tuple[int, list[str]]:
    """Run nights for a while, while the agent writes more; return how many, and what went wrong."""
    house, nights = House(root, **{"deep.min_score": 0.3}), 0
    problems: list[str] = []
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        house.write(f"memory/2026-03-{nights % 4 + 1:02}.md", diary(nights))
        report = house.night(f"2026-03-{nights % 20 + 5:02}T23:00")
        problems += report.problems
        nights += 1
        time.sleep(BETWEEN_NIGHTS)
    return nights, problems


def diary(more: int = 0) -> str:
    lines = [f"- The {topic} shelf number {n} holds {n + 3} {topic} parts" for topic in TOPICS for n in range(3)]
    return "".join(f"{line}\n" for line in [*lines, f"- The {TOPICS[more % 8]} shelf was painted {more} times"])


def missing(root: Path, votes: set[Vote]) -> set[Vote]:
    """Return the votes that searchers were told of and the store does not know."""
    with closing(sqlite3.connect(root / STORE)) as store:
        rows = store.execute(
            "SELECT DISTINCT signal.query_hash, fragment.id FROM signal"
            " JOIN statement ON statement.id = signal.statement JOIN fragment ON fragment.key = statement.fragment"
            " WHERE signal.kind = 'recall' AND signal.day = ?",
            (DAY,),
        ).fetchall()
    return votes - set(rows)


def tell(took: Sequence[float], nights: int) -> None:
    p95 = quantiles(took, n=20)[-1]
    print(f"\n{SEARCHERS} searchers, {len(took)} searches, {nights} nights: p95 {p95 * 1000:.0f} ms")  # noqa: T201


def test_no_search_is_turned_away_and_no_vote_is_lost_while_nights_run(house: House) -> None:
    for day in range(1, 5):
        house.write(f"memory/2026-03-{day:02}.md", diary(day))
    house.night("2026-03-04T03:00")
    spawn = get_context("spawn")
    ready = spawn.Barrier(SEARCHERS + 1)
    with ProcessPoolExecutor(SEARCHERS + 1, spawn, initializer=begin, initargs=(house.root, ready)) as pool:
        night = pool.submit(slept, house.root)
        runs = [pool.submit(searched, house.root, number) for number in range(SEARCHERS)]
        results = [run.result() for run in runs]
        nights, problems = night.result()
    votes = set().union(*(run[1] for run in results))
    tell([seconds for run in results for seconds in run[0]], nights)
    assert not problems
    assert {said for run in results for said in run[2] if "another process is reading" not in said} == set()
    assert votes
    assert not missing(house.root, votes)
    assert not (house.root / "memory/.dreams/unrecorded.txt").exists()


NOTE = "- The walnut cabinet came from the harbour shop\n"


def lay(house: House, days: int) -> None:
    for day in range(1, days + 1):
        house.write(f"memory/2026-02-{day:02}.md", NOTE.replace("walnut", f"walnut {day}"))
    with house.home():
        pass  # a turn is kept where the store is


def test_a_search_does_without_much_that_another_process_is_reading_and_says_so(house: House) -> None:
    lay(house, 9)
    with turn(house.root, READING_FILES) as got:
        assert got()
        found = house.search("walnut cabinet", f"{DAY}T12:00")
    assert not found.results
    assert found.problems == ("another process is reading 9 notes just now; ask again soon for what is new there",)
    assert house.search("walnut cabinet", f"{DAY}T12:00").results


def test_a_search_waits_for_a_few_notes_that_another_process_is_reading(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(house, 2)
    waiting = Event()

    @contextmanager
    def noting(root: Path, work: str) -> Iterator[Callable[[], bool]]:
        with turn(root, work) as got:

            def mine() -> bool:
                if got():
                    return True
                waiting.set()
                return False

            yield mine

    monkeypatch.setattr("dreaming.observing.observe.turn", noting)
    with ThreadPoolExecutor(1) as pool, turn(house.root, READING_FILES) as got:  # the turn ends before the pool
        assert got()
        searching = pool.submit(house.search, "walnut cabinet", f"{DAY}T12:00")
        assert waiting.wait(60)
    found = searching.result()
    assert found.results
    assert not found.problems


def test_a_search_waits_no_longer_than_an_agent_would(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dreaming.observing.observe.WAIT_SECONDS", 0.05)
    lay(house, 1)
    with turn(house.root, READING_FILES) as got:
        assert got()
        assert house.search("walnut cabinet", f"{DAY}T12:00").problems
    assert not house.search("walnut cabinet", f"{DAY}T12:00").problems


def test_a_night_reads_all_notes_itself_when_another_process_does_not_end(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dreaming.observing.observe.NIGHT_WAIT_SECONDS", 0.05)
    lay(house, 9)
    with turn(house.root, READING_FILES) as got:
        assert got()
        report = house.night(f"{DAY}T23:00")
    assert report.observed.read == 9
    assert not report.problems


def test_a_store_that_others_close_while_it_is_opened_is_not_taken_for_read_only(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.write(f"memory/{DAY}.md", NOTE)
    house.search("walnut", f"{DAY}T12:00")
    wal = house.root / f"{STORE}-wal"
    writable = os.access

    def access(path: Path, mode: int) -> bool:
        if path == wal:
            wal.unlink(missing_ok=True)  # as the last one to close the store does
        return writable(path, mode)

    wal.touch()
    monkeypatch.setattr("memory.store.os.access", access)
    assert house.search("walnut cabinet", f"{DAY}T12:00").results


def test_a_note_that_comes_back_while_a_process_waits_is_not_forgotten(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(house, 2)
    house.search("walnut", f"{DAY}T12:00")
    name = house.root / "memory/2026-02-01.md"
    away = name.rename(house.root / "away")

    def waited(home: Home, work: str) -> AbstractContextManager[Callable[[], bool]]:
        if away.exists():
            away.rename(name)
            house.search("walnut", f"{DAY}T12:01")  # another process reads it first
        return nullcontext(lambda: True)

    monkeypatch.setattr("dreaming.observing.observe._its_turn", waited)
    house.search("walnut", f"{DAY}T12:02")
    with house.home() as home:
        assert home.store.counts()["standing"] == 2
