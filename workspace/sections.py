"""What of `MEMORY.md` this program wrote: dated sections, markers, the bullets under them. The rest is the user's."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from workspace.lines import BOM, Outline, line_end, outline, split_lines

POINTER_MARK = "<!-- openclaw-memory-archive -->"
POINTER = f"*Older memories: memory/archive/* {POINTER_MARK}"
"""The one line of `MEMORY.md` that says where dropped lines are."""

_HEADING = re.compile(rf"{BOM}?## Promoted From Short-Term Memory \((?P<day>\d{{4}}-\d{{2}}-\d{{2}})\)\s*\Z", re.ASCII)
_MARKER = re.compile(
    r"<!-- openclaw-memory-promotion:(?P<key>\S.*?)"
    r"(?: score=\S+ recalls=\d+ source=.*?)?"
    r"(?: statements=(?P<statements>\S+))?"
    r" -->\s*\Z"
)
_BULLET = re.compile(r"[-*+][ \t]+(?![-*+\s]*\Z)(?P<text>.*?)\s*\Z")
_HANGING = re.compile(r"(?: {2,}|\t)[ \t]*(?P<text>\S.*?)\s*\Z")
_COMMENT = re.compile(r"<!--.*?-->")
_METADATA = re.compile(r"\s*\[score=[^\]]*\]\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A line this program wrote; `day` is its heading's, `line` 1-based, `text` empty when the user took the words."""

    key: str
    statements: str
    day: date | None
    text: str
    line: int
    raw: str

    @property
    def mark(self) -> tuple[str, str]:
        """What its marker says: the key, and the statements it was made of."""
        return self.key, self.statements


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """Where a written line stands: its marker to its bullet; `hangs` tells that indented lines follow it."""

    written: Written
    place: range
    hangs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A dated heading, all lines up to the next heading, and the own lines among them."""

    day: date
    place: range
    own: tuple[Own, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A whole `MEMORY.md`: its lines and how they end, the own ones among them, the dated sections."""

    lines: tuple[str, ...]
    end: str
    outline: Outline
    own: tuple[Own, ...]
    sections: tuple[Section, ...]


def layout(text: str) -> Layout:
    """Tell own lines from the user's; look-alikes in a closed fence are the user's."""
    lines = split_lines(text)
    shape = outline(lines)
    dated = {at: day for at, line in enumerate(lines) if at not in shape.fenced and (day := heading_day(line))}
    places = list(_places(dated, shape.headings, len(lines)))
    own = tuple(_own(lines, shape, dated, places))
    sections = (
        Section(day=dated[place.start], place=place, own=tuple(o for o in own if o.place.start in place))
        for place in places
    )
    return Layout(lines=tuple(lines), end=line_end(text), outline=shape, own=own, sections=tuple(sections))


def heading(day: date) -> str:
    """Return the heading of a night's section."""
    return f"## Promoted From Short-Term Memory ({day.isoformat()})"


def heading_day(line: str) -> date | None:
    """Return the day of a line that looks like a section's heading."""
    match = _HEADING.match(line)
    try:
        return date.fromisoformat(match["day"]) if match else None
    except ValueError:
        return None


def plain(text: str) -> str:
    """Return the words of a bullet, without comments and without the numbers some programs put behind."""
    return _METADATA.sub("", _COMMENT.sub("", text)).strip()


def _places(dated: dict[int, date], headings: frozenset[int], total: int) -> Iterator[range]:
    ends = sorted({*dated, *headings, total})
    for start in sorted(dated):
        yield range(start, next(end for end in ends if end > start))


def _own(lines: Sequence[str], shape: Outline, dated: dict[int, date], places: Sequence[range]) -> Iterator[Own]:
    for at, line in enumerate(lines):
        match = None if at in shape.fenced else _MARKER.match(line)
        if not match:
            continue
        stop = _stop(lines, at)
        hanging = list(_hanging(lines, shape, stop)) if stop > at + 1 else []
        words = _BULLET.match(lines[stop - 1]) if stop > at + 1 else None
        text = " ".join([plain(words["text"]), *hanging]) if words else ""
        written = Written(
            key=match["key"],
            statements=match["statements"] or "",
            day=next((dated[place.start] for place in places if at in place), None),
            text=text,
            line=stop,
            raw="\n".join(own.rstrip("\r\n") for own in lines[at:stop] if own.strip()),
        )
        yield Own(written=written, place=range(at, stop), hangs=bool(hanging))


def _stop(lines: Sequence[str], marker: int) -> int:
    """Return where an own line ends: after its bullet, which a formatter may have set apart, or after its marker."""
    at = marker + 1
    if at < len(lines) and not lines[at].strip():
        at += 1
    return at + 1 if at < len(lines) and _BULLET.match(lines[at]) else marker + 1


def _hanging(lines: Sequence[str], shape: Outline, at: int) -> Iterator[str]:
    while at < len(lines) and at not in shape.headings and (match := _HANGING.match(lines[at])):
        yield match["text"]
        at += 1
