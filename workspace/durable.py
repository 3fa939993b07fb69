"""`MEMORY.md`: what is added, what has to go for it, and where that goes; text in, text out."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from types import MappingProxyType
from typing import Literal

from workspace.lines import BOM, harmless, line_end, one_line, with_block
from workspace.said import said
from workspace.sections import POINTER, POINTER_MARK, Layout, Own, Section, Written, heading, heading_day, layout

__all__ = [
    "Dropped",
    "Evict",
    "Key",
    "Line",
    "Revision",
    "Written",
    "archived",
    "promoted",
    "revised",
    "said",
    "unarchived",
    "without",
    "wording",
]

TITLE = "# Long-Term Memory"
ARCHIVE_TITLE = "# Archived Long-Term Memory"

Evict = Literal["oldest", "least-used", "nothing"]
Key = tuple[str, str]
"""What a marker carries: the key of a line and the statements it was made of."""
_MOVED = re.compile(r"\*Moved here on \d{4}-\d{2}-\d{2}: .*\*\s*\Z")
_NO_WORTH: Mapping[Key, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line to be promoted; `statements` names those of the chunk that are written, empty for all of it."""

    key: str
    text: str
    score: float
    recalls: int
    source: str
    statements: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """The own lines of one day that made room."""

    day: date
    lines: tuple[Written, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The new text; the lines that stand in it, those without room, what was dropped and replaced, oldest first."""

    text: str
    written: tuple[Line, ...]
    deferred: tuple[Line, ...]
    dropped: tuple[Dropped, ...]
    replaced: tuple[Dropped, ...] = ()


def promoted(text: str) -> tuple[Written, ...]:
    """Return every line this program, or the one whose markers it shares, wrote; in file order."""
    return tuple(own.written for own in layout(text).own)


def standing(text: str) -> frozenset[Key]:
    """Return the lines that say something; a marker whose line somebody deleted is no line."""
    return frozenset(line.mark for line in promoted(text) if line.text)


def wording(text: str) -> str:
    """Return a line's text as it stands behind its bullet: one line, no list marker, nothing that is structure."""
    flat = one_line(text)
    while flat[:2] in ("- ", "* ", "+ "):
        flat = flat[2:].lstrip()
    return harmless(flat) or "…"


def revised(
    text: str,
    day: date,
    lines: Sequence[Line],
    *,
    budget: int,
    evict: Evict = "oldest",
    worth: Mapping[Key, float] = _NO_WORTH,
    edited: Collection[Key] = frozenset(),
    replaced: Collection[Key] = frozenset(),
) -> Revision:
    """Add lines under the heading of a day in place of `replaced` ones, and keep the file within `budget` characters.

    Of a file that is over the budget, or would be, own lines of other days are dropped: whole days from the oldest on,
    or single lines from the least worth on. Lines that are `edited`, by key and statements, or asked for again are
    never dropped; the user's text never is. A line that finds no room even so is deferred; nothing is dropped for it.
    """
    page = layout(text)
    standing = {_mark(own.written) for own in page.own}
    asked = {_mark(line) for line in lines}
    out = tuple(own for own in page.own if _mark(own.written) in replaced)
    droppable = {own for own in page.own if own not in out and _is_droppable(own, day, edited, asked)}
    desk = _Desk(page=page, day=day, budget=budget, units=_units(page, droppable, evict, worth), out=out)
    gone = desk.enough(0, []) or 0
    new: list[Line] = []
    for line in lines:
        if _mark(line) in standing:
            continue
        needed = desk.enough(gone, [*new, line])
        if needed is not None:
            gone = needed
            new.append(line)
            standing.add(_mark(line))
    pointed = desk.text(gone, new, pointed=bool(gone))
    return Revision(
        text=pointed if len(pointed) <= budget else desk.text(gone, new),
        written=tuple(line for line in lines if _mark(line) in standing),
        deferred=tuple(line for line in lines if _mark(line) not in standing),
        dropped=_by_day(own.written for unit in desk.units[:gone] for own in unit),
        replaced=_by_day(own.written for own in out),
    )


def without(text: str, keys: Collection[Key]) -> str:
    """Take own lines out, and a heading that is left with nothing; the user's text stays."""
    page = layout(text)
    return "".join(_without(page, [own for own in page.own if _mark(own.written) in keys]).values())


def archived(text: str, dropped: Sequence[Dropped], *, on: date, reason: str) -> str:
    """Add dropped lines, as they stood, to an archive; what stands there already is not added again."""
    known = {written.raw for written in promoted(text)}
    end = line_end(text)
    for each in dropped:
        raw = [written.raw for written in each.lines if written.raw not in known]
        if not raw:
            continue
        note = f"*Moved here on {on.isoformat()}: {one_line(reason)}*"
        block = [heading(each.day), "", note, "", *"\n".join(raw).split("\n")]
        text = with_block(text or f"{ARCHIVE_TITLE}{end}", "".join(f"{line}{end}" for line in block))
    return text


def unarchived(text: str, keys: Collection[Key]) -> str:
    """Take lines out of an archive that stand in the file again, with the heading and the note that are left alone."""
    page = layout(text)
    lines = list(page.lines)
    for part in reversed(page.sections):
        own = [one for one in part.own if _mark(one.written) in keys]
        out = {at for one in own for at in one.place}
        rest = [at for at in part.place if at not in out and lines[at].strip()]
        if own and all(at == part.place.start or _MOVED.match(lines[at]) for at in rest):
            start = part.place.start
            out = set(part.place) | ({start - 1} if start and not lines[start - 1].strip() else set())
        for at in sorted(out, reverse=True):
            del lines[at]
    return "".join(lines)


def _mark(line: Line | Written) -> Key:
    return line.key, line.statements


def _is_droppable(own: Own, today: date, edited: Collection[Key], asked: Collection[Key]) -> bool:
    """Tell whether an own line may go: one the user moved under another heading or added to has become the user's."""
    written = own.written
    settled = written.day is not None and written.day != today and not own.hangs
    return settled and _mark(written) not in edited and _mark(written) not in asked


def _units(
    page: Layout, droppable: Collection[Own], evict: Evict, worth: Mapping[Key, float]
) -> tuple[tuple[Own, ...], ...]:
    """Return what is dropped together, in the order in which it goes."""
    if evict == "nothing":
        return ()
    by_age = sorted(page.sections, key=lambda section: (section.day, section.place.start))
    days = [tuple(own for own in section.own if own in droppable) for section in by_age]
    if evict == "oldest":
        return tuple(unit for unit in days if unit)
    singles = [(own,) for unit in days for own in unit]
    return tuple(sorted(singles, key=lambda unit: worth.get(_mark(unit[0].written), 0.0)))


def _by_day(lines: Iterator[Written]) -> tuple[Dropped, ...]:
    dated = sorted(((line.day, line.line, line) for line in lines if line.day), key=lambda item: item[:2])
    return tuple(
        Dropped(day=day, lines=tuple(line for _, _, line in group))
        for day, group in groupby(dated, key=lambda item: item[0])
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """A page on which `out` and the first few units are crossed out and new lines are written in."""

    page: Layout
    day: date
    budget: int
    units: tuple[tuple[Own, ...], ...]
    out: tuple[Own, ...] = ()

    def enough(self, least: int, new: Sequence[Line]) -> int | None:
        """Return how many units must go, at least so many, for the lines to fit; None when not all would do."""
        if len(self.text(len(self.units), new)) > self.budget:
            return None
        return next(gone for gone in range(least, len(self.units) + 1) if len(self.text(gone, new)) <= self.budget)

    def text(self, gone: int, new: Sequence[Line], *, pointed: bool = False) -> str:
        """Render the page without its first `gone` units and with the new lines, and where the dropped ones are."""
        lines = _without(self.page, [*self.out, *(own for unit in self.units[:gone] for own in unit)])
        end = self.page.end
        if pointed:
            _point(lines, self.page)
        block = [text for line in new for text in _rendered(line)]
        section = next((section for section in reversed(self.page.sections) if section.day == self.day), None)
        if block and section:
            _insert(lines, self.page, section, block)
            return "".join(lines.values())
        later = next((section for section in self.page.sections if section.day > self.day), None)
        if block and later and later.place.start in lines:
            own = "".join(f"{line}{end}" for line in (heading(self.day), "", *block, ""))
            lines[later.place.start] = own + lines[later.place.start]
            return "".join(lines.values())
        text = "".join(lines.values())
        if not block:
            return text
        title = "" if text.strip(f"{BOM} \t\r\n") else f"{TITLE}{end}{end}"
        return with_block(text, title + "".join(f"{line}{end}" for line in (heading(self.day), "", *block)))


def _rendered(line: Line) -> tuple[str, str]:
    source = one_line(line.source)
    statements = f" statements={line.statements}" if line.statements else ""
    numbers = f"score={line.score:.3f} recalls={line.recalls} source={source}{statements}"
    return f"<!-- openclaw-memory-promotion:{line.key} {numbers} -->", f"- {wording(line.text)}"


def _point(lines: dict[int, str], page: Layout) -> None:
    """Say once, above the promotions, where those are that had to make room."""
    if any(POINTER_MARK in line for line in page.lines):
        return
    first = page.sections[0].place.start if page.sections else 0
    at = next((index for index in lines if index >= first), None)
    above = max((index for index in lines if at is None or index < at), default=None)
    is_apart = above is None or not lines[above].strip(f"{BOM} \t\r\n")
    gap = "" if is_apart else page.end  # else it would go on with what the user wrote above it
    pointer = f"{gap}{POINTER}{page.end}{page.end}"
    if at is None:
        lines[first] = pointer
    elif at == 0 and lines[0].startswith(BOM):
        lines[0] = BOM + pointer + lines[0].removeprefix(BOM)
    else:
        lines[at] = pointer + lines[at]


def _without(page: Layout, gone: Sequence[Own]) -> dict[int, str]:
    """Return the lines that stay, by index; a heading goes when nothing of the user's is left under it."""
    out = {at for own in gone for at in own.place}
    for section in page.sections:
        if any(own.place.start in out for own in section.own):
            out.update(_emptied(page, section, out))
    left = {at: line for at, line in enumerate(page.lines) if at not in out}
    if 0 in out and page.lines[0].startswith(BOM):
        left = {0: BOM, **left}
    return dict(sorted({**left, **_gaps(page, gone, left)}.items()))


def _emptied(page: Layout, section: Section, out: Collection[int]) -> Iterator[int]:
    left = [at for at in section.place if at not in out and page.lines[at].strip()]
    if left != [section.place.start]:
        return
    last = max(own.place.stop for own in section.own)
    after = section.place.stop
    # The blank line after it is this program's when the next section is; else it is the user's and stays.
    is_followed = after < len(page.lines) and heading_day(page.lines[after]) is not None
    yield from range(section.place.start, after if is_followed else last)


def _gaps(page: Layout, gone: Sequence[Own], left: Mapping[int, str]) -> dict[int, str]:
    """Return a blank line for each place where two texts of the user would run into one."""
    starts = {own.place.start for own in page.own} | page.outline.headings
    above = {own: next((left[at] for at in range(own.place.start, -1, -1) if at in left), "") for own in gone}
    return {
        own.place.start: page.end
        for own in gone
        if left.get(own.place.stop, "").strip() and own.place.stop not in starts and above[own].strip()
    }


def _insert(lines: dict[int, str], page: Layout, section: Section, block: Sequence[str]) -> None:
    """Write lines behind the own lines of a section, and behind what hangs on the last of them."""
    at, end = _last(page, section), page.end
    if not lines[at].endswith(("\n", "\r")):
        lines[at] += end
    before = [""] if not section.own else []
    after = [""] if at + 1 < len(page.lines) and page.lines[at + 1].strip() else []
    lines[at] += "".join(f"{line}{end}" for line in (*before, *block, *after))


def _last(page: Layout, section: Section) -> int:
    """Return the line to write behind: the last of the own lines with what hangs on it, else the last with words."""
    if not section.own:
        return max(at for at in section.place if page.lines[at].strip())
    at = section.own[-1].place.stop - 1
    while at + 1 in section.place and (page.lines[at + 1].strip() or at + 1 in page.outline.fenced):
        at += 1
    return at
