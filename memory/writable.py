"""Which statements of a fragment may be written to `MEMORY.md`, and whether they need their heading to read alone."""

import re
from functools import lru_cache

from memory.claims import generic_headings
from memory.concepts import words
from memory.model import Fragment, Style
from memory.quality import unfit
from memory.words import SHARED, vocabulary

CACHED_FRAGMENTS = 4096
"""The evidence of a night and each of its exams ask the same of what was recalled."""
ALONE_CHARACTERS_CJK = 6
ALONE_WORDS = 4
"""A shorter line needs its heading to mean something."""
LEANING = frozenset({"anaphor", "empty", "fragment", "lead-in", "word"})
"""Rules of the quality gate that a sentence of a paragraph may break: what it lacks stands beside it."""
_QUANTITY = re.compile(
    r"(?:\d{1,4}(?:[.,]\d+)?|\d+/\d+|(?:\d+\s?)?[½⅓⅔¼¾])(?:\s?[-–]\s?\d+)?"
    r"(?:\s?%|(?:\s|(?![A-Z]))(?![年月日号號时時点點년월일시])[^\W\d_])"
)
"""What a line may begin with that says how much, but not of what for: no date, time, version or name such as "3D"."""
CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]")


@lru_cache(maxsize=CACHED_FRAGMENTS)
def writable(fragment: Fragment) -> tuple[int, ...]:
    """Return the statements that may be written; all when none may, so that the gate says why.

    A list or a table is only a neighbourhood: each of its lines must stand alone. Sentences of a paragraph may lean.
    """
    every = tuple(range(len(fragment.statements)))
    if fragment.style is Style.PARAGRAPH:
        return tuple(n for n in every if stands_beside(fragment.statements[n])) or every
    return tuple(n for n in every if not unfit(headed(fragment.heading, fragment.statements[n]))) or every


def stands_beside(sentence: str) -> bool:
    """Tell whether a sentence may be written beside others: it stands alone, or speaks of what they say."""
    return unfit(sentence) in {"", *LEANING}


def headed(heading: str, body: str) -> str:
    """Return the body, with its heading in front when it does not read alone."""
    alone = not heading or (reads_alone(body) and not _counts_for(heading, body))
    return body if alone else f"{heading}: {body}"


def _counts_for(heading: str, body: str) -> bool:
    """Tell an amount ("200 g flour and two eggs") whose heading ("Pancakes") alone says what it is for."""
    if not _QUANTITY.match(body) or heading.casefold() in generic_headings():
        return False
    return not {*words(heading)} & {*words(body)}


def reads_alone(text: str) -> bool:
    """Tell whether a line means something without its heading: long enough, and not beginning with "it" or "this"."""
    cjk, latin = len(CJK.findall(text)), len(re.findall(r"[^\W\d_]{2,}", CJK.sub(" ", text)))
    long_enough = cjk + 2 * latin >= ALONE_CHARACTERS_CJK if cjk else latin >= ALONE_WORDS
    first = next(iter(words(text)), "")
    return long_enough and first not in vocabulary("dangling", SHARED) and not text.rstrip().endswith((":", "："))
