"""Many agents search while nights run: nobody is turned away, and no vote is lost. `SOAK=1` lasts a minute."""

import os
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from statistics import quantiles

import pytest

from dreaming.home import STORE
from dreaming.reading import search
from house import House, moment
from memory.store import query_hash

SOAK = "SOAK" in os.environ
SEARCHERS, SECONDS = (50, 60.0) if SOAK else (8, 5.0)
DAY = "2026-03-05"
TOPICS = ("garage", "boat", "router", "harbour", "walnut", "kettle", "bicycle", "lantern")
Vote = tuple[str, str]
"""The hash of a query and the id of a fragment that it recalled."""

pytestmark = pytest.mark.timeout(600 if SOAK else 120)


def searched(root: Path, number: int) -> tuple[list[float], set[Vote], list[str]]:
    """Search for a while; return how long each search took, the votes it was told of, and what went wrong."""
    house = House(root)
    took: list[float] = []
    votes: set[Vote] = set()
    problems: list[str] = []
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
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
    ready = spawn.Barrier(SEARCHERS + 1)  # nobody begins before all have started
    with ProcessPoolExecutor(SEARCHERS + 1, mp_context=spawn, initializer=ready.wait) as pool:
        night = pool.submit(slept, house.root)
        runs = [pool.submit(searched, house.root, number) for number in range(SEARCHERS)]
        results = [run.result() for run in runs]
        nights, problems = night.result()
    votes = set().union(*(run[1] for run in results))
    tell([seconds for run in results for seconds in run[0]], nights)
    assert not [*problems, *(problem for run in results for problem in run[2])]
    assert votes
    assert not missing(house.root, votes)
    assert not (house.root / "memory/.dreams/unrecorded.txt").exists()
