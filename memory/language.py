"""Tell which language a text is written in."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from memory.words import LANGUAGES, vocabulary

LATIN = ("en", "de", "fr", "es", "pt")
"""Languages told apart by their function words; the order breaks ties."""
CJK_WEIGHT = 3
"""A Han, kana or Hangul character says about as much as three letters of an alphabet."""
KANA_SHARE = 0.08
"""Japanese has at least this share of kana; a stray kana in a brand name is below it."""
NATIVE_SHARE = 0.1
"""Below this share of the letters, a foreign script is a quotation in a text of the Latin script."""

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7af"
"""Letters of a script, as ranges for a character class."""

_HAN, _KANA, _HANGUL = (re.compile(f"[{letters}]") for letters in (HAN, KANA, HANGUL))
_CYRILLIC = re.compile("[\u0400-\u052f]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_WORD = re.compile(r"\w+")
_TELLING_LETTERS = {"en": "", "de": "äöüß", "fr": "àâçèêëîïôùûœ", "es": "ñ¿¡áíóú", "pt": "ãõçâêáíóú"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Letters:
    """How many letters of each script a text has."""

    latin: int
    kana: int = 0
    han: int = 0
    hangul: int = 0
    cyrillic: int = 0

    @property
    def native(self) -> int:
        return CJK_WEIGHT * (self.kana + self.han + self.hangul) + self.cyrillic


def language(text: str) -> str:
    """Return the ISO 639-1 code of a text: by its scripts, then by its function words; English when nothing tells."""
    return _evident(text, _letters(text)) or "en"


def main_language(texts: Iterable[str]) -> str:
    """Return the language of most of the letters; what no function word decides follows the strongest Latin one."""
    weights = dict.fromkeys(LANGUAGES, 0)
    undecided = 0
    for text in texts:
        letters = _letters(text)
        code = _evident(text, letters)
        if code:
            weights[code] += letters.native + letters.latin
        else:
            undecided += letters.latin
    weights[max(LATIN, key=weights.__getitem__)] += undecided
    return max(LANGUAGES, key=weights.__getitem__)


def _letters(text: str) -> _Letters:
    latin = len(_LATIN.findall(text))
    if text.isascii():
        return _Letters(latin=latin)
    return _Letters(
        latin=latin,
        kana=len(_KANA.findall(text)),
        han=len(_HAN.findall(text)),
        hangul=len(_HANGUL.findall(text)),
        cyrillic=len(_CYRILLIC.findall(text)),
    )


def _evident(text: str, letters: _Letters) -> str | None:
    if not letters.native or letters.native < NATIVE_SHARE * (letters.native + letters.latin):
        return _latin(text)
    if letters.native < letters.latin and max(_latin_hits(text).values()) > _native_hits(text):
        return _latin(text)
    return _native(letters)


def _native(letters: _Letters) -> str:
    if letters.cyrillic > letters.native - letters.cyrillic:
        return "ru"
    if letters.hangul > letters.kana + letters.han:
        return "ko"
    return "ja" if letters.kana and letters.kana >= KANA_SHARE * (letters.kana + letters.han) else "zh"


def _latin(text: str) -> str | None:
    hits = _latin_hits(text)
    letters = dict.fromkeys(LATIN, 0) if text.isascii() else _telling_letters(text.lower())
    best = max(LATIN, key=lambda code: (hits[code], letters[code]))
    return best if hits[best] or letters[best] else None


def _latin_hits(text: str) -> dict[str, int]:
    hits = dict.fromkeys(LATIN, 0)
    languages_of = _languages_of_words()
    for word in _WORD.findall(text.lower()):
        for code in languages_of.get(word, ()):
            hits[code] += 1
    return hits


def _native_hits(text: str) -> int:
    """Count function words of the native script; where no spaces stand, one-letter particles stand for them."""
    particles, words = _native_function_words()
    return sum(text.count(letter) for letter in particles) + sum(word in words for word in _WORD.findall(text.lower()))


def _telling_letters(lowered: str) -> dict[str, int]:
    return {code: sum(map(lowered.count, letters)) for code, letters in _TELLING_LETTERS.items()}


@cache
def _languages_of_words() -> dict[str, tuple[str, ...]]:
    lists = {code: set(vocabulary("stop", code)) for code in LATIN}
    words = set[str]().union(*lists.values())
    return {word: tuple(code for code in LATIN if word in lists[code]) for word in words}


@cache
def _native_function_words() -> tuple[frozenset[str], frozenset[str]]:
    unspaced = frozenset(word for code in ("zh", "ja") for word in vocabulary("stop", code) if len(word) == 1)
    return unspaced, frozenset((*vocabulary("stop", "ko"), *vocabulary("stop", "ru")))
