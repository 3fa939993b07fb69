"""Marker lines of `DREAMS.md` that are missing or damaged: which, and where it is certain that they stood."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from workspace.dreams import DIARY, HEADINGS, MARKER, RULE, TITLE, Entry, entries, marker
from workspace.lines import line_end, outline, split_lines

Edge = Literal["start", "end"]
Marks = Sequence[tuple[int, re.Match[str]]]

_HEADING = re.compile(r"#{1,6}\s")
_OURS = {
    "light": re.compile(
        r"- (?:Candidate: |Nothing was staged\.|… and \d+ more\.)|  - (?:confidence|evidence|recalls|status): "
    ),
    "rem": re.compile(
        r"- (?:Theme: |Candidate Truth: |No pattern was strong enough\.)|  - (?:confidence|consolidated): "
    ),
    "deep": re.compile(r"- (?:Ranked \d|Promoted: |Proposed: |Not yet: |… and \d+ more\.)"),
}
"""How the lines of each section begin; what else stands there may be the user's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lonely:
    """A marker, on a line, 1-based, whose counterpart is missing."""

    line: int
    edge: Edge


def lonely(text: str, name: str) -> tuple[Lonely, ...]:
    """Return the markers of a block that have no counterpart, or have another block's marker before it."""
    lines = split_lines(text)
    return tuple(Lonely(line=at + 1, edge=edge) for at, edge in _lonely(_marks(lines), name))


def mended(text: str, name: str, told: Collection[Entry]) -> str | None:
    """Return the text with the markers of a block paired up; None where it is not certain where one stood.

    `told` are the entries this program wrote: the last one of a diary ends where its own words do.
    """
    lines = _single(split_lines(text), name)
    for at, edge in reversed(_lonely(_marks(lines), name)):
        desk = _Desk(lines=lines, name=name, told=told, end=line_end(text))
        changed = desk.ended(at) if edge == "start" else desk.begun(at)
        if changed is None:
            return None
        lines = changed
    return "".join(lines)


def _marks(lines: Sequence[str]) -> Marks:
    fenced = outline(lines).fenced
    return [(at, match) for at, line in enumerate(lines) if at not in fenced and (match := MARKER.match(line))]


def _lonely(marks: Marks, name: str) -> list[tuple[int, Edge]]:
    """Return what stands alone: a start and an end belong together when no other marker is between them."""
    found: list[tuple[int, Edge]] = []
    opened: int | None = None
    for at, match in marks:
        begins = match["edge"] == "start"
        if match["name"] == name and not begins and opened is not None:
            opened = None
            continue
        if opened is not None:
            found.append((opened, "start"))
        opened = at if match["name"] == name and begins else None
        if match["name"] == name and not begins:
            found.append((at, "end"))
    return found if opened is None else [*found, (opened, "start")]


def _single(lines: list[str], name: str) -> list[str]:
    """Take out a marker that stands directly below itself."""
    marks = dict(_marks(lines))
    doubled = {
        at
        for at, match in marks.items()
        if match["name"] == name and at - 1 in marks and marks[at - 1].groups() == match.groups()
    }
    return [line for at, line in enumerate(lines) if at not in doubled]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """A page on which one marker line of a block is written in, in the place of what is left of it or anew."""

    lines: list[str]
    name: str
    told: Collection[Entry]
    end: str

    def ended(self, start: int) -> list[str] | None:
        """Return the lines with an end for the block that begins on one."""
        bounds = (at for at in range(start + 1, len(self.lines)) if self._is_bound(at))
        said = self._said(start + 1, next(bounds, len(self.lines)))
        rest = said[-1] if said and self._is_rest(said[-1]) else None
        body = self.lines[start + 1 : rest if rest is not None else (said[-1] + 1 if said else start + 1)]
        if not self._is_ours(body):
            return None
        at = start + 1 + len(body) if rest is None else rest
        gap = self.name == DIARY and rest is None and at < len(self.lines) and not self.lines[at].strip()
        return self._written(at + gap, "end", over=rest is not None)

    def begun(self, end: int) -> list[str] | None:
        """Return the lines with a start for the block that ends on one; it stood under the heading of the block."""
        above = next((at for at in range(end - 1, -1, -1) if self._is_bound(at)), None)
        if above is None or self.lines[above].strip() != (TITLE if self.name == DIARY else f"## {HEADINGS[self.name]}"):
            return None
        said = self._said(above + 1, end)
        rest = said[0] if said and self._is_rest(said[0]) else None
        at = above + 1 if rest is None else rest
        if not self._is_ours(self.lines[at + (rest is not None) : end]):
            return None
        gap = self.name == DIARY and rest is None and not self.lines[at].strip()
        return self._written(at + gap, "start", over=rest is not None)

    def _written(self, at: int, edge: Edge, *, over: bool) -> list[str]:
        before = self.lines[:at]
        if before and not before[-1].endswith(("\n", "\r")):
            before[-1] += self.end
        return [*before, f"{marker(self.name, edge)}{self.end}", *self.lines[at + over :]]

    def _is_bound(self, at: int) -> bool:
        return bool(MARKER.match(self.lines[at]) or _HEADING.match(self.lines[at]))

    def _is_rest(self, at: int) -> bool:
        """Tell whether a line is what is left of a marker of this block, and nothing else."""
        return bool(re.fullmatch(rf"[\s<!-]*openclaw:dreaming:{self.name}\b[a-z:]*[\s>-]*", self.lines[at]))

    def _said(self, start: int, stop: int) -> list[int]:
        return [at for at in range(start, stop) if self.lines[at].strip()]

    def _is_ours(self, body: Sequence[str]) -> bool:
        """Tell whether all of it is certainly what this program wrote."""
        said = [line.strip() for line in body if line.strip()]
        if self.name != DIARY:
            return all(_OURS[self.name].match(line) for line in body if line.strip())
        found = entries("".join(body), archived=True)
        whole = bool(found) and said[0] == RULE and said.count(RULE) == len(found) and found[-1] in self.told
        return whole or not said
