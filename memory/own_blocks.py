"""Finds the lines of a diary that this program wrote itself; they are never evidence."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from markdown_it.token import Token

from memory.headings import prefix
from memory.markdown import first_line

_BLOCK_MARKER = re.compile(r"<!--\s*openclaw:dreaming:([\w-]+):(start|end)\s*-->", re.IGNORECASE)
_PROMOTION_MARKER = re.compile(r"<!--\s*openclaw-memory-promotion:.*-->", re.IGNORECASE)


class _Sign(Enum):
    START = auto()
    END = auto()
    PROMOTION = auto()
    HEADING = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Landmark:
    """A marker or a heading; `above` is where its block begins, `limit` where the quote or list item around it ends."""

    sign: _Sign
    line: int
    above: int
    limit: int
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLines:
    """0-based lines: of the blocks between this program's markers, and of the items below its promotion markers."""

    blocks: frozenset[int]
    promotions: frozenset[int]


def own_lines(tokens: Sequence[Token]) -> OwnLines:
    """Find markers that stand as HTML comments of their own; one in a fence or in a sentence is the user's text."""
    marks = list(_landmarks(tokens)) if _mentions_a_marker(tokens) else []
    blocks: set[int] = set()
    for place, mark in enumerate(marks):
        if mark.sign is _Sign.START:
            blocks.update(range(mark.above, _block_end(marks, place)))
    promotions = frozenset(mark.line + 1 for mark in marks if mark.sign is _Sign.PROMOTION)
    return OwnLines(blocks=frozenset(blocks), promotions=promotions)


def _mentions_a_marker(tokens: Sequence[Token]) -> bool:
    return any(token.type == "html_block" and "openclaw" in token.content.lower() for token in tokens)


def _block_end(marks: Sequence[_Landmark], place: int) -> int:
    """Return the line behind a block: its end marker, or without one the next heading or start marker."""
    start, end = marks[place], marks[place].limit
    for mark in marks[place + 1 :]:
        if mark.line >= start.limit:
            break
        if mark.sign is _Sign.END and mark.name == start.name:
            return mark.line + 1
        if mark.sign in {_Sign.HEADING, _Sign.START}:
            end = min(end, mark.line)
        if mark.sign is _Sign.START:
            break
    return end


def _landmarks(tokens: Sequence[Token]) -> Iterator[_Landmark]:
    limits = [max((token.map[1] for token in tokens if token.map), default=0)]
    for place, token in enumerate(tokens):
        match token.type:
            case "blockquote_open" | "list_item_open":
                limits.append(token.map[1] if token.map else limits[-1])
            case "blockquote_close" | "list_item_close":
                limits.pop()
            case "heading_open":
                line = first_line(token)
                yield _Landmark(sign=_Sign.HEADING, line=line, above=line, limit=limits[-1])
            case "html_block":
                yield from _markers(tokens, place, limits[-1])


def _markers(tokens: Sequence[Token], place: int, limit: int) -> Iterator[_Landmark]:
    first = first_line(tokens[place])
    for line, text in enumerate(tokens[place].content.split("\n"), first):
        if marker := _BLOCK_MARKER.fullmatch(text.strip()):
            sign = _Sign.START if marker[2].lower() == "start" else _Sign.END
            above = _heading_above(tokens, place) if line == first else line
            yield _Landmark(sign=sign, line=line, above=above, limit=limit, name=marker[1].lower())
        elif _PROMOTION_MARKER.fullmatch(text.strip()):
            yield _Landmark(sign=_Sign.PROMOTION, line=line, above=line, limit=limit)


def _heading_above(tokens: Sequence[Token], place: int) -> int:
    """Return the line of the heading that belongs to a marker, or of the marker; a date above it is the diary's."""
    if place >= 3 and tokens[place - 1].type == "heading_close" and prefix(tokens[place - 2].content):
        return first_line(tokens[place - 3])
    return first_line(tokens[place])
