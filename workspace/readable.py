"""The lines of `MEMORY.md` and `DREAMS.md` as a search reads them: no markers, each with the fragment behind it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from workspace.lines import outline, split_lines
from workspace.sections import POINTER_MARK

_FRAGMENT = re.compile(r"<!--\s*fragment:([0-9a-f]{16})\s*-->")
_PROMOTED = re.compile(r"<!--\s*openclaw-memory-promotion:([0-9a-f]{16})\b.*-->")
_MARKER = re.compile(
    r"[ \t]*<!--\s*(?:openclaw:dreaming:[\w-]+:(?:start|end)|openclaw-memory-promotion:.*?|fragment:[0-9a-f]{16})\s*-->"
)
_COMMENT = re.compile(r"<!--.*?-->")
_MARKS = re.compile(r"^(?:[-*+]\s+|\d+[.)]\s+|>\s*)*(?:(?:Candidate(?: Truth)?|Promoted|Not yet):\s+)?")
_NO_TEXT = re.compile(r"#{1,6}\s|[-*_=\s]*$|\*[^*]+\*$|(?:confidence|evidence|recalls|status|consolidated):\s")
"""Headings, rules, the stamp of an entry, and the details of a candidate."""
_PART = re.compile(r"#{1,6}\s|---\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadableLine:
    """A line that says something: 1-based, and the id of the fragment it shows, if it shows one."""

    number: int
    text: str
    fragment: str | None


def readable(text: str) -> Iterator[ReadableLine]:
    """Return the lines of a file that say something, in order."""
    behind = None
    for number, raw in enumerate(split_lines(text), 1):
        line = raw.strip().removeprefix("\ufeff")
        own = _FRAGMENT.search(line)
        plain = _MARKS.sub("", _COMMENT.sub("", line).strip(), count=1).strip()
        if plain and POINTER_MARK not in line and not _NO_TEXT.match(plain):
            yield ReadableLine(number=number, text=plain, fragment=own[1] if own else behind)
        promoted = _PROMOTED.search(line)
        behind = promoted[1] if promoted else None


def parts(text: str) -> Iterator[tuple[int, str]]:
    """Cut a page before its headings and rules; return each part with the number of lines above it."""
    lines = split_lines(text)
    starts = [0, *(n for n, line in enumerate(lines) if n and _PART.match(line)), len(lines)]
    return ((start, "".join(lines[start:end])) for start, end in pairwise(starts))


def unmarked(text: str) -> tuple[str, ...]:
    """Return the lines without this program's comments, one that holds nothing else blank; the user's stay.

    Look-alikes in a closed fence are the user's too.
    """
    lines = split_lines(text)
    fenced = outline(lines).fenced
    bare = (line.rstrip("\r\n") for line in lines)
    return tuple(line if at in fenced else _MARKER.sub("", line) for at, line in enumerate(bare))
