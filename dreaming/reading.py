"""Searching and reading the memory; every hit returned is a vote, and this is the one place that counts it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import StrEnum
from functools import partial
from itertools import accumulate

from dreaming.hearing import said_at, said_chunks
from dreaming.home import Home
from dreaming.masking import masked, masked_lines
from dreaming.observe import observe, remembered
from dreaming.pages import DREAMS
from dreaming.promote import MEMORY
from memory import search as ranking
from memory.chunking import chunks
from memory.concepts import is_telling
from memory.embedders import EmbedderError
from memory.hiding import legible
from memory.model import Candidate, Chunk, Fragment, FragmentId, Kind, StatementId
from memory.query import Term, marked, relevance
from memory.store import NotRecordedError, Vote
from memory.trust import redacted
from workspace import diary
from workspace.errors import UnreadableError, WorkspaceError
from workspace.lines import one_line, printable, split_lines
from workspace.readable import ReadableLine, readable, unmarked

VOTE_FROM = 0.3
"""A hit below this relevance is returned but is no vote (SPEC 12)."""
RESULTS = 6
LINES_A_PAGE = 2
"""Lines of `MEMORY.md` and of `DREAMS.md` among the results, at most: the diaries are what a search is for."""
READ_LINES = 12
"""A read of up to three chunks says "these lines"; the more lines a read returns, the less it says of each."""
_LINE_OF_A_SESSION = re.compile(r"(?P<path>.+\.jsonl[^#]*)#L(?P<line>[0-9]{1,9})")
READ = "read by its lines"
"""What stands for the question when lines are opened: all reads of a statement on one day are one."""


class UnknownSourceError(Exception):
    """A read names something that is neither a diary nor a page of the workspace."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"there is no {name} to read here; name a diary, {MEMORY} or {DREAMS} as a search prints it, "
            "for example memory/2026-06-15.md:5-8"
        )


class NoSuchLinesError(Exception):
    """A read names lines that the file has not got."""

    def __init__(self, path: str, count: int) -> None:
        self.path = path
        super().__init__(f"{path} has {count} lines; name lines among them, for example {path}:1-{max(1, count)}")


class Source(StrEnum):
    """What a search looks through."""

    DIARY = "diary"
    SESSION = "session"
    MEMORY = "memory"
    DREAMS = "dreams"


PAGES = {Source.MEMORY: MEMORY, Source.DREAMS: DREAMS}
"""The files that are searched line by line; hits in them are no votes, but for the fragment a line shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a search is limited to: sources, and days of diaries from and up to; all when nothing is named."""

    sources: frozenset[Source] = frozenset(Source)
    since: date | None = None
    until: date | None = None


EVERYTHING = Wanted()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A text returned to a caller; `recorded` says whether it counts as a recall.

    `id` is that of the fragment, None for a line that shows none; `snippet` is the text with the query's words marked.
    """

    id: FragmentId | None
    path: str
    start_line: int
    end_line: int
    text: str
    relevance: float
    recorded: bool
    source: str
    snippet: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search returned, best first."""

    query: str
    results: tuple[Result, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """Lines of a diary or a page, 1-based and inclusive, and the fragments that stand on them."""

    path: str
    start_line: int
    end_line: int
    text: str
    results: tuple[Result, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Lines of a file as somebody named them; None where no line was named."""

    path: str
    start: int | None
    end: int | None


def search(
    home: Home,
    query: str,
    *,
    now: datetime,
    limit: int = RESULTS,
    surface: str = "search",
    wanted: Wanted = EVERYTHING,
) -> Found:
    """Return what answers a query, best first, and record the recall of each fragment at relevance 0.3 or more."""
    observed = observe(home, now=now)
    terms = ranking.terms_of(home.store, query, home.lexicon)
    hits, silent = _fragments_found(home, query, terms, wanted, limit)
    lines = _lines_found(home, query, terms, wanted, {hit.id for hit in hits})
    shown = [one for one in lines if one.source is Source.DREAMS and one.fragment is not None]
    votes = _votes(home, [(hit.id, hit.relevance, hit.answered) for hit in hits], now)
    votes += _shown_votes(home, shown, terms, now)
    trouble = _record(home, votes, query=query, surface=surface, now=now)
    results = [_result(hit, terms, recorded=not trouble) for hit in hits]
    results += [_line_result(line, terms, recorded=not trouble) for line in lines]
    # Fragments come in their own order; a line of a page stands where its relevance puts it, behind equal fragments.
    least = accumulate((hit.relevance for hit in hits), min)
    places = [(-share, 0, n) for n, share in enumerate(least)]
    places += [(-line.relevance, 1, n) for n, line in enumerate(lines)]
    ordered = [result for _, result in sorted(zip(places, results, strict=True), key=lambda pair: pair[0])]
    return Found(query=query, results=tuple(ordered[:limit]), problems=(*observed.problems, *silent, *trouble))


def get(home: Home, name: str, *, now: datetime, surface: str = "get") -> Read:
    """Return lines of a diary or a page named as `path`, `path:5` or `path:5-8`, or those a fragment id stands on.

    Raise UnknownSourceError, NoSuchLinesError, or a WorkspaceError when a page cannot be read.
    """
    observed = observe(home, now=now)
    place = _place(home, name, now)
    if place.path in PAGES.values():
        opened = _page_opened(home, place, now)
    else:
        opened = (_session_opened if ".jsonl" in place.path else _diary_opened)(home, place)
    share = round(min(1.0, READ_LINES / len(opened.span)), 4)
    votes = [(vote, share) for one in opened.standing for vote in one.seen]
    trouble = _record(home, votes if share >= VOTE_FROM else [], query=READ, surface=surface, now=now)
    recorded = share >= VOTE_FROM and not trouble
    return Read(
        path=place.path,
        start_line=opened.span.start,
        end_line=opened.span.stop - 1,
        text="\n".join(opened.lines[opened.span.start - 1 : opened.span.stop - 1]),
        results=tuple(_opened_result(one, place.path, share, recorded=recorded) for one in opened.standing),
        problems=(*observed.problems, *trouble),
    )


def _fragments(home: Home, ids: Sequence[FragmentId], now: datetime) -> Iterable[Candidate]:
    return home.store.candidates(ids, until=home.local_date(now))


def _fragments_found(
    home: Home, query: str, terms: Sequence[Term], wanted: Wanted, limit: int
) -> tuple[tuple[ranking.Hit, ...], tuple[str, ...]]:
    """Return the fragments found, and what went wrong with finding them by meaning."""
    kinds = frozenset(kind for kind in Kind if Source(kind.value) in wanted.sources)
    if not kinds:
        return (), ()
    scope = ranking.Scope(kinds=None if kinds == frozenset(Kind) else kinds, since=wanted.since, until=wanted.until)
    by_words = partial(ranking.search, home.store, query, home.lexicon, limit=limit, scope=scope, terms=terms)
    try:
        return by_words(embedder=home.embedder), ()
    except EmbedderError as error:
        return by_words(), (str(error),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line of a page that answers a query."""

    source: Source
    number: int
    text: str
    fragment: str | None
    relevance: float


def _lines_found(home: Home, query: str, terms: Sequence[Term], wanted: Wanted, known: set[FragmentId]) -> list[_Line]:
    """Return the best lines of each page; not those that show a fragment which was found itself."""
    if not terms or wanted.since or wanted.until or not is_telling(query, home.lexicon):
        return []
    found: list[_Line] = []
    for source in sorted(PAGES.keys() & wanted.sources):
        lines = [
            _Line(
                source=source,
                number=line.number,
                text=line.text,
                fragment=line.fragment,
                relevance=relevance(line.text, terms),
            )
            for line in readable(redacted(_page(home, PAGES[source]), home.redaction)[0])
            if line.fragment not in known
        ]
        ordered = sorted(lines, key=lambda line: (-line.relevance, line.fragment is None, line.number))
        once = {line.fragment or str(line.number): line for line in reversed(ordered)}
        best = [line for line in ordered if once[line.fragment or str(line.number)] is line]
        found += [line for line in best if line.relevance >= VOTE_FROM][:LINES_A_PAGE]
    return found


def _page(home: Home, name: str) -> str:
    try:
        return home.files.read(name).text
    except WorkspaceError:
        return ""  # a search does without it; the night says what is wrong with it


def _votes(
    home: Home, found: Sequence[tuple[FragmentId, float, tuple[int, ...]]], now: datetime
) -> list[tuple[StatementId, float]]:
    """Return the votes of what was found, for the statements that answered."""
    voting = [(key, score, answered) for key, score, answered in found if score >= VOTE_FROM]
    ids = {c.id: c.fragment.statement_ids for c in _fragments(home, [key for key, _, _ in voting], now)}
    return [(ids[key][n], score) for key, score, answered in voting if key in ids for n in answered]


def _shown_votes(
    home: Home, shown: Sequence[_Line], terms: Sequence[Term], now: datetime
) -> list[tuple[StatementId, float]]:
    """Return the votes of lines that show a fragment, for the statements of the fragment that answer."""
    scores = {FragmentId(line.fragment): line.relevance for line in shown if line.fragment is not None}
    return [
        (candidate.fragment.statement_ids[n], scores[candidate.id])
        for candidate in _fragments(home, sorted(scores), now)
        for n in ranking.answered(candidate.fragment.statements, terms)
    ]


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
        home.note_unrecorded(now=now)
        return (str(error),)
    return ()


def _place(home: Home, name: str, now: datetime) -> Place:
    if re.fullmatch(r"[0-9a-f]{16}", name):
        return _place_of(home, FragmentId(name), now)
    place = named(name)
    page = _page_named(home, place.path)
    if page is None and place.path not in home.sources.known(*Kind):
        raise UnknownSourceError(name)
    return replace(place, path=page or place.path)


def _page_named(home: Home, path: str) -> str | None:
    """Return the page that a path names, as a search prints it or as the folder spells it; None when it is none."""
    for page in PAGES.values():
        if path.casefold() == page.casefold():
            document = home.files.read(page)
            if document.digest is not None and path in (page, document.name):
                return page
    return None


def named(name: str) -> Place:
    """Return the place a text names: `memory/2026-06-15.md`, `…:5` or `…:5-8`, `sessions/main/a1.jsonl#L12`."""
    if said := _LINE_OF_A_SESSION.fullmatch(name):
        return Place(path=said["path"], start=int(said["line"]), end=int(said["line"]))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """A fragment that stands on opened lines, or is shown there, and the statements of it that a read is a vote for."""

    id: FragmentId
    start_line: int
    end_line: int
    text: str
    source: Source
    seen: tuple[StatementId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """All lines of a file as they may be shown, which of them were asked for (1-based), and what stands on those."""

    lines: Sequence[str]
    span: range
    standing: tuple[_Standing, ...]


def _diary_opened(home: Home, place: Place) -> _Opened:
    try:
        text = diary.read(home.root, place.path, folder=home.config.workspace.diaries).text
    except UnreadableError as error:
        raise UnknownSourceError(place.path) from error
    lines = [line.rstrip("\r\n") for line in split_lines(text)] or [""]
    span = _span(place, len(lines))
    kind = Kind.MEMORY if place.path in home.sources.known(Kind.MEMORY) else Kind.DIARY
    standing = [
        (remembered(chunk, kind, home.lexicon, home.redaction), chunk)
        for chunk in chunks(legible(text, home.redaction))
        if chunk.start_line < span.stop and chunk.end_line >= span.start
    ]
    return _Opened(
        lines=masked_lines(lines, standing, home.redaction),
        span=span,
        standing=tuple(_standing(one, chunk, Source(kind.value), span) for one, chunk in standing),
    )


def _session_opened(home: Home, place: Place) -> _Opened:
    """Return what people said in a transcript; the lines of other records are empty."""
    said = {message.line: message for message in said_at(home, place.path, place.start)}
    if not said:
        raise UnknownSourceError(place.path)
    lines = [""] * max(said)
    standing = []
    for number, message in said.items():
        lines[number - 1] = redacted(f"{message.speaker}: {message.text}", home.redaction)[0]
        for chunk in said_chunks(message, home.redaction):
            one = remembered(chunk, Kind.SESSION, home.lexicon, home.redaction)
            standing.append(
                _Standing(
                    id=one.id,
                    start_line=number,
                    end_line=number,
                    text=one.text,
                    source=Source.SESSION,
                    seen=one.statement_ids,
                )
            )
    return _Opened(lines=lines, span=_span(place, len(lines)), standing=tuple(standing))


def _standing(one: Fragment, chunk: Chunk, source: Source, span: range) -> _Standing:
    statements = zip(one.statement_ids, chunk.statements, strict=True)
    return _Standing(
        id=one.id,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        text=one.text,
        source=source,
        seen=tuple(key for key, said in statements if said.start_line < span.stop and said.end_line >= span.start),
    )


def _page_opened(home: Home, place: Place, now: datetime) -> _Opened:
    source = next(source for source, page in PAGES.items() if page == place.path)
    text = masked(printable(home.files.read(place.path).text), home.lexicon, home.redaction)
    lines = unmarked(text) or ("",)
    span = _span(place, len(lines))
    shown = {line: FragmentId(line.fragment) for line in readable(text) if line.fragment and line.number in span}
    known = {c.id: c.fragment for c in _fragments(home, sorted(set(shown.values())), now)}
    standing = tuple(_shown(known[key], line, source) for line, key in shown.items() if key in known)
    return _Opened(lines=lines, span=span, standing=standing)


def _shown(one: Fragment, line: ReadableLine, source: Source) -> _Standing:
    """Return what a line of a page shows of a fragment; all of it when its words cannot be told."""
    said = [key for key, text in zip(one.statement_ids, one.statements, strict=True) if one_line(text) in line.text]
    return _Standing(
        id=one.id,
        start_line=line.number,
        end_line=line.number,
        text=line.text,
        source=source,
        seen=tuple(said or one.statement_ids) if source is Source.DREAMS else (),
    )


def _span(place: Place, count: int) -> range:
    start = 1 if place.start is None else place.start
    end = count if place.end is None else min(place.end, count)
    if not 1 <= start <= end:
        raise NoSuchLinesError(place.path, count)
    return range(start, end + 1)


def _result(hit: ranking.Hit, terms: Sequence[Term], *, recorded: bool) -> Result:
    return Result(
        id=hit.id,
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        text=hit.text,
        relevance=hit.relevance,
        recorded=recorded and hit.relevance >= VOTE_FROM and bool(hit.answered),
        source=hit.kind.value,
        snippet=marked(hit.text, terms),
    )


def _line_result(line: _Line, terms: Sequence[Term], *, recorded: bool) -> Result:
    return Result(
        id=None if line.fragment is None else FragmentId(line.fragment),
        path=PAGES[line.source],
        start_line=line.number,
        end_line=line.number,
        text=line.text,
        relevance=line.relevance,
        recorded=recorded and line.source is Source.DREAMS and line.fragment is not None,
        source=line.source.value,
        snippet=marked(line.text, terms),
    )


def _opened_result(one: _Standing, path: str, share: float, *, recorded: bool) -> Result:
    return Result(
        id=one.id,
        path=path,
        start_line=one.start_line,
        end_line=one.end_line,
        text=one.text,
        relevance=share,
        recorded=recorded and bool(one.seen),
        source=one.source.value,
        snippet=one.text,
    )
