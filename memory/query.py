"""What a query asks for: its informative words, and how each is recognised in a text."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import log2

from memory.concepts import Lexicon, informative, words
from memory.rows import is_cjk, spaced

_ACCENTED = re.compile("[\u00e0-\u024f\u1e00-\u1eff]")
STEEPNESS = 3.0
HALFWAY = 0.25
"""The curve of relevance over the covered share c of a query, 1 / (1 + 0.25 ((1 - c) / c) ** 3).

All of it is 1, two thirds 0.97, half 0.80, a third 0.33, a quarter 0.13: a question carries words of its own ("coin" of
"coin cell"), so a gap costs little, but a fragment that shares one word in four is no answer and gets no vote."""
HALFWAY_BY_A_NAME = 0.9
"""The same where one word of several stands there, and in other fragments too: half 0.53, a third 0.12.

"Jonas" alone does not say which line about Jonas answers "Jonas allergy": that is a vote which carries no promotion,
and none when more of the question is open. "boiler" of "boiler pressure" points at the one line about the boiler.
Over 760 questions of dialogue that takes 2 in 100 of the wrong votes, and 1 in 200 of the right ones.
"""
UNTELLING = 0.2
"""The most that a query without one informative word ("the") can give: what it finds is shown, and is no vote."""
COMMON_FROM = 0.05
"""A word in at most one fragment of twenty counts fully; beyond, its weight falls with the logarithm of its share.

A share, not a number: the same question about the same line has the same relevance in a small store and in a large one.
Only what stands nearly everywhere ("Caroline" in a diary about Caroline) says little."""
ENDINGS = "(?:s|es|e|ed|er|ers|d|ing|ings|ly|y|ies|ied|ion|ions|ment|ments|al|able|n|en)?"
"""What may follow the stem of an English word (and, by luck, of some German ones)."""
LONGEST_WORD = 3
"""Characters ICU took apart are one word up to this length (`路|由|器`); a longer run holds several."""
PLACEHOLDER = re.compile(r"\[(?:secret:[\w, -]+|email|phone|ip|unscanned)\]")
"""What stands in place of something hidden: words of this program, not of the text."""
MAX_TERMS = 24
"""Words of a query that are looked for; a page pasted as a query does not become a page of SQL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word of a query: how FTS5 finds it, how it is recognised in folded text, and how telling it is.

    `count` is the number of fragments that hold it, `shared` whether several of them stand somewhere; `weight` is what
    it counts, in (0, 1].
    """

    match: str
    pattern: re.Pattern[str]
    count: int
    weight: float
    shared: bool = False

    def stands_in(self, folded_text: str) -> bool:
        """Tell whether the word, or a form of it, stands in a text folded by `said`."""
        return self.pattern.search(folded_text) is not None


def asked(query: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the words to look for; characters that ICU took apart (`路|由|器`) are put together again."""
    telling = informative(query, lexicon)
    singles = frozenset(word for word in telling if len(word) == 1 and is_cjk(word))
    runs = _runs(words(query), folded(query))
    found = [word for word in telling if word not in singles]
    found += [piece for run in runs for piece in _pieces(run, singles)]
    whole = [run for run in runs if len(run) > 1]
    return tuple(dict.fromkeys(found or whole or telling))[:MAX_TERMS]


def _runs(segments: Sequence[str], text: str) -> list[str]:
    """Return the runs of single CJK characters that stand side by side in the query."""
    runs = [""]
    for segment in segments:
        single = len(segment) == 1 and is_cjk(segment)
        if single and runs[-1] + segment in text:
            runs[-1] += segment
        else:
            runs.append(segment if single else "")
    return runs


def _pieces(run: str, telling: frozenset[str]) -> list[str]:
    """Return what to look for of a run: all of a short one, each pair of a long one; not what only joins words."""
    places = [place for place, character in enumerate(run) if character in telling]
    kept = run[places[0] : places[-1] + 1] if places else ""
    if len(kept) <= LONGEST_WORD:
        return [kept] if len(kept) > 1 else []
    return [kept[place : place + 2] for place in range(len(kept) - 1)]


def relevance(text: str, terms: Sequence[Term]) -> float:
    """Return how much of the query a text answers, in [0, 1]: 1 when it holds every informative word."""
    there = _standing(said(text), terms)
    if not there:
        return 0.0
    share = _weight(there) / _weight(terms)
    halfway = HALFWAY_BY_A_NAME if len(there) == 1 and there[0].shared else HALFWAY
    answers: float = 1 / (1 + halfway * ((1 - share) / share) ** STEEPNESS)
    return round(answers, 4)


def folded(text: str) -> str:
    """Return the text as FTS5 compares it: NFKC, lower case, no diacritics on Latin letters."""
    if text.isascii():
        return text.lower()
    lower = unicodedata.normalize("NFKC", text).casefold()
    return _ACCENTED.sub(lambda letter: unicodedata.normalize("NFD", letter[0])[0], lower)


def said(text: str) -> str:
    """Return the folded text in which a query's words are looked for: blanks in place of what is hidden."""
    return PLACEHOLDER.sub(lambda hidden: " " * len(hidden[0]), folded(text))


def matched(word: str) -> str:
    """Return the FTS5 phrase that finds a word; quoted, so nothing in it is an operator."""
    return '"' + spaced(word).replace('"', " ").strip() + '"'


def term(word: str, *, count: int = 0, share: float = 0.0, shared: bool = False) -> Term:
    """Return how a word of a query is found, and what it counts when that share of the fragments holds it."""
    return Term(
        match=matched(word),
        pattern=_pattern(word),
        count=count,
        weight=1 / (1 + log2(max(1.0, share / COMMON_FROM))),
        shared=shared,
    )


@cache
def _pattern(word: str) -> re.Pattern[str]:
    plain = folded(word)
    if not re.search(r"[a-z0-9]", plain):
        return re.compile(re.escape(plain))
    if not (plain.isascii() and plain.isalpha()):
        return re.compile(rf"(?<![a-z0-9]){re.escape(plain)}(?![a-z0-9])")
    stem = re.sub("i$", "[iy]", re.escape(_stem(plain)))
    return re.compile(rf"(?<![a-z0-9]){stem}{ENDINGS}(?![a-z0-9])")


def _stem(word: str) -> str:
    from snowballstemmer import stemmer  # here, so that only a search pays for it

    return str(stemmer("porter").stemWord(word))


def covered(folded_text: str, terms: Sequence[Term]) -> float:
    """Return the share of the query, by weight, that stands in a text folded by `said`."""
    return _weight(_standing(folded_text, terms)) / _weight(terms)


def _standing(folded_text: str, terms: Sequence[Term]) -> list[Term]:
    return [one for one in terms if one.stands_in(folded_text)]


def _weight(terms: Sequence[Term]) -> float:
    return sum(one.weight for one in terms)


def marked(text: str, terms: Sequence[Term]) -> str:
    """Return a text with the words of a query between `**`; as it is where folding moves its characters."""
    plain = said(text)
    if len(plain) != len(text):
        return text
    pieces, done = [], 0
    for start, end in _touching(match.span() for one in terms for match in one.pattern.finditer(plain)):
        pieces += [text[done:start], f"**{text[start:end]}**"]
        done = end
    return "".join((*pieces, text[done:]))


def _touching(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that overlap or touch as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif end > start:
            found.append((start, end))
    return found
