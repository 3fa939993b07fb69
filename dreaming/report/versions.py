"""How a text came about, version by version, as edits of lines: small to keep, ready to be shown as a difference."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from dreaming.report.facts import Edit

MOST_COMPARED = 1500
"""Lines that are compared one by one; a longer stretch is shown as replaced."""


def edits(before: Sequence[str], after: Sequence[str]) -> tuple[Edit, ...]:
    """Return the edits that make one text of another, from top to bottom; positions are those of the old text."""
    first = _shared(before, after)
    last = _shared(before[first:][::-1], after[first:][::-1])
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    if not old and not new:
        return ()
    if max(len(old), len(new)) > MOST_COMPARED:
        return (Edit(at=first, cut=len(old), put=tuple(new)),)
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        Edit(at=first + i1, cut=i2 - i1, put=tuple(new[j1:j2])) for tag, i1, i2, j1, j2 in codes if tag != "equal"
    )


def edited(before: Sequence[str], changes: Sequence[Edit]) -> list[str]:
    """Return the text that edits make of another."""
    lines, done = [], 0
    for one in changes:
        lines += [*before[done : one.at], *one.put]
        done = one.at + one.cut
    return [*lines, *before[done:]]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines two texts share at their beginnings."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
