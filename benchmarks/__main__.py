"""`make bench`: a table of times and memory; nothing here passes or fails."""

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import click

from benchmarks import diaries
from dreaming.home import Home, opened
from dreaming.night import run_night
from dreaming.observing.observe import observe
from dreaming.reading import RESULTS
from memory import search as ranking
from memory.chunking import chunks
from memory.model import statement_id
from memory.store import Vote

START = datetime(2026, 5, 30, 3, tzinfo=UTC)


@click.command()
@click.option("--days", default=3650, show_default=True, help="Diaries to invent.")
@click.option("--lines", default=28, show_default=True, help="Fragments a diary.")
def main(days: int, lines: int) -> None:
    """Measure chunking, a first night, a quiet night, recalls and searches."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        written = diaries.write(root, days=days, lines=lines)
        row("diaries", f"{days:,} ({written / 1e6:.1f} MB)")
        row("chunking", f"{_chunking(root):.2f} MB/s")
        with opened(root, environ={}, overrides={"dreaming.timezone": "UTC"}) as home:
            _measure(home)


def _measure(home: Home) -> None:
    def night(number: int) -> Callable[[], object]:
        return lambda: run_night(home, phases=home.phases(), now=START + timedelta(days=number))

    row("first night", f"{seconds(night(0)):.1f} s")
    row("fragments", f"{home.store.counts()['fragments']:,}")
    row("memory at its height", f"{peak():.0f} MB")
    row("quiet night", f"{seconds(night(1)):.2f} s")
    _ask(home)
    row("night, 2,000 recalled", f"{seconds(night(2)):.2f} s")
    row("the same night again", f"{seconds(night(2)):.2f} s")
    row("one recall recorded", _spread([seconds(_recall(home, n)) for n in range(200)]))
    row("one search", _spread([seconds(_search(home, n)) for n in range(200)]))
    row("two Chinese characters", _spread([seconds(_two_characters(home, n)) for n in range(200)]))
    row("the sync before it", _spread([seconds(_sync(home)) for n in range(20)]))


def _ask(home: Home) -> None:
    """Let 2,000 fragments be asked for once or twice, beside a `MEMORY.md` of the user's own of 100 lines."""
    (home.root / "MEMORY.md").write_text(
        "\n".join(f"- my own remark {n} on things" for n in range(100)), encoding="utf-8"
    )
    asked = home.store.candidates(home.store.every()[:2000], until=START.date())
    home.store.record(
        Vote(
            statement=one.fragment.statement_ids[0],
            query=f"q{n % 2}",
            day=START.date(),
            score=0.9,
            surface="bench",
            at=START,
        )
        for n, one in enumerate(asked)
    )


def _recall(home: Home, number: int) -> Callable[[], object]:
    vote = Vote(
        statement=statement_id("", str(number)),
        query="q",
        day=START.date(),
        score=0.9,
        surface="bench",
        at=START,
    )
    return lambda: home.store.record([vote])


def _search(home: Home, number: int) -> Callable[[], object]:
    dice = Random(number)
    word = diaries.english if number % 2 else diaries.chinese
    query = " ".join(word(diaries.rank(dice)) for _ in range(dice.randrange(1, 5)))
    return lambda: ranking.search(home.store, query, home.lexicon, limit=RESULTS)


def _two_characters(home: Home, number: int) -> Callable[[], object]:
    query = diaries.chinese(diaries.rank(Random(number)))[:2]
    return lambda: ranking.search(home.store, query, home.lexicon, limit=RESULTS)


def _sync(home: Home) -> Callable[[], object]:
    return lambda: observe(home, now=START + timedelta(days=2))


def _chunking(root: Path) -> float:
    texts = [path.read_text(encoding="utf-8") for path in sorted((root / "memory").glob("*.md"))[:500]]
    size = sum(len(text.encode("utf-8")) for text in texts) / 1e6
    return size / seconds(lambda: [chunks(text) for text in texts])


def seconds(work: Callable[[], object]) -> float:
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


def _spread(times: list[float]) -> str:
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"{statistics.median(ordered) * 1000:.1f} ms median, {p95 * 1000:.1f} ms p95"


def peak() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage / (1024 if sys.platform != "darwin" else 1024 * 1024)


def row(name: str, value: str) -> None:
    click.echo(f"{name:<24}{value}")


if __name__ == "__main__":
    main()
