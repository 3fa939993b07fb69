"""Turn text into concept tags: the few words that say what it is about."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from itertools import chain
from unicodedata import normalize

import icu4py
from icu4py.breakers import WordBreaker

from memory.language import HAN, HANGUL, KANA, language
from memory.words import LANGUAGES, SHARED, vocabulary

MAX_TAGS = 8
MAX_TAG_CHARACTERS = 32
MIN_TAG_CHARACTERS = 3
MIN_CJK_TAG_CHARACTERS = 2
WHOLE_WORD_CHARACTERS = 3
"""Glossary terms in ASCII up to this length must stand as a word: `ci` is not in `city`, `gpt` not in `aggpted`."""
RULES = "1"
"""Version of the rules below; raise it when they change, so that stored tags are made anew."""
CACHED_WORDS = 100_000

_CJK = re.compile(f"[{HAN}{KANA}{HANGUL}]")
_KANA_ONLY = re.compile(f"[{KANA}]+")
_ONE_HAN = re.compile(f"[{HAN}]")
_LATIN = re.compile("[a-z\u00c0-\u024f]")
_HAN_NUMBER = re.compile(f"[{''.join(vocabulary('digits', 'zh'))}]+")
_JOINED = re.compile(r"[\w./-]+")
_OUTER = re.compile(r"^[\W_]+|[\W_]+$")
_JOINTS = re.compile(r"[._:/-]+")
_NUMBER = re.compile(r"[\d\W_]+")
_NOISE = re.compile(
    r"""
      .*\d{4}-\d{2}-\d{2}.*                                          # a date, or the name of a dated file
    | (?:\d{4}-?)?w\d{1,2} | \d{4}-q[1-4] | q[1-4]-\d{4}                  # a week, a quarter
    | \d{1,2}(?:[.h]\d{2})?(?:am|pm|h|uhr) | \d{1,2}h\d{2} | \d{2}t\d{2} | \d{2}z   # a time
    | v\d+ | v?\d+(?:\.(?:\d+|x))+(?:[.-]?(?:a|b|rc|alpha|beta|dev|pre|post)(?:[.-]?\d+)*)?   # a version
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Which words are tags whenever they occur, which never are, which only ask; all normalised.

    `local_stop_words` are (language, word) pairs of words that say nothing in one language and something in another.
    """

    glossary: tuple[str, ...]
    stop_words: frozenset[str]
    local_stop_words: frozenset[tuple[str, str]] = frozenset()
    fillers: frozenset[str] = frozenset()


def lexicon(*, glossary: Iterable[str] = (), stop_words: Iterable[str] = ()) -> Lexicon:
    """Return the shipped lists with the user's own on top: the user's stop words win, then the user's glossary."""
    return _lexicon(tuple(glossary), tuple(stop_words))


@cache
def _lexicon(own_glossary: tuple[str, ...], own_stop_words: tuple[str, ...]) -> Lexicon:
    unwanted = frozenset(map(_bare, own_stop_words))
    wanted = [term for term in map(_bare, own_glossary) if 0 < len(term) <= MAX_TAG_CHARACTERS]
    kept = frozenset(wanted) - unwanted
    terms = dict.fromkeys((*wanted, *map(_bare, vocabulary("glossary", SHARED))))
    shared, local = _shipped_stop_words()
    return Lexicon(
        glossary=tuple(term for term in terms if term not in unwanted),
        stop_words=(shared | unwanted | frozenset(vocabulary("stop", SHARED))) - kept,
        local_stop_words=frozenset((code, word) for code, word in local if word not in kept),
        fillers=(shared | _fillers()) - kept,
    )


@cache
def _shipped_stop_words() -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    listed = [(code, word) for code in LANGUAGES for word in vocabulary("stop", code)]
    everywhere = frozenset(_bare(word) for _, word in listed if not word.startswith("?"))
    return everywhere, frozenset((code, _bare(word)) for code, word in listed if word.startswith("?"))


@cache
def _fillers() -> frozenset[str]:
    return frozenset(_bare(word) for code in LANGUAGES for word in vocabulary("filler", code))


def fingerprint(lexicon: Lexicon) -> str:
    """Return a short hash over everything tags depend on besides the text; stored tags of another hash are stale."""
    parts = (
        RULES,
        icu4py.icu_version,
        "\n".join(lexicon.glossary),
        "\n".join(sorted(lexicon.stop_words)),
        "\n".join(sorted(f"{code} {word}" for code, word in lexicon.local_stop_words)),
    )
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, folded (NFKC, lower case), by ICU's dictionaries; nothing is left out."""
    return tuple(_folded(segment) for segment in _segments(_encodable(text)))


def tags(text: str, lexicon: Lexicon, *, limit: int = MAX_TAGS) -> tuple[str, ...]:
    """Return up to `limit` distinct tags: glossary terms in the text first, then compounds, then words in order."""
    clean = _encodable(text)
    found = dict.fromkeys(_terms(_folded(clean), lexicon.glossary))
    for raw in chain(_compounds(clean), WordBreaker(clean, "und")):
        if len(found) >= limit:
            break
        tag = _tag(raw)
        if tag and tag not in lexicon.stop_words and not _is_local_stop_word(tag, clean, lexicon):
            found[tag] = None
    return tuple(found)[: max(0, limit)]


def informative(query: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the distinct words of a query that carry meaning, compounds as their parts; all words when none does."""
    parts = tuple(dict.fromkeys(part for word in words(query) for part in _parts(word)))
    telling = tuple(part for part in parts if _tells(part, lexicon))
    spoken = language(query)
    return tuple(part for part in telling if (spoken, part) not in lexicon.local_stop_words) or telling or parts


def is_telling(query: str, lexicon: Lexicon) -> bool:
    """Tell whether a query holds a word that carries meaning: `the` and `what is it` hold none."""
    return any(_tells(part, lexicon) for word in words(query) for part in _parts(word))


def _encodable(text: str) -> str:
    """Replace lone surrogates, which ICU refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _segments(text: str) -> Iterator[str]:
    for segment in WordBreaker(text, "und"):
        if segment.isalnum() or any(map(str.isalnum, segment)):
            yield segment


def _compounds(text: str) -> Iterator[str]:
    """Yield runs of letters and digits joined by `. _ / -`, such as `infra/net.yaml`."""
    for run in _JOINED.findall(text):
        compound = run.strip("._/-")
        if not compound.isalnum():
            yield compound


def _terms(folded: str, glossary: tuple[str, ...]) -> Iterator[str]:
    for term in glossary:
        if term in folded and (not _is_short(term) or _stands_alone(term, folded)):
            yield term


def _is_short(term: str) -> bool:
    return len(term) <= WHOLE_WORD_CHARACTERS and term.isascii()


def _stands_alone(term: str, folded: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(term)}(?![^\W_])", folded, re.ASCII) is not None


def _is_local_stop_word(tag: str, text: str, lexicon: Lexicon) -> bool:
    languages = _languages_of(lexicon.local_stop_words).get(tag)
    return languages is not None and language(text) in languages


@cache
def _languages_of(local_stop_words: frozenset[tuple[str, str]]) -> dict[str, frozenset[str]]:
    every = {word for _, word in local_stop_words}
    return {word: frozenset(code for code in LANGUAGES if (code, word) in local_stop_words) for word in every}


@lru_cache(maxsize=CACHED_WORDS)
def _tag(raw: str) -> str:
    """Return a word as a tag, or nothing when it is too short or long, a number, a date, a time or a version."""
    tag = _bare(raw) if any(map(str.isalnum, raw)) else ""
    if len(tag) > MAX_TAG_CHARACTERS or len(tag) < _least_characters(tag):
        return ""
    if any(noise.fullmatch(tag) for noise in (_NUMBER, _HAN_NUMBER, _NOISE)):
        return ""
    return tag


def _least_characters(tag: str) -> int:
    if _CJK.search(tag) and not _LATIN.search(tag) and not _KANA_ONLY.fullmatch(tag):
        return MIN_CJK_TAG_CHARACTERS
    return MIN_TAG_CHARACTERS


def _bare(raw: str) -> str:
    """Fold a word and strip what is no letter or digit from both ends."""
    return _OUTER.sub("", _folded(raw)).replace("_", "-").replace("’", "'")


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFKC", text).lower()


def _parts(word: str) -> tuple[str, ...]:
    if _NUMBER.fullmatch(word):
        return (word,)
    return tuple(part for part in _JOINTS.split(word) if part)


def _tells(part: str, lexicon: Lexicon) -> bool:
    if _bare(part) in lexicon.fillers:
        return False
    return len(part) > 1 or part.isnumeric() or _ONE_HAN.fullmatch(part) is not None
