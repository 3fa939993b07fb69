"""Markdown without its secrets, also those that only their heading or list gives away."""

from collections.abc import Sequence

from dreaming.observe import remembered
from memory.chunking import chunks, source_lines
from memory.concepts import Lexicon
from memory.hiding import in_place, legible, line_by_line
from memory.model import Chunk, Fragment, Kind
from memory.redaction import Redaction

Standing = Sequence[tuple[Fragment, Chunk]]


def masked(text: str, lexicon: Lexicon, rules: Redaction) -> str:
    """Return a text with `[secret:<kind>]` in place of each secret; the lines stay where they are."""
    standing = [(remembered(chunk, Kind.DIARY, lexicon, rules), chunk) for chunk in chunks(legible(text, rules))]
    return "\n".join(masked_lines(source_lines(text), standing, rules))


def masked_lines(lines: Sequence[str], standing: Standing, rules: Redaction) -> list[str]:
    """Return the lines; where a chunk holds a secret as they are remembered, elsewhere judged below their heading.

    Before and after that they are judged as one text: no line of a key says by itself that it is one.
    """
    remembered_as, secret = _remembered_as(standing), _secret(standing)
    shown = [
        " ".join(remembered_as[number]) if number in secret and plain == line else plain
        for number, (line, plain) in enumerate(zip(lines, line_by_line(lines, rules), strict=True), 1)
    ]
    return in_place(shown, rules)


def _remembered_as(standing: Standing) -> dict[int, list[str]]:
    """Return for each line that says something the statements that begin on it."""
    found: dict[int, list[str]] = {}
    for one, chunk in standing:
        for text, statement in zip(one.statements, chunk.statements, strict=True):
            for number in range(statement.start_line, statement.end_line + 1):
                found.setdefault(number, [])
            found[statement.start_line].append(text)
    return found


def _secret(standing: Standing) -> frozenset[int]:
    """Return the lines of the chunks that hold a secret."""
    return frozenset(
        number
        for one, chunk in standing
        if any(flaw.startswith("secret:") for flaw in one.flaws)
        for number in range(chunk.start_line, chunk.end_line + 1)
    )
