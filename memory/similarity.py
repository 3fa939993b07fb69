"""Compare texts: how alike they are, whether they claim the same, which of many are one."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from math import ceil
from operator import add
from unicodedata import category, normalize

from memory.words import LANGUAGES, vocabulary

ROUNDING = 1e-9
"""Subtracted before rounding up a bound, so that 0.9 * 30 asks for 27 common tokens and not for 28."""
CACHED_CLAIMS = 4096
CACHED_WORDS = 100_000

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
_DIGIT = re.compile(r"\d")
_QUOTES = frozenset("\"`'“„‘「『《«")
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

    def has(self, word: str) -> bool:
        """Return whether the list names this word."""
        return word in self.whole or word.startswith(self.beginnings) or word.endswith(self.endings)


def tokens(text: str) -> frozenset[str]:
    """Return each CJK character, each pair of adjacent ones and every other run of letters, digits and `_`, folded."""
    folded = _WIDE_OR_NARROW.sub(lambda run: normalize("NFKC", run[0]), text).lower()
    found = set(_RUN.findall(folded))
    for run in _CJK_RUN.findall(folded):
        found.update(run)
        found.update(map(add, run, run[1:]))
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
        twin = self._first_alike(ids, sorted({other for token in rarest for other in self.holders.get(token, ())}))
        if twin is not None:
            return twin
        self.sets[index] = ids
        for token in rarest:
            self.holders[token].append(index)
        return index

    def _first_alike(self, ids: Ids, others: Iterable[int]) -> int | None:
        own, least, most = set(ids), self._least(len(ids)), len(ids) / self.threshold + ROUNDING
        for other in others:
            size = len(self.sets[other])
            if least <= size <= most:
                common = len(own.intersection(self.sets[other]))
                if common / (len(own) + size - common) >= self.threshold:
                    return other
        return None

    def _least(self, size: int) -> int:
        """Return how many tokens a set must share at least with one of this size."""
        return ceil(self.threshold * size - ROUNDING)


def _by_rarity(texts: Sequence[str]) -> list[Ids]:
    """Return the tokens of each text as numbers: those are small to hold, sets of strings are not."""
    numbers: dict[str, int] = {}
    sets = [tuple(numbers.setdefault(token, len(numbers)) for token in tokens(text)) for text in texts]
    counts = Counter(chain.from_iterable(sets))
    ranks = {number: rank for rank, number in enumerate(sorted(counts, key=counts.__getitem__))}
    return [tuple(sorted(map(ranks.__getitem__, ids))) for ids in sets]


def _plain(text: str) -> str:
    return text.strip().lower()


@lru_cache(maxsize=CACHED_CLAIMS)
def _claim(text: str) -> _Claim:
    folded = normalize("NFKC", text).lower()
    words = _WORD.findall(folded)
    return _Claim(
        numbers=tuple(sorted((*_figures(folded), *_listed("numbers", folded, words)))),
        negations=len(_listed("negation", folded, words)),
        names=_names(folded),
    )


def _figures(folded: str) -> list[str]:
    figures = _FIGURE.findall(folded) if _DIGIT.search(folded) else []
    return ["".join(figure.split()) for figure in figures] + ([] if folded.isascii() else _numerals().findall(folded))


def _listed(concern: str, folded: str, words: Iterable[str]) -> list[str]:
    """Return what of a word list a folded text contains."""
    listed = [word for word in words if _is_listed(concern, word)]
    return listed if folded.isascii() else listed + _list(concern).anywhere.findall(folded)


def _names(folded: str) -> frozenset[str]:
    if _QUOTES.isdisjoint(folded):
        return frozenset()
    return frozenset(" ".join("".join(quoted).split()) for quoted in _QUOTED.findall(folded))


@lru_cache(maxsize=CACHED_WORDS)
def _is_listed(concern: str, word: str) -> bool:
    return _list(concern).has(word)


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
