"""Markdown without its secrets, also those that only their heading or list gives away."""

import re
from collections.abc import Iterable, Iterator, Sequence

from dreaming.observing.remembering import pieces, remembered
from memory.chunking import source_lines
from memory.concepts import Lexicon
from memory.hiding import in_place, line_by_line
from memory.model import Chunk, Fragment, Kind
from memory.query import PLACEHOLDER
from memory.redaction import Redaction

Standing = Sequence[tuple[Fragment, Chunk]]
Hidden = tuple[str, str]
"""A stretch of a text, and what stands in its place."""

_BULLETS = re.compile(r"[ \t]*(?:[-*+>][ \t]+)*(?:\[[ xX]\][ \t]+)?")
_MARKS = re.compile(r"[ \t]*(?:(?:[-*+>]|\d{1,3}[.)])[ \t]+)*(?:\[[ xX]\][ \t]+)?")
"""What makes a line an item or a quotation, and no statement holds; a number may also belong to a secret."""


def masked(text: str, lexicon: Lexicon, rules: Redaction) -> str:
    """Return a text with `[secret:<kind>]` in place of each secret; the lines stay where they are."""
    standing = [(remembered(chunk, Kind.DIARY, lexicon, rules), chunk) for chunk in pieces(text, rules)]
    return "\n".join(masked_lines(source_lines(text), standing, rules))


def masked_lines(lines: Sequence[str], standing: Standing, rules: Redaction) -> list[str]:
    """Return the lines as they stand, but for their secrets; those of a chunk are known by its statements too.

    Where a secret cannot be found again on its lines, as inside markup, they are shown as they are remembered. Before
    and after that all lines are judged as one text: no line of a key says by itself that it is one.
    """
    hidden, remembered_as = _hidden(lines, standing)
    shown = []
    for number, (line, plain) in enumerate(zip(lines, line_by_line(lines, rules), strict=True), 1):
        if plain == line and number in remembered_as:
            shown.append(_behind(_MARKS.match(line), " ".join(remembered_as[number])))
        else:
            shown.append(_behind(_BULLETS.match(line), _without(plain, hidden.get(number, ()))))
    return in_place(shown, rules)


def _hidden(lines: Sequence[str], standing: Standing) -> tuple[dict[int, list[Hidden]], dict[int, list[str]]]:
    """Return by line what to hide of it, and for lines where that cannot be told the statements that begin there."""
    hidden: dict[int, list[Hidden]] = {}
    unclear: set[int] = set()
    for told, original, place in _statements(standing):
        if told == original:
            continue
        own = _stretches(told, original)
        raw = "\n".join(lines[number - 1] for number in place)
        if own and all(raw.count(stretch) == original.count(stretch) for stretch, _ in own):
            for number in place:
                hidden.setdefault(number, []).extend(own)
        else:
            unclear.update(place)
    remembered_as: dict[int, list[str]] = {number: [] for number in unclear}
    for told, _, place in _statements(standing):
        if place.start in unclear:
            remembered_as[place.start].append(told)
    return hidden, remembered_as


def _statements(standing: Standing) -> Iterator[tuple[str, str, range]]:
    """Yield the statements as they are remembered and as they were, and their lines (1-based)."""
    for one, chunk in standing:
        for told, statement in zip(one.statements, chunk.statements, strict=True):
            yield told, statement.text, range(statement.start_line, statement.end_line + 1)


def _stretches(told: str, original: str) -> list[Hidden]:
    """Return what stands in the original where the remembered text has placeholders; nothing when they do not match."""
    labels = PLACEHOLDER.findall(told)
    around = re.compile("(.+?)".join(map(re.escape, PLACEHOLDER.split(told))), re.DOTALL).fullmatch(original)
    return list(zip(around.groups(), labels, strict=True)) if around else []


def _without(text: str, hidden: Iterable[Hidden]) -> str:
    for stretch, label in sorted(hidden, key=lambda one: -len(one[0])):
        text = text.replace(stretch, label)
    return text


def _behind(marks: re.Match[str] | None, shown: str) -> str:
    """Return what is shown of a line behind its marks, when they went with the rest of it."""
    return marks[0] + shown if marks and shown and not shown.startswith(marks[0]) else shown
