"""Searching and reading the memory; every hit returned is a vote, and this is the one place that counts it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from itertools import accumulate, pairwise

from dreaming.home import Home
from dreaming.observing.observe import observe
from dreaming.places import PAGES, NoSuchLinesError, Page, Source, Standing, opened, pages, place_of
from memory import search as ranking
from memory.concepts import is_telling
from memory.embedders import EmbedderError
from memory.model import FragmentId, Kind, StatementId
from memory.query import Term, marked, relevance
from memory.sentences import sentence_ends
from memory.store import NotRecordedError, Vote
from memory.trust import redacted
from workspace.errors import WorkspaceError
from workspace.readable import ReadableLine, parts, readable

VOTE_FROM = 0.3
"""A hit below this relevance is returned but is no vote (SPEC 12)."""
VOTE_SHARE = 0.5
"""Nor is a hit less than half as relevant as the best of its search: that is not what was asked for."""
RESULTS = 6
LINES_A_PAGE = 2
"""Lines of `MEMORY.md`, and candidates of `DREAMS.md`, among the results, at most: a search is for the diaries."""
PROSE_OF_DREAMS = 1
"""Paragraphs of the dream diary among the results, at most, and behind every note that answers."""
READ_LINES = 12
"""A read of up to three chunks says "these lines"; the more lines a read returns, the less it says of each."""
WHOLE_LINES = 4
"""A whole file opened without naming lines says "these lines" only when it is no longer than one chunk."""
READ = "read by its lines"
"""What stands for the question when lines are opened: all reads of a statement on one day are one."""


class BackwardsError(NoSuchLinesError):
    """A read names a last line that stands before the first."""

    def __init__(self, path: str, start: int, end: int) -> None:
        super().__init__(path, end)
        self.args = (f"the lines {start}-{end} are backwards; name the first one first: {path}:{end}-{start}",)


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


def search(
    home: Home,
    query: str,
    *,
    now: datetime,
    limit: int = RESULTS,
    surface: str = "search",
    wanted: Wanted = EVERYTHING,
) -> Found:
    """Return what answers a query, best first, and record recalls.

    A fragment is recalled at a relevance of 0.3 or more that is at least half of the best one of this search.
    """
    observed = observe(home, now=now)
    terms = ranking.terms_of(home.store, query, home.lexicon)
    hits, silent = _fragments_found(home, query, terms, wanted, limit)
    lines = _lines_found(home, query, terms, wanted, {hit.id for hit in hits})
    returned = _returned(hits, lines, limit)
    least = _least(hits, lines)
    answers = [one for one in returned if one.relevance >= least]
    votes = _votes(home, [one for one in answers if isinstance(one, ranking.Hit)])
    votes += _shown_votes(home, [one for one in answers if isinstance(one, _Line) and one.votes], terms)
    trouble = _record(home, votes, query=query, surface=surface, now=now)
    results = tuple(_result(one, terms, recorded=not trouble and one.relevance >= least) for one in returned)
    return Found(query=query, results=results, problems=(*observed.trouble, *silent, *trouble))


def get(home: Home, name: str, *, now: datetime, surface: str = "get") -> Read:
    """Return lines of a diary or a page named as `path`, `path:5` or `path:5-8`, or those a fragment id stands on.

    Few named lines are a vote for what stands on them; a whole file is one only when it is as short as a chunk.
    Raise UnknownSourceError, NoSuchLinesError, or a WorkspaceError when a page cannot be read.
    """
    observed = observe(home, now=now)
    place = place_of(home, name, now=now)
    if place.start and place.end and place.end < place.start:
        raise BackwardsError(place.path, place.start, place.end)
    there = opened(home, place, now=now)
    share = round(min(1.0, READ_LINES / len(there.span)), 4)
    meant = share >= VOTE_FROM if place.start else len(there.span) <= WHOLE_LINES
    votes = [(vote, share) for one in there.standing for vote in one.seen]
    trouble = _record(home, votes if meant else [], query=READ, surface=surface, now=now)
    recorded = meant and not trouble
    return Read(
        path=place.path,
        start_line=there.span.start,
        end_line=there.span.stop - 1,
        text="\n".join(there.lines[there.span.start - 1 : there.span.stop - 1]),
        results=tuple(_opened_result(one, place.path, share, recorded=recorded) for one in there.standing),
        problems=(*observed.trouble, *trouble),
    )


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

    page: Page
    number: int
    text: str
    fragment: str | None
    relevance: float

    @property
    def is_prose(self) -> bool:
        """Whether it is told in `DREAMS.md` and shows no fragment."""
        return self.page.source is Source.DREAMS and self.fragment is None

    @property
    def votes(self) -> bool:
        """Whether it is a vote for the fragment that it shows."""
        return self.page.votes and self.fragment is not None


def _returned(hits: Sequence[ranking.Hit], lines: Sequence[_Line], limit: int) -> list[ranking.Hit | _Line]:
    """Return the best results: fragments in their own order, a line where its relevance puts it.

    It stands behind equal fragments; prose of the dreams behind every note that answers, which is one at 0.3 or more.
    """
    last_answer = max((n for n, hit in enumerate(hits) if hit.relevance >= VOTE_FROM), default=-1)
    falling = accumulate((hit.relevance for hit in hits), min)
    places = [(0 if n <= last_answer else 2, -share, 0, n) for n, share in enumerate(falling)]
    places += [(1 if line.is_prose else 0, -line.relevance, 1, n) for n, line in enumerate(lines)]
    both: list[ranking.Hit | _Line] = [*hits, *lines]
    found = zip(places, both, strict=True)
    return [one for _, one in sorted(found, key=lambda pair: pair[0])[:limit]]


def _lines_found(home: Home, query: str, terms: Sequence[Term], wanted: Wanted, known: set[FragmentId]) -> list[_Line]:
    """Return the best lines of each page; not those that show a fragment which was found itself."""
    if not terms or wanted.since or wanted.until or not is_telling(query, home.lexicon):
        return []
    found: list[_Line] = []
    everything = pages(home)
    for source in sorted(PAGES.keys() & wanted.sources, reverse=True):  # memory before the dreams that led to it
        lines = [
            _line(page, line, terms)
            for page in everything
            if page.source is source
            for line in _readable(home, page, terms)
            if line.fragment not in known | {one.fragment for one in found if one.fragment}
        ]
        # Of equals the one in the page itself comes first: the archives stand behind it.
        ordered = sorted(lines, key=lambda line: (-line.relevance, line.fragment is None, line.page.votes, line.number))
        once = {_what(line): line for line in reversed(ordered)}
        best = [line for line in ordered if once[_what(line)] is line]
        answering = [line for line in best if line.relevance >= VOTE_FROM]
        found += [line for line in answering if not line.is_prose][:LINES_A_PAGE]
        found += [line for line in answering if line.is_prose][:PROSE_OF_DREAMS]
    return found


def _what(line: _Line) -> str:
    """Return what a line shows: a fragment, else itself."""
    return line.fragment or f"{line.page.name}:{line.number}"


def _line(page: Page, line: ReadableLine, terms: Sequence[Term]) -> _Line:
    """Return a line of a page as it answers; of prose of the dreams the sentences around the one that answers best."""
    found = _Line(page=page, number=line.number, text=line.text, fragment=line.fragment, relevance=0.0)
    text = _around_the_best(line.text, terms) if found.is_prose else line.text
    return replace(found, text=text, relevance=relevance(text, terms))


def _around_the_best(text: str, terms: Sequence[Term]) -> str:
    """Return the sentence that answers best, with the one before and the one after it."""
    ends = sorted({0, *sentence_ends(text), len(text)})
    shares = [relevance(text[start:end], terms) for start, end in pairwise(ends)]
    best = max(range(len(shares)), key=lambda n: (shares[n], -n))
    return text[ends[max(0, best - 1)] : ends[min(len(shares), best + 2)]].strip()


def _readable(home: Home, page: Page, terms: Sequence[Term]) -> Iterable[ReadableLine]:
    """Return the lines of a page that may answer, without secrets.

    Looking for these costs more than reading: only the parts that may answer are looked through, and each once in the
    life of a process; of an archive, which grows every year, only the lines.
    """
    for above, part in parts(_page(home, page.name)):
        answering = {line.number: line for line in readable(part) if relevance(line.text, terms) >= VOTE_FROM}
        if page.is_archive:
            shown = [replace(line, text=redacted(line.text, home.redaction)[0]) for line in answering.values()]
        else:
            shown = list(readable(redacted(part, home.redaction, keep_lines=True)[0])) if answering else []
        yield from (replace(line, number=line.number + above) for line in shown if line.number in answering)


def _page(home: Home, name: str) -> str:
    try:
        return home.files.read(name).text
    except WorkspaceError:
        return ""  # a search does without it; the night says what is wrong with it


def _least(hits: Sequence[ranking.Hit], lines: Sequence[_Line]) -> float:
    """Return the relevance from which on a result is a vote; the prose of the dream diary is no measure for it."""
    shares = [hit.relevance for hit in hits] + [line.relevance for line in lines if not line.is_prose]
    return max(VOTE_FROM, VOTE_SHARE * max(shares, default=0.0))


def _votes(home: Home, voting: Sequence[ranking.Hit]) -> list[tuple[StatementId, float]]:
    """Return the votes of fragments, for the statements that answered."""
    said = home.store.statements([hit.id for hit in voting])
    return [(said[hit.id][n][0], hit.relevance) for hit in voting for n in hit.answered if hit.id in said]


def _shown_votes(home: Home, shown: Sequence[_Line], terms: Sequence[Term]) -> list[tuple[StatementId, float]]:
    """Return the votes of lines that show a fragment, for the statements of the fragment that answer."""
    scores = {FragmentId(line.fragment): line.relevance for line in shown if line.fragment is not None}
    return [
        (said[n][0], scores[fragment])
        for fragment, said in home.store.statements(sorted(scores)).items()
        for n in ranking.answered([text for _, text in said], terms)
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


def _result(one: ranking.Hit | _Line, terms: Sequence[Term], *, recorded: bool) -> Result:
    if isinstance(one, _Line):
        return Result(
            id=None if one.fragment is None else FragmentId(one.fragment),
            path=one.page.name,
            start_line=one.number,
            end_line=one.number,
            text=one.text,
            relevance=one.relevance,
            recorded=recorded and one.votes,
            source=one.page.source.value,
            snippet=marked(one.text, terms),
        )
    return Result(
        id=one.id,
        path=one.path,
        start_line=one.start_line,
        end_line=one.end_line,
        text=one.text,
        relevance=one.relevance,
        recorded=recorded and bool(one.answered),
        source=one.kind.value,
        snippet=marked(one.text, terms),
    )


def _opened_result(one: Standing, path: str, share: float, *, recorded: bool) -> Result:
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
