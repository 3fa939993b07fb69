"""What is said already: lines of `MEMORY.md` that a new one must not repeat, and claims that it must not contradict."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from math import ceil

from memory.chunking import composed
from memory.concepts import Lexicon
from memory.corrections import Claim
from memory.model import Candidate, FragmentId
from memory.sentences import sentence_ends
from memory.similarity import same_claim, tokens

NEAR_IDENTICAL = 0.9
"""Two lines this similar say the same; the bound at which light merges."""
BEGINNING = 4
SHORT = 3
"""So few telling words may have but one in common with what they correct."""
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
    """A promotion that stands in `MEMORY.md`, by its id, or a statement of a note, by 0; and what it claims since when.

    `place` is the path and line of that day: of two statements of one day the later one is newer. `statements` are
    those of a line that has several, `is_part` tells one of them. `is_short` tells that it has few telling words.
    """

    promotion: int
    text: str
    claim: Claim
    place: tuple[str, int]
    statements: tuple[str, ...] = ()
    is_part: bool = False
    is_short: bool = False

    @property
    def parts(self) -> tuple["Kept", ...]:
        """The line, and each of its statements when it has several: only one of them may be corrected."""
        own = (
            replace(self, text=text, claim=replace(self.claim, text=text), statements=(), is_part=True)
            for text in self.statements
        )
        return self, *own


def claimed(candidate: Candidate, positions: Sequence[int], *, day: date, place: tuple[str, int]) -> Kept:
    """Return what statements of a candidate claim, where they stand newest; `day` and `place` when nowhere any more."""
    fragment, newest = candidate.fragment, candidate.place
    said = tuple(fragment.statements[n] for n in positions)
    text = composed(said, fragment.style)
    return Kept(
        promotion=0,
        text=text,
        claim=Claim(heading=fragment.heading, text=text, day=newest.day if newest else day),
        place=(newest.path, newest.start_line) if newest else place,
        statements=said if len(said) > 1 else (),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The lines that stand in `MEMORY.md` by how their words begin: two that share none speak of different things."""

    by_word: Mapping[str, tuple[Kept, ...]]
    lexicon: Lexicon

    def near(self, claim: Claim) -> tuple[Kept, ...]:
        """Return the lines that may speak of the same, oldest first: short ones share one word with it, others two."""
        own = _beginnings(claim, self.lexicon)
        shared = Counter(id(one) for word in own for one in self.by_word.get(word, ()))
        lines = {id(one): one for word in own for one in self.by_word.get(word, ())}
        short = len(own) <= SHORT
        found = [one for key, one in lines.items() if shared[key] > 1 or short or one.is_short]
        return tuple(sorted(found, key=lambda one: (one.promotion, one.place, one.text)))


def claims(kept: Iterable[Kept], lexicon: Lexicon) -> Claims:
    """Return lines so that those about one thing are found at once."""
    by_word: dict[str, list[Kept]] = {}
    for one in kept:
        words = _beginnings(one.claim, lexicon)
        line = replace(one, is_short=len(words) <= SHORT)
        for word in words:
            by_word.setdefault(word, []).append(line)
    return Claims(by_word={word: tuple(found) for word, found in by_word.items()}, lexicon=lexicon)


def _beginnings(claim: Claim, lexicon: Lexicon) -> frozenset[str]:
    """Return the first letters of the telling words, which all their forms share; of Han and kana the pairs."""
    words = (word for word in tokens(f"{claim.heading} {claim.text}") if len(word) > 1)
    return frozenset(word[:BEGINNING] for word in words if word not in lexicon.stop_words)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """What the user took back or rejected, and the fragments it was made of."""

    known: Known
    owners: Mapping[str, frozenset[FragmentId]]


def known_as_taken_back(texts: Iterable[tuple[FragmentId, str]]) -> TakenBack:
    """Return what was taken back, each line and sentence with its fragments."""
    pairs = tuple(texts)
    owners: dict[str, set[FragmentId]] = {}
    for fragment, text in pairs:
        for piece in _pieces(text):
            owners.setdefault(piece, set()).add(fragment)
    held = {piece: frozenset(fragments) for piece, fragments in owners.items()}
    return TakenBack(known=known(text for _, text in pairs), owners=held)


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
