"""Whether a newer statement replaces an older one: the same subject, the same attribute, something else said."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from unicodedata import normalize

from memory.claims import SPOKEN, Reading, Word, cue_patterns, cue_words, generic_headings, read_claim, stem
from memory.concepts import Lexicon
from memory.headings import prefix
from memory.language import main_language

NEAREST = {"pt": "es", "fr": "en"}
"""What a short text may be taken for, and what it is read as."""
FREE_ORDER = ("de", "es")
"""Languages in which a past clause sets its verb in front of its subject."""
CACHED_TEXTS = 8192
CACHED_PAIRS = 32768
"""A night asks the same of a pair up to three times: alone, beside the other candidates, and once more."""
CORRECTING = frozenset({"head", "now", "change", "denied", "ended"})
"""Kinds of cue without one of which nothing replaces anything."""
SHARE_TAKEN_UP = 0.75
"""Of the words beside days, times and numbers, so many must stand in both for one to be a correction of the other."""
COMMON_WORDS = 2
"""So many words must be common, and what held before be named, where only one of two headings names a subject."""


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
class _Change:
    """The one stretch of words in which two statements differ, and the words of both statements."""

    old: tuple[Word, ...]
    new: tuple[Word, ...]
    gone: slice
    come: slice

    @property
    def before(self) -> tuple[Word, ...]:
        """The old words that stay."""
        return self.old[self.gone]

    @property
    def after(self) -> tuple[Word, ...]:
        """The new words in their place."""
        return self.new[self.come]


@lru_cache(maxsize=CACHED_TEXTS)
def may_correct(text: str) -> bool:
    """Tell whether a statement may replace another one: whether a cue of any language stands in it."""
    plain = normalize("NFKC", text)
    return any(pattern.search(plain) for code in SPOKEN for kind, pattern in cue_patterns(code) if kind in CORRECTING)


@lru_cache(maxsize=CACHED_PAIRS)
def judged(new: Claim, old: Claim, lexicon: Lexicon) -> Verdict:
    """Return what the newer statement does to the older one: when their subjects may differ, nothing.

    Without a cue such as "no longer" it is at most unsure, and only when one weekday, time, date or number differs.
    """
    code = main_language((old.text, new.text))
    code = NEAREST.get(code, code)
    if new.day < old.day or code not in SPOKEN:
        return Verdict.NO
    before, after = read_claim(old.text, code, lexicon), read_claim(new.text, code, lexicon)
    is_announced = "head" in after.kinds
    if "doubt" in after.kinds or ("doubt" in before.kinds and not is_announced) or after.kinds & {"also", "once"}:
        return Verdict.NO
    verdict = _verdict(before, after, code)
    if verdict is Verdict.NO and is_announced and _is_taken_up(before, after, code):
        return Verdict.UNSURE
    if verdict is Verdict.REPLACES and "doubt" in before.kinds:
        return Verdict.UNSURE
    if verdict is Verdict.REPLACES and not _one_subject(new, old, (before, after), code, lexicon):
        return Verdict.UNSURE
    return verdict


def agree(one: Claim, other: Claim, lexicon: Lexicon) -> bool:
    """Tell whether two statements assert the same words, whatever cue stands before them."""
    code = main_language((one.text, other.text))
    code = NEAREST.get(code, code)
    if code not in SPOKEN:
        return False
    said = [frozenset(word.text for word in read_claim(claim.text, code, lexicon).told) for claim in (one, other)]
    return bool(said[0]) and said[0] == said[1]


def _verdict(old: Reading, new: Reading, code: str) -> Verdict:
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


def _is_taken_up(old: Reading, new: Reading, code: str) -> bool:
    """Tell whether an announced correction speaks of the same subject, and says less beside what it corrects.

    It names another day, month, time or number, or says that something of it holds no more. It cannot take the old
    line's place: what only that says (the hour, the room) would be gone from the memory.
    """
    if not old.told or not (new.asserted or new.ended):
        return False
    same_subject = _subject(old.told, code) == _subject(new.asserted or new.ended, code)
    denied, said = [word.text for word in new.words if word.denied], {word.text for word in old.told}
    if same_subject and len(denied) >= COMMON_WORDS and said.issuperset(denied):
        return True
    clause = [word for word in new.asserted if "," not in new.bare[: word.start]]
    plain = [stem(word.text, code) for word in clause if not word.kind]
    known = {stem(word.text, code) for word in old.told}
    if sum(word in known for word in plain) < SHARE_TAKEN_UP * len(plain):
        return False  # it says something else of the same subject
    before = {(word.kind, word.text) for word in old.told if word.kind}
    after = {(word.kind, word.text) for word in clause if word.kind}
    other = {kind for kind, _ in before} & {kind for kind, _ in after - before}
    return same_subject and bool(other)


def _subject(words: Sequence[Word], code: str) -> str:
    """Return the stem of the first word, behind one such as "daily"; two characters where each is a word."""
    texts = [word.text for word in words]
    paced = next((n for n in (1, 2) if "".join(texts[:n]) in cue_words("pace", code)), 0)
    first = texts[paced:] or texts
    return stem(first[0] if len(first[0]) > 1 else "".join(first[:2]), code)


def _is_ended(old: Reading, new: Reading, code: str) -> bool:
    """Tell whether what is said to have ended is what the old statement says, no more and no less.

    A light verb may be missing on one side; in German and Spanish one word may stand elsewhere, a name may not.
    """
    theirs = [word.text for word in old.told]
    ours = list(_as_in(new.ended, old.told, code))
    light = {stem(word, code) for word in cue_words("light", code)}
    lightest = [[word for word in words if stem(word, code) not in light] for words in (theirs, ours)]
    if theirs != ours and len(theirs) != len(ours) and lightest[0] in (ours, lightest[1]):
        theirs = ours = lightest[0]
    names = {word.text for word in old.told if word.capital and word.start}
    moved = (word for word in theirs if code in FREE_ORDER and word not in names)
    same = theirs == ours or any(_left_out(theirs, word) == _left_out(ours, word) for word in moved)
    return bool(ours) and same and _is_same_lead(old, new)


def _is_same_lead(old: Reading, new: Reading) -> bool:
    ahead = [word for word in new.words if not word.denied and word.start < new.ended[-1].start]
    last = next((word.start for word in new.words if word.denied), 0)
    return _kana(old, old.told[min(len(ahead), len(old.told) - 1)].start) == _kana(new, last)


def _left_out(words: Sequence[str], word: str) -> list[str] | None:
    return [other for other in words if other != word] if word in words else None


def _denied(change: _Change, new: Reading, code: str) -> Verdict:
    """Judge a change of which the new statement says what held before."""
    denied = tuple(word for word in new.words if word.denied)
    gone = {word.text for word in change.before}
    if len(change.before) == len(change.old) or set(_as_in(denied, change.old, code)) != gone:
        return Verdict.NO
    negated = cue_words("negation", code) & {word.text for word in (*change.old, *change.new)}
    return Verdict.REPLACES if _is_whole(change) and not negated else Verdict.UNSURE


def _is_negated(old: Sequence[Word], new: Sequence[Word], code: str) -> bool:
    """Tell whether one statement is the other with a negation."""
    negations = cue_words("negation", code)
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


def _cued(change: _Change, old: Reading, new: Reading, code: str) -> Verdict:
    """Judge a change that a cue announces without saying what held before."""
    if _kinds(change.before[:1]) != _kinds(change.after[:1]) or not _keeps_subject(change):
        return Verdict.NO
    if 2 * len(change.before) > len(change.old) or not _is_uniform(change.before):
        return Verdict.NO
    if not _is_value(change):
        return Verdict.UNSURE if "head" in new.kinds else Verdict.NO
    sure = _is_whole(change) and _is_announced(change, new) and _is_single(change, old, new, code)
    return Verdict.REPLACES if sure else Verdict.UNSURE


def _is_uniform(words: Sequence[Word]) -> bool:
    """Tell whether words are all slots or none is: `Postgres 14` and `Redis 7` are two things."""
    return len({bool(word.kind) for word in words}) == 1


def _is_whole(change: _Change) -> bool:
    """Tell whether the new words are one value: `8081 on production` and `MySQL for search` narrow the subject."""
    slots = bool(change.after[0].kind)
    return all(word.kind if slots else not (word.kind or word.loose) for word in change.after[1:])


def _is_single(change: _Change, old: Reading, new: Reading, code: str) -> bool:
    """Tell whether a thing has one such value at a time: who likes coffee now may like tea still."""
    if change.before[0].kind:
        return _kana(old, change.before[0].start) == _kana(new, change.after[0].start)
    if "head" in new.kinds:
        return "many" not in new.kinds
    sides = ((old, change.before[0]), (new, change.after[0]))
    return all(_is_led_to(reading.bare[: word.start], code) for reading, word in sides)


def _is_led_to(before: str, code: str) -> bool:
    spaced = " ".join(before.split()) + " "
    return any(pattern.search(spaced) for kind, pattern in cue_patterns(code) if kind == "single")


def _kana(reading: Reading, end: int) -> list[str]:
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


def _is_announced(change: _Change, new: Reading) -> bool:
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


def _change(old: Reading, new: Reading, code: str) -> _Change | None:
    """Return the one stretch that was replaced, None when there is none, or words came or went elsewhere."""
    ours = _as_in(new.asserted, old.told, code)
    matcher = SequenceMatcher(None, [word.text for word in old.told], ours, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return None
    _, a, b, c, d = changes[0]
    return _Change(old=old.told, new=new.asserted, gone=slice(a, b), come=slice(c, d))


def _kinds(words: Iterable[Word]) -> set[str]:
    return {word.kind for word in words}


def _as_in(new: Iterable[Word], old: Iterable[Word], code: str) -> tuple[str, ...]:
    """Return the new words in the forms the old statement has them in; two names are two, whatever their stems are."""
    forms = {word.text: word.text for word in old}
    stems = {stem(word.text, code): word for word in reversed(tuple(old)) if not word.kind}
    found = []
    for word in new:
        alike = stems.get(stem(word.text, code))
        same = alike and not word.kind and not (alike.capital and word.capital)
        found.append(forms.get(word.text) or (alike.text if alike and same else word.text))
    return tuple(found)


def _one_subject(new: Claim, old: Claim, readings: tuple[Reading, Reading], code: str, lexicon: Lexicon) -> bool:
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


def _is_vague(reading: Reading, code: str) -> bool:
    return "vague" in reading.kinds or any(word.text in cue_words("vague", code) for word in reading.words[:1])


def _heading(heading: str, code: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the words of a heading that name a subject."""
    words = {word.text for word in read_claim(prefix(heading), code, lexicon).words if not word.kind}
    plain = normalize("NFKC", heading).lower().strip(" #:")
    return frozenset() if plain in generic_headings() else frozenset(words - generic_headings())
