"""What a candidate would write to `MEMORY.md`: the statements that were voted for, as one line that reads alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from memory.concepts import Lexicon, informative, words
from memory.markdown import joined
from memory.model import Candidate, Fragment, Style
from memory.sentences import ends_sentence
from memory.writable import CJK, headed, writable

CHARACTERS_PER_TOKEN = 3.2
TOKENS_PER_CJK_CHARACTER = 0.75
TOKENS_PER_THAI_CHARACTER = 0.42
"""Measured against a real vocabulary; four characters a token is 66 % off for Chinese."""
SHARED_WORDS = 2
"""A neighbouring sentence that shares this many telling words with a statement is about the same thing."""
_THAI = re.compile(r"[\u0e00-\u0e7f]")
_SENTENCE_END = re.compile(r"(?<=[。！？；!?])|(?<=[.;])(?=\s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The positions (0-based) of the statements to write, and the text without its reasons and cut."""

    positions: tuple[int, ...]
    text: str


def draft(candidate: Candidate) -> Draft:
    """Return what the votes chose of a candidate, without what was promoted, is withheld, or does not stand alone."""
    fragment = candidate.fragment
    among = [n for n in writable(fragment) if n not in candidate.withheld]
    places = voted(candidate.votes, candidate.promoted, among=among)
    first = {fragment.statements[n]: n for n in reversed(places)}
    chosen = tuple(n for n in places if first[fragment.statements[n]] == n)
    return drafted(fragment, chosen)


def drafted(fragment: Fragment, positions: Sequence[int]) -> Draft:
    """Return what statements of a fragment would be written as."""
    body = together([fragment.statements[n] for n in positions], fragment.style)
    return Draft(positions=tuple(positions), text=headed(fragment.heading, body))


def together(statements: Sequence[str], style: Style) -> str:
    """Return statements as they are written in one line: a semicolon stands only behind what ends no sentence."""
    text = statements[0]
    for following in statements[1:]:
        is_apart = style is Style.PARAGRAPH or ends_sentence(text)
        text = joined([text, following]) if is_apart else f"{text}; {following}"
    return text


def voted(votes: Sequence[int], promoted: Sequence[object | None], *, among: Sequence[int]) -> tuple[int, ...]:
    """Return the statements that gathered most of the votes, of those not promoted; all when none stands out.

    When all were promoted the same is asked of all, so that what was written can be shown again.
    """
    free = [n for n in among if promoted[n] is None] or list(among)
    best = max((votes[n] for n in free), default=0)
    return tuple(n for n in free if votes[n] * 2 > best or best == 0)


def with_reasons(body: str, before: Sequence[str], after: Sequence[str], *, lexicon: Lexicon, max_tokens: int) -> str:
    """Return the text with the neighbouring statements of its paragraph that give the reason, while they fit."""
    text = body
    for neighbour in after:
        longer = joined([text, neighbour])
        if not _explains(neighbour, body, lexicon) or tokens(longer) > max_tokens:
            break
        text = longer
    for neighbour in reversed(before):
        longer = joined([neighbour, text])
        if not _explains(neighbour, body, lexicon) or tokens(longer) > max_tokens:
            break
        text = longer
    return text


def cut(text: str, *, max_tokens: int) -> str:
    """Return the text, cut at a sentence end of any script when it is longer than the limit, marked by an ellipsis."""
    if tokens(text) <= max_tokens:
        return text
    kept = ""
    for sentence in _SENTENCE_END.split(text):
        if tokens(kept + sentence + " …") > max_tokens:
            break
        kept += sentence
    return (kept.rstrip() or _cut_hard(text, max_tokens)) + " …"


def _cut_hard(text: str, max_tokens: int) -> str:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(text[:middle] + " …") <= max_tokens else (low, middle - 1)
    space = text.rfind(" ", low // 2, low)
    return text[: space if space > 0 else low].rstrip()


def tokens(text: str) -> float:
    """Return an estimate of how many tokens a model reads in the text, in any script."""
    cjk, thai = len(CJK.findall(text)), len(_THAI.findall(text))
    other = len(text) - cjk - thai
    return cjk * TOKENS_PER_CJK_CHARACTER + thai * TOKENS_PER_THAI_CHARACTER + other / CHARACTERS_PER_TOKEN


def _explains(sentence: str, body: str, lexicon: Lexicon) -> bool:
    shared = {word for word in informative(sentence, lexicon) if len(word) > 1} & set(informative(body, lexicon))
    return bool(_word_list("reasons") & set(words(sentence))) or len(shared) >= SHARED_WORDS


@cache
def _word_list(name: str) -> frozenset[str]:
    text = (files("dreaming") / "words" / f"{name}.txt").read_text(encoding="utf-8")
    return frozenset(line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#"))
