"""Whether a newer statement replaces an older one: the same subject, the same attribute, something else said."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache, lru_cache
from unicodedata import normalize

from memory.concepts import Lexicon
from memory.events import alternatives, date_pattern, day_names
from memory.headings import prefix
from memory.language import HAN, KANA, main_language
from memory.sentences import sentence_ends
from memory.words import entries, vocabulary

SPOKEN = {"en": "english", "de": "german", "es": "spanish", "zh": "", "ja": ""}
"""The languages that the lists of corrections are kept for, with the names of their stemmers."""
NEAREST = {"pt": "es", "fr": "en"}
"""What a short text may be taken for, and what it is read as."""
FREE_ORDER = ("de", "es")
"""Languages in which a past clause sets its verb in front of its subject."""
BLANKED = frozenset({"head", "now", "change", "denied", "ended"})
"""Kinds of cue whose words are no part of what is said."""
QUOTED_CHARACTERS = 12
"""A longer quotation is something somebody said, a shorter one a name."""
COMMON_WORDS = 2
"""So many words must be common, and what held before be named, where only one of two headings names a subject."""
CACHED_TEXTS = 4096

_UNITS = (
    "seconds?|minutes?|hours?|days?|weeks?|months?|years?|sekunden?|minuten?|stunden?|tagen?|wochen?|monaten?|jahren?"
    "|segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?|[kmgt]b|[km]?m|kg|ms"
)


class Verdict(StrEnum):
    """What a newer statement does to an older one."""

    REPLACES = "replaces"
    UNSURE = "unsure"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement under its heading; `day` is the newest day on which a diary says it."""

    heading: str
    text: str
    day: date


@dataclass(frozen=True, slots=True, kw_only=True)
class _Word:
    """A word that tells something; `kind` is that of a slot (date, time, weekday, number), '' for any other word."""

    text: str
    kind: str
    start: int
    end: int
    capital: bool
    denied: bool
    loose: bool
    """Whether it follows a word that tells nothing, or a sign: `is 8080`, not `server 3`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """A statement as it is compared: its telling words, where its cues stand, and what kinds of cue they are."""

    text: str
    bare: str
    """The text with blanks in place of its cues."""
    words: tuple[_Word, ...]
    cues: tuple[tuple[str, int, int], ...]
    kinds: frozenset[str]
    reason: int
    end: int
    """Where what explains begins, and where what is said besides."""

    @property
    def told(self) -> tuple[_Word, ...]:
        """All that is said to hold, as of a statement that would be replaced as a whole."""
        return tuple(word for word in self.words if not word.denied and word.start < self.reason)

    @property
    def asserted(self) -> tuple[_Word, ...]:
        """What is said to hold first."""
        return tuple(word for word in self.words if not word.denied and word.start < self.end)

    @property
    def ended(self) -> tuple[_Word, ...]:
        """What is said to hold no longer, with all that stands in front of it."""
        last = max((n for n, word in enumerate(self.words) if word.denied), default=-1)
        return tuple(word for word in self.words[: last + 1] if word.start < self.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """The one stretch of words in which two statements differ, and the words of both statements."""

    old: tuple[_Word, ...]
    new: tuple[_Word, ...]
    gone: slice
    come: slice

    @property
    def before(self) -> tuple[_Word, ...]:
        """The old words that stay."""
        return self.old[self.gone]

    @property
    def after(self) -> tuple[_Word, ...]:
        """The new words in their place."""
        return self.new[self.come]


def judged(new: Claim, old: Claim, lexicon: Lexicon) -> Verdict:
    """Return what the newer statement does to the older one: when their subjects may differ, nothing.

    Without a cue such as "no longer" it is at most unsure, and only when one weekday, time, date or number differs.
    """
    code = main_language((old.text, new.text))
    code = NEAREST.get(code, code)
    if new.day < old.day or code not in SPOKEN:
        return Verdict.NO
    before, after = _reading(old.text, code, lexicon), _reading(new.text, code, lexicon)
    if "doubt" in before.kinds | after.kinds or after.kinds & {"also", "once"}:
        return Verdict.NO
    verdict = _verdict(before, after, code)
    if verdict is Verdict.REPLACES and not _one_subject(new, old, (before, after), code, lexicon):
        return Verdict.UNSURE
    return verdict


def _verdict(old: _Reading, new: _Reading, code: str) -> Verdict:
    if "ended" in old.kinds or not old.words or not new.words:
        return Verdict.NO
    if "ended" in new.kinds:
        return Verdict.REPLACES if _is_ended(old, new, code) else Verdict.NO
    if "head" in new.kinds and _is_negated(old.told, new.asserted, code):
        return Verdict.REPLACES
    change = _change(old, new, code)
    if change is None:
        return Verdict.NO
    if "denied" in new.kinds:
        return _denied(change, new, code)
    if not new.kinds & {"head", "change", "now"}:
        return Verdict.UNSURE if _is_one_slot(change) else Verdict.NO
    return _cued(change, old, new, code)


def _is_ended(old: _Reading, new: _Reading, code: str) -> bool:
    """Tell whether what is said to have ended is what the old statement says, no more and no less.

    A light verb may be missing on one side; in German and Spanish one word may stand elsewhere, a name may not.
    """
    theirs = [word.text for word in old.told]
    ours = list(_as_in(new.ended, old.told, code))
    light = {_stem(word, code) for word in _list("light", code)}
    lightest = [[word for word in words if _stem(word, code) not in light] for words in (theirs, ours)]
    if theirs != ours and len(theirs) != len(ours) and lightest[0] in (ours, lightest[1]):
        theirs = ours = lightest[0]
    names = {word.text for word in old.told if word.capital and word.start}
    moved = (word for word in theirs if code in FREE_ORDER and word not in names)
    same = theirs == ours or any(_left_out(theirs, word) == _left_out(ours, word) for word in moved)
    return bool(ours) and same and _is_same_lead(old, new)


def _is_same_lead(old: _Reading, new: _Reading) -> bool:
    ahead = [word for word in new.words if not word.denied and word.start < new.ended[-1].start]
    last = next((word.start for word in new.words if word.denied), 0)
    return _kana(old, old.told[min(len(ahead), len(old.told) - 1)].start) == _kana(new, last)


def _left_out(words: Sequence[str], word: str) -> list[str] | None:
    return [other for other in words if other != word] if word in words else None


def _denied(change: _Change, new: _Reading, code: str) -> Verdict:
    """Judge a change of which the new statement says what held before."""
    denied = tuple(word for word in new.words if word.denied)
    gone = {word.text for word in change.before}
    if len(change.before) == len(change.old) or set(_as_in(denied, change.old, code)) != gone:
        return Verdict.NO
    negated = _list("negation", code) & {word.text for word in (*change.old, *change.new)}
    return Verdict.REPLACES if _is_whole(change) and not negated else Verdict.UNSURE


def _is_negated(old: Sequence[_Word], new: Sequence[_Word], code: str) -> bool:
    """Tell whether one statement is the other with a negation."""
    negations = _list("negation", code)
    theirs, ours = [word.text for word in old], list(_as_in(new, old, code))
    more = [word for word in (*theirs, *ours) if word in negations]
    plain = [[word for word in words if word not in negations] for words in (theirs, ours)]
    return len(more) == 1 and plain[0] == plain[1]


def _is_one_slot(change: _Change) -> bool:
    return (
        _keeps_subject(change)
        and len(change.before) == len(change.after) == 1
        and _kinds(change.before) == _kinds(change.after) != {""}
    )


def _cued(change: _Change, old: _Reading, new: _Reading, code: str) -> Verdict:
    """Judge a change that a cue announces without saying what held before."""
    if _kinds(change.before[:1]) != _kinds(change.after[:1]) or not _keeps_subject(change):
        return Verdict.NO
    if 2 * len(change.before) > len(change.old) or not _is_uniform(change.before):
        return Verdict.NO
    if not _is_value(change):
        return Verdict.UNSURE if "head" in new.kinds else Verdict.NO
    sure = _is_whole(change) and _is_announced(change, new) and _is_single(change, old, new, code)
    return Verdict.REPLACES if sure else Verdict.UNSURE


def _is_uniform(words: Sequence[_Word]) -> bool:
    """Tell whether words are all slots or none is: `Postgres 14` and `Redis 7` are two things."""
    return len({bool(word.kind) for word in words}) == 1


def _is_whole(change: _Change) -> bool:
    """Tell whether the new words are one value: `8081 on production` and `MySQL for search` narrow the subject."""
    slots = bool(change.after[0].kind)
    return all(word.kind if slots else not (word.kind or word.loose) for word in change.after[1:])


def _is_single(change: _Change, old: _Reading, new: _Reading, code: str) -> bool:
    """Tell whether a thing has one such value at a time: who likes coffee now may like tea still."""
    if change.before[0].kind:
        return _kana(old, change.before[0].start) == _kana(new, change.after[0].start)
    if "head" in new.kinds:
        return "many" not in new.kinds
    sides = ((old, change.before[0]), (new, change.after[0]))
    return all(_is_led_to(reading.bare[: word.start], code) for reading, word in sides)


def _is_led_to(before: str, code: str) -> bool:
    spaced = " ".join(before.split()) + " "
    return any(pattern.search(spaced) for kind, pattern in _patterns(code) if kind == "single")


def _kana(reading: _Reading, end: int) -> list[str]:
    """Return the runs of hiragana in front of a place, where they may be a name; one character is a particle."""
    return re.findall("[ぁ-ゖ]{2,}", reading.bare[:end])


def _keeps_subject(change: _Change) -> bool:
    """Tell whether the first word that is no slot is the same in both, letter by letter, and before the change."""
    old, new = (next((n for n, word in enumerate(words) if not word.kind), -1) for words in (change.old, change.new))
    if not (0 <= old < change.gone.start and 0 <= new < change.come.start):
        return False
    return change.old[old].text.removesuffix("s") == change.new[new].text.removesuffix("s")


def _is_value(change: _Change) -> bool:
    """Tell a value from a word that belongs to the subject: it stands last, or is a slot that no noun carries."""
    last = not change.old[change.gone.stop :] and not change.new[change.come.stop :]
    if not change.before[0].kind:
        return last
    if change.before[0].kind != "number" or last:
        return True
    return all(word.loose or not word.text[-1].isdigit() for word in (change.before[0], change.after[0]))


def _is_announced(change: _Change, new: _Reading) -> bool:
    """Tell whether the cue is about what changed: in front of it, or right behind it, at the end of its clause."""
    if new.kinds & {"head", "change"}:
        return True
    start, end = change.after[0].start, change.after[-1].end
    follows = re.compile(r"[\s,;.。)]*$|\s*[,;.。)]")
    return any(
        at < start or (not new.text[end:at].strip() and follows.match(new.text, until) is not None)
        for kind, at, until in new.cues
        if kind == "now"
    )


def _change(old: _Reading, new: _Reading, code: str) -> _Change | None:
    """Return the one stretch that was replaced, None when there is none, or words came or went elsewhere."""
    ours = _as_in(new.asserted, old.told, code)
    matcher = SequenceMatcher(None, [word.text for word in old.told], ours, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return None
    _, a, b, c, d = changes[0]
    return _Change(old=old.told, new=new.asserted, gone=slice(a, b), come=slice(c, d))


def _kinds(words: Iterable[_Word]) -> set[str]:
    return {word.kind for word in words}


def _as_in(new: Iterable[_Word], old: Iterable[_Word], code: str) -> tuple[str, ...]:
    """Return the new words in the forms the old statement has them in; two names are two, whatever their stems are."""
    forms = {word.text: word.text for word in old}
    stems = {_stem(word.text, code): word for word in reversed(tuple(old)) if not word.kind}
    found = []
    for word in new:
        alike = stems.get(_stem(word.text, code))
        same = alike and not word.kind and not (alike.capital and word.capital)
        found.append(forms.get(word.text) or (alike.text if alike and same else word.text))
    return tuple(found)


@lru_cache(maxsize=CACHED_TEXTS)
def _stem(word: str, code: str) -> str:
    if not SPOKEN[code] or not word.isalpha():
        return word
    from snowballstemmer import stemmer  # here, so that only a night pays for it

    return str(stemmer(SPOKEN[code]).stemWord(_forms(code).get(word, word)))


def _one_subject(new: Claim, old: Claim, readings: tuple[_Reading, _Reading], code: str, lexicon: Lexicon) -> bool:
    """Tell whether headings and first words leave no doubt that two statements speak of the same thing."""
    old_heading, new_heading = (_heading(claim.heading, code, lexicon) for claim in (old, new))
    if old_heading == new_heading:
        return bool(new_heading) or not any(_is_vague(reading, code) for reading in readings)
    old_words, new_words = ({word.text for word in reading.words} for reading in readings)
    if old_heading and new_heading:
        return old_heading <= new_words | new_heading or new_heading <= old_words | old_heading
    if old_heading | new_heading <= (new_words if old_heading else old_words):
        return True
    common = {word.text for reading in readings for word in reading.words if not word.kind} & old_words & new_words
    named = bool(readings[1].kinds & {"ended", "denied"})
    return named and len(common) >= COMMON_WORDS and not any(_is_vague(reading, code) for reading in readings)


def _is_vague(reading: _Reading, code: str) -> bool:
    return "vague" in reading.kinds or any(word.text in _list("vague", code) for word in reading.words[:1])


def _heading(heading: str, code: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the words of a heading that name a subject."""
    words = {word.text for word in _reading(prefix(heading), code, lexicon).words if not word.kind}
    plain = normalize("NFKC", heading).lower().strip(" #:")
    return frozenset() if plain in _generic() else frozenset(words - _generic())


@lru_cache(maxsize=CACHED_TEXTS)
def _reading(text: str, code: str, lexicon: Lexicon) -> _Reading:
    plain = _without_label(_without_quotations(" ".join(normalize("NFKC", text).split()).strip("-*•> ")))
    cues = tuple(_cues(plain, code))
    denied = tuple(
        span for kind, pattern in _patterns(code) if kind in ("denied", "ended") for span in _groups(pattern, plain)
    )
    bare = _blanked(plain, cues, denied)
    reason = _first("reason", bare, code)
    return _Reading(
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
    places = (match.start() for one, pattern in _patterns(code) if one == kind for match in pattern.finditer(bare))
    return min((place for place in places if bare[:place].strip()), default=len(bare))


def _without_quotations(text: str) -> str:
    pattern = rf"([\"“„«「『])[^\"”“»」』]{{{QUOTED_CHARACTERS},}}[\"”“»」』]"
    return re.sub(pattern, lambda quoted: "“" + "…" * (len(quoted[0]) - 2) + "”", text)


def _without_label(text: str) -> str:
    label, colon, rest = text.partition(":")
    return rest.strip() if colon and rest.strip() and label.lower() in _generic() else text


@cache
def _generic() -> frozenset[str]:
    return frozenset(word for code in SPOKEN for word in _list("heading", code))


def _cues(plain: str, code: str) -> Iterator[tuple[str, int, int]]:
    for kind, pattern in _patterns(code):
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


def _words(bare: str, denied: Sequence[tuple[int, int]], code: str, lexicon: Lexicon) -> Iterator[_Word]:
    end = 0
    for match in _token_pattern(code).finditer(bare):
        text = _plain(match)
        silent = match.lastgroup == "word" and _is_silent(match[0], code, lexicon, first=end == 0)
        if silent or match.lastgroup == "silent" or not text:
            continue
        yield _Word(
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
    if text in _list("vague", code):
        return not first
    silent = text in _stop_words(code) & lexicon.fillers if SPOKEN[code] else text in _list("skip", code)
    return silent and text not in _list("telling", code)


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
        "weekday": alternatives(day_names("habit", "weekday")),
        "time": f"{clock}|{han}",
        "number": rf"(?<![^\W_{HAN}{KANA}])(?:[$€£¥]\s?)?v?\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th)?\.?(?:{units})?",
        "silent": "|".join(_skipped(code)) or "(?!)",
        "word": _word_pattern(code),
    }
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items()), re.IGNORECASE)


def _word_pattern(code: str) -> str:
    """Japanese words are runs of one script, Chinese ones single characters; hiragana counts where a clause begins."""
    latin = rf"[^\W_{HAN}{KANA}]+(?:['’-][^\W_{HAN}{KANA}]+)*"
    if code != "ja":
        return f"{latin}|[{HAN}{KANA}]"
    return (
        rf"{latin}|[ァ-ヺー]+|[{HAN}]+|(?:ない|ません|なかった)|(?:(?<=^)|(?<=[\s、。]))[ぁ-ゖ]{{2,}}?(?=は|が|を|の)"
    )


@cache
def _skipped(code: str) -> tuple[str, ...]:
    return (
        tuple(map(re.escape, sorted(_list("skip", code), key=lambda word: (-len(word), word)))) if code == "zh" else ()
    )


@cache
def _list(kind: str, code: str) -> frozenset[str]:
    lines = (entry.partition("\t") for entry in entries("claims", code))
    return frozenset(word for name, _, words in lines if name == kind for word in words.split())


@cache
def _forms(code: str) -> dict[str, str]:
    lines = (entry.partition("\t") for entry in entries("claims", code))
    return {word: words.split()[0] for name, _, words in lines if name == "forms" for word in words.split()}


@cache
def _patterns(code: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    lines = (entry.partition("\t") for entry in entries("corrections", code))
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, _, pattern in lines)
