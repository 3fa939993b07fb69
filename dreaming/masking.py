"""Markdown without its secrets, also those that only their heading or list gives away."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import chain

from dreaming.observe import hidden, remembered
from memory.chunking import chunks, source_lines
from memory.concepts import Lexicon
from memory.model import Chunk, Fragment, Kind
from memory.trust import redacted

Standing = Sequence[tuple[Fragment, Chunk]]


def masked(text: str, lexicon: Lexicon) -> str:
    """Return a text with `[secret:<kind>]` in place of each secret; the lines stay where they are."""
    standing = [(remembered(chunk, Kind.DIARY, lexicon), chunk) for chunk in chunks(text)]
    return "\n".join(masked_lines(source_lines(text), standing))


def masked_lines(lines: Sequence[str], standing: Standing) -> list[str]:
    """Return the lines; where a chunk holds a secret as they are remembered, elsewhere judged below their heading.

    Before and after that they are judged as one text: no line of a key says by itself that it is one.
    """
    return _in_place(_line_by_line(lines, standing))


def _in_place(lines: Sequence[str]) -> list[str]:
    """Return as many lines without the secrets of all of them; one of several lines leaves blank ones behind."""
    shown = redacted("\n".join(lines))[0].split("\n")
    if len(shown) == len(lines):
        return shown
    changes = SequenceMatcher(None, lines, shown).get_opcodes()
    padded = [shown[start:stop] + [""] * (last - first - stop + start) for _, first, last, start, stop in changes]
    spread = list(chain.from_iterable(padded))
    # Keys that repeat the lines between them can be told apart in no certain way; then the blank lines come last.
    return spread if len(spread) == len(lines) else shown + [""] * (len(lines) - len(shown))


def _line_by_line(lines: Sequence[str], standing: Standing) -> list[str]:
    remembered_as, secret = _remembered_as(standing), _secret(standing)
    shown, heading = [], ""
    for number, (line, left) in enumerate(zip(lines, _in_place(lines), strict=True), 1):
        plain = redacted(left)[0] if line.startswith("#") else hidden(heading, left)
        heading = plain.strip("# ") if line.startswith("#") else heading
        only_beside_others = number in secret and plain == line
        shown.append(" ".join(remembered_as[number]) if only_beside_others else plain)
    return shown


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
