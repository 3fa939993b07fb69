"""Lines without what must be hidden, also where only the heading or the lines around give it away."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import chain

from memory.redaction import Redaction
from memory.trust import redacted


def hidden(heading: str, statement: str, rules: Redaction) -> str:
    """Return a statement without its secrets; a heading such as "password" can make a secret of all of it."""
    plain, _ = redacted(statement, rules)
    _, kinds = redacted(f"{heading}: {plain}", rules)
    return placeholder(kinds) if kinds else plain


def placeholder(kinds: Sequence[str]) -> str:
    """Return what stands in place of a whole text."""
    return f"[secret:{', '.join(kinds)}]"


def hidden_lines(lines: Sequence[str], rules: Redaction) -> list[str]:
    """Return as many lines, each judged with the heading above it, and before and after that all as one text.

    No line of a key says by itself that it is one.
    """
    return in_place(line_by_line(lines, rules), rules)


def line_by_line(lines: Sequence[str], rules: Redaction) -> list[str]:
    """Return the lines, judged as one text and then each with the heading above it."""
    shown, heading = [], ""
    for line, left in zip(lines, in_place(lines, rules), strict=True):
        is_heading = line.startswith("#")
        plain = redacted(left, rules)[0] if is_heading else hidden(heading, left, rules)
        heading = plain.strip("# ") if is_heading else heading
        shown.append(plain)
    return shown


def in_place(lines: Sequence[str], rules: Redaction) -> list[str]:
    """Return as many lines without the secrets of all of them; one of several lines leaves blank ones behind."""
    shown = redacted("\n".join(lines), rules)[0].split("\n")
    if len(shown) == len(lines):
        return shown
    changes = SequenceMatcher(None, lines, shown).get_opcodes()
    padded = [shown[start:stop] + [""] * (last - first - stop + start) for _, first, last, start, stop in changes]
    spread = list(chain.from_iterable(padded))
    # Keys that repeat the lines between them can be told apart in no certain way; then the blank lines come last.
    return spread if len(spread) == len(lines) else shown + [""] * (len(lines) - len(shown))
