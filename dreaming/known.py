"""What `MEMORY.md` says already: its lines and their sentences, which a new line must not repeat."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from memory.corrections import Claim
from memory.sentences import sentence_ends
from memory.similarity import same_claim, tokens

NEAR_IDENTICAL = 0.9
"""Two lines this similar say the same; the bound at which light merges."""
_JOINER = "; "
"""Between the statements of one promoted line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Texts by the size of their token sets: two texts can only be near-identical when their sizes are."""

    by_size: Mapping[int, tuple[tuple[frozenset[str], str], ...]]

    def repeated(self, text: str) -> str | None:
        """Return the known line or sentence that says the same as a text, numbers and negation included, or None."""
        own = tokens(text)
        for size in range(ceil(len(own) * NEAR_IDENTICAL), int(len(own) / NEAR_IDENTICAL) + 1):
            for theirs, line in self.by_size.get(size, ()):
                if _near(own, theirs, text, line) and same_claim(text, line):
                    return line
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A promotion that stands in `MEMORY.md`, by its id, and what it claims since the newest day that says so."""

    promotion: int
    text: str
    claim: Claim


def known(lines: Iterable[str]) -> Known:
    """Return what lines of text say."""
    by_size: dict[int, list[tuple[frozenset[str], str]]] = {}
    for piece in dict.fromkeys(piece for line in lines for piece in _pieces(line)):
        held = tokens(piece)
        by_size.setdefault(len(held), []).append((held, piece))
    return Known(by_size={size: tuple(held) for size, held in by_size.items()})


def _pieces(line: str) -> Iterator[str]:
    yield line
    ends = [0, *sentence_ends(line), len(line)]
    sentences = [line[start:end].strip() for start, end in pairwise(ends)]
    yield from (part for sentence in sentences for part in (sentence, *sentence.split(_JOINER)) if part)


def _near(own: frozenset[str], theirs: frozenset[str], text: str, line: str) -> bool:
    if not own:
        return text == line
    return len(own & theirs) >= NEAR_IDENTICAL * len(own | theirs)
