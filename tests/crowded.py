"""A store with more of everything than a page shows."""

from datetime import date, datetime, timedelta

from dreaming.changes.history import Why, write
from dreaming.home import Home, opened
from house import House, moment
from memory.journal import PhaseSignal
from memory.model import Fragment, Kind, Mark, Phase, Sighting, Style
from memory.narratives import Narrative
from memory.promotions import Promotion, State
from memory.sources import SourceFile
from memory.store import Vote
from planted import NOW

NIGHTS = 430


def crowded(house: House) -> None:
    """Fill a store with more of everything than a page shows, in the texts that take most room."""
    end = date(2026, 3, 8)
    with opened(house.root, environ={}, overrides=house.settings) as home:
        made = [fragment(n) for n in range(3000)]
        day = date(2026, 3, 1)
        with home.store.writing():
            for f in range(30):
                path = f"memory/2026-03-01-{f}.md"
                seen = [
                    (one, sighting(path, n + 1, day, home.end_of_day(day)))
                    for n, one in enumerate(made[f * 100 : f * 100 + 100])
                ]
                source = SourceFile(path=path, kind=Kind.DIARY, day=day, stamp=(1, 1, 1), digest="x")
                home.sources.replace(source, seen, now=moment(NOW))
        home.store.record(
            Vote(statement=one.statement_ids[0], query=f"q{n}", day=day, score=0.9, surface="search", at=moment(NOW))
            for one in made[:600]
            for n in range(3)
        )
        for n in range(NIGHTS):
            with home.store.writing():
                one_full_night(home, end - timedelta(days=NIGHTS - 1 - n), n, made)


def fragment(n: int) -> Fragment:
    text = f"<&>{n:05}" + "锅炉压力保持在一点五" * 27
    return Fragment(
        heading="", text=text, statements=(text,), style=Style.LIST, origin=Kind.DIARY, language="zh",
        tags=("锅炉", "压力", "厨房"),
    )  # fmt: skip


def sighting(path: str, line: int, day: date, at: datetime) -> Sighting:
    return Sighting(path=path, start_line=line, end_line=line, day=day, kind=Kind.DIARY, score=0.62, at=at)


def one_full_night(home: Home, day: date, n: int, made: list[Fragment]) -> None:
    at = moment(f"{day}T03:00")
    home.journal.begin(day, now=at)
    own = [made[(n * 12 + k) % len(made)] for k in range(12)]
    home.journal.mark(day, [PhaseSignal(fragment=one.id, mark=Mark.CONSIDERED, signals=1) for one in own], at=at)
    counts = {"ranked": 900, "promoted": 1, "refused": 900, "proposed": 0}
    home.journal.record_run(day, Phase.DEEP, counts, now=at)
    home.journal.record_deep(day, {"recalled": 99_999, "recalls": 500, "score": 300}, material="x")
    home.journal.finish(day, now=at)
    parts = {"frequency": 0.8, "relevance": 0.9, "diversity": 0.8, "recency": 0.9, "consolidation": 0.8}
    home.promotions.plan(
        [
            Promotion(
                fragment=own[0].id, positions=(), statements=(), night=day, score=0.9, boost=0.1, components=parts,
                recalls=4, text=own[0].text, path="memory/x.md", start_line=1, end_line=1, state=State.DROPPED,
            )
        ]
    )  # fmt: skip
    for phase in Phase:
        home.narratives.tell(
            Narrative(
                night=day, phase=phase, stamp=str(day), language="zh", narrator="plain", prose="一句话。" * 45,
                fragments=tuple(one.id for one in own),
            )
        )  # fmt: skip
    text = "\n".join(f"- {n - k} {'一行记忆' * 20}" for k in range(60))
    write(home, home.files.read("MEMORY.md"), text, Why(kind="promotions", reason="x", now=at, night=day))
