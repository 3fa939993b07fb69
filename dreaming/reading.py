"""Searching and reading the memory; every hit returned is a vote, and this is the one place that counts it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from dreaming.home import Home
from dreaming.observe import observe, remembered
from memory import search as ranking
from memory.chunking import chunks, source_lines
from memory.model import Candidate, Chunk, Fragment, FragmentId, Kind, StatementId
from memory.store import NotRecordedError, Vote
from memory.trust import redacted
from workspace import diary
from workspace.errors import UnreadableError

VOTE_FROM = 0.3
"""A hit below this relevance is returned but is no vote (SPEC 12)."""
RESULTS = 6
READ_LINES = 12
"""A read of up to three chunks says "these lines"; the more lines a read returns, the less it says of each."""
READ = "read by its lines"
"""What stands for the question when lines are opened: all reads of a statement on one day are one."""


class UnknownSourceError(Exception):
    """A read names something that is no diary of the workspace."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{name} is no diary here; name one as a search prints it, for example memory/2026-06-15.md:5-8"
        )


class NoSuchLinesError(Exception):
    """A read names lines that the diary has not got."""

    def __init__(self, path: str, count: int) -> None:
        self.path = path
        super().__init__(f"{path} has {count} lines; name lines among them, for example {path}:1-{max(1, count)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A fragment returned to a caller; `recorded` says whether it counts as a recall."""

    id: FragmentId
    path: str
    start_line: int
    end_line: int
    text: str
    relevance: float
    recorded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search returned, best first."""

    query: str
    results: tuple[Result, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Lines of a diary, 1-based and inclusive, and the fragments that stand on them."""

    path: str
    start_line: int
    end_line: int
    text: str
    results: tuple[Result, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Lines of a diary as somebody named them; None where no line was named."""

    path: str
    start: int | None
    end: int | None


def search(home: Home, query: str, *, now: datetime, limit: int = RESULTS, surface: str = "search") -> Found:
    """Return the fragments that answer a query, and record the recall of each at relevance 0.3 or more."""
    observed = observe(home, now=now)
    hits = ranking.search(home.store, query, home.lexicon, limit=limit)
    voting = [hit for hit in hits if hit.relevance >= VOTE_FROM]
    ids = {c.id: c.fragment.statement_ids for c in _fragments(home, [hit.id for hit in voting], now)}
    votes = [(ids[hit.id][n], hit.relevance) for hit in voting for n in hit.answered]
    trouble = _record(home, votes, query=query, surface=surface, now=now)
    return Found(
        query=query,
        results=tuple(_result(hit, recorded=not trouble and hit in voting) for hit in hits),
        problems=(*map(str, observed.problems), *trouble),
    )


def get(home: Home, name: str, *, now: datetime, surface: str = "get") -> Read:
    """Return lines of a diary named as `path`, `path:5` or `path:5-8`, or those a fragment id stands on.

    Raise UnknownSourceError or NoSuchLinesError.
    """
    observed = observe(home, now=now)
    place = _place(home, name, now)
    try:
        text = diary.read(home.root, place.path, folder=home.config.workspace.diaries).text
    except UnreadableError as error:
        raise UnknownSourceError(name) from error
    lines = source_lines(text.removesuffix("\n"))
    start = 1 if place.start is None else place.start
    end = len(lines) if place.end is None else min(place.end, len(lines))
    if not 1 <= start <= end:
        raise NoSuchLinesError(place.path, len(lines))
    standing = tuple(
        (remembered(chunk, Kind.DIARY, home.lexicon), chunk)
        for chunk in chunks(text)
        if chunk.start_line <= end and chunk.end_line >= start
    )
    share = round(min(1.0, READ_LINES / (end - start + 1)), 4)
    votes = [(vote, share) for one, chunk in standing for vote in _opened(one, chunk, start, end)]
    trouble = _record(home, votes if share >= VOTE_FROM else [], query=READ, surface=surface, now=now)
    recorded = share >= VOTE_FROM and not trouble
    return Read(
        path=place.path,
        start_line=start,
        end_line=end,
        text=redacted("\n".join(_without_secrets(lines, standing)[start - 1 : end]))[0],
        results=tuple(_opened_result(one, chunk, place.path, share, recorded=recorded) for one, chunk in standing),
        problems=(*map(str, observed.problems), *trouble),
    )


def _without_secrets(lines: Sequence[str], standing: Sequence[tuple[Fragment, Chunk]]) -> list[str]:
    """Return the lines, those of a chunk that holds a secret as they are remembered."""
    shown = list(lines)
    for one, chunk in standing:
        if any(flaw.startswith("secret:") for flaw in one.flaws):
            for text, statement in zip(one.statements, chunk.statements, strict=True):
                span = range(statement.start_line - 1, statement.end_line)
                for number in span:
                    shown[number] = text if number == span.start else ""
    return shown


def _fragments(home: Home, ids: Sequence[FragmentId], now: datetime) -> Iterable[Candidate]:
    return home.store.candidates(ids, until=home.local_date(now))


def _record(
    home: Home, votes: Iterable[tuple[StatementId, float]], *, query: str, surface: str, now: datetime
) -> tuple[str, ...]:
    day = home.local_date(now)
    try:
        home.store.record(
            Vote(statement=statement, query=query, day=day, score=score, surface=surface, at=now)
            for statement, score in votes
        )
    except NotRecordedError as error:
        return (str(error),)
    return ()


def _place(home: Home, name: str, now: datetime) -> Place:
    if re.fullmatch(r"[0-9a-f]{16}", name):
        return _place_of(home, FragmentId(name), now)
    place = named(name)
    if place.path not in home.store.sources(Kind.DIARY):
        raise UnknownSourceError(name)
    return place


def named(name: str) -> Place:
    """Return the place a text names: `memory/2026-06-15.md`, `…:5` or `…:5-8`."""
    path, _, lines = name.rpartition(":")
    if not path or not re.fullmatch(r"[0-9]{1,9}(-[0-9]{1,9})?", lines):
        path, lines = name, ""
    first, _, last = lines.partition("-")
    return Place(
        path=path.removeprefix("./"), start=int(first) if first else None, end=int(last or first) if first else None
    )


def _place_of(home: Home, key: FragmentId, now: datetime) -> Place:
    for candidate in _fragments(home, [key], now):
        if candidate.place is not None:
            return Place(path=candidate.place.path, start=candidate.place.start_line, end=candidate.place.end_line)
    raise UnknownSourceError(key)


def _opened(one: Fragment, chunk: Chunk, start: int, end: int) -> Iterable[StatementId]:
    for key, statement in zip(one.statement_ids, chunk.statements, strict=True):
        if statement.start_line <= end and statement.end_line >= start:
            yield key


def _result(hit: ranking.Hit, *, recorded: bool) -> Result:
    return Result(
        id=hit.id,
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        text=hit.text,
        relevance=hit.relevance,
        recorded=recorded,
    )


def _opened_result(one: Fragment, chunk: Chunk, path: str, share: float, *, recorded: bool) -> Result:
    return Result(
        id=one.id,
        path=path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        text=one.text,
        relevance=share,
        recorded=recorded,
    )
