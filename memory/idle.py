"""How much the words of a short text say, by the shipped lists of words that say nothing."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from unicodedata import category

from memory.language import HAN, HANGUL, KANA
from memory.words import LANGUAGES, entries

MUCH = 2
"""So many words that say something are enough; more are not counted."""
UNSPACED_LANGUAGES = ("zh", "ja")
ENGLISH_TOO = frozenset({"zh", "ja", "ko", "ru"})
"""Languages in whose texts English words stand out by their script, and are as common there."""

ANYWHERE = frozenset({"lasting", "topic", "moment", "task"})
"""Kinds whose words are signs wherever they stand; they may say something all the same."""

_UNSPACED = re.compile(f"[{HAN}{KANA}]+")
_SPACED = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_JOINED = re.compile(f"[{HAN}{KANA}{HANGUL}]")
"""Scripts whose words take endings or stand without spaces."""
_STOPS = ".!?。！？…~～,，、;； "
_FACT = re.compile(r"\d|[`\"“„«「『=]")
_SYMBOLS = frozenset({"So", "Sk", "Cf", "Mn"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A text and its words; those of scripts without spaces stand in runs.

    `shown` has no symbols around it; `folded` no stops at its end either, in lower case with single spaces. `news`
    counts the words that say something, up to `MUCH`; `kinds` are those of most of the words when none does.
    """

    text: str
    shown: str
    folded: str
    spaced: tuple[str, ...]
    unspaced: tuple[str, ...]
    news: int
    kinds: frozenset[str]

    @property
    def unspaced_characters(self) -> int:
        """Characters of scripts without spaces."""
        return sum(map(len, self.unspaced))

    @property
    def has_facts(self) -> bool:
        """Whether it carries a number, a quotation, code, or a word of things that last."""
        return self.has_marks or self.lasts

    @property
    def has_marks(self) -> bool:
        """Whether it carries a number, a quotation or code."""
        return bool(_FACT.search(self.text))

    @property
    def lasts(self) -> bool:
        """Whether it carries a word of things that last."""
        return _lasting().search(self.folded) is not None

    def has(self, kind: str) -> bool:
        """Whether a sign of the kind stands anywhere in it."""
        words, spaced, unspaced = _signs(kind)
        if not words.isdisjoint(self.spaced) or any(sign in self.folded for sign in spaced):
            return True
        return any(sign in self.folded for sign in unspaced)

    def is_one(self, kind: str) -> bool:
        """Whether all of it is one word or phrase of the kind, in any language."""
        return self.folded in _all(kind)

    def only(self, kind: str) -> bool:
        """Whether no word says anything, and of no kind are more."""
        return self.news == 0 and kind in self.kinds

    def begins(self, kind: str) -> bool:
        """Whether it begins with words that the lists name as a beginning of the kind."""
        return self._beginning(kind) > 0

    def after(self, kind: str) -> str:
        """Return what follows the longest beginning of the kind, in lower case; all of it without one."""
        return self.folded[self._beginning(kind) :].lstrip(_STOPS)

    def _beginning(self, kind: str) -> int:
        edges = _edges().get(("^", kind, self.folded[:1]), ())
        if not self.folded.startswith(edges):
            return 0
        whole = (edge for edge in edges if self.folded.startswith(edge))
        return max(
            (len(edge) for edge in whole if _parts(edge[-1], self.folded[len(edge) : len(edge) + 1])),
            default=0,
        )

    def ends(self, kind: str) -> bool:
        """Whether it ends with words that the lists name as an end of the kind."""
        edges = _edges().get(("$", kind, self.folded[-1:]), ())
        return self.folded.endswith(edges) and any(
            self.folded.endswith(edge) and _parts(edge[0], self.folded[: -len(edge)][-1:]) for edge in edges
        )

    def made_of(self, kind: str) -> bool:
        """Whether each word, or all characters together, are named as one of the kind, in any language."""
        words = (*self.spaced, "".join(self.unspaced)) if self.unspaced else self.spaced
        return bool(words) and all(kind in _kinds_of().get(word, ()) for word in words)


def line(text: str) -> Line:
    """Return a text with what its words amount to."""
    shown = _trimmed(text)
    folded = " ".join(shown.split()).rstrip(_STOPS).lstrip("¿¡").casefold().replace("’", "'")
    unspaced = () if folded.isascii() else tuple(_UNSPACED.findall(folded))
    spaced = tuple(_SPACED.findall(_UNSPACED.sub(" ", folded) if unspaced else folded))
    news, kinds = _amount(spaced, unspaced)
    return Line(text=text, shown=shown, folded=folded, spaced=spaced, unspaced=unspaced, news=news, kinds=kinds)


def _amount(spaced: Sequence[str], unspaced: Sequence[str]) -> tuple[int, frozenset[str]]:
    """Return how many words say something in the language in which the fewest do, and the kinds when none does."""
    if len(_unknown(spaced, _kinds_of())) >= MUCH:
        return MUCH, frozenset()
    tongues = [_idle(code) for code in (UNSPACED_LANGUAGES if unspaced else LANGUAGES)]
    counts = [tongue.news(spaced, unspaced) for tongue in tongues]
    silent = [tongue for tongue, count in zip(tongues, counts, strict=True) if not count]
    return min(counts), frozenset[str]().union(*(tongue.kinds(spaced, unspaced) for tongue in silent))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Idle:
    """The words of one language that say nothing, with their kinds; those without spaces also by their first letter."""

    words: Mapping[str, frozenset[str]]
    unspaced: Mapping[str, Sequence[str]]
    letters: re.Pattern[str]

    def news(self, spaced: Sequence[str], unspaced: Sequence[str]) -> int:
        """Count the words that say something, up to `MUCH`; two characters of a script without spaces are one."""
        unknown = len(_unknown(spaced, self.words))
        if unknown >= MUCH or not unspaced:
            return min(MUCH, unknown)
        # Characters that are in no word are quickly counted, and mostly enough.
        rest = len(self.letters.sub("", "".join(unspaced)))
        if rest < 2 * MUCH:
            rest = sum(not word for run in unspaced for word in self._parts(run))
        return min(MUCH, unknown + (rest + 1) // 2)

    def kinds(self, spaced: Sequence[str], unspaced: Sequence[str]) -> frozenset[str]:
        """Return the kinds that most of the words are of."""
        found = (*spaced, *(word for run in unspaced for word in self._parts(run)))
        counts = Counter(kind for word in found for kind in self.words.get(word, ()) if kind != "empty")
        return frozenset(kind for kind, count in counts.items() if count == max(counts.values()))

    def _parts(self, run: str) -> Iterator[str]:
        """Yield the words of a run, '' for each character that is in none; stop when they are many."""
        at = rest = 0
        while at < len(run) and rest < 2 * MUCH:
            word = next((word for word in self.unspaced.get(run[at], ()) if run.startswith(word, at)), "")
            yield word
            rest += not word
            at += len(word) or 1


def _unknown(spaced: Sequence[str], words: Container[str]) -> list[str]:
    return [word for word in spaced if word not in words and not word.isdecimal()]


def _trimmed(text: str) -> str:
    """Return the text without emoji and other symbols around it."""
    start, end = 0, len(text)
    while start < end and _is_symbol(text[start]):
        start += 1
    while end > start and _is_symbol(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_symbol(character: str) -> bool:
    return character.isspace() or (character > "\x7f" and category(character) in _SYMBOLS)


def _parts(inner: str, outer: str) -> bool:
    """Whether a word may end between a letter of it and what stands outside."""
    return not outer.isalnum() or _JOINED.match(inner) is not None


def _listed(code: str) -> Iterator[tuple[str, str]]:
    for entry in entries("idle", code):
        kind, _, words = entry.partition("\t")
        for word in words.split():
            yield kind, word.replace("_", " ")


@cache
def _idle(code: str) -> _Idle:
    found: dict[str, set[str]] = {}
    for kind, word in (*_listed(code), *(_listed("en") if code in ENGLISH_TOO else ())):
        if kind not in ANYWHERE and not _edge(word):
            found.setdefault(word, set()).add(kind)
    words = {word: frozenset(kinds) for word, kinds in found.items()}
    unspaced: dict[str, list[str]] = {}
    for word in sorted(filter(_UNSPACED.fullmatch, words), key=len, reverse=True):
        unspaced.setdefault(word[0], []).append(word)
    letters = "".join(sorted({letter for alike in unspaced.values() for word in alike for letter in word}))
    return _Idle(words=words, unspaced=unspaced, letters=re.compile(f"[{letters}]" if letters else "(?!)"))


@cache
def _kinds_of() -> dict[str, frozenset[str]]:
    known: dict[str, frozenset[str]] = {}
    for code in LANGUAGES:
        for word, kinds in _idle(code).words.items():
            known[word] = known.get(word, frozenset()) | kinds
    return known


@cache
def _edges() -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Return beginnings and ends by side, kind and outermost letter, of all languages: a line's own is hard to tell."""
    found: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for kind, word in (pair for code in LANGUAGES for pair in _listed(code)):
        if _edge(word):
            words = word.strip("^$")
            key = (_edge(word), kind, words[0] if word[0] == "^" else words[-1])
            found[key] = (*found.get(key, ()), words)
    return found


def _edge(word: str) -> str:
    return "^" if word.startswith("^") else "$" if word.endswith("$") else ""


@cache
def _lasting() -> re.Pattern[str]:
    words = {word for code in LANGUAGES for kind, word in _listed(code) if kind == "lasting"}
    return re.compile("|".join(map(_whole, sorted(words))))


@cache
def _all(kind: str) -> frozenset[str]:
    return frozenset(word for code in LANGUAGES for name, word in _listed(code) if name == kind)


@cache
def _signs(kind: str) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    """Return the signs of a kind in all languages: words, phrases of several, and those of scripts without spaces."""
    signs = {word for code in LANGUAGES for name, word in _listed(code) if name == kind and not _edge(word)}
    unspaced = {sign for sign in signs if _JOINED.match(sign)}
    phrases = {sign for sign in signs - unspaced if " " in sign}
    return frozenset(signs - unspaced - phrases), tuple(sorted(phrases)), tuple(sorted(unspaced))


def _whole(word: str) -> str:
    return re.escape(word) if _JOINED.match(word) else rf"\b{re.escape(word)}\b"
