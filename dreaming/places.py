"""What a read names, and what stands there: lines of a diary, of a page, of a conversation."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from dreaming.home import DREAMS, MEMORY, Home
from dreaming.observing.hearing import listing, said_at, said_chunks
from dreaming.observing.masking import masked, masked_lines
from dreaming.observing.remembering import pieces, remembered
from memory.model import Candidate, Chunk, Fragment, FragmentId, Kind, StatementId
from memory.trust import redacted
from workspace import diary
from workspace.errors import UnreadableError
from workspace.lines import one_line, printable, split_lines
from workspace.readable import ReadableLine, readable, unmarked

_LINE_OF_A_SESSION = re.compile(r"(?P<path>.+\.jsonl[^#]*)#L(?P<line>[0-9]{1,9})")


class UnknownSourceError(Exception):
    """A read names something that is neither a diary nor a page of the workspace."""

    def __init__(self, name: str) -> None:
        self.name = name
        there = f"there is no {name} to read here" if name.strip() else "no place was named"
        super().__init__(
            f"{there}; name a diary, {MEMORY} or {DREAMS} as a search prints it, for example memory/2026-06-15.md:5-8"
        )


class NoSuchLinesError(Exception):
    """A read names lines that the file has not got."""

    def __init__(self, path: str, count: int) -> None:
        self.path = path
        among = f"name lines among them, for example {path}:1-{count}" if count else "it is empty or not there"
        super().__init__(f"{path} has {count} lines; {among}")


class Source(StrEnum):
    """What a search looks through."""

    DIARY = "diary"
    SESSION = "session"
    MEMORY = "memory"
    DREAMS = "dreams"


PAGES = {Source.MEMORY: MEMORY, Source.DREAMS: DREAMS}
"""The files that are searched line by line; hits in them are no votes, but for the fragment a line shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A file that is searched line by line; `votes` tells that a hit in it is a vote for the fragment a line shows.

    What stands in `MEMORY.md` needs no votes any more; what had to leave it comes back by them.
    """

    source: Source
    name: str

    @property
    def is_archive(self) -> bool:
        """Whether it keeps what had to leave `MEMORY.md`."""
        return self.name not in PAGES.values()

    @property
    def votes(self) -> bool:
        """Whether a hit is a vote for the fragment that a line shows."""
        return self.name != MEMORY


def pages(home: Home) -> tuple[Page, ...]:
    """Return the pages of a workspace, and the archives of what had to leave `MEMORY.md`, newest year first."""
    archives = sorted(home.archives(), reverse=True)
    return (
        *(Page(source=source, name=name) for source, name in PAGES.items()),
        *(Page(source=Source.MEMORY, name=name) for name in archives),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Lines of a file as somebody named them; None where no line was named."""

    path: str
    start: int | None
    end: int | None


def fragments(home: Home, ids: Sequence[FragmentId], *, now: datetime) -> Iterable[Candidate]:
    """Return fragments with all that counts for them on the local date."""
    return home.store.candidates(ids, until=home.local_date(now))


def place_of(home: Home, name: str, *, now: datetime) -> Place:
    """Return the place that a path with lines, or a fragment id, names; raise UnknownSourceError."""
    if re.fullmatch(r"[0-9a-f]{16}", name):
        return _of_fragment(home, FragmentId(name), now)
    place = named(name)
    page = _page_named(home, place.path) or _session_named(home, place.path)
    if page is None and place.path not in home.sources.known(*Kind):
        raise UnknownSourceError(name)
    return replace(place, path=page or place.path)


def _page_named(home: Home, path: str) -> str | None:
    """Return the page that a path names, as a search prints it or as the folder spells it; None when it is none."""
    for page in pages(home):
        if path.casefold() == page.name.casefold():
            document = home.files.read(page.name)
            if document.digest is not None and path in (page.name, document.name):
                return page.name
    return None


def _session_named(home: Home, path: str) -> str | None:
    """Return what a transcript is called whose file a path names; None when it is none that is read here."""
    if ".jsonl" not in path or path in home.sources.known(Kind.SESSION):
        return None
    real = os.path.realpath(home.root / path)
    return next((one.name for one in listing(home) if os.path.realpath(one.path) == real), None)


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


def _of_fragment(home: Home, key: FragmentId, now: datetime) -> Place:
    for candidate in fragments(home, [key], now=now):
        if candidate.place is not None:
            return Place(path=candidate.place.path, start=candidate.place.start_line, end=candidate.place.end_line)
    raise UnknownSourceError(key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A fragment that stands on opened lines, or is shown there, and the statements of it that a read is a vote for."""

    id: FragmentId
    start_line: int
    end_line: int
    text: str
    source: Source
    seen: tuple[StatementId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """All lines of a file as they may be shown, which of them were asked for (1-based), and what stands on those."""

    lines: Sequence[str]
    span: range
    standing: tuple[Standing, ...]


def opened(home: Home, place: Place, *, now: datetime) -> Opened:
    """Return what stands at a place; raise UnknownSourceError or NoSuchLinesError."""
    page = next((page for page in pages(home) if page.name == place.path), None)
    if page is not None:
        return _page_opened(home, page, place, now)
    return _session_opened(home, place) if ".jsonl" in place.path else _diary_opened(home, place)


def _diary_opened(home: Home, place: Place) -> Opened:
    try:
        text = diary.read(home.root, place.path, folder=home.config.workspace.diaries).text
    except UnreadableError as error:
        raise UnknownSourceError(place.path) from error
    lines = [line.rstrip("\r\n") for line in split_lines(text)] or [""]
    span = _span(place, len(lines))
    kind = Kind.MEMORY if place.path in home.sources.known(Kind.MEMORY) else Kind.DIARY
    standing = [
        (remembered(chunk, kind, home.lexicon, home.redaction), chunk)
        for chunk in pieces(text, home.redaction)
        if chunk.start_line < span.stop and chunk.end_line >= span.start
    ]
    return Opened(
        lines=masked_lines(lines, standing, home.redaction),
        span=span,
        standing=tuple(_standing(one, chunk, Source(kind.value), span) for one, chunk in standing),
    )


def _session_opened(home: Home, place: Place) -> Opened:
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
                Standing(
                    id=one.id,
                    start_line=number,
                    end_line=number,
                    text=one.text,
                    source=Source.SESSION,
                    seen=one.statement_ids,
                )
            )
    return Opened(lines=lines, span=_span(place, len(lines)), standing=tuple(standing))


def _standing(one: Fragment, chunk: Chunk, source: Source, span: range) -> Standing:
    statements = zip(one.statement_ids, chunk.statements, strict=True)
    return Standing(
        id=one.id,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        text=one.text,
        source=source,
        seen=tuple(key for key, said in statements if said.start_line < span.stop and said.end_line >= span.start),
    )


def _page_opened(home: Home, page: Page, place: Place, now: datetime) -> Opened:
    text = masked(printable(home.files.read(place.path).text), home.lexicon, home.redaction)
    lines = unmarked(text) or ("",)
    span = _span(place, len(lines))
    shown = {line: FragmentId(line.fragment) for line in readable(text) if line.fragment and line.number in span}
    known = {c.id: c.fragment for c in fragments(home, sorted(set(shown.values())), now=now)}
    standing = tuple(_shown(known[key], line, page) for line, key in shown.items() if key in known)
    return Opened(lines=lines, span=span, standing=standing)


def _shown(one: Fragment, line: ReadableLine, page: Page) -> Standing:
    """Return what a line of a page shows of a fragment; all of it when its words cannot be told."""
    said = [key for key, text in zip(one.statement_ids, one.statements, strict=True) if one_line(text) in line.text]
    return Standing(
        id=one.id,
        start_line=line.number,
        end_line=line.number,
        text=line.text,
        source=page.source,
        seen=tuple(said or one.statement_ids) if page.votes else (),
    )


def _span(place: Place, count: int) -> range:
    start = 1 if place.start is None else place.start
    end = count if place.end is None else min(place.end, count)
    if not 1 <= start <= end:
        raise NoSuchLinesError(place.path, count)
    return range(start, end + 1)
