"""Compare texts: how alike they are, whether they claim the same, which of many are one."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from math import ceil
from unicodedata import category, normalize

from memory.words import LANGUAGES, vocabulary

ROUNDING = 1e-9
"""Subtracted before rounding up a bound, so that 0.9 * 30 asks for 27 common tokens and not for 28."""
CACHED_CLAIMS = 4096

Ids = tuple[int, ...]
"""The tokens of a text as numbers, rarest first."""

_CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
)
_CJK_RUN = re.compile(f"[{_CJK}]+")
_MARKS = "".join(chr(code) for code in (*range(0x300, 0x1E00), *range(0xA800, 0xAC00)) if category(chr(code))[0] == "M")
_RUN = re.compile(rf"[^\W{_CJK}]+(?:[{_MARKS}]+[^\W{_CJK}]*)*")
_WIDE_OR_NARROW = re.compile("[\uff00-\uffef]+")

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_FIGURE = re.compile(r"(?:(?<![^\W_])[-−+])?\d+(?:[.,:/-]\d+)*(?:[a-z]+|\s?[%°€$£¥])?")
_QUOTED = re.compile(
    r"""
      "([^"]+)" | `([^`]+)` | (?<!\w)'([^']+)'(?!\w) | “([^”]+)” | „([^“”]+)[“”] | ‘([^’]+)’(?!\w)
    | 「([^」]+)」 | 『([^』]+)』 | 《([^》]+)》 | «([^»]+)»
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """What must be equal for two similar texts to say the same."""

    numbers: tuple[str, ...]
    negations: int
    names: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """A word list whose entries may be open at their ends: `n't` at the left, `kein` at the right, 不 at both."""

    whole: frozenset[str]
    beginnings: tuple[str, ...]
    endings: tuple[str, ...]
    anywhere: re.Pattern[str]

    def found(self, text: str) -> Iterator[str]:
        """Yield what of the list a folded text contains."""
        for word in _WORD.findall(text):
            if word in self.whole or word.startswith(self.beginnings) or word.endswith(self.endings):
                yield word
        yield from self.anywhere.findall(text)


def tokens(text: str) -> frozenset[str]:
    """Return each CJK character, each pair of adjacent ones and every other run of letters, digits and `_`, folded."""
    folded = _WIDE_OR_NARROW.sub(lambda run: normalize("NFKC", run[0]), text).lower()
    found = set(_RUN.findall(folded))
    for run in _CJK_RUN.findall(folded):
        found.update(run)
        found.update(first + second for first, second in pairwise(run))
    return frozenset(found)


def similarity(a: str, b: str) -> float:
    """Return how alike two texts are, in [0, 1]: the Jaccard index of their tokens; without tokens, equality."""
    in_a, in_b = tokens(a), tokens(b)
    if not in_a and not in_b:
        return float(_plain(a) == _plain(b))
    common = len(in_a & in_b)
    return common / (len(in_a) + len(in_b) - common)


def same_claim(a: str, b: str) -> bool:
    """Return whether two texts agree in numbers, negation and quoted names; when unsure, they do not."""
    return _claim(a) == _claim(b)


def near_duplicate(a: str, b: str, threshold: float) -> bool:
    """Return whether two texts may be merged: similar enough, and the same claim."""
    return similarity(a, b) >= threshold and same_claim(a, b)


def groups(texts: Sequence[str], threshold: float) -> tuple[int, ...]:
    """Return for each text the index of the first kept text it is a near-duplicate of: its own when it is kept.

    Texts are taken in order. Exact for a threshold in (0, 1], and far from comparing all pairs: only texts of one claim
    can merge, and two sets that share enough tokens share one of the few rarest of each.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"the similarity threshold must be above 0 and at most 1, not {threshold}")
    kept: defaultdict[_Claim, _Kept] = defaultdict(lambda: _Kept(threshold=threshold))
    sets = _by_rarity(texts)
    return tuple(kept[_claim(text)].place(index, text, sets[index]) for index, text in enumerate(texts))


class _Kept:
    """The kept texts of one claim, found again by their rarest tokens; filled in the order of the texts."""

    def __init__(self, *, threshold: float) -> None:
        self.threshold = threshold
        self.sets: dict[int, Ids] = {}
        self.holders: defaultdict[int, list[int]] = defaultdict(list)
        self.without_tokens: dict[str, int] = {}

    def place(self, index: int, text: str, ids: Ids) -> int:
        """Return the index of the kept text this one joins; keep it when there is none."""
        if not ids:
            return self.without_tokens.setdefault(_plain(text), index)
        rarest = ids[: len(ids) - self._least(len(ids)) + 1]
        for other in sorted({other for token in rarest for other in self.holders.get(token, ())}):
            if self._alike(ids, self.sets[other]):
                return other
        self.sets[index] = ids
        for token in rarest:
            self.holders[token].append(index)
        return index

    def _alike(self, ids: Ids, others: Ids) -> bool:
        smaller, larger = sorted((len(ids), len(others)))
        if smaller < self._least(larger):
            return False
        common = len(set(ids).intersection(others))
        return common / (smaller + larger - common) >= self.threshold

    def _least(self, size: int) -> int:
        """Return how many tokens a set must share at least with one of this size."""
        return ceil(self.threshold * size - ROUNDING)


def _by_rarity(texts: Sequence[str]) -> list[Ids]:
    """Return the tokens of each text as numbers: those are small to hold, sets of strings are not."""
    numbers: dict[str, int] = {}
    sets = [tuple(numbers.setdefault(token, len(numbers)) for token in sorted(tokens(text))) for text in texts]
    counts = Counter(number for ids in sets for number in ids)
    return [tuple(sorted(ids, key=lambda number: (counts[number], number))) for ids in sets]


def _plain(text: str) -> str:
    return text.strip().lower()


@lru_cache(maxsize=CACHED_CLAIMS)
def _claim(text: str) -> _Claim:
    folded = normalize("NFKC", text).lower()
    return _Claim(
        numbers=tuple(sorted(_numbers(folded))),
        negations=sum(1 for _ in _list("negation").found(folded)),
        names=frozenset(" ".join("".join(quoted).split()) for quoted in _QUOTED.findall(folded)),
    )


def _numbers(folded: str) -> Iterator[str]:
    yield from ("".join(figure.split()) for figure in _FIGURE.findall(folded))
    yield from _numerals().findall(folded)
    yield from _list("numbers").found(folded)


@cache
def _numerals() -> re.Pattern[str]:
    """Han numerals count wherever they stand; Korean ones are syllables of other words too, so they stand alone."""
    han, korean = ("".join(vocabulary("digits", code)) for code in ("zh", "ko"))
    return re.compile(rf"[{han}]+|(?<!\w)[{korean}]+(?!\w)")


@cache
def _list(concern: str) -> _Words:
    listed = [word for code in LANGUAGES for word in vocabulary(concern, code)]
    anywhere = sorted(_open(listed, left=True, right=True), key=lambda word: (-len(word), word))
    return _Words(
        whole=frozenset(_open(listed, left=False, right=False)),
        beginnings=tuple(_open(listed, left=False, right=True)),
        endings=tuple(_open(listed, left=True, right=False)),
        anywhere=re.compile("|".join(map(re.escape, anywhere))),
    )


def _open(listed: Iterable[str], *, left: bool, right: bool) -> list[str]:
    return [word.strip("-") for word in listed if (word.startswith("-"), word.endswith("-")) == (left, right)]
