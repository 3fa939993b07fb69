"""What a statement claims: its words, the cues that it corrects something, and what it says was so before."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from unicodedata import normalize

from memory.concepts import Lexicon
from memory.days import alternatives, date_pattern, day_names
from memory.language import HAN, KANA
from memory.sentences import sentence_ends
from memory.words import entries, vocabulary

SPOKEN = {"en": "english", "de": "german", "es": "spanish", "zh": "", "ja": ""}
"""The languages that the lists of corrections are kept for, with the names of their stemmers."""
BLANKED = frozenset({"head", "now", "change", "denied", "ended"})
"""Kinds of cue whose words are no part of what is said."""
QUOTED_CHARACTERS = 12
"""A longer quotation is something somebody said, a shorter one a name."""
MONTH_CHARACTERS = 4
CACHED_TEXTS = 4096

_UNITS = (
    "seconds?|minutes?|hours?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tagen?|wochen?|monaten?|jahren?"
    "|segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?|[kmgt]b|[km]?m|kg|ms"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word that tells something; `kind` is that of a slot (date, month, time, weekday, number), '' for any other."""

    text: str
    kind: str
    start: int
    end: int
    capital: bool
    denied: bool
    loose: bool
    """Whether it follows a word that tells nothing, or a sign: `is 8080`, not `server 3`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A statement as it is compared: its telling words, where its cues stand, and what kinds of cue they are."""

    text: str
    bare: str
    """The text with blanks in place of its cues."""
    words: tuple[Word, ...]
    cues: tuple[tuple[str, int, int], ...]
    kinds: frozenset[str]
    reason: int
    end: int
    """Where what explains begins, and where what is said besides."""

    @property
    def told(self) -> tuple[Word, ...]:
        """All that is said to hold, as of a statement that would be replaced as a whole."""
        return tuple(word for word in self.words if not word.denied and word.start < self.reason)

    @property
    def asserted(self) -> tuple[Word, ...]:
        """What is said to hold first."""
        return tuple(word for word in self.words if not word.denied and word.start < self.end)

    @property
    def ended(self) -> tuple[Word, ...]:
        """What is said to hold no longer, with all that stands in front of it."""
        last = max((n for n, word in enumerate(self.words) if word.denied), default=-1)
        return tuple(word for word in self.words[: last + 1] if word.start < self.end)


@lru_cache(maxsize=CACHED_TEXTS)
def read_claim(text: str, code: str, lexicon: Lexicon) -> Reading:
    """Return a statement as it is compared, read in a language."""
    plain = _without_label(_without_quotations(" ".join(normalize("NFKC", text).split()).strip("-*•> ")))
    cues = tuple(_cues(plain, code))
    denied = tuple(
        span for kind, pattern in cue_patterns(code) if kind in ("denied", "ended") for span in _groups(pattern, plain)
    )
    bare = _blanked(plain, cues, denied)
    reason = _first("reason", bare, code)
    return Reading(
        text=plain,
        bare=bare,
        words=tuple(_words(bare, denied, code, lexicon)),
        cues=cues,
        kinds=frozenset(kind for kind, _, _ in cues),
        reason=reason,
        end=min(reason, _first("end", bare, code), *sentence_ends(bare)),
    )


def _first(kind: str, bare: str, code: str) -> int:
    """Return where the first pattern of a kind stands that has something in front of it, the end where none does."""
    places = (match.start() for one, pattern in cue_patterns(code) if one == kind for match in pattern.finditer(bare))
    return min((place for place in places if bare[:place].strip()), default=len(bare))


def _without_quotations(text: str) -> str:
    pattern = rf"([\"“„«「『])[^\"”“»」』]{{{QUOTED_CHARACTERS},}}[\"”“»」』]"
    return re.sub(pattern, lambda quoted: "“" + "…" * (len(quoted[0]) - 2) + "”", text)


def _without_label(text: str) -> str:
    label, colon, rest = text.partition(":")
    return rest.strip() if colon and rest.strip() and label.lower() in generic_headings() else text


@cache
def generic_headings() -> frozenset[str]:
    """Return the headings that name no subject, such as "notes"."""
    return frozenset(word for code in SPOKEN for word in cue_words("heading", code))


def _cues(plain: str, code: str) -> Iterator[tuple[str, int, int]]:
    for kind, pattern in cue_patterns(code):
        if kind not in ("reason", "end", "single"):
            yield from ((kind, match.start(), match.end()) for match in pattern.finditer(plain))


def _groups(pattern: re.Pattern[str], plain: str) -> Iterator[tuple[int, int]]:
    yield from (match.span("denied") for match in pattern.finditer(plain))


def _blanked(plain: str, cues: Iterable[tuple[str, int, int]], denied: Iterable[tuple[int, int]]) -> str:
    """Return the text with blanks for its cues; what is denied stays."""
    kept = {place for start, end in denied for place in range(start, end)}
    gone = {
        place
        for kind, start, end in cues
        if kind in BLANKED
        for place in range(start, end)
        if kind in ("now", "change", "head") or place not in kept
    }
    return "".join(" " if place in gone else character for place, character in enumerate(plain))


def _words(bare: str, denied: Sequence[tuple[int, int]], code: str, lexicon: Lexicon) -> Iterator[Word]:
    end = 0
    for match in _token_pattern(code).finditer(bare):
        text = _plain(match)
        silent = match.lastgroup == "word" and _is_silent(match[0], code, lexicon, first=end == 0)
        if silent or match.lastgroup == "silent" or not text:
            continue
        yield Word(
            text=text,
            kind="" if match.lastgroup == "word" else str(match.lastgroup),
            start=match.start(),
            end=match.end(),
            capital=match[0][0].isupper(),
            denied=any(start <= match.start() < stop for start, stop in denied),
            loose=_is_loose(bare[end : match.start()]),
        )
        end = match.end()


def _is_loose(gap: str) -> bool:
    return bool(gap.strip()) and not re.search(r"#|№|\b(?:no|nr|núm)\b\.?\s*$|^\.", gap, re.IGNORECASE)


def _plain(match: re.Match[str]) -> str:
    text = match[0].lower()
    return "".join(text.split()).rstrip(".") if match.lastgroup != "word" else text


def _is_silent(word: str, code: str, lexicon: Lexicon, *, first: bool) -> bool:
    """Tell whether a word tells nothing; what a sentence begins with, it speaks of, be it "she" or "this".

    Capitals tell: `US` is not "us".
    """
    text = word.lower()
    if len(text) > 1 and word.isupper() and SPOKEN[code]:
        return False
    if text in cue_words("vague", code):
        return not first
    silent = text in _stop_words(code) & lexicon.fillers if SPOKEN[code] else text in cue_words("skip", code)
    return silent and text not in cue_words("telling", code)


@cache
def _stop_words(code: str) -> frozenset[str]:
    return frozenset(word.removeprefix("?") for word in vocabulary("stop", code))


@cache
def _token_pattern(code: str) -> re.Pattern[str]:
    units = rf"\s?(?:%|[€$£¥]|(?:euros?|uhr|{_UNITS})\b|元|天|小时|小時|分钟|分|秒|年|个月|週間|日間|日|時間|円|か月)"
    clock = r"\d{1,2}[:h]\d\d(?:\s?(?:uhr|[ap]m)\b)?|\d{1,2}\s?(?:uhr|[ap]m)\b"
    part = "上午|下午|凌晨|早上|晚上|中午|午前|午後"
    han = rf"(?:{part})?[\d〇一二三四五六七八九十两]+[点點時时](?:半|[\d一二三四五六七八九十]+分)?(?!間|间)"
    kinds = {
        "date": date_pattern().pattern,
        "month": _months(),
        "weekday": alternatives(day_names("habit", "weekday")),
        "time": f"{clock}|{han}",
        "number": rf"(?<![^\W_{HAN}{KANA}])(?:[$€£¥]\s?)?v?\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th)?\.?(?:{units})?",
        "silent": "|".join(_skipped(code)) or "(?!)",
        "word": _word_pattern(code),
    }
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items()), re.IGNORECASE)


@cache
def _months() -> str:
    """Return the names of months but for the short ones, such as "may", which are words too."""
    named = day_names("month")
    return alternatives({name: number for name, number in named.items() if len(name) >= MONTH_CHARACTERS})


def _word_pattern(code: str) -> str:
    """Japanese words are runs of one script, Chinese ones single characters; hiragana counts where a clause begins."""
    latin = rf"[^\W_{HAN}{KANA}]+(?:['’-][^\W_{HAN}{KANA}]+)*"
    if code != "ja":
        return f"{latin}|[{HAN}{KANA}]"
    return (
        rf"{latin}|[ァ-ヺー]+|[{HAN}]+|(?:ない|ません|なかった)|(?:(?<=^)|(?<=[\s、。]))[ぁ-ゖ]{{2,}}?(?=は|が|を|の)"
    )


@lru_cache(maxsize=CACHED_TEXTS)
def stem(word: str, code: str) -> str:
    """Return what the forms of a word have in common."""
    if not SPOKEN[code] or not word.isalpha():
        return word
    from snowballstemmer import stemmer  # here, so that only a night pays for it

    return str(stemmer(SPOKEN[code]).stemWord(_forms(code).get(word, word)))


@cache
def _skipped(code: str) -> tuple[str, ...]:
    return (
        tuple(map(re.escape, sorted(cue_words("skip", code), key=lambda word: (-len(word), word))))
        if code == "zh"
        else ()
    )


@cache
def cue_words(kind: str, code: str) -> frozenset[str]:
    """Return the words of a kind that `words/claims.<code>.txt` lists."""
    lines = (entry.partition("\t") for entry in entries("claims", code))
    return frozenset(word for name, _, words in lines if name == kind for word in words.split())


@cache
def _forms(code: str) -> dict[str, str]:
    lines = (entry.partition("\t") for entry in entries("claims", code))
    return {word: words.split()[0] for name, _, words in lines if name == "forms" for word in words.split()}


@cache
def cue_patterns(code: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the cues that `words/corrections.<code>.txt` lists, each with its kind."""
    lines = (entry.partition("\t") for entry in entries("corrections", code))
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, _, pattern in lines)
